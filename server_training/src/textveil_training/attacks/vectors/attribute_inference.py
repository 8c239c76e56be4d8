"""Infer private attributes of a text from its noisy vector, as an attacker would.

The attacker is that of Coavoux, Narayan and Cohen (2018) and of Lyu, He and Li (2020): a network with a hidden layer of
512 units and ReLU and one logistic output for each attribute, trained on noisy vectors of texts whose attributes are
known. The attacker here is slightly stronger: it standardizes its inputs, knows the mechanism, trains on fresh noise in
every epoch, and uses the epoch that was best on dev. (The code published with Lyu et al. has 256 units and a network
for each attribute.)

Two more attackers serve for comparison. One sees only a class label of the text, randomized at the same epsilon per
text; the other knows only the frequency of each attribute. A class itself reveals something about the persons in a news
text. Every useful representation reveals at least as much as the randomized class.

Privacy:
    Noise is sampled by ``textveil.mechanisms``, with the entropy of the operating system, as on a device. The seeds in
    this module are only for the attacker's training.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from textveil_training.attacks.vectors.scores import AttributeLeak, Bits, Floats, measure_leak

Vectors = NDArray[np.floating]
Observe = Callable[[str], Vectors]
"""Function from a split (``train``, ``dev``, ``test``) to newly released vectors of its texts, shape (texts, k)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeAttackSettings:
    """Settings of the attribute attacker's network and training.

    Attributes:
        hidden: Number of hidden units.
        num_epochs: Number of passes over the train split.
        batch_size: Number of texts in a step.
        learning_rate: Peak learning rate of Adam, which decreases linearly to 0.
        draws: Number of noisy vectors of each dev and test text on which the attacker is measured.
        seed: Seed of the initial weights and of the order of texts.
    """

    hidden: int = 512
    num_epochs: int = 15
    batch_size: int = 256
    learning_rate: float = 1e-3
    draws: int = 5
    seed: int = 0


def infer_attributes(
    observe: Observe, present: dict[str, Bits], settings: AttributeAttackSettings | None = None
) -> AttributeLeak:
    """Train the attacker on the train split, tune it on dev, and measure its success on test.

    Args:
        observe: Function that returns the vectors of a split that the attacker sees. If it runs a mechanism, every call
            samples new noise; if it reads stored vectors, every call returns the same ones.
        present: By name of the split, whether each text has each attribute, shape ``(texts, attributes)``.
        settings: Network and training of the attacker.
    """
    settings = settings or AttributeAttackSettings()
    attacker = _train_network(observe, present, settings)
    return measure_leak(
        _score_releases(attacker, observe, "dev", settings.draws),
        present["dev"],
        _score_releases(attacker, observe, "test", settings.draws),
        present["test"],
    )


def infer_from_label(
    decisions: Mapping[str, NDArray[np.integer]],
    present: dict[str, Bits],
    randomizer: Floats,
    *,
    draws: int = 5,
    seed: int = 0,
) -> AttributeLeak:
    """Measure an attacker who sees only a randomized class label of each text.

    Let ``yhat`` be the class that the model assigns to a text. The attacker sees the class ``o`` with probability
    ``Q(o|yhat)``, and guesses by the frequency of each attribute among train texts with this ``o``. No other guess from
    ``o`` is better. This attacker needs no training.

    Args:
        decisions: Class of each text before randomization, by split.
        present: Attributes of each text, as in ``infer_attributes``.
        randomizer: Probabilities ``Q(o|yhat)`` of the randomizer, shape (classes, classes): from
            ``make_counts_randomizer`` for randomized response, from ``fit_accuracy_randomizer`` for the most accurate
            randomizer, or the identity matrix for no randomization.
        draws: Number of randomized labels of each dev and test text.
        seed: Seed of the simulated randomization. It protects nobody's text, so a seeded generator is sufficient.

    Returns:
        The attacker's success on each attribute, comparable with the result of ``infer_attributes``.
    """
    seen = randomizer[decisions["train"]]  # (texts, classes): probability of each released class for each text
    common = present["train"].mean(axis=0)
    guesses = (seen.T @ present["train"] + common) / (seen.sum(axis=0)[:, None] + 1)
    generator = np.random.default_rng([seed, len(randomizer)])

    def draw_guesses(split: str) -> Floats:
        bounds = randomizer[decisions[split]].cumsum(axis=1)
        uniform = generator.random((draws, len(bounds), 1))
        return guesses[(uniform >= bounds[None, :, :-1]).sum(axis=2)]

    return measure_leak(draw_guesses("dev"), present["dev"], draw_guesses("test"), present["test"])


def infer_from_frequency(present: dict[str, Bits]) -> AttributeLeak:
    """Measure an attacker who sees no vector, and guesses each attribute by its training frequency.

    Args:
        present: For each split, whether each text has each attribute, shape ``(texts, attributes)``.
    """
    common = present["train"].mean(axis=0)
    dev, test = (np.broadcast_to(common, (1, *present[split].shape)) for split in ("dev", "test"))
    return measure_leak(dev, present["dev"], test, present["test"])


class _AttributeNetwork:
    """A network that standardizes its inputs and predicts attributes."""

    def __init__(self, sample: Vectors, attributes: int, settings: AttributeAttackSettings) -> None:
        self._middle = sample.mean(axis=0)
        self._spread = np.maximum(sample.std(axis=0), 1e-9)
        torch.manual_seed(settings.seed)
        self.network = nn.Sequential(
            nn.Linear(sample.shape[1], settings.hidden), nn.ReLU(), nn.Linear(settings.hidden, attributes)
        )

    def standardize(self, vectors: Vectors) -> torch.Tensor:
        return torch.from_numpy(((vectors - self._middle) / self._spread).astype(np.float32))

    def predict_scores(self, vectors: Vectors) -> Floats:
        with torch.inference_mode():
            return torch.sigmoid(self.network(self.standardize(vectors))).numpy().astype(np.float64)


def _train_network(observe: Observe, present: dict[str, Bits], settings: AttributeAttackSettings) -> _AttributeNetwork:
    truth = torch.from_numpy(present["train"].astype(np.float32))
    attacker = _AttributeNetwork(observe("train"), truth.shape[1], settings)
    optimizer = torch.optim.Adam(attacker.network.parameters(), lr=settings.learning_rate)
    steps = settings.num_epochs * -(-len(truth) // settings.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    generator = torch.Generator().manual_seed(settings.seed)
    best, kept = -1.0, attacker.network.state_dict()
    for _ in range(settings.num_epochs):
        inputs = attacker.standardize(observe("train"))
        for rows in torch.randperm(len(truth), generator=generator).split(settings.batch_size):
            loss = nn.functional.binary_cross_entropy_with_logits(attacker.network(inputs[rows]), truth[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        scores = _score_releases(attacker, observe, "dev", 1)
        found = measure_leak(scores, present["dev"], scores, present["dev"]).auc
        if found > best:
            best, kept = found, {name: value.clone() for name, value in attacker.network.state_dict().items()}
    attacker.network.load_state_dict(kept)
    return attacker


def _score_releases(attacker: _AttributeNetwork, observe: Observe, split: str, draws: int) -> Floats:
    return np.stack([attacker.predict_scores(observe(split)) for _ in range(draws)])
