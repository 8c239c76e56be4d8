"""Run manifest of an output folder: the list of finished files, which ``--resume`` reads.

The manifest is a file beside the output folder, not in it, since users send the folder to others. It has one JSON
object per line: first the settings, then each finished file, then the privacy statement of the run.

Privacy:
    Only the owner may read the manifest. It contains no text, but a hash of the settings (including the words of
    ``--deny``) and the sizes of the input files.
"""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from textveil.errors import OutputError
from textveil.text import Options, PrivacyTerms

from textveil_cli.columns import ColumnSelection
from textveil_cli.console import make_printable
from textveil_cli.errors import FileChanged, ResumeError
from textveil_cli.files.blocks import RunCounts
from textveil_cli.files.folder_lock import lock_folder
from textveil_cli.files.sources import SourceFile, get_file_version, get_manifest_path

MANIFEST_VERSION = 1
_FIRST_BYTES = f'{{"version": {MANIFEST_VERSION}, "settings_hash": "'.encode()


def hash_settings(
    selection: ColumnSelection, terms: PrivacyTerms, options: Options, privacy_unit: str | None = None
) -> str:
    """Return a hash of all settings that influence the output of a file.

    Args:
        selection: Format of the files, columns to sanitize, and which texts form one document.
        terms: Parameters of the privacy statement, such as the mode and epsilon.
        options: Options of ``Sanitizer.sanitize``.
        privacy_unit: Name of the person or group for whom the privacy ledger adds up epsilon; ``None`` without a
            ledger. The name is a part of the hash so that a run with a ledger cannot resume a run without one.
    """
    word_lists = [sorted(set(options.get(name) or ())) for name in ("deny", "allow", "randomize")]
    if options.get("patterns") or options.get("known"):
        word_lists += [[*map(list, (options.get("patterns") or {}).items())], sorted(options.get("known") or ())]
    facts = [asdict(selection), asdict(terms), word_lists, privacy_unit]
    return hashlib.sha256(json.dumps(facts, default=_to_json_value).encode()).hexdigest()


def _to_json_value(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else str(value)


class RunManifest:
    """The list of finished files of an output folder, in a file that is created if it does not exist.

    Args:
        folder: The output folder.
        settings: Result of ``hash_settings`` for this run.
        resume: Whether to resume an earlier run.

    Raises:
        ResumeError: The folder is not empty although ``resume`` is false, the earlier run had other settings, or
            another run uses the folder.
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
            raise OutputError(f"cannot write to the output folder: {os.strerror(error.errno or 0)}") from error

    def _open_manifest(self, folder: Path, resume: bool) -> None:
        try:
            output_files = [name for _, _, names in os.walk(folder) for name in names]
            exists = os.path.lexists(self._path)
            if exists and (resume or not output_files):
                entries = self._read_entries()
                if resume:
                    self._resume_run(entries)
                else:  # left by a run that finished no file
                    self._path.unlink()
            elif output_files:
                raise ResumeError(
                    f"the run manifest {make_printable(self._path.name)} beside the output folder is missing: "
                    "omit --resume, and choose a new output folder"
                    if resume
                    else "the output folder is not empty: choose a new one, or resume its run with --resume"
                )
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            self._descriptor = os.open(self._path, flags, 0o600)
            if not self._finished and not os.fstat(self._descriptor).st_size:
                self._append({"version": MANIFEST_VERSION, "settings_hash": self._settings})
        except BaseException:
            if self._lock is not None:
                os.close(self._lock)
            raise

    def find_finished_counts(self, source: SourceFile, target: Path) -> RunCounts | None:
        """Return the counts of a file that is already finished; ``None`` for a file that is still to sanitize.

        Args:
            source: The input file.
            target: Path of its output.

        Raises:
            FileChanged: The input file was changed after its output was written. A second output of its unchanged parts
                would spend epsilon again, so the run ends.
            ResumeError: The existing output was not written by this run, or was modified.
        """
        if not os.path.lexists(target):
            return None
        entry = self._finished.get(source.name)  # the entry is written before the output is renamed to its final path
        if (
            entry is None
            or source.path is None
            or not target.is_file()
            or target.stat().st_size != entry["output_bytes"]
        ):
            raise ResumeError(
                f"{source.name}: its output differs from what this run wrote; delete the output to sanitize the file "
                "again"
            )
        if get_file_version(source.path.stat()) != entry["input_version"]:
            raise FileChanged(
                f"{source.name}: the file changed after its output was written; delete the output to sanitize the file "
                "again"
            )
        return RunCounts(**entry["counts"])

    def add_file(self, source: SourceFile, status: os.stat_result, size: int, counts: RunCounts) -> None:
        """Record a file as finished, just before its temporary output is renamed; see ``FinishedFileRecorder``."""
        entry = {
            "file": source.name,
            "input_version": get_file_version(status),
            "output_bytes": size,
            "counts": asdict(counts),
        }
        self._append(entry)

    def add_statement(self, description: dict[str, Any]) -> None:
        """Write the privacy statement (what the output reveals) of the finished run to the manifest."""
        self._append({"run": description})

    def close(self) -> None:
        """Close the file that lists the finished outputs, and unlock the output folder for other processes."""
        os.close(self._descriptor)
        if self._lock is not None:
            os.close(self._lock)

    def _read_entries(self) -> list[dict[str, Any]]:
        """Read the entries of an existing manifest (list of finished files), without changing the file.

        Raises:
            ResumeError: The file is not a manifest, or is damaged.
        """
        damaged = ResumeError("the run manifest of the output folder is damaged: choose a new output folder")
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
        if entries and entries[0].get("settings_hash") != self._settings:
            raise ResumeError(
                "the run began with other options or another bundle: repeat its options, or choose a new output folder"
            )
        if self._incomplete_line:  # a line that was cut off while it was written
            os.truncate(self._path, self._path.stat().st_size - len(self._incomplete_line))

    def _append(self, entry: dict[str, Any]) -> None:
        try:
            os.write(self._descriptor, json.dumps(entry, ensure_ascii=False).encode() + b"\n")
            os.fsync(self._descriptor)
        except OSError as error:
            raise OutputError(f"cannot write the run manifest: {os.strerror(error.errno or 0)}") from error


def _lock_output_folder(folder: Path) -> int | None:
    try:
        return lock_folder(folder)
    except BlockingIOError:
        raise ResumeError("another run uses the output folder: wait until it ends, or choose another folder") from None
