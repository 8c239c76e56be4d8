"""A recipe from data to checkpoint: builds the networks, runs the stages, keeps the best epoch, measures it once."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from textveil.mechanisms import WordDropout
from torch import Tensor

from textveil_training.bounds.placement import Search, place
from textveil_training.dpnr import checkpoint as files
from textveil_training.dpnr.evaluation import device_features
from textveil_training.dpnr.features import pooled_features, read_features, write_features
from textveil_training.dpnr.measure import measured
from textveil_training.dpnr.networks import Classifier, Model
from textveil_training.dpnr.noise_levels import NoiseLevels
from textveil_training.dpnr.recipe import Recipe
from textveil_training.dpnr.stages import StageMaker, Stored, Texts
from textveil_training.dpnr.task import Task
from textveil_training.engine.encoders import device_named, load_encoder
from textveil_training.engine.loop import Loop, Position, Report, Stage, no_report, seeded
from textveil_training.engine.record import RunRecord
from textveil_training.engine.tensor_files import sha256
from textveil_training.engine.tokens import Tokeniser, Words
from textveil_training.errors import CheckpointError, EmptyClass, RecipeError

STATE = "unfinished.safetensors"
COPIES = 4
"""Copies of the stored training features with different words removed, where there is word dropout."""
SEARCH = Search(restarts=2, steps=80, draws=512, fresh_draws=4096)
"""How hard codes are looked for: more changes the third digit of no accuracy."""


@dataclass(frozen=True)
class Options:
    """What the command line adds to a recipe.

    Attributes:
        output: The checkpoint's folder.
        start: The checkpoint it starts from, where the recipe says so.
        features: Folder with ``features-SPLIT.safetensors`` of the start's encoder, to save their computation.
        write_features: Whether to leave the features of all splits in the output folder.
        resume: Whether to go on with an unfinished run.
        device: ``cpu`` or a CUDA device.
    """

    output: Path
    start: Path | None = None
    features: Path | None = None
    write_features: bool = False
    resume: bool = False
    device: str = "cpu"


def train(recipe: Recipe, task: Task, options: Options, report: Report = no_report) -> dict[str, Any]:
    """Runs a recipe.

    Args:
        recipe: What to do.
        task: The data.
        options: Where.
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
    return _Run(recipe, task, options, report).run()


