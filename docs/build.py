"""Run the commands in the documents and write their output below them.

    python docs/build.py            run every marked block and rewrite the pages (make docs)
    python docs/build.py PAGE...    the same for some pages
    python docs/build.py --check    run nothing, and list all problems (make docs-check)

Every shell block has a comment in the line above it, which GitHub does not show:

    <!-- run -->                         its output stands in a text block below it
    <!-- run, first 12 lines -->         the same, cut after 12 lines
    <!-- run, exit 1 -->                 a command that is meant to fail
    <!-- not run: REASON -->             too long, or needs data or a GPU
    <!-- output of DATE: REASON -->      not run now; the text block below it was written by hand then

A run block also gets a hash of itself, so that output from before an edit is found. The blocks of one page run in order
in one new folder, which holds copies of the files in docs/examples and links to artifacts, docs and examples. Blocks of
the folders in NOT_RUN need no comment.
"""

import hashlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WHEELS = ("runtime", "cli", "export", "server_training")
#: The typer application of every command.
APPS = {
    "textveil": "textveil_cli.main:app",
    "textveil-export": "textveil_export.cli.main:app",
    "textveil-train": "textveil_training.cli.main:app",
}
#: Folders and pages whose unmarked blocks are not run, and why.
NOT_RUN = {"docs/results/": "they need the data sets, and hours to days"}

_BLOCK = re.compile(
    r"(?:^<!-- (?P<marker>[^\n]*) -->\n)?^```(?:sh|console)\n(?P<commands>.*?)^```\n"
    r"(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.M | re.S,
)
_RUN = re.compile(
    r"run(?P<options>(?:, first (?P<lines>\d+) lines)?(?:, exit (?P<exit>\d+))?)(?:, wrote (?P<hash>\w+))?"
)
_NOT_RUN = re.compile(r"(not run|output of \d{4}-\d\d-\d\d): \S.*")
_NO_LANGUAGE = re.compile(r"^```\n(?=(?:textveil|pip|python)\b)", re.M)
_FAILURE = re.compile(r"Traceback|\b\w*Error\b")


def pages() -> list[Path]:
    """Return the documents with commands: README.md, docs, the wheels' and the artifacts' pages.

    Cards of bundles are left out. A manifest has their hash, so they never change.
    """
    found = [ROOT / "README.md", *(ROOT / wheel / "README.md" for wheel in WHEELS)]
    found += [*(ROOT / "docs").rglob("*.md"), *(ROOT / "artifacts").rglob("*.md")]
    return sorted(page for page in found if not (page.parent / "manifest.json").exists())


def build(text: str) -> str:
    """Return a page with the output of every block that is marked to run.

    Raises:
        ValueError: A command ended otherwise than its marker says, or printed nothing.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "docs" / "examples", folder, dirs_exist_ok=True)
        for linked in ("artifacts", "docs", "examples"):
            (folder / linked).symlink_to(ROOT / linked)
        return _BLOCK.sub(lambda block: _with_output(block, folder), text)


def _with_output(block: re.Match[str], folder: Path) -> str:
    run = _RUN.fullmatch(block["marker"] or "")
    if run is None:
        return block[0]
    output = _output(block["commands"], int(run["exit"] or 0), folder)
    if run["lines"] and len(output) > int(run["lines"]):
        output = [*output[: int(run["lines"])], "..."]
    marker = f"run{run['options']}, wrote {_hash(run['options'], block['commands'])}"
    shown = "\n".join(output)
    return f"<!-- {marker} -->\n```sh\n{block['commands']}```\n\n```text\n{shown}\n```\n"


def _output(commands: str, exit_status: int, folder: Path) -> list[str]:
    """Run commands as a shell script; return the lines of both output streams."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", commands],
        cwd=folder,
        env={**os.environ, "PATH": path, "HOME": str(folder), "COLUMNS": "100", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=900,
        check=False,
    )
    output = done.stdout.decode().replace(f"{folder}/", "").rstrip()
    if done.returncode != exit_status:
        raise ValueError(f"exit status {done.returncode} instead of {exit_status}:\n{commands}{output}")
    if not output:
        raise ValueError(f"these commands print nothing; let them show what they wrote:\n{commands}")
    return [line.rstrip() for line in output.splitlines()]


