"""Each command in mistakes.md gives the message below it, and nothing is released.

Run this file as a script to write the messages anew, then read every one of them as a user would.
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from textveil_cli.console import run
from textveil_cli.main import app

PAGE = Path(__file__).with_suffix(".md").with_name("mistakes.md")
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
_MISTAKE = re.compile(r"^\$ (?P<command>textveil .*)\n(?P<message>(?!\$).*)\n", re.M)
#: What is in the folder where they are made, beside docs/examples.
FILES = {
    "mails/a.csv": b"id,note\n1,hello\n",
    "broken.csv": b'id,note\n1,"open\n',
    "ragged.csv": b"id,note\n1,a\n2,b,c\n",
    "semicolons.csv": b"id;note\n1;a\n",
    "numbers.jsonl": b'{"note": 1}\n',
    "half.jsonl": b'{"note": "a"\n',
    "pretty.json": b'[\n{"note": "a"}\n]\n',
    "latin.csv": b"id,note\n1,caf\xe9\n",
    "latin.txt": b"caf\xe9\n",
    "empty.xlsx": b"",
    "wide.txt": "hello".encode("utf-16"),
    "packed.txt.gz": b"not packed\n",
    "five.txt": b"one\ntwo\nthree\nfour\nfive\n",
    "map.json": b"{}",
    "twice.txt": b"Anna Novak, Anna\nAnna Baker, Anna\n",
}


def mistakes() -> list[tuple[str, str]]:
    """Each command of the page, with its message."""
    return [(match["command"], match["message"]) for match in _MISTAKE.finditer(PAGE.read_text("utf-8"))]


def said(command: str) -> tuple[int, str, str]:
    """Return the exit code of a command, its output, and its message."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(app, "textveil", shlex.split(command)[1:])
        out.flush()
    return code, out.buffer.getvalue().decode(), err.getvalue()  # type: ignore[attr-defined]


def make_files(folder: Path) -> None:
    """Create the folder for the mistakes."""
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    return tmp_path


def test_there_are_sixty_mistakes_and_no_two_are_the_same() -> None:
    commands = [command for command, _ in mistakes()]
    assert len(commands) >= 60
    assert len({*commands}) == len(commands)


@pytest.mark.parametrize(("command", "message"), mistakes(), ids=lambda value: value)
def test_a_mistake_has_its_message(folder: Path, command: str, message: str) -> None:
    before = {path: path.stat().st_size for path in folder.rglob("*")}
    code, printed, err = said(command)
    assert (code, printed) == (2 if message.startswith("textveil: usage: ") else 1, "")
    assert err == f"{message}\n"
    assert {path: path.stat().st_size for path in folder.rglob("*")} == before, "nothing is written"


def test_no_message_has_a_word_of_the_files_or_of_a_text() -> None:
    """The texts that are typed and those of the files; hello is one of both."""
    for command, message in mistakes():
        assert not re.search(r"doctor|hello|caf\b|biopsy|invoice", message, re.I), command


def test_every_message_says_what_to_do_in_one_line() -> None:
    for command, message in mistakes():
        assert message.startswith("textveil: "), command
        assert len(message) <= 220, command
        assert not re.search(r"(?<!there) is no ", message), command


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        make_files(Path(made))
        os.chdir(made)
        text = PAGE.read_text("utf-8")
        command_line = [str(Path(sys.executable).with_name("textveil"))]

        def anew(match: re.Match[str]) -> str:
            words = [*command_line, *shlex.split(match["command"])[1:]]
            ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            return f"$ {match['command']}\n{ran.stderr.rstrip()}\n"

        PAGE.write_text(_MISTAKE.sub(anew, text), "utf-8")
