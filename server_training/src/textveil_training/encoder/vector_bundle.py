"""Train a vector bundle (folder with a model for devices) on labeled texts of a user.

A device with the bundle encodes a text as a noisy vector.

    textveil-train dpnr --data my.csv --text note --label topic -o bundle

First the encoder is fine-tuned without noise. Then a head, which computes a short vector from the encoder's output, and
a classifier are trained with noise on these vectors. The result is exported as int8. For comparison, another head is
trained with the noise of Lyu, He and Li 2020, Algorithm 2 (``box``: Laplace noise on each of the encoder's
coordinates). Each stage is stored in BUNDLE.unfinished.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from textveil.errors import OptionError
from textveil.mechanisms.noise import ReleaseParameters
from textveil.storage import open_atomic_text
from torch import Tensor

from textveil_training.data import LabeledExample
from textveil_training.dpnr.accuracy import measure_accuracy
from textveil_training.dpnr.checkpoint import read_checkpoint
from textveil_training.dpnr.classification_data import ClassificationTask, make_split
from textveil_training.dpnr.code_search import ClassCodes, CodeSearchSettings, search_codes, spread_codes
from textveil_training.dpnr.features import read_features
from textveil_training.dpnr.networks import RepresentationClassifier
from textveil_training.dpnr.noise_heads import train_head
from textveil_training.dpnr.recipe import (
    DataSection,
    ExtractorSection,
    RepresentationRecipe,
    RepresentationSection,
    TrainingSection,
    check_recipe,
)
from textveil_training.dpnr.train import RepresentationRunOptions, train_representation
from textveil_training.encoder.exportable import check_exportable
from textveil_training.encoder.labeled_texts import LabeledPart, LabeledTexts
from textveil_training.encoder.resume_cache import ResumeCache
from textveil_training.engine.run import RECORD, STATE
from textveil_training.errors import CheckpointError
from textveil_training.file_hashes import hash_file
from textveil_training.progress import ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from textveil.vector import Encoder

LEVELS = ("1", "2", "4", "8", "16")
"""Default epsilons of the whole text."""
CLEAN, PRIVATE, HELD_OUT, COMPARED = "clean", "private", "held-out.tsv", "compared.json"
TRAINING_TEXTS = "training-texts.txt"
_TUNED_TEXTS = 6_000
"""Number of texts on which the encoder is tuned, counting repetitions, if the file has fewer texts."""
_HEAD_STEPS = 150
_LARGEST_SEARCHED = 16
_SEARCH = CodeSearchSettings(restarts=1, steps=60, draws=256, fresh_draws=1024)


@dataclass(frozen=True, kw_only=True)
class VectorBundleSettings:
    """Settings for training a vector bundle (folder with a model that encodes a text as a noisy vector).

    Attributes:
        name: Name of the bundle.
        mode: Bound and noise of the vector: ``l1``, ``l2`` or ``box``; see ``bound_vectors``.
        levels: Epsilons per text, decimal strings.
        encoder: ``minilm``, a model folder, or the id of a model on Hugging Face.
        max_tokens: Number of tokens to which longer texts are cut.
        num_epochs: Number of epochs that tune the encoder; ``None`` for the number, at most 8, that gives about
            ``_TUNED_TEXTS`` training texts in total.
        precision: ``float32`` or ``bfloat16``; ``None`` for bfloat16 if the device supports it.
        compare: Whether to train with the noise of the DPNR paper too, on the same vectors.
        keep_pieces: Number of WordPieces in the bundle, those of the training texts first; ``None`` for all.
        license: License of the bundle, for the model card.
        source: Source and license of the data, for the model card.
        seed: Seed of the division and of training.
    """

    name: str
    mode: str = "l1"
    levels: tuple[str, ...] = LEVELS
    encoder: str = "minilm"
    max_tokens: int = 128
    num_epochs: int | None = None
    precision: str | None = None
    compare: bool = True
    keep_pieces: int | None = None
    license: str = "not stated"
    source: str = ""
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class TrainedVectorBundle:
    """A finished vector bundle (model that encodes a text as a noisy vector), and its accuracies.

    Attributes:
        encoder: The bundle, loaded with the runtime that devices use.
        measured: Accuracy on the test texts by name of the noise: the results of ``measure_accuracy``.
        without_noise: Accuracy of the tuned encoder if its vectors are neither clipped nor noisy, from 0 to 1.
    """

    encoder: "Encoder"
    measured: dict[str, dict[str, Any]]
    without_noise: float


def train_vector_bundle(
    texts: LabeledTexts,
    settings: VectorBundleSettings,
    output: Path,
    *,
    resume: bool = False,
    force: bool = False,
    device: str = "cpu",
    reproduce: str = "",
    report: ProgressCallback = ignore_progress,
) -> TrainedVectorBundle:
    """Train a model that encodes a text as a noisy vector, and write the bundle (folder for devices).

    Args:
        texts: Labeled texts, divided into parts.
        settings: Settings of the training and of the bundle.
        output: Folder of the new bundle. Unfinished parts are in a folder beside it.
        resume: Whether to continue an unfinished run.
        force: Whether to replace a bundle, and an unfinished run.
        device: ``cpu`` or a CUDA device.
        reproduce: Command that builds the bundle, for the model card.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Raises:
        RecipeError: The settings are out of range.
        ResumeError: There is no unfinished run to resume, or it has other data or settings.
        CheckpointError, DeviceError: The encoder or the device cannot be used. A bundle supports only BERT encoders.
        GateError: No quantized model is accurate, small and bounded enough.
        KeyboardInterrupt: Ctrl-C was pressed; the run can be resumed.

    Privacy:
        The bundle protects the texts that devices encode with it, at the chosen epsilon per text. The bundle does not
        protect its training texts.
    """
    check_settings(settings, len(texts.labels))
    check_exportable(settings.encoder)
    task = make_task(texts)
    clean_recipe = make_clean_recipe(settings, len(task.train.texts))
    private_recipe = make_private_recipe(settings, len(task.labels), len(task.train.texts))
    key = [asdict(settings), task.describe()]
    kept = ResumeCache(_get_unfinished(output), key, resume=resume, replace=force)
    kept.create_folder()
    options = {"device": device, "precision": settings.precision}

    def train_once(name: str, recipe: RepresentationRecipe, **more: Any) -> dict[str, Any]:
        """Train one stage by a recipe, unless the stage is already finished, and return the record of its training."""
        folder = kept.folder / name
        record = folder / RECORD
        if record.is_file() and json.loads(record.read_text("utf-8"))["finished"] is not None:
            return json.loads(record.read_text("utf-8"))
        unfinished = (folder / STATE).is_file()
        if not unfinished:
            shutil.rmtree(folder, ignore_errors=True)
        run = RepresentationRunOptions(folder, unfinished, **options, **more)
        return train_representation(recipe, task, run, report)

    clean = train_once(CLEAN, clean_recipe, write_features=True)
    start = kept.folder / CLEAN
    private = train_once(PRIVATE, private_recipe, start=start, features=start)
    measured = {f"{settings.mode}, k = {private_recipe.representation.dimension}": private["result"]["test"]}
    if settings.compare:
        measured |= _compare_noise(settings, private_recipe, task, kept.folder, report)
    encoder = _export(task, settings, kept.folder, output, reproduce, force, report)
    kept.remove()
    return TrainedVectorBundle(
        encoder=encoder, measured=measured, without_noise=float(clean["result"]["test"]["accuracy"])
    )


def make_task(texts: LabeledTexts) -> ClassificationTask:
    """Convert divided texts to the data of a training; the calibration part becomes dev, which selects the epoch."""

    def convert(part: LabeledPart) -> Any:
        rows = zip(part.texts, part.classes.tolist(), strict=True)
        return make_split([LabeledExample(texts=(text,), label=texts.labels[n]) for text, n in rows], texts.labels, 0)

    return ClassificationTask(
        labels=texts.labels, train=convert(texts.train), dev=convert(texts.calibration), test=convert(texts.test)
    )


def make_clean_recipe(settings: VectorBundleSettings, texts: int) -> RepresentationRecipe:
    """Return the recipe (training settings) for fine-tuning the encoder without noise.

    Args:
        settings: Settings of the bundle.
        texts: Number of training texts.
    """
    epochs = settings.num_epochs or max(1, min(8, -(-_TUNED_TEXTS // texts)))
    return _make_recipe(
        "own-clean",
        "clean",
        ExtractorSection(source=settings.encoder, tuned=True, dropout=0.1),
        _NO_PRIVACY,
        replace(_TRAINING, seed=settings.seed, num_epochs=epochs, learning_rate=1e-4),
        settings.max_tokens,
    )


def make_private_recipe(settings: VectorBundleSettings, labels: int, texts: int) -> RepresentationRecipe:
    """Return the recipe (training settings) for the layers after the encoder, which are trained with noise.

    These layers are the head, which computes the vector of a text, and the classifier of noisy vectors. The noisy
    vector has one coordinate for every two labels.

    Args:
        settings: Settings of the bundle.
        labels: Number of labels.
        texts: Number of training texts.
    """
    batch = max(32, min(256, texts // 16))
    epochs = max(3, -(-_HEAD_STEPS * batch // texts))
    smallest = 2 if settings.mode == "box" else 1
    representation = RepresentationSection(
        mode=settings.mode,
        dimension=max(smallest, -(-labels // 2)),
        head_hidden=64,
        levels=settings.levels,
        delta="1e-6" if settings.mode == "l2" else "",
        word_dropout="0",
        classifier_hidden=64,
    )
    training = replace(
        _TRAINING,
        seed=settings.seed,
        batch_size=batch,
        learning_rate=0.0,
        head_learning_rate=1e-2,
        weight_decay=0.1,
        loss="expected-error",
        placed_epochs=epochs,
        head_epochs=epochs,
        noise_draws=8,
        dev_draws=20,
        precision="float32",
    )
    extractor = ExtractorSection(source="start", tuned=False, dropout=0.3)
    return _make_recipe("own-private", "dpnr", extractor, representation, training, settings.max_tokens)


def check_settings(settings: VectorBundleSettings, labels: int) -> None:
    """Check that the settings of a vector bundle are in range, before any training starts.

    Args:
        settings: Settings of the bundle.
        labels: Number of classes of the training texts.

    Raises:
        RecipeError: A setting is out of range.
        OptionError: An epsilon is not valid for the noise, or occurs twice.
    """
    make_clean_recipe(settings, 1000)
    part = make_private_recipe(settings, labels, 1000).representation
    for level in part.levels:
        ReleaseParameters(mode=part.mode, dimension=part.dimension, grid=16, epsilon=level, delta=part.delta or None)
    if len({float(level) for level in part.levels}) < len(part.levels):
        raise OptionError("an epsilon occurs twice: remove it from --levels")


_NO_PRIVACY = RepresentationSection(
    mode="none", dimension=0, head_hidden=0, levels=(), delta="", word_dropout="0", classifier_hidden=0
)
_TRAINING = TrainingSection(
    seed=0,
    num_epochs=0,
    batch_size=32,
    learning_rate=5e-5,
    layer_decay=1.0,
    head_learning_rate=1e-3,
    weight_decay=0.01,
    warmup=0.1,
    clip_norm=1.0,
    label_smoothing=0.0,
    loss="cross-entropy",
    placed_epochs=0,
    head_epochs=0,
    noise_draws=1,
    dev_draws=1,
    precision="bfloat16",
)


def _make_recipe(
    name: str,
    kind: str,
    extractor: ExtractorSection,
    representation: RepresentationSection,
    training: TrainingSection,
    max_tokens: int,
) -> RepresentationRecipe:
    data = DataSection(format="table", train="train", dev="dev", test="test", dev_percent=0, max_tokens=max_tokens)
    recipe = RepresentationRecipe(
        name=name, kind=kind, note="", data=data, extractor=extractor, representation=representation, training=training
    )
    check_recipe(recipe, "the options")
    content = json.dumps(asdict(recipe), sort_keys=True).encode()
    return replace(recipe, sha256=hashlib.sha256(content).hexdigest())


def _compare_noise(
    settings: VectorBundleSettings,
    recipe: RepresentationRecipe,
    task: ClassificationTask,
    folder: Path,
    report: ProgressCallback,
) -> dict[str, Any]:
    """Train the layers after the encoder with the noise of the DPNR paper, and measure the accuracy for comparison.

    Returns:
        The result of ``train_and_measure_head``, under a description of the noise.
    """
    if (folder / COMPARED).is_file():
        return json.loads((folder / COMPARED).read_text("utf-8"))
    model, _ = read_checkpoint(folder / CLEAN)
    width = int(model.extractor.config.hidden_size)  # type: ignore[union-attr]
    encoder = hash_file(folder / CLEAN / "extractor" / "model.safetensors")
    features = {
        name: read_features(folder / CLEAN / f"features-{name}.safetensors", split, encoder)[None]
        for name, split in task.get_splits().items()
    }
    report("the paper's noise", 0, 1)
    paper = replace(recipe.representation, mode="box", dimension=width, delta="")
    found = {
        f"box, k = {width} (the paper's)": train_and_measure_head(
            replace(recipe, representation=paper), task, features, model.classifier
        )
    }
    report("the paper's noise", 1, 1)
    with open_atomic_text(folder / COMPARED) as write:
        write(json.dumps(found) + "\n")
    return found


def train_and_measure_head(
    recipe: RepresentationRecipe,
    task: ClassificationTask,
    features: dict[str, Tensor],
    clean: RepresentationClassifier,
) -> dict[str, Any]:
    """Train a head and a classifier with noise on stored vectors, and measure the accuracy of the classifier.

    The head computes a short vector from the encoder's output. For the measurement, the code that devices run adds the
    noise.

    Args:
        recipe: Recipe of kind ``dpnr``.
        task: The data.
        features: Mean output vectors of the encoder, by split, shape (copies, texts, width). With word dropout, the
            copies come from texts with different words removed; otherwise there is one copy.
        clean: Classifier of the encoder without noise, on the same features.

    Returns:
        The result of ``measure_accuracy`` for the test texts.
    """
    head = train_head(recipe, task, features, clean, choose_codes(recipe, task, features, clean))
    return measure_accuracy(head.model, head.description, features["test"][0], task.test)


def choose_codes(
    recipe: RepresentationRecipe,
    task: ClassificationTask,
    features: dict[str, Tensor],
    clean: RepresentationClassifier,
) -> ClassCodes:
    """Choose a vector for each class, its *code*, such that the noise confuses classes least.

    The head is trained to map texts near the code of their class (``code_search``). In mode ``box`` with many
    coordinates a search would take minutes, so the codes are then random vectors of zeros and ones.

    Args:
        recipe: Recipe of kind ``dpnr``.
        task: The data.
        features: Mean output vectors of the encoder, by split, shape (copies, texts, width). With word dropout, the
            copies come from texts with different words removed; otherwise there is one copy.
        clean: Classifier of the encoder without noise, on the same features.
    """
    part, labels, classes = recipe.representation, task.dev.labels, len(task.labels)
    levels: Sequence[float] = [float(level) for level in part.levels]
    if part.mode == "box" and part.dimension > _LARGEST_SEARCHED:
        return spread_codes(classes, part.dimension, levels)
    with torch.inference_mode():
        decisions = clean(features["dev"][0], None).argmax(-1)
    confusion = torch.bincount(labels * classes + decisions, minlength=classes**2).view(classes, classes)
    mode: Any = part.mode
    return search_codes(confusion.numpy(), levels, part.dimension, mode, float(part.delta or 0), _SEARCH)


def _export(
    task: ClassificationTask,
    settings: VectorBundleSettings,
    folder: Path,
    output: Path,
    reproduce: str,
    force: bool,
    report: ProgressCallback,
) -> "Encoder":
    """Quantize the trained networks to int8, check their accuracy on the test texts, and write the bundle.

    Args:
        task: The texts, divided into train, dev and test.
        settings: Settings of the bundle.
        folder: Folder of the finished parts.
        output: Folder of the new bundle.
        reproduce: Command that builds the bundle, for the model card.
        force: Whether to replace an existing bundle.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
    """
    from textveil_export.encoder import EncoderBuildSettings, build_encoder, write_encoder_bundle

    held_out = folder / HELD_OUT
    rows = zip(task.test.labels.tolist(), task.test.texts, strict=True)
    with open_atomic_text(held_out) as write:
        for label, text in rows:
            write(f"{task.labels[label]}\t{' '.join(text.split())}\n")
    training = folder / TRAINING_TEXTS
    if settings.keep_pieces is not None:  # keep the WordPieces of the training texts, for which the encoder was tuned
        with open_atomic_text(training) as write:
            write("".join(f"{' '.join(text.split())}\n" for text in task.train.texts))
    chosen = EncoderBuildSettings(
        name=settings.name,
        data=held_out,
        keep_pieces=settings.keep_pieces,
        vocabulary_from=None if settings.keep_pieces is None else training,
        license=settings.license,
        attribution=settings.source,
    )
    with tempfile.TemporaryDirectory(prefix="textveil-encoder-") as scratch:
        contents = build_encoder(folder / PRIVATE, chosen, Path(scratch), report)
        report("writing and opening the bundle", 0, 1)
        return write_encoder_bundle(contents, output, reproduce=reproduce, force=force)


def _get_unfinished(output: Path) -> Path:
    if not output.parent.is_dir():
        raise CheckpointError("the folder above the bundle does not exist: make it, or choose another -o")
    return output.with_name(f"{output.name}.unfinished")
