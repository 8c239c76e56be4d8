"""Quick models learn, a rewriting that loses the classes scores lower, and only whole sentences are kept."""

import numpy as np
import pytest
from names.utility import Task, maximal, measure_rewrite, predict_similarity
from readability import Tokenizer, ratio
from readability import measure_ratios as surprised


def test_maximal_phrases() -> None:
    phrases = ["a long film", "long", "a long film is dull", "film is", "dull", "is  dull", "a very long film", "dull"]
    assert [phrases[row] for row in maximal(phrases)] == ["a long film is dull", "a very long film"]
    assert maximal(["ab", "b", "ab"]) == [0, 1]


def task(count: int = 60) -> Task:
    source = np.random.default_rng(1)
    texts = [f"{'good' if row % 2 else 'bad'} film {source.integers(1000)}" for row in range(2 * count)]
    labels = np.array([row % 2 for row in range(2 * count)])
    return Task(texts[:count], labels[:count], texts[count:], labels[count:])


def test_a_rewriting_that_loses_everything_is_seen() -> None:
    found = measure_rewrite("made-up", task(), lambda texts: ["film"] * len(texts), 2)
    assert found["raw"]["score"] == 100
    assert found["rewritten"]["score"] == 50
    assert found["difference"]["score"] == -50
    low, high = found["difference"]["interval"]
    assert low < -50 < high < -30


def test_one_that_loses_nothing_has_no_difference() -> None:
    found = measure_rewrite("made-up", task(), list, 2)
    assert found["difference"] == {"score": 0, "interval": [0, 0]}


def test_what_is_drawn_once_is_of_training_and_test_texts_and_anew_for_each_repeat() -> None:
    calls: list[int] = []

    def coded(texts: list[str]) -> list[str]:
        calls.append(len(texts))
        return [f"{text.split()[0]}{len(calls)}" for text in texts]

    assert measure_rewrite("made-up", task(), coded, 2)["rewritten"]["repeats"] == [100, 100]
    assert calls == [120, 120]


def test_alike_sentences_are_found_alike() -> None:
    pairs = [("a man sings", "a man sings"), ("a man sings", "two dogs run")] * 30
    texts = [text for pair in pairs for text in pair]
    labels = np.array([5.0, 1.0] * 30)
    found = predict_similarity(Task(texts, labels, texts[:4], labels[:2]))
    assert found == pytest.approx([5, 1], abs=0.1)


def test_a_ratio_of_perplexities() -> None:
    found = ratio([8.0, 4.0], [9.0, 6.0], [2, 1])
    assert found["raw"] == pytest.approx(np.exp(4), abs=0.01)
    assert found["ratio"] == pytest.approx(np.e, abs=1e-3)


def test_the_best_pair_is_joined_first() -> None:
    tokens = ["<bos>", "a", "b", "c", "\u2581", "ab", "bc", "<0xC3>", "<0xA9>"]
    assert Tokenizer(tokens, [0, 0, 0, 0, 0, -2, -1, 0, 0], 0)("abc a\u00e9") == [0, 1, 6, 4, 1, 7, 8]


def test_draws_of_a_rewriting_are_read_by_the_words_of_the_original() -> None:
    texts, drawn = ["a b", "a b c d"], iter([["a b", "a b c d"], ["a", "a b"]])
    found = surprised(lambda of: [2.0 * len(text.split()) for text in of], texts, lambda _: next(drawn), 2)
    assert found["draws"] == pytest.approx([1, np.exp(-1)], abs=1e-4)
    assert found["ratio"] == pytest.approx(np.exp(-0.5), abs=1e-4)
    assert found["own"] == pytest.approx(np.exp(2), abs=0.01)
