"""The record of a sanitized corpus: what was promised, what came out, with which software, in what time.

There is no text in it, and no hash of the input or of the denied words: such a hash tells who guesses a short file that
the guess is right. What it has of the texts is what the output has too.
"""

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from textveil.bundle import TextBundle
from textveil.text import Terms

from textveil_training.corpus.shards import Counts
from textveil_training.corpus.workers import Job
from textveil_training.data.release import FORMAT

VERSION = 1
_SOFTWARE = ("textveil", "textveil-training", "numpy", "regex")


@dataclass(frozen=True)
class FileFacts:
    """The facts about one file that a record states.

    Attributes:
        name: Name of the input and of the outputs.
        counts: What was sanitized, for one copy.
        sha256: Hash of the output, for each copy.
    """

    name: str
    counts: Counts
    sha256: tuple[str, ...]


class Clock:
    """Time spent on a run, over all interruptions that it could write down. Starts when made."""

    def __init__(self) -> None:
        self.begun = _now()
        self.interruptions = 0
        self._earlier = 0.0, 0.0
        self._start = time.perf_counter(), _cpu_seconds()

    def go_on(self, spent: dict[str, Any]) -> None:
        """Takes over what was spent before an interruption, if anything."""
        if spent:
            self.begun = spent["begun"]
            self.interruptions = spent["interruptions"]
            self._earlier = spent["wall_s"], spent["cpu_s"]

    def spent(self, *, interrupted: bool = False) -> dict[str, Any]:
        """Returns begin, interruptions, wall and processor seconds; processes that are still running do not count."""
        wall, cpu = time.perf_counter() - self._start[0], _cpu_seconds() - self._start[1]
        return {
            "begun": self.begun,
            "interruptions": self.interruptions + interrupted,
            "wall_s": round(self._earlier[0] + wall, 2),
            "cpu_s": round(self._earlier[1] + cpu, 2),
        }


def record_of(
    job: Job,
    bundle: TextBundle,
    terms: Terms,
    files: Sequence[FileFacts],
    copies: int,
    processes: int,
    clock: Clock,
) -> dict[str, Any]:
    """Returns the record of a finished run.

    Args:
        job: The job that was done.
        bundle: The bundle it was done with.
        terms: What the release promises per token.
        files: Facts about the files that came out.
        copies: Independent outputs of every text.
        processes: Number of workers.
        clock: The clock of the run.
    """
    statement = terms.statement(copies * sum(file.counts.tokens for file in files))
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "corpus_format": job.format_name,
        "text_keys": list(job.text_keys) if job.format_name == "jsonl" else None,
        "bundle": {"identity": job.identity, "name": bundle.manifest.get("name")},
        "copies": copies,
        "charged": "every token of every copy",
        "statement": statement.to_dict(),
        "summary": statement.summary(),
        "files": [
            {
                "name": file.name,
                "lines": file.counts.lines,
                "rows": file.counts.rows,
                "texts": file.counts.texts,
                "tokens": file.counts.tokens,
                "most_tokens_in_a_row": file.counts.most_tokens,
                "sha256": list(file.sha256),
            }
            for file in files
        ],
        "software": {name: version(name) for name in _SOFTWARE} | {"python": platform.python_version()},
        "machine": {"processor": platform.machine(), "system": platform.system(), "workers": processes},
        "finished": _now(),
        **clock.spent(),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _cpu_seconds() -> float:
    """Processor time of this process, and of those it started that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
