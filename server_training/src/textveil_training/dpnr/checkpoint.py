"""Read and write a checkpoint, which is a folder with encoder, head, classifier and ``checkpoint.json``.

The head computes the vector of a text from the encoder's output. Training writes the folder; ``textveil-export``
converts it to a bundle for devices.
"""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from safetensors.torch import load_file
from torch import nn

from textveil_training.dpnr.networks import RepresentationModel
from textveil_training.dpnr.recipe import RepresentationRecipe
from textveil_training.engine.checkpoint import CheckpointLayout
from textveil_training.engine.encoders import load_transformer

DESCRIPTION = "checkpoint.json"
HEAD = "head.safetensors"
CLASSIFIER = "classifier.safetensors"
EXTRACTOR = "extractor"
VOCABULARY = f"{EXTRACTOR}/vocab.txt"
LAYOUT = CheckpointLayout(
    format_name="textveil-checkpoint", version=1, description=DESCRIPTION, encoder=EXTRACTOR, noun="checkpoint"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepresentationDescription:
    """Content of ``checkpoint.json``: the architecture of a trained model, its labels and its epsilons.

    Mode ``none`` is a model without noise: it has no head, dimension 0 and no levels.

    Attributes:
        mode: ``none``, ``l1``, ``l2`` or ``box``.
        dimension: Number of coordinates of the vector, k.
        head_hidden: Number of hidden units of the head, which computes the vector from the encoder's mean output;
            ``None`` for a linear head.
        pooling: Always ``mean``.
        max_tokens: Number of tokens to which longer texts are cut, including [CLS] and [SEP].
        labels: Labels in the order of the classifier's outputs.
        lowercase: Whether the encoder is uncased.
        levels: Epsilons per text of the training, as decimal strings.
        delta: Delta of mode ``l2``, as a decimal string; ``None`` for other modes.
        word_dropout: Word dropout of the training (share of words removed at random), as a decimal string.
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
    def from_recipe(
        cls, recipe: RepresentationRecipe, labels: tuple[str, ...], lowercase: bool
    ) -> "RepresentationDescription":
        """Describe the model that a recipe (file of training settings) trains on data with the given labels.

        Args:
            recipe: The recipe.
            labels: Labels in the order of their class ids.
            lowercase: Whether the encoder is uncased.
        """
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


def write_checkpoint(
    folder: Path, model: RepresentationModel, description: RepresentationDescription, vocabulary: Path
) -> None:
    """Write all files of a checkpoint (folder of a trained model) except the JSON record of the training run.

    Args:
        folder: Folder of the checkpoint, created if necessary. An earlier checkpoint in it is replaced.
        model: The networks.
        description: Content of ``checkpoint.json`` for these networks.
        vocabulary: The encoder's ``vocab.txt``.

    Raises:
        OutputError: A tensor file or the description cannot be written.
        CheckpointError: The encoder's folder cannot be written.
    """
    tensors = {} if model.head is None else {HEAD: model.head.state_dict()}
    tensors |= {CLASSIFIER: model.classifier.state_dict()}
    LAYOUT.write(folder, tensors, (model.extractor, vocabulary), lambda files: asdict(description))


def read_description(folder: Path) -> RepresentationDescription:
    """Read a trained model's ``checkpoint.json`` in a folder, and check the hashes of the files that it names.

    Raises:
        CheckpointError: The folder has no checkpoint, or one of another version, or a file is missing or changed.
    """

    def list_files(content: dict[str, Any]) -> set[str]:
        return {CLASSIFIER, VOCABULARY, f"{EXTRACTOR}/config.json"} | (set() if content["mode"] == "none" else {HEAD})

    content = LAYOUT.read(folder, [field.name for field in fields(RepresentationDescription)], list_files)
    content |= {name: tuple(content[name]) for name in ("labels", "levels")}
    return RepresentationDescription(**content)


def read_checkpoint(folder: Path, dropout: float = 0.0) -> tuple[RepresentationModel, RepresentationDescription]:
    """Load the networks of a checkpoint (folder with a trained model), and their description.

    Args:
        folder: Folder of the checkpoint.
        dropout: Dropout probability in the encoder and of its mean output, if the networks are trained further.

    Returns:
        The networks, in evaluation mode, and their description.

    Raises:
        CheckpointError: The folder has no valid checkpoint, or its tensors do not fit the description.
    """
    description = read_description(folder)
    extractor, _, _ = load_transformer(str(folder / EXTRACTOR), dropout)
    with LAYOUT.check_architecture():
        classifier = load_file(folder / CLASSIFIER)
        hidden = classifier["hidden.weight"].shape[0] if "hidden.weight" in classifier else 0
        model = build_model(extractor, description, classifier_hidden=hidden, dropout=dropout)
        model.classifier.load_state_dict(classifier)
        if model.head is not None:
            model.head.load_state_dict(load_file(folder / HEAD))
    return model.eval(), description


def build_model(
    extractor: nn.Module, description: RepresentationDescription, *, classifier_hidden: int, dropout: float
) -> RepresentationModel:
    """Build randomly initialized networks around an encoder, with the architecture in a description.

    Args:
        extractor: The encoder.
        description: Content of ``checkpoint.json``.
        classifier_hidden: Number of units of the classifier's hidden layer.
        dropout: Dropout probability, in training, of the encoder's mean output.
    """
    return RepresentationModel(
        extractor,
        mode=description.mode,
        dimension=description.dimension,
        head_hidden=description.head_hidden or 0,
        classifier_hidden=classifier_hidden,
        classes=len(description.labels),
        dropout=dropout,
    )
