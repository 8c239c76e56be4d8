"""Read the checkpoint of a trained encoder without pickle, and reduce its vocabulary.

Privacy:
    The list of WordPieces is a part of the bundle (folder with the model) and can be read by anybody. Select pieces by
    public text only, never by private texts or private training data.
"""

import copy
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from textveil.bundle import make_unique_dict
from textveil.vector import WordPiece
from transformers import BertConfig, BertModel

from textveil_export.errors import EncoderCheckpointError, ExportError, SourceError

FORMAT, FORMAT_VERSION = "textveil-checkpoint", 1
CHECKPOINT, HEAD, CLASSIFIER, RECORD = "checkpoint.json", "head.safetensors", "classifier.safetensors", "record.json"
CONFIG, WEIGHTS, VOCABULARY = "extractor/config.json", "extractor/model.safetensors", "extractor/vocab.txt"
MODES = ("l1", "l2", "box")
#: Special WordPieces. The tokenizer never produces them from a text, and ``keep_pieces`` never removes them.
SPECIAL_PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

_KEYS = {
    "format",
    "format_version",
    "mode",
    "dimension",
    "head_hidden",
    "pooling",
    "max_tokens",
    "labels",
    "lowercase",
    "levels",
    "delta",
    "word_dropout",
    "files",
}
_REQUIRED = {CONFIG, WEIGHTS, VOCABULARY, HEAD, CLASSIFIER}
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?|[0-9]+e-[0-9]+")

#: Values of ``model_type`` in a configuration whose models can be exported.
SUPPORTED_MODELS = ("bert",)
_MODEL_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")

Arrays = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A trained encoder, which computes the vector of a text, and the server's classifier for noisy vectors.

    Attributes:
        mode: ``l1``, ``l2`` or ``box``: the set that contains the vector.
        dimension: Number of coordinates of the vector, ``k``.
        head_hidden: Width of the hidden layer in the head, which maps BERT's output to the vector; ``None`` for a
            linear head.
        max_tokens: Longest input in WordPieces, [CLS] and [SEP] included.
        labels: Labels of the classifier, in the order of its outputs.
        lowercase: Whether the tokenizer lower-cases texts and strips accents.
        levels: Epsilons per text in training, decimal strings, ascending.
        delta: Delta of the mode ``l2``, a decimal string; ``None`` for other modes.
        word_dropout: Probability with which training dropped words, a decimal string.
        extractor: The BERT model in float32, in evaluation mode.
        vocabulary: WordPieces by id.
        head: Arrays ``hidden.weight`` (head_hidden, width) and ``hidden.bias`` if there is a hidden layer,
            ``out.weight`` (k, head_hidden or width) and ``out.bias``.
        classifier: Arrays with the same names as in ``head``, for k + 1 inputs (the noisy vector, then ln epsilon) and
            one output per label.
        classifier_bytes: Content of the classifier's file.
        content_hash: SHA-256 of ``checkpoint.json``, which contains the hashes of the other files.
        record: Record of the training run; empty if the checkpoint has no record.
    """

    mode: str
    dimension: int
    head_hidden: int | None
    max_tokens: int
    labels: tuple[str, ...]
    lowercase: bool
    levels: tuple[str, ...]
    delta: str | None
    word_dropout: str
    extractor: BertModel
    vocabulary: tuple[str, ...]
    head: Arrays
    classifier: Arrays
    classifier_bytes: bytes
    content_hash: str
    record: dict[str, Any]


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read the checkpoint of a trained encoder, and check its keys, hashes and shapes.

    Args:
        folder: Folder that training wrote.

    Raises:
        EncoderCheckpointError: A file is missing, changed or malformed, or the model is not supported.
    """
    content = _read_json(folder, CHECKPOINT)
    if content.get("format") != FORMAT or content.get("format_version") != FORMAT_VERSION:
        raise EncoderCheckpointError(f"{CHECKPOINT}: must be a {FORMAT} of version {FORMAT_VERSION}: train it again")
    if set(content) != _KEYS:
        raise EncoderCheckpointError(f"{CHECKPOINT}: unknown or missing keys: train with the same version of textveil")
    try:
        _check_settings(content)
        _check_files(folder, content["files"])
    except (AttributeError, TypeError, ValueError) as error:
        raise EncoderCheckpointError(f"{CHECKPOINT}: a value is malformed: copy the checkpoint again") from error
    extractor = _load_extractor(folder, content)
    vocabulary = _read_vocabulary(folder, extractor.config.vocab_size)
    width, dimension = extractor.config.hidden_size, content["dimension"]
    head = _read_layers(_read_bytes(folder, HEAD), HEAD, width, dimension)
    hidden = head["hidden.bias"].shape[0] if "hidden.bias" in head else None
    if hidden != content["head_hidden"]:
        raise EncoderCheckpointError(f"{HEAD}: the arrays differ from {CHECKPOINT}: copy the checkpoint again")
    classifier_bytes = _read_bytes(folder, CLASSIFIER)
    classifier = _read_layers(classifier_bytes, CLASSIFIER, dimension + 1, len(content["labels"]))
    return Checkpoint(
        mode=content["mode"],
        dimension=dimension,
        head_hidden=hidden,
        max_tokens=content["max_tokens"],
        labels=tuple(content["labels"]),
        lowercase=content["lowercase"],
        levels=tuple(content["levels"]),
        delta=content["delta"],
        word_dropout=content["word_dropout"],
        extractor=extractor,
        vocabulary=vocabulary,
        head=head,
        classifier=classifier,
        classifier_bytes=classifier_bytes,
        content_hash=hashlib.sha256(_read_bytes(folder, CHECKPOINT)).hexdigest(),
        record=_read_record(folder),
    )


