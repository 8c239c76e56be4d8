"""What no output may replace: ledgers and keys, whatever else a command reads or keeps, and its other outputs.

Two paths are one file if they lead to one: by links of both kinds, in folders that ignore case, and also while the file
is yet to be made.
"""

import os
import stat
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from textveil.errors import OutputError
from textveil.lazy import called

#: "TVLG", in the header of a ledger.
LEDGER_ID = 0x54564C47
#: A key file has so many random bytes, and nothing else.
KEY_BYTES = 32
#: What follows the name of a ledger: in the name of its key, and of files that SQLite makes beside it.
_KEY, _BESIDE = ".key", ("-journal", "-wal", "-shm")

#: Something that a command reads, keeps or writes: what errors call it, and where it is.
Named = tuple[str, str | Path | None]


def key_of(ledger: Path) -> Path:
    """Returns where the key of a ledger is if no other place is named."""
    return ledger.with_name(ledger.name + _KEY)


def beside(ledger: Path) -> list[Path]:
    """Returns the files that SQLite makes beside a ledger."""
    real = Path(os.path.realpath(ledger))
    return [real.with_name(real.name + end) for end in _BESIDE]


def refuse_kept(path: Path, name: str = "the output") -> None:
    """Raises ``OutputError`` if a file that is to be written is a ledger, one of its own files, or a key.

    Args:
        path: The file; it need not be there.
        name: What errors call it.
    """
    path = Path(os.path.realpath(path))
    if _is_ledger(path):
        raise OutputError(f"{name}: a ledger is there; nothing was written")
    for end in (_KEY, *_BESIDE):
        if path.name.lower().endswith(end) and _is_ledger(path.with_name(path.name[: -len(end)])):
            raise OutputError(f"{name}: this is the key or the journal of a ledger; nothing was written")
    if _is_key(path):
        raise OutputError(f"{name}: a key file is there, or another file of 32 random bytes; nothing was written")


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What a command reads or keeps.

    Attributes:
        inputs: What it reads; ``-`` is standard input.
        keys: Its keys, by option. No two may be one file, nor be a file of the ledger.
        ledger: Its ledger. The ledger's key and journal stay too.
        ledger_key: The ledger's key, where it is not beside it.
        bundle: The folder of its bundle. Nothing may be written into it.
    """

    inputs: Sequence[str | Path] = ()
    keys: Sequence[Named] = ()
    ledger: Path | None = None
    ledger_key: Path | None = None
    bundle: Path | None = None

    def refuse(self, *written: Named) -> None:
        """Raises ``OutputError`` if a file that is to be written must stay, or is another one of them.

        Args:
            written: What is to be written, by option; ``None`` is left out. No ledger and no key may be there.
        """
        seen = {_place_of_input(path): "an input" for path in self.inputs}
        for role, path in (*_files_of(self.ledger, self.ledger_key), *self.keys, *written):
            if path is not None:
                place = place_of(path)
                if _is_sink(path):
                    continue  # what goes to /dev/null is not written over
                if place in seen:
                    name = called(path) and f" ({called(path)})"
                    raise OutputError(f"{role} is also {seen[place]}{name}: name another file; nothing was written")
                seen[place] = role
        for role, path in written:
            if path is not None:
                refuse_kept(Path(path), role)
                if self.bundle is not None and lies_in(path, self.bundle):
                    raise OutputError(f"{role} is in the folder of the bundle; nothing was written")


def place_of(path: str | Path) -> object:
    """Returns what two paths share only if they lead to one file; names that differ in case alone may be one."""
    real = os.path.realpath(path)
    with suppress(OSError, ValueError):
        found = os.stat(real)
        return (found.st_dev, found.st_ino) if _has_content(found) else real
    folder, name = os.path.split(real)
    with suppress(OSError, ValueError):
        found = os.stat(folder)
        return found.st_dev, found.st_ino, unicodedata.normalize("NFC", name).casefold()
    return real


def lies_in(path: str | Path, folder: str | Path) -> bool:
    """Tells whether a file, or where it is to be made, is in a folder or below it, or is the folder."""
    real = Path(os.path.realpath(path))
    with suppress(OSError, ValueError):
        wanted = os.stat(folder)
        for above in (real, *real.parents):
            with suppress(OSError, ValueError):  # what is not there is not the folder
                if os.path.samestat(os.stat(above), wanted):
                    return True
    return False


def _files_of(ledger: Path | None, key: Path | None) -> Iterator[Named]:
    """The files of a ledger, those too that are yet to be made."""
    if ledger is None:
        return
    yield "--ledger", ledger
    yield ("the key of the ledger", key_of(Path(os.path.realpath(ledger)))) if key is None else ("--ledger-key", key)
    for path in beside(ledger):
        yield "the journal of the ledger", path


def _place_of_input(path: str | Path) -> object:
    with suppress(OSError, ValueError, AttributeError):  # what is not there, or closed, is not the output
        found = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
        if stat.S_ISREG(found.st_mode):
            return found.st_dev, found.st_ino
    return None


def _is_sink(path: str | Path) -> bool:
    """Tells whether what is written there is thrown away."""
    with suppress(OSError, ValueError):
        return os.path.samefile(path, os.devnull)
    return False


def _has_content(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)


def _is_ledger(path: Path) -> bool:
    """Tells whether a file has the header of a ledger: one of SQLite, with our number in it."""
    begin = _begin_of(path, 72)
    return begin.startswith(b"SQLite format 3\0") and begin[68:72] == LEDGER_ID.to_bytes(4, "big")


def _is_key(path: Path) -> bool:
    """Tells whether a file looks like a key. Random bytes are UTF-8 once in a hundred million; texts always are."""
    begin = _begin_of(path, KEY_BYTES + 1)
    if len(begin) != KEY_BYTES:
        return False
    try:
        begin.decode()
    except UnicodeDecodeError:
        return True
    return False


def _begin_of(path: Path, size: int) -> bytes:
    """The first bytes of a plain file; none of anything else."""
    with suppress(OSError, ValueError):
        if stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "rb") as file:
                return file.read(size)
    return b""
