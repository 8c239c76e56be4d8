"""Train a model that encodes texts as noisy vectors (Lyu, He and Li 2020), or a baseline without noise.

    textveil-train dpnr server_training/recipes/ag-clean.toml --data ag_data.txt -o ag-clean --write-features
    textveil-train dpnr server_training/recipes/ag-l1.toml --data ag_data.txt -o ag-l1 --start ag-clean

The settings come from a recipe (TOML file). The network consists of an encoder, mean pooling, a head, the bound on
vectors, and the server's classifier. Its training stages are in ``textveil_training.dpnr.losses``. The best epoch on
the dev split is measured once on the test split, with noisy vectors that the code of devices computes.
"""

from dataclasses import KW_ONLY, asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from textveil.mechanisms.noise import WordDropout
from torch import Tensor

from textveil_training.dpnr import checkpoint as files
from textveil_training.dpnr.accuracy import compute_device_features, measure_accuracy
from textveil_training.dpnr.classification_data import ClassificationTask
from textveil_training.dpnr.code_search import CodeSearchSettings, search_codes
from textveil_training.dpnr.features import compute_pooled_features, read_features, write_features
from textveil_training.dpnr.losses import EncodedSplit, StageBuilder, StoredSplit
from textveil_training.dpnr.networks import RepresentationClassifier, RepresentationModel
from textveil_training.dpnr.recipe import RepresentationRecipe
from textveil_training.dpnr.training_noise import TrainingNoise
from textveil_training.engine.checkpoint import WEIGHTS
from textveil_training.engine.encoders import choose_precision, load_transformer
from textveil_training.engine.loop import derive_seed
from textveil_training.engine.run import RunOptions, TrainingRun
from textveil_training.engine.stage import TrainingStage
from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.errors import CheckpointError, EmptyClass, RecipeError
from textveil_training.file_hashes import hash_file
from textveil_training.progress import ProgressCallback, ignore_progress

COPIES = 4
"""Number of copies of the stored training features with word dropout; each has other words removed."""
SEARCH = CodeSearchSettings(restarts=2, steps=80, draws=512, fresh_draws=4096)
"""Effort of the search for codes; more effort changes accuracies by less than .001."""


@dataclass(frozen=True)
class RepresentationRunOptions(RunOptions):
    """Options of a training that the command line gives in addition to a recipe (file of settings).

    Attributes:
        start: Checkpoint (folder of a trained model) from which the training starts, if the recipe requires one.
        features: Folder with stored pooled vectors (mean encoder outputs) ``features-SPLIT.safetensors`` of that
            checkpoint's encoder; ``None`` to compute them.
        write_features: Whether to store the pooled vectors of all splits in the output folder.
        precision: Precision of the encoder in training. ``None`` for the recipe's precision, or for float32 if the
            device has no instructions for the recipe's precision.
    """

    start: Path | None = None
    features: Path | None = None
    write_features: bool = False
    _: KW_ONLY
    precision: str | None = None


@dataclass(frozen=True)
class StartCheckpoint:
    """Trained model (checkpoint folder) from which a further training starts.

    Attributes:
        model: Networks of the checkpoint.
        description: Content of ``checkpoint.json`` for these networks.
        sha256: SHA-256 of ``checkpoint.json``.
    """

    model: RepresentationModel
    description: files.RepresentationDescription
    sha256: str


