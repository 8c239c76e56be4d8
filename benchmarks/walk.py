"""Walks data through the house: the modules that each task loads and enters, the functions it calls, and how deep.

    python benchmarks/walk.py [TASK...]

Each task runs in a process of its own with made-up data in a temporary folder. "Loaded" are modules of ours that were
imported; "entered" are those of which some function ran, which is what somebody must read who follows the data.
"Functions" are those that ran, "calls" how often our code called our code, "deepest" the longest chain of our calls.
Another checkout is walked with its `src` folders in PYTHONPATH.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

TEXT = "My doctor in Boston said the biopsy was clean."
ROWS = "id,note\n" + "".join(f"{row},{TEXT}\n" for row in range(20))
ENCODER = Path(__file__).parents[1] / "artifacts" / "ag-static"
LABELED = "".join(
    json.dumps({"text": f"{word} {place} {number}", "label": label}) + "\n"
    for number in range(200)
    for word, place, label in (
        ("goal", "match", "sport"),
        ("stock", "market", "business"),
        ("virus", "chip", "science"),
    )
)


def library() -> None:
    """`Sanitizer.load().sanitize`."""
    from textveil import Sanitizer

    Sanitizer.load().sanitize(TEXT)


def command(module: str, *arguments: str) -> Callable[[], None]:
    """Returns a task that runs a command line."""

    def run() -> None:
        from importlib import import_module

        sys.argv = ["command", *arguments]
        import_module(module).main()

    return run


TASKS = {
    "sanitize, library": library,
    "sanitize, command": command("textveil.__main__", "sanitize", "--text", TEXT),
    "sanitize --csv with a ledger": command(
        "textveil.__main__",
        *("sanitize", "--csv", "-c", "note", "--ledger", "ledger", "--scope", "me", "-o", "out.csv", "rows.csv"),
    ),
    "encode": command("textveil.__main__", "encode", "--bundle", str(ENCODER), "--text", TEXT),
    "textveil-train encoder": command(
        "textveil_training.cli", "encoder", "train.jsonl", "--text", "text", "--label", "label", "-o", "out"
    ),
    "textveil-export table": command(
        "textveil_export.cli", "table", "--vocabulary", "words.txt", "--mechanisms", "staircase", "-o", "bundle"
    ),
}


def traced(task: Callable[[], None]) -> dict[str, object]:
    """Runs a task and counts what of ours it enters."""
    entered: set[str] = set()
    functions: set[object] = set()
    calls = depth = deepest = 0

    def profile(frame: object, event: str, _argument: object) -> None:
        nonlocal calls, depth, deepest
        code = frame.f_code  # type: ignore[attr-defined]
        module = frame.f_globals.get("__name__", "")  # type: ignore[attr-defined]
        if event not in ("call", "return") or not module.startswith("textveil") or code.co_name == "<module>":
            return
        depth += 1 if event == "call" else -1
        if event == "call":
            entered.add(module)
            functions.add(code)
            calls += 1
            deepest = max(deepest, depth)

    sys.setprofile(profile)
    try:
        task()
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.setprofile(None)
    loaded = sum(name.split(".")[0].startswith("textveil") for name in sys.modules)
    return {
        "loaded": loaded,
        "entered": len(entered),
        "functions": len(functions),
        "calls": calls,
        "deepest": deepest,
        "rooms": sorted(entered),
    }


def main() -> None:
    """Prints a table, a row for each task."""
    if sys.argv[1:2] == ["--one"]:
        print("\n" + json.dumps(traced(TASKS[sys.argv[2]])), file=sys.stderr)
        return
    print("| task | loaded | entered | functions | calls | deepest |\n|---|---|---|---|---|---|")
    for name in sys.argv[1:] or TASKS:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "rows.csv").write_text(ROWS)
            Path(folder, "train.jsonl").write_text(LABELED)
            Path(folder, "words.txt").write_text("\n".join(sorted({*TEXT.lower().strip(".").split()})))
            done = subprocess.run(
                [sys.executable, __file__, "--one", name], cwd=folder, capture_output=True, text=True, check=False
            )
        try:
            found = json.loads(done.stderr.splitlines()[-1])
        except (ValueError, IndexError):
            print(f"| {name} | failed: {done.stderr.splitlines()[-1:]} |")
            continue
        counts = " | ".join(f"{found[count]:,}" for count in ("loaded", "entered", "functions", "calls", "deepest"))
        print(f"| {name} | {counts} |")


if __name__ == "__main__":
    main()
