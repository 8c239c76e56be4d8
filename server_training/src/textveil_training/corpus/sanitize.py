"""Sanitize a corpus: find and check its files, sanitize the texts, and write a record of mode and epsilon.

The code of ``textveil sanitize`` processes the files. In addition a corpus can have the formats of published data sets
and several copies. A record contains the mode and epsilon; training and measurement copy them into their own records.
All input is checked before the first text is sanitized.

The module ``corpus_record`` writes the record. The record exists before the first text is sanitized, so that later
commands recognize an interrupted run as unfinished.
"""

import hashlib
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Unpack

from textveil import Sanitizer
from textveil.bundle import ExpectedBundle
from textveil.text import Options
from textveil_cli.files import (
    BlockSanitizer,
    RunCounts,
    RunManifest,
    SourceFile,
    SourceFiles,
    hash_settings,
    sanitize_files,
)

from textveil_training.corpus.corpus_record import (
    SourceVersions,
    begin_record,
    check_resumable,
    describe_counts,
    finish_record,
    make_start_record,
    remove_private_files,
    write_record,
)
from textveil_training.corpus.layouts import RewritePlan, plan_rewrite
from textveil_training.data import ReadOptions, get_format, list_files, load_examples
from textveil_training.data.corpus_release import FORMAT, RECORD
from textveil_training.errors import DataOptionError, MissingSplit, UnreadableFile
from textveil_training.file_hashes import hash_file
from textveil_training.progress import ProgressCallback, ignore_progress


def find_files(inputs: Sequence[Path], format_name: str) -> list[Path]:
    """Find the files to sanitize.

    Args:
        inputs: Files, or folders that contain files with the published names of the format.
        format_name: The format, a key of ``data.FORMATS``.

    Raises:
        UnreadableFile: An input is not a regular file that can be read.
        MissingSplit: A folder contains no file of the format.
        DataOptionError: There is no input, two files have the same name, or a file has a name that the output reserves.
    """
    found = [
        path
        for number, given in enumerate(inputs, 1)
        for path in _list_input_files(given, format_name, f"input {number} of {len(inputs)}")
    ]
    names = [path.name.casefold() for path in found]
    if not found:
        raise DataOptionError("there is no input: pass a file or a folder")
    if len(set(names)) < len(names):
        raise DataOptionError(
            "two inputs have the same name, so their outputs would collide: rename one, or sanitize them in separate "
            "runs"
        )
    if RECORD in names:
        raise DataOptionError(f"an input has the reserved name {RECORD}: rename it")
    return found


def check_file(path: Path, format_name: str, text_keys: Sequence[str], label_key: str | None) -> None:
    """Read a whole file with the reader of its format, to find errors before any text is sanitized.

    Args:
        path: The file.
        format_name: Its format, a key of ``data.FORMATS``.
        text_keys: Keys or columns of the texts (formats ``jsonl`` and ``table``).
        label_key: Key or column of the label; ``None`` for rows without a label (formats ``jsonl`` and ``table``).

    Raises:
        DataError: The file cannot be read or is malformed.
    """
    keyed = get_format(format_name).has_named_columns
    for options in [ReadOptions(key, label_key) for key in text_keys] if keyed else [None]:
        for _ in load_examples(format_name, path, None, options):
            pass


def _list_input_files(path: Path, format_name: str, name: str) -> Iterator[Path]:
    try:
        if get_format(format_name).files and path.is_dir():
            found = list_files(format_name, path)
            if not found:
                raise MissingSplit(
                    f"{name}: the folder has no file of this format with its published name: check the folder and "
                    "--format"
                )
            yield from found
            return
        regular = path.is_file()
        with path.open("rb"):
            reason = None if regular else "not a regular file"
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a path"
    if reason is not None:
        raise UnreadableFile(f"{name} cannot be opened ({reason})")
    yield path


