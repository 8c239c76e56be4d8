"""Every figure of one private model at one level: accuracy, accuracy by who is named, what attackers find out.

All of them go through the device's own release, with fresh noise for every draw.
"""

import math
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from textveil.vector import vector_statement as statement
from torch import Tensor

from textveil_training.attacks.vectors.attribute_inference import Settings, Vectors, infer, infer_from_label
from textveil_training.attacks.vectors.scores import Bits, Floats
from textveil_training.bounds.channels import best_channel, exceeds, joint, response_channel
from textveil_training.dpnr.checkpoint import Description
from textveil_training.dpnr.measure import DRAWS, release_parameters, released
from textveil_training.dpnr.networks import Classifier, Model
from textveil_training.dpnr.task import Split, Task

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
    """Measures the accuracy on the test split at one whole-text epsilon.

    Args:
        model: Head and classifier.
        description: What they are.
        features: Pooled vectors by split, shape (copies, texts, width): copies differ in the words removed.
        task: Data with labels and attributes.
        level: Whole-text epsilon, a decimal string.
        bound: Ceiling of the test split at this level.
        draws: Number of releases of each text, shared out among the copies.

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
    """Returns accuracy, standard errors, confusion and accuracy by attribute of decisions, shape (draws, texts)."""
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
) -> dict[str, Any]:
    """Measures what an attacker infers from released vectors, beside two who see a label at the same epsilon.

    The label is what the same vectors tell without noise (``best_decisions``). A decision gives more away than the true
    class does, since a model decides by who is named; and another model's decision gives away something else. One sees
    it by randomized response over all classes, the other by the most accurate private channel, that of the reference.

    Args:
        model: As ``private_figures``.
        description: As ``private_figures``.
        features: As ``private_figures``.
        task: As ``private_figures``.
        level: As ``private_figures``.
        settings: The attacker.

    Returns:
        ``vectors``, and for each of ``label_response`` and ``label_channel`` what that attacker finds, and the
        advantage of the first over it (``over_label_response``, ``over_label_channel``).
    """
    parameters, present = release_parameters(description, level), attributes_of(task)
    vectors = {name: _represented(model, part) for name, part in features.items()}
    turn = dict.fromkeys(vectors, 0)

    def observe(split: str) -> Vectors:
        turn[split] += 1  # another copy of the text with other words removed, and fresh noise
        return released(vectors[split][turn[split] % len(vectors[split])], parameters)

    ours = infer(observe, present, settings)
    found: dict[str, Any] = {"vectors": ours.to_dict()}
    decisions = best_decisions(model, features, task)
    for name, channel in label_channels(decisions["dev"], task, level, description.delta).items():
        label = infer_from_label(decisions, present, channel, draws=DRAWS, seed=settings.seed)
        more = ours.exceeds(label)
        found |= {name: label.to_dict(), f"over_{name}": vars(more) | {"significant": more.significant()}}
    return found


def label_channels(decided: Decisions, task: Task, level: str, delta: str | None) -> dict[str, Floats]:
    """Returns randomized response, and the most accurate channel for the dev split's confusion of these decisions."""
    classes, confusion = len(task.labels), np.zeros((len(task.labels),) * 2)
    np.add.at(confusion, (task.dev.labels.numpy(), decided), 1)
    best = best_channel(joint(confusion), float(level), float(delta or 0)).channel
    return {"label_response": response_channel(classes, float(level)), "label_channel": best}


def attributes_of(task: Task) -> dict[str, Bits]:
    """Returns which private attributes each text has, by split."""
    return {name: part.attributes.numpy() > 0.5 for name, part in task.splits().items()}


def clean_decisions(clean: Classifier, features: dict[str, Tensor]) -> dict[str, Decisions]:
    """Returns what the clean model decides, by split, on the first copy of the features."""
    return {name: _decided(clean, part[0].numpy(), None) for name, part in features.items()}


def best_decisions(model: Model, features: dict[str, Tensor], task: Task) -> dict[str, Decisions]:
    """Returns the class that the vectors tell where there is no noise, by split.

    A checkpoint's own classifier is trained for noise and, at a small epsilon, leans toward the larger classes: this
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
