"""Statistics of the mechanism FBDD from samples: how often words are unchanged, and how many outputs are likely.

Source: Feyisetan, Balle, Diethe, Drake 2020. FBDD has no table of probabilities. For a word ``w``, this module
therefore estimates two figures from independent outputs:

* ``N_w``: probability that the output is ``w``, estimated by the share of outputs that are ``w``;
* ``S_w``: smallest number of words with a total probability of at least ``1 - eta``, estimated by the smallest number
  of words that make up ``1 - eta`` of the outputs. With ``eta = 0`` it is the number of distinct outputs.

Privacy:
    The words are public entries of a vocabulary, never words of a text. Outputs are sampled as in production.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from textveil.errors import OptionError
from textveil.mechanisms.arrays import Floats, Integers
from textveil.mechanisms.baselines.fbdd import Fbdd
from textveil.mechanisms.entropy import RandomUint64

#: Maximum numbers in one measurement: words, and outputs per word.
MAX_WORDS, MAX_DRAWS = 1_000_000, 1_000_000
#: Ranks of the neighbors whose distance is measured. A word is not a neighbor of itself.
NEIGHBOR_RANKS = (1, 10, 100, 1000)


@dataclass(frozen=True, kw_only=True, eq=False)
class FbddStatistics:
    """Statistics of the mechanism FBDD (noise on word vectors) for some words at one epsilon.

    Attributes:
        epsilon: Privacy loss per unit of scaled distance (distance divided by the median distance of two words).
        draws: Number of sampled outputs of each word.
        eta: Share of the outputs that ``likely_outputs`` ignores.
        words: Ids of the words, shape ``(n,)``.
        unchanged: ``N_w`` of each word: the share of its outputs that equal the word itself, shape ``(n,)``.
        likely_outputs: ``S_w`` of each word: the smallest number of distinct outputs that make up the share ``1 - eta``
            of its outputs, shape ``(n,)``.

    Example:
        >>> words = np.array([3, 8])
        >>> found = FbddStatistics(
        ...     epsilon=35.0, draws=10, eta=0.0, words=words, unchanged=words / 10, likely_outputs=words
        ... )
        >>> found.unchanged.tolist()
        [0.3, 0.8]
    """

    epsilon: float
    draws: int
    eta: float
    words: Integers
    unchanged: Floats
    likely_outputs: Integers


def measure_fbdd(
    fbdd: Fbdd, words: Integers, draws: int, random_uint64: RandomUint64, *, eta: float = 0.0
) -> FbddStatistics:
    """Estimate from samples how often words are unchanged (``N_w``), and how many outputs are likely (``S_w``).

    Args:
        fbdd: The mechanism at one epsilon.
        words: Ids of words, shape ``(n,)``.
        draws: Number of sampled outputs of each word.
        random_uint64: Function that returns a given number of independent uniform 64-bit words.
        eta: Share of the outputs that ``S_w`` ignores, in [0, 1).

    Raises:
        OptionError: A number is out of range.

    Example:
        >>> from decimal import Decimal
        >>> from textveil.bundle import TextBundle, find_artifact, open_bundle
        >>> from textveil.mechanisms import random_uint64
        >>> bundle = open_bundle(find_artifact("english-santext"), TextBundle)
        >>> fbdd = Fbdd.from_table(bundle.table, bundle.metric, Decimal(100_000))
        >>> found = measure_fbdd(fbdd, np.array([0, 1]), 5, random_uint64)
        >>> found.unchanged.tolist(), found.likely_outputs.tolist()
        ([1.0, 1.0], [1, 1])
    """
    check_calibration(len(words), draws, eta)
    required = count_required(draws, eta)
    unchanged, likely = np.empty(len(words)), np.empty(len(words), dtype=np.int64)
    for number, word in enumerate(words.tolist()):
        outputs = fbdd.draw_symbols(np.full(draws, word), random_uint64)
        unchanged[number] = np.count_nonzero(outputs == word) / draws
        likely[number] = count_likely_outputs(outputs, required)
    return FbddStatistics(
        epsilon=fbdd.epsilon, draws=draws, eta=eta, words=words, unchanged=unchanged, likely_outputs=likely
    )


def check_calibration(words: int, draws: int, eta: float) -> None:
    """Check the options of a measurement (``measure_fbdd``).

    Raises:
        OptionError: The number of words, the number of draws or ``eta`` is out of range.
    """
    if not 1 <= words <= MAX_WORDS:
        raise OptionError(f"the number of words must be between 1 and {MAX_WORDS}")
    if not 1 <= draws <= MAX_DRAWS:
        raise OptionError(f"the number of draws must be between 1 and {MAX_DRAWS}")
    if not 0 <= eta < 1:
        raise OptionError("eta must be at least 0 and below 1")


def count_required(draws: int, eta: float) -> int:
    """Return the number of samples that make up the share ``1 - eta`` of ``draws`` samples, rounded up.

    The computation is exact for the decimal number that ``repr`` prints for ``eta``.

    >>> count_required(1000, 0.05), count_required(10, 0.3), count_required(3, 0.0)
    (950, 7, 3)
    """
    share = (1 - Fraction(repr(eta))) * draws
    return -(-share.numerator // share.denominator)


def count_likely_outputs(outputs: Integers, required: int) -> int:
    """Return the smallest number of distinct outputs that together occur at least ``required`` times in a sample.

    >>> count_likely_outputs(np.array([4, 4, 7, 9]), 3)
    2
    """
    counts = np.sort(np.unique(outputs, return_counts=True)[1])[::-1]
    return int(np.searchsorted(np.cumsum(counts), required)) + 1


def measure_neighbor_distances(fbdd: Fbdd, words: Integers) -> dict[int, Floats]:
    """Return the scaled distances of each word to its nearest, 10th, 100th and 1000th nearest other output.

    Args:
        fbdd: The mechanism. The result does not depend on its epsilon.
        words: Ids of words, shape ``(n,)``.

    Returns:
        Distances by rank (1, 10, 100, 1000), each of shape ``(n,)``. Ranks above the number of outputs are omitted.

    Example:
        >>> from decimal import Decimal
        >>> from textveil.bundle import TextBundle, find_artifact, open_bundle
        >>> bundle = open_bundle(find_artifact("english-santext"), TextBundle)
        >>> fbdd = Fbdd.from_table(bundle.table, bundle.metric, Decimal(35))
        >>> found = measure_neighbor_distances(fbdd, choose_output_words(fbdd, 3))
        >>> list(found), bool((found[1] <= found[1000]).all())
        ([1, 10, 100, 1000], True)
    """
    ids, metric = fbdd.outputs.ids, fbdd.metric
    ranks = [rank for rank in NEIGHBOR_RANKS if rank < len(ids)]
    found = {rank: np.empty(len(words)) for rank in ranks}
    for number, word in enumerate(words.tolist()):
        others = ids[ids != word]
        squared = metric.compute_squared(np.full(len(others), word), others)
        ordered = np.partition(squared, [rank - 1 for rank in ranks])
        for rank in ranks:
            found[rank][number] = float(metric.compute_scaled(ordered[rank - 1 : rank])[0])
    return found


def choose_output_words(fbdd: Fbdd, count: int) -> Integers:
    """Return the ids of ``count`` possible output words, evenly spaced in the order of their frequency.

    If there are fewer outputs, return all of them.

    Raises:
        OptionError: The number is out of range.

    Example:
        >>> from decimal import Decimal
        >>> from textveil.bundle import TextBundle, find_artifact, open_bundle
        >>> bundle = open_bundle(find_artifact("english-santext"), TextBundle)
        >>> fbdd = Fbdd.from_table(bundle.table, bundle.metric, Decimal(35))
        >>> found = choose_output_words(fbdd, 3)
        >>> len(found), bool(found[0] == fbdd.outputs.ids[0])
        (3, True)
    """
    check_calibration(count, 1, 0.0)
    ids = fbdd.outputs.ids
    return ids[np.unique(np.linspace(0, len(ids) - 1, min(count, len(ids))).astype(np.int64))]


def suggest_fbdd_epsilons(dimension: int) -> tuple[float, ...]:
    """Return epsilons for ``measure_fbdd``: the smallest changes most words, the largest leaves nearly all unchanged.

    The epsilons are multiples of ``sqrt(dimension)``, because the noise along one direction is about
    ``sqrt(dimension) / epsilon``.

    Args:
        dimension: Dimension of the vectors.

    >>> suggest_fbdd_epsilons(50)
    (14.0, 25.0, 35.0, 46.0, 57.0, 78.0)
    """
    return tuple(float(f"{factor * dimension**0.5:.2g}") for factor in (2, 3.5, 5, 6.5, 8, 11))
