"""The repeated-release attack: several independent outputs of the same text, without context.

After outputs ``y_1 ... y_n`` of one token the posterior is ``pi(x) prod_i Pr[M(x) = y_i]``, normalized. The guess is
the likeliest x, and its posterior is the probability that it is right; the mean of that is a Monte Carlo estimate of
the Bayes accuracy from n outputs (for n = 1 the closed form of module ``bayes``). Independent noise averages away, so
every further output costs its own epsilon. The first outputs serve the smaller n too.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil_export.leakage import guess

from textveil_training.attacks.rates import clustered_interval, rates_of
from textveil_training.attacks.text.priors import TEXT, ZIPF
from textveil_training.attacks.text.released import Released
from textveil_training.token_randomizer import Doubles, Ids, TextChannel

Singles = NDArray[np.float32]

RELEASES = (1, 2, 5, 10, 20)
#: Number of log likelihoods held at a time: 256 MB.
_CELLS = 1 << 26
#: Tokens whose posteriors are computed at a time.
_ROWS = 64


def repeated(
    channel: TextChannel,
    released: Released,
    sample: Ids,
    unigrams: Mapping[str, Doubles],
    report: Callable[[int, int], None],
    releases: tuple[int, ...] = RELEASES,
) -> dict[str, Any]:
    """Measures how often tokens are guessed from several outputs.

    Args:
        channel: The mechanism.
        released: Texts whose tokens are released anew.
        sample: Indices of the attacked tokens.
        unigrams: Priors by name, shape ``(inputs,)`` each.
        report: Called with steps done and steps in all.
        releases: Numbers of outputs, ascending.

    Returns:
        By number of outputs: ``rate`` of right guesses with its ``interval`` (95 %, texts as clusters), the mean
        ``largest_posterior``, and ``sensitive``, the same of words that are never kept. All are under the Zipf prior;
        ``text_prior`` has them under the text's own frequencies.

    Privacy:
        Releases every token of the sample as often as the largest number of outputs says.
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
        zipf, of_text = (_rates(found[count, name], released, sample) for name in (ZIPF, TEXT))
        result[str(count)] = zipf | {"text_prior": of_text}
    return result


def _rates(parts: list[tuple[Ids, Doubles]], released: Released, sample: Ids) -> dict[str, Any]:
    guesses, largest = (np.concatenate(part) for part in zip(*parts, strict=True))
    hits, clusters, sensitive = guesses == released.inputs[sample], released.example[sample], released.sensitive[sample]
    found = rates_of({"rate": hits, "largest_posterior": largest}, clusters, sensitive)
    if "sensitive" in found:
        found["sensitive"]["interval"] = clustered_interval(hits[sensitive], clusters[sensitive])
    return found | {"interval": clustered_interval(hits, clusters)}


def _guesses(logs: Singles, prior: Doubles) -> tuple[Ids, Doubles]:
    """Returns the likeliest input of every token and its posterior, from log likelihoods ``(tokens, inputs)``."""
    parts = [guess(logs[start : start + _ROWS].astype(np.float64), prior) for start in range(0, len(logs), _ROWS)]
    guesses, largest = (np.concatenate(part) for part in zip(*parts, strict=True))
    return guesses, largest


def _log_likelihoods(
    channel: TextChannel, released: Released, sample: Ids, releases: tuple[int, ...]
) -> Iterator[tuple[int, Singles]]:
    """Yields each number of outputs and the log likelihoods of all inputs for every token, updated in place."""
    inputs, whole = released.inputs[sample], released.whole[sample]
    logs = np.zeros((len(sample), channel.unknown + 1), np.float32)
    before = 0
    for count in releases:
        drawn = np.stack([channel.draw_ids(inputs, whole) for _ in range(count - before)], axis=1)
        before = count
        for in_one in (True, False):
            _add(logs, channel, drawn, np.flatnonzero(whole == in_one), whole=in_one)
        yield count, logs


def _add(logs: Singles, channel: TextChannel, drawn: Ids, tokens: Ids, *, whole: bool) -> None:
    """Adds the logarithms of the likelihoods of some tokens' outputs, in place."""
    outputs, row_of = np.unique(drawn[tokens], return_inverse=True)
    owners = np.repeat(tokens, drawn.shape[1])
    order = np.argsort(row_of.ravel(), kind="stable")
    starts = np.searchsorted(row_of.ravel()[order], np.arange(len(outputs) + 1))
    done = 0
    for part, likelihoods in channel.distribution(whole=whole).column_blocks(outputs):
        with np.errstate(divide="ignore"):
            block = np.log(likelihoods, out=likelihoods).astype(np.float32)
        for row in range(len(part)):
            for owner in owners[order[starts[done + row] : starts[done + row + 1]]]:
                logs[owner] += block[row]
        done += len(part)
