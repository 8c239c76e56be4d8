"""Measure the accuracy of released class labels and vectors, and attacks on them, for every mechanism.

    python benchmarks/vectors/run.py [--data DIR] [--cache DIR] [--tasks TASK...] [--only JOB] [--seeds N] [-o RECORDS]

Each record is written as soon as it is measured; a later run measures only missing records. Records with other data,
public words or settings are outdated: the script first removes them from the file, then measures them again.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from textveil.bundle import find_artifact, layout
from vectors import codebooks, labeled, minilm, privunit, releases, repeated
from vectors import extractors as of_texts
from vectors.extractors import Extractors
from vectors.releases import Codes

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path.home() / ".cache" / "textveil-vectors"
KINDS = ("repeated", "decision", "codebook", "privunit")
CODES = (16, 64, 256)
#: Number of seeds of all measurements, and of tuned MiniLM, whose training takes long.
SEEDS, TUNED_SEEDS = 5, 3
Job = dict[str, Any]


def jobs(tasks: list[str], only: str | None, seeds: int, tuned_seeds: int) -> Iterator[Job]:
    """Yield all jobs, seed by seed, the slowest jobs last."""
    for seed in range(seeds):
        for task in tasks:
            base = {"task": task, "seed": seed}
            found: list[Job] = [{"job": "repeated", **base, "extractor": "both"}] if not seed else []
            for extractor in ("static", "minilm"):
                found += [
                    {"job": "decision", **base, "extractor": extractor, "tuned": tuned} for tuned in (False, True)
                ]
                found += [{"job": "privunit", **base, "extractor": extractor}]
            found += [
                {"job": "codebook", **base, "extractor": kind, "codes": codes}
                for kind in codebooks.KINDS
                for codes in CODES
            ]
            yield from (job for job in found if only in (None, job["job"]) and not _dear(job))
    dear = [
        {"job": "decision", "task": task, "seed": seed, "extractor": "minilm", "tuned": True}
        for seed in range(min(seeds, tuned_seeds))
        for task in tasks
    ]
    yield from (job for job in dear if only in (None, job["job"]))


def _dear(job: Job) -> bool:
    return job["extractor"] == "minilm" and bool(job.get("tuned"))


def measure(extractors: Extractors, job: Job) -> dict[str, Any]:
    """Return the result of a job: counts by class and label, and the figures computed from them."""
    if job["job"] == "repeated":
        return repeated.measure(extractors, job["seed"])
    if job["job"] == "privunit":
        return {"figures": {"privunit": privunit.measure(extractors, job["extractor"], job["seed"])}}
    if job["job"] == "codebook":
        codes = codebooks.measure(extractors, job["extractor"], job["codes"], job["seed"])
        if codes is None:
            return {"figures": {}, "too_few_texts": codebooks.count_needed_texts(job["codes"])}
        return {**_describe_codes(codes), "figures": {"codebook": releases.codebook_rows(codes)}}
    task = extractors.task(job["seed"])
    decided = extractors.decide(job["extractor"], job["tuned"], job["seed"])
    classes = len(task.labels)
    known = task.calibration if decided.train is None else task.train
    codes = codebooks.count_texts(
        extractors,
        task,
        (decided.calibration if decided.train is None else decided.train, known),
        (decided.test, task.test),
        classes,
    )
    pairs = task.calibration.classes * classes + decided.calibration
    calibration = np.bincount(pairs, minlength=classes**2).reshape(classes, classes).astype(float)
    codes = replace(codes, known=calibration)  # what channels are fitted to; the attacker has the training texts
    sizes = {name: len(getattr(task, name).texts) for name in ("train", "calibration", "test")}
    about = {
        "labels": list(task.labels),
        "texts": sizes,
        "left_out": task.left_out,
        "duplicates": task.groups.duplicates,
    }
    return {**about, **_describe_codes(codes), "figures": releases.decision_rows(calibration, codes)}


def again(record: dict[str, Any]) -> dict[str, Any]:
    """Compute the figures of a record again from its counts."""
    if "test" not in record:
        return record
    attributes = [None if record[name] is None else np.array(record[name]) for name in _ATTRIBUTES]
    codes = Codes(np.array(record["known"]), np.array(record["test"]), *attributes)
    if record["job"] == "codebook":
        return {**record, "figures": {"codebook": releases.codebook_rows(codes)}}
    return {**record, "figures": releases.decision_rows(codes.known, codes)}


_ATTRIBUTES = ("known_attributes", "test_attributes")


def _describe_codes(codes: Codes) -> dict[str, Any]:
    found = {name: getattr(codes, name) for name in ("known", "test", *_ATTRIBUTES)}
    return {name: None if value is None else value.astype(int).tolist() for name, value in found.items()}


@lru_cache
def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def source(data: Path, job: Job) -> str:
    """Return the SHA-256 of a record's inputs: the data, the settings of the job, and the public words if needed."""
    settings: Any = {
        "repeated": lambda: of_texts.settings(job["task"], "static", True),
        "decision": lambda: of_texts.settings(job["task"], job["extractor"], job["tuned"]),
        "codebook": lambda: codebooks.SETTINGS[job["extractor"]],
        "privunit": lambda: [privunit.DIRECTIONS, privunit.DRAWS, privunit.STRENGTH],
    }[job["job"]]()
    files = [_hash(data / name) for name in labeled.FILES[job["task"]]]
    words = "" if job["extractor"] == "minilm" else _words()
    decided = [files, words, settings, releases.EPSILONS]
    return hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()


