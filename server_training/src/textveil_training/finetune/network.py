"""Define the network for fine-tuning (encoder and linear head), and read and write its folder.

The folder contains ``finetuned.json``, the head, and the encoder if it was tuned.
"""

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from textveil_training.engine.checkpoint import WEIGHTS, CheckpointLayout, hash_weights
from textveil_training.engine.encoders import load_transformer, pool_mean
from textveil_training.errors import CheckpointError

DESCRIPTION = "finetuned.json"
HEAD = "head.safetensors"
ENCODER = "encoder"
LAYOUT = CheckpointLayout(
    format_name="textveil-finetuned", version=1, description=DESCRIPTION, encoder=ENCODER, noun="fine-tuned model"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinetunedDescription:
    """Content of ``finetuned.json``, which describes a fine-tuned model.

    Attributes:
        labels: Labels in the order of the outputs; empty if the output is a score.
        pairs: Whether a row has two texts.
        joined: Whether both texts of a pair go through the encoder in one sequence. Otherwise each has a vector, u and
            v, and the input of the head is ``[u, v, |u - v|, u * v]`` (Conneau et al. 2017).
        max_tokens: Number of tokens to which longer inputs are cut.
        lowercase: Whether the encoder is uncased.
        encoder: ``encoder`` if the folder has a tuned encoder; otherwise the source of the untuned encoder.
        encoder_sha256: SHA-256 of the encoder's weights.
        release: Mode, mechanism and epsilon of the sanitized training texts; ``None`` for raw texts.
    """

    labels: tuple[str, ...]
    pairs: bool
    joined: bool
    max_tokens: int
    lowercase: bool
    encoder: str
    encoder_sha256: str
    release: dict[str, Any] | None


class LinearHead(nn.Module):
    """Linear layer that computes logits, or a score, from features ``f``: ``shift + scale (W f + b)``.

    ``W`` are the weights and ``b`` the bias. If the encoder is fine-tuned for scores, ``shift`` is the mean and
    ``scale`` the standard deviation of the training targets. In all other cases they are 0 and 1.

    Args:
        width: Number of features.
        outputs: Number of classes, or 1 for a score.
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.out = nn.Linear(width, outputs)
        self.register_buffer("shift", torch.zeros(()))
        self.register_buffer("scale", torch.ones(()))

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits or scores, shape ``(rows, outputs)``, from features of shape ``(rows, width)``."""
        return self.shift + self.scale * self.out(features)


class FinetunedNetwork(nn.Module):
    """Network of an encoder, mean pooling, dropout and a linear head.

    Args:
        encoder: A BERT-like encoder.
        head: The head.
        dropout: Dropout probability of the mean encoder output in training.
    """

    def __init__(self, encoder: nn.Module, head: LinearHead, dropout: float = 0.0) -> None:
        super().__init__()
        self.encoder, self.head, self.dropout = encoder, head, nn.Dropout(dropout)

    def freeze(self, layers: int) -> set[str]:
        """Freeze the embeddings and the lowest encoder layers; with 0 layers freeze nothing.

        Args:
            layers: Number of layers to freeze.

        Returns:
            Names of the frozen parameters.
        """
        kept = ("encoder.embeddings.", *(f"encoder.encoder.layer.{number}." for number in range(layers)))
        frozen = {name for name, _ in self.named_parameters() if layers and name.startswith(kept)}
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name not in frozen)
        return frozen

    def pool(self, ids: Tensor, mask: Tensor, types: Tensor, precision: str = "float32") -> Tensor:
        """Compute the mean of the encoder's output vectors over the tokens of each row, shape ``(rows, width)``.

        Args:
            ids: WordPiece ids, shape ``(rows, tokens)``.
            mask: 1 for a WordPiece, 0 for padding, same shape.
            types: 0 for the first text of a pair, 1 for the second, same shape.
            precision: ``float32`` or ``bfloat16``.
        """
        return pool_mean(self.encoder, ids, mask, precision, types)

    def forward(self, pooled: Tensor) -> Tensor:
        """Compute logits or scores from pooled vectors (mean encoder outputs), or from the features of pairs."""
        return self.head(self.dropout(pooled))


def write_model(folder: Path, network: FinetunedNetwork, description: FinetunedDescription, vocabulary: Path) -> None:
    """Write the network to a folder, with its encoder if it was tuned.

    Args:
        folder: Folder of the model, created if necessary. An earlier model in it is replaced.
        network: The network.
        description: Description of the network; this function adds the hash of a tuned encoder.
        vocabulary: The encoder's ``vocab.txt``.

    Raises:
        OutputError: A file cannot be written.
        CheckpointError: The encoder's folder cannot be written.
    """
    tuned = description.encoder == ENCODER

    def content(files: Any) -> dict[str, Any]:
        changes = {"encoder_sha256": files[f"{ENCODER}/{WEIGHTS}"]} if tuned else {}
        return asdict(replace(description, **changes))

    encoder = (network.encoder, vocabulary) if tuned else None
    LAYOUT.write(folder, {HEAD: network.head.state_dict()}, encoder, content)


def read_model(folder: Path) -> tuple[FinetunedNetwork, FinetunedDescription, Path]:
    """Load a fine-tuned model from its folder.

    Returns:
        The network in evaluation mode, its description, and the encoder's vocabulary file.

    Raises:
        CheckpointError: The folder has no model, a file is missing or changed, the encoder has changed since training,
            or the tensors have another architecture.
    """
    description = _read_description(folder)
    source = str(folder / ENCODER) if description.encoder == ENCODER else description.encoder
    encoder, vocabulary, _ = load_transformer(source, 0.0)
    if hash_weights(vocabulary) != description.encoder_sha256:
        raise CheckpointError("the encoder is not the one of the fine-tuned model: restore it, or fine-tune again")
    width = int(encoder.config.hidden_size)  # type: ignore[union-attr]
    with LAYOUT.check_architecture():
        tensors = load_file(folder / HEAD)
        outputs, features = tensors["out.weight"].shape
        if outputs != max(1, len(description.labels)) or features not in (width, 4 * width):
            raise ValueError("the numbers of labels or features do not match")
        head = LinearHead(features, outputs)
        head.load_state_dict(tensors)
    return FinetunedNetwork(encoder, head).eval(), description, vocabulary


def _read_description(folder: Path) -> FinetunedDescription:
    def list_files(content: dict[str, Any]) -> set[str]:
        return {HEAD} | ({f"{ENCODER}/{WEIGHTS}"} if content["encoder"] == ENCODER else set())

    content = LAYOUT.read(folder, [field.name for field in fields(FinetunedDescription)], list_files)
    content["labels"] = tuple(content["labels"])
    return FinetunedDescription(**content)
