"""Read the privacy terms (mode, mechanism and epsilon) of a sanitized corpus from the record in its folder.

The command ``sanitize-corpus`` writes this record.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textveil_training.data.formats import list_files
from textveil_training.errors import InvalidJson, ReleaseMismatch, UnfinishedCorpus
from textveil_training.file_hashes import hash_file
from textveil_training.release_terms import MECHANISM_OF_MODE

FORMAT = "textveil-corpus"
"""Name of the format of the record of ``sanitize-corpus``."""
PARTS_FORMAT = "textveil-corpus-parts"
"""Name of the format of the record of ``sanitize-corpus --ray``."""
VERSIONS = {FORMAT: 3, PARTS_FORMAT: 2}
"""Version of each format."""
RUNNING, FINISHED = "running", "finished"
"""States of a run in its record, which is written when the run begins, and again when it ends."""
RECORD = "record.json"
"""Name of the record in the output folder."""
RECORDS = "_records"
"""Folder of the records of parts, in the output folder. Most tools ignore folders whose names begin so."""
_COPY = re.compile(r"copy-\d+")


def compute_seal(content: Mapping[str, Any]) -> str:
    """Compute a SHA-256 over the privacy terms (mode, mechanism, epsilon) and the file hashes in a record.

    The record also contains this hash, so that a program that reads the record detects changes.

    Args:
        content: The record, with the entries ``release`` and ``files`` (or ``parts``).
    """
    files = [[file["name"], file["sha256"]] for file in content["files"]] if "files" in content else []
    files += [[part["part"], part["sha256"]] for part in content.get("parts", ())]
    sealed = [content["format"], content["release"], content.get("releases", 1), files]
    return hashlib.sha256(json.dumps(sealed, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def read_release_terms(format_name: str, path: Path) -> dict[str, Any] | None:
    """Read the privacy terms (mode, mechanism, epsilon) of a sanitized corpus from the record in its folder.

    Args:
        format_name: Format of the data, which determines the files of a folder.
        path: The corpus: a folder that ``sanitize-corpus`` wrote, one of its copies, a file in either, or parts of a
            run with ``--ray``.

    Returns:
        The terms of ``describe_release_terms``, and ``releases``: the number of independent outputs of each text in the
        corpus. This number is 1 for each copy that ``sanitize-corpus`` wrote. If copies were joined, the record has the
        number of copies, since each copy spends epsilon. The result is ``None`` if there is no record: neither in the
        folder of the corpus nor, for parts, in a folder above. Texts without a record count as raw.

    Raises:
        InvalidJson: The record is not JSON, has another version, or lacks a key.
        UnfinishedCorpus: The run that writes the corpus has not ended.
        ReleaseMismatch: The hash of a file is not in the record, for example because the file was replaced by raw text;
            or the record was changed, so that its mode does not fit its mechanism, or its terms do not fit its files.
    """
    path = path.resolve()  # a relative path may have no component for its parent
    folder = path if path.is_dir() else path.parent
    of_copies = (folder, folder.parent)[: 2 if _COPY.fullmatch(folder.name) else 1]
    places = [(place / RECORD, FORMAT) for place in of_copies]
    places += [(place / RECORDS / "run.json", PARTS_FORMAT) for place in (folder, *folder.parents)]
    for place, format_of_record in places:
        try:
            content = json.loads(place.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            raise InvalidJson(
                f"the record of the corpus ({place.name}) cannot be read: restore it, or sanitize the corpus again"
            ) from error
        if not isinstance(content, dict) or content.get("format") != format_of_record:
            continue
        if (terms := _read_terms(content, place, folder, format_name, path)) is not None:
            return terms
    return None


def _read_terms(
    content: dict[str, Any], place: Path, folder: Path, format_name: str, path: Path
) -> dict[str, Any] | None:
    """Check the record of a sanitized corpus, and return the privacy terms (mode, mechanism, epsilon) in it.

    Args:
        content: Content of the record.
        place: Path of the record.
        folder: Folder of the corpus.
        format_name: Format of the data.
        path: The corpus.

    Returns:
        The terms, or ``None`` if the record describes no parts in ``folder``.
    """
    format_of_record, found = content["format"], content.get("format_version")
    if found != VERSIONS[format_of_record]:
        version = f"format version {found}" if isinstance(found, int) else "no format version"
        raise InvalidJson(
            f"the record of the corpus ({place.name}) has {version}, and this textveil-training reads "
            f"{VERSIONS[format_of_record]}: sanitize the corpus again"
        )
    output = place.parent if format_of_record == FORMAT else place.parent.parent
    if content.get("status") == RUNNING:
        if format_of_record == PARTS_FORMAT and not (place.parent / folder.relative_to(output)).is_dir():
            return None
        raise UnfinishedCorpus(
            "the corpus is incomplete: sanitize-corpus is still running or was interrupted; wait until it ends, or "
            "repeat its command with --resume"
        )
    try:
        if format_of_record == FORMAT:
            written = {(file["name"], digest) for file in content["files"] for digest in file["sha256"]}
        else:
            parts = {output / part["part"]: part["sha256"] for part in content["parts"]}
            if not any(folder in part.parents for part in parts):
                return None
            written = {(part.name, digest) for part, digest in parts.items()}
        terms = content["release"] | {"releases": content.get("releases", 1)}
        seal_holds = content["seal"] == compute_seal(content)
        mode, mechanism = terms["mode"], terms["mechanism"]
        modes = {content["mode"], mode}
        mechanisms = {content["statement"]["mechanism"], mechanism, MECHANISM_OF_MODE.get(mode, mechanism)}
    except (AttributeError, KeyError, TypeError) as error:
        fault = f"the key {error.args[0]} is missing" if isinstance(error, KeyError) else "a value has another type"
        raise InvalidJson(
            f"the record of the corpus ({place.name}) is damaged ({fault}): restore it, or sanitize the corpus again"
        ) from error
    if any((file.name, hash_file(file)) not in written for file in list_files(format_name, path)):
        raise ReleaseMismatch(
            "a file differs from the record that sanitize-corpus wrote in this folder or above it, so its privacy is "
            "unknown: restore the file, or, if it is raw text, move it to a folder without that record"
        )
    if len(modes) > 1 or len(mechanisms) > 1 or not seal_holds:
        raise ReleaseMismatch(
            "the record of the corpus was changed after sanitize-corpus wrote it, so it does not describe the rows: "
            "restore the record, or sanitize the corpus again"
        )
    return terms