@lru_cache
def _words() -> list[str]:
    """Return hashes of the public words and their vectors: the bundle files from which extractors are trained."""
    return [_hash(find_artifact("english-santext") / name) for name in (layout.VOCABULARY, layout.EMBEDDINGS)]


def _key(record: Job) -> tuple[Any, ...]:
    return tuple(record.get(name) for name in ("job", "task", "extractor", "tuned", "codes", "seed"))


def remove_stale_records(path: Path, data: Path) -> set[tuple[Any, ...]]:
    """Remove outdated records from the file, and return the keys of the others. Records with missing data are kept."""
    if not path.exists():
        return set()
    lines = path.read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines if line.endswith("}")]
    fresh = [r for r in records if labeled.find_missing_files(data, r["task"]) or r["source"] == source(data, r)]
    if len(fresh) < len(lines):
        print(f"{len(lines) - len(fresh)} outdated records are removed", file=sys.stderr)
        _write(path, fresh)
    return {_key(record) for record in fresh}


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


def main() -> None:
    """Parse the command line and measure all missing records."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of MiniLM's frozen vectors")
    parser.add_argument("--tasks", nargs="*", choices=list(labeled.FILES), default=list(labeled.FILES))
    parser.add_argument("--only", choices=KINDS, help="run only this kind of job")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--tuned-seeds", type=int, default=TUNED_SEEDS, help="number of seeds for tuned MiniLM")
    parser.add_argument("--figures", action="store_true", help="only compute the figures again from the stored counts")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks" / "results" / "vectors.jsonl")
    a = parser.parse_args()
    output: Path = a.output
    if a.figures:
        _write(output, [again(json.loads(line)) for line in output.read_text("utf-8").splitlines()])
        return
    done = remove_stale_records(output, a.data)
    absent = sorted({path for task in a.tasks for path in labeled.find_missing_files(a.data, task)})
    tasks = [task for task in a.tasks if not labeled.find_missing_files(a.data, task)]
    held: Extractors | None = None
    for job in jobs(tasks, a.only, a.seeds, a.tuned_seeds):
        if _key(job) in done:
            continue
        if held is None or held.name != job["task"]:
            held = Extractors(a.data, job["task"], a.cache)
        start = time.process_time()
        record = {**job, "source": source(a.data, job), **measure(held, job)}
        if job["extractor"] != "static":
            record["precision"] = minilm.PRECISION
        record["cpu_seconds"] = round(time.process_time() - start, 1)
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps({**job, "cpu_seconds": record["cpu_seconds"]}), flush=True)
    for path in absent:
        print(f"not measured: {path} is not in the data folder", file=sys.stderr)
    sys.exit(1 if absent else 0)


if __name__ == "__main__":
    main()
