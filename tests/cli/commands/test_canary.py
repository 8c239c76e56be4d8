"""No canary in texts, files, options and errors is in any message or remaining file of the command."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
from canaries import CANARIES, SECRET, hidden
from forked import run_forked
from textveil.bundle import find_artifact
from textveil.mechanisms import integer_sampling as sampling

# --- what the command says, and leaves -----------------------------------------------------------------------------


def everything_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        yield str(path.relative_to(folder)), path.read_bytes() if path.is_file() else b""


class Confined:
    """Runs the command in a process whose home, temporary folder and working folder are one empty place."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("home", "tmp", "cwd", "out"):
            (root / name).mkdir()
        self.inputs = root.parent / f"{root.name}-inputs"
        self.inputs.mkdir()

    def file(self, name: str, content: bytes) -> Path:
        path = self.inputs / name
        path.write_bytes(content)
        return path

    def run(
        self,
        *arguments: str | Path,
        stdin: bytes = b"",
        stdout: IO[bytes] | None = None,
        code: str = "",
        alone: bool = False,
    ) -> tuple[int, str]:
        """Return the exit code, and all output and remaining files with their names.

        ``code`` runs first. With ``alone``, the command has an interpreter of its own, which takes a second.
        """
        temporary = str(self.root / "tmp")
        environment = {
            **os.environ,
            **dict.fromkeys(
                ("HOME", "USERPROFILE", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"), str(self.root / "home")
            ),
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        words, cwd = list(map(str, arguments)), self.root / "cwd"
        if alone:
            done = subprocess.run(
                [sys.executable, "-m", "textveil", *words],
                input=stdin,
                capture_output=True,
                timeout=120,
                cwd=cwd,
                env=environment,
                check=False,
            )
        else:
            done = run_forked(words, cwd=cwd, environment=environment, stdin=stdin, stdout=stdout, before=code)
        left = [name.encode("utf-8", "replace") + content for name, content in everything_in(self.root)]
        said = b"\n".join([done.stdout or b"", done.stderr, *left])
        assert b"Traceback" not in done.stderr
        return done.returncode, said.decode("utf-8", "replace")


@pytest.fixture
def confined(tmp_path: Path) -> Confined:
    root = tmp_path / "root"
    root.mkdir()
    return Confined(root)


GOOD = [
    ["sanitize"],
    ["sanitize", "--json"],
    ["sanitize", "--protect", "words"],
    ["sanitize", "--protect", "words", "--json"],
    ["sanitize", "--protect", "words", "--sanitize-punctuation"],
    ["sanitize", "-b", str(find_artifact("english-santext")), "-m", "krr", "-e", "30"],
    ["sanitize", "-b", str(find_artifact("english-santext")), "-p", "1e-18", "-m", "santext+", "-e", "12.5"],
    ["sanitize", "-o", "out.txt"],
]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", GOOD, ids=lambda words: " ".join(Path(word).name for word in words))
def test_good_runs_leave_nothing(confined: Confined, arguments: list[str]) -> None:
    """Only the output, in the working folder if it was asked for there."""
    text = "\n".join(f"the {canary} said {SECRET}." for canary in CANARIES if "\n" not in canary)
    code, said = confined.run(*arguments, stdin=text.encode("utf-8"), alone=arguments == GOOD[0])
    assert code == 0
    assert hidden(said)
    names = sorted(name for name, _ in everything_in(confined.root))
    assert names == sorted(
        ["home", "tmp", "cwd", "out", *([os.path.join("cwd", "out.txt")] if "-o" in arguments else [])]
    )


@pytest.mark.slow
def test_a_text_and_a_word_on_the_command_line(confined: Confined) -> None:
    for arguments in (["sanitize", "--text", SECRET], ["inspect", "Zorblaxia"], ["inspect", "Zorblaxia", "--json"]):
        code, said = confined.run(*arguments)
        assert code == 0
        assert hidden(said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([SECRET], 2),
        (["sanitize", f"--{SECRET}"], 2),
        (["sanitize", SECRET], 1),
        (["sanitize", "--text", SECRET, "--epsilon", SECRET], 1),
        (["sanitize", "--text", SECRET, "--mechanism", SECRET], 2),
        (["sanitize", "--text", SECRET, "--style", SECRET], 2),
        (["sanitize", "--text", SECRET, "-p", SECRET], 1),
        (["sanitize", "--text", SECRET, "--deny", SECRET], 1),
        (["sanitize", "--text", SECRET, "--bundle", SECRET], 1),
        (["sanitize", "--text", SECRET, "--expect-id", SECRET], 1),
        (["sanitize", "--text", SECRET, "-o", f"{SECRET}/out.txt"], 1),
        (["sanitize", "--text", SECRET, SECRET], 1),
        (["inspect", SECRET], 1),
        (["inspect", "the", SECRET], 2),
        (["inspect", "the", "-n", SECRET], 2),
        (["info", SECRET], 1),
        (["info", "--bundle", SECRET], 1),
    ],
    ids=lambda value: " ".join(value).replace(SECRET, "SECRET") if isinstance(value, list) else str(value),
)
def test_wrong_runs_do_not_tell(confined: Confined, tiny_path: Path, arguments: list[str], expected: int) -> None:
    if arguments[0] == "sanitize" and "--bundle" not in arguments:  # it is opened faster than the built-in one
        arguments = [*arguments, "--bundle", str(tiny_path)]
    code, said = confined.run(*arguments, alone=arguments == [SECRET])
    assert code == expected
    assert hidden(said)
    assert len(list(everything_in(confined.root))) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "output"),
    [(b"\xff", []), (b"\xc3", []), (b"\xed\xa0\x80", []), (b"\xff", ["-o", "out.txt"]), (b"\xff", ["--json"])],
    ids=str,
)
def test_bad_bytes_after_the_secret(confined: Confined, tiny_path: Path, broken: bytes, output: list[str]) -> None:
    content = f"the {SECRET}\n{SECRET} ".encode() + broken + f" {SECRET}\n{SECRET}\n".encode()
    for arguments, stdin in (([confined.file("in.txt", content)], b""), (["-"], content)):
        code, said = confined.run("sanitize", "--bundle", tiny_path, *output, *arguments, stdin=stdin)
        assert code == 1
        assert "not UTF-8 at byte" in said
        assert hidden(said)
        assert len(list(everything_in(confined.root))) == 4


