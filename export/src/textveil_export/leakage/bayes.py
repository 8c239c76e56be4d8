"""Bayes-optimal recovery: how often somebody who knows everything public guesses a word from its releases.

The observer knows the law and a public prior ``pi`` over inputs, and guesses the likeliest one. From one release they
are right with probability ``sum_y max_x pi(x) Pr[M(x) = y]``, exactly; from ``n`` independent releases of the same word
with the mean of the largest posterior, which is simulated. It is a rate under this prior, not a bound: context helps.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from textveil.bundle import TAILS, Bundle
from textveil.mechanisms import ReplacementCoin
from textveil.metric import Floats
from textveil.sampling import Integers
from textveil.table import KEPT

from textveil_export.leakage.channel import Channel, Ids, each
from textveil_export.progress import Progress, no_progress

#: Zipf-Mandelbrot's shift of ranks, for words of English text.
OFFSET = 2.7
PRIOR = (
    "pi(x) proportional to 1 / (rank + 2.7): rank 1 is the first line of vocabulary.tsv, <unk> has the last rank; "
    "restricted to the candidates of the mechanism; with kept words, over all inputs"
)
#: Numbers of releases that are simulated.
RELEASES = (2, 5, 10)
TRIALS = 10_000
SEED = 20_877
#: Of a 95 % interval of a mean, in standard errors.
_STANDARD_ERRORS = 1.959964
_CELLS_AT_ONCE = 1 << 17
#: A posterior below ``exp`` of this, of the largest one, is left out of their sum.
_NEGLIGIBLE = -40.0


@dataclass(frozen=True)
class Rate:
    """A recovery rate; ``low`` and ``high`` are the ends of a 95 % interval where it was simulated."""

    rate: float
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, float]:
        """Plain values for JSON, six decimals."""
        return {name: round(value, 6) for name, value in asdict(self).items() if value is not None}


def zipf(inputs: int) -> Floats:
    """The public prior over all inputs, in rank order and ``<unk>`` last, shape ``(inputs,)``; sums to 1."""
    shares = 1 / (np.arange(1, inputs + 1) + OFFSET)
    return shares / shares.sum()


def priors(channel: Channel) -> Floats:
    """The prior among the candidates of a law, 0 elsewhere, shape ``(inputs,)``; sums to 1."""
    shares = np.where(channel.candidates, zipf(len(channel.candidates)), 0)
    return shares / shares.sum()


def recovery_rates(
    bundle: Bundle,
    channels: Sequence[Channel],
    totals: Sequence[Integers],
    *,
    trials: int = TRIALS,
    seed: int = SEED,
    progress: Progress = no_progress,
) -> list[dict[str, Any]]:
    """Recovery rates of the laws of one tail, as the statistics of a bundle hold them.

    Args:
        bundle: The bundle; its coin is that of ``santext+``.
        channels: The laws.
        totals: ``Z(x)`` of each, shape ``(inputs,)``.
        trials: Words drawn from the prior in the simulation.
        seed: Of the simulation. Nothing here protects anybody's text: a seeded generator is right.
        progress: Called with outputs and trials done.
    """
    observers = [{"bayes_recovery": priors(channel) / total} for channel, total in zip(channels, totals, strict=True)]
    kept = np.append((bundle.table.roles & KEPT) != 0, False)
    replaced = ReplacementCoin.of(bundle.default_replacement_probability).threshold / 2**64
    everybody = zipf(len(kept))
    for observer, channel, total in zip(observers, channels, totals, strict=True):
        if channel.mechanism == "santext+":
            observer["bayes_recovery_with_kept_words"] = everybody * np.where(kept, replaced, 1) / total
    found: list[dict[str, Any]] = []
    rates = _one_release(channels, observers, progress)
    for number, (channel, total, observer) in enumerate(zip(channels, totals, rates, strict=True)):
        if "bayes_recovery_with_kept_words" in observer:  # what is kept comes out as itself and from nobody else
            observer["bayes_recovery_with_kept_words"] += (1 - replaced) * float(everybody[kept].sum())
        stream = (seed, TAILS.index(channel.tail), number)
        simulated = simulate(channel, total, priors(channel), trials, stream, _part(progress, number, len(channels)))
        law: dict[str, Any] = {name: {"1": Rate(rate).to_dict()} for name, rate in observer.items()}
        law["bayes_recovery"] |= {str(n): rate.to_dict() for n, rate in simulated.items()}
        found.append(law)
    return found


def _part(progress: Progress, number: int, parts: int) -> Progress:
    """Reports one of several equal parts of a stage."""
    return lambda stage, done, total: progress(stage, number * total + done, parts * total)


def _one_release(
    channels: Sequence[Channel], observers: Sequence[dict[str, Floats]], progress: Progress
) -> list[dict[str, float]]:
    """``sum_y q(y) max_x W[c(x, y)] f(x)`` for every law and each of its factors ``f = pi / Z``."""

    def largest(block: Ids) -> list[dict[str, float]]:
        scores = channels[0].scores.to_outputs(block)
        sums: list[dict[str, float]] = []
        for channel, factors in zip(channels, observers, strict=True):
            base = channel.base[block]
            sums.append({})
            for name, factor in factors.items():
                joint = np.take(channel.real_weights, scores)
                joint *= factor
                sums[-1][name] = float(joint.max(axis=1) @ base)
        return sums

    symbols = np.arange(len(channels[0].base))
    blocks = each(f"{channels[0].tail} tails: guessing", symbols, largest, progress)
    return [
        {name: sum(block[number][name] for block in blocks) for name in factors}
        for number, factors in enumerate(observers)
    ]


def simulate(
    channel: Channel,
    totals: Integers,
    prior: Floats,
    trials: int,
    stream: tuple[int, ...],
    progress: Progress = no_progress,
) -> dict[int, Rate]:
    """Recovery rates from several releases of the same word: the mean of the largest posterior over ``trials`` words.

    A word is drawn from the prior, its outputs from its integer weights; the first of them serve the smaller numbers of
    releases too.

    Args:
        channel: The law.
        totals: ``Z(x)``, shape ``(inputs,)``.
        prior: Shape ``(inputs,)``.
        trials: Words drawn.
        stream: Seed of the generator; each batch of trials adds its number.
        progress: Called with trials done.

    Returns:
        By number of releases.
    """
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)
    log_totals = np.log(totals.astype(np.float64))
    cumulative = np.cumsum(prior)

    def largest_posteriors(batch: Ids) -> Floats:
        generator = np.random.default_rng([*stream, int(batch[0])])
        uniform = generator.random(len(batch)) * cumulative[-1]
        words = np.minimum(np.searchsorted(cumulative, uniform, side="right"), np.flatnonzero(prior)[-1])
        rows = np.cumsum(channel.weights(channel.scores.from_inputs(words)), axis=1)
        drawn = generator.integers(0, totals[words, None], (len(batch), RELEASES[-1]))
        outputs = [np.searchsorted(row, uniform, side="right") for row, uniform in zip(rows, drawn, strict=True)]
        logs = np.repeat(log_prior[None, :], len(batch), axis=0)
        largest: list[Floats] = []
        for number, output in enumerate(np.transpose(outputs), 1):
            logs += np.take(channel.log_weights, channel.scores.to_outputs(output))
            logs -= log_totals
            if number in RELEASES:
                logs -= logs.max(axis=1, keepdims=True)
                near = logs > _NEGLIGIBLE
                posteriors = np.exp(logs[near])
                largest.append(1 / np.add.reduceat(posteriors, np.cumsum(near.sum(axis=1)) - near.sum(axis=1)))
        return np.stack(largest, axis=1)

    size = max(1, _CELLS_AT_ONCE // len(prior))
    stage = f"{channel.tail} tails: guessing from several releases"
    largest = np.concatenate(each(stage, np.arange(trials), largest_posteriors, progress, size))
    means = largest.mean(axis=0)
    margins = _STANDARD_ERRORS * largest.std(axis=0, ddof=1) / np.sqrt(trials)
    return {
        n: Rate(float(mean), max(0.0, float(mean - margin)), min(1.0, float(mean + margin)))
        for n, mean, margin in zip(RELEASES, means, margins, strict=True)
    }
