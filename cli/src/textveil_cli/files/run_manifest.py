"""Run manifest of an output folder: the list of finished files, for ``--resume``.

The manifest lies beside the folder, since users send the folder. It has one JSON object a line: the settings, then each
finished file, then the privacy statement of the run. Only its owner may read it: it has a hash of the settings,
including the denied words, and the sizes of the input files. It contains no text.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textveil.errors import FileChanged, OutputError, ResumeError
from textveil.text import Options, PrivacyTerms

from textveil_cli.console import make_printable
from textveil_cli.files.column_selection import ColumnSelection
from textveil_cli.files.folder_lock import lock_folder
from textveil_cli.files.sources import OLD_MANIFEST_NAME, SourceFile, get_manifest_path
from textveil_cli.files.streams import get_file_version

MANIFEST_VERSION = 1
_FIRST_BYTES = f'{{"version": {MANIFEST_VERSION}, "settings": "'.encode()


@dataclass(frozen=True, kw_only=True)
class RunCounts:
    """Counts of one file, or of all files.

    Attributes:
        rows: Rows in the output.
        documents: Documents: cells, lines, or groups of these.
        tokens: Tokens whose epsilon is spent; for the staircase mechanism, randomized words.
        most_tokens: Tokens of the longest document.
        quarantined: Rejected rows.
        drawn: In the mode names, randomized words.
        replaced_words: In the mode names, words on no list that are replaced.
        mostly_replaced: Documents of 12 or more words of which under half are kept.
    """

    rows: int = 0
    documents: int = 0
    tokens: int = 0
    most_tokens: int = 0
    quarantined: int = 0
    drawn: int = 0
    replaced_words: int = 0
    mostly_replaced: int = 0

    def __add__(self, other: "RunCounts") -> "RunCounts":
        return RunCounts(
            rows=self.rows + other.rows,
            documents=self.documents + other.documents,
            tokens=self.tokens + other.tokens,
            most_tokens=max(self.most_tokens, other.most_tokens),
            quarantined=self.quarantined + other.quarantined,
            drawn=self.drawn + other.drawn,
            replaced_words=self.replaced_words + other.replaced_words,
            mostly_replaced=self.mostly_replaced + other.mostly_replaced,
        )


def hash_settings(
    selection: ColumnSelection, terms: PrivacyTerms, options: Options, privacy_unit: str | None = None
) -> str:
    """Return a hash of everything that the output of a file depends on.

    Args:
        selection: Format, columns and documents.
        terms: Parameters of the privacy statement.
        options: Options of ``Sanitizer.sanitize``.
        privacy_unit: The privacy unit of the ledger; ``None`` without a ledger. A run with a ledger cannot resume one
            without.
    """
    word_lists = [sorted(set(options.get(name) or ())) for name in ("deny", "allow", "randomize")]
    facts = [asdict(selection), asdict(terms), word_lists, privacy_unit]
    return hashlib.sha256(json.dumps(facts, default=_to_json_value).encode()).hexdigest()


def _to_json_value(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else str(value)


class RunManifest:
    """The run manifest of an output folder, created if missing.

    Args:
        folder: The folder.
        settings: Hash of the settings of this run.
        resume: Whether to resume an earlier run.

    Raises:
        ResumeError: The folder is not empty and the run is a new one, the earlier run had other settings, or another
            run writes there.
        OutputError: The folder cannot be written.
    """

    def __init__(self, folder: Path, settings: str, *, resume: bool) -> None:
        self._path, self._settings = get_manifest_path(folder), settings
        self._finished: dict[str, dict[str, Any]] = {}
        self._incomplete_line = b""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _lock_output_folder(folder)
            self._open_manifest(folder, resume)
        except OSError as error:
            raise OutputError(f"the output folder cannot be written: {os.strerror(error.errno or 0)}") from error

    def _open_manifest(self, folder: Path, resume: bool) -> None:
        try:
            output_files = [name for _, _, names in os.walk(folder) for name in names]
            exists = os.path.lexists(self._path)
            if OLD_MANIFEST_NAME in os.listdir(folder):
                raise ResumeError(
                    f"the output folder has the record of an older version inside: move {OLD_MANIFEST_NAME} out of "
                    "it, to "
                    f"{make_printable(self._path.name)} beside it to go on with that run (--resume)"
                )
            if exists and (resume or not output_files):
                entries = self._read_entries()
                if resume:
                    self._resume_run(entries)
                else:  # left by a run that finished no file
                    self._path.unlink()
            elif output_files:
                raise ResumeError(
                    f"beside the output folder is no {make_printable(self._path.name)}, its record, to go on with"
                    if resume
                    else "the output folder is not empty: name a new one, or a file (--resume goes on with a run)"
                )
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            self._descriptor = os.open(self._path, flags, 0o600)
            if not self._finished and not os.fstat(self._descriptor).st_size:
                self._append({"version": MANIFEST_VERSION, "settings": self._settings})
        except BaseException:
            if self._lock is not None:
                os.close(self._lock)
            raise

    def find_finished_counts(self, source: SourceFile, target: Path) -> RunCounts | None:
        """Return the counts of a finished file, ``None`` for other files.

        Raises:
            FileChanged: The file has changed since: rewriting it again would be a second release of its unchanged
                parts.
            ResumeError: The existing output was not written by this run, or was modified.
        """
        if not os.path.lexists(target):
            return None
        entry = self._finished.get(source.name)  # the entry is written before the output gets its name
        if entry is None or source.path is None or not target.is_file() or target.stat().st_size != entry["bytes"]:
            raise ResumeError(
                f"{source.name}: its output is not as the run wrote it; remove that to have it drawn again"
            )
        if get_file_version(source.path.stat()) != entry["source"]:
            raise FileChanged(
                f"{source.name}: changed since its output was written; remove that to have it drawn again"
            )
        return RunCounts(**entry["counts"])

    def add_file(self, source: SourceFile, status: os.stat_result, size: int, counts: RunCounts) -> None:
        """Add a file whose output of ``size`` bytes is about to be renamed into place."""
        entry = {"file": source.name, "source": get_file_version(status), "bytes": size, "counts": asdict(counts)}
        self._append(entry)

    def add_statement(self, description: dict[str, Any]) -> None:
        """Add the privacy statement of the run."""
        self._append({"finished": description})

    def close(self) -> None:
        """Close the manifest, and unlock the folder for other runs."""
        os.close(self._descriptor)
        if self._lock is not None:
            os.close(self._lock)

    def _read_entries(self) -> list[dict[str, Any]]:
        """Read the complete entries of an existing manifest without changing it.

        Raises:
            ResumeError: The file is not a manifest, or is damaged.
        """
        damaged = ResumeError("the record of the output folder is damaged, or is not one")
        if self._path.is_symlink() or not self._path.is_file():
            raise damaged
        *lines, self._incomplete_line = self._path.read_bytes().split(b"\n")
        begin = lines[0] if lines else self._incomplete_line
        if begin[: len(_FIRST_BYTES)] != _FIRST_BYTES[: len(begin)]:
            raise damaged
        try:
            entries = [json.loads(line) for line in lines]
            self._finished = {entry["file"]: entry for entry in entries if "file" in entry}
        except (ValueError, KeyError, TypeError):
            raise damaged from None
        return entries

    def _resume_run(self, entries: list[dict[str, Any]]) -> None:
        if entries and entries[0].get("settings") != self._settings:
            raise ResumeError("the output folder was begun with other options, or another bundle")
        if self._incomplete_line:  # a line that was cut off while it was written
            os.truncate(self._path, self._path.stat().st_size - len(self._incomplete_line))

    def _append(self, entry: dict[str, Any]) -> None:
        try:
            os.write(self._descriptor, json.dumps(entry, ensure_ascii=False).encode() + b"\n")
            os.fsync(self._descriptor)
        except OSError as error:
            raise OutputError(f"the record cannot be written: {os.strerror(error.errno or 0)}") from error


def _lock_output_folder(folder: Path) -> int | None:
    try:
        return lock_folder(folder)
    except BlockingIOError:
        raise ResumeError("another run writes to the output folder: wait for its end, or name another") from None
