"""Repeated release: several independent outputs of the same text, and no context.

After outputs ``y_1 ... y_n`` of one token the posterior is ``pi(x) prod_i Pr[M(x) = y_i]``, normalised; the guess is
the likeliest x, and the largest posterior is how likely it is to be right (the Monte Carlo form of the closed form of
module ``bayes``, n times). Independent noise is averaged away: this is why the same request gives the same output
unless a fresh one is asked, and paid, for. The first releases serve the smaller n too.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from textveil_training.attacks.text.priors import TEXT, ZIPF
from textveil_training.attacks.text.rates import interval, told
from textveil_training.attacks.text.released import Released
from textveil_training.likelihoods import Doubles, Ids
from textveil_training.text_channel import Floats, TextChannel

RELEASES = (1, 2, 5, 10, 20)
#: Log likelihoods held at a time: 256 MB.
_CELLS = 1 << 26


def repeated(
    channel: TextChannel,
    released: Released,
    sample: Ids,
    unigrams: Mapping[str, Doubles],
    report: Callable[[int, int], None],
    releases: tuple[int, ...] = RELEASES,
) -> dict[str, Any]:
    """How often tokens are guessed from several outputs.

    Args:
        channel: The law.
        released: The texts.
        sample: Which of their tokens.
        unigrams: Priors by name, shape ``(inputs,)`` each.
        report: Called with steps done and steps in all.
        releases: Numbers of outputs, ascending.

    Returns:
        By number of outputs: ``rate`` of right guesses with its ``interval`` (95 %, texts as clusters), the mean
        ``largest_posterior``, and ``sensitive``: the same of words that are never kept; under the Zipf prior, and in
        ``text_prior`` under the text's own frequencies.

    Privacy:
        Draws the largest number of outputs of every token of the sample.
    """
    size = max(1, _CELLS // (channel.unknown + 1))
    chunks = [sample[start : start + size] for start in range(0, len(sample), size)]
    found: dict[tuple[int, str], list[tuple[Ids, Doubles]]] = {}
    for number, chunk in enumerate(chunks):
        for stage, (count, logs) in enumerate(_log_likelihoods(channel, released, chunk, releases), 1):
            for name, prior in unigrams.items():
                found.setdefault((count, name), []).append(_guesses(logs, prior))
            report(number * len(releases) + stage, len(chunks) * len(releases))
    result: dict[str, Any] = {}
    for count in releases:
        zipf, of_text = (_told(found[count, name], released, sample) for name in (ZIPF, TEXT))
        result[str(count)] = zipf | {"text_prior": of_text}
    return result


def _told(parts: list[tuple[Ids, Doubles]], released: Released, sample: Ids) -> dict[str, Any]:
    guesses, largest = (np.concatenate(part) for part in zip(*parts, strict=True))
    hits, clusters, sensitive = guesses == released.inputs[sample], released.example[sample], released.sensitive[sample]
    found = told({"rate": hits, "largest_posterior": largest}, clusters, sensitive)
    if "sensitive" in found:
        found["sensitive"]["interval"] = interval(hits[sensitive], clusters[sensitive])
    return found | {"interval": interval(hits, clusters)}


def _guesses(logs: Floats, prior: Doubles) -> tuple[Ids, Doubles]:
    """The likeliest input of every token, and how likely it is; of log likelihoods, shape ``(tokens, inputs)``."""
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior).astype(np.float32)
    guesses, largest = np.empty(len(logs), np.int64), np.empty(len(logs))
    for row, of_token in enumerate(logs):
        posterior = of_token + log_prior
        guesses[row] = posterior.argmax()
        posterior -= posterior[guesses[row]]
        largest[row] = 1 / np.exp(posterior, dtype=np.float64).sum()
    return guesses, largest


def _log_likelihoods(
    channel: TextChannel, released: Released, sample: Ids, releases: tuple[int, ...]
) -> Iterator[tuple[int, Floats]]:
    """After each number of outputs: the log likelihoods of all inputs for every token, updated in place."""
    inputs, whole = released.inputs[sample], released.whole[sample]
    logs = np.zeros((len(sample), channel.unknown + 1), np.float32)
    before = 0
    for count in releases:
        drawn = np.stack([channel.plan.draw(inputs, whole) for _ in range(count - before)], axis=1)
        before = count
        for in_one in (True, False):
            _add(logs, channel, drawn, np.flatnonzero(whole == in_one), whole=in_one)
        yield count, logs


def _add(logs: Floats, channel: TextChannel, drawn: Ids, tokens: Ids, *, whole: bool) -> None:
    """Adds the logarithms of the likelihoods of some tokens' outputs, in place."""
    outputs, row_of = np.unique(drawn[tokens], return_inverse=True)
    owners = np.repeat(tokens, drawn.shape[1])
    order = np.argsort(row_of.ravel(), kind="stable")
    starts = np.searchsorted(row_of.ravel()[order], np.arange(len(outputs) + 1))
    done = 0
    for part, likelihoods in channel.likelihood_blocks(outputs, whole=whole):
        with np.errstate(divide="ignore"):
            block = np.log(likelihoods, out=likelihoods).astype(np.float32)
        for row in range(len(part)):
            for owner in owners[order[starts[done + row] : starts[done + row + 1]]]:
                logs[owner] += block[row]
        done += len(part)
