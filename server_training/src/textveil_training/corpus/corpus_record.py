"""Write the JSON record of a ``sanitize-corpus`` run: mode, mechanism, epsilon and counts.

The record is written before the first text is sanitized, and completed at the end of the run. Users publish the record
with the corpus, since it is in the output folder. It contains no text, and no hash of the input or of the words of the
option ``deny``: anybody who guesses a short file could check the guess with such a hash. Its figures about the texts
can also be computed from the output. A private file beside the folder stores hashes of the input until the run ends;
only its owner may read it.
"""

import json
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from textveil.bundle import TextBundle
from textveil.storage import open_atomic_text
from textveil.text import PrivacyTerms
from textveil_cli.errors import FileChanged, ResumeError
from textveil_cli.files import RunCounts, get_manifest_path

from textveil_training.data.corpus_release import FINISHED, RUNNING, VERSIONS, compute_seal
from textveil_training.errors import make_printable
from textveil_training.release_terms import describe_release_terms

_SOFTWARE = ("textveil", "textveil-training", "numpy", "regex")
#: Entries that must be equal in a resumed run and in the interrupted one, with the text of an error about each.
_PLANNED = {
    "mode": "another mode (--protect)",
    "bundle": "another bundle (--bundle)",
    "release": "other options of the mode",
    "corpus_format": "another format (--format)",
    "text_keys": "other text columns (--text)",
    "columns": "other text columns (--text)",
    "copies": "another number of copies (--copies)",
    "planned_files": "other input files",
}


def make_start_record(
    format_of_record: str, terms: PrivacyTerms, bundle: TextBundle, **planned: object
) -> dict[str, Any]:
    """Return the first content of the JSON file that describes a run: options, bundle and planned files.

    Args:
        format_of_record: Name of the record's format, a key of ``VERSIONS``.
        terms: Mode, mechanism and epsilon of this run.
        bundle: The bundle (folder with word lists and settings) of the sanitizer.
        planned: Further entries, such as the planned files. They must be equal when the run is resumed.
    """
    return {
        "format": format_of_record,
        "format_version": VERSIONS[format_of_record],
        "status": RUNNING,
        "mode": terms.protect,
        "release": describe_release_terms(terms, bundle),
        "bundle": {"content_hash": bundle.content_hash, "name": bundle.manifest.get("name")},
        **planned,
        "software": {name: version(name) for name in _SOFTWARE} | {"python": platform.python_version()},
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def remove_private_files(output: Path) -> None:
    """Remove the private files beside the output folder, which are needed only to resume a run.

    They are private because one contains a hash of the words that the user wants to hide (option ``deny``), and the
    other contains hashes of the input texts.
    """
    manifest = get_manifest_path(output)
    for path in (_get_versions_path(output), manifest):
        with suppress(FileNotFoundError):
            path.unlink()


def _get_versions_path(output: Path) -> Path:
    manifest = get_manifest_path(output)
    return manifest.with_name(f"{manifest.name}.sources")


def check_resumable(output: Path, place: Path, planned: Mapping[str, Any], *, resume: bool) -> None:
    """Check whether a run may start or be resumed, given the record in the output folder.

    Args:
        output: The output folder.
        place: Path of the record.
        planned: Result of ``make_start_record`` for this run.
        resume: Whether to resume the run.

    Raises:
        ResumeError: The folder has an interrupted run and ``resume`` is false; or the run is finished; or it was
            started with other options, which the message names.
    """
    there = _read_record(place)
    if there is None or there.get("format") != planned["format"]:
        return  # there is no record, or the file is no record and the run manifest refuses the folder
    if there.get("status") != RUNNING:
        if resume:
            remove_private_files(output)  # they remain if a run was killed after its last step
            raise ResumeError("the corpus in the output folder is complete: omit --resume")
        return
    if not resume:
        raise ResumeError(
            "the output folder has an interrupted run: repeat its command with --resume, or choose a new folder"
        )
    if there.get("format_version") != planned["format_version"]:
        raise ResumeError(
            "another version of textveil-training began the run in the output folder: choose a new folder"
        )
    for name, what in _PLANNED.items():
        if there.get(name) != json.loads(json.dumps(planned.get(name))):
            raise ResumeError(
                f"the run in the output folder was started with {what}: repeat its command with --resume, or choose "
                "a new folder"
            )


def begin_record(place: Path, planned: dict[str, Any], *, resume: bool) -> dict[str, Any]:
    """Write the JSON file that describes a new run, or read the file of a run to resume; return its content.

    Raises:
        OutputError: The record cannot be written.
    """
    if resume and (there := _read_record(place)) is not None and there.get("status") == RUNNING:
        return there
    write_record(place, planned)
    return planned


def finish_record(
    begun: dict[str, Any], terms: PrivacyTerms, counts: Iterable[RunCounts], *, copies: int = 1, **found: object
) -> dict[str, Any]:
    """Return the final content of the JSON file that describes a run, with counts and hashes of the output files.

    Args:
        begun: Content of the record at the beginning of the run.
        terms: Mode, mechanism and epsilon of the run.
        counts: Counts of rows and tokens in one copy of each file.
        copies: Number of independent outputs of every text.
        found: Further entries of the record: ``files`` or ``parts``, with the SHA-256 of each output file.
    """
    total = sum(counts, RunCounts())
    statement = terms.statement(copies * total.tokens, copies * total.randomized_words)
    content = {name: value for name, value in begun.items() if name != "planned_files"} | {
        "status": FINISHED,
        "statement": statement.to_dict(),
        "summary": statement.summary(),
        **found,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return content | {"seal": compute_seal(content)}


def write_record(place: Path, content: Mapping[str, Any]) -> None:
    """Write the record, which describes a run, to a JSON file.

    Raises:
        OutputError: The record cannot be written.
    """
    with open_atomic_text(place) as write:
        write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def describe_counts(counts: RunCounts) -> dict[str, int]:
    """Convert the counts of a file to a dictionary, without the number of rejected rows, which is always 0.

    ``sanitize-corpus`` rejects no rows: its first bad row is an error.
    """
    return {name: number for name, number in asdict(counts).items() if name != "rejected_rows"}


class SourceVersions:
    """Hashes of a run's input files, in a private file, to detect changes of the files before a run is resumed.

    Args:
        output: The output folder.
        versions: SHA-256 of each input file by file name; or size and modification time, if the run does not read
            complete files.

    Privacy:
        Somebody who guesses the content of a short file can check the guess with its hash. So only the owner may read
        the versions file, and it is removed at the end of the run.
    """

    def __init__(self, output: Path, versions: Mapping[str, str]) -> None:
        self._path, self._versions = _get_versions_path(output), dict(versions)

    def check(self) -> None:
        """Check that the input files are the same as at the start of the run.

        Raises:
            FileChanged: An input file has changed.
        """
        there = _read_record(self._path) or {}
        for name, found in self._versions.items():
            if there.get(name, found) != found:
                raise FileChanged(
                    f"{make_printable(name)}: changed since the interrupted run began: restore the file and repeat "
                    "--resume, or choose a new output folder"
                )

    def write(self, *, resume: bool) -> None:
        """Write the private file with the hashes of the input files; keep the file of a run that is resumed.

        Raises:
            OutputError: The file cannot be written.
        """
        if not resume or _read_record(self._path) is None:
            with open_atomic_text(self._path, private=True) as write:
                write(json.dumps(self._versions, ensure_ascii=False) + "\n")


def _read_record(place: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
