"""Trains a representation under noise (Lyu, He and Li 2020), or one of its baselines, as a recipe says.

    textveil-train dpnr server_training/recipes/ag-clean.toml --data ag_data.txt -o ag-clean --write-features
    textveil-train dpnr server_training/recipes/ag-l1.toml --data ag_data.txt -o ag-l1 --start ag-clean

The network is an encoder, mean pooling, a head, the bound of the release, and the server's classifier; its stages are
in ``textveil_training.dpnr.losses``. The best epoch on dev is kept and measured once, through the device's release.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from textveil.mechanisms.noise import WordDropout
from torch import Tensor

from textveil_training.dpnr import checkpoint as files
from textveil_training.dpnr.accuracy import device_features, measured
from textveil_training.dpnr.classification_data import Task
from textveil_training.dpnr.code_search import Search, place
from textveil_training.dpnr.features import pooled_features, read_features, write_features
from textveil_training.dpnr.losses import StageMaker, Stored, Texts
from textveil_training.dpnr.networks import Classifier, Model
from textveil_training.dpnr.recipe import Recipe
from textveil_training.dpnr.training_noise import NoiseLevels
from textveil_training.engine.checkpoint import WEIGHTS
from textveil_training.engine.encoders import load_transformer
from textveil_training.engine.loop import seeded
from textveil_training.engine.run import Run, RunOptions
from textveil_training.engine.stage import Stage
from textveil_training.engine.tokens import Tokenizer
from textveil_training.errors import CheckpointError, EmptyClass, RecipeError
from textveil_training.file_hashes import sha256
from textveil_training.progress import Report, no_report

COPIES = 4
"""Copies of the stored training features with different words removed, where there is word dropout."""
SEARCH = Search(restarts=2, steps=80, draws=512, fresh_draws=4096)
"""How hard codes are looked for: more changes the third digit of no accuracy."""


@dataclass(frozen=True)
class Options(RunOptions):
    """Options that the command line adds to a recipe.

    Attributes:
        start: Checkpoint that the training starts from, where the recipe says so.
        features: Folder with ``features-SPLIT.safetensors`` of the start's encoder, to save their computation.
        write_features: Whether to leave the features of all splits in the output folder.
    """

    start: Path | None = None
    features: Path | None = None
    write_features: bool = False


@dataclass(frozen=True)
class Start:
    """The checkpoint that a training starts from.

    Attributes:
        model: Its networks.
        description: What they are.
        sha256: SHA-256 of its description.
    """

    model: Model
    description: files.Description
    sha256: str


def train(recipe: Recipe, task: Task, options: Options, report: Report = no_report) -> dict[str, Any]:
    """Runs a recipe.

    Args:
        recipe: Recipe of the training.
        task: The data.
        options: Where the run goes and what it starts from.
        report: Called with progress.

    Returns:
        The run record, which is also in the output folder.

    Raises:
        DeviceError: The device is not there.
        CheckpointError: The start is missing or unfit, or the output folder holds a checkpoint or an unfinished run.
        ResumeError: There is nothing to go on with, or it belongs to another run.
        EmptyClass: The start was trained for other classes.
        OutputError: The folder cannot be written.
        KeyboardInterrupt: After Ctrl-C; the run can be resumed.
    """
    if recipe.kind == "adversarial" and not task.train.attributes.shape[1]:
        raise RecipeError("adversarial training needs a format with private attributes")
    seed, part = recipe.training.seed, recipe.representation
    run = Run(options, seed, report, finished=[files.DESCRIPTION])

    # The network: encoder, head, bound and noise of the release, classifier.
    start = _start(recipe, task, options.start)
    source = recipe.extractor.source if options.start is None else str(options.start / files.EXTRACTOR)
    encoder, vocabulary, lowercase = load_transformer(source, recipe.extractor.dropout)
    lowercase = lowercase if start is None else start.description.lowercase
    tokenizer = Tokenizer(vocabulary, lowercase=lowercase, max_tokens=recipe.data.max_tokens)
    description = files.Description.of(recipe, task.labels, lowercase)
    hidden, dropout = part.classifier_hidden, recipe.extractor.dropout
    model = files.build(encoder, description, classifier_hidden=hidden, dropout=dropout).to(run.device)
    if start is not None and start.description.mode != "none":
        _take_over(model, description, start)
    noise = None
    if part.mode != "none":
        levels = [float(level) for level in part.levels]
        noise = NoiseLevels(part.mode, part.dimension, levels, float(part.delta or 0))
    words = {name: [tokenizer.words(text) for text in split.texts] for name, split in task.splits().items()}

    # The stages, on texts that go through the encoder or on stored features of it.
    maker, training = StageMaker(model, recipe, noise), recipe.training

    def texts(name: str) -> Texts:
        return Texts(model, tokenizer, task.splits()[name], words[name], recipe, run.device)

    def features(name: str) -> Tensor:
        """Returns pooled vectors of the start's encoder, shape ``(copies, texts, width)``."""
        dropout = float(part.word_dropout)
        if dropout:
            torch.manual_seed(seeded(seed, "copies", name))
            number = COPIES if name == "train" else 1
            copies = [[text.without(dropout) for text in words[name]] for _ in range(number)]
            return torch.stack([pooled_features(model, tokenizer, some, run.device, report) for some in copies])
        if options.features is not None:  # of a start: other sources give none
            path = options.features / f"features-{name}.safetensors"
            return read_features(path, task.splits()[name], sha256(Path(source) / WEIGHTS))[None]
        return pooled_features(model, tokenizer, words[name], run.device, report)[None]

    def stages() -> list[Stage]:
        train, dev = texts("train"), texts("dev")
        if recipe.kind == "clean":
            return [maker.tuned(train, dev, training.num_epochs)]
        if recipe.kind == "adversarial":
            return [maker.adversarial(train, dev, training.num_epochs)]
        found: list[Stage] = []
        if training.placed_epochs or training.head_epochs:
            vectors = {name: features(name) for name in ("train", "dev")}
            stored = {name: Stored(vectors[name], task.splits()[name], recipe, run.device) for name in vectors}
            if training.placed_epochs:
                if start is None or start.description.mode != "none":
                    raise CheckpointError("placed_epochs need a start without privacy, whose decisions are given codes")
                clean = start.model.classifier.to(run.device)
                codes = _codes(recipe, task, clean, vectors["dev"][0].to(run.device))
                found.append(maker.placed(stored["train"], stored["dev"], clean, codes, training.placed_epochs))
            if training.head_epochs:
                found.append(maker.head(stored["train"], stored["dev"], training.head_epochs))
        if recipe.extractor.tuned:
            found.append(maker.tuned(train, dev, training.num_epochs))
        return found

    def keep(best: bool) -> None:
        if best:
            files.write_checkpoint(run.output, model, description, vocabulary)

    started = None if start is None else start.sha256
    run.begin({"recipe": asdict(recipe), "data": task.described(), "start": started})
    run.train(stages(), [recipe.sha256, started, task.described()], keep)
    best, _ = files.read_checkpoint(run.output)
    best = best.to(run.device)

    # What was kept, measured: exact without privacy, else through the device's release.
    result: dict[str, Any] = {}
    removal = WordDropout(description.word_dropout)
    majority = int(task.train.labels.bincount().argmax())
    for name, split in task.splits().items():
        if name == "train" and not options.write_features:
            continue
        vectors: Any = pooled_features(best, tokenizer, words[name], run.device, report)  # (texts, width)
        if options.write_features:
            key = sha256(run.output / files.EXTRACTOR / WEIGHTS)
            write_features(run.output / f"features-{name}.safetensors", vectors, split, key)
        if name != "train":
            if removal.exact:
                vectors = device_features(best, tokenizer, words[name], removal, run.device, report)
            result[name] = measured(best, description, vectors, split)
            result[name]["majority"] = (split.labels == majority).double().mean().item()
    return run.finish(result)


