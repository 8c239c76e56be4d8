"""Check that repeated outputs of a mechanism for the same input are independent.

Bounds from samples hold for independent draws. A mechanism that is deterministic, that stores its outputs, or that has
a fixed seed violates this, and counts of its outputs could refute the claim of a private mechanism by mistake.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textveil_training.audit.events import Outputs
from textveil_training.audit.inputs import InputPair

_INPUTS = 16


@dataclass(frozen=True, kw_only=True)
class Freshness:
    """Result of comparing repeated outputs for the same inputs, in two runs of a mechanism.

    Attributes:
        inputs: Number of compared inputs.
        constant: Whether all compared inputs always gave one and the same output. Inputs that were not compared may
            give others.
        deterministic: Whether every input always gave the same output, in both runs.
        stored: Whether every input always gave the same output within a run, but at least one input gave another output
            in the other run.
        seeded: Whether both runs gave the same outputs in the same order, although at least one input gave several
            different outputs.
        unchanged: Whether every output was equal to its input.
    """

    inputs: int
    constant: bool
    deterministic: bool
    stored: bool
    seeded: bool
    unchanged: bool

    @property
    def repeats(self) -> bool:
        """Whether repeated outputs for an input depend on each other.

        If all compared inputs gave the same output, the value is false, since this shows no dependence.
        """
        return (self.deterministic or self.stored or self.seeded) and not self.constant

    def explain(self) -> str:
        """Describe in one sentence whether repeated outputs are independent."""
        if self.constant:
            return "all compared texts gave the same output; check that the mechanism reads its input"
        if self.unchanged:
            return "every output equals its input, so nothing is private"
        if self.deterministic:
            return (
                "the same text always gave the same output. A mechanism without randomness has no epsilon; if it "
                "stores outputs or has a fixed seed, turn that off and run the audit again"
            )
        if self.stored:
            return "a process repeats its output for the same text: turn off its store, and run the audit again"
        if self.seeded:
            return "two runs gave the same outputs in the same order: remove the fixed seed, and run the audit again"
        return "the same text gave different outputs"


def check_freshness(
    draw: Callable[[str, Sequence[Any]], Outputs],
    pairs: Sequence[InputPair],
    generator: np.random.Generator,
    sizes: Sequence[int],
) -> Freshness:
    """Sample outputs for the same inputs repeatedly, in two runs with the same order, and compare the outputs.

    Args:
        draw: Function that draws an output for each input, given a name for progress reports and the inputs.
        pairs: The pairs whose inputs are compared, 16 inputs at most.
        generator: Random generator that shuffles the inputs.
        sizes: Numbers of draws per run. If the outputs of a run repeat or are all equal, the check is repeated with the
            next number, since a private mechanism may rarely change its input, or rarely give another output.
    """
    inputs: list[Any] = []
    for one in (one for pair in pairs for one in pair.inputs):
        if len(inputs) < _INPUTS and not any(np.array_equal(one, other) for other in inputs):
            inputs.append(one)
    found = _compare_runs(draw, inputs, generator, sizes[0])
    for size in sizes[1:]:
        if found.repeats or found.constant:
            found = _compare_runs(draw, inputs, generator, size)
    return found


def _compare_runs(
    draw: Callable[[str, Sequence[Any]], Outputs], inputs: list[Any], generator: np.random.Generator, size: int
) -> Freshness:
    which = generator.permutation(np.repeat(np.arange(len(inputs)), max(2, size // len(inputs))))
    runs, unchanged = [], True
    for number in (1, 2):
        outputs = draw(f"randomness, run {number} of 2", [inputs[place] for place in which])
        unchanged &= all(np.array_equal(one, inputs[place]) for one, place in zip(outputs, which, strict=True))
        runs.append([one.tobytes() if isinstance(one, np.ndarray) else one for one in outputs])
    within: list[list[set[Any]]] = [[set() for _ in inputs] for _ in runs]
    for run, seen in zip(runs, within, strict=True):
        for one, place in zip(run, which, strict=True):
            seen[place].add(one)
    same_within = all(len(seen) == 1 for run in within for seen in run)
    same_across = runs[0] == runs[1]
    return Freshness(
        inputs=len(inputs),
        constant=len({one for run in runs for one in run}) == 1,
        deterministic=same_within and same_across,
        stored=same_within and not same_across,
        seeded=same_across and not same_within,
        unchanged=unchanged,
    )
