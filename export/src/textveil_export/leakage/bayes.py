"""Bayes-optimal recovery: how often an attacker who knows everything public guesses a word from its releases.

The attacker knows the mechanism and a prior ``pi`` over inputs, and guesses the likeliest one. From one release the
guess is right with probability

    sum over y of max over x of pi(x) Pr[M(x) = y],

exactly (``guess_from_one_release``). From ``n`` independent releases of the same word it is right with the mean of the
largest posterior, which is simulated (``simulate_releases``). It is a rate under this prior, not a bound.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Channel, Floats, ScoreChannel

from textveil_export.parallel import Ids, map_blocks
from textveil_export.progress import Progress, ignore_progress

#: Zipf-Mandelbrot's shift of ranks, for words of English text.
ZIPF_OFFSET = 2.7
#: Numbers of releases that are simulated.
RELEASE_COUNTS = (2, 5, 10)
TRIALS = 10_000
#: Of a 95 % interval of a mean, in standard errors.
_STANDARD_ERRORS = 1.959964
_BLOCK = 8
_CELLS_AT_ONCE = 1 << 17
#: A posterior below ``exp`` of this, of the largest one, is left out of their sum.
_NEGLIGIBLE = -40.0


@dataclass(frozen=True)
class RecoveryRate:
    """How often a guess is right.

    Attributes:
        rate: Share of right guesses.
        low: Lower end of its 95 % interval; ``None`` where the rate is exact.
        high: Upper end of it.
    """

    rate: float
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, float]:
        """Returns plain values for JSON, six decimals."""
        return {name: round(value, 6) for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class BestGuesses:
    """The best guess from one release.

    Attributes:
        rate: Probability that it is right, under the prior.
        inputs: The guess for every output, shape ``(symbols,)``.
    """

    rate: float
    inputs: Ids


def make_zipf_prior(inputs: int) -> Floats:
    """Returns the public prior ``pi(x)`` proportional to ``1 / (rank + 2.7)``, shape ``(inputs,)``; sums to 1.

    Rank 1 is the first line of the vocabulary, which is ordered by public text; ``<unk>`` has the last rank.
    """
    shares = 1 / (np.arange(1, inputs + 1) + ZIPF_OFFSET)
    return shares / shares.sum()


def restrict_prior(prior: Floats, inputs: NDArray[np.bool_]) -> Floats:
    """Returns a prior given that the input is one of some, 0 elsewhere, shape ``(inputs,)``; sums to 1."""
    shares = np.where(inputs, prior, 0)
    return shares / shares.sum()


def guess_from_one_release(
    channel: Channel, priors: Mapping[str, Floats], progress: Progress = ignore_progress
) -> dict[str, BestGuesses]:
    """Returns the best guess for every output, and ``sum over y of max over x of pi(x) Pr[M(x) = y]``, exact.

    The coin of SanText+ counts where the channel has one; ``channel.drawn`` leaves it out.

    Args:
        channel: The output distribution.
        priors: Priors by name, shape ``(inputs,)`` each. One that sums to less than 1 gives its part of the sum.
        progress: Called with outputs done.

    Returns:
        By name of the prior.
    """

    def likeliest(outputs: Ids) -> dict[str, tuple[Ids, Floats]]:
        columns, best = channel.columns(outputs), {}
        for name, prior in priors.items():
            joint = columns * prior
            guesses = joint.argmax(axis=1)
            best[name] = guesses, joint[np.arange(len(outputs)), guesses]
        return best

    blocks = map_blocks("guessing", np.arange(channel.symbols), likeliest, progress, _BLOCK)
    return {
        name: BestGuesses(
            float(np.concatenate([block[name][1] for block in blocks]).sum()),
            np.concatenate([block[name][0] for block in blocks]),
        )
        for name in priors
    }


def guess_inputs(log_likelihoods: Floats, prior: Floats) -> tuple[Ids, Floats]:
    """Returns the likeliest input of every token, and its posterior probability, shapes ``(tokens,)``.

    Args:
        log_likelihoods: ``ln Pr[releases of the token | x]``, up to a constant for each token, shape
            ``(tokens, inputs)``.
        prior: Shape ``(inputs,)``.
    """
    with np.errstate(divide="ignore"):
        logs = log_likelihoods + np.log(prior)
    guesses = logs.argmax(axis=1)
    logs -= logs[np.arange(len(logs)), guesses, None]
    near = logs > _NEGLIGIBLE
    posteriors = np.exp(logs[near])
    return guesses, 1 / np.add.reduceat(posteriors, np.cumsum(near.sum(axis=1)) - near.sum(axis=1))


def simulate_releases(
    channel: ScoreChannel,
    prior: Floats,
    *,
    trials: int,
    stream: tuple[int, ...],
    progress: Progress = ignore_progress,
) -> dict[int, RecoveryRate]:
    """Simulates guesses from several releases of the same word: the mean of the largest posterior over the trials.

    A word is drawn from the prior, its outputs from its integer weights; the first of them serve the smaller numbers
    of releases too. Nothing here protects anybody's text: a seeded generator is right.

    Args:
        channel: The output distribution of a draw; a coin is left out.
        prior: Shape ``(inputs,)``.
        trials: Words drawn.
        stream: Seed of the generator; each batch of trials adds its number.
        progress: Called with trials done.

    Returns:
        By number of releases.
    """
    log_totals, totals = channel.log_totals, channel.totals
    cumulative = np.cumsum(prior)

    def largest_posteriors(batch: Ids) -> Floats:
        generator = np.random.default_rng([*stream, int(batch[0])])
        uniform = generator.random(len(batch)) * cumulative[-1]
        words = np.minimum(np.searchsorted(cumulative, uniform, side="right"), np.flatnonzero(prior)[-1])
        rows = np.cumsum(channel.weights_from(words), axis=1)
        drawn = generator.integers(0, totals[words, None], (len(batch), RELEASE_COUNTS[-1]))
        outputs = [np.searchsorted(row, uniform, side="right") for row, uniform in zip(rows, drawn, strict=True)]
        logs = np.zeros((len(batch), len(prior)))
        largest: list[Floats] = []
        for number, output in enumerate(np.transpose(outputs), 1):
            logs += np.take(channel.log_weights, channel.scores.to_outputs(output))  # q(y) is the same for every x
            logs -= log_totals
            if number in RELEASE_COUNTS:
                largest.append(guess_inputs(logs, prior)[1])
        return np.stack(largest, axis=1)

    size = max(1, _CELLS_AT_ONCE // len(prior))
    stage = "guessing from several releases"
    largest = np.concatenate(map_blocks(stage, np.arange(trials), largest_posteriors, progress, size))
    means = largest.mean(axis=0)
    margins = _STANDARD_ERRORS * largest.std(axis=0, ddof=1) / np.sqrt(trials)
    return {
        n: RecoveryRate(float(mean), max(0.0, float(mean - margin)), min(1.0, float(mean + margin)))
        for n, mean, margin in zip(RELEASE_COUNTS, means, margins, strict=True)
    }


def measure_recovery(
    channel: ScoreChannel,
    inputs: NDArray[np.bool_],
    *,
    trials: int,
    stream: tuple[int, ...],
    progress: Progress = ignore_progress,
) -> dict[str, Any]:
    """Returns the recovery rates of one channel, as the statistics of a bundle hold them.

    Args:
        channel: The output distribution, with its coin if it has one.
        inputs: The inputs that the attacker decides between after a draw, shape ``(inputs,)``.
        trials: Words drawn in the simulation.
        stream: Seed of the simulation.
        progress: Called with outputs and trials done.

    Returns:
        ``bayes_recovery``, by number of releases, and ``bayes_recovery_with_kept_words`` where there is a coin: among
        all inputs then, since a word that comes out may have been kept.
    """
    prior = restrict_prior(make_zipf_prior(channel.inputs), inputs)
    rate = guess_from_one_release(channel.drawn, {"drawn": prior}, progress)["drawn"].rate
    simulated = simulate_releases(channel.drawn, prior, trials=trials, stream=stream, progress=progress)
    rates = {"bayes_recovery": {str(n): rate.to_dict() for n, rate in {1: RecoveryRate(rate), **simulated}.items()}}
    if channel.keepable is not None:
        rate = guess_from_one_release(channel, {"all": make_zipf_prior(channel.inputs)}, progress)["all"].rate
        rates["bayes_recovery_with_kept_words"] = {"1": RecoveryRate(rate).to_dict()}
    return rates
