"""Tensor files that appear whole or not at all, and hashes of files."""

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from textveil.errors import OutputError

if TYPE_CHECKING:  # the hash is for those too who do without PyTorch
    from torch import Tensor


def write_tensors(path: Path, tensors: "dict[str, Tensor]", header: dict[str, str] | None = None) -> None:
    """Writes a safetensors file that appears whole or not at all.

    Raises:
        OutputError: The folder or the disk does not let it be written.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(descriptor)
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, temporary, header)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except (OSError, SafetensorError) as error:
        raise OutputError(f"{path.name} cannot be written") from error
    finally:
        if temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def sha256(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
