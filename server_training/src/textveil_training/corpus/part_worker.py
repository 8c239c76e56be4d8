"""Divide files into parts and sanitize parts, in the worker processes of a Ray cluster.

Ray sends file positions to a worker, and receives counts without texts. The worker itself reads the texts from disk,
and writes the output to disk. So Ray's shared memory, files and errors contain no text.
"""

import gc
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from textveil import Sanitizer
from textveil.bundle import MAX_BUNDLE_BYTES
from textveil.storage import open_atomic_text
from textveil.text import Options
from textveil_cli.file_shards import FileShard, get_shard_path, sanitize_shard, split_file
from textveil_cli.files import BlockSanitizer, ColumnSelection, RejectedRowsFile, RunCounts, SourceFile
from textveil_cli.processes import run_guarded

from textveil_training.data.corpus_release import RECORDS
from textveil_training.file_hashes import hash_file

Batch = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class PartJob:
    """Settings that all parts of a run share.

    Attributes:
        sources: The input files.
        versions: Size and modification time of each file at the start of the run.
        selection: Format and columns to sanitize.
        bundle: Folder of the bundle, ``None`` for the built-in one.
        content_hash: Required content hash of the bundle.
        options: Options of the sanitizer.
        output: The output folder.
        rejected_rows: Folder for bad rows; ``None`` makes the first bad row an error.
        part_bytes: Approximate size of a part in bytes.
        max_bytes: Largest total size of the bundle's files in bytes.
    """

    sources: tuple[SourceFile, ...]
    versions: tuple[list[int], ...]
    selection: ColumnSelection
    bundle: Path | None
    content_hash: str
    options: Options
    output: Path
    rejected_rows: Path | None
    part_bytes: int
    max_bytes: int = MAX_BUNDLE_BYTES

    def get_target(self, file: int, number: int) -> Path:
        """Return the output path of a part.

        Args:
            file: Index of the input file.
            number: Index of the part in this file.
        """
        return get_shard_path(self.output, self.sources[file].name, number)

    def get_record_path(self, file: int, number: int) -> Path:
        """Return the path of the JSON record about a finished part.

        Args:
            file: Index of the input file.
            number: Index of the part in this file.
        """
        name = self.get_target(file, number).relative_to(self.output)
        return self.output / RECORDS / name.with_name(name.name + ".json")


def cut_files(batch: Batch, job: PartJob) -> Iterator[Batch]:
    """Divide files into parts, and yield each part in a batch of its own as soon as the end of the part is found.

    If a file cannot be divided further, the function yields the error in place of the next part.

    Args:
        batch: Indices of the files, in the column ``file``.
        job: Settings of the run.
    """
    for file in batch["file"].tolist():
        parts = split_file(job.sources[file], job.selection, job.part_bytes)
        while (found := run_guarded(_next_part, parts)) is not None:
            if isinstance(found, BaseException):
                yield _make_row({"file": file, "error": describe_error(found)})
                break
            yield _make_row({"file": file, "part": asdict(found)})


def _next_part(parts: Iterator[FileShard]) -> FileShard | None:
    return next(parts, None)


class PartWorker:
    """Worker process that sanitizes parts of files; it loads the bundle (folder with word lists) once.

    Args:
        job: Settings of the run, such as the files and the options of the sanitizer.
    """

    def __init__(self, job: PartJob) -> None:
        self._job = job
        self._sanitizer: Sanitizer | None = None

    def __call__(self, batch: Batch) -> Batch:
        """Sanitize a part, and return the counts of the part or a description of the error.

        Args:
            batch: A result of ``cut_files``.
        """
        told = json.loads(str(batch["told"][0]))
        if "error" in told:
            return _make_row(told)
        outcome = run_guarded(self._finish_part, told["file"], FileShard(**told["part"]))
        if isinstance(outcome, BaseException):
            return _make_row({"file": told["file"], "error": describe_error(outcome)})
        return _make_row({"file": told["file"], "record": outcome, "size": told["part"]["size"]})

    def _finish_part(self, file: int, part: FileShard) -> dict[str, Any]:
        target = self._job.get_target(file, part.number)
        # the part is already finished if its worker was killed before it could report, or if the run was interrupted
        record = read_finished_part(self._job, file, part.number) or self._sanitize_part(file, part, target)
        return record | {"sha256": hash_file(target)}

    def _sanitize_part(self, file: int, part: FileShard, target: Path) -> dict[str, Any]:
        job = self._job
        if self._sanitizer is None:
            self._sanitizer = Sanitizer.load(job.bundle, expect_id=job.content_hash, max_bytes=job.max_bytes)
            gc.freeze()  # the bundle stays in memory, so the garbage collector need not examine it
        source = replace(job.sources[file], target=target)
        written = _PartRecord(job, file, part.number, self._sanitizer)
        rejected_rows = self._open_rejected_rows(file, part.number)
        try:
            drawer = BlockSanitizer(self._sanitizer, job.bundle, job.options, 1)
            sanitize_shard(
                source, part, job.versions[file], job.selection, drawer, recorder=written, rejected_rows=rejected_rows
            )
        finally:
            if rejected_rows is not None:
                rejected_rows.close()
        return written.content

    def _open_rejected_rows(self, file: int, number: int) -> RejectedRowsFile | None:
        folder = self._job.rejected_rows
        if folder is None:
            return None
        target = self._job.get_target(file, number).relative_to(self._job.output)
        path = folder / target.with_name(target.name + ".jsonl")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # left by a worker that was killed before it finished the part
        return RejectedRowsFile(path, resume=False)


class _PartRecord:
    """Writer of the JSON record about a finished part, just before the output file gets its final name.

    The attribute ``content`` is a copy of the record; empty before the record is written.
    """

    def __init__(self, job: PartJob, file: int, number: int, sanitizer: Sanitizer) -> None:
        self._job, self._file, self._number = job, file, number
        self._sanitizer = sanitizer
        self.content: dict[str, Any] = {}

    def add_file(self, source: SourceFile, status: os.stat_result, size: int, counts: RunCounts) -> None:
        """Write the JSON record of one finished part, with which a resumed run recognizes that the part is finished."""
        job = self._job
        path = job.get_record_path(self._file, self._number)
        statement = self._sanitizer.terms(**job.options).statement(counts.tokens, counts.randomized_words)
        self.content = {
            "part": job.get_target(self._file, self._number).relative_to(job.output).as_posix(),
            "source": source.name,
            "bytes": size,
            **asdict(counts),
            "epsilon_text": float(statement.epsilon_document),
            "bundle": job.content_hash,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_atomic_text(path) as write:
            write(json.dumps(self.content, ensure_ascii=False) + "\n")


def read_finished_part(job: PartJob, file: int, number: int) -> dict[str, Any] | None:
    """Read the JSON record about a part; return ``None`` if the part is not finished.

    Args:
        job: Settings of the run.
        file: Index of the input file.
        number: Index of the part in this file.
    """
    target = job.get_target(file, number)
    try:
        record = json.loads(job.get_record_path(file, number).read_bytes())
        if record["bytes"] == target.stat().st_size and record["bundle"] == job.content_hash:
            return record
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def describe_error(error: BaseException) -> dict[str, str]:
    """Return the code and the message of an error, so that another process can recreate it."""
    return {"code": getattr(error, "code", ""), "message": str(error)}


def _make_row(told: dict[str, Any]) -> Batch:
    return {"told": np.array([json.dumps(told)])}
