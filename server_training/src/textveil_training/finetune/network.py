"""The network of a fine-tuning, and the folder it is kept in.

``finetuned.json`` names the format, what the network decides, and the SHA-256 of every other file; it is written last
and taken away first, so that a folder with it is whole.
"""

import json
import shutil
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from textveil.bundle import atomic_output
from torch import Tensor, nn

from textveil_training.engine.encoders import load_encoder
from textveil_training.engine.tensor_files import sha256, write_tensors
from textveil_training.errors import CheckpointError

FORMAT = "textveil-finetuned"
VERSION = 1
DESCRIPTION = "finetuned.json"
HEAD = "head.safetensors"
ENCODER = "encoder"


@dataclass(frozen=True, slots=True)
class Description:
    """What a fine-tuned model is.

    Attributes:
        labels: In the order of the outputs; empty where the output is a score.
        pairs: Whether it reads two texts.
        joined: Whether both texts of a pair go through the encoder in one sequence. Otherwise each has a vector, u and
            v, and the head reads ``[u, v, |u - v|, u * v]`` (Conneau et al. 2017).
        max_tokens: Longer inputs are cut.
        lowercase: Whether the encoder is uncased.
        encoder: ``encoder`` for the folder's own, else where the encoder that was not tuned came from.
        encoder_sha256: Of its weights.
        law: Terms of the law that its training texts went through; None for raw text.
    """

    labels: tuple[str, ...]
    pairs: bool
    joined: bool
    max_tokens: int
    lowercase: bool
    encoder: str
    encoder_sha256: str
    law: dict[str, Any] | None


class Head(nn.Module):
    """``shift + scale (W f + b)``: logits, or a score, from features f.

    Args:
        width: Of the features.
        outputs: Classes, or 1 for a score.
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.out = nn.Linear(width, outputs)
        self.register_buffer("shift", torch.zeros(()))
        self.register_buffer("scale", torch.ones(()))

    def forward(self, features: Tensor) -> Tensor:
        """Shape ``(rows, width)`` to ``(rows, outputs)``."""
        return self.shift + self.scale * self.out(features)


class Network(nn.Module):
    """Encoder, mean pooling, dropout and head.

    Args:
        encoder: A BERT-like encoder.
        head: The head.
        dropout: Of the pooled vector in training.
    """

    def __init__(self, encoder: nn.Module, head: Head, dropout: float = 0.0) -> None:
        super().__init__()
        self.encoder, self.head, self.dropout = encoder, head, nn.Dropout(dropout)

    def pooled(self, ids: Tensor, mask: Tensor, types: Tensor, precision: str = "float32") -> Tensor:
        """Mean of the last hidden states over all attended tokens: ``(rows, width)``."""
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            hidden = self.encoder(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        weights = mask[..., None].to(torch.float32)
        return (hidden.float() * weights).sum(1) / weights.sum(1)

    def forward(self, pooled: Tensor) -> Tensor:
        """Logits or scores from pooled vectors, or from the features of a pair."""
        return self.head(self.dropout(pooled))


def write_model(folder: Path, network: Network, description: Description, vocabulary: Path) -> Description:
    """Writes the network; the encoder with it if it was tuned.

    Args:
        folder: Made if it is not there; an earlier model in it is replaced.
        network: The network.
        description: What it is; the hash of a tuned encoder is filled in.
        vocabulary: The encoder's ``vocab.txt``.

    Returns:
        The description as written.

    Raises:
        OutputError: A file cannot be written.
        CheckpointError: The encoder's folder cannot be written.
    """
    tuned = description.encoder == ENCODER
    partial = folder / f".{ENCODER}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DESCRIPTION).unlink(missing_ok=True)
        if tuned:
            shutil.rmtree(partial, ignore_errors=True)
            network.encoder.save_pretrained(partial)  # type: ignore[operator]
            shutil.copyfile(vocabulary, partial / "vocab.txt")
            for path in partial.iterdir():
                path.chmod(0o644)
            shutil.rmtree(folder / ENCODER, ignore_errors=True)
            partial.rename(folder / ENCODER)
    except OSError as error:
        raise CheckpointError("the model's folder cannot be written") from error
    write_tensors(folder / HEAD, network.head.state_dict())
    inside = sorted((folder / ENCODER).iterdir()) if tuned else []
    files = {HEAD: sha256(folder / HEAD)} | {f"{ENCODER}/{path.name}": sha256(path) for path in inside}
    content = asdict(description)
    if tuned:
        content["encoder_sha256"] = files[f"{ENCODER}/model.safetensors"]
    whole = {"format": FORMAT, "format_version": VERSION, **content, "files": files}
    with atomic_output(folder / DESCRIPTION) as write:
        write(json.dumps(whole, indent=2) + "\n")
    return Description(**content)


def read_model(folder: Path) -> tuple[Network, Description, Path]:
    """Opens a fine-tuned model.

    Returns:
        The network in evaluation mode, its description, and the encoder's vocabulary file.

    Raises:
        CheckpointError: There is none, a file is missing or altered, the encoder it was made with is another one now,
            or its tensors have another architecture.
    """
    description = _description(folder)
    source = str(folder / ENCODER) if description.encoder == ENCODER else description.encoder
    encoder, vocabulary, _ = load_encoder(source, 0.0)
    if weights_sha256(vocabulary) != description.encoder_sha256:
        raise CheckpointError("the encoder is not the one the model was made with")
    try:
        tensors = load_file(folder / HEAD)
        outputs, width = tensors["out.weight"].shape
        head = Head(width, outputs)
        head.load_state_dict(tensors)
    except (OSError, SafetensorError, KeyError, RuntimeError, ValueError) as error:
        raise CheckpointError("the model's tensors have another architecture") from error
    if outputs != max(1, len(description.labels)) or width not in _widths(encoder):
        raise CheckpointError("the model's tensors have another architecture")
    return Network(encoder, head).eval(), description, vocabulary


def weights_sha256(vocabulary: Path) -> str:
    """Of the weights that lie beside a vocabulary file; of the vocabulary where they are called otherwise."""
    weights = vocabulary.with_name("model.safetensors")
    return sha256(weights if weights.is_file() else vocabulary)


def _widths(encoder: nn.Module) -> tuple[int, int]:
    width = int(encoder.config.hidden_size)  # type: ignore[union-attr]
    return width, 4 * width


def _description(folder: Path) -> Description:
    try:
        content = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError("there is no fine-tuned model in that folder") from error
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise CheckpointError("that folder is no fine-tuned model")
    if content.pop("format_version", None) != VERSION:
        raise CheckpointError("the model was written in another version of the format")
    files = content.pop("files", None)
    if not isinstance(files, dict) or set(content) != {field.name for field in fields(Description)}:
        raise CheckpointError("the model's description has other keys")
    wanted = {HEAD} | ({f"{ENCODER}/model.safetensors"} if content["encoder"] == ENCODER else set())
    for name in sorted(wanted | set(files)):
        path = folder / name
        if ".." in Path(name).parts or Path(name).is_absolute() or not path.is_file():
            raise CheckpointError("a file of the model is missing")
        if sha256(path) != files.get(name):
            raise CheckpointError("a file of the model is altered")
    content["labels"] = tuple(content["labels"])
    return Description(**content)