def _start(recipe: Recipe, task: Task, folder: Path | None) -> Start | None:
    if recipe.extractor.source != "start":
        if folder is not None:
            raise CheckpointError("the recipe does not start from a checkpoint: leave --start out")
        return None
    if folder is None:
        raise CheckpointError("the recipe starts from a checkpoint: name one with --start")
    model, description = files.read_checkpoint(folder)
    if description.labels != task.labels:
        raise EmptyClass("the checkpoint it starts from was trained for other classes")
    return Start(model, description, sha256(folder / files.DESCRIPTION))


def _take_over(model: Model, description: files.Description, start: Start) -> None:
    """Takes head and classifier of a start that was trained under noise."""
    ours, theirs = description, start.description
    same = (ours.mode, ours.dimension, ours.head_hidden) == (theirs.mode, theirs.dimension, theirs.head_hidden)
    try:
        if not same or model.head is None or start.model.head is None:
            raise CheckpointError("the checkpoint it starts from has another mode, dimension or head")
        model.head.load_state_dict(start.model.head.state_dict())
        model.classifier.load_state_dict(start.model.classifier.state_dict())
    except RuntimeError as error:
        raise CheckpointError("the checkpoint it starts from has another classifier") from error


def _codes(recipe: Recipe, task: Task, clean: Classifier, features: Tensor) -> Tensor:
    """Returns codes of the classes, placed for the levels under the clean model's confusion on dev.

    Args:
        recipe: Recipe with mode, dimension and levels.
        task: The data.
        clean: Classifier of the start.
        features: Pooled vectors of dev, shape ``(texts, width)``.

    Returns:
        Shape ``(classes, k)``.
    """
    part, labels, classes = recipe.representation, task.dev.labels, len(task.labels)
    with torch.inference_mode():
        decided = clean(features, None).argmax(-1).cpu()
    confusion = torch.bincount(labels * classes + decided, minlength=classes**2).view(classes, classes)
    levels = [float(level) for level in part.levels]
    mode: Any = part.mode
    found = place(confusion.numpy(), levels, part.dimension, mode, float(part.delta or 0), SEARCH)
    return torch.tensor(found.codes, device=features.device)
