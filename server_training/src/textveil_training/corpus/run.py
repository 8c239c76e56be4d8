"""A corpus through a bundle, from the first check to the last file."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Unpack

from textveil import Sanitizer
from textveil.bundle import Pins
from textveil.text import Options, Terms

from textveil_training.corpus.layouts import layout_of
from textveil_training.corpus.record import Clock, FileFacts, record_of
from textveil_training.corpus.shards import SHARD_LINES, Counts, Shard, Source, cut_source
from textveil_training.corpus.sources import check, find_sources
from textveil_training.corpus.workers import Job, Piece, available_cores, finish_all
from textveil_training.corpus.workspace import Workspace
from textveil_training.errors import DataOptionError

Report = Callable[[str, int, int], None]


def _no_report(stage: str, done: int, total: int) -> None:
    """Reports nothing."""


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
    shard_lines: int = SHARD_LINES,
    report: Report = _no_report,
    **pins: Unpack[Pins],
) -> dict[str, Any]:
    """Sanitizes the texts of files and writes files of the same names and format.

    All of the input is read and checked before the first draw. Then parts of it (shards) are sanitized by several
    processes, each written as it is finished, and at last joined. The output distribution does not depend on the number
    of processes.

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
        shard_lines: Lines of a shard.
        report: Called with a stage, the steps done and the steps in all.
        pins: What the bundle must be.

    Returns:
        The record, as it is written to ``record.json``. It holds no text and nothing that depends on the texts but
        through what is released: the files and the number of tokens.

    Raises:
        TextveilError: Options, bundle, input or output are not as they should be; see the classes. Nothing is drawn
            before options, bundle and all of the input are checked.
        KeyboardInterrupt: Ctrl-C. Finished shards are kept.

    Privacy:
        One release of every text per copy, with the promise of ``Sanitizer.sanitize``. Shards that were finished before
        an interruption are kept and not drawn again: drawing again would be a second release of their texts, to who
        has seen the first. Removing the folder of an unfinished run and beginning again is such a second draw; it
        weakens nothing as long as nobody has seen what was removed.
    """
    clock = Clock()
    if copies < 1 or shard_lines < 1 or (workers is not None and workers < 1):
        raise DataOptionError("copies, workers and lines of a shard are at least 1")
    sanitizer = Sanitizer.load(bundle, **pins)
    terms = sanitizer.terms(**options)
    if format_name != "table":
        layout_of(format_name, text_keys)  # there is one
    space = Workspace(output, copies)
    space.require(resume=resume)
    sources = find_sources(inputs, format_name)
    shards: list[list[Shard]] = []
    for number, source in enumerate(sources):
        report("checking", number, len(sources))
        layout = layout_of(format_name, text_keys, source.path)
        check(source, format_name, text_keys, label_key)
        shards.append(list(cut_source(source, number, layout, shard_lines)))
    report("checking", len(sources), len(sources))

    opened = sanitizer.bundle
    job = Job(sources, format_name, tuple(text_keys), bundle, opened.identity, options, opened.max_bytes)
    key = _key(job, terms, shards, copies, shard_lines)
    with space.opened(key, resume=resume) as state:
        clock.go_on(state.get("spent", {}))
        try:
            missing = [
                Piece(shard, space.shard_path(shard, copy))
                for cut in shards
                for shard in cut
                for copy in range(copies)
                if not space.shard_path(shard, copy).exists()
            ]
            total = copies * sum(shard.lines for cut in shards for shard in cut)
            processes = max(1, min(workers or available_cores(), len(missing)))
            _finish(job, missing, processes, sanitizer, total, report)
            files = _join(space, sources, shards, copies, report)
        finally:
            state["spent"] = clock.spent(interrupted=True)
        record = record_of(job, opened, terms, files, copies, processes, clock)
        space.write_record(record)
    return record


def _key(job: Job, terms: Terms, shards: list[list[Shard]], copies: int, shard_lines: int) -> dict[str, str]:
    """What finished shards depend on."""
    denied = sorted(set(job.options.get("deny", ())))
    options = [asdict(terms), denied, copies, job.format_name, sorted(job.text_keys), shard_lines]
    cuts = [[source.name, [asdict(shard) for shard in cut]] for source, cut in zip(job.sources, shards, strict=True)]
    return {
        "bundle": job.identity,
        "input": _hash(cuts),
        "set of options": _hash(options),
        "version of this software": version("textveil"),
    }


def _finish(job: Job, missing: list[Piece], processes: int, sanitizer: Sanitizer, total: int, report: Report) -> None:
    """Sanitizes the shards that are missing."""
    lines = total - sum(piece.shard.lines for piece in missing)
    report("sanitizing", lines, total)

    def done(counts: Counts) -> None:
        nonlocal lines
        lines += counts.lines
        report("sanitizing", lines, total)

    finish_all(job, missing, processes, sanitizer, done)


def _join(
    space: Workspace, sources: Sequence[Source], shards: list[list[Shard]], copies: int, report: Report
) -> list[FileFacts]:
    files: list[FileFacts] = []
    for number, (source, cut) in enumerate(zip(sources, shards, strict=True)):
        report("joining", number, len(sources))
        joined = [space.join(cut, source.name, copy) for copy in range(copies)]
        files.append(FileFacts(source.name, joined[0][0], tuple(digest for _, digest in joined)))
    report("joining", len(sources), len(sources))
    return files


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, default=str).encode()).hexdigest()