#: Bytes of text per process, such that the process saves more time than its start takes, about a second.
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
    report: ProgressCallback = ignore_progress,
    **pins: Unpack[ExpectedBundle],
) -> dict[str, Any]:
    """Sanitize the texts in files, and write the results to files with the same names and format.

    The function reads and checks all input before it sanitizes the first text. The output distribution does not depend
    on the number of processes.

    Args:
        inputs: Files. If the format prescribes file names (such as ``train.tsv``), also folders of such files.
        output: The folder to write; it must be empty or missing.
        format_name: A key of ``data.FORMATS``.
        options: Options of the sanitizer, as in ``Sanitizer.sanitize``.
        bundle: Folder of a bundle; ``None`` for the built-in English one.
        text_keys: Keys or columns of the texts (formats ``jsonl`` and ``table``); all others are copied unchanged.
        label_key: A key or column that every row must have (formats ``jsonl`` and ``table``).
        copies: Number of independent outputs of every text. Each output spends epsilon; the record contains the number
            of copies.
        workers: Number of processes; ``None`` for one per core. With 1 this process does the work. A script that uses
            more must be importable (``if __name__ == "__main__":``), as ``multiprocessing`` requires.
        resume: Whether to continue an interrupted run.
        report: Called with a stage, the finished bytes and the total.
        pins: Expected content hash and signer of the bundle.

    Returns:
        The content of ``record.json``. It contains no text, and only figures that can also be computed from the output,
        such as the number of tokens. Until the run is finished, the file contains only the entries that are known at
        the beginning: mode, options, bundle and planned files.

    Raises:
        ResumeError: The output folder has another run, or ``resume`` is true and the folder has no run with these
            options.
        FileChanged: An input file has changed since the interrupted run began.
        TextveilError: Options, bundle, input or output are invalid; see the subclasses. The function checks options,
            bundle and all of the input before it sanitizes the first text.
        KeyboardInterrupt: Ctrl-C was pressed. Finished files are kept.

    Privacy:
        Every copy contains one output of every text, with the guarantee of ``Sanitizer.sanitize``. Files that were
        finished before an interruption remain: sanitizing them again would spend epsilon a second time for anybody who
        has seen the first output. Files that were not finished are removed.
    """
    clock = time.perf_counter()
    if copies < 1 or (workers is not None and workers < 1):
        raise DataOptionError("copies and workers must be at least 1")
    sanitizer = Sanitizer.load(bundle, **pins)
    terms = sanitizer.terms(**options)
    files = find_files(inputs, format_name)
    for number, path in enumerate(files):
        report("checking", number, len(files))
        check_file(path, format_name, text_keys, label_key)
    report("checking", len(files), len(files))

    keys = tuple(text_keys) if get_format(format_name).has_named_columns else ()
    plans = {path: plan_rewrite(format_name, path, text_keys) for path in files}
    settings = [hash_settings(plan.selection, terms, options) for plan in plans.values()]
    facts = json.dumps([settings, format_name, keys, copies, version("textveil")])
    names = {path: _make_names(path, copies) for path in files}
    size = copies * sum(path.stat().st_size for path in files)
    processes = min(count_cores(), 1 + size // WORTH_A_WORKER) if workers is None else workers
    planned = make_start_record(
        FORMAT,
        terms,
        sanitizer.bundle,
        copies=copies,
        charged="every token of every copy",
        corpus_format=format_name,
        text_keys=list(keys) or None,
        planned_files=[name for of_file in names.values() for name in of_file],
    )
    place, sources = output / RECORD, SourceVersions(output, {path.name: hash_file(path) for path in files})
    check_resumable(output, place, planned, resume=resume)
    if resume:
        sources.check()
    manifest = RunManifest(output, hashlib.sha256(facts.encode()).hexdigest(), resume=resume)
    try:
        sources.write(resume=resume)
        begun = begin_record(place, planned, resume=resume)
        drawer = BlockSanitizer(sanitizer, bundle, options, processes)
        found = _sanitize_groups(plans, names, output, drawer, manifest, report)
    finally:
        manifest.close()
    content = finish_record(
        begun,
        terms,
        found.values(),
        copies=copies,
        files=[
            {
                "name": path.name,
                **describe_counts(found[path.name]),
                "sha256": [hash_file(output / name) for name in of_file],
            }
            for path, of_file in names.items()
        ],
        machine={"processor": platform.machine(), "system": platform.system(), "workers": processes},
        resumed=resume,  # wall_s then covers only the time since the run was resumed
        wall_s=round(time.perf_counter() - clock, 2),
    )
    write_record(place, content)
    remove_private_files(output)
    return content


def count_cores() -> int:
    """Count the processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _make_names(path: Path, copies: int) -> tuple[str, ...]:
    """Return the output path of each copy of a file; several copies are in folders ``copy-1`` and so on."""
    return (path.name,) if copies == 1 else tuple(f"copy-{number + 1}/{path.name}" for number in range(copies))


def _sanitize_groups(
    plans: Mapping[Path, RewritePlan],
    names: Mapping[Path, tuple[str, ...]],
    output: Path,
    drawer: BlockSanitizer,
    record: RunManifest,
    report: ProgressCallback,
) -> dict[str, RunCounts]:
    """Sanitize all files, and return the numbers of rows and tokens of each output file, by file name.

    Files with the same format and text columns are processed together.

    Args:
        plans: Text columns and row parser of each input file.
        names: Names of the output files of each input file, one for each copy.
        output: Folder of the output files.
        drawer: Sanitizer of blocks of texts.
        record: List of finished files, with which an interrupted run is resumed.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
    """
    sizes = {path: path.stat().st_size for path in plans}
    done, total = 0, sum(sizes[path] * len(names[path]) for path in plans)
    counts: dict[str, RunCounts] = {}
    for plan, group in groupby(sorted(plans, key=lambda path: repr(plans[path])), key=plans.__getitem__):
        sources = [
            SourceFile(path=path, name=name, target=output / name, size=sizes[path])
            for path in group
            for name in names[path]
        ]
        found = sanitize_files(
            SourceFiles(tuple(sources), output, 0),
            plan.selection,
            drawer,
            manifest=record,
            report=lambda consumed, _, done=done: report("sanitizing", min(done + consumed, total), total),
            layout=plan.layout,
        )
        done += sum(source.size for source in sources)
        counts |= {name.rpartition("/")[2]: of_file for name, of_file in found.files.items()}
    report("sanitizing", total, total)
    return counts
