"""Attacks that learn name what neighbors tell, and see nothing that they should not."""

from pathlib import Path
from typing import Any

import chain
import corpora
import network
import numpy as np
import pytest
import release
import torch
from inversion import Inversion
from network import RANKED, Seen
from textveil.text import segments
from toy_release import VOCABULARY, considered


def test_the_attack_by_counts_names_what_its_neighbors_tell() -> None:
    made, train, attacker = considered("2")
    model = chain.Bigrams(train, len(made.words.spelled))
    inversion = Inversion(train, made.draw)
    right = {}
    for name in ("learn", "guess"):
        outputs = made.draw(train)
        found = attacker.of(train, outputs)
        chained = chain.posterior(model, train, found)
        if name == "learn":
            inversion.learn(train, outputs, found, chained)
        truth = train.word[found.places]
        scores = inversion.scores(train, outputs, found, chained)
        assert np.allclose(np.exp(scores).sum(axis=1), 1)
        named = found.words[np.arange(len(scores)), scores.argmax(axis=1)]
        right = {"unchanged": (outputs[found.places] == truth).mean(), "counts": (named == truth).mean()}
    assert right["unchanged"] < 0.6
    assert right["counts"] > right["unchanged"] + 0.2


def test_texts_that_share_words_are_in_one_fold() -> None:
    cut = [
        segments(text) for text in ("a b c d e f", "x a b c d e", "a b c d x e f", *(f"q{n} r s" for n in range(40)))
    ]
    fold = corpora.folds(cut, np.arange(len(cut)), 4)
    assert fold[0] == fold[1]
    assert np.bincount(fold).min() >= 10


@pytest.mark.parametrize("general", [False, True])
def test_probabilities_of_the_next_word_sum_to_one(general: bool) -> None:
    made, train, _ = considered("2")
    other = made.read([segments("the dog house is a big unheard tree"), segments("dog house")]) if general else None
    size = len(made.words.spelled)
    model = chain.Bigrams(train, size, other)
    words = np.append(np.unique(train.word), [-1, size])
    assert np.allclose(model.between(words, words).sum(axis=1), 1, atol=2e-3)
    dog, house = (np.array([made.words.ids[word]]) for word in ("dog", "house"))
    alone = chain.Bigrams(train, size).between(dog, house)
    assert (model.between(dog, house) > alone) == general


def test_a_text_is_never_judged_by_the_model_that_counted_it() -> None:
    made, train, attacker = considered("2")
    fold = np.arange(train.documents) % 2
    size = len(made.words.spelled)
    models = [chain.Bigrams(train.part(np.flatnonzero(fold != n)), size) for n in range(2)]
    found = attacker.of(train, made.draw(train))
    crossed = chain.crossed(models, fold, train, found)
    for number, model in enumerate(models):
        rows = np.isin(train.document[found.places], np.flatnonzero(fold == number))
        assert np.allclose(crossed[rows], chain.posterior(model, train, found)[rows])


@pytest.fixture
def vectors(tmp_path: Path) -> torch.Tensor:
    made, _, _ = considered("2")
    path = tmp_path / "vectors.txt"
    one_hot = np.eye(len(VOCABULARY), dtype=int)
    path.write_text(
        "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(VOCABULARY, one_hot, strict=True))
    )
    found = network.word_vectors(made.words, path)
    assert found.shape == (len(made.words.spelled) + 1, len(VOCABULARY))
    assert not found[-1].any()
    return found


def copy(vectors: torch.Tensor, shuffled: bool = False) -> tuple[Seen, Any, float]:
    """A release of the toy texts without help by a bigram model, and how often its outputs are the words."""
    made, train, attacker = considered("2")
    outputs = made.draw(train)
    found = attacker.of(train, outputs).first(RANKED)
    flat = np.where(found.words >= 0, found.likelihood + found.prior, -np.inf)
    seen = Seen.of(vectors, train, outputs, found, flat)
    right = found.words == train.word[found.places][:, None]
    if shuffled:
        right = np.random.default_rng(0).permutation(right)
    return seen, right.argmax(axis=1), float((outputs == train.word)[found.places].mean())


@pytest.mark.slow
@pytest.mark.parametrize("shuffled", [False, True])
def test_the_network_names_what_its_neighbors_tell(
    vectors: torch.Tensor, shuffled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "_PASSES", 15)
    monkeypatch.setattr(network, "_BATCH", 128)
    learned = network.train(vectors, [copy(vectors, shuffled)[:2] for _ in range(2)])
    seen, truth, unchanged = copy(vectors)
    scores = learned.scores(seen)
    assert np.allclose(np.exp(scores).sum(axis=1), 1, atol=1e-4)
    named = float((scores.argmax(axis=1) == truth).mean())
    assert unchanged < 0.6
    assert (named > unchanged + 0.2) != shuffled


def test_a_masked_word_is_not_seen(vectors: torch.Tensor) -> None:
    made, train, attacker = considered("2")
    nothing = np.full(len(train.word), release.NOTHING)
    first, second = (made.draw(train) for _ in range(2))
    found = attacker.of(train, first).first(RANKED)
    flat = np.where(found.words >= 0, 0.0, -np.inf)

    def around(outputs: Any) -> torch.Tensor:
        return Seen.of(vectors, train, outputs, found.unseen, flat).around(torch.arange(100), vectors)

    assert torch.equal(around(nothing), around(nothing))
    assert not torch.equal(around(first), around(second))
    assert (found.unseen.likelihood[found.words >= 0] == 0).all()
