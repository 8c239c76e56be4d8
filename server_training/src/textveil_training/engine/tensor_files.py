"""Tensor files that appear whole or not at all, and hashes of files."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from textveil.bundle import atomic_bytes

if TYPE_CHECKING:  # the hash is for those too who do without PyTorch
    from torch import Tensor


def write_tensors(path: Path, tensors: "dict[str, Tensor]", header: dict[str, str] | None = None) -> None:
    """Writes a safetensors file that appears whole or not at all.

    Raises:
        OutputError: The folder or the disk does not let it be written.
    """
    from safetensors.torch import save

    with atomic_bytes(path) as file:
        file.write(save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, header))


def sha256(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
