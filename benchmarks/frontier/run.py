"""Measure the utility of sanitized text and the success of attacks for every mechanism, as records.

    python benchmarks/frontier/run.py [--data DIR] [--santext BUNDLE] [--trec BUNDLE] [--quick] [--rows ROW...]
        [--draws N] [--only tasks|attacks|rest|tuned] [-o RECORDS]

Each record is written when it is measured. A later run measures only missing records. It first deletes outdated
records, which come from other tables or lists. ``--quick`` trains on a part of the train texts and measures on another
part, so that the test texts are used for the final tables only.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from frontier import classify, corpora, personal, profile_attacks, tuned
from frontier.rows import Releases
from report.frontier_rows import ROWS, Row
from textveil_training.attacks.words import (
    ReadElements,
    WordAttacker,
    WordRelease,
    WordTargets,
    attack_release,
    exclude_near_texts,
    read_vectors,
)

TASKS = ("trec", "sick", "ag", "sst2-whole")
#: Number of draws of each task, and of personal data: few spans are organizations, and these draws are fast.
DRAWS = {"trec": 8, "sick": 8, "ag": 8, "sst2-whole": 8}
PERSONAL_DRAWS = 100
#: Number of draws whose words are attacked.
NAMED = 3
#: Rows without randomness are measured once.
FIXED = ("raw", "delete", "blank")
#: Rows whose releases are texts, which are split into words again.
REWRITTEN = ("names", "names-tags", "index-4", "index-6", "index-8")
#: Rows without an attack on words: no words remain, their positions are unknown, or each word stays or is deleted.
NOT_ATTACKED = ("raw", "delete", "uniform", *REWRITTEN)
#: The rows of the first table, attacked before the others.
FIRST = (
    "shipped-10 shipped-8 shipped-12 shipped-6 shipped-4 krr-kinds-10 krr-kinds-8 seen-10 seen-8 seen-12 krr-seen-10 "
    "krr-seen-8"
).split()
#: Rows whose outputs are training data of the attacks' network.
LEARNED = ("shipped-8", "shipped-10", "krr-seen-10", "every-10")
VECTORS = ROOT / "artifacts" / "words" / "english-3-vectors.txt.gz"
#: Rows on which MiniLM is tuned, with the number of seeds.
TUNED = ("every-10", "krr-every-10", "seen-10", "krr-seen-10", "shipped-10", "raw", "delete")
#: Rows on which MiniLM is tuned with all of train, which takes seven times as long.
TUNED_ON_ALL = ("seen-10", "every-10", "krr-seen-10", "krr-every-10")
SEEDS = 3
LENGTHS = (5, 10, 20, 40)
Job = dict[str, Any]


class Run:
    """Runner of the jobs of this benchmark; each job is one measurement and returns one record.

    Args:
        data: Folder of the data.
        releases: Builds the releases.
        quick: Whether to train and test on parts of the train texts.
        precision: Precision of fine-tuning, ``float32`` or ``bfloat16``.
        trigrams_alone: Whether the attack on words uses only trigrams, without a network.
    """

    def __init__(
        self, data: Path, releases: Releases, *, quick: bool, precision: str = "bfloat16", trigrams_alone: bool = False
    ) -> None:
        self.data, self.releases, self.quick, self.precision = data, releases, quick, precision
        self.trigrams_alone = trigrams_alone
        self._task: tuple[str, dict[str, corpora.Part], dict[str, dict[str, ReadElements]]] | None = None
        self._attacker: WordAttacker | None = None
        self._of_attacker: dict[str, dict[str, int]] = {}
        self._released: dict[str, WordRelease] = {}
        self._paragraphs: tuple[list[list[str]], Any, dict[str, ReadElements]] | None = None

    def measure(self, job: Job) -> dict[str, Any]:
        """Run a job, which is one measurement, and return its record."""
        row = next(row for row in ROWS if row.name == job["row"])
        measure: Callable[[Row, Job], dict[str, Any]] = getattr(self, job["job"])
        return measure(row, job)

    def _parts(self, name: str) -> tuple[dict[str, corpora.Part], dict[str, dict[str, ReadElements]]]:
        if self._task is None or self._task[0] != name:
            self._task = name, corpora.load(self.data, name, quick=self.quick), {}
        return self._task[1], self._task[2]

    @staticmethod
    def _read_parts(
        release: WordRelease, parts: dict[str, corpora.Part], readings: dict[str, Any]
    ) -> dict[str, ReadElements]:
        """Convert train and test texts to arrays, once for all releases with the same template rule."""
        if release.rule not in readings:
            readings[release.rule] = {name: release.read(part.cut) for name, part in parts.items()}
        return readings[release.rule]

    def _make_targets(self, part: corpora.Part) -> WordTargets:
        known = self.releases.staircase.bundle.symbol_ids
        return WordTargets(part.cut, self.releases.function_words, known)

    def task(self, row: Row, job: Job) -> dict[str, Any]:
        """Measure the accuracy of a task on released texts, and the share of unchanged words."""
        parts, readings = self._parts(job["task"])
        if row.name in REWRITTEN:
            new = {
                name: self.releases.rewrite_documents(row, job["task"], name, part.cut) for name, part in parts.items()
            }
            read = {name: reading for name, (reading, _) in new.items()}
            outputs = {name: words for name, (_, words) in new.items()}
        else:
            release = self.releases.of(row)
            read = self._read_parts(release, parts, readings)
            outputs = {name: release.draw(reading) for name, reading in read.items()}
        learner = classify.pearson if job["task"] == "sick" else classify.accuracy
        found = learner(
            read["train"], outputs["train"], parts["train"].labels, read["test"], outputs["test"], parts["test"].labels
        )
        asked = self._make_targets(parts["test"])
        if row.name.startswith("index"):
            same = None
        elif row.name in REWRITTEN:
            shown = np.concatenate(self.releases.find_kept(row, parts["test"].cut))
            same = {name: float(shown[mask].mean()) for name, mask in asked.masks.items()}
        else:
            same = asked.compute_shares(read["test"], outputs["test"])
        sizes = {name: len(part.labels) for name, part in parts.items()}
        return {"score": found, "unchanged": same, "rows": sizes}

    def attack(self, row: Row, job: Job) -> dict[str, Any]:
        """Measure the attack on words, on one output of a row's mechanism for SST-2."""
        parts, readings = self._parts("sst2")
        if self._attacker is None:
            learned = [self.releases.of(row) for row in ROWS if row.name in LEARNED]
            texts = {"train": parts["train"].cut, "prior": corpora.prior(self.data)}
            found = {name: exclude_near_texts(cut, parts["test"].cut) for name, cut in texts.items()}
            self._of_attacker = {name: counts for name, (_, counts) in found.items()}
            print(f"the attacker has {self._of_attacker}", file=sys.stderr)
            known, prior = (cut for cut, _ in found.values())
            self._attacker = WordAttacker(
                known, prior, learned, read_vectors(VECTORS), trigrams_alone=self.trigrams_alone, report=_report_epoch
            )
        if row.name not in self._released:
            self._released = {row.name: self.releases.of(row)}  # all draws of a row use the same release object
        release = self._released[row.name]
        if release.rule not in readings:
            readings[release.rule] = {"test": release.read(parts["test"].cut)}
        target = readings[release.rule]["test"]
        found = attack_release(
            release, self._attacker, target, self._make_targets(parts["test"]), self.releases.function_words
        )
        return found | {"attacker": self._of_attacker}

    def personal(self, row: Row, job: Job) -> dict[str, Any]:
        """Count the unchanged spans of personal data."""
        records = corpora.personal(self.data / corpora.FILES["personal"][0])
        known = frozenset(self.releases.staircase.bundle.symbol_ids)
        draws = 1 if row.name in FIXED else PERSONAL_DRAWS
        found = personal.measure(self.releases.of(row), records, self.releases.function_words, known, draws)
        return {"draws": draws, "spans": found}

    def profile(self, row: Row, job: Job) -> dict[str, Any]:
        """Measure how often outputs identify their article (in the role of an author) or their paragraph."""
        if self._paragraphs is None:
            articles = [a for name in corpora.FILES["wikitext"] for a in corpora.articles(self.data / name)]
            self._paragraphs = *profile_attacks.choose_paragraphs(articles), {}
        cut, owner, readings = self._paragraphs
        release = self.releases.of(row)
        if release.rule not in readings:
            readings[release.rule] = release.read(cut)
        reading = readings[release.rule]
        outputs = release.draw(reading)
        style = profile_attacks.identify_by_style(release, reading, outputs, owner, self.releases.function_words)
        found: dict[str, Any] = {"paragraphs": len(cut), "articles": int(owner.max()) + 1, "style": style}
        found["skeleton"] = {str(n): profile_attacks.identify_by_template(reading, outputs, n) for n in LENGTHS}
        if release.consistent:
            found["pattern"] = {str(n): profile_attacks.identify_by_repeats(reading, outputs, n) for n in LENGTHS}
        return found

    def tuned(self, row: Row, job: Job) -> dict[str, Any]:
        """Fine-tune MiniLM on a part of the training rows."""
        return tuned.measure(self.releases, row, self.data, job["draw"], self.precision)

    def tuned_on_all(self, row: Row, job: Job) -> dict[str, Any]:
        """Fine-tune MiniLM on all training rows."""
        return tuned.measure(self.releases, row, self.data, job["draw"], self.precision, subset=0)

    def sample(self, row: Row, job: Job) -> dict[str, Any]:
        """Release the sample sentences once."""
        return {"texts": self.releases.sample(row, list(corpora.SAMPLES))}


