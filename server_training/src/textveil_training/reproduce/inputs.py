"""Read the inputs of a reproduction: data, model and vectors that the user names, or the small sample."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textveil_training.data import LabeledExample, load_examples
from textveil_training.errors import CheckpointError, DataOptionError, UnreadableFile
from textveil_training.file_hashes import hash_file
from textveil_training.progress import ProgressCallback, ignore_progress
from textveil_training.reproduce.published import PublishedStudy

MINILM = "minilm"  # engine.encoders defines the same name, but imports PyTorch
if TYPE_CHECKING:
    from textveil_training.dpnr.classification_data import ClassificationTask

SAMPLE = Path(__file__).parent / "sample" / "messages.csv"
"""Invented messages with a topic, and whether they are urgent."""
SAMPLE_ATTRIBUTES = ("urgent",)
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")


@dataclass(frozen=True, kw_only=True)
class ReproductionInputs:
    """Inputs of a study, which computes a table or figure of a paper again, and the amount of computation.

    Attributes:
        data: File or folder of the data; ``None`` for the sample.
        format_name: Format of the data; ``None`` for the study's default.
        model: Encoder or masked language model: ``minilm``, a folder, or the id of a model on Hugging Face.
        vectors: Word vectors, a text file of GloVe, word2vec or fastText; ``None`` for the built-in ones.
        max_words: Largest number of words read from ``vectors``.
        max_tokens: Number of tokens to which longer texts are cut.
        examples: Largest number of training rows; 0 for all.
        steps: Number of steps of a pretraining.
        seeds: Number of seeds.
        work: Folder for intermediate results, which a restarted run reads instead of computing them again.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
    """

    data: Path | None = None
    format_name: str | None = None
    model: str = "minilm"
    vectors: Path | None = None
    max_words: int = 20_000
    max_tokens: int = 128
    examples: int = 0
    steps: int = 100
    seeds: int = 1
    work: Path
    report: ProgressCallback = ignore_progress

    @property
    def uses_sample(self) -> bool:
        """Whether the study (a table of a paper, computed again) runs on the small built-in sample."""
        return self.data is None and self.vectors is None


def check_inputs(study: PublishedStudy, inputs: ReproductionInputs) -> None:
    """Check that the given data, vectors and model exist, and that the study can read them.

    The check takes seconds, so a mistake is an error before the study computes for hours.

    Raises:
        UnreadableFile: The data or the vectors do not exist.
        DataError: The first row of the data is not of the format.
        DataOptionError: The study cannot read the format, or does not use given texts, vectors or a model.
        CheckpointError: The folder of the model has no weights.
    """
    if inputs.data is not None and not study.formats:
        raise DataOptionError(f"{study.name} needs no texts: omit --data")
    if inputs.vectors is not None and not study.reads_vectors:
        raise DataOptionError(f"{study.name} needs no word vectors: omit --vectors")
    if inputs.model != MINILM and not study.formats:
        raise DataOptionError(f"{study.name} needs no model: omit --model")
    if inputs.format_name is not None and inputs.format_name not in study.formats:
        raise DataOptionError(f"{study.name} reads {', '.join(study.formats) or 'no data'}: pass another --format")
    for path, option in ((inputs.data, "--data"), (inputs.vectors, "--vectors")):
        if path is not None and not path.exists():
            raise UnreadableFile(f"the path of {option} does not exist: check it")
    if inputs.data is not None:  # read only the first row, to find a file of another layout before PyTorch is imported
        next(load_examples(get_format_name(study, inputs), inputs.data), None)
    folder = Path(inputs.model)
    if folder.is_dir() and not any((folder / name).is_file() for name in WEIGHTS):
        raise CheckpointError("the folder of --model has no model.safetensors: pass a folder with weights")


def describe_inputs(study: PublishedStudy, inputs: ReproductionInputs) -> dict[str, Any]:
    """Return a description of the inputs for the JSON record of a run: formats, hashes and sizes; no paths or texts."""
    weights = Path(inputs.model) / WEIGHTS[0]
    return {
        "format": None if inputs.data is None else get_format_name(study, inputs),
        "model": inputs.model
        if inputs.model == MINILM
        else {"sha256": hash_file(weights) if weights.is_file() else None},
        "vectors": None if inputs.vectors is None else {"sha256": hash_file(inputs.vectors)},
        **{name: getattr(inputs, name) for name in ("max_words", "max_tokens", "examples", "steps", "seeds")},
    }


def get_format_name(study: PublishedStudy, inputs: ReproductionInputs) -> str:
    """Return the format of the study's data: the given one, or the default."""
    return inputs.format_name or study.formats[0]


def read_sample() -> list[LabeledExample]:
    """Read the small sample of messages, each with a topic; the private attribute 0 marks urgent messages."""
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        return [
            LabeledExample(
                texts=(row["message"],), label=row["topic"], attributes=(0,) if row["urgent"] == "yes" else ()
            )
            for row in csv.DictReader(file)
        ]


def load_attribute_task(
    study: PublishedStudy, inputs: ReproductionInputs
) -> "tuple[ClassificationTask, tuple[str, ...]]":
    """Load texts with classes and private attributes.

    Returns:
        The data, and the names of the attributes.

    Raises:
        DataError: The data cannot be read.
        EmptyClass: A class has no training example.
    """
    from textveil_training.data import get_format
    from textveil_training.dpnr.classification_data import ClassificationTask, load_classification_task, make_split
    from textveil_training.dpnr.recipe import DataSection

    if inputs.data is not None:
        name = get_format_name(study, inputs)
        section = DataSection(format=name, train="train", dev="dev", test="test", dev_percent=0, max_tokens=128)
        return load_classification_task(section, inputs.data), get_format(name).attributes
    rows = read_sample()
    labels = tuple(sorted({row.label for row in rows}))
    parts = {"train": rows[:304], "dev": rows[304:404], "test": rows[404:]}  # topics alternate in the file
    splits = {name: make_split(part, labels, len(SAMPLE_ATTRIBUTES)) for name, part in parts.items()}
    return ClassificationTask(labels=labels, **splits), SAMPLE_ATTRIBUTES