def is_decimal(text: object) -> bool:
    """Return whether a value is a string with a positive decimal number, such as ``"1e-6"``."""
    return isinstance(text, str) and _DECIMAL.fullmatch(text) is not None and Decimal(text) > 0


def _read_record(folder: Path) -> dict[str, Any]:
    """Read the record of the training run (settings and results) from a checkpoint; empty if the checkpoint has none.

    Raises:
        EncoderCheckpointError: The training has not finished.
    """
    if not (folder / RECORD).is_file():
        return {}
    record = _read_json(folder, RECORD)
    if "finished" in record and record["finished"] is None and record.get("trained") is None:
        raise EncoderCheckpointError(f"{RECORD}: the training has not finished: resume it first")
    return record


def _check_settings(content: dict[str, Any]) -> None:
    """Check the type and range of each setting in ``checkpoint.json``."""

    def refuse_unless(condition: bool, complaint: str) -> None:
        """Raise ``EncoderCheckpointError`` with the text ``complaint`` if ``condition`` is false."""
        if not condition:
            raise EncoderCheckpointError(f"{CHECKPOINT}: {complaint}: train it again")

    def positive(value: object) -> bool:
        """Return whether a value is a positive integer, and not a boolean."""
        return type(value) is int and value >= 1

    refuse_unless(content["mode"] != "none", "the model was trained without noise, so it has no private release")
    refuse_unless(content["mode"] in MODES, f"the mode is not one of {', '.join(MODES)}")
    refuse_unless(positive(content["dimension"]), "the dimension is not a positive integer")
    refuse_unless(content["head_hidden"] is None or positive(content["head_hidden"]), "head_hidden is malformed")
    refuse_unless(content["pooling"] == "mean", "the pooling method is not mean")
    refuse_unless(positive(content["max_tokens"]) and content["max_tokens"] >= 3, "max_tokens is below 3")
    labels = content["labels"]
    texts = isinstance(labels, list) and all(isinstance(label, str) and label for label in labels)
    refuse_unless(texts and len(set(labels)) == len(labels) >= 2, "the labels are malformed")
    refuse_unless(type(content["lowercase"]) is bool, "lowercase is malformed")
    levels = content["levels"]
    refuse_unless(isinstance(levels, list) and bool(levels) and all(map(is_decimal, levels)), "levels are malformed")
    numbers = [Decimal(level) for level in levels]
    refuse_unless(numbers == sorted(set(numbers)), "the levels do not ascend")
    needs_delta = content["mode"] == "l2"
    refuse_unless(
        is_decimal(content["delta"]) if needs_delta else content["delta"] is None, "delta does not fit the mode"
    )
    dropout = content["word_dropout"]
    refuse_unless(dropout == "0" or (is_decimal(dropout) and Decimal(dropout) < 1), "word_dropout is malformed")


def _check_files(folder: Path, files: dict[str, str]) -> None:
    """Check that ``files`` lists all required files, and that each listed file has its hash.

    Args:
        folder: The checkpoint.
        files: SHA-256 by file name.
    """
    missing = sorted(_REQUIRED - files.keys())
    if missing:
        raise EncoderCheckpointError(f"{CHECKPOINT}: does not list {missing[0]}: copy the checkpoint again")
    for name, digest in files.items():
        parts = Path(name).parts
        if Path(name).is_absolute() or ".." in parts or name == CHECKPOINT:
            raise EncoderCheckpointError(
                f"{CHECKPOINT}: lists a file outside the checkpoint: copy the checkpoint again"
            )
        try:
            with (folder / name).open("rb") as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EncoderCheckpointError(f"{name}: cannot be read: copy the checkpoint again") from error
        if actual != digest:
            raise EncoderCheckpointError(f"{name}: does not match its hash: copy the checkpoint again")


