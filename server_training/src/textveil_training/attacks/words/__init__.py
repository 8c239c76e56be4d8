"""Guess the words of sanitized text; the attacker knows the mechanism, and has similar raw texts."""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_training.attacks.words.attacker import WordAttacker, WordTargets, attack_release
    from textveil_training.attacks.words.candidates import Candidates
    from textveil_training.attacks.words.denoiser import read_vectors
    from textveil_training.attacks.words.run import FEWEST_KNOWN, attack_words
    from textveil_training.attacks.words.splits import (
        SegmentedTexts,
        choose_held_out_rows,
        exclude_near_texts,
        find_near_texts,
    )
    from textveil_training.attacks.words.word_release import (
        KEPT,
        MARK,
        NOTHING,
        RANDOMIZED,
        SURROGATE,
        ReadElements,
        WordIds,
        WordRelease,
        make_constant_release,
        make_raw_release,
        make_word_release,
    )

__all__ = [
    "FEWEST_KNOWN",
    "KEPT",
    "MARK",
    "NOTHING",
    "RANDOMIZED",
    "SURROGATE",
    "Candidates",
    "ReadElements",
    "SegmentedTexts",
    "WordAttacker",
    "WordIds",
    "WordRelease",
    "WordTargets",
    "attack_release",
    "attack_words",
    "choose_held_out_rows",
    "exclude_near_texts",
    "find_near_texts",
    "make_constant_release",
    "make_raw_release",
    "make_word_release",
    "read_vectors",
]

__getattr__ = make_lazy_getattr(
    __name__, __all__, "attacker", "candidates", "denoiser", "splits", "word_release", "run"
)
