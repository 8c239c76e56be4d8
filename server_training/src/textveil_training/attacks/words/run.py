"""All attacks that name words, on texts that somebody has and knows more texts like."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from textveil.text import segments

from textveil_training.attacks.rates import rates_of, rounded
from textveil_training.attacks.words.attacker import Asked, Attacker, named
from textveil_training.attacks.words.release import Release


def attack_words(
    release: Release,
    texts: Sequence[str],
    known: Sequence[str],
    *,
    function_words: frozenset[str],
    vocabulary: Iterable[str],
    vectors: Iterable[tuple[str, Any]] | None,
    encoder: bool = False,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Releases texts once and names their words.

    Args:
        release: The mechanism.
        texts: The texts that are attacked.
        known: Raw texts that the attacker has, of the same kind. They should hold nothing of the texts attacked.
        function_words: What is not a content word.
        vocabulary: Words that the mechanism knows.
        vectors: Vectors of words, for the network; None for the attacks without one.
        encoder: Whether MiniLM is tuned as an attacker too: hours.
        report: Called with steps done and steps in all.

    Returns:
        By what is named (``words``, ``content``, those of them that are ``known``) the rate of each attack with its
        standard error by text; ``unchanged`` for what came out as it was. ``known_texts``: how many the attacker has.

    Privacy:
        Releases every text once, and known texts a dozen times: only for public text, or the caller's own.
    """
    attacker = Attacker([segments(text) for text in known], None, [release], vectors, encoder=encoder)
    report(1, 2)
    cut = [segments(text) for text in texts]
    asked, target = Asked(cut, function_words, frozenset(vocabulary)), release.read(cut)
    guesses, _ = named(release, attacker, target)
    right = {name: asked.right(target, guess) for name, guess in guesses.items()}
    report(2, 2)
    found: dict[str, Any] = {"known_texts": len(known), "hidden": rounded((target.role > 1).mean())}
    for what, mask in asked.masks.items():
        if mask.any():
            found[what] = rates_of({name: bits[mask] for name, bits in right.items()}, asked.document[mask])
    return found