def _load_extractor(folder: Path, content: dict[str, Any]) -> BertModel:
    """Load the BERT model of a checkpoint from its configuration and weights."""
    config = _read_json(folder, CONFIG)
    if (obstacle := find_export_obstacle(config)) is not None:
        raise EncoderCheckpointError(f"{CONFIG}: {obstacle}")
    try:
        configuration = BertConfig.from_dict(config)
        configuration._attn_implementation = "eager"
        model = BertModel(configuration, add_pooling_layer=False)
        state = load_tensors(_read_bytes(folder, WEIGHTS))
    except (SafetensorError, TypeError, ValueError, KeyError, RuntimeError) as error:
        raise EncoderCheckpointError(f"{WEIGHTS}: does not match {CONFIG}: copy the checkpoint again") from error
    expected = {name: tuple(value.shape) for name, value in model.state_dict().items() if "position_ids" not in name}
    # Sentence encoders have a pooler from pretraining; it is not used.
    arrays = {name: value for name, value in state.items() if name in expected}
    surplus = [name for name in state if name not in expected and not name.startswith("pooler.")]
    shapes = {name: value.shape for name, value in arrays.items()}
    if shapes != expected or [name for name in surplus if "position_ids" not in name]:
        raise EncoderCheckpointError(f"{WEIGHTS}: does not match {CONFIG}: copy the checkpoint again")
    if not all(value.dtype == np.float32 and np.isfinite(value).all() for value in arrays.values()):
        raise EncoderCheckpointError(f"{WEIGHTS}: an array is not float32, or has infinite or NaN values: train again")
    model.load_state_dict({name: torch.from_numpy(value) for name, value in arrays.items()}, strict=False)
    if content["max_tokens"] > configuration.max_position_embeddings:
        raise EncoderCheckpointError(
            f"{CHECKPOINT}: max_tokens exceeds the number of positions of the model: train it again"
        )
    return model.eval()


def find_export_obstacle(config: Mapping[str, Any]) -> str | None:
    """Return the reason why a model cannot be exported, or ``None`` if it can.

    The reason is a message that also names the supported models.

    Args:
        config: Content of the model's ``config.json``.

    Example:
        >>> find_export_obstacle({"model_type": "gpt2"})
        'a model of type gpt2 cannot be exported; supported: bert (BERT and MiniLM with a WordPiece vocabulary)'
        >>> find_export_obstacle({"model_type": "bert"}) is None
        True
    """
    if (model_type := config.get("model_type")) not in SUPPORTED_MODELS:
        return (
            f"{_describe_model_type(model_type)} cannot be exported; supported: "
            f"{', '.join(SUPPORTED_MODELS)} (BERT and MiniLM with a WordPiece vocabulary)"
        )
    if (positions := config.get("position_embedding_type", "absolute")) != "absolute" or config.get("is_decoder"):
        kind = "a decoder" if positions == "absolute" else "a BERT with relative positions"
        return f"{kind} cannot be exported; supported: encoders with absolute positions"
    return None


def _describe_model_type(model_type: object) -> str:
    """Return a model type for an error message; a long or unusual one is replaced by a description."""
    if isinstance(model_type, str) and _MODEL_TYPE.fullmatch(model_type):
        return f"a model of type {model_type}"
    return "a model without a known type"


def _read_vocabulary(folder: Path, size: int) -> tuple[str, ...]:
    """Read the vocabulary of a checkpoint, and check its size and special WordPieces."""
    try:
        pieces = _read_bytes(folder, VOCABULARY).decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise EncoderCheckpointError(f"{VOCABULARY}: is not UTF-8 text: copy the checkpoint again") from error
    if len(pieces) != size or len(set(pieces)) != size or "" in pieces:
        raise EncoderCheckpointError(f"{VOCABULARY}: must have {size} distinct pieces, one per row of the model")
    missing = [piece for piece in ("[UNK]", "[CLS]", "[SEP]") if piece not in pieces]
    if missing:
        raise EncoderCheckpointError(f"{VOCABULARY}: has no {missing[0]}: copy the checkpoint again")
    return tuple(pieces)


