"""Test a claim of epsilon by betting: the claim is refuted if a bet against it wins too much.

A test starts with wealth 1, and bets on each new sample of the mechanism. If the claim is true, no bet is expected to
win, so a large wealth at any time is strong evidence against the claim. Such a test needs few samples if the claim is
far from the truth, so it suits slow mechanisms.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textveil_training.audit.claims import Claim
from textveil_training.audit.inputs import InputPair, InputSet
from textveil_training.audit.statistics import Floats

#: Largest exponent that does not overflow.
_LARGEST_EXPONENT = 500.0


@dataclass(kw_only=True)
class BettingTest:
    """Test of one claim by betting against the claim, sample after sample; the test can stop at any time.

    A claim limits the probabilities of an event under two inputs. Let ``a`` be 1 if the event happens in a draw of the
    first input, else 0, and ``b`` the same for the second input. The test starts with a wealth of 1, and each bet
    multiplies the wealth by ``1 + stake (a - factor b - fee)``. The event and ``stake``, the size of the bet, are
    chosen from earlier draws alone, so this factor has a mean of at most 1 if the claim holds. For any ``alpha``, the
    probability that the wealth ever reaches ``1 / alpha`` is then at most ``alpha`` (Ville 1939).

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
    #: Logarithm of the wealth with each constant stake so far, and the stakes as shares of the largest one.
    _shares: Floats = field(default_factory=lambda: np.geomspace(0.002, 0.98, 24))
    _of_stakes: Floats = field(default_factory=lambda: np.zeros(24))

    def bet(self, a: ArrayLike, b: ArrayLike) -> None:
        """Bet on an event in outputs of two inputs, and update the wealth.

        The wealth starts at 1. If the claim is true, the wealth does not grow on average, so a large wealth refutes the
        claim.

        Args:
            a: Whether the event happened in outputs for the first input, 0 or 1; a number or an array.
            b: Whether the event happened in outputs for the second input, in the same form.
        """
        largest = 1.0 / (self.factor + self.fee)
        gains = np.atleast_1d(np.asarray(a, np.float64) - self.factor * np.asarray(b, np.float64) - self.fee)
        values, counts = np.unique(gains, return_counts=True)
        # The wealth is the mean over constant stakes, so no stake has to be chosen: the best stake dominates the mean.
        self._of_stakes += np.log1p(np.outer(self._shares * largest, values)) @ counts
        top = float(self._of_stakes.max())
        self.log_wealth = top + math.log(float(np.exp(self._of_stakes - top).mean()))


class ClaimBets:
    """Bets against several claims (values of epsilon) at once, each with its own wealth.

    The wealth measures the evidence against a claim. Half of the wealth is bet on how often an event (a set of outputs)
    happens for two inputs, and half on how often a guess of the input from the output is right. Without a set of inputs
    to guess from, all of the wealth is bet on the event.
    """

    def __init__(self, claim: Claim, pair: InputPair, chosen: InputSet | None) -> None:
        self._claim = claim
        # The grid includes 0: if only the claim 0 is refuted, the bound is 0.
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
        """Bet on how often an event (a set of outputs) happens for two inputs, and update the wealth of each claim.

        A claim, a possible value of epsilon, limits how much more often the event happens for the first input than for
        the second. The bet against the claim wins, and its wealth grows, if the event is more frequent than that. A
        large wealth refutes the claim.

        Args:
            a: Whether the event happened in each draw of the first input.
            b: Whether the event happened in each draw of the second input.
        """
        for test in self._pairs.values():
            test.bet(a, b)

    def bet_on_guesses(self, hits: NDArray[np.bool_]) -> None:
        """Bet on right guesses of the input, once against each claim, and update the wealth of each claim.

        A true claim limits how often the input can be guessed from the output. If guesses are right more often, the
        wealth grows, and a large wealth refutes the claim.

        Args:
            hits: Whether each guess was right, shape ``(n,)``.
        """
        for test in self._guesses.values():
            test.bet(hits, np.zeros(len(hits)))

    @property
    def log_wealths(self) -> dict[float, float]:
        """Natural logarithm of the wealth (evidence against a claim) for each claimed epsilon, by epsilon."""
        if not self._guesses:
            return {claim: test.log_wealth for claim, test in self._pairs.items()}
        return {
            claim: float(np.logaddexp(test.log_wealth, self._guesses[claim].log_wealth)) - math.log(2)
            for claim, test in self._pairs.items()
        }

    def find_bound(self, alpha: float) -> float:
        """Return a lower bound on epsilon: the largest claim that is refuted together with all smaller claims.

        The result is 0 if no claim is refuted. The smallest true claim is refuted with probability at most ``alpha``.
        The bound exceeds the true epsilon only if this happens.
        """
        bound = 0.0
        for claim, wealth in self.log_wealths.items():
            if wealth < -math.log(alpha):
                break
            bound = claim
        return bound

    def refute_claim(self, alpha: float) -> bool:
        """Return whether the bets refute the claim of the mechanism at error probability ``alpha``."""
        return self.log_wealths[self._claim.epsilon] >= -math.log(alpha)


def _raise(epsilon: float) -> float:
    return math.exp(min(_LARGEST_EXPONENT, epsilon))