def train_representation(
    recipe: RepresentationRecipe,
    task: ClassificationTask,
    options: RepresentationRunOptions,
    report: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Train a model by a recipe (training settings), measure its best epoch, and write the checkpoint folder.

    Args:
        recipe: Recipe of the training.
        task: The data.
        options: Output folder, device and start of the run.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Returns:
        The record of the run: settings, data and accuracies, which is also in the output folder as JSON.

    Raises:
        DeviceError: The device does not exist.
        CheckpointError: The start checkpoint is missing or does not fit the recipe, or the output folder has a
            checkpoint or an unfinished run.
        ResumeError: The folder has no unfinished run to resume, or one with other settings.
        EmptyClass: The start checkpoint was trained for other classes.
        OutputError: The folder cannot be written.
        KeyboardInterrupt: Ctrl-C was pressed; the run can be resumed.
    """
    if recipe.kind == "adversarial" and not task.train.attributes.shape[1]:
        raise RecipeError(
            "adversarial training needs a format with private attributes: ag-entities, trustpilot or blog"
        )
    seed, part = recipe.training.seed, recipe.representation
    run = TrainingRun(options, seed, report, finished=[files.DESCRIPTION])
    precision = options.precision or choose_precision(recipe.training.precision, run.device)
    recipe = replace(recipe, training=replace(recipe.training, precision=precision))

    # The network: encoder, head, bound and noise of the release, classifier.
    start = _open_start(recipe, task, options.start)
    source = recipe.extractor.source if options.start is None else str(options.start / files.EXTRACTOR)
    encoder, vocabulary, lowercase = load_transformer(source, recipe.extractor.dropout)
    positions = int(getattr(encoder.config, "max_position_embeddings", recipe.data.max_tokens))  # type: ignore[union-attr]
    if recipe.data.max_tokens > positions:
        raise CheckpointError(
            f"the encoder reads at most {positions} tokens: use a smaller --max-tokens, or data.max_tokens"
        )
    lowercase = lowercase if start is None else start.description.lowercase
    tokenizer = EncoderTokenizer(vocabulary, lowercase=lowercase, max_tokens=recipe.data.max_tokens)
    description = files.RepresentationDescription.from_recipe(recipe, task.labels, lowercase)
    hidden, dropout = part.classifier_hidden, recipe.extractor.dropout
    model = files.build_model(encoder, description, classifier_hidden=hidden, dropout=dropout).to(run.device)
    if start is not None and start.description.mode != "none":
        _copy_head(model, description, start)
    noise = None
    if part.mode != "none":
        levels = [float(level) for level in part.levels]
        noise = TrainingNoise(part.mode, part.dimension, levels, float(part.delta or 0))
    words = {
        name: [tokenizer.split_into_pieces(text) for text in split.texts] for name, split in task.get_splits().items()
    }

    # The stages, on texts that go through the encoder or on its stored vectors.
    maker, training = StageBuilder(model, recipe, noise), recipe.training

    def texts(name: str) -> EncodedSplit:
        return EncodedSplit(model, tokenizer, task.get_splits()[name], words[name], recipe, run.device)

    def features(name: str) -> Tensor:
        """Compute mean output vectors of the start checkpoint's encoder for a split, ``(copies, texts, width)``.

        With word dropout each copy of the train split has other words removed; otherwise there is one copy.
        """
        dropout = float(part.word_dropout)
        if dropout:
            torch.manual_seed(derive_seed(seed, "copies", name))
            number = COPIES if name == "train" else 1
            copies = [[text.drop_words(dropout) for text in words[name]] for _ in range(number)]
            return torch.stack([compute_pooled_features(model, tokenizer, some, run.device, report) for some in copies])
        if options.features is not None:  # stored vectors belong to the encoder of a start checkpoint
            path = options.features / f"features-{name}.safetensors"
            return read_features(path, task.get_splits()[name], hash_file(Path(source) / WEIGHTS))[None]
        return compute_pooled_features(model, tokenizer, words[name], run.device, report)[None]

    def stages() -> list[TrainingStage]:
        train, dev = texts("train"), texts("dev")
        if recipe.kind == "clean":
            return [maker.build_tuned(train, dev, training.num_epochs)]
        if recipe.kind == "adversarial":
            return [maker.build_adversarial(train, dev, training.num_epochs)]
        found: list[TrainingStage] = []
        if training.placed_epochs or training.head_epochs:
            vectors = {name: features(name) for name in ("train", "dev")}
            stored = {name: StoredSplit(vectors[name], task.get_splits()[name], recipe, run.device) for name in vectors}
            if training.placed_epochs:
                if start is None or start.description.mode != "none":
                    raise CheckpointError("placed_epochs needs --start with a checkpoint trained without noise")
                clean = start.model.classifier.to(run.device)
                codes = _search_class_codes(recipe, task, clean, vectors["dev"][0].to(run.device))
                found.append(maker.build_placed(stored["train"], stored["dev"], clean, codes, training.placed_epochs))
            if training.head_epochs:
                found.append(maker.build_head(stored["train"], stored["dev"], training.head_epochs))
        if recipe.extractor.tuned:
            found.append(maker.build_tuned(train, dev, training.num_epochs))
        return found

    def keep(best: bool) -> None:
        if best:
            files.write_checkpoint(run.output, model, description, vocabulary)

    started = None if start is None else start.sha256
    run.begin({"recipe": asdict(recipe), "data": task.describe(), "start": started})
    run.train(stages(), [recipe.sha256, precision, started, task.describe()], keep)
    best, _ = files.read_checkpoint(run.output)
    best = best.to(run.device)

    # Measure the best epoch: exactly without noise, else with vectors that are released by the code that devices run.
    result: dict[str, Any] = {}
    removal = WordDropout(description.word_dropout)
    majority = int(task.train.labels.bincount().argmax())
    for name, split in task.get_splits().items():
        if name == "train" and not options.write_features:
            continue
        vectors: Any = compute_pooled_features(best, tokenizer, words[name], run.device, report)  # (texts, width)
        if options.write_features:
            key = hash_file(run.output / files.EXTRACTOR / WEIGHTS)
            write_features(run.output / f"features-{name}.safetensors", vectors, split, key)
        if name != "train":
            if removal.exact:
                vectors = compute_device_features(best, tokenizer, words[name], removal, run.device, report)
            result[name] = measure_accuracy(best, description, vectors, split)
            result[name]["majority"] = (split.labels == majority).double().mean().item()
    return run.finish(result)


def _open_start(recipe: RepresentationRecipe, task: ClassificationTask, folder: Path | None) -> StartCheckpoint | None:
    if recipe.extractor.source != "start":
        if folder is not None:
            raise CheckpointError("this recipe does not start from a checkpoint: omit --start")
        return None
    if folder is None:
        raise CheckpointError("this recipe starts from a checkpoint: pass one with --start")
    model, description = files.read_checkpoint(folder)
    if description.labels != task.labels:
        raise EmptyClass("the checkpoint of --start was trained for other classes: pass another one")
    return StartCheckpoint(model, description, hash_file(folder / files.DESCRIPTION))


def _copy_head(
    model: RepresentationModel, description: files.RepresentationDescription, start: StartCheckpoint
) -> None:
    """Copy the weights of head (which computes the vector) and classifier from a model that was trained with noise."""
    ours, theirs = description, start.description
    same = (ours.mode, ours.dimension, ours.head_hidden) == (theirs.mode, theirs.dimension, theirs.head_hidden)
    try:
        if not same or model.head is None or start.model.head is None:
            raise CheckpointError(
                "the checkpoint of --start has another mode, dimension or head than the recipe: pass another checkpoint"
            )
        model.head.load_state_dict(start.model.head.state_dict())
        model.classifier.load_state_dict(start.model.classifier.state_dict())
    except RuntimeError as error:
        raise CheckpointError(
            "the checkpoint of --start has a classifier of another size than the recipe: pass another checkpoint"
        ) from error


def _search_class_codes(
    recipe: RepresentationRecipe, task: ClassificationTask, clean: RepresentationClassifier, features: Tensor
) -> Tensor:
    """Find one vector (*code*) for each class, so that classes remain distinguishable under noise (``code_search``).

    Args:
        recipe: Recipe (training settings) with mode, dimension and epsilons.
        task: The data.
        clean: Classifier of the model from which the training starts.
        features: Mean output vectors of the encoder for the dev split, shape ``(texts, width)``.

    Returns:
        Codes, shape ``(classes, k)``.
    """
    part, labels, classes = recipe.representation, task.dev.labels, len(task.labels)
    with torch.inference_mode():
        decisions = clean(features, None).argmax(-1).cpu()
    confusion = torch.bincount(labels * classes + decisions, minlength=classes**2).view(classes, classes)
    levels = [float(level) for level in part.levels]
    mode: Any = part.mode
    found = search_codes(confusion.numpy(), levels, part.dimension, mode, float(part.delta or 0), SEARCH)
    return torch.tensor(found.codes, device=features.device)
