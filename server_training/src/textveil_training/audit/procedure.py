"""Run an audit: choose inputs, learn an event (set of outputs), and count the event in fresh outputs.

Stage 0 chooses one pair of inputs among candidates, and a set of inputs for the identification test, which guesses the
input of an output. Stage 1 learns an event that distinguishes the outputs of the pair. Stage 2 counts this event. No
stage uses samples of another stage, so the reported bound exceeds the true epsilon with probability at most alpha,
whatever stages 0 and 1 choose.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil_training.audit.betting import ClaimBets
from textveil_training.audit.claims import Claim
from textveil_training.audit.defaults import CONFIDENCE, DRAWS
from textveil_training.audit.events import InputGuesser, Outputs, learn_event
from textveil_training.audit.freshness import Freshness, check_freshness
from textveil_training.audit.inputs import InputPair, InputSet
from textveil_training.audit.statistics import (
    bound_identification_epsilon,
    compute_identification_ceiling,
    compute_pair_ceiling,
    find_half_power,
)
from textveil_training.audit.subjects import AuditedMechanism, parse_outputs
from textveil_training.errors import RewriterError, SettingError
from textveil_training.progress import ProgressCallback, ignore_progress

#: Numbers of outputs of k-ary randomized response for which a report states the power of the tests.
_POWER_OUTPUTS = (10, 1000)


@dataclass(frozen=True, kw_only=True)
class AuditSettings:
    """Size and confidence of an audit (statistical test of a privacy claim).

    Attributes:
        draws: Number of outputs for each of the two inputs in the pair test. Half of them serve to choose the event
            (set of outputs) whose frequencies are compared. The identification test, which guesses the input of each
            output, has twice as many draws in total.
        confidence: Probability that the reported bound does not exceed the true epsilon.
        until: Minutes for the test by betting, which replaces the tests of fixed size; ``None`` for tests of fixed
            size.
        seed: Seed of the choice and the order of inputs. The seed does not affect the mechanism.

    Raises:
        SettingError: A value is out of range.
    """

    draws: int = DRAWS
    confidence: float = CONFIDENCE
    until: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.draws < 100:
            raise SettingError("an audit needs at least 100 draws of each input: raise --draws")
        if not 0.5 <= self.confidence < 1:
            raise SettingError("the confidence must be at least .5 and below 1: lower --confidence")
        if self.until is not None and not self.until > 0:
            raise SettingError("--until must be above 0 minutes")


@dataclass(frozen=True, kw_only=True)
class TestResult:
    """Result of one test, with its power and the largest bound that it can report.

    Attributes:
        test: ``pair``, ``identification`` or ``betting``.
        bound: Lower bound on epsilon, or on epsilon per unit of distance.
        refutes: Whether the bound refutes the claim.
        ceiling: Largest bound that this test could report with its number of draws; ``None`` without a limit.
        half_power: Power of the test, as a dictionary from a number of outputs ``k`` to an epsilon. It is the smallest
            epsilon of k-ary randomized response for which the test reports at least half of this epsilon with
            probability 90 %, in the unit of ``bound``; ``None`` if there is none.
        draws: Number of draws that entered the bound.
        description: The inputs, their distance and the event (set of outputs) of the test, without any text.
    """

    __test__ = False  # pytest must not collect this class

    test: str
    bound: float
    refutes: bool
    ceiling: float | None
    half_power: dict[str, float | None]
    draws: int
    description: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """Report of an audit (statistical test of a claimed epsilon): a lower bound on epsilon, and the power of the tests.

    Attributes:
        claim: The claimed epsilon and delta.
        freshness: Result of a check whether the mechanism draws a new output each time it gets the same input.
        tests: Results of the tests. If the mechanism repeats its outputs, there is at most one test: identification
            (guessing the input of an output) with one draw of each input.
        outputs: ``text`` or ``vector``.
        unchanged: Share of texts whose output equals the input in the identification test; ``None`` for vectors.
        total_draws: Number of all sampled outputs, including those that served to choose the inputs of the tests.
        settings: Settings of the audit.
    """

    claim: Claim
    freshness: Freshness
    tests: tuple[TestResult, ...]
    outputs: str
    unchanged: float | None
    total_draws: int
    settings: AuditSettings

    @property
    def bound(self) -> float:
        """Return the largest lower bound on epsilon that one of the tests reports."""
        return max((one.bound for one in self.tests), default=0.0)

    @property
    def verdict(self) -> str:
        """Return ``refuted``, ``not refuted``, or ``not tested`` if outputs repeat and no test refutes the claim."""
        if any(one.refutes for one in self.tests):
            return "refuted"
        return "not tested" if self.freshness.repeats else "not refuted"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dictionary for JSON, by the names of its fields, without texts and outputs."""
        return {
            "claim": asdict(self.claim),
            "verdict": self.verdict,
            "bound": self.bound,
            "freshness": asdict(self.freshness) | {"repeats": self.freshness.repeats},
            "tests": [asdict(one) for one in self.tests],
            "outputs": self.outputs,
            "unchanged": self.unchanged,
            "total_draws": self.total_draws,
            "settings": asdict(self.settings),
        }