class _Run:
    def __init__(self, recipe: Recipe, task: Task, options: Options, report: Report) -> None:
        self._recipe, self._task, self._options, self._report = recipe, task, options, report
        self._device = device_named(options.device)
        if recipe.kind == "adversarial" and not task.train.attributes.shape[1]:
            raise RecipeError("adversarial training needs a format with private attributes")
        torch.manual_seed(recipe.training.seed)
        self._build()
        self._words = {name: self._pieces(part.texts) for name, part in task.splits().items()}

    def _build(self) -> None:
        recipe, task = self._recipe, self._task
        part = recipe.representation
        private = part.mode != "none"
        self._clean: Model | None = None
        self._trained: Model | None = None
        self._start_key: str | None = None
        self._started: files.Description | None = None
        dropout = recipe.extractor.dropout
        source = recipe.extractor.source
        if source == "start":
            if self._options.start is None:
                raise CheckpointError("the recipe starts from a checkpoint: name one with --start")
            self._start(self._options.start)
            source = str(self._options.start / files.EXTRACTOR)
        elif self._options.start is not None:
            raise CheckpointError("the recipe does not start from a checkpoint: leave --start out")
        encoder, self._vocabulary, lowercase = load_encoder(source, dropout)
        if self._started is not None:
            lowercase = self._started.lowercase
        self._tokeniser = Tokeniser(self._vocabulary, lowercase=lowercase, max_tokens=recipe.data.max_tokens)
        self._description = files.Description.of(recipe, task.labels, lowercase)
        self._model = files.build(
            encoder, self._description, classifier_hidden=part.classifier_hidden, dropout=dropout
        ).to(self._device)
        if self._trained is not None and self._started is not None:
            self._take_over(self._trained, self._started)
        self._noise = None
        if private:
            levels = [float(level) for level in part.levels]
            self._noise = NoiseLevels(part.mode, part.dimension, levels, float(part.delta or 0))
        self._encoder_key = sha256(Path(source) / "model.safetensors") if Path(source).is_dir() else None

    def _start(self, folder: Path) -> None:
        start, description = files.read_checkpoint(folder)
        if description.labels != self._task.labels:
            raise EmptyClass("the checkpoint it starts from was trained for other classes")
        self._started = description
        self._start_key = sha256(folder / files.DESCRIPTION)
        if description.mode == "none":
            self._clean = start
        else:
            self._trained = start

    def _take_over(self, trained: Model, started: files.Description) -> None:
        """Head and classifier of a start that had been trained under noise."""
        ours, theirs = self._description, started
        same = (ours.mode, ours.dimension, ours.head_hidden) == (theirs.mode, theirs.dimension, theirs.head_hidden)
        try:
            if not same or self._model.head is None or trained.head is None:
                raise CheckpointError("the checkpoint it starts from has another mode, dimension or head")
            self._model.head.load_state_dict(trained.head.state_dict())
            self._model.classifier.load_state_dict(trained.classifier.state_dict())
        except RuntimeError as error:
            raise CheckpointError("the checkpoint it starts from has another classifier") from error

    def _pieces(self, texts: tuple[str, ...]) -> list[Words]:
        return [self._tokeniser.words(text) for text in texts]

    def run(self) -> dict[str, Any]:
        output, recipe = self._options.output, self._recipe
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError("the output folder cannot be made") from error
        state = output / STATE
        if not self._options.resume and ((output / files.DESCRIPTION).exists() or state.exists()):
            raise CheckpointError(
                "the output folder holds a checkpoint or an unfinished run (--resume goes on with it)"
            )
        subject = {"recipe": asdict(recipe), "data": self._task.described(), "start": self._start_key}
        record = RunRecord(output / files.RECORD, subject, self._device)

        def on_epoch(position: Position, best: bool) -> None:
            if best:
                files.write_checkpoint(output, self._model, self._description, self._vocabulary)
            record.update(position)

        loop = Loop(
            self._stages(),
            seed=recipe.training.seed,
            state=state,
            run_key=self._run_key(),
            on_epoch=on_epoch,
            report=self._report,
        )
        if self._options.resume:
            loop.resume()
        loop.run()
        record.update(loop.position)
        best, _ = files.read_checkpoint(output)
        record.finish(self._result(best.to(self._device)))
        loop.forget()
        return record.content

    def _run_key(self) -> str:
        parts = [self._recipe.sha256, self._start_key, json.dumps(self._task.described()), torch.__version__]
        return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()

    def _stages(self) -> list[Stage]:
        recipe, maker = self._recipe, StageMaker(self._model, self._recipe, self._noise)
        epochs = recipe.training
        train, dev = (self._texts(name) for name in ("train", "dev"))
        if recipe.kind == "clean":
            return [maker.tuned(train, dev, epochs.epochs)]
        if recipe.kind == "adversarial":
            return [maker.adversarial(train, dev, epochs.epochs)]
        stages: list[Stage] = []
        if epochs.placed_epochs or epochs.head_epochs:
            features = {name: self._features(name) for name in ("train", "dev")}
            stored_train, stored_dev = (self._stored(name, features[name]) for name in ("train", "dev"))
            if epochs.placed_epochs:
                clean = self._clean_classifier()
                codes = self._codes(clean, features["dev"][0])
                stages.append(maker.placed(stored_train, stored_dev, clean, codes, epochs.placed_epochs))
            if epochs.head_epochs:
                stages.append(maker.head(stored_train, stored_dev, epochs.head_epochs))
        if recipe.extractor.tuned:
            stages.append(maker.tuned(train, dev, epochs.epochs))
        return stages

    def _texts(self, name: str) -> Texts:
        split = self._task.splits()[name]
        return Texts(self._model, self._tokeniser, split, self._words[name], self._recipe, self._device)

    def _stored(self, name: str, features: Tensor) -> Stored:
        return Stored(features, self._task.splits()[name], self._recipe, self._device)

    def _features(self, name: str) -> Tensor:
        """Pooled vectors of the start's encoder, shape ``(copies, n, width)``."""
        dropout = float(self._recipe.representation.word_dropout)
        if dropout:
            torch.manual_seed(seeded(self._recipe.training.seed, "copies", name))
            copies = [
                [text.without(dropout) for text in self._words[name]] for _ in range(COPIES if name == "train" else 1)
            ]
            return torch.stack([self._pooled(self._model, words) for words in copies])
        if self._options.features is not None:
            path = self._options.features / f"features-{name}.safetensors"
            return read_features(path, self._task.splits()[name], str(self._encoder_key))[None]
        return self._pooled(self._model, self._words[name])[None]

    def _pooled(self, model: Model, words: list[Words]) -> Tensor:
        return pooled_features(model, self._tokeniser, words, self._device, self._report)

    def _clean_classifier(self) -> Classifier:
        if self._clean is None:
            raise CheckpointError("placed_epochs need a start without privacy, whose decisions are given codes")
        return self._clean.classifier.to(self._device)

    def _codes(self, clean: Classifier, features: Tensor) -> Tensor:
        """Codes of the classes, placed for the levels under the clean model's confusion on dev."""
        part, labels = self._recipe.representation, self._task.dev.labels
        with torch.inference_mode():
            decided = clean(features.to(self._device), None).argmax(-1).cpu()
        classes = len(self._task.labels)
        confusion = torch.bincount(labels * classes + decided, minlength=classes**2).view(classes, classes)
        levels = [float(level) for level in part.levels]
        mode: Any = part.mode
        found = place(confusion.numpy(), levels, part.dimension, mode, float(part.delta or 0), SEARCH)
        return torch.tensor(found.codes, device=self._device)

    def _result(self, model: Model) -> dict[str, Any]:
        """Accuracy of the kept epoch on dev and test: exact without privacy, else through the device's release."""
        result: dict[str, Any] = {}
        output, dropout = self._options.output, WordDropout(self._description.word_dropout)
        names = ("train", "dev", "test") if self._options.write_features else ("dev", "test")
        encoder = sha256(output / files.EXTRACTOR / "model.safetensors")
        for name in names:
            part = self._task.splits()[name]
            features = self._pooled(model, self._words[name])
            if self._options.write_features:
                logits = self._logits(model, features)
                write_features(output / f"features-{name}.safetensors", features, logits, part, encoder)
            if name != "train":
                if dropout.exact:
                    features = device_features(
                        model, self._tokeniser, self._words[name], dropout, self._device, self._report
                    )
                majority = int(self._task.train.labels.bincount().argmax())
                result[name] = measured(model, self._description, features, part)
                result[name]["majority"] = (part.labels == majority).double().mean().item()
        return result

    def _logits(self, model: Model, features: Tensor) -> Tensor:
        """Of the classifier without noise, told the highest level where there is one."""
        with torch.inference_mode():
            vectors = model.represented(features.to(self._device))
            log_epsilon = None if self._noise is None else vectors.new_full((1, 1), math.log(self._noise.levels[-1]))
            return model.classifier(vectors, log_epsilon).cpu()
