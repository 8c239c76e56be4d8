"""The record of a sanitized corpus: what was promised, what came out, with which software, in what time.

There is no text in it, and no hash of the input or of the denied words: such a hash tells who guesses a short file that
the guess is right. What it has of the texts is what the output has too.
"""

import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from textveil import Sanitizer
from textveil.text import Options
from textveil_cli.files import Counts

from textveil_training.data.corpus_release import FORMAT
from textveil_training.file_hashes import sha256

VERSION = 2
_SOFTWARE = ("textveil", "textveil-training", "numpy", "regex")


def record_of(
    sanitizer: Sanitizer,
    options: Options,
    *,
    counts: Mapping[str, Counts],
    outputs: Mapping[str, tuple[Path, ...]],
    copies: int,
    **run: object,
) -> dict[str, Any]:
    """Returns the record of a finished run.

    Args:
        sanitizer: What drew.
        options: Options of the draws.
        counts: What was sanitized of each file, for one copy, by its name.
        outputs: The files that came out, one for each copy, by name.
        copies: Independent outputs of every text.
        run: What else the record says of the run.
    """
    tokens, drawn = (copies * sum(getattr(one, name) for one in counts.values()) for name in ("tokens", "drawn"))
    statement = sanitizer.terms(**options).statement(tokens, drawn)
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "bundle": {"identity": sanitizer.bundle.identity, "name": sanitizer.bundle.manifest.get("name")},
        "copies": copies,
        "charged": "every token of every copy",
        "statement": statement.to_dict(),
        "summary": statement.summary(),
        "files": [
            {"name": name, **_counted(of_file), "sha256": [sha256(path) for path in outputs[name]]}
            for name, of_file in counts.items()
        ],
        "software": {name: version(name) for name in _SOFTWARE} | {"python": platform.python_version()},
        **run,
    }


def _counted(counts: Counts) -> dict[str, int]:
    """What was sanitized of a file: bad rows there are none, since the first is an error."""
    return {name: number for name, number in asdict(counts).items() if name != "quarantined"}
