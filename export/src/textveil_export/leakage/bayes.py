"""Compute how often an attacker with all public knowledge guesses a randomized word correctly.

The attacker is Bayes-optimal: it knows the mechanism ``M`` and a prior ``pi`` over inputs, and guesses the likeliest
input. From one randomized output the guess is correct with probability

    sum over y of max over x of pi(x) Pr[M(x) = y],

which ``guess_from_one_release`` computes exactly. From ``n`` independent outputs for the same word the probability is
the mean of the largest posterior, which ``simulate_releases`` estimates. Both are rates under this prior, not bounds:
an attacker who knows the context of a word succeeds more often.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import Floats, Randomizer, ScoreRandomizer

from textveil_export.parallel import Ids, map_blocks
from textveil_export.progress import Progress, ignore_progress

#: Shift of ranks in the Zipf-Mandelbrot law, for words of English text.
ZIPF_OFFSET = 2.7
#: Numbers of releases to simulate.
RELEASE_COUNTS = (2, 5, 10)
TRIALS = 10_000
#: Half width of a 95 % interval of a mean, in standard errors.
_STANDARD_ERRORS = 1.959964
_BLOCK = 8
_CELLS_AT_ONCE = 1 << 17
#: Log-ratio to the largest posterior below which a posterior is omitted from the normalizer.
_NEGLIGIBLE = -40.0


@dataclass(frozen=True)
class RecoveryRate:
    """Rate at which an attacker guesses the original word correctly.

    Attributes:
        rate: Share of correct guesses.
        low: Lower end of the 95 % confidence interval; ``None`` if the rate is exact.
        high: Upper end of the interval.
    """

    rate: float
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, float]:
        """Return the fields for JSON, rounded to six decimals; fields that are ``None`` are omitted."""
        return {name: round(value, 6) for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class BestGuesses:
    """The attacker's best guess of the original word for each possible output word.

    Attributes:
        rate: Probability of a correct guess under the prior.
        inputs: Guessed input of each output, shape ``(symbols,)``.
    """

    rate: float
    inputs: Ids


def make_zipf_prior(inputs: int) -> Floats:
    """Return prior probabilities of words proportional to ``1 / (rank + 2.7)``, with sum 1, shape ``(inputs,)``.

    Rank 1 is the first line of the vocabulary, which is ordered by frequency in public text; ``<unk>`` (unknown words)
    has the last rank.

    Example:
        >>> make_zipf_prior(3).round(3).tolist()
        [0.41, 0.323, 0.266]
    """
    shares = 1 / (np.arange(1, inputs + 1) + ZIPF_OFFSET)
    return shares / shares.sum()


def restrict_prior(prior: Floats, inputs: NDArray[np.bool_]) -> Floats:
    """Return the prior probabilities of words under the condition that the word is in a set, shape ``(inputs,)``.

    Args:
        prior: Probability of each word before the attacker sees an output, shape ``(inputs,)``.
        inputs: Whether each input belongs to the set, shape ``(inputs,)``.
    """
    shares = np.where(inputs, prior, 0)
    return shares / shares.sum()


def guess_from_one_release(
    randomizer: Randomizer, priors: Mapping[str, Floats], progress: Progress = ignore_progress
) -> dict[str, BestGuesses]:
    """Compute the attacker's best guess of a word for each output, and the exact probability of a correct guess.

    The probability is ``sum over y of max over x of pi(x) Pr[M(x) = y]``. ``pi(x)`` is the prior probability of the
    word ``x``, and ``Pr[M(x) = y]`` the probability that the mechanism replaces ``x`` by ``y``. If the mechanism leaves
    words unchanged with some probability (as SanText+ does), unchanged words count too. To exclude them, pass
    ``randomizer.without_coin``.

    Args:
        randomizer: Probability of each output word for each input word.
        priors: Priors by name, each of shape ``(inputs,)``. If the sum of a prior is below 1, so is the largest
            possible rate.
        progress: Called with the number of processed outputs.

    Returns:
        Guesses by name of the prior.

    Example:
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> rows = np.array([[0.9, 0.1], [0.2, 0.8]])  # Pr[M(x) = y], a row per input
        >>> randomizer = SimpleNamespace(symbol_count=2, compute_columns=lambda outputs: rows.T[outputs])
        >>> guesses = guess_from_one_release(randomizer, {"even": np.array([0.5, 0.5])})["even"]
        >>> round(guesses.rate, 6), guesses.inputs.tolist()
        (0.85, [0, 1])
    """

    def find_likeliest(outputs: Ids) -> dict[str, tuple[Ids, Floats]]:
        """Return for each prior, by name, two arrays with one entry for each output of a block.

        The first array has the id of the likeliest original, and the second its joint probability with the output.
        """
        columns, best = randomizer.compute_columns(outputs), {}
        for name, prior in priors.items():
            joint = columns * prior
            guesses = joint.argmax(axis=1)
            best[name] = guesses, joint[np.arange(len(outputs)), guesses]
        return best

    blocks = map_blocks("guessing", np.arange(randomizer.symbol_count), find_likeliest, progress, _BLOCK)
    return {
        name: BestGuesses(
            float(np.concatenate([block[name][1] for block in blocks]).sum()),
            np.concatenate([block[name][0] for block in blocks]),
        )
        for name in priors
    }


def guess_inputs(log_likelihoods: Floats, prior: Floats) -> tuple[Ids, Floats]:
    """Return the likeliest input of each token, and its posterior probability.

    Args:
        log_likelihoods: ``ln Pr[outputs for the token | x]`` up to a constant per token, shape ``(tokens, inputs)``.
        prior: Probability of each word before the attacker sees an output, shape ``(inputs,)``.

    Returns:
        Input ids and posterior probabilities, each of shape ``(tokens,)``.

    Example:
        >>> import numpy as np
        >>> inputs, posteriors = guess_inputs(np.log([[0.9, 0.1]]), np.array([0.5, 0.5]))
        >>> inputs.tolist(), posteriors.round(2).tolist()
        ([0], [0.9])
    """
    with np.errstate(divide="ignore"):
        logs = log_likelihoods + np.log(prior)
    guesses = logs.argmax(axis=1)
    logs -= logs[np.arange(len(logs)), guesses, None]
    near = logs > _NEGLIGIBLE
    posteriors = np.exp(logs[near])
    return guesses, 1 / np.add.reduceat(posteriors, np.cumsum(near.sum(axis=1)) - near.sum(axis=1))


def simulate_releases(
    randomizer: ScoreRandomizer,
    prior: Floats,
    *,
    trials: int,
    stream: tuple[int, ...],
    progress: Progress = ignore_progress,
) -> dict[int, RecoveryRate]:
    """Estimate by simulation how often an attacker guesses a word from several randomized outputs for it.

    Each trial samples a word from the prior and its outputs from the integer weights. For a smaller number of outputs,
    the attacker sees only the first outputs of a trial. The rate is the mean of the largest posterior. The random
    generator has a seed, which is safe because no user's text is involved.

    Args:
        randomizer: Output distribution of randomized words, without words that stay unchanged.
        prior: Probability of each word before the attacker sees an output, shape ``(inputs,)``.
        trials: Number of sampled words.
        stream: Seed of the generator; the function appends the index of the batch.
        progress: Called with the number of processed trials.

    Returns:
        Rate by number of outputs.
    """
    log_totals, totals = randomizer.log_totals, randomizer.totals
    cumulative = np.cumsum(prior)

    def largest_posteriors(batch: Ids) -> Floats:
        """Return the largest posterior for each trial of a batch and each number of outputs for a word."""
        generator = np.random.default_rng([*stream, int(batch[0])])
        uniform = generator.random(len(batch)) * cumulative[-1]
        words = np.minimum(np.searchsorted(cumulative, uniform, side="right"), np.flatnonzero(prior)[-1])
        rows = np.cumsum(randomizer.compute_input_weights(words), axis=1)
        samples = generator.integers(0, totals[words, None], (len(batch), RELEASE_COUNTS[-1]))
        outputs = [np.searchsorted(row, uniform, side="right") for row, uniform in zip(rows, samples, strict=True)]
        logs = np.zeros((len(batch), len(prior)))
        largest: list[Floats] = []
        for number, output in enumerate(np.transpose(outputs), 1):
            logs += np.take(
                randomizer.log_weights, randomizer.scores.score_outputs(output)
            )  # q(y) is the same for every x
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
    randomizer: ScoreRandomizer,
    inputs: NDArray[np.bool_],
    *,
    trials: int,
    stream: tuple[int, ...],
    progress: Progress = ignore_progress,
) -> dict[str, Any]:
    """Measure how often an attacker guesses the original words of a mechanism's outputs, for ``statistics.json``.

    Args:
        randomizer: Output distribution, including words that the mechanism leaves unchanged.
        inputs: Words that the attacker considers as originals of a randomized word, shape ``(inputs,)``.
        trials: Number of sampled words in the simulation.
        stream: Seed of the simulation.
        progress: Called with the numbers of processed outputs and trials.

    Returns:
        ``bayes_recovery``: the rate of correct guesses by number of outputs. If the mechanism leaves some words
            unchanged, also ``bayes_recovery_with_kept_words``: the rate over all words, unchanged ones included.
    """
    prior = restrict_prior(make_zipf_prior(randomizer.input_count), inputs)
    rate = guess_from_one_release(randomizer.without_coin, {"drawn": prior}, progress)["drawn"].rate
    simulated = simulate_releases(randomizer.without_coin, prior, trials=trials, stream=stream, progress=progress)
    rates = {"bayes_recovery": {str(n): rate.to_dict() for n, rate in {1: RecoveryRate(rate), **simulated}.items()}}
    if randomizer.is_keepable is not None:
        rate = guess_from_one_release(randomizer, {"all": make_zipf_prior(randomizer.input_count)}, progress)[
            "all"
        ].rate
        rates["bayes_recovery_with_kept_words"] = {"1": RecoveryRate(rate).to_dict()}
    return rates
