"""Read the privacy terms of a sanitized corpus from the record that ``sanitize-corpus`` wrote beside it."""

import json
import re
from pathlib import Path
from typing import Any

from textveil_training.data.formats import list_files
from textveil_training.errors import InvalidJson, ReleaseMismatch, StaircaseUnsupported
from textveil_training.file_hashes import hash_file

FORMAT = "textveil-corpus"
"""Name of the format of the record of ``sanitize-corpus``."""
PARTS_FORMAT = "textveil-corpus-parts"
"""That of ``sanitize-corpus --ray``."""
RECORDS = "_records"
"""Folder of the records of parts, in the output folder. Tools that read folders pass over such names."""
_TERMS = (
    "mechanism",
    "level",
    "epsilon",
    "epsilon_per_word",
    "epsilon_notion",
    "epsilon_0",
    "rounding_slack",
    "replacement_probability",
    "case",
    "sanitize_punctuation",
    "bundle",
)
_COPY = re.compile(r"copy-\d+")


def read_release_terms(format_name: str, path: Path) -> dict[str, Any] | None:
    """Read the privacy terms of a sanitized corpus from the record beside it.

    Args:
        format_name: Format of the data: it decides which files of a folder are read.
        path: The corpus: a folder that ``sanitize-corpus`` wrote, one of its copies, or a file in either; or parts of a
            run with ``--ray``.

    Returns:
        The terms with ``bundle_name`` and ``releases``: how many independent outputs of one text are among the rows,
        1 as ``sanitize-corpus`` writes a copy; whoever joins copies says so in the record, since each is charged.
        None where no record of ``sanitize-corpus`` lies beside it, nor above it one of a run with parts there: raw
        text, as far as this can tell.

    Raises:
        InvalidJson: There is a record that cannot be read.
        ReleaseMismatch: A file is not one that the record names, by its hash: for example raw text in its place.
        StaircaseUnsupported: It was sanitized with the staircase.
    """
    path = path.resolve()  # a relative path may have no parent in its name
    folder = path if path.is_dir() else path.parent
    of_copies = (folder, folder.parent)[: 2 if _COPY.fullmatch(folder.name) else 1]
    places = [(place / "record.json", FORMAT) for place in of_copies]
    places += [(place / RECORDS / "run.json", PARTS_FORMAT) for place in (folder, *folder.parents)]
    for place, format_of_record in places:
        try:
            content = json.loads(place.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            raise InvalidJson("the record beside or above the corpus cannot be read") from error
        if not isinstance(content, dict) or content.get("format") != format_of_record:
            continue
        try:
            statement = content["statement"]
            if format_of_record == FORMAT:
                written = {(file["name"], digest) for file in content["files"] for digest in file["sha256"]}
            else:
                parts = {place.parent.parent / part["part"]: part["sha256"] for part in content["parts"]}
                if not any(folder in part.parents for part in parts):
                    continue
                written = {(part.name, digest) for part, digest in parts.items()}
            staircase = statement["mechanism"] == "staircase"
            terms = {} if staircase else {name: statement[name] for name in _TERMS}
            terms |= {"bundle_name": content["bundle"]["name"], "releases": content.get("releases", 1)}
        except (AttributeError, KeyError, TypeError) as error:
            raise InvalidJson("the record of the corpus has other keys: another version wrote it") from error
        if any((file.name, hash_file(file)) not in written for file in list_files(format_name, path)):
            raise ReleaseMismatch(
                "a file is not as the record of sanitize-corpus beside or above it says: which release it is, is "
                "unknown (without that record it would count as raw text)"
            )
        if staircase:
            raise StaircaseUnsupported(
                "this corpus was sanitized with the staircase, whose terms records of training do not have yet"
            )
        return terms
    return None
