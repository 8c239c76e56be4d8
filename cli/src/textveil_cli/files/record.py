"""The record of an output folder: which files are finished, so that a run can be gone on with.

One JSON object a line: the settings, then each finished file, then what the run promised. It is for its owner alone: it
has a hash of the settings, with the denied words, and the sizes of the input files. There is no text in it.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textveil.errors import FileChanged, OutputError, ResumeError
from textveil.text import Options, Terms

from textveil_cli.files.selection import Selection
from textveil_cli.files.sources import RECORD, Source
from textveil_cli.files.streams import version_of

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None

VERSION = 1
_BEGIN = f'{{"version": {VERSION}, "settings": "'.encode()


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What was rewritten of a file, or of all.

    Attributes:
        rows: Rows that came out.
        documents: Documents: cells, lines, or what joins them.
        tokens: Tokens that are charged; under the staircase drawn words.
        most_tokens: Those of the document that has most.
        quarantined: Rows that did not come out.
        drawn: On the rung names, words that are drawn.
        replaced_words: In the mode names, words on no list that are replaced.
        mostly_replaced: Documents of which under half of 12 or more words are kept.
    """

    rows: int = 0
    documents: int = 0
    tokens: int = 0
    most_tokens: int = 0
    quarantined: int = 0
    drawn: int = 0
    replaced_words: int = 0
    mostly_replaced: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            rows=self.rows + other.rows,
            documents=self.documents + other.documents,
            tokens=self.tokens + other.tokens,
            most_tokens=max(self.most_tokens, other.most_tokens),
            quarantined=self.quarantined + other.quarantined,
            drawn=self.drawn + other.drawn,
            replaced_words=self.replaced_words + other.replaced_words,
            mostly_replaced=self.mostly_replaced + other.mostly_replaced,
        )


def settings_of(selection: Selection, terms: Terms, options: Options, account: str | None = None) -> str:
    """Returns a hash of what finished files depend on.

    Args:
        selection: What is rewritten.
        terms: What is promised.
        options: Options of the draws.
        account: The scope that a ledger charges; ``None`` without a ledger. A run that is charged does not go on with
            one that was not.
    """
    own = [sorted(set(options.get(name) or ())) for name in ("deny", "allow", "draw")]
    facts = [asdict(selection), asdict(terms), own, account]
    return hashlib.sha256(json.dumps(facts, default=_plain).encode()).hexdigest()


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else str(value)


class Record:
    """The record of an output folder, which is made if there is none.

    Args:
        folder: The folder.
        settings: Hash of the settings of this run.
        resume: Whether an earlier run is gone on with.

    Raises:
        ResumeError: The folder is not empty and the run is a new one, or the earlier run had other settings; or
            another run writes there.
        OutputError: The folder cannot be written to.
    """

    def __init__(self, folder: Path, settings: str, *, resume: bool) -> None:
        self._path, self._settings = folder / RECORD, settings
        self._finished: dict[str, dict[str, Any]] = {}
        self._torn = b""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder)
            self._begin(folder, resume)
        except OSError as error:
            raise OutputError(f"the output folder cannot be written: {os.strerror(error.errno or 0)}") from error

    def _begin(self, folder: Path, resume: bool) -> None:
        try:
            written = [name for _, _, names in os.walk(folder) for name in names]
            there = os.path.lexists(self._path)
            if there and (resume or written == [RECORD]):
                entries = self._entries()
                if resume:
                    self._go_on(entries)
                else:  # of a run that finished no file
                    self._path.unlink()
            elif written:
                raise ResumeError(
                    "the output folder has no record to go on with"
                    if resume
                    else "the output folder is not empty: name a new one, or a file (--resume goes on with a run)"
                )
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            self._descriptor = os.open(self._path, flags, 0o600)
            if not self._finished and not os.fstat(self._descriptor).st_size:
                self._append({"version": VERSION, "settings": self._settings})
        except BaseException:
            if self._lock is not None:
                os.close(self._lock)
            raise

    def finished(self, source: Source, target: Path) -> Counts | None:
        """Returns what was rewritten of a file that is finished, ``None`` for others.

        Raises:
            FileChanged: The file has changed since: rewriting it again would be a second release of what it has kept.
            ResumeError: In the place of its output there is something that the run did not write, or not so.
        """
        if not os.path.lexists(target):
            return None
        entry = self._finished.get(source.name)  # it is written before its output has its name
        if entry is None or source.path is None or not target.is_file() or target.stat().st_size != entry["bytes"]:
            raise ResumeError(
                f"{source.name}: its output is not as the run wrote it; remove that to have it drawn again"
            )
        if version_of(source.path.stat()) != entry["source"]:
            raise FileChanged(
                f"{source.name}: changed since its output was written; remove that to have it drawn again"
            )
        return Counts(**entry["counts"])

    def add(self, source: Source, status: os.stat_result, size: int, counts: Counts) -> None:
        """Adds a file whose output is about to be renamed into place, of so many bytes."""
        entry = {"file": source.name, "source": version_of(status), "bytes": size, "counts": asdict(counts)}
        self._append(entry)

    def finish(self, promised: dict[str, Any]) -> None:
        """Adds what the run promised."""
        self._append({"finished": promised})

    def close(self) -> None:
        """Leaves the file closed, and the folder to other runs."""
        os.close(self._descriptor)
        if self._lock is not None:
            os.close(self._lock)

    def _entries(self) -> list[dict[str, Any]]:
        """Reads the entries that were written to their end, and changes nothing.

        Raises:
            ResumeError: This is not a record of ours, or it is damaged.
        """
        damaged = ResumeError("the record of the output folder is damaged, or is not one")
        if self._path.is_symlink() or not self._path.is_file():
            raise damaged
        *lines, self._torn = self._path.read_bytes().split(b"\n")
        begin = lines[0] if lines else self._torn
        if begin[: len(_BEGIN)] != _BEGIN[: len(begin)]:
            raise damaged
        try:
            entries = [json.loads(line) for line in lines]
            self._finished = {entry["file"]: entry for entry in entries if "file" in entry}
        except (ValueError, KeyError, TypeError):
            raise damaged from None
        return entries

    def _go_on(self, entries: list[dict[str, Any]]) -> None:
        if entries and entries[0].get("settings") != self._settings:
            raise ResumeError("the output folder was begun with other options, or another bundle")
        if self._torn:  # a line that was not written to its end
            os.truncate(self._path, self._path.stat().st_size - len(self._torn))

    def _append(self, entry: dict[str, Any]) -> None:
        try:
            os.write(self._descriptor, json.dumps(entry, ensure_ascii=False).encode() + b"\n")
            os.fsync(self._descriptor)
        except OSError as error:
            raise OutputError(f"the record cannot be written: {os.strerror(error.errno or 0)}") from error


def _locked(folder: Path) -> int | None:
    """Returns what keeps other runs out of a folder while it is open; ``None`` where the system has no such locks.

    Raises:
        ResumeError: Another run has it.
    """
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise ResumeError("another run writes to the output folder: wait for its end, or name another") from None
    except OSError:  # no locks on this file system
        os.close(descriptor)
        return None
    return descriptor
