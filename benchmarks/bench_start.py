"""Measure the time from process start to one rewritten sentence, and the time to open the bundle, on one core.

    python benchmarks/bench_start.py

The table has these rows:
- the library on one sentence, its import alone, and as the limit a process that only imports numpy and regex;
- the same three for the command;
- ``textveil --version``, and a typer program without any other function;
- in one process: opening the table of the default bundle, and loading the whole bundle with a check of all hashes.
Times are processor times. The processes run alternately.
"""

import statistics
import sys

from measure import compiled_once, median_seconds, one_core, peak_memory_mb, processor_seconds, report

one_core()

_SENTENCE = "My doctor in Boston said the biopsy was clean."
#: A typer program with two commands and a version option, like the command itself.
_BARE = """
import typer
app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
def tell(wanted: bool):
    if wanted:
        print("0")
        raise typer.Exit
@app.callback()
def root(version: bool = typer.Option(False, "--version", is_eager=True, callback=tell)): pass
@app.command()
def one(): pass
@app.command()
def other(): pass
app()
"""
_PROCESSES = {
    "limit: import numpy, regex": ["-c", "import numpy, regex"],
    "import textveil": ["-c", "from textveil import Sanitizer"],
    "one sentence, built-in bundle": [
        "-c", f"from textveil import Sanitizer; Sanitizer.load().sanitize({_SENTENCE!r}, protect='words')",
    ],
    "limit: import numpy, regex, typer": ["-c", "import numpy, regex, typer"],
    "the command on one sentence": ["-m", "textveil", "sanitize", "--protect", "words", "-q", "--text", _SENTENCE],
    "limit: a bare typer program, --version": ["-c", _BARE, "--version"],
    "textveil --version": ["-m", "textveil", "--version"],
    "textveil --help": ["-m", "textveil", "--help"],
}  # fmt: skip
_ROUNDS = 15


def main() -> None:
    """Run the benchmark."""
    commands = {name: [sys.executable, *arguments] for name, arguments in _PROCESSES.items()}
    times: dict[str, list[float]] = {name: [] for name in commands}
    with compiled_once():
        for command in commands.values():
            processor_seconds(command, 1)  # compiles the modules, which needs additional memory
        memory = {name: peak_memory_mb(command) for name, command in commands.items()}
        for _ in range(_ROUNDS):  # alternately, so that other load affects all of them
            for name, command in commands.items():
                times[name].append(processor_seconds(command, 1))
    processes = [[name, statistics.median(times[name]), memory[name]] for name in commands]
    from textveil import Sanitizer  # not earlier, since the measured memory of a child is at least that of its parent
    from textveil.bundle import DEFAULT_BUNDLE, layout, parse_tensors

    table = DEFAULT_BUNDLE / layout.STAIRCASE

    rows = [
        *processes,
        ["open the table", median_seconds(lambda: parse_tensors(table.read_bytes(), table.name), 50), None],
        ["load the bundle, hashes checked", median_seconds(Sanitizer.load, 20), None],
    ]
    report("start", ["what", "seconds", "resident MB"], rows)


if __name__ == "__main__":
    main()
