"""Define mechanisms with a known epsilon, and mechanisms with a false claim, as batched functions for the audit.

The noise comes from a numpy generator with a seed of the caller. It is fast enough for thousands of audits, and
protects no text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil_training.audit import Claim, FunctionMechanism, InputPair, InputSet, bound_pair_epsilon

Floats = NDArray[np.float64]
Generator = np.random.Generator
_WORDS = 2000


@dataclass(frozen=True)
class AuditedCase:
    """One mechanism at one epsilon, with the inputs of its audit.

    Attributes:
        name: Name in the record.
        epsilon: The true epsilon; for a mechanism with a false claim the claimed epsilon.
        mechanism: The mechanism.
        pairs: Candidate pairs.
        sets: Candidate sets for identification.
        per_distance: Whether epsilon is per unit of the distances of the pairs.
    """

    name: str
    epsilon: float
    mechanism: FunctionMechanism
    pairs: tuple[InputPair, ...]
    sets: tuple[InputSet, ...] = ()
    per_distance: bool = False

    @property
    def claim(self) -> Claim:
        """Return the claim that the mechanism has this epsilon."""
        return Claim(epsilon=self.epsilon, per_distance=self.per_distance)


def _make(
    name: str, epsilon: float, function: Callable[[Sequence[Any]], Any], pair: tuple[Any, Any], **more: Any
) -> AuditedCase:
    return AuditedCase(name, epsilon, FunctionMechanism(function, batched=True), (InputPair(pair),), **more)


def draw_randomized_response(inputs: Floats, outputs: int, epsilon: float, generator: Generator) -> Floats:
    """Draw outputs by k-ary randomized response: the input itself, or a uniform choice of the other outputs."""
    kept = 1.0 / (1.0 + (outputs - 1) * np.exp(-epsilon))
    others = generator.integers(0, outputs - 1, inputs.shape)
    return np.where(generator.random(inputs.shape) < kept, inputs, others + (others >= inputs))


def make_randomized_response(outputs: int, epsilon: float, generator: Generator) -> AuditedCase:
    """Make the case of k-ary randomized response; all of its inputs are in the identification test."""
    return _make(
        f"k-RR, {outputs:,} outputs",
        epsilon,
        lambda inputs: draw_randomized_response(np.array(inputs), outputs, epsilon, generator),
        (0, 1),
        sets=(InputSet(tuple(range(outputs))),),
    )


def make_laplace(dimension: int, differing: int, epsilon: float, generator: Generator) -> AuditedCase:
    """Make the case of Laplace noise for an L1 sensitivity of 1.

    The two vectors of the pair differ in ``differing`` of their ``dimension`` coordinates.
    """
    second = np.zeros(dimension)
    second[:differing] = 1.0 / differing

    def draw(inputs: Sequence[Floats]) -> Floats:
        return np.array(inputs) + generator.laplace(0, 1 / epsilon, (len(inputs), dimension))

    name = "Laplace, scalar" if dimension == 1 else f"Laplace, {differing} of {dimension} coordinates differ"
    return _make(name, epsilon, draw, (np.zeros(dimension), second))


def make_discrete_laplace(epsilon: float, generator: Generator) -> AuditedCase:
    """Make the case of discrete Laplace noise on integers, for a sensitivity of 1.

    The noise is the difference of two geometric random numbers.
    """

    def draw(inputs: Sequence[int]) -> NDArray[np.int64]:
        share = 1 - np.exp(-epsilon)
        return np.array(inputs) + generator.geometric(share, len(inputs)) - generator.geometric(share, len(inputs))

    return _make("discrete Laplace", epsilon, draw, (0, 1))


def make_words(epsilon: float, generator: Generator, *, ordered: bool) -> AuditedCase:
    """Make the case of ten words, each randomized by 2,000-ary randomized response.

    The texts of the pair differ in one word. Without ``ordered``, the output words are shuffled.
    """
    names = np.array([f"w{number}" for number in range(_WORDS)])
    texts = np.tile(np.arange(1, 11), (2, 1))
    texts[1, 4] = 50
    codes = {" ".join(names[row]): row for row in texts}

    def draw(inputs: Sequence[str]) -> list[str]:
        rows = draw_randomized_response(np.array([codes[one] for one in inputs]), _WORDS, epsilon, generator).astype(
            int
        )
        if not ordered:
            rows = generator.permuted(rows, axis=1)
        return [" ".join(row) for row in names[rows]]

    first, second = codes
    return _make(f"ten words, {'places kept' if ordered else 'places lost'}", epsilon, draw, (first, second))


def make_table(
    epsilon: float, generator: Generator, *, name: str, keep: int | None = None, words: int = 200
) -> AuditedCase:
    """Make the case of SanText on words with random vectors: weights ``exp(-epsilon d / 2)``.

    The claim is an epsilon per unit of distance. With ``keep`` the table has only the ``keep`` likeliest outputs of
    each word. Such a mechanism satisfies no epsilon.
    """
    vectors = np.random.default_rng(7).normal(size=(words, 8))
    distances = np.sqrt(((vectors[:, None] - vectors[None]) ** 2).sum(axis=2))
    distances /= np.median(distances)
    weights = np.exp(-epsilon * distances / 2)
    if keep is not None:
        cut = np.sort(weights, axis=1)[:, -keep, None]
        weights = np.where(weights >= cut, weights, 0.0)
    sums = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)

    def draw(inputs: Sequence[str]) -> list[str]:
        rows = np.array([int(one[1:]) for one in inputs])
        drawn = (sums[rows] < generator.random((len(rows), 1))).sum(axis=1)
        return [f"w{one}" for one in np.minimum(drawn, words - 1)]

    rows = weights / weights.sum(axis=1, keepdims=True)
    counts = np.round(10_000 * rows)  # of the first word as output of itself, and of the others
    bounds = bound_pair_epsilon(np.diag(counts)[:, None], counts.T, 10_000, 0.001) / np.maximum(distances, 1e-9)
    np.fill_diagonal(bounds, -1)
    best = [np.unravel_index(place, bounds.shape) for place in np.argsort(-bounds, axis=None)[:4]]
    pairs = tuple(InputPair((f"w{one}", f"w{other}"), float(distances[one, other])) for one, other in best)
    function = FunctionMechanism(draw, batched=True)
    return AuditedCase(name, epsilon, function, pairs, per_distance=True)


def make_kept_rare_words(epsilon: float, generator: Generator) -> AuditedCase:
    """Make the case of ten words by 2,000-ary randomized response, in which a rare word never changes."""
    case = make_words(epsilon, generator, ordered=True)
    first, second = case.pairs[0].inputs
    rare = {first: "Szeged", second: "Cusco"}

    def draw(inputs: Sequence[str]) -> list[str]:
        outputs = case.mechanism.draw_outputs(list(inputs), lambda done: None)
        return [f"{text} {rare[one]}" for text, one in zip(outputs, inputs, strict=True)]

    return _make("rare words kept", epsilon, draw, (first, second))


def make_shared_scalar(epsilon: float, generator: Generator, dimension: int = 64) -> AuditedCase:
    """Make the case of DPNR's published code, which adds one Laplace number to all coordinates in [0, 1]."""
    inputs = np.random.default_rng(3).random((2, dimension))

    def draw(rows: Sequence[Floats]) -> Floats:
        return np.array(rows) + generator.laplace(0, 1 / epsilon, (len(rows), 1))

    return _make("one noise number for all coordinates (DPNR's code)", epsilon, draw, (inputs[0], inputs[1]))


def make_adept_vectors(epsilon: float, generator: Generator, dimension: int) -> AuditedCase:
    """Make the case of ADePT: clip a vector at L2 norm 1, and add Laplace noise of scale 2 / epsilon."""
    dense = np.full(dimension, 1 / np.sqrt(dimension))

    def draw(rows: Sequence[Floats]) -> Floats:
        return np.array(rows) + generator.laplace(0, 2 / epsilon, (len(rows), dimension))

    return _make(f"ADePT, {dimension} dimensions", epsilon, draw, (dense, -dense))
