"""Sanitize a corpus in parts on a Ray cluster.

Ray Data assigns parts to workers, and the module ``part_worker`` sanitizes them.
"""

import hashlib
import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Unpack

from textveil import Sanitizer
from textveil import errors as device_errors
from textveil.bundle import ExpectedBundle
from textveil.errors import InputError, OptionError, TextveilError
from textveil.text import Options
from textveil_cli import errors as command_errors
from textveil_cli.errors import WorkerFailed
from textveil_cli.file_shards import SHARD_BYTES, check_can_split
from textveil_cli.files import (
    ColumnSelection,
    RunCounts,
    RunManifest,
    find_source_files,
    get_file_version,
    hash_settings,
)
from textveil_export.ray_cluster import open_ray_cluster

from textveil_training.corpus.corpus_record import (
    SourceVersions,
    begin_record,
    check_resumable,
    finish_record,
    make_start_record,
    remove_private_files,
    write_record,
)
from textveil_training.corpus.part_worker import PartJob, PartWorker, cut_files
from textveil_training.corpus.sanitize import count_cores
from textveil_training.data.corpus_release import PARTS_FORMAT, RECORDS
from textveil_training.progress import ProgressCallback, ignore_progress

#: Largest number of restarts of a worker that was killed, and of repetitions of its part.
RESTARTS = 3


def sanitize_corpus_on_ray(
    inputs: Sequence[Path],
    output: Path,
    selection: ColumnSelection,
    *,
    options: Options,
    bundle: Path | None = None,
    address: str | None = None,
    workers: int | None = None,
    rejected_rows: Path | None = None,
    resume: bool = False,
    part_bytes: int = SHARD_BYTES,
    report: ProgressCallback = ignore_progress,
    **pins: Unpack[ExpectedBundle],
) -> dict[str, Any]:
    """Divide files into parts, and sanitize the parts in worker processes on a Ray cluster.

    The files are tables or JSON lines. A worker can sanitize a part as soon as its end is found, before the rest of the
    file is read. Each part becomes an output file of the same format. Parts are not joined, so the output needs no
    space for a second copy. All machines of the cluster must reach input, output and bundle at the same paths.

    Args:
        inputs: Files, folders, or patterns.
        output: The folder to write; it must be empty or missing.
        selection: Format and columns to sanitize.
        options: Options of the sanitizer, as in ``Sanitizer.sanitize``.
        bundle: Folder of a bundle; ``None`` for the built-in English one.
        address: Address of a Ray cluster; ``None`` starts one on this machine.
        workers: Number of processes, at most (and by default) the number of processors of the cluster.
        rejected_rows: Folder for bad rows, with one file for each part that has any; ``None`` makes the first bad row
            an error.
        resume: Whether to continue an interrupted run; finished parts are kept.
        part_bytes: Approximate size of a part in bytes.
        report: Called with a stage, the finished bytes and the total.
        pins: Expected content hash and signer of the bundle.

    Returns:
        The record of the run: its privacy terms, and the counts of every part.

    Raises:
        TextveilError: Options, bundle, input or output are invalid, or a worker raised an error.
        ClusterError: There is no cluster, or it is configured to send usage statistics to others.
        WorkerFailed: Workers were killed repeatedly.
        KeyboardInterrupt: Ctrl-C was pressed. Finished parts are kept.

    Privacy:
        One output of every document is written, with the guarantee of ``Sanitizer.sanitize``. Every worker uses the
        random generator of its own machine. If a worker does not finish a part, the part is sanitized again; nobody has
        seen the unfinished output.
    """
    check_can_split(selection)
    sanitizer = Sanitizer.load(bundle, **pins)
    terms = sanitizer.terms(**options)
    sources = find_source_files([str(path) for path in inputs], selection.format, output).files
    if any(source.path is None for source in sources):
        raise InputError("--ray cannot read standard input: pass files")
    if not sources:
        raise InputError("no file has this format: check the paths and --format")
    if len({source.name for source in sources}) < len(sources):
        raise OptionError(
            "two inputs have the same name, so their outputs would collide: rename one, or sanitize them in separate "
            "runs"
        )
    resolved = tuple(replace(source, path=source.path.resolve(), target=None) for source in sources if source.path)
    job = PartJob(
        sources=resolved,
        versions=tuple(get_file_version(source.path.stat()) for source in resolved if source.path),
        selection=selection,
        bundle=None if bundle is None else bundle.resolve(),
        content_hash=sanitizer.bundle.content_hash,
        max_bytes=sanitizer.bundle.max_bytes,
        options=options,
        output=output.resolve(),
        rejected_rows=None if rejected_rows is None else rejected_rows.resolve(),
        part_bytes=part_bytes,
    )
    facts = [hash_settings(selection, terms, options), part_bytes, rejected_rows is not None, version("textveil")]
    facts += [[source.name, found] for source, found in zip(sources, job.versions, strict=True)]
    planned = make_start_record(
        PARTS_FORMAT,
        terms,
        sanitizer.bundle,
        corpus_format=selection.format,
        columns=list(selection.columns),
        planned_files=[source.name for source in sources],
    )
    place = job.output / RECORDS / "run.json"
    versions = SourceVersions(
        output, {source.name: json.dumps(found) for source, found in zip(sources, job.versions, strict=True)}
    )
    check_resumable(output, place, planned, resume=resume)
    if resume:
        versions.check()
    run = RunManifest(output, hashlib.sha256(json.dumps(facts).encode()).hexdigest(), resume=resume)
    try:
        versions.write(resume=resume)
        place.parent.mkdir(exist_ok=True)
        begun = begin_record(place, planned, resume=resume)
        records = _run_workers(job, address, workers, report)
        counts = sum((_read_counts(record) for record in records), RunCounts())
        record = finish_record(
            begun,
            terms,
            [counts],
            **asdict(counts),
            parts=sorted(records, key=lambda record: str(record["part"])),
        )
        write_record(place, record)
    finally:
        run.close()
    remove_private_files(output)
    return record


