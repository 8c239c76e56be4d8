"""A text file that appears whole or not at all."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from textveil.errors import OutputError


@contextmanager
def atomic_output(path: Path) -> Iterator[Callable[[str], None]]:
    """Opens ``path`` for writing by way of a temporary file beside it, flushed to the disk and renamed at the end.

    An existing file is replaced and keeps its permissions; a link is followed. On any error the temporary file is
    removed and ``path`` is as it was. A device or a pipe cannot be replaced: it is written to as it is.

    Yields:
        A function that writes text as UTF-8.

    Raises:
        OutputError: The folder or the disk does not let the file be written.
    """
    temporary = None
    try:
        if path.exists() and not path.is_file():  # before links are followed: a pipe's own name is no path
            with path.open("wb", buffering=0) as device:
                yield lambda text: _write(device, text)
            return
        path = Path(os.path.realpath(path))
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with open(descriptor, "wb") as file:
            yield lambda text: _write(file, text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise OutputError(f"the output file cannot be written: {os.strerror(error.errno or 0)}") from error
    finally:
        if temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def _write(file: "os.PathLike[bytes] | object", text: str) -> None:
    file.write(text.encode("utf-8"))  # type: ignore[attr-defined]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
