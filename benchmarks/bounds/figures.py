"""Measure the accuracy of one private model at one epsilon, overall and by attribute, with the code of devices."""

import math
from typing import Any

import numpy as np
import torch
from bounds.channels import exceeds
from numpy.typing import NDArray
from textveil.vector import make_vector_statement
from textveil_training.dpnr import (
    ClassificationTask,
    ClassifiedSplit,
    RepresentationClassifier,
    RepresentationDescription,
    RepresentationModel,
    decide_released,
    make_release_parameters,
)
from torch import Tensor

Decisions = NDArray[np.int64]
#: Number of noisy vectors of each text.
DRAWS = 20


def private_figures(
    model: RepresentationModel,
    description: RepresentationDescription,
    features: dict[str, Tensor],
    task: ClassificationTask,
    level: str,
    bound: float,
    *,
    draws: int = DRAWS,
) -> dict[str, Any]:
    """Measure the accuracy on the test split at one whole-text epsilon.

    Args:
        model: Head and classifier.
        description: Content of ``checkpoint.json`` for these networks.
        features: Pooled vectors by split, shape (copies, texts, width): copies differ in the words removed.
        task: Data with labels and attributes.
        level: Whole-text epsilon, a decimal string.
        bound: Ceiling of the test split at this level.
        draws: Number of releases of each text, divided among the copies.

    Returns:
        ``accuracy``, ``standard_error`` (over texts), ``standard_error_draws``, ``confusion`` (counts by true class and
        decision, mean over draws), ``exceeds_ceiling``, the three epsilons, and ``by_attribute``: accuracy on the texts
        with and without each attribute.
    """
    parameters = make_release_parameters(description, level)
    promised = make_vector_statement(parameters, description.word_dropout, "")
    made = decide_released(model, description, list(features["test"]), level, draws=draws)
    decisions = np.stack([decision.numpy() for decision in made.decisions])
    found = accuracy_figures(decisions, task.test)
    coordinate = promised.per_coordinate
    return found | {
        "exceeds_ceiling": exceeds(found["accuracy"], decisions.size, bound),
        "epsilon_whole_text": float(promised.whole_text.epsilon),
        "delta_whole_text": float(promised.whole_text.delta),
        "epsilon_per_coordinate": None if coordinate is None else float(coordinate.epsilon),
        "epsilon_per_word": float(promised.per_word.epsilon),
        "grid": parameters.grid,
    }


def accuracy_figures(decided: Decisions, test: ClassifiedSplit) -> dict[str, Any]:
    """Return accuracy, standard errors, confusion matrix and accuracy by attribute.

    ``decided`` has the decisions, shape ``(draws, texts)``.
    """
    labels, present = test.labels.numpy(), test.attributes.numpy() > 0.5
    right = decided == labels
    mean, classes = float(right.mean()), int(labels.max()) + 1
    cells = np.zeros((max(classes, int(decided.max()) + 1),) * 2)
    np.add.at(cells, (np.broadcast_to(labels, decided.shape).ravel(), decided.ravel()), 1 / len(decided))
    found: dict[str, Any] = {
        "accuracy": mean,
        "standard_error": math.sqrt(mean * (1 - mean) / len(labels)),
        "draws": len(decided),
        "confusion": cells.round(2).tolist(),
        "by_attribute": [
            {
                "present": float(right[:, having].mean()),
                "absent": float(right[:, ~having].mean()),
                "texts_present": int(having.sum()),
                "texts_absent": int((~having).sum()),
            }
            for having in present.T
        ],
    }
    if len(decided) > 1:
        found["standard_error_draws"] = float(right.mean(axis=1).std(ddof=1) / math.sqrt(len(decided)))
    return found


def clean_decisions(clean: RepresentationClassifier, features: dict[str, Tensor]) -> dict[str, Decisions]:
    """Return the decisions of the model without noise by split, on the first copy of the features."""
    with torch.inference_mode():
        return {name: clean(part[0], None).argmax(-1).numpy() for name, part in features.items()}
