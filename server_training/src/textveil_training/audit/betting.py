"""Tests by betting: a claim is refuted when the wealth of a fair bettor would be too large, at any time.

A test by betting needs few draws if the claim is far from the truth, so it suits slow rewriters.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textveil_training.audit.claims import Claim
from textveil_training.audit.inputs import InputPair, InputSet
from textveil_training.audit.statistics import Floats

#: Larger exponents overflow.
_LARGEST_EXPONENT = 500.0


@dataclass(kw_only=True)
class BettingTest:
    """Test one claim by betting against it, draw after draw, and stop at any time.

    A bet multiplies the wealth by ``1 + stake (a - factor b - fee)``, whose mean is at most 1 if the claim holds,
    since stake and event depend on earlier draws alone. The probability that the wealth ever reaches 1 / alpha is then
    at most alpha (Ville 1939).

    Attributes:
        factor: Factor of ``b`` in the inequality of the claim; 0 for a bet on ``a`` alone.
        fee: Largest mean of ``a - factor b`` under the claim.
        log_wealth: Natural logarithm of the wealth; 0 at the start.

    Example:
        >>> test = BettingTest(factor=math.exp(1.0), fee=0.0)
        >>> test.bet([1] * 100, [0] * 100)
        >>> test.log_wealth > math.log(1000)
        True
    """

    factor: float
    fee: float
    log_wealth: float = 0.0
    #: Log-wealth that each constant stake would have by now, after a number of draws.
    _shares: Floats = field(default_factory=lambda: np.geomspace(0.002, 0.98, 24))
    _of_stakes: Floats = field(default_factory=lambda: np.zeros(24))

    def bet(self, a: ArrayLike, b: ArrayLike) -> None:
        """Bet on draws: ``a`` for the event of the first input, ``b`` for that of the second (0 or 1, or arrays)."""
        largest = 1.0 / (self.factor + self.fee)
        gains = np.atleast_1d(np.asarray(a, np.float64) - self.factor * np.asarray(b, np.float64) - self.fee)
        values, counts = np.unique(gains, return_counts=True)
        # The mean of the wealths of constant stakes: no stake needs to be chosen, and the best one decides.
        self._of_stakes += np.log1p(np.outer(self._shares * largest, values)) @ counts
        top = float(self._of_stakes.max())
        self.log_wealth = top + math.log(float(np.exp(self._of_stakes - top).mean()))


class ClaimBets:
    """Bets against several claims (values of epsilon) at once: half of the wealth by each of two tests.

    The tests are the pair test and identification.
    """

    def __init__(self, claim: Claim, pair: InputPair, chosen: InputSet | None) -> None:
        self._claim = claim
        # Below .1 of the claim nothing is asked: the bound of a refuted claim of 0 is 0.
        claims = sorted({claim.epsilon, *(round(0.1 * step, 1) for step in range(121))})
        self._pairs = {one: BettingTest(factor=_raise(one * pair.distance), fee=claim.delta) for one in claims}
        self._guesses: dict[float, BettingTest] = {}
        if chosen is not None:
            others = len(chosen.inputs) - 1
            for one in claims:
                # The largest success under the claim: s <= e^epsilon (1 - s) / (k - 1) + delta, solved for s.
                factor = _raise(one * chosen.distance)
                self._guesses[one] = BettingTest(factor=0.0, fee=(factor + others * claim.delta) / (others + factor))

    def bet_on_pair(self, a: NDArray[np.bool_], b: NDArray[np.bool_]) -> None:
        """Bet on the counts of one event in draws of the two inputs."""
        for test in self._pairs.values():
            test.bet(a, b)

    def bet_on_guesses(self, hits: NDArray[np.bool_]) -> None:
        """Bet on right guesses."""
        for test in self._guesses.values():
            test.bet(hits, np.zeros(len(hits)))

    @property
    def log_wealths(self) -> dict[float, float]:
        """Return the logarithm of the wealth against each claim."""
        if not self._guesses:
            return {claim: test.log_wealth for claim, test in self._pairs.items()}
        return {
            claim: float(np.logaddexp(test.log_wealth, self._guesses[claim].log_wealth)) - math.log(2)
            for claim, test in self._pairs.items()
        }

    def find_bound(self, alpha: float) -> float:
        """Return the largest claim that is refuted together with all smaller ones; 0 if there is none.

        The smallest true claim of the row is refuted with probability at most alpha, so this bounds epsilon from below.
        """
        bound = 0.0
        for claim, wealth in self.log_wealths.items():
            if wealth < -math.log(alpha):
                break
            bound = claim
        return bound

    def refute_claim(self, alpha: float) -> bool:
        """Return whether the claim of the mechanism is refuted."""
        return self.log_wealths[self._claim.epsilon] >= -math.log(alpha)


def _raise(epsilon: float) -> float:
    return math.exp(min(_LARGEST_EXPONENT, epsilon))
