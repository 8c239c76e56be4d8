"""Read and write a checkpoint (folder of a trained model): tensors, encoder, and a JSON file with file hashes.

The JSON file, the *description*, is written last, and an old one is removed first. So a folder with a description is
complete.
"""

import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import save
from textveil.storage import open_atomic_bytes, open_atomic_folder, open_atomic_text
from torch import Tensor, nn

from textveil_training.errors import CheckpointError
from textveil_training.file_hashes import hash_file


def write_tensors(path: Path, tensors: dict[str, Tensor], header: dict[str, str] | None = None) -> None:
    """Write a safetensors file atomically: the whole file, or nothing.

    Args:
        path: Target file.
        tensors: Tensors by name.
        header: Metadata of the file.

    Raises:
        OutputError: The file cannot be written to this folder or disk.
    """
    with open_atomic_bytes(path) as file:
        file.write(save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, header))


WEIGHTS = "model.safetensors"
VOCABULARY = "vocab.txt"


@dataclass(frozen=True, kw_only=True)
class CheckpointLayout:
    """File names and format version of one kind of checkpoint (folder of a trained model).

    Attributes:
        format_name: Name of the format in the description.
        version: Version of the format.
        description: Name of the description, a JSON file.
        encoder: Name of the encoder's folder.
        noun: Name of this kind of checkpoint in error messages.
    """

    format_name: str
    version: int
    description: str
    encoder: str
    noun: str

    def write(
        self,
        folder: Path,
        tensors: Mapping[str, dict[str, Tensor]],
        encoder: tuple[nn.Module, Path] | None,
        describe: Callable[[Mapping[str, str]], dict[str, Any]],
    ) -> None:
        """Write a checkpoint (trained model) to a folder, and replace an earlier checkpoint of the same kind in it.

        Args:
            folder: The folder, created if necessary.
            tensors: Tensors by file name.
            encoder: Encoder and its ``vocab.txt``; ``None`` if the checkpoint has no encoder.
            describe: Function that receives the SHA-256 of every file and returns the other entries of the description.

        Raises:
            OutputError: A tensor file, the encoder's folder or the description cannot be written.
            CheckpointError: The folder cannot be made, or an earlier description cannot be removed.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / self.description).unlink(missing_ok=True)
            if encoder is not None:
                self._write_encoder(folder, *encoder)
        except OSError as error:
            raise CheckpointError(
                f"the folder of the {self.noun} cannot be written: check its path and its permissions"
            ) from error
        for name, content in tensors.items():
            write_tensors(folder / name, content)
        inside = [] if encoder is None else sorted((folder / self.encoder).iterdir())
        names = [*(f"{self.encoder}/{path.name}" for path in inside), *tensors]
        files = {name: hash_file(folder / name) for name in names}
        content = {
            "format": self.format_name,
            "format_version": self.version,
            **describe(files),
            "files": files,
        }
        with open_atomic_text(folder / self.description) as write:
            write(json.dumps(content, indent=2) + "\n")

    def _write_encoder(self, folder: Path, encoder: nn.Module, vocabulary: Path) -> None:
        with open_atomic_folder(folder / self.encoder, replace=True) as unfinished:
            encoder.save_pretrained(unfinished)  # type: ignore[operator]
            shutil.copyfile(vocabulary, unfinished / VOCABULARY)
            for path in unfinished.iterdir():
                path.chmod(0o644)

    def read(
        self, folder: Path, keys: Collection[str], required: Callable[[dict[str, Any]], Collection[str]]
    ) -> dict[str, Any]:
        """Read the description of a checkpoint (folder of a trained model), and check the hashes of all its files.

        Args:
            folder: The folder.
            keys: Keys that the description must have besides those of the format.
            required: Function that returns, for a description, the names of the files that the folder must have.

        Returns:
            The entries of the description whose names are in ``keys``.

        Raises:
            CheckpointError: The folder is not a checkpoint of this kind and version, or a file is missing or changed.
        """
        try:
            content = json.loads((folder / self.description).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CheckpointError(f"the folder has no {self.noun}: pass the output folder of its training") from error
        if not isinstance(content, dict) or content.pop("format", None) != self.format_name:
            raise CheckpointError(f"the folder is not a {self.noun}: pass the output folder of its training")
        if content.pop("format_version", None) != self.version:
            raise CheckpointError(f"the {self.noun} has another format version: train it again")
        files = content.pop("files", None)
        if not isinstance(files, dict) or set(content) != set(keys):
            raise CheckpointError(f"the description of the {self.noun} has unexpected keys: it is damaged, train again")
        for name in sorted({*required(content), *files}):
            path = folder / name
            if ".." in Path(name).parts or Path(name).is_absolute() or not path.is_file():
                raise CheckpointError(f"a file of the {self.noun} is missing: restore it, or train again")
            if hash_file(path) != files.get(name):
                raise CheckpointError(f"a file of the {self.noun} is altered: restore it, or train again")
        return content

    @contextmanager
    def check_architecture(self) -> Iterator[None]:
        """Convert errors of a ``with`` block that loads tensors into networks to ``CheckpointError``.

        Raises:
            CheckpointError: A tensor file cannot be read, or its tensors are of another architecture.
        """
        try:
            yield
        except (OSError, SafetensorError, KeyError, RuntimeError, ValueError) as error:
            raise CheckpointError(
                f"the tensors of the {self.noun} do not match its description: it is damaged, train again"
            ) from error


def hash_weights(vocabulary: Path) -> str:
    """Return the SHA-256 of the weights file in the folder of a vocabulary file.

    Without a weights file in that folder, return the SHA-256 of the vocabulary file.
    """
    weights = vocabulary.with_name(WEIGHTS)
    return hash_file(weights if weights.is_file() else vocabulary)