def _read_layers(data: bytes, name: str, width: int, outputs: int) -> Arrays:
    """Read the arrays of a network from a safetensors file, and check their shapes.

    The network has a linear layer ``out``, and optionally a layer ``hidden`` before it.

    Args:
        data: Content of the file.
        name: Name of the file, for error messages.
        width: Number of inputs of the network.
        outputs: Number of outputs of the network.
    """
    try:
        arrays = load_tensors(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise EncoderCheckpointError(f"{name}: is not a safetensors file: copy the checkpoint again") from error
    shapes = {"out.bias": (outputs,), "out.weight": (outputs, width)}
    if "hidden.bias" in arrays:
        units = arrays["hidden.bias"].size
        shapes |= {"out.weight": (outputs, units), "hidden.weight": (units, width), "hidden.bias": (units,)}
    if {key: array.shape for key, array in arrays.items()} != shapes:
        raise EncoderCheckpointError(f"{name}: the arrays differ from {CHECKPOINT}: copy the checkpoint again")
    if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in arrays.values()):
        raise EncoderCheckpointError(f"{name}: an array is not float32, or has infinite or NaN values: train again")
    return arrays


def _read_bytes(folder: Path, name: str) -> bytes:
    """Read a file of a checkpoint.

    Raises:
        EncoderCheckpointError: The file cannot be read.
    """
    try:
        return (folder / name).read_bytes()
    except (OSError, ValueError) as error:
        raise EncoderCheckpointError(f"{name}: cannot be read: pass a folder that textveil-train dpnr wrote") from error


def _read_json(folder: Path, name: str) -> dict[str, Any]:
    """Read a JSON object from a file of a checkpoint; repeated keys are an error."""
    try:
        content = json.loads(_read_bytes(folder, name).decode("utf-8"), object_pairs_hook=make_unique_dict)
    except (ValueError, RecursionError) as error:
        raise EncoderCheckpointError(f"{name}: is not valid JSON: copy the checkpoint again") from error
    if not isinstance(content, dict):
        raise EncoderCheckpointError(f"{name}: is not a JSON object: copy the checkpoint again")
    return content


def keep_pieces(checkpoint: Checkpoint, count: int | None, text: Path | None) -> Checkpoint:
    """Return a copy of the encoder with fewer WordPieces, which get new ids in their old order.

    Special WordPieces and single characters always remain, so that any word can be spelled. The function then keeps the
    WordPieces that are most frequent in a public text, then those that come first in the vocabulary, which BERT sorts
    by frequency. The tokenizer prefers longer WordPieces, so a text whose WordPieces all remain is tokenized as before.

    Args:
        checkpoint: The encoder; the function does not change it.
        count: Number of WordPieces to keep; ``None`` for all that occur in ``text``.
        text: Public UTF-8 text; ``None`` to use only the order of the vocabulary.

    Raises:
        ExportError: Both ``count`` and ``text`` are ``None``, or ``count`` is out of range.
        SourceError: The text cannot be read.
    """
    if count is None and text is None:
        raise ExportError("pass --keep-pieces, --vocabulary-from or both")
    pieces = checkpoint.vocabulary
    needed = {i for i, piece in enumerate(pieces) if piece in SPECIAL_PIECES or len(piece.removeprefix("##")) == 1}
    used = Counter() if text is None else _count_pieces(checkpoint, text)
    if count is None:
        remaining = sorted(needed | used.keys())
    else:
        unused = {i for i, piece in enumerate(pieces) if piece.startswith("[unused") and piece.endswith("]")}
        if not len(needed) <= count <= len(pieces) - len(unused):
            raise ExportError(
                f"--keep-pieces must be between {len(needed)} (special pieces and single characters) and "
                f"{len(pieces) - len(unused)}"
            )
        rest = sorted(set(range(len(pieces))) - needed - unused, key=lambda i: (-used[i], i))
        remaining = sorted(needed | set(rest[: count - len(needed)]))
    extractor = copy.deepcopy(checkpoint.extractor)
    rows = extractor.embeddings.word_embeddings.weight.detach()[remaining].clone()
    extractor.embeddings.word_embeddings = torch.nn.Embedding.from_pretrained(rows)
    extractor.config.vocab_size = len(remaining)
    return replace(checkpoint, extractor=extractor, vocabulary=tuple(pieces[i] for i in remaining))


def _count_pieces(checkpoint: Checkpoint, path: Path) -> Counter[int]:
    """Count the occurrences of each WordPiece in a public text."""
    numbers = {piece: number for number, piece in enumerate(checkpoint.vocabulary)}
    cut = WordPiece(numbers, lowercase=checkpoint.lowercase, special=SPECIAL_PIECES)
    counts: Counter[int] = Counter()
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                counts.update(cut.encode(line))
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path.name}: cannot be read as UTF-8 text") from error
    return counts
