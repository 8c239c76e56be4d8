"""With ``--save-mapping`` no text exists without its mapping, wherever the command is killed."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textveil import Sanitizer
from textveil.text.restore import Restorer

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
TEXT = "the doctor and zorblax, the doctor"
#: Ends the process by SIGKILL before its n-th step: what flushes a file, names it, or writes to it or to the output.
KILLS = """
import os, sys
left = {n}
def step(real):
    def stepped(*given, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)
        return real(*given, **options)
    return stepped
for name in ("fsync", "link", "replace", "fchmod", "unlink"):
    setattr(os, name, step(getattr(os, name)))
from textveil.storage import atomic_writes
atomic_writes._write_text = step(atomic_writes._write_text)
class Output:
    buffer = property(lambda self: self)
    def write(self, data):
        return step(lambda: os.write(1, data))()
    def flush(self):
        pass
kept_open, sys.stdout = sys.stdout, Output()
"""
#: What would be wrong: the mapping is written when the text is.
AFTER_THE_TEXT = """
from textveil_cli.commands.sanitize import SanitizeArguments, plain_text
real, kept = SanitizeArguments.save_one_mapping, []
SanitizeArguments.save_one_mapping = lambda *given: kept.append(given)
from contextlib import contextmanager
def then(context):
    @contextmanager
    def opened(*given, **options):
        with context(*given, **options) as write:
            yield write
        while not options and kept:
            real(*kept.pop())
    return opened
plain_text.open_output = then(plain_text.open_output)
"""


def every_kill(forked: Callable[..., Any], cwd: Path, bundle: Path, more: list[str], before: str = "") -> Iterator[Any]:
    """Kills the command before each of its steps; the last run is not killed."""
    for n in range(1, 20):
        for left in cwd.iterdir():
            left.unlink()
        (cwd / "in.txt").write_text(TEXT)
        (cwd / "in.csv").write_text(f'id,note\n1,"{TEXT}"\n')
        arguments = ["sanitize", "-q", "-b", str(bundle), "--consistent", "--save-mapping", "map.json", *more]
        ran = forked(*arguments, before=before + KILLS.replace("{n}", str(n)))
        yield ran
        if ran.code == 0:
            assert n > 3
            return
        assert ran.code == -9, ran.err
    raise AssertionError("the command was killed every time")


def restores(bundle: Path, released: str, mapping: Path) -> bool:
    """Whether a mapping belongs to a text: it restores all that it can, and nothing else is in it."""
    if not mapping.exists():
        return False
    restored = Restorer.from_json(mapping.read_bytes()).restore(released)
    return len(restored.text.split()) == len(TEXT.split()) and set(json.loads(mapping.read_text())["originals"]) <= {
        word.strip(",") for word in released.split()
    }


WAYS = {
    "a text to standard output": ["--text", TEXT],
    "a file to standard output": ["in.txt"],
    "a file to a file": ["in.txt", "-o", "out.txt"],
    "a file as one document": ["in.txt", "--document", "file", "-o", "out.txt"],
    "a table as one document": ["in.csv", "--column", "note", "--document", "file", "-o", "out.csv"],
}
#: The ways of the default run, one for each output.
BRIEF_WAYS = ("a text to standard output", "a file to a file", "a table as one document")


def lost(forked: Callable[..., Any], cwd: Path, bundle: Path, more: list[str], before: str = "") -> tuple[int, int]:
    """How many runs released the text, and how many of these without its mapping."""
    released = without = 0
    for ran in every_kill(forked, cwd, bundle, more, before):
        out = cwd / more[-1]
        text = out.read_text() if "-o" in more and out.exists() else ran.text
        if out.suffix == ".csv":
            text = text.removeprefix("id,note\n1,").strip('"\n')
        released += bool(text)
        without += bool(text) and not restores(bundle, text, cwd / "map.json")
    return released, without


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=() if way in BRIEF_WAYS else pytest.mark.full) for way in WAYS]
)
def test_no_text_is_left_without_its_mapping(
    forked: Callable[..., Any], tmp_path: Path, bundle: Path, way: str
) -> None:
    released, without = lost(forked, tmp_path / "cwd", bundle, WAYS[way])
    assert released >= 1  # where nothing was killed
    assert without == 0


@pytest.mark.slow
@pytest.mark.parametrize("way", ["a file to a file"])
def test_a_mapping_after_the_text_is_found(forked: Callable[..., Any], tmp_path: Path, bundle: Path, way: str) -> None:
    _, without = lost(forked, tmp_path / "cwd", bundle, WAYS[way], AFTER_THE_TEXT)
    assert without > 0


def test_several_documents_are_refused_before_any_is_drawn(
    here: Callable[..., Any], tmp_path: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sanitizer, "sanitize_batch", lambda *_, **__: pytest.fail("drawn"))
    path = tmp_path / "in.txt"
    path.write_text(TEXT)
    lines = tmp_path / "lines.txt"
    lines.write_text(f"{TEXT}\n{TEXT}\n")
    for inputs in ([path, path], ["--document", "line", lines]):
        ran = here("sanitize", "-b", bundle, "--consistent", "--save-mapping", tmp_path / "m", *inputs)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.endswith(
            "one document: pass one line, one --text, or --document file (see textveil sanitize --help)\n"
        )
        assert not (tmp_path / "m").exists()
