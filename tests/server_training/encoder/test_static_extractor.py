"""The logistic regression of a static extractor has rows of scores for words and pairs of words."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from textveil.vector import compute_pair_buckets, find_word_rows
from textveil_training.encoder.static_extractor import StaticSettings, StaticWeights, train_static
from textveil_training.encoder.word_embeddings import PublicWords

WORDS = "goal bank film the a won lost sold seen twin spare".split()
#: Public rows of which two are equal: "goal" is in the texts, its twin is not, and "spare" is in one.
ROWS = np.random.default_rng(1).normal(size=(len(WORDS) + 2, 4)).astype(np.float32)
ROWS[WORDS.index("twin")] = ROWS[WORDS.index("goal")]
ROWS[WORDS.index("spare")] = ROWS[WORDS.index("goal")]
ROWS[-2:] = 0
PUBLIC = PublicWords(
    words={word: row for row, word in enumerate(WORDS)}, rows=ROWS, content_hash="", license="", attribution=""
)
SAID = "the goal won, a goal lost the goal, the bank sold, bank sold a bank, a film seen, the film won seen".split(", ")
TEXTS = [*SAID * 3, "spare goal"]
CLASSES = [0, 0, 1, 1, 2, 2] * 3 + [0]
SETTINGS = StaticSettings(pairs=16, max_iterations=500)


def train(settings: StaticSettings = SETTINGS, classes: list[int] = CLASSES, count: int = 3) -> StaticWeights:
    return train_static(TEXTS, classes, count, PUBLIC, settings, lambda *_: None)


def vector(weights: StaticWeights, text: str) -> np.ndarray:
    ids = find_word_rows(text, PUBLIC.words)
    found = weights.word_rows[ids].mean(axis=0) if len(ids) else np.zeros(weights.word_rows.shape[1])
    pairs = compute_pair_buckets(ids, len(weights.pair_rows))
    return found + weights.pair_rows[pairs].mean(axis=0) if len(pairs) else found


def scores(weights: StaticWeights, text: str) -> np.ndarray:
    return weights.weight @ vector(weights, text) + weights.bias


def test_it_is_the_regression_that_a_library_finds() -> None:
    """The same features, written out, under scikit-learn."""
    ids = [find_word_rows(text, PUBLIC.words) for text in TEXTS]
    roots = np.sqrt([len(of) for of in ids])[:, None]
    words = np.array([np.bincount(of, minlength=len(ROWS)) / len(of) for of in ids]) * roots
    buckets = [compute_pair_buckets(of, 16) for of in ids]
    pairs = np.array([np.bincount(of, minlength=16) / len(of) for of in buckets]) * roots
    common = [found[:, (found > 0).sum(axis=0) >= SETTINGS.min_texts] for found in (words, pairs)]
    features = np.hstack([*common, words @ ROWS / np.sqrt(ROWS.shape[1]), roots])
    model = LogisticRegression(C=SETTINGS.strength, fit_intercept=False, max_iter=5000, tol=1e-10)
    wished = model.fit(features, CLASSES).predict_log_proba(features)
    found = np.array([scores(train(), text) for text in TEXTS]) * roots
    found -= np.log(np.exp(found).sum(axis=1, keepdims=True))
    assert found == pytest.approx(wished, abs=2e-3)


def test_training_repeats_whatever_the_seed() -> None:
    first, again = train(), train(StaticSettings(pairs=16, max_iterations=500, seed=9))
    assert (first.word_rows == again.word_rows).all()
    assert (first.pair_rows == again.pair_rows).all()


def test_a_word_of_few_texts_is_scored_by_its_public_row_alone() -> None:
    goal, twin, spare = (WORDS.index(word) for word in ("goal", "twin", "spare"))
    rows = train().word_rows
    assert (rows[twin] == rows[spare]).all()
    assert np.abs(rows[goal] - rows[twin]).max() > 0.1
    told = train(StaticSettings(pairs=16, max_iterations=500, min_texts=1)).word_rows
    assert (told[twin] != told[spare]).any()
    assert (rows[-2:] == 0).all()  # numbers and unknown words: not in the texts, no public row


def test_only_pairs_of_enough_texts_have_rows() -> None:
    ids = [compute_pair_buckets(find_word_rows(text, PUBLIC.words), 16) for text in TEXTS]
    texts = sum(np.bincount(np.unique(of), minlength=16) for of in ids)
    assert (train().pair_rows.any(axis=1) == (texts >= 3)).all()
    assert not train(StaticSettings(pairs=0)).pair_rows.size


def test_a_text_without_words_gets_the_commonest_class() -> None:
    assert int(np.argmax(scores(train(classes=[0] * 5 + [1] * 14, count=2), ""))) == 1


def test_scores_of_many_classes_are_kept_in_fewer_numbers() -> None:
    """Three classes have scores that sum to 0: two numbers hold them."""
    whole, narrow = train(), train(StaticSettings(dimension=2, pairs=16, max_iterations=500))
    assert narrow.word_rows.shape[1] == narrow.weight.shape[1] == 2
    for text in TEXTS:
        assert scores(narrow, text) == pytest.approx(scores(whole, text), abs=1e-4)


def test_the_report_ends_where_it_said() -> None:
    told: list[tuple[str, int, int]] = []
    train_static(TEXTS, CLASSES, 3, PUBLIC, SETTINGS, lambda *now: told.append(now))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert told[-1] == ("training", 500, 500)
    assert len(told) > 3
