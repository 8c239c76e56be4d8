"""Define a BERT encoder with a masked-language-model head that shares the input embeddings.

The head is BERT's (Devlin et al. 2019): ``logits(h) = E LayerNorm(GELU(W h + b)) + c`` with the encoder's own word
embeddings E. Here h is the encoder's output for a token, and W, b and c are learned. Sentence encoders such as MiniLM
have no head. A new head then starts with W as the identity, and must be trained before its predictions are useful.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from textveil.storage import open_atomic_bytes, open_atomic_text
from torch import Tensor, nn
from torch.nn import functional

from textveil_training.engine.checkpoint import write_tensors
from textveil_training.engine.encoders import load_transformer, locate_encoder
from textveil_training.errors import CheckpointError

WEIGHTS = "model.safetensors"
VOCABULARY = "vocab.txt"
_HEAD = "cls.predictions."


class MaskedLM(nn.Module):
    """BERT encoder with a language-model head that shares the weights of the input embeddings.

    Args:
        network: ``BertForMaskedLM`` of transformers; its modules are used directly, not copied.
    """

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.config = network.config
        self.encoder = network.bert
        self.transform = network.cls.predictions.transform
        self.bias = network.cls.predictions.bias

    def compute_hidden(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Compute the last hidden states of texts.

        Args:
            ids: WordPiece ids, shape ``(n, t)``.
            mask: 1 for a WordPiece, 0 for padding, shape ``(n, t)``.

        Returns:
            Hidden states, shape ``(n, t, width)``.
        """
        return self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state

    def compute_logits(self, hidden: Tensor) -> Tensor:
        """Compute the logits of the vocabulary from hidden states at selected positions.

        Args:
            hidden: Hidden states, shape ``(m, width)``.

        Returns:
            Logits, shape ``(m, vocabulary)``.
        """
        return functional.linear(self.transform(hidden), self.encoder.embeddings.word_embeddings.weight, self.bias)

    def forward(self, ids: Tensor, mask: Tensor, at: Tensor) -> Tensor:
        """Compute the logits at selected positions of texts.

        Args:
            ids: WordPiece ids, shape ``(n, t)``.
            mask: 1 for a WordPiece, 0 for padding, shape ``(n, t)``.
            at: True at the selected positions, shape ``(n, t)``.

        Returns:
            Logits, shape ``(at.sum(), vocabulary)``, in row order.
        """
        return self.compute_logits(self.compute_hidden(ids, mask)[at])


@dataclass(frozen=True, kw_only=True)
class LoadedMaskedLM:
    """A masked language model with its vocabulary.

    Attributes:
        model: The networks, in evaluation mode.
        vocabulary: Path of the model's ``vocab.txt``.
        lowercase: Whether the model is uncased.
        new_head: Whether the source has no masked-language-model head, so that an untrained one was created.
    """

    model: MaskedLM
    vocabulary: Path
    lowercase: bool
    new_head: bool


def load_masked_lm(source: str, dropout: float = 0.0) -> LoadedMaskedLM:
    """Load a masked language model, or build one from an encoder.

    Args:
        source: ``minilm``, a folder (of ``pretrain``, or of transformers), or the id of a model on Hugging Face.
        dropout: Dropout probability of hidden states and attention in training.

    Raises:
        CheckpointError: The model cannot be loaded, is not a BERT model, has no WordPiece vocabulary, or has a head
            that does not share the weights of the input embeddings.
    """
    from transformers import BertForMaskedLM

    encoder, vocabulary, lowercase = load_transformer(source, dropout)
    config: Any = encoder.config
    if getattr(config, "model_type", None) != "bert":
        raise CheckpointError(
            "only encoders of BERT's architecture are supported as masked language models: pass another with --start"
        )
    if not getattr(config, "tie_word_embeddings", True):
        raise CheckpointError(
            "the output layer of the masked language model does not share its weights with the input embeddings: "
            "pass another model"
        )
    location = locate_encoder(source)
    try:
        loaded: Any = BertForMaskedLM.from_pretrained(
            location,
            local_files_only=Path(location).is_dir(),
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            use_safetensors=True,  # never a pickle
            output_loading_info=True,
        )
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(
            "the weights do not match BERT's architecture: restore the folder, or pass another model"
        ) from error
    network, found = loaded
    missing = {name for name in found["missing_keys"] if not name.startswith(f"{_HEAD}decoder.")}
    new_head = any(name.startswith(_HEAD) for name in missing)
    if found["mismatched_keys"] or any(not name.startswith(_HEAD) for name in missing):
        raise CheckpointError("the weights do not match BERT's architecture: restore the folder, or pass another model")
    model = MaskedLM(network)
    if new_head:
        _initialize_head(model)
    return LoadedMaskedLM(model=model.eval(), vocabulary=vocabulary, lowercase=lowercase, new_head=new_head)


def _initialize_head(model: MaskedLM) -> None:
    """Set the first layer of a new head (the layers that predict words) to the identity.

    The first logits are then inner products of embeddings and rectified hidden states.
    """
    with torch.no_grad():
        nn.init.eye_(model.transform.dense.weight)
        for zero in (model.transform.dense.bias, model.transform.LayerNorm.bias, model.bias):
            nn.init.zeros_(zero)
        nn.init.ones_(model.transform.LayerNorm.weight)


def write_masked_lm(folder: Path, model: MaskedLM, vocabulary: Path, *, lowercase: bool) -> None:
    """Write a model to a folder that transformers' ``BertForMaskedLM`` can load, the weights last.

    Args:
        folder: An existing folder.
        model: The networks.
        vocabulary: Path of the model's ``vocab.txt``.
        lowercase: Whether the model is uncased.

    Raises:
        OutputError: A file cannot be written.
    """
    config = model.config.to_diff_dict() | {"architectures": ["BertForMaskedLM"]}
    config.pop("_name_or_path", None)
    for name, content in {
        "config.json": config,
        "tokenizer_config.json": {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": lowercase,
            "model_max_length": model.config.max_position_embeddings,
        },
    }.items():
        with open_atomic_text(folder / name) as write:
            write(json.dumps(content, indent=2) + "\n")
    with open_atomic_bytes(folder / VOCABULARY) as file:
        file.write(vocabulary.read_bytes())
    tensors = {f"bert.{name}": tensor for name, tensor in model.encoder.state_dict().items()}
    tensors |= {f"{_HEAD}transform.{name}": tensor for name, tensor in model.transform.state_dict().items()}
    write_tensors(folder / WEIGHTS, tensors | {f"{_HEAD}bias": model.bias}, {"format": "pt"})