def _report_epoch(done: int, total: int) -> None:
    print(f"learned from {done} of {total} parts, {time.process_time():.0f} s of processor time", file=sys.stderr)


def jobs(only: str | None) -> Iterator[Job]:
    """Yield all jobs; the jobs of the main table come first."""
    rest = [
        {"job": job, "row": row.name}
        for job in ("sample", "personal", "profile")
        for row in ROWS
        if row.name not in REWRITTEN or (job == "sample" and row.name.startswith("names"))
    ]
    tasks = [
        {"job": "task", "task": task, "row": row.name, "draw": draw}
        for task in TASKS
        for draw in range(DRAWS[task])
        for row in ROWS
        if not draw or row.name not in FIXED
    ]
    others = [row.name for row in ROWS if row.name not in (*NOT_ATTACKED, *FIRST)]
    attacked = [{"job": "attack", "row": name, "draw": draw} for name in FIRST for draw in range(NAMED)]
    for draws in (range(1), range(1, NAMED)):
        attacked += [{"job": "attack", "row": name, "draw": draw} for name in others for draw in draws]
    first = [job for job in tasks if not job["draw"]]
    later = [job for job in tasks if job["draw"]]
    # Later draws are ordered by task, so that each corpus is read only once.
    fine = [{"job": "tuned", "row": name, "draw": seed} for seed in range(SEEDS) for name in TUNED]
    fine += [{"job": "tuned_on_all", "row": name, "draw": seed} for seed in range(SEEDS) for name in TUNED_ON_ALL]
    parts = {"tasks": [*first, *later], "attacks": attacked, "rest": rest, "tuned": fine}
    yield from parts[only] if only else [*rest, *first, *attacked, *later, *fine]


