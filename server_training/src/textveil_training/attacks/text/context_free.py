"""Attack single tokens without context: guess the nearest word, apply Bayes' rule, and use repeated outputs.

**Priors.** An attacker's belief about a token before seeing its output is a distribution over the inputs. The public
prior is the Zipf-Mandelbrot prior in the statistics of a bundle (folder with word lists and settings)
(``textveil_export.leakage.bayes.make_zipf_prior``).

**Nearest.** The guess for an output y is y itself, which is the nearest vocabulary entry. The list of ten guesses also
has the nine next nearest entries. The attack needs only the word vectors. Yue et al. 2021 and Feyisetan et al. 2020
count unchanged words; Song and Raghunathan 2020 also search the neighbors of an output. The attack never guesses
``<unk>``, which stands for words outside the vocabulary.

**Bayes.** An attacker who knows the mechanism M and a prior pi guesses ``g(y) = argmax_x pi(x) Pr[M(x) = y]``. By
Bayes' theorem no guess from y alone is right more often. The top-1 accuracy in closed form is

    sum_y max_x pi(x) Pr[M(x) = y],

summed over every output, including the probability with which SanText+ leaves common words unchanged. The statistics of
a bundle contain this figure as ``bayes_recovery_with_kept_words``. An output shows whether a token is a whole word or a
part of a word (WordPiece). So if the prior contains parts of words, the sum is computed for whole words and for parts
separately. A right guess of ``<unk>`` reveals that a word is outside the vocabulary, but not which word it is.

**Repeated.** After outputs ``y_1 ... y_n`` of one token the posterior is ``pi(x) prod_i Pr[M(x) = y_i]``, normalized.
The guess is the likeliest x, and its posterior is the probability that the guess is right. The mean of these
probabilities is a Monte Carlo estimate of the Bayes accuracy from n outputs (for n = 1 the closed form above). Since
the average of many outputs reveals the word, every further output spends its own epsilon. For a smaller n the attack
uses the first n outputs.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import WordMetric
from textveil_export.leakage import guess_from_one_release, guess_inputs, make_zipf_prior

from textveil_training.attacks.rates import (
    compute_clustered_interval,
    compute_rates,
    compute_wilson_interval,
    round_rate,
)
from textveil_training.attacks.text.released import ReleasedTexts
from textveil_training.token_randomizer import Doubles, Ids, TokenRandomizer

#: Names of the priors in records.
ZIPF, TEXT = "zipf", "text"


def compute_text_prior(tokens: Ids, inputs: int) -> Doubles:
    """Compute the relative frequency of each input id among the attacked tokens, shape ``(inputs,)``.

    No real attacker has this knowledge: with these frequencies as the prior, an attacker never guesses a word that is
    not in the attacked texts. Whole words and WordPiece parts of words are counted together.

    Args:
        tokens: Input ids of the attacked tokens.
        inputs: Number of input ids.
    """
    return np.bincount(tokens, minlength=inputs) / len(tokens)


def make_priors(tokens: Ids, inputs: int) -> dict[str, Doubles]:
    """Return two arrays of word probabilities that an attacker may assume, by name.

    ``zipf`` is a public Zipf distribution, and ``text`` has the frequencies in the attacked texts.

    Args:
        tokens: Input ids of the attacked tokens.
        inputs: Number of input ids.
    """
    return {ZIPF: make_zipf_prior(inputs), TEXT: compute_text_prior(tokens, inputs)}


#: Length of the longer list of guesses.
LISTED = 10


def rank_inputs(metric: WordMetric, inputs: Ids, outputs: Ids, report: Callable[[int, int], None]) -> Ids:
    """Rank each token's input among all vocabulary entries by its distance from the token's output.

    The rank is the number of entries that are nearer to the output than the input is. Of two entries at the same
    distance the one with the smaller id counts as nearer.

    Args:
        metric: Distances of the bundle.
        inputs: Input ids, shape ``(n,)``.
        outputs: Output ids, shape ``(n,)``.
        report: Called with the number of finished outputs and the total.

    Returns:
        Ranks from 0, shape ``(n,)``. The rank of the input ``<unk>`` (a word outside the vocabulary) is the number of
        entries.
    """
    symbols = len(metric.rows) - 1
    unique, row_of = np.unique(outputs, return_inverse=True)
    found = np.full(len(inputs), symbols)
    order = np.argsort(row_of, kind="stable")
    bounds = np.searchsorted(row_of[order], np.arange(len(unique) + 1))
    done = 0
    for part, squared in metric.iterate_squared_blocks(unique):
        squared = squared[:, :-1]
        for row in range(len(part)):
            tokens = order[bounds[done + row] : bounds[done + row + 1]]
            known, back = np.unique(inputs[tokens], return_inverse=True)
            nearer = [_rank_input(squared[row], x) if x < symbols else symbols for x in known.tolist()]
            found[tokens] = np.array(nearer)[back]
        done += len(part)
        report(done, len(unique))
    return found


def _rank_input(distances: Ids, x: int) -> int:
    own = distances[x]
    return int(np.count_nonzero(distances < own) + np.count_nonzero(distances[:x] == own))


def attack_nearest(metric: WordMetric, released: ReleasedTexts, report: Callable[[int, int], None]) -> dict[str, Any]:
    """Measure how often the original word is the nearest vocabulary entry to the output, or among the ten nearest.

    Args:
        metric: Distances of vocabulary entries.
        released: Raw texts with one sanitized output each.
        report: Called with the numbers of finished and of all tokens.

    Returns:
        The result of ``compute_rates`` for the rates ``top1`` (the nearest) and ``top10``.
    """
    rank = rank_inputs(metric, released.inputs, released.outputs, report)
    return compute_rates({"top1": rank < 1, "top10": rank < LISTED}, released.example, released.sensitive)


#: Number of random words, sampled from the prior, in the simulation that checks the closed form.
DRAWS = 20_000


def attack_bayes(
    randomizer: TokenRandomizer,
    released: ReleasedTexts,
    *,
    seed: int,
    report: Callable[[int, int], None],
    draws: int = DRAWS,
) -> dict[str, Any]:
    """Measure how often the most probable word by Bayes' rule is right, with two priors of the attacker.

    Args:
        randomizer: The mechanism.
        released: Raw texts with one sanitized output each.
        seed: Seed of the generator that samples words from the prior. The mechanism randomizes these words with the
            operating system's entropy.
        report: Called with the number of finished outputs and the total.
        draws: Number of random words in the simulation that checks the exact success rate.

    Returns:
        Success rates under the Zipf prior: ``closed_form`` (exact), ``simulated`` on random words with its 95 %
        ``interval`` (Wilson), and ``on_text`` (measured on the attacked texts). ``text_prior`` has ``closed_form`` and
        ``on_text`` for an attacker who knows the word frequencies of the attacked texts.
    """

    def step(stage: str, done: int, total: int) -> None:
        report(done, total)

    inputs = randomizer.unknown_id + 1
    tokens = released.inputs
    public, of_text = make_priors(tokens, inputs).values()
    guessed = guess_from_one_release(randomizer.get_distribution(), {ZIPF: public, TEXT: of_text}, step)
    drawn = np.random.default_rng(seed).choice(inputs, draws, p=public)
    outputs = randomizer.randomize_ids(drawn, np.ones(draws, bool))
    hits = int((guessed[ZIPF].inputs[outputs] == drawn).sum())

    def on_text(name: str) -> dict[str, Any]:
        guess_inputs = guessed[name].inputs[released.outputs]
        return compute_rates({"top1": guess_inputs == tokens}, released.example, released.sensitive)

    return {
        "prior": ZIPF,
        "without_release": round_rate(public.max()),
        "closed_form": round_rate(guessed[ZIPF].rate),
        "simulated": round_rate(hits / draws),
        "interval": compute_wilson_interval(hits, draws),
        "draws": draws,
        "on_text": on_text(ZIPF),
        "text_prior": {
            "without_release": round_rate(of_text.max()),
            "closed_form": round_rate(guessed[TEXT].rate),
            "on_text": on_text(TEXT),
        },
    }


Singles = NDArray[np.float32]

RELEASES = (1, 2, 5, 10, 20)
#: Number of log likelihoods in memory at a time, 256 MB.
_CELLS = 1 << 26
#: Number of tokens whose posteriors are computed at a time.
_ROWS = 64


def attack_repeated(
    randomizer: TokenRandomizer,
    released: ReleasedTexts,
    sample: Ids,
    unigrams: Mapping[str, Doubles],
    report: Callable[[int, int], None],
    releases: tuple[int, ...] = RELEASES,
) -> dict[str, Any]:
    """Measure how often an attacker who sees several outputs of one token guesses the token.

    Args:
        randomizer: The mechanism.
        released: Texts whose tokens the mechanism randomizes again for this attack.
        sample: Indices of the attacked tokens.
        unigrams: Priors by name (``zipf``, ``text``), shape ``(inputs,)`` each.
        report: Called with the number of finished steps and the total.
        releases: Numbers of outputs of a token that the attacker sees, ascending; the attack is measured for each.

    Returns:
        For each number of outputs: ``rate`` of right guesses with its ``interval`` (95 %, see
        ``compute_clustered_interval``), the mean ``largest_posterior``, and ``sensitive``, the same figures for words
        that the mechanism always randomizes (SanText+ leaves other words unchanged with some probability). All use the
        Zipf prior; ``text_prior`` has the same figures with the word frequencies of the attacked texts as the prior.

    Privacy:
        Samples as many outputs of every attacked token as the largest number in ``releases``. Use it only for public
        texts, or for the caller's own.
    """
    size = max(1, _CELLS // (randomizer.unknown_id + 1))
    chunks = [sample[start : start + size] for start in range(0, len(sample), size)]
    found: dict[tuple[int, str], list[tuple[Ids, Doubles]]] = {}
    for number, chunk in enumerate(chunks):
        for stage, (count, logs) in enumerate(_iterate_log_likelihoods(randomizer, released, chunk, releases), 1):
            for name, prior in unigrams.items():
                found.setdefault((count, name), []).append(_guess_inputs(logs, prior))
            report(number * len(releases) + stage, len(chunks) * len(releases))
    result: dict[str, Any] = {}
    for count in releases:
        make_zipf_prior, of_text = (_summarize_rates(found[count, name], released, sample) for name in (ZIPF, TEXT))
        result[str(count)] = make_zipf_prior | {"text_prior": of_text}
    return result


def _summarize_rates(parts: list[tuple[Ids, Doubles]], released: ReleasedTexts, sample: Ids) -> dict[str, Any]:
    guesses, largest = (np.concatenate(part) for part in zip(*parts, strict=True))
    hits, clusters, sensitive = guesses == released.inputs[sample], released.example[sample], released.sensitive[sample]
    found = compute_rates({"rate": hits, "largest_posterior": largest}, clusters, sensitive)
    if "sensitive" in found:
        found["sensitive"]["interval"] = compute_clustered_interval(hits[sensitive], clusters[sensitive])
    return found | {"interval": compute_clustered_interval(hits, clusters)}


def _guess_inputs(logs: Singles, prior: Doubles) -> tuple[Ids, Doubles]:
    """Return each token's likeliest input, and the posterior probability of this input.

    Args:
        logs: Log likelihoods, shape ``(tokens, inputs)``.
        prior: Probability of each word before the attacker sees an output, shape ``(inputs,)``.
    """
    parts = [
        guess_inputs(logs[start : start + _ROWS].astype(np.float64), prior) for start in range(0, len(logs), _ROWS)
    ]
    guesses, largest = (np.concatenate(part) for part in zip(*parts, strict=True))
    return guesses, largest


def _iterate_log_likelihoods(
    randomizer: TokenRandomizer, released: ReleasedTexts, sample: Ids, releases: tuple[int, ...]
) -> Iterator[tuple[int, Singles]]:
    """Randomize the sampled tokens again and again, and yield the log likelihoods of all inputs.

    Yields:
        For each number in ``releases``: the number, and the log likelihoods given that many outputs, shape
        ``(sample, inputs)``. The same array is updated in place between two yields.
    """
    inputs, whole = released.inputs[sample], np.ones(len(sample), bool)
    logs = np.zeros((len(sample), randomizer.unknown_id + 1), np.float32)
    before = 0
    for count in releases:
        drawn = np.stack([randomizer.randomize_ids(inputs, whole) for _ in range(count - before)], axis=1)
        before = count
        _add_log_likelihoods(logs, randomizer, drawn)
        yield count, logs


def _add_log_likelihoods(logs: Singles, randomizer: TokenRandomizer, drawn: Ids) -> None:
    """Add the log probability of each token's new outputs, given each possible input, to the log likelihoods.

    The function changes ``logs`` in place.

    Args:
        logs: Log likelihoods of all inputs for each token, shape ``(tokens, inputs)``.
        randomizer: The mechanism.
        drawn: New outputs of each token, shape ``(tokens, outputs)``.
    """
    outputs, row_of = np.unique(drawn, return_inverse=True)
    owners = np.repeat(np.arange(len(drawn)), drawn.shape[1])
    order = np.argsort(row_of.ravel(), kind="stable")
    starts = np.searchsorted(row_of.ravel()[order], np.arange(len(outputs) + 1))
    done = 0
    for part, likelihoods in randomizer.get_distribution().iterate_column_blocks(outputs):
        with np.errstate(divide="ignore"):
            block = np.log(likelihoods, out=likelihoods).astype(np.float32)
        for row in range(len(part)):
            for owner in owners[order[starts[done + row] : starts[done + row + 1]]]:
                logs[owner] += block[row]
        done += len(part)
