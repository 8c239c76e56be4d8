"""The folder a training writes and an export reads: encoder, head, classifier, and what they are.

``checkpoint.json`` names the format, the mode, the levels and the SHA-256 of every other file; it is written last and
taken away first, so that a folder with it is whole.
"""

import json
import shutil
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from textveil.bundle import atomic_output
from torch import nn

from textveil_training.dpnr.networks import Model
from textveil_training.dpnr.recipe import Recipe
from textveil_training.engine.encoders import load_encoder
from textveil_training.engine.tensor_files import sha256, write_tensors
from textveil_training.errors import CheckpointError

FORMAT = "textveil-checkpoint"
VERSION = 1
DESCRIPTION = "checkpoint.json"
HEAD = "head.safetensors"
CLASSIFIER = "classifier.safetensors"
EXTRACTOR = "extractor"
VOCABULARY = f"{EXTRACTOR}/vocab.txt"
RECORD = "record.json"


@dataclass(frozen=True, slots=True)
class Description:
    """What a checkpoint is. Mode ``none`` is a model without privacy: no head, dimension 0, no levels.

    Attributes:
        mode: ``none``, ``l1``, ``l2`` or ``box``.
        dimension: k.
        head_hidden: Units between pooled vector and bound, or None for a linear head.
        pooling: Always ``mean``.
        max_tokens: Longer texts are cut, [CLS] and [SEP] counted.
        labels: In the order of the classifier's outputs.
        lowercase: Whether the encoder is uncased.
        levels: Whole-text epsilons it was trained for, as decimal strings.
        delta: Of mode ``l2``, as a decimal string, else None.
        word_dropout: It was trained with, as a decimal string.
    """

    mode: str
    dimension: int
    head_hidden: int | None
    pooling: str
    max_tokens: int
    labels: tuple[str, ...]
    lowercase: bool
    levels: tuple[str, ...]
    delta: str | None
    word_dropout: str

    @classmethod
    def of(cls, recipe: Recipe, labels: tuple[str, ...], lowercase: bool) -> "Description":
        """What a recipe will make of data with these labels."""
        part = recipe.representation
        return cls(
            mode=part.mode,
            dimension=part.dimension,
            head_hidden=part.head_hidden or None,
            pooling="mean",
            max_tokens=recipe.data.max_tokens,
            labels=labels,
            lowercase=lowercase,
            levels=part.levels,
            delta=part.delta or None,
            word_dropout=part.word_dropout,
        )


def write_checkpoint(folder: Path, model: Model, description: Description, vocabulary: Path) -> None:
    """Writes everything except the run record.

    Args:
        folder: Made if it is not there; files of an earlier checkpoint in it are replaced.
        model: The networks.
        description: What they are.
        vocabulary: The encoder's ``vocab.txt``.

    Raises:
        OutputError: A tensor file or the description cannot be written.
        CheckpointError: The encoder's folder cannot be written.
    """
    partial = folder / f".{EXTRACTOR}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DESCRIPTION).unlink(missing_ok=True)
        shutil.rmtree(partial, ignore_errors=True)
        model.extractor.save_pretrained(partial)  # type: ignore[operator]
        shutil.copyfile(vocabulary, partial / "vocab.txt")
        for path in partial.iterdir():
            path.chmod(0o644)
        if (folder / EXTRACTOR).exists():
            shutil.rmtree(folder / EXTRACTOR)
        partial.rename(folder / EXTRACTOR)
    except OSError as error:
        raise CheckpointError("the checkpoint's folder cannot be written") from error
    if model.head is not None:
        write_tensors(folder / HEAD, model.head.state_dict())
    write_tensors(folder / CLASSIFIER, model.classifier.state_dict())
    content = {
        "format": FORMAT,
        "format_version": VERSION,
        **asdict(description),
        "files": {name: sha256(folder / name) for name in _files(folder)},
    }
    with atomic_output(folder / DESCRIPTION) as write:
        write(json.dumps(content, indent=2) + "\n")


def _files(folder: Path) -> list[str]:
    inside = [f"{EXTRACTOR}/{path.name}" for path in sorted((folder / EXTRACTOR).iterdir())]
    return inside + [name for name in (HEAD, CLASSIFIER) if (folder / name).is_file()]


def read_description(folder: Path) -> Description:
    """Reads and checks ``checkpoint.json`` and the hashes of the files it names.

    Raises:
        CheckpointError: There is no checkpoint, it is of another version, or a file is missing or altered.
    """
    try:
        content = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError("there is no checkpoint in that folder") from error
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise CheckpointError("that folder is no checkpoint")
    if content.pop("format_version", None) != VERSION:
        raise CheckpointError("the checkpoint was written in another version of the format")
    files = content.pop("files", None)
    names = {field.name for field in fields(Description)}
    if not isinstance(files, dict) or set(content) != names:
        raise CheckpointError("the checkpoint's description has other keys")
    content |= {name: tuple(content[name]) for name in ("labels", "levels")}
    description = Description(**content)
    wanted = {CLASSIFIER, VOCABULARY, f"{EXTRACTOR}/config.json"}
    wanted |= set() if description.mode == "none" else {HEAD}
    for name in sorted(wanted | set(files)):
        path = folder / name
        if ".." in Path(name).parts or Path(name).is_absolute() or not path.is_file():
            raise CheckpointError("a file of the checkpoint is missing")
        if sha256(path) != files.get(name):
            raise CheckpointError("a file of the checkpoint is altered")
    return description


def read_checkpoint(folder: Path, dropout: float = 0.0) -> tuple[Model, Description]:
    """Opens a checkpoint.

    Args:
        folder: The folder.
        dropout: Of encoder and pooled vector, for training on.

    Returns:
        The networks, in evaluation mode, and their description.

    Raises:
        CheckpointError: As ``read_description``, or the tensors do not fit it.
    """
    description = read_description(folder)
    extractor, _, _ = load_encoder(str(folder / EXTRACTOR), dropout)
    try:
        classifier = load_file(folder / CLASSIFIER)
        hidden = classifier["hidden.weight"].shape[0] if "hidden.weight" in classifier else 0
        model = build(extractor, description, classifier_hidden=hidden, dropout=dropout)
        _fill(model.classifier, classifier)
        if model.head is not None:
            _fill(model.head, load_file(folder / HEAD))
    except (OSError, SafetensorError, KeyError, RuntimeError) as error:
        raise CheckpointError("the checkpoint's tensors have another architecture than its description") from error
    return model.eval(), description


def build(extractor: nn.Module, description: Description, *, classifier_hidden: int, dropout: float) -> Model:
    """Networks of the described architecture around an encoder, freshly initialised."""
    return Model(
        extractor,
        mode=description.mode,
        dimension=description.dimension,
        head_hidden=description.head_hidden or 0,
        classifier_hidden=classifier_hidden,
        classes=len(description.labels),
        dropout=dropout,
    )


def _fill(module: nn.Module, tensors: dict) -> None:
    module.load_state_dict(tensors, strict=True)
