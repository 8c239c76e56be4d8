"""Every figure of one private model at one level: accuracy, accuracy by who is named, what attackers find out.

All of them go through the device's own release, with fresh noise for every draw.
"""

import math
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from textveil.accounting import statement
from torch import Tensor

from textveil_training.attacks.attributes import Settings, Vectors, infer, infer_from_label
from textveil_training.attacks.scores import Bits, Leak
from textveil_training.channels import exceeds
from textveil_training.checkpoint import Description
from textveil_training.measure import DRAWS, release_parameters, released
from textveil_training.model import Classifier, Model
from textveil_training.task import Split, Task

Decisions = NDArray[np.int64]


def private_figures(
    model: Model,
    description: Description,
    features: dict[str, Tensor],
    task: Task,
    level: str,
    bound: float,
    *,
    draws: int = DRAWS,
) -> dict[str, Any]:
    """Accuracy on the test split at one whole-text epsilon.

    Args:
        model: Head and classifier.
        description: What they are.
        features: Pooled vectors by split, shape (copies, texts, width): copies differ in the words removed.
        task: Labels and attributes.
        level: Whole-text epsilon, a decimal string.
        bound: The ceiling of the test split at this level.
        draws: Releases of each text, shared out among the copies.

    Returns:
        ``accuracy``, ``standard_error`` (over texts), ``standard_error_draws``, ``confusion`` (true by decided, mean
        over draws), ``exceeds_ceiling``, the three epsilons, and ``by_attribute``: accuracy on the texts with and
        without each attribute.
    """
    parameters = release_parameters(description, level)
    promised = statement(parameters, description.word_dropout, "")
    vectors = _represented(model, features["test"])
    log_epsilon = torch.full((1, 1), math.log(float(level)))
    decided = np.stack(
        [
            _decided(model.classifier, released(vectors[draw % len(vectors)], parameters), log_epsilon)
            for draw in range(draws)
        ]
    )
    found = accuracy_figures(decided, task.test)
    coordinate = promised.per_coordinate
    return found | {
        "exceeds_ceiling": exceeds(found["accuracy"], decided.size, bound),
        "epsilon_whole_text": float(promised.whole_text.epsilon),
        "delta_whole_text": float(promised.whole_text.delta),
        "epsilon_per_coordinate": None if coordinate is None else float(coordinate.epsilon),
        "epsilon_per_word": float(promised.per_word.epsilon),
        "grid": parameters.grid,
    }


def accuracy_figures(decided: Decisions, test: Split) -> dict[str, Any]:
    """Accuracy, its standard errors, the confusion matrix, and accuracy by attribute, from decisions (draws, texts)."""
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


def attacked(
    model: Model,
    description: Description,
    features: dict[str, Tensor],
    task: Task,
    level: str,
    settings: Settings,
    clean: dict[str, Decisions] | None = None,
) -> dict[str, Any]:
    """What an attacker infers from the released vectors, beside one who sees a released label at the same epsilon.

    The label is what the same vectors tell without noise (``best_decisions``). A decision gives more away than the true
    class does, since a model decides by who is named; and another model's decision gives away something else.

    Args:
        model: As ``private_figures``.
        description: As ``private_figures``.
        features: As ``private_figures``.
        task: As ``private_figures``.
        level: As ``private_figures``.
        settings: The attacker.
        clean: Decisions of the clean model, by split, for a third attacker, who sees those.

    Returns:
        ``vectors``, ``label_only``, ``clean_label_only``; ``advantage`` of the first over the second, and whether it is
        more than chance.
    """
    parameters, present = release_parameters(description, level), attributes_of(task)
    vectors = {name: _represented(model, part) for name, part in features.items()}
    turn = dict.fromkeys(vectors, 0)

    def observe(split: str) -> Vectors:
        turn[split] += 1  # another copy of the text with other words removed, and fresh noise
        return released(vectors[split][turn[split] % len(vectors[split])], parameters)

    def from_label(decisions: dict[str, Decisions]) -> Leak:
        return infer_from_label(decisions, present, len(task.labels), float(level), draws=DRAWS, seed=settings.seed)

    ours, label = infer(observe, present, settings), from_label(best_decisions(model, features, task))
    found = {
        "vectors": ours.to_dict(),
        "label_only": label.to_dict(),
        "advantage": vars(ours.exceeds(label)),
        "advantage_significant": ours.exceeds(label).significant(),
    }
    return found if clean is None else found | {"clean_label_only": from_label(clean).to_dict()}


def attributes_of(task: Task) -> dict[str, Bits]:
    """Which private attributes each text has, by split."""
    return {name: part.attributes.numpy() > 0.5 for name, part in task.splits().items()}


def clean_decisions(clean: Classifier, features: dict[str, Tensor]) -> dict[str, Decisions]:
    """What the clean model decides, by split, on the first copy of the features."""
    return {name: _decided(clean, part[0].numpy(), None) for name, part in features.items()}


def best_decisions(model: Model, features: dict[str, Tensor], task: Task) -> dict[str, Decisions]:
    """The class that the vectors tell where there is no noise, by split.

    A checkpoint's own classifier is trained for noise and, at a small epsilon, leans towards the larger classes: this
    is a logistic regression on the train split's vectors before the noise.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    vectors = {name: _represented(model, part)[0] for name, part in features.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # nearly there is good enough for a decision
        fitted = LogisticRegression(C=100.0, max_iter=200).fit(vectors["train"], task.train.labels.numpy())
    return {name: fitted.predict(part) for name, part in vectors.items()}


def _decided(classifier: Classifier, vectors: Vectors, log_epsilon: Tensor | None) -> Decisions:
    with torch.inference_mode():
        return classifier(torch.from_numpy(vectors), log_epsilon).argmax(-1).numpy()


def _represented(model: Model, features: Tensor) -> list[NDArray[np.float32]]:
    with torch.inference_mode():
        return [model.represented(copy).numpy() for copy in features]
