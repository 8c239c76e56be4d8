"""A corpus through a bundle, from the first check to the last file.

Files are rewritten as ``textveil sanitize`` rewrites tables. What a corpus has besides: the formats that data sets are
published in, several copies, and a record of the release that training and measurement take over.
"""

import hashlib
import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Unpack

from textveil import Sanitizer
from textveil.bundle import Pins, atomic_output
from textveil.text import Options
from textveil_cli.files import Counts, Drawer, Record, Source, Sources, record_path, sanitize_files, settings_of

from textveil_training.corpus.layouts import Rewritten, rewritten
from textveil_training.corpus.record import record_of
from textveil_training.corpus.sources import RECORD, check, find_files
from textveil_training.data import format_named
from textveil_training.errors import DataOptionError
from textveil_training.progress import Report, no_report

#: Bytes of texts that are worth a further process, which takes a second to begin.
WORTH_A_WORKER = 1_000_000


def sanitize_corpus(
    inputs: Sequence[Path],
    output: Path,
    format_name: str,
    *,
    options: Options,
    bundle: Path | None = None,
    text_keys: Sequence[str] = ("text",),
    label_key: str | None = None,
    copies: int = 1,
    workers: int | None = None,
    resume: bool = False,
    report: Report = no_report,
    **pins: Unpack[Pins],
) -> dict[str, Any]:
    """Sanitizes the texts of files and writes files of the same names and format.

    All of the input is read and checked before the first draw. The output distribution does not depend on the number of
    processes.

    Args:
        inputs: Files; for formats with published file names also folders that hold them.
        output: The folder to write; it must be empty or not exist.
        format_name: A key of ``data.FORMATS``.
        options: Options of the sanitizer, as in ``Sanitizer.sanitize``.
        bundle: Folder of a bundle; the built-in English one if left out.
        text_keys: Keys or columns of the texts (``jsonl``, ``table``); all others are carried through.
        label_key: A key or column that every row must have (``jsonl``, ``table``).
        copies: Independent outputs of every text. Each is a release; all are charged.
        workers: Processes; all cores if left out. With 1 the work is done in this one. A script that calls this with
            more must be importable (``if __name__ == "__main__":``), as everywhere with ``multiprocessing``.
        resume: Continue an interrupted run.
        report: Called with a stage, the bytes done and the bytes in all.
        pins: What the bundle must be.

    Returns:
        The record, as it is written to ``record.json``. It holds no text and nothing that depends on the texts but
        through what is released: the files and the number of tokens.

    Raises:
        TextveilError: Options, bundle, input or output are not as they should be; see the classes. Nothing is drawn
            before options, bundle and all of the input are checked.
        KeyboardInterrupt: Ctrl-C. Finished files are kept.

    Privacy:
        One release of every text per copy, with the promise of ``Sanitizer.sanitize``. Files that were finished before
        an interruption are kept and not drawn again: drawing again would be a second release of their texts, to who
        has seen the first. Of a file that was not finished nothing remains.
    """
    begun, clock = datetime.now(UTC), time.perf_counter()
    if copies < 1 or (workers is not None and workers < 1):
        raise DataOptionError("copies and workers are at least 1")
    sanitizer = Sanitizer.load(bundle, **pins)
    terms = sanitizer.terms(**options)
    files = find_files(inputs, format_name)
    for number, path in enumerate(files):
        report("checking", number, len(files))
        check(path, format_name, text_keys, label_key)
    report("checking", len(files), len(files))

    keys = tuple(text_keys) if format_named(format_name).keyed else ()
    plans = {path: rewritten(format_name, path, text_keys) for path in files}
    settings = [settings_of(plan.selection, terms, options) for plan in plans.values()]
    facts = json.dumps([settings, format_name, keys, copies, version("textveil")])
    names = {path: _names(path, copies) for path in files}
    size = copies * sum(path.stat().st_size for path in files)
    processes = min(available_cores(), 1 + size // WORTH_A_WORKER) if workers is None else workers
    record = Record(output, hashlib.sha256(facts.encode()).hexdigest(), resume=resume)
    try:
        drawer = Drawer(sanitizer, bundle, options, processes)
        found = _sanitize(plans, names, output, drawer, record, report)
    finally:
        record.close()
    content = record_of(
        sanitizer,
        options,
        counts=found,
        outputs={path.name: tuple(output / name for name in of_file) for path, of_file in names.items()},
        copies=copies,
        corpus_format=format_name,
        text_keys=list(keys) or None,
        machine={"processor": platform.machine(), "system": platform.system(), "workers": processes},
        resumed=resume,  # then the time is that of the last part
        begun=begun.isoformat(timespec="seconds"),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        wall_s=round(time.perf_counter() - clock, 2),
    )
    with atomic_output(output / RECORD) as write:
        write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    record_path(output).unlink()  # it is for a run that goes on, and has a hash of the denied words
    return content


def available_cores() -> int:
    """Counts the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _names(path: Path, copies: int) -> tuple[str, ...]:
    """What the copies of a file are called: with more than one, each is in a folder of its own."""
    return (path.name,) if copies == 1 else tuple(f"copy-{number + 1}/{path.name}" for number in range(copies))


def _sanitize(
    plans: Mapping[Path, Rewritten],
    names: Mapping[Path, tuple[str, ...]],
    output: Path,
    drawer: Drawer,
    record: Record,
    report: Report,
) -> dict[str, Counts]:
    """Rewrites all files, those that are rewritten alike in one go; returns counts by name, for one copy."""
    sizes = {path: path.stat().st_size for path in plans}
    done, total = 0, sum(sizes[path] * len(names[path]) for path in plans)
    counts: dict[str, Counts] = {}
    for plan, group in groupby(sorted(plans, key=lambda path: repr(plans[path])), key=plans.__getitem__):
        sources = [
            Source(path=path, name=name, target=output / name, size=sizes[path])
            for path in group
            for name in names[path]
        ]
        found = sanitize_files(
            Sources(tuple(sources), output, 0),
            plan.selection,
            drawer,
            record=record,
            report=lambda consumed, _, done=done: report("sanitizing", min(done + consumed, total), total),
            layout=plan.layout,
        )
        done += sum(source.size for source in sources)
        counts |= {name.rpartition("/")[2]: of_file for name, of_file in found.files.items()}
    report("sanitizing", total, total)
    return counts
