"""Texts that share words stay together."""

import numpy as np
from textveil.text import segments
from textveil_training.attacks.words import division


def test_texts_that_share_words_are_in_one_fold() -> None:
    cut = [
        segments(text) for text in ("a b c d e f", "x a b c d e", "a b c d x e f", *(f"q{n} r s" for n in range(40)))
    ]
    fold = division.folds(cut, np.arange(len(cut)), 4)
    assert fold[0] == fold[1]
    assert np.bincount(fold).min() >= 10
