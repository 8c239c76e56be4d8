"""Measure a text's path: how many files, functions and changes of file one call passes through.

An engineer who follows one text through the code must open each file that the call enters, and must turn to another
file at each change of file. Run it on the installed packages, or on another checkout through PYTHONPATH:

    .venv/bin/python tests/tools/trace_path.py
    PYTHONPATH=/path/to/checkout/runtime/src:/path/to/checkout/cli/src .venv/bin/python tests/tools/trace_path.py --json

The counted events are calls of functions whose file lies in a package of the project. Module bodies and class bodies
run at import and are not counted; a lambda, a generator or a comprehension is a function of its own.
"""

import argparse
import contextlib
import inspect
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

PACKAGES = ("textveil", "textveil_cli")
# The sentence of README's quick start.
SENTENCE = "I am ill and cannot call. Please refund order 88213 to Daniel Keller, Leeds."
FIRST_PATH = "sanitize, names, first call"
WARM_PATHS = {"sanitize, names, warm": "names", "sanitize, words, warm": "words"}
CONVERSATION_PATH = "Conversation.outgoing, one message"
TABLE_PATH = "textveil sanitize notes.csv, two rows"
PATHS = (FIRST_PATH, *WARM_PATHS, CONVERSATION_PATH, TABLE_PATH)
#: Number of untraced calls before a warm one. The first thousand words are searched in a file (``CommonWords``), and
#: only a process of one short text, which the first path shows, ends before.
_WARM_UP_CALLS = 100
TABLE = "id,note\n1,Please call Anna Novak in Leeds.\n2,The order 88213 was late.\n"


@dataclass(frozen=True)
class PathLength:
    """Hold the size of one call's path: distinct files and functions, changes of file, deepest nesting."""

    files: int
    functions: int
    changes_of_file: int
    depth: int


class _PathTracer:
    """Count calls of the project's functions as a profiler of the interpreter."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.files: list[str] = []
        self._folders = folders
        self._functions: set[tuple[str, str]] = set()
        self._changes = 0
        self._depth = 0
        self._deepest = 0
        self._last = ""

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not self._is_counted(code):
            return
        if event == "return":
            self._depth = max(self._depth - 1, 0)
            return
        self._depth += 1
        self._deepest = max(self._deepest, self._depth)
        if code.co_filename not in self.files:
            self.files.append(code.co_filename)
        self._functions.add((code.co_filename, code.co_qualname))
        if code.co_filename != self._last:
            self._changes += 1
            self._last = code.co_filename

    def measure(self) -> PathLength:
        """Return the counts of all calls so far."""
        return PathLength(len(self.files), len(self._functions), self._changes, self._deepest)

    def _is_counted(self, code: CodeType) -> bool:
        # Bodies of modules and classes have no fast locals: CO_OPTIMIZED is off.
        return bool(code.co_flags & inspect.CO_OPTIMIZED) and code.co_filename.startswith(self._folders)


def find_package_folders() -> tuple[str, ...]:
    """Return the folders of the installed packages of the project."""
    folders = []
    for name in PACKAGES:
        with contextlib.suppress(ImportError):
            path = __import__(name).__file__
            if path:
                folders.append(str(Path(path).parent) + "/")
    return tuple(folders)


def trace_call(call: Callable[[], Any]) -> tuple[PathLength, list[str]]:
    """Run a call, and return the size of its path with the files in the order of their first use."""
    tracer = _PathTracer(find_package_folders())
    sys.setprofile(tracer)
    try:
        call()
    finally:
        sys.setprofile(None)
    return tracer.measure(), tracer.files


def build_call(path: str) -> Callable[[], Any]:
    """Return the call of a path, after the untraced calls that warm it up."""
    if path == TABLE_PATH:
        return _sanitize_table
    from textveil import Conversation, Sanitizer

    if path == FIRST_PATH:
        return lambda: Sanitizer.load().sanitize(SENTENCE, protect="names")
    sanitizer = Sanitizer.load()
    for _ in range(_WARM_UP_CALLS):
        sanitizer.sanitize(SENTENCE, protect="names")
    if path == CONVERSATION_PATH:
        messages = [{"role": "user", "content": SENTENCE}]
        Conversation(sanitizer).outgoing(messages)
        conversation = Conversation(sanitizer)
        return lambda: conversation.outgoing(messages)
    mode = WARM_PATHS[path]
    sanitizer.sanitize(SENTENCE, protect=mode)
    return lambda: sanitizer.sanitize(SENTENCE, protect=mode)


def _sanitize_table() -> None:
    from textveil_cli.main import app
    from typer.testing import CliRunner

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "notes.csv")
        source.write_text(TABLE, encoding="utf-8")
        words = ["sanitize", str(source), "--column", "note", "--protect", "names", "-o", str(Path(folder, "out.csv"))]
        with contextlib.redirect_stderr(io.StringIO()):
            outcome = CliRunner().invoke(app, words)
        if outcome.exit_code:
            raise SystemExit(f"trace_path: the command failed with code {outcome.exit_code}: {outcome.output}")


def main() -> None:
    """Print the table, or with --json the same counts and the files of each path."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON, with the files of each path")
    parser.add_argument("--path", choices=PATHS, help="trace one path in this process")
    arguments = parser.parse_args()
    if arguments.path:
        length, files = trace_call(build_call(arguments.path))
        print(json.dumps({**asdict(length), "paths": files}))
        return
    # Each path has a process of its own: what one path imports or caches must not shorten another.
    records = {path: trace_in_process(path) for path in PATHS}
    if arguments.json:
        print(json.dumps(records, indent=1))
        return
    for path, record in records.items():
        print(
            f"{path:40} files {record['files']:4}  functions {record['functions']:4}  "
            f"changes of file {record['changes_of_file']:7,}  depth {record['depth']:3}"
        )


def trace_in_process(path: str) -> dict[str, Any]:
    """Return the size of a path and its files, traced in a process of its own."""
    command = [sys.executable, __file__, "--path", path]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
