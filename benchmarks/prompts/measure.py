"""Measure by position which words each tool changes in real prompts, and which private words stay.

    python benchmarks/prompts/measure.py --data DATA [--only TOOL...] [-o DIR]

DATA has the folders ``prompts`` (pupa.jsonl and others: `id`, `text`, `pii`), ``pii`` (records.jsonl) and ``wnut17``
(dev.jsonl: `text`, `spans`). Each tool runs in a separate process, whose peak memory is measured, and has one record.
The script names and skips tools that cannot run here, and values of the option `facts` that the installed library does
not have.

The time is the processor time on one core to rewrite the private prompts, one call per prompt.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import measure

if __name__ == "__main__":
    measure.one_core()

import argparse
import hashlib
import json
import os
import platform
import resource
import subprocess
import time
from collections.abc import Iterator
from typing import Any

from prompts.positions import WORD, count_marked, count_prompts, read_function_words
from prompts.prompts import SETS, Prompt, is_measured, read_lines, read_prompts
from prompts.tools import TOOLS, Tool, ToolError, read_versions

ROOT = Path(__file__).resolve().parents[2]
FUNCTION_WORDS = ROOT / "artifacts" / "english-v4" / "function-words.txt"
#: Files of texts with marked personal data, below DATA.
MARKED = {"made-up": "pii/records.jsonl", "posts": "wnut17/dev.jsonl"}
_TIMED = "pupa"
Record = dict[str, Any]


def measure_tool(tool: Tool, data: Path, limit: int | None = None) -> Record:
    """Measure a tool on every data file that exists in a folder.

    Args:
        tool: The tool.
        data: Folder with ``prompts``, ``pii`` and ``wnut17``.
        limit: Largest number of texts from each file, for a quick test.
    """
    words = read_function_words(FUNCTION_WORDS)
    record: Record = {"tool": tool.name, "versions": read_versions(tool), "python": platform.python_version()}
    record |= {"limit": limit, "of": {}, "prompts": {}, "marked": {}, "speed": None}
    for name in SETS:
        path = data / "prompts" / f"{name}.jsonl"
        if path.is_file():
            prompts = [one for one in read_prompts(path) if is_measured(one)][:limit]
            record["of"][name] = _hash(path)
            record["prompts"][name] = count_prompts(prompts, tool.keep, words)
            if name == _TIMED:
                record["speed"] = _time(tool, prompts)
    for name, below in MARKED.items():
        path = data / below
        if path.is_file():
            record["of"][name] = _hash(path)
            record["marked"][name] = count_marked([*read_lines(path)][:limit], tool.keep, words)
    record["peak_memory_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return record


def _time(tool: Tool, prompts: list[Prompt]) -> Record:
    words = sum(len(WORD.findall(prompt.text)) for prompt in prompts)
    tool.rewrite(prompts[0].text)
    start = time.process_time()
    for prompt in prompts:
        tool.rewrite(prompt.text)
    seconds = time.process_time() - start
    return {"words": words, "cpu_seconds": round(seconds, 3), "words_per_second": round(words / max(seconds, 1e-9))}


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_record(path: Path, record: Any) -> None:
    """Write a record file atomically."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    os.replace(part, path)


def print_record(record: Record) -> Iterator[str]:
    """Yield a line for each measured file."""
    yield f"{record['tool']} {record['versions']}"
    for name, of in record["prompts"].items():
        line = (
            f"{name}: {of['prompts']} prompts; words changed {_share(of, 'words_changed', 'words')}; "
            f"numbers {_share(of, 'numbers_changed', 'numbers')}; untouched {_share(of, 'untouched', 'prompts')}"
        )
        if of["units"]:
            line += f"; units that stay whole {of['units_whole'] / of['units']:.4f} of {of['units']}"
            line += f"; their words {_share(of, 'unit_words_stay', 'unit_words')}"
        yield line + (f"; {of['skipped']} skipped" if of["skipped"] else "")
    for name, of in record["marked"].items():
        types = of["types"]
        stay, total = (sum(one[key] for one in types.values()) for key in ("words_stay", "words"))
        by_type = {kind: _share(one, "words_stay", "words") for kind, one in types.items()}
        persons = [one for kind, one in types.items() if kind.lower() == "person"]
        whole, of_all = (sum(one[key] for one in persons) for key in ("spans_whole", "spans"))
        yield (
            f"{name}: stay {stay / max(1, total):.4f}; persons whole {whole} of {of_all}; "
            f"other words changed {_share(of, 'others_changed', 'others')}; {by_type}"
        )
    if record["speed"]:
        yield f"{record['speed']['words_per_second']:,} words/s, {record['peak_memory_mb']:,} MB"


def _share(counts: Record, part: str, whole: str) -> str:
    return f"{counts[part] / max(1, counts[whole]):.3f}"


def _run(name: str, a: argparse.Namespace) -> None:
    """Measure a tool in this process, and write its record."""
    try:
        record = measure_tool(TOOLS[name](), a.data, a.limit)
    except ToolError as error:
        print(f"not measured: {name}: {error}")
        return
    write_record(a.output / f"{name}.json", record)
    print("\n".join(print_record(record)), flush=True)


def main() -> None:
    """Parse the command line, and measure every tool in a process of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    parser.add_argument("--only", nargs="+", choices=list(TOOLS), default=list(TOOLS), metavar="TOOL")
    parser.add_argument("--limit", type=int, help="maximum number of texts from each file")
    parser.add_argument(
        "--here", action="store_true", help="measure in this process, not in a separate process for each tool"
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks" / "results" / "prompts")
    a = parser.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    for name in a.only:
        if a.here:
            _run(name, a)
        else:
            limit = () if a.limit is None else ("--limit", str(a.limit))
            command = [sys.executable, __file__, "--here", "--data", a.data, "--only", name, "-o", a.output, *limit]
            subprocess.run([str(word) for word in command], check=True)


if __name__ == "__main__":
    main()
