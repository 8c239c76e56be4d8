"""Train many heads on one encoder's stored features, and record each with its bounds.

A cell is one trained head. It has a mode, a dimension, one epsilon or several, a word dropout and a seed. Each finished
cell is written as one line of JSON. A later run skips finished cells, so a grid can be stopped and resumed. The file
also has the bounds for every epsilon and word dropout: ceiling, reference, the best codes for the mode's noise, and
randomized response.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from bounds.channels import Mode, best_channel, ceiling, randomized_response, reference
from bounds.figures import accuracy_figures, clean_decisions, private_figures
from textveil.storage import open_atomic_text
from textveil_cli.errors import ResumeError
from textveil_training.attacks.vectors import (
    AttributeAttackSettings,
    attack_checkpoint,
    get_attributes,
    infer_attributes,
    infer_from_frequency,
)
from textveil_training.dpnr import (
    ClassCodes,
    ClassificationTask,
    CodeSearchSettings,
    RepresentationClassifier,
    RepresentationDescription,
    RepresentationModel,
    RepresentationRecipe,
    replace_representation,
    search_best_dimension,
    search_codes,
    train_head,
)
from textveil_training.engine import list_software
from textveil_training.label_randomizers import compute_joint_shares, make_counts_randomizer
from textveil_training.progress import ProgressCallback, ignore_progress
from torch import Tensor

Features = Callable[[str], dict[str, Tensor]]
"""Pooled vectors by split for a word dropout, shape (copies, texts, width)."""

#: Dimensions in which codes are searched; more dimensions never helped under the noise of the modes.
PLACED_DIMENSIONS = {"l1": (1, 2, 3), "l2": (1, 2, 3), "box": (2, 3, 4)}
_BOUND_SEARCH = CodeSearchSettings(restarts=2, steps=100, draws=512)
_HEAD_SEARCH = CodeSearchSettings(restarts=2, steps=80, draws=512, fresh_draws=4096)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Settings of one trained head (network after the encoder, which computes the vector of a text).

    Attributes:
        mode: ``l1``, ``l2`` or ``box``.
        dimension: Number of coordinates of the vector, k.
        levels: Epsilons per text of training and measurement.
        word_dropout: Probability that a word is removed, a decimal string.
        seed: Seed of the training.
        delta: Delta of ``l2``, a decimal string, else empty.
    """

    mode: Mode
    dimension: int
    levels: tuple[str, ...]
    word_dropout: str = "0"
    seed: int = 0
    delta: str = ""

    @property
    def representation(self) -> dict[str, Any]:
        """Return the part of a recipe that this cell sets."""
        return {name: value for name, value in asdict(self).items() if name != "seed"}