def audit_mechanism(
    mechanism: AuditedMechanism,
    claim: Claim,
    pairs: Sequence[InputPair],
    sets: Sequence[InputSet] = (),
    settings: AuditSettings | None = None,
    progress: ProgressCallback = ignore_progress,
) -> AuditReport:
    """Audit a mechanism: compute a lower bound on its epsilon from samples.

    Args:
        mechanism: The mechanism.
        claim: Its claim.
        pairs: Pairs of inputs that are neighbors: their outputs must be hard to distinguish if the claim is true. The
            audit chooses one of them.
        sets: Sets of inputs for the identification test, which guesses the input of an output; any two inputs of a set
            are neighbors.
        settings: Size and confidence; ``None`` for the defaults.
        progress: Called with a stage, its finished draws and their total.

    Returns:
        The report. A bound above the claim refutes the claim; a smaller bound proves nothing about privacy.

    Raises:
        RewriterError: The mechanism fails, or its outputs are of several types.
        SettingError: There is no pair.

    Example:
        >>> from textveil_training.audit import FunctionMechanism, InputPair, parse_claim
        >>> fixed = AuditSettings(draws=400, confidence=0.99)
        >>> coin = np.random.default_rng(1)
        >>> leaky = FunctionMechanism(lambda text: text if coin.random() < 0.9 else "nothing")
        >>> report = audit_mechanism(leaky, parse_claim("1"), [InputPair(("yes", "no"))], settings=fixed)
        >>> report.verdict
        'refuted'
    """
    return _Audit(mechanism, claim, settings or AuditSettings(), progress).run(pairs, sets)


