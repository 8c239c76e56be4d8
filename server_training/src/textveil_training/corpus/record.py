"""The record of a sanitized corpus: what was promised, what came out, with which software, in what time.

There is no text in it, and no hash of the input or of the denied words: such a hash tells who guesses a short file that
the guess is right. What it has of the texts is what the output has too.
"""

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from textveil import Sanitizer
from textveil.text import Options
from textveil_cli.files import Counts

from textveil_training.data.release import FORMAT
from textveil_training.hashes import sha256

VERSION = 2
_SOFTWARE = ("textveil", "textveil-training", "numpy", "regex")


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run that is finished.

    Attributes:
        format_name: Format of the files.
        text_keys: Keys or columns of the texts, where the format leaves them to the caller.
        counts: What was sanitized of each file, for one copy, by its name.
        outputs: The files that came out, one for each copy, by name.
        copies: Independent outputs of every text.
        workers: Processes that drew.
        resumed: Whether it was gone on with: then the time is that of the last part.
        begun: When it began, a time in UTC.
        wall_s: Seconds it took.
    """

    format_name: str
    text_keys: tuple[str, ...]
    counts: Mapping[str, Counts]
    outputs: Mapping[str, tuple[Path, ...]]
    copies: int
    workers: int
    resumed: bool
    begun: datetime
    wall_s: float


def record_of(run: Run, sanitizer: Sanitizer, options: Options) -> dict[str, Any]:
    """Returns the record of a finished run.

    Args:
        run: The run.
        sanitizer: What drew.
        options: Options of the draws.
    """
    tokens = run.copies * sum(counts.tokens for counts in run.counts.values())
    statement = sanitizer.terms(**options).statement(tokens)
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "corpus_format": run.format_name,
        "text_keys": list(run.text_keys) or None,
        "bundle": {"identity": sanitizer.bundle.identity, "name": sanitizer.bundle.manifest.get("name")},
        "copies": run.copies,
        "charged": "every token of every copy",
        "statement": statement.to_dict(),
        "summary": statement.summary(),
        "files": [
            {"name": name, **_counted(counts), "sha256": [sha256(path) for path in run.outputs[name]]}
            for name, counts in run.counts.items()
        ],
        "software": {name: version(name) for name in _SOFTWARE} | {"python": platform.python_version()},
        "machine": {"processor": platform.machine(), "system": platform.system(), "workers": run.workers},
        "resumed": run.resumed,
        "begun": run.begun.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "wall_s": round(run.wall_s, 2),
    }


def _counted(counts: Counts) -> dict[str, int]:
    """What was sanitized of a file: bad rows there are none, since the first is an error."""
    return {name: number for name, number in asdict(counts).items() if name != "quarantined"}