def _hash(options: str, commands: str) -> str:
    return hashlib.sha256(f"{options}\n{commands}".encode()).hexdigest()[:8]


def needs_markers(page: Path) -> bool:
    """Return whether every block of a page needs a marker."""
    return not str(page.relative_to(ROOT)).startswith(tuple(NOT_RUN))


def problems(text: str, *, markers: bool = True) -> Iterator[str]:
    """Yield the problems of a page: markers, outdated outputs, unknown commands and options.

    Args:
        text: The page, Markdown.
        markers: Whether every block must say whether it is run.
    """
    for block in _BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("commands"))
        marker, output = block["marker"] or "", block["output"]
        run = _RUN.fullmatch(marker)
        if run is not None:
            if output is None or run["hash"] != _hash(run["options"], block["commands"]):
                yield f"line {line}: the commands changed since their output was written: make docs"
        elif markers and not _NOT_RUN.fullmatch(marker):
            yield f"line {line}: the comment above this shell block does not say whether it is run"
        if (run is None or run["exit"] is None) and _FAILURE.search(output or ""):
            yield f"line {line}: the output below these commands is that of a failure"
        for command in split_commands(block["commands"]):
            yield from (f"line {line}: {problem}" for problem in _problems_of(command))
    for fence in _NO_LANGUAGE.finditer(text):
        yield f"line {text.count(chr(10), 0, fence.start()) + 1}: commands in a block without a language: write ```sh"


def split_commands(commands: str) -> Iterator[list[str]]:
    """Yield the words of each command of a shell block, of each side of a pipe, without redirections."""
    text = re.sub(r"(?<!\S)(#.*|\d?>&\d|\d(?=>))", "", commands.replace("\\\n", " "))
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    words: list[str] = []
    redirected = False
    for token in [*lexer, "\n"]:
        if set(token) <= set("();|&\n"):
            if words:
                yield words
            words = []
        elif set(token) <= set("<>"):
            redirected = True
        elif redirected:
            redirected = False
        elif words or not (re.match(r"\w+=", token) or token in ("do", "then", "!")):
            words.append(token)


def _problems_of(words: list[str]) -> Iterator[str]:
    name, arguments = words[0].removeprefix(".venv/bin/"), words[1:]
    if name in APPS:
        yield from (f"{name}: {problem}" for problem in _problems_of_command(_app(name), arguments))
    elif re.fullmatch(r"python3?", name) and arguments and arguments[0].endswith(".py"):
        script = ROOT / arguments[0]
        if not script.is_file():
            yield f"there is no {arguments[0]}"
            return
        text = script.read_text("utf-8")
        for option in (word.partition("=")[0] for word in arguments if word.startswith("--")):
            if f'"{option}"' not in text and f"{option[2:].replace('-', '_')}:" not in text:  # argparse, typer
                yield f"{arguments[0]} has no {option}"


def _problems_of_command(command: Any, arguments: list[str]) -> Iterator[str]:
    while hasattr(command, "commands") and arguments and not arguments[0].startswith("-"):
        if arguments[0] not in command.commands:
            yield f"no command {arguments[0]}"
            return
        command, arguments = command.commands[arguments[0]], arguments[1:]
    parser = command.make_parser(command.context_class(command))
    try:
        rest = parser.parse_args(list(arguments))[1]
    except Exception as error:  # typer's own copy of click has no public name for its errors
        yield str(error)
    else:
        yield from (f"unexpected argument {word}" for word in rest)


def _app(name: str) -> Any:
    from typer.main import get_command

    module, _, attribute = APPS[name].partition(":")
    return get_command(getattr(importlib.import_module(module), attribute))


def main(arguments: list[str]) -> None:
    """Build or check the pages; exit with status 1 if there is a problem."""
    if arguments == ["--check"]:
        wrong = [
            f"{page.relative_to(ROOT)} {problem}"
            for page in pages()
            for problem in problems(page.read_text("utf-8"), markers=needs_markers(page))
        ]
        sys.exit("\n".join(wrong) or 0)
    for page in [Path(argument) for argument in arguments] or pages():
        text = page.read_text("utf-8")
        try:
            built = build(text) if _BLOCK.search(text) else text
        except ValueError as error:
            sys.exit(f"{page}: {error}")
        if built != text:
            page.write_text(built, "utf-8")
            print(page)


if __name__ == "__main__":
    main(sys.argv[1:])
