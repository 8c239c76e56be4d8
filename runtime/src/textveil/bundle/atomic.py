"""The only writer of files and folders: each appears whole or not at all.

Everything is written beside its place, without a name where the system can do that and else under a temporary one,
flushed to the disk, and renamed. What a killed process left is removed when the same user writes there again.
"""

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

from textveil.bundle.exchange import exchange
from textveil.bundle.kept import refuse_kept
from textveil.bundle.leftovers import (
    aside_name,
    claim,
    keep_claim,
    name_file,
    named_file,
    named_folder,
    remove_leftovers,
    temporary_name,
    unnamed_file,
)
from textveil.errors import OutputError

#: Windows flushes only what is open for writing, and changes line ends unless it is told not to.
_FLUSHED = os.O_RDWR | getattr(os, "O_BINARY", 0) if sys.platform == "win32" else os.O_RDONLY


@contextmanager
def atomic_output(path: Path, *, private: bool = False) -> Iterator[Callable[[str], None]]:
    """Opens a text file for writing, as ``atomic_bytes``.

    Args:
        path: The file.
        private: Whether nobody but its owner may read it, whatever was there before.

    Yields:
        A function that writes text as UTF-8.

    Raises:
        OutputError: The folder or the disk does not let the file be written.
    """
    with atomic_bytes(path, private=private) as file:
        yield lambda text: _write(file, text)


@contextmanager
def atomic_bytes(
    path: Path, *, private: bool = False, over_a_key: bool = False, replace: bool = True
) -> Iterator[BinaryIO]:
    """Opens a file for writing by way of a temporary file beside it, flushed to the disk and renamed at the end.

    An existing file is replaced and keeps its permissions; a link is followed. On any error the temporary file is
    removed and ``path`` is as it was. A device or a pipe cannot be replaced: it is written to as it is. A private file
    has its name for good when this returns, even if the power fails. A ledger or a key is never replaced.

    Args:
        path: The file.
        private: Whether nobody but its owner may read it, whatever was there before.
        over_a_key: Whether it may be that of a key: of a new key alone.
        replace: Whether to replace what is there; otherwise that stays, and nothing is written.

    Yields:
        The file, open for writing bytes.

    Raises:
        OutputError: The folder or the disk does not let the file be written, or a ledger or a key is there.
    """
    temporary = claimed = None
    try:
        if path.exists() and not path.is_file():  # before links are followed: a pipe's own name is not a path
            with path.open("wb", buffering=0) as device:
                yield device  # type: ignore[misc]
            return
        if not over_a_key:
            refuse_kept(path)
        path = Path(os.path.realpath(path))
        remove_leftovers(path)
        descriptor, temporary = _open_temporary(path)
        claimed = keep_claim(descriptor)
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            if not private and hasattr(os, "fchmod"):  # a temporary file is its owner's alone
                os.fchmod(descriptor, path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask())
            os.fsync(descriptor)
            if temporary is None:
                temporary = temporary_name(path)
                name_file(descriptor, temporary)
        if replace:
            os.replace(temporary, path)
        else:
            with suppress(FileExistsError):
                os.link(temporary, path)
        if private:  # what is of no use without it may be written as soon as this returns
            _flush(path.parent)
    except OSError as error:
        raise OutputError(_unwritten(path, error)) from error
    finally:
        _let_go(temporary, claimed)


def _unwritten(path: Path, error: OSError) -> str:
    """Why a path cannot be written, named by its last part."""
    gone = error.errno == errno.ENOENT and not path.parent.exists()
    why = "its folder does not exist: make it first" if gone else os.strerror(error.errno or 0)
    why = "it is a folder: name a file in it" if path.is_dir() else why
    return f"{path.name or str(path)!r} cannot be written: {why}"


def _open_temporary(path: Path) -> tuple[int, Path | None]:
    """Opens a temporary file for its owner alone, claimed; it has no name where the system can do that."""
    descriptor = unnamed_file(path.parent)
    if descriptor is None:
        return named_file(path)
    claim(descriptor)
    return descriptor, None


def _let_go(temporary: Path | None, claimed: int | None) -> None:
    """Removes what has not got its place."""
    if temporary is not None:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
    if claimed is not None:
        os.close(claimed)


@contextmanager
def atomic_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Makes a folder by way of a temporary one beside it: every file flushed to the disk, then one rename.

    Where there is a folder already and it is to be replaced, the two change places in one step. Where the system
    cannot do that (it is Linux's), the old one steps aside under a temporary name first and is put back if the rename
    fails: an error never leaves nothing there, but between two renames there is nothing, also after a loss of power.

    Args:
        path: The folder to be made. Its parent must exist.
        replace: Whether a folder that is there is to be replaced; otherwise it is an error.

    Yields:
        The temporary folder, to be filled.

    Raises:
        OutputError: The folder is there and must not be replaced, or the disk does not let it be written.
    """
    try:
        _refuse(path, replace)
        path = Path(os.path.realpath(path))
        remove_leftovers(path)
        claimed, temporary = named_folder(path)
        try:
            yield temporary
            _flush_tree(temporary)
            os.chmod(temporary, 0o777 & ~_umask())
            _refuse(path, replace)  # it may have come since
            _take_the_place(temporary, path, replace)
            _flush(path.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            if claimed is not None:
                os.close(claimed)
    except OSError as error:
        raise OutputError(_unwritten(path, error)) from error


def _refuse(path: Path, replace: bool) -> None:
    if path.exists() and not (replace and path.is_dir()):
        raise OutputError("the output folder is there already")
    for place, _, names in os.walk(path):
        for name in names:
            refuse_kept(Path(place, name), "in the folder that is replaced")


def _take_the_place(temporary: Path, path: Path, replace: bool) -> None:
    """Renames a finished folder into its place; what stood there is removed last."""
    if not path.exists():
        try:
            os.rename(temporary, path)
            return
        except OSError:
            if not (replace and path.is_dir()):  # another writer's may have come since
                raise
    if exchange(temporary, path):
        return  # the old one has the temporary name, and is removed under it
    aside = aside_name(path)
    os.rename(path, aside)
    try:
        os.rename(temporary, path)
    except BaseException:
        os.rename(aside, path)  # a folder that cannot be put back stays there
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _flush_tree(folder: Path) -> None:
    for place, _, names in os.walk(folder):
        for name in names:
            _flush(Path(place, name))
        _flush(Path(place))


def _flush(path: Path) -> None:
    with suppress(OSError) if path.is_dir() else nullcontext():  # not every file system lets a folder be flushed
        descriptor = os.open(path, _FLUSHED)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write(file: BinaryIO, text: str) -> None:
    file.write(text.encode("utf-8"))


def _umask() -> int:
    mask = os.umask(0o077)  # it can only be read by setting it: what another thread makes meanwhile is too private
    os.umask(mask)
    return mask
