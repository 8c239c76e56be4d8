"""Infer private attributes from the noisy vectors of a model that ``textveil-train dpnr`` trained.

The code that devices run computes the vectors, with new noise each time.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, inference_mode

from textveil_training.attacks.vectors.attribute_inference import (
    AttributeAttackSettings,
    Vectors,
    infer_attributes,
    infer_from_label,
)
from textveil_training.attacks.vectors.scores import Bits, Floats
from textveil_training.dpnr.accuracy import DRAWS, make_release_parameters, release_vectors
from textveil_training.dpnr.checkpoint import RepresentationDescription
from textveil_training.dpnr.classification_data import ClassificationTask
from textveil_training.dpnr.networks import RepresentationModel
from textveil_training.label_randomizers import fit_accuracy_randomizer, make_counts_randomizer

Decisions = NDArray[np.int64]
Confusion = NDArray[np.float64]
LabelRandomizers = Callable[[Confusion, float], dict[str, Floats]]
"""Function from a confusion matrix (true class by decision) and an epsilon per text to label randomizers by name."""


def attack_checkpoint(
    model: RepresentationModel,
    description: RepresentationDescription,
    features: dict[str, Tensor],
    task: ClassificationTask,
    level: str,
    settings: AttributeAttackSettings,
    randomizers: LabelRandomizers | None = None,
) -> dict[str, Any]:
    """Measure how much noisy vectors reveal about private attributes, compared with a label at the same epsilon.

    The comparison is with a device that releases a class label under randomized response, in place of the vector. The
    label is the class that a linear model predicts from the same vectors without noise (``fit_decisions``). The true
    class would be no fair comparison: a prediction also depends on other content of a text, such as names, and so
    reveals more.

    Args:
        model: Networks after the encoder: the head, which computes the vector before noise, and the classifier.
        description: Content of ``checkpoint.json`` for these networks.
        features: Mean output vectors of the encoder, by split, shape (copies, texts, width). With word dropout, the
            copies come from texts with different words removed.
        task: Data with labels and attributes.
        level: Epsilon per text, a decimal string.
        settings: Settings of the attacker.
        randomizers: Function that returns randomizers of the label by name; ``None`` for ``make_label_randomizers``.
            The function receives only the confusion matrix of the dev split, and epsilon.

    Returns:
        The attacker's success on ``vectors``; for each randomizer the success of an attacker who sees only its label;
        and the advantage of the vectors over that label, such as ``over_label_response``.
    """
    parameters, present = make_release_parameters(description, level), get_attributes(task)
    vectors = {name: _represent_copies(model, part) for name, part in features.items()}
    turn = dict.fromkeys(vectors, 0)

    def observe(split: str) -> Vectors:
        turn[split] += 1  # each call uses another copy of a text, with other words removed, and new noise
        return release_vectors(vectors[split][turn[split] % len(vectors[split])], parameters)

    ours = infer_attributes(observe, present, settings)
    found: dict[str, Any] = {"vectors": ours.to_dict()}
    decisions = fit_decisions(model, features, task)
    confusion = np.zeros((len(task.labels),) * 2)
    np.add.at(confusion, (task.dev.labels.numpy(), decisions["dev"]), 1)
    for name, randomizer in (randomizers or make_label_randomizers)(confusion, float(level)).items():
        label = infer_from_label(decisions, present, randomizer, draws=DRAWS, seed=settings.seed)
        more = ours.compare(label)
        found |= {name: label.to_dict(), f"over_{name}": vars(more) | {"significant": more.is_significant()}}
    return found


def make_label_randomizers(confusion: Confusion, epsilon: float) -> dict[str, Floats]:
    """Return two randomizers of class labels at ``epsilon``, as matrices by name.

    ``label_response`` is randomized response, and ``label_channel`` the most accurate randomizer.

    Args:
        confusion: Number of texts by true class (row) and predicted class before randomization (column).
        epsilon: Epsilon per text.
    """
    best = fit_accuracy_randomizer(confusion, epsilon)
    return {"label_response": make_counts_randomizer(len(confusion), epsilon), "label_channel": best}


def get_attributes(task: ClassificationTask) -> dict[str, Bits]:
    """Return for each split a boolean matrix of private attributes, shape ``(texts, attributes)``."""
    return {name: part.attributes.numpy() > 0.5 for name, part in task.get_splits().items()}


def fit_decisions(
    model: RepresentationModel, features: dict[str, Tensor], task: ClassificationTask
) -> dict[str, Decisions]:
    """Return the classes that a linear model predicts from vectors without noise, by split.

    The model is a logistic regression on the train split's vectors before the noise. The function does not use the
    classifier of the trained ``model``: that one is trained for noise and, at a small epsilon, prefers the larger
    classes.

    Args:
        model: A trained representation.
        features: Mean output vectors of the encoder, by split, shape ``(copies, texts, width)``. With word dropout, the
            copies come from texts with different words removed.
        task: Labels of the texts.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    vectors = {name: _represent_copies(model, part)[0] for name, part in features.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a decision does not need full convergence
        fitted = LogisticRegression(C=100.0, max_iter=200).fit(vectors["train"], task.train.labels.numpy())
    return {name: fitted.predict(part) for name, part in vectors.items()}


def _represent_copies(model: RepresentationModel, features: Tensor) -> list[NDArray[np.float32]]:
    with inference_mode():
        return [model.represent(copy).numpy() for copy in features]