def _run_workers(
    job: PartJob, address: str | None, workers: int | None, report: ProgressCallback
) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    done, total = 0, sum(source.size for source in job.sources)
    report("sanitizing", 0, total)
    with open_ray_cluster(address, workers or count_cores()) as ray:
        most = max(1, int(ray.cluster_resources().get("CPU", 1)))
        for told in _iterate_results(ray, job, min(workers or most, most)):
            if "error" in told:
                raise _make_error(told["error"])
            records.append(told["record"])
            done += told["size"]
            report("sanitizing", min(done, total), total)
    report("sanitizing", total, total)
    return records


def _iterate_results(ray: Any, job: PartJob, workers: int) -> Iterator[dict[str, Any]]:
    """Yield the result of each part as soon as a worker has finished the part.

    Args:
        ray: The connected module ``ray``.
        job: Settings of the run.
        workers: Number of workers.
    """
    import ray.data as ray_data  # pyright: ignore[reportMissingImports]

    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    context = ray_data.DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    context.log_internal_stack_trace = False
    context.target_max_block_size = 1  # blocks of one part, so that workers get a part as soon as it is found
    failed = False
    rows = [{"file": number} for number, _ in enumerate(job.sources)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Ray warns that it does not know the number of parts
            files = ray_data.from_items(rows, override_num_blocks=len(rows))
            parts = files.map_batches(cut_files, fn_kwargs={"job": job}, batch_size=1, num_cpus=0)
            finished = parts.map_batches(
                PartWorker,
                fn_constructor_kwargs={"job": job},
                batch_size=1,
                compute=ray_data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=1),
                num_cpus=1,
                ray_remote_args_fn=_limit_restarts,
            )
            for row in finished.iter_rows():
                yield json.loads(row["told"])
    except ray.exceptions.RayError:  # its message has the worker's path, address and traceback
        failed = True
    if failed:
        raise WorkerFailed(
            "worker processes were killed, possibly for lack of memory; finished parts are kept: continue with --resume"
        )


def _limit_restarts() -> dict[str, int]:
    return {"max_restarts": RESTARTS, "max_task_retries": RESTARTS}


def _make_error(told: dict[str, str]) -> TextveilError:
    """Recreate the error that a worker reported.

    Args:
        told: Code and message of the error, from ``part_worker``. An empty message means that the worker had too little
            memory.
    """
    modules = (device_errors, command_errors)
    classes = {kind.code: kind for module in modules for kind in vars(module).values() if _is_error_class(kind)}
    return classes.get(told["code"], WorkerFailed)(told["message"] or "a worker has not enough memory")


def _is_error_class(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, TextveilError)


def _read_counts(record: dict[str, Any]) -> RunCounts:
    return RunCounts(**{field.name: record[field.name] for field in fields(RunCounts)})
