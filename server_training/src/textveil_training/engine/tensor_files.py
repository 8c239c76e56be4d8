"""Tensor files that appear whole or not at all."""

from pathlib import Path

from safetensors.torch import save
from textveil.bundle import atomic_bytes
from torch import Tensor


def write_tensors(path: Path, tensors: dict[str, Tensor], header: dict[str, str] | None = None) -> None:
    """Writes a safetensors file that appears whole or not at all.

    Raises:
        OutputError: The folder or the disk does not let it be written.
    """
    with atomic_bytes(path) as file:
        file.write(save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, header))