class Grid:
    """Trainer of the heads of all cells, which writes a line of JSON for each cell.

    Args:
        recipe: Settings that all cells share: a recipe of kind ``dpnr`` for heads.
        task: The data.
        features: Features of the clean encoder.
        clean: Classifier of the model without noise, on these features.
        output: A JSON Lines file; existing lines are kept.
        attack: Settings of the attacker, or None for no attack; not used for data without private attributes.
        report: Called with the number of finished cells.
    """

    def __init__(
        self,
        recipe: RepresentationRecipe,
        task: ClassificationTask,
        features: Features,
        clean: RepresentationClassifier,
        output: Path,
        attack: AttributeAttackSettings | None = None,
        report: ProgressCallback = ignore_progress,
    ) -> None:
        self._recipe, self._task, self._features, self._clean = recipe, task, features, clean
        self._output, self._report = output, report
        self._attack = attack if task.test.attributes.shape[1] else None
        self._lines = read_lines(output)
        self._codes: dict[tuple[Any, ...], ClassCodes] = {}
        self._prior = np.bincount(task.test.labels.numpy(), minlength=len(task.labels))

    def run(self, cells: Sequence[Cell]) -> None:
        """Compute the missing lines: the baselines, and for each cell its bounds and the cell itself.

        Raises:
            OutputError: The file cannot be written.
        """
        self._add("baselines", self._baselines)
        for number, cell in enumerate(cells):
            for level in cell.levels:
                self._add(
                    f"bounds {cell.mode} {level} {cell.delta} {cell.word_dropout}",
                    lambda cell=cell, level=level: self._bounds(cell, level),
                )
            self._add(f"cell {json.dumps(asdict(cell))}", lambda cell=cell: self._cell(cell))
            self._report("cells", number + 1, len(cells))

    def measure(
        self, name: str, model: RepresentationModel, description: RepresentationDescription, features: dict[str, Tensor]
    ) -> None:
        """Add a line for a model that another command trained together with its encoder.

        The line has figures for each of its epsilons, or the figures without noise.

        Args:
            name: Name of the line.
            model: Head and classifier.
            description: Its settings, for the record.
            features: Features of the model's own encoder, by split.
        """
        key = f"checkpoint {name}"
        if description.mode == "none":
            self._add(
                key, lambda: {"kind": "baseline", "name": name} | self._without_privacy(model.classifier, features)
            )
        else:
            line = {"kind": "checkpoint", "name": name}
            self._add(key, lambda: line | self._figures(model, description, features, seed=0))

    def _add(self, key: str, make: Callable[[], dict[str, Any]]) -> None:
        if key in self._lines:
            return
        self._lines[key] = {"key": key} | make()
        with open_atomic_text(self._output) as write:
            write("".join(json.dumps(line) + "\n" for line in self._lines.values()))

    def _baselines(self) -> dict[str, Any]:
        features, task = self._features("0"), self._task
        majority = np.full((1, len(task.test.labels)), int(np.argmax(np.bincount(task.train.labels.numpy()))))
        found: dict[str, Any] = {
            "kind": "baselines",
            "data": task.describe(),
            "labels": list(task.labels),
            "recipe": asdict(self._recipe),
            "software": list_software(),
            "clean": self._without_privacy(self._clean, features),
            "majority": accuracy_figures(majority, task.test),
        }
        if self._attack is not None:
            found["majority"]["attack"] = infer_from_frequency(get_attributes(task)).to_dict()
        return found

    def _without_privacy(self, classifier: RepresentationClassifier, features: dict[str, Tensor]) -> dict[str, Any]:
        decisions = clean_decisions(classifier, features)
        found = accuracy_figures(decisions["test"][None], self._task.test)
        if self._attack is not None:
            stored = {name: part[0].numpy() for name, part in features.items()}
            found["attack"] = infer_attributes(stored.__getitem__, get_attributes(self._task), self._attack).to_dict()
        return found

    def _bounds(self, cell: Cell, level: str) -> dict[str, Any]:
        epsilon, delta = float(level), float(cell.delta or 0)
        confusion = self._confusion(cell.word_dropout, "test")
        placed = search_best_dimension(
            confusion, [epsilon], cell.mode, delta, PLACED_DIMENSIONS[cell.mode], search=_BOUND_SEARCH
        )
        return {
            "kind": "bounds",
            "mode": cell.mode,
            "level": level,
            "delta": cell.delta,
            "word_dropout": cell.word_dropout,
            "clean": float(np.trace(confusion) / confusion.sum()),
            "ceiling": ceiling(self._prior, epsilon, delta),
            "reference": reference(confusion, epsilon, delta),
            "label_randomized_response": randomized_response(confusion, epsilon),
            "placed": placed.to_dict(),
        }

    def _cell(self, cell: Cell) -> dict[str, Any]:
        recipe = replace_representation(self._recipe, seed=cell.seed, **cell.representation)
        features = self._features(cell.word_dropout)
        head = train_head(recipe, self._task, features, self._clean, self._placement(cell))
        found = {"kind": "cell", **asdict(cell), "dev": head.dev, "wall_s": head.wall_s}
        return found | self._figures(head.model, head.description, features, cell.seed)

    def _figures(
        self, model: RepresentationModel, description: RepresentationDescription, features: dict[str, Tensor], seed: int
    ) -> dict[str, Any]:
        levels: dict[str, Any] = {}
        for level in description.levels:
            bound = ceiling(self._prior, float(level), float(description.delta or 0))
            levels[level] = private_figures(model, description, features, self._task, level, bound)
            if self._attack is not None:
                settings = AttributeAttackSettings(**asdict(self._attack) | {"seed": seed})
                channels = partial(_label_channels, delta=float(description.delta or 0))
                levels[level]["attack"] = attack_checkpoint(
                    model, description, features, self._task, level, settings, channels
                )
        return {"description": asdict(description), "levels": levels}

    def _placement(self, cell: Cell) -> ClassCodes:
        """Return one vector (*code*) for each class, optimized on the dev split and not on the test split."""
        key = (cell.mode, cell.dimension, cell.levels, cell.word_dropout, cell.delta)
        if key not in self._codes:
            confusion = self._confusion(cell.word_dropout, "dev")
            levels = [float(level) for level in cell.levels]
            self._codes[key] = search_codes(
                confusion, levels, cell.dimension, cell.mode, float(cell.delta or 0), _HEAD_SEARCH
            )
        return self._codes[key]

    def _confusion(self, word_dropout: str, split: str) -> np.ndarray:
        """Count texts by true class and decision of the model without noise, over all copies of the features."""
        classes, labels = len(self._task.labels), self._task.get_splits()[split].labels.numpy()
        cells = np.zeros((classes, classes))
        for copy in self._features(word_dropout)[split]:
            with torch.inference_mode():
                np.add.at(cells, (labels, self._clean(copy, None).argmax(-1).numpy()), 1)
        return cells


def _label_channels(confusion: np.ndarray, epsilon: float, delta: float) -> dict[str, np.ndarray]:
    """Return two randomizers of a decision by name: randomized response, and the most accurate private one."""
    best = best_channel(compute_joint_shares(confusion), epsilon, delta).channel
    return {"label_response": make_counts_randomizer(len(confusion), epsilon), "label_channel": best}


def read_lines(path: Path) -> dict[str, dict[str, Any]]:
    """Read the lines of a grid, by key; the result is empty if the file is missing.

    Raises:
        ResumeError: A line does not belong to a grid. A stopped run cannot cause this, since files are replaced whole.
    """
    if not path.exists():
        return {}
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return {line["key"]: line for line in lines}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ResumeError("the file has lines that are not lines of a grid") from error
