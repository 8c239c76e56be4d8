"""Texts that share a sequence of words are in the same split."""

import numpy as np
from textveil.text import split_text
from textveil_training.attacks.words import splits

ATTACKED = [split_text("a film that you 've never seen, and never will"), split_text("good fun")]


def test_what_shares_five_words_with_an_attacked_text_is_left_out() -> None:
    near = ["That you 've NEVER seen!", "it is a film that you - 've never liked", "never seen, and"]
    far = ["a film that you 've never", "and never", "good fun for all"]
    others = [split_text(text) for text in (*near, "a film that you liked", *far[1:])]
    assert splits.find_near_texts(others, ATTACKED).tolist() == [True, True, True, False, False, False]
    kept, counts = splits.exclude_near_texts(others, ATTACKED)
    assert kept == others[3:]
    assert counts == {"texts": 3, "words": 11, "left_out": 3}


def test_phrases_of_a_text_are_left_out() -> None:
    cut = [split_text(text) for text in ("you 've never seen it", "never seen", "never seen before", "it")]
    assert splits.drop_contained_rows(cut, np.arange(4)).tolist() == [0, 2]
