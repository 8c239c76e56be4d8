"""Run all attacks that guess the original words of sanitized texts from similar raw texts."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from textveil.text import split_text

from textveil_training.attacks.rates import compute_rates, round_rate
from textveil_training.attacks.words.attacker import WordAttacker, WordTargets, guess_words
from textveil_training.attacks.words.splits import exclude_near_texts
from textveil_training.attacks.words.word_release import WordRelease
from textveil_training.errors import EmptyData

#: Smallest number of raw texts that an attacker needs.
FEWEST_KNOWN = 40


def attack_words(
    release: WordRelease,
    texts: Sequence[str],
    known: Sequence[str],
    *,
    prior: Sequence[str] = (),
    function_words: frozenset[str],
    vocabulary: Iterable[str],
    vectors: Iterable[tuple[str, Any]] | None,
    draws: int = 1,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Sanitize texts several times, and attack the words of each output separately.

    Args:
        release: The mechanism.
        texts: The texts to attack.
        known: Raw texts of the attacker, similar to the attacked ones.
        prior: Public texts similar to the attacked ones. Texts in ``prior`` and ``known`` that share five consecutive
            words with an attacked text are omitted.
        function_words: Words that are not content words.
        vocabulary: Words of the mechanism's vocabulary.
        vectors: Words with their initial vectors in the network; ``None`` for random vectors.
        draws: Number of independent outputs of each text.
        report: Called with the number of finished steps and the total.

    Returns:
        Success rates under three keys: ``words`` (all words), ``content`` (content words) and ``known`` (content words
        in ``vocabulary``; the key is unrelated to the argument ``known``). Each has, by attack, the mean success rate
        with its standard error over texts. Their standard deviations over the outputs are under ``deviations``. The
        attack ``unchanged`` guesses that the output is the original. ``known_texts`` and ``prior_texts`` are counts of
        the arguments ``known`` and ``prior``: ``texts``, their ``words``, and the texts ``left_out``.

    Raises:
        EmptyData: Fewer than ``FEWEST_KNOWN`` known texts remain.

    Privacy:
        Samples ``draws`` outputs of every text, and a few outputs of known texts. Use it only for public texts, or for
        the caller's own.
    """
    cut = [split_text(text) for text in texts]
    of_known, known_counts = exclude_near_texts([split_text(text) for text in known], cut)
    of_prior, prior_counts = exclude_near_texts([split_text(text) for text in prior], cut)
    if len(of_known) < FEWEST_KNOWN:
        raise EmptyData(
            f"{len(of_known):,} of {len(known):,} known texts remain, but the attack needs {FEWEST_KNOWN}: the "
            "others share five consecutive words with an attacked text; pass other raw texts (--known-texts)"
        )
    parts = 1

    def report_learning(done: int, total: int) -> None:
        nonlocal parts
        parts = total
        report(done, total + draws)

    attacker = WordAttacker(of_known, of_prior, [release], vectors, report=report_learning)
    report(parts, parts + draws)
    asked, target = WordTargets(cut, function_words, frozenset(vocabulary)), release.read(cut)
    right: dict[str, list[Any]] = {}
    for draw in range(draws):
        for name, guess in guess_words(release, attacker, target).items():
            right.setdefault(name, []).append(asked.mark_right(target, guess))
        report(parts + draw + 1, parts + draws)
    found: dict[str, Any] = {"known_texts": known_counts, "prior_texts": prior_counts, "draws": draws}
    found["hidden"] = round_rate((target.role > 1).mean())
    for what, mask in asked.masks.items():
        if mask.any():
            means = {name: np.mean(bits, axis=0)[mask] for name, bits in right.items()}
            found[what] = compute_rates(means, asked.document[mask])
            found[what]["deviations"] = {name: _compute_deviation(bits, mask) for name, bits in right.items()}
    return found


def _compute_deviation(right: Sequence[Any], mask: Any) -> float | None:
    if len(right) < 2:
        return None
    return round_rate(float(np.std([bits[mask].mean() for bits in right], ddof=1)))