NEEDS = {
    "sample": (), "personal": ("personal",), "profile": ("wikitext",), "tuned": ("sst2",), "tuned_on_all": ("sst2",),
    "attack": ("sst2",),
}  # fmt: skip


def _key(record: Job) -> tuple[Any, ...]:
    return record["job"], record["row"], record.get("task"), record.get("draw", 0)


def remove_stale_records(path: Path, source: Callable[[str], str], quick: bool) -> set[tuple[Any, ...]]:
    """Remove outdated records from the file, and return the keys of the remaining ones."""
    if not path.exists():
        return set()
    lines = path.read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines if line.endswith("}")]
    names = {row.name for row in ROWS}
    fresh = [r for r in records if r["row"] in names and r["source"] == source(r["row"]) and r["quick"] == quick]
    if len(fresh) < len(lines):
        print(f"{len(lines) - len(fresh)} outdated records are removed", file=sys.stderr)
        path.write_text("".join(json.dumps(record) + "\n" for record in fresh), "utf-8")
    return {_key(record) for record in fresh}


def main() -> None:
    """Parse the command line and measure all missing records."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--bundle", type=Path, help="bundle with a staircase; default: the built-in bundle")
    parser.add_argument("--santext", type=Path, help="bundle with SanText, such as artifacts/english-santext")
    parser.add_argument("--trec", type=Path, help="bundle with sentences for TREC's classes")
    parser.add_argument("--quick", action="store_true", help="for development: train and measure on parts of train")
    parser.add_argument("--only", choices=("tasks", "attacks", "rest", "tuned"), help="run only these jobs")
    parser.add_argument("--rows", nargs="*", choices=[row.name for row in ROWS], help="some rows")
    parser.add_argument("--draws", type=int, default=max(DRAWS.values()), help="maximum number of draws")
    parser.add_argument(
        "--precision", default="bfloat16", help="precision of fine-tuning; float32 is faster on older processors"
    )
    parser.add_argument(
        "--trigrams", action="store_true", help="attack only with trigrams, since the network takes hours"
    )
    parser.add_argument("-o", "--output", type=Path, help="the records")
    a = parser.parse_args()
    name = "frontier-quick.jsonl" if a.quick else "frontier.jsonl"
    output: Path = a.output or ROOT / "benchmarks" / "results" / name
    releases = Releases(a.bundle, a.santext, a.trec)
    by_name = {row.name: row for row in ROWS}
    source = cache(lambda name: releases.source(by_name[name]))
    done = remove_stale_records(output, source, a.quick)
    run = Run(a.data, releases, quick=a.quick, precision=a.precision, trigrams_alone=a.trigrams)
    lacking: set[str] = set()
    for job in jobs(a.only):
        if _key(job) in done or (a.rows and job["row"] not in a.rows) or job.get("draw", 0) >= a.draws:
            continue
        if "task" in job and not releases.has(by_name[job["row"]], job["task"]):
            continue
        needs = NEEDS.get(job["job"], (job.get("task", ""),))
        absent = [path for corpus in needs for path in corpora.find_missing_files(a.data, corpus)]
        if absent:
            lacking.update(absent)
            continue
        start = time.perf_counter()
        found = run.measure(job)
        identity = releases.identity(by_name[job["row"]])
        about = {"quick": a.quick, "bundle": identity, "source": source(job["row"])}
        record = {**job, **about, **found, "seconds": round(time.perf_counter() - start, 1)}
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps({name: record[name] for name in (*job, "seconds")}), flush=True)
    for path in sorted(lacking):
        print(f"not measured: {path} is not in the data folder", file=sys.stderr)
    sys.exit(1 if lacking else 0)


if __name__ == "__main__":
    main()
