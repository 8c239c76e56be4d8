"""Attacks that name the words of sanitized text, by somebody who knows the mechanism and has raw texts like it."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_training.attacks.words.attacker import Asked, Attacker, attack
    from textveil_training.attacks.words.candidates import Candidates
    from textveil_training.attacks.words.denoiser import read_vectors
    from textveil_training.attacks.words.run import attack_words
    from textveil_training.attacks.words.splits import Cut, apart, held_out_rows, near
    from textveil_training.attacks.words.word_release import (
        DRAWN,
        KIND,
        MARK,
        NOTHING,
        SHOWN,
        Reading,
        Release,
        Words,
        constant,
        of_plan,
        unchanged,
    )

__all__ = [
    "DRAWN",
    "KIND",
    "MARK",
    "NOTHING",
    "SHOWN",
    "Asked",
    "Attacker",
    "Candidates",
    "Cut",
    "Reading",
    "Release",
    "Words",
    "apart",
    "attack",
    "attack_words",
    "constant",
    "held_out_rows",
    "near",
    "of_plan",
    "read_vectors",
    "unchanged",
]

__getattr__ = lazy_names(__name__, __all__, "attacker", "candidates", "denoiser", "splits", "word_release", "run")