class _Audit:
    """State of one audit (statistical test of a privacy claim): mechanism, claimed epsilon, number of outputs."""

    def __init__(
        self, mechanism: AuditedMechanism, claim: Claim, settings: AuditSettings, progress: ProgressCallback
    ) -> None:
        self._mechanism, self._claim, self._settings, self._progress = mechanism, claim, settings, progress
        self._generator = np.random.default_rng(settings.seed)
        self._drawn = 0
        self._dimension: int | None = None  # 0 for texts

    def run(self, pairs: Sequence[InputPair], sets: Sequence[InputSet]) -> AuditReport:
        if not pairs:
            raise SettingError("an audit needs at least one pair of inputs: pass --texts or --pairs with more rows")
        sizes = (160, min(2000, self._settings.draws), self._settings.draws)
        sizes = sizes if self._settings.until is None else (64, sizes[1])
        draws = self._settings.draws
        screening = max(5, min(500, draws // 40, 4 * draws // len(pairs))) if self._settings.until is None else 10
        freshness, pair = check_freshness(self._draw, pairs, self._generator, sizes), pairs[0]
        if not freshness.repeats and len(pairs) > 1:
            pair = self._choose_pair(pairs, screening)
            # A mechanism that stores the outputs of only a few texts repeats them if only two texts alternate.
            freshness = check_freshness(self._draw, [pair], self._generator, sizes)
        tests: list[TestResult] = []
        unchanged = None
        if freshness.repeats or freshness.constant:
            # Equal outputs of the compared inputs do not show that the draws of other inputs are independent.
            chosen = max(sets, key=lambda one: len(one.inputs), default=None)
            found = None if chosen is None else self._test_each_once(chosen, 1.0 - self._settings.confidence)
            if found is not None:
                result, unchanged, equal = found
                tests, freshness = [result], replace(freshness, constant=freshness.constant and equal)
        else:
            chosen = self._choose_set(sets, 2 * screening)
            alpha = 1.0 - self._settings.confidence
            if self._settings.until is not None:
                tests.append(self._test_by_betting(pair, chosen, alpha))
            else:
                share = alpha / (1 if chosen is None else 2)
                tests.append(self._test_pair(pair, share))
                if chosen is not None:
                    result, unchanged = self._test_identification(chosen, share)
                    tests.append(result)
        return AuditReport(
            claim=self._claim,
            freshness=freshness,
            tests=tuple(tests),
            outputs="vector" if self._dimension else "text",
            unchanged=unchanged,
            total_draws=self._drawn,
            settings=self._settings,
        )

    def _draw(self, stage: str, inputs: Sequence[Any]) -> Outputs:
        """Sample an output of the mechanism for each input, in order; progress reports name the ``stage``."""
        drawn = self._mechanism.draw_outputs(inputs, lambda done: self._progress(stage, done, len(inputs)))
        outputs = parse_outputs(drawn, self._dimension)
        if self._dimension is None:
            self._dimension = outputs.shape[1] if isinstance(outputs, np.ndarray) else 0
        self._drawn += len(inputs)
        return outputs

    def _draw_pair(self, stage: str, pair: InputPair, draws: int) -> tuple[Outputs, Outputs]:
        """Sample outputs for both inputs of a pair, in random order, and return the outputs of each input.

        Args:
            stage: Name of the stage in progress reports.
            pair: The pair.
            draws: Number of sampled outputs of each input.
        """
        order = self._generator.permutation(np.repeat([0, 1], draws))
        outputs = self._draw(stage, [pair.inputs[side] for side in order])
        return _select(outputs, order == 0), _select(outputs, order == 1)

    def _choose_pair(self, pairs: Sequence[InputPair], draws: int) -> InputPair:
        """Choose one pair of inputs: repeatedly drop the half of the pairs with smaller estimated bounds on epsilon.

        Args:
            pairs: Candidate pairs.
            draws: Number of new outputs of each input in each round.
        """
        left = list(pairs)
        known: dict[int, tuple[Outputs, Outputs]] = {}
        while len(left) > 1:
            which = self._generator.permutation(np.repeat(np.arange(2 * len(left)), draws))
            outputs = self._draw(f"choice of one of {len(left)} pairs", [left[n // 2].inputs[n % 2] for n in which])
            scored = []
            for number, pair in enumerate(left):
                new = [_select(outputs, which == 2 * number + side) for side in (0, 1)]
                old = known.get(id(pair))
                both = (new[0], new[1]) if old is None else (_join(old[0], new[0]), _join(old[1], new[1]))
                known[id(pair)] = both
                scored.append((self._guess_bound(pair, *both), -number))
            best = sorted(range(len(left)), key=lambda number: scored[number], reverse=True)
            left = [left[number] for number in sorted(best[: len(left) // 2])]
        return left[0]

    def _guess_bound(self, pair: InputPair, first: Outputs, second: Outputs) -> float:
        """Estimate the lower bound on epsilon for a pair of inputs, to compare pairs before the test.

        The method learns an event from half of the outputs, and counts the event in the others.
        """
        half = max(1, len(first) // 2)
        event = learn_event(first[:half], second[:half], pair.inputs, 0.1, self._claim.delta)
        return event.bound_epsilon(first[half:], second[half:], 0.1, self._claim.delta) / pair.distance

    def _choose_set(self, sets: Sequence[InputSet], draws: int) -> InputSet | None:
        """Choose the set of inputs for which a few trial outputs give the largest lower bound on epsilon.

        Returns:
            The set; ``None`` if the inputs do not have the form of the outputs (texts, or vectors of one length).
        """
        scored = []
        for one in sets:
            inputs = _prepare_inputs(one)
            if inputs is None or _get_dimension(inputs) != self._dimension:
                continue
            hits, _ = self._count_hits(f"choice among {len(one.inputs):,} inputs", one, inputs, draws)
            bound = bound_identification_epsilon(hits, draws, len(one.inputs), 0.05, self._claim.delta)
            scored.append((bound / one.distance, len(one.inputs), one))
        return max(scored, key=lambda entry: entry[:2])[2] if scored else None

    def _count_hits(self, stage: str, chosen: InputSet, inputs: Outputs, draws: int) -> tuple[int, float | None]:
        """Sample outputs for uniformly chosen inputs, guess the input of each output, and count the right guesses.

        Args:
            stage: Name of the stage in progress reports.
            chosen: The set of inputs.
            inputs: The same inputs converted to the type of the outputs, by ``_prepare_inputs``.
            draws: Number of sampled outputs in total.

        Returns:
            The number of right guesses, and the share of outputs that equal their input (``None`` for vectors).
        """
        which, outputs = self._draw_from_set(stage, chosen, draws)
        hits = int((InputGuesser(inputs).guess(outputs) == which).sum())
        return hits, _count_unchanged(inputs, which, outputs)

    def _draw_from_set(self, stage: str, chosen: InputSet, draws: int) -> tuple[NDArray[np.intp], Outputs]:
        """Sample outputs for uniformly chosen inputs of a set; return the indices of these inputs, and the outputs."""
        which = self._generator.integers(len(chosen.inputs), size=draws)
        return which, self._draw(stage, [chosen.inputs[number] for number in which])

    def _test_pair(self, pair: InputPair, alpha: float) -> TestResult:
        """Test the claim on a pair of inputs: learn an event from half of the outputs, and count it in the others."""
        half, delta = self._settings.draws // 2, self._claim.delta
        first, second = self._draw_pair("pair test, learning", pair, half)
        event = learn_event(first, second, pair.inputs, alpha, delta)
        first, second = self._draw_pair("pair test, counting", pair, half)
        bound = event.bound_epsilon(first, second, alpha, delta) / pair.distance
        described = {"pair": pair.origin, "distance": pair.distance, "event": event.name}
        return TestResult(
            test="pair",
            bound=bound,
            refutes=bound > self._claim.epsilon,
            ceiling=compute_pair_ceiling(half, alpha, delta) / pair.distance,
            half_power=_find_half_powers(_POWER_OUTPUTS, half, alpha, pair.distance, identification=False),
            draws=2 * half,
            description=described,
        )

    def _test_identification(self, chosen: InputSet, alpha: float) -> tuple[TestResult, float | None]:
        """Test the claim by guessing the input of each output.

        The guesses follow a fixed rule, so no output is needed for learning, and all outputs count.

        Returns:
            The result, and the share of outputs that equal their input (``None`` for vectors).
        """
        draws, count, delta = 2 * self._settings.draws, len(chosen.inputs), self._claim.delta
        inputs = _prepare_inputs(chosen)
        assert inputs is not None  # _choose_set checked that inputs can be prepared
        hits, unchanged = self._count_hits("identification test", chosen, inputs, draws)
        bound = bound_identification_epsilon(hits, draws, count, alpha, delta) / chosen.distance
        result = TestResult(
            test="identification",
            bound=bound,
            refutes=bound > self._claim.epsilon,
            ceiling=compute_identification_ceiling(draws, count, alpha, delta) / chosen.distance,
            half_power=_find_half_powers((count,), draws, alpha, chosen.distance, identification=True),
            draws=draws,
            description={"inputs": count, "distance": chosen.distance, "success": hits / draws},
        )
        return result, unchanged

    def _test_each_once(self, chosen: InputSet, alpha: float) -> tuple[TestResult, float | None, bool] | None:
        """Test the claim by guessing inputs, with a single output for each input.

        The test is also valid if a mechanism stores its outputs.

        The outputs of different inputs are independent, but have different probabilities of a right guess. The number
        of right guesses varies less than a binomial one with the same mean (Hoeffding 1956), so the bound holds.

        Returns:
            The result, the share of unchanged texts, and whether all outputs are equal. ``None`` if outputs cannot be
            compared with inputs.
        """
        inputs = _prepare_inputs(chosen)
        if inputs is None or _get_dimension(inputs) != self._dimension:
            return None
        which, count = self._generator.permutation(len(chosen.inputs)), len(chosen.inputs)
        outputs = self._draw("each input once", [chosen.inputs[number] for number in which])
        hits = int((InputGuesser(inputs).guess(outputs) == which).sum())
        delta = self._claim.delta
        bound = bound_identification_epsilon(hits, count, count, alpha, delta) / chosen.distance
        result = TestResult(
            test="identification",
            bound=bound,
            refutes=bound > self._claim.epsilon,
            ceiling=compute_identification_ceiling(count, count, alpha, delta) / chosen.distance,
            half_power=_find_half_powers((count,), count, alpha, chosen.distance, identification=True),
            draws=count,
            description={"inputs": count, "distance": chosen.distance, "success": hits / count},
        )
        equal = all(np.array_equal(one, outputs[0]) for one in outputs)
        return result, _count_unchanged(inputs, which, outputs), equal

    def _test_by_betting(self, pair: InputPair, chosen: InputSet | None, alpha: float) -> TestResult:
        """Test the claim by betting against it, batch after batch of sampled outputs.

        Bets against a grid of other epsilons give the lower bound on epsilon. The test ends when the bets refute the
        claim with error probability ``alpha``, or when its time or its number of samples is used up.

        Args:
            pair: Pair of inputs for bets on an event.
            chosen: Set of inputs for bets on guesses of the input; ``None`` to bet on the event only.
            alpha: Probability that a true claim is refuted.
        """
        assert self._settings.until is not None
        end = time.monotonic() + 60 * self._settings.until
        claim, bets = self._claim, ClaimBets(self._claim, pair, chosen)
        guesser = None if chosen is None else InputGuesser(_prepare_inputs(chosen) or [])
        past = self._draw_pair("betting, first draws", pair, 10)
        event = learn_event(*past, pair.inputs, 0.1, claim.delta)
        learned, drawn = 10, 0
        while drawn < self._settings.draws and time.monotonic() < end and not bets.refute_claim(alpha):
            batch = max(10, learned // 5)
            new = self._draw_pair("betting", pair, batch)  # the event depends on earlier draws alone
            a, b = event.contains(new[0]), event.contains(new[1])
            bets.bet_on_pair(*((a, b) if event.of_first else (b, a)))
            if chosen is not None and guesser is not None:
                which, outputs = self._draw_from_set("betting", chosen, batch)
                bets.bet_on_guesses(guesser.guess(outputs) == which)
            past, drawn = (_join(past[0], new[0]), _join(past[1], new[1])), drawn + batch
            if len(past[0]) >= 1.5 * learned:
                event, learned = learn_event(*past, pair.inputs, 0.1, claim.delta), len(past[0])
        return TestResult(
            test="betting",
            bound=bets.find_bound(alpha),
            refutes=bets.refute_claim(alpha),
            ceiling=None,
            half_power={},
            draws=2 * drawn + (drawn if chosen is not None else 0),
            description={
                "pair": pair.origin,
                "distance": pair.distance,
                "event": event.name,
                "inputs": None if chosen is None else len(chosen.inputs),
                "log_wealth": bets.log_wealths[claim.epsilon],
            },
        )


def _find_half_powers(
    outputs: Sequence[int], draws: int, alpha: float, distance: float, *, identification: bool
) -> dict[str, float | None]:
    """Compute the smallest epsilon that a test detects, for each number of outputs; see ``TestResult.half_power``.

    Args:
        outputs: Numbers ``k`` of outputs of k-ary randomized response.
        draws: Number of draws of the test.
        alpha: Probability that the bound is wrong.
        distance: Distance of the inputs, by which the results are divided.
        identification: Whether the test is the identification test.
    """
    found = {count: find_half_power(count, draws, alpha, identification=identification) for count in outputs}
    return {str(count): None if value is None else value / distance for count, value in found.items()}


def _count_unchanged(inputs: Outputs, which: NDArray[np.intp], outputs: Outputs) -> float | None:
    """Return the share of texts that the mechanism returned unchanged; ``None`` for vectors.

    Args:
        inputs: The possible inputs.
        which: Index of the input of each output.
        outputs: The outputs.
    """
    if isinstance(inputs, np.ndarray):
        return None
    return float(np.mean([outputs[place] == inputs[number] for place, number in enumerate(which)]))


def _get_dimension(outputs: Outputs) -> int:
    return outputs.shape[1] if isinstance(outputs, np.ndarray) else 0


def _prepare_inputs(chosen: InputSet) -> Outputs | None:
    """Convert inputs to the type of outputs: texts, or an array of vectors; ``None`` if they are neither."""
    if all(isinstance(one, str) for one in chosen.inputs):
        return list(chosen.inputs)
    try:
        found = parse_outputs(list(chosen.inputs))
    except RewriterError:
        return None
    return found if isinstance(found, np.ndarray) else None


def _select(outputs: Outputs, mask: NDArray[np.bool_]) -> Outputs:
    if isinstance(outputs, np.ndarray):
        return outputs[mask]
    return [outputs[place] for place in np.flatnonzero(mask)]


def _join(first: Outputs, second: Outputs) -> Outputs:
    if isinstance(first, np.ndarray):
        return np.concatenate([first, np.asarray(second)])
    return [*first, *second]