def test_a_damaged_bundle_does_not_tell(confined: Confined, tiny_path: Path) -> None:
    bundle = confined.inputs / SECRET
    shutil.copytree(tiny_path, bundle)
    (bundle / "mechanism.json").write_bytes(b"{" + SECRET.encode())
    code, said = confined.run("sanitize", "--bundle", bundle, "--text", SECRET)
    assert code == 1
    assert "bundle-damaged" in said
    assert hidden(said)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "arguments", [["sanitize"], ["sanitize", "--json"], ["sanitize", "--text", SECRET]], ids=" ".join
)
def test_a_full_disk_does_not_tell(confined: Confined, arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        code, said = confined.run(*arguments, stdin=SECRET.encode(), stdout=full)
    assert code == 1
    assert "cannot write to standard output" in said
    assert hidden(said)


def test_a_disk_that_fills_up_does_not_tell(confined: Confined) -> None:
    fail = f"import os\ndef fail(number):\n    raise OSError({errno.ENOSPC}, {SECRET!r}, {SECRET!r})\nos.fsync = fail\n"
    code, said = confined.run("sanitize", "-o", "out.txt", stdin=SECRET.encode(), code=fail)
    assert code == 1
    assert " cannot be written: " in said
    assert hidden(said)
    assert len(list(everything_in(confined.root))) == 4


BROKEN = {
    "the draw": "from textveil.mechanisms import integer_sampling\ninteger_sampling.draw_thinned = fail",
    "the segments": "from textveil.text.rewrite import cut\ncut.split_at_strings = fail",
    "the entropy": "import os\nos.urandom = fail",
    "the look-up": "from textveil.text.rewrite.cut import SegmentTable\nSegmentTable.add_entries = fail",
    "the writing": "from textveil.text.rewrite import rewriter\nrewriter.write_texts = fail",
    "the statement": "from textveil.text.statement import PrivacyStatement\nPrivacyStatement.format_line = fail",
    "the bundle": "from textveil.mechanisms.baselines.table import SanTextTable\nSanTextTable.from_tensors = fail",
}
ERRORS = (
    ValueError(SECRET),
    KeyError(SECRET),
    RuntimeError(SECRET),
    OSError(errno.EIO, SECRET, SECRET),
    MemoryError(SECRET),
    RecursionError(SECRET),
    AssertionError(SECRET),
    UnicodeEncodeError("utf-8", SECRET, 0, 1, SECRET),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_internal_errors_do_not_tell(
    here: Callable, tiny_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, tmp_path: Path
) -> None:
    """An internal error, of textveil or a library, contains the text in its message."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(sampling, "draw_thinned", fail)
    for output in ([], ["--json"], ["-o", tmp_path / "out.txt"]):
        ran = here("sanitize", "--bundle", tiny_path, "--text", SECRET, *output)
        assert ran.code == 1
        assert hidden(ran.text + ran.message)
        assert ran.message.count("\n") == 1
        assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("place", BROKEN.values(), ids=BROKEN.keys())
def test_internal_errors_anywhere_do_not_tell(confined: Confined, tiny_path: Path, place: str) -> None:
    code = f"def fail(*arguments, **options):\n    raise ValueError({SECRET!r}) from KeyError({SECRET!r})\n{place}"
    ended, said = confined.run("sanitize", "--bundle", tiny_path, "-o", "out.txt", stdin=SECRET.encode(), code=code)
    assert ended == 1
    assert hidden(said)
    assert len(list(everything_in(confined.root))) == 4
