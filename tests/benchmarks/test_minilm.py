"""MiniLM as an attacker and as a base, with a tiny encoder in its place."""

from pathlib import Path
from typing import Any

import chain
import masked
import minilm
import numpy as np
import pytest
import torch
from fluent import exact
from masked import Bases, MaskedRelease, SlotModel
from network import RANKED, Seen
from release import DRAWN, KIND
from toy_release import VOCABULARY, considered, plan, texts
from transformers import BertConfig, BertModel


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a small random encoder, which knows the toy words, in the place of MiniLM."""
    torch.manual_seed(7)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *VOCABULARY, "the", "is"]
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=minilm._LONGEST + 2,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    monkeypatch.setattr(minilm, "MINILM", str(tmp_path))
    for name, value in (("_RATE", 1e-2), ("_NEW_RATE", 1e-2), ("_BATCH", 128), ("_DROP", 0.0)):
        monkeypatch.setattr(minilm, name, value)


def copy(shuffled: bool = False) -> tuple[list[str], Seen, Any, float]:
    """A release of the toy texts without help by a bigram model, and how often its outputs are the words."""
    made, train, attacker = considered("2")
    vectors = torch.cat([torch.eye(len(made.words.spelled)), torch.zeros(1, len(made.words.spelled))])
    outputs = made.draw(train)
    found = attacker.of(train, outputs).first(RANKED)
    flat = np.where(found.words >= 0, found.likelihood + found.prior, -np.inf)
    seen = Seen.of(vectors, train, outputs, found, flat)
    right = found.words == train.word[found.places][:, None]
    if shuffled:
        right = np.random.default_rng(0).permutation(right)
    return made.words.spelled, seen, right.argmax(axis=1), float((outputs == train.word)[found.places].mean())


@pytest.mark.parametrize("shuffled", [False, True])
def test_it_names_what_its_neighbors_tell(shuffled: bool) -> None:
    spelled = copy()[0]
    vectors = torch.cat([torch.eye(len(spelled)), torch.zeros(1, len(spelled))])
    learned = minilm.train(spelled, vectors, [copy(shuffled)[1:3] for _ in range(30)])
    gains = []
    for _ in range(6):
        _, seen, truth, unchanged = copy()
        scores = learned.scores(seen)
        assert np.allclose(np.exp(scores).sum(axis=1), 1, atol=1e-4)
        gains.append(float((scores.argmax(axis=1) == truth).mean()) - unchanged)
        assert unchanged < 0.6
    assert (np.mean(gains) > 0.16) != shuffled


def test_a_hidden_word_is_not_read() -> None:
    """The element itself is hidden from the encoder: only what is believed of it may be read."""
    made, train, attacker = considered("2")
    outputs = made.draw(train)
    found = attacker.of(train, outputs).first(RANKED)
    flat = np.where(found.words >= 0, 0.0, -np.inf)
    vectors = torch.zeros(len(made.words.spelled) + 1, 3)
    seen = Seen.of(vectors, train, outputs, found, flat)
    hidden = np.isin(train.role, (DRAWN, KIND))
    assert (seen.shown[hidden] == len(made.words.spelled)).all()
    assert (seen.shown[~hidden].numpy() == train.word[~hidden]).all()
    assert (seen.row_of[hidden] == torch.arange(int(hidden.sum()))).all()
    assert (seen.row_of[~hidden] == -1).all()


def test_each_hidden_element_is_in_one_batch() -> None:
    lengths = [3, 300, 1, 5, 5, 200]
    document = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
    hidden = torch.arange(len(document)) % 2 == 0
    hidden[:3] = False  # nothing is hidden in the first text, nor in the third
    for shuffled in (False, True):
        found = list(minilm.batches(document, hidden, 100, shuffled=shuffled))
        numbers = torch.cat([texts[texts >= 0] for texts in found])
        assert numbers.sort().values.tolist() == [*range(3, 303), *range(304, len(document))]
        assert all(texts.shape[1] <= minilm._LONGEST for texts in found)
        assert all(len(texts) == 1 or texts.shape[0] * (texts.shape[1] + 2) <= 100 for texts in found)
        for numbers in found:
            for row in numbers:
                assert len(torch.unique(document[row[row >= 0]])) == 1


def base() -> tuple[Any, SlotModel, MaskedRelease]:
    made, train, _ = considered("2")
    law = plan(epsilon="2").mechanism.strict
    model = SlotModel(made.words.spelled, made.printed, law.base)
    of_symbol = np.append(np.arange(len(law.base)), -1)
    masked.train(model, train, of_symbol)
    return train, model, MaskedRelease(**vars(made), plain=law, model=model)


def test_a_base_that_follows_the_text_is_drawn_as_it_is_defined() -> None:
    """Chi-square of 100,000 draws at a level of 1e-9."""
    made, _, _ = considered("2")
    law = plan(epsilon="2").mechanism.strict
    symbols, count, x = np.arange(len(VOCABULARY)), 100_000, 3
    fits = torch.linspace(1, 3, len(symbols))
    each = (law.base, law.sums, symbols, symbols, 0.7)
    of = MaskedRelease(**vars(made), plain=law)
    drawn = of._symbols(np.full(count, x), Bases(*each, (fits / fits.sum()).expand(count, -1)), np.random.default_rng())
    one, total = Bases(*each, (fits / fits.sum()).expand(len(symbols), -1)), np.full(len(symbols), float(law.sums[-1]))
    chances = exact(law, np.full((len(symbols), 1), x), symbols, one.of, total)[:, 0]
    assert chances.sum() == pytest.approx(1)
    assert chances.max() / chances.min() > 3
    expected = count * chances
    assert ((np.bincount(drawn, minlength=len(symbols)) - expected) ** 2 / expected).sum() < 60


@pytest.mark.parametrize("earlier", [False, True])
def test_the_bound_holds_in_every_context(earlier: bool) -> None:
    train, _, of = base()
    of.earlier = earlier
    outputs = of.draw(train)
    assert set(outputs[train.role == DRAWN].tolist()) <= set(of.printed.tolist())
    assert of.plain is not None
    symbol = np.full(len(of.words.spelled), of.symbols)
    symbol[of.printed] = np.arange(of.symbols)
    places = 0
    for at, bases in of._bases(train, outputs):
        inputs = np.tile(np.arange(of.symbols + 1), (len(at), 1))
        given = exact(of.plain, inputs, symbol[outputs[at]], bases.of, np.full(len(at), float(bases.sums[-1])))
        assert (given.max(axis=1) / given.min(axis=1)).max() <= np.exp(2) * (1 + 1e-9)
        places += len(at)
    assert places == (train.role == DRAWN).sum()


def test_an_attacker_reads_the_same_contexts_as_the_draw() -> None:
    """Bases depend on what came out, and on nothing that did not."""
    train, _, of = base()
    outputs = of.draw(train)
    changed = train.part(np.arange(train.documents))
    object.__setattr__(changed, "word", np.where(train.role == DRAWN, 0, train.word))
    for first, second in zip(of._bases(train, outputs.copy()), of._bases(changed, outputs.copy()), strict=True):
        assert (first[0] == second[0]).all()
        assert torch.equal(first[1].fits, second[1].fits)
    made, _, attacker = considered("2")
    found = of.in_context(train, outputs, attacker.of(train, outputs))
    scores = chain.posterior(chain.Bigrams(train, len(made.words.spelled)), train, found)
    named = found.words[np.arange(len(scores)), scores.argmax(axis=1)] == train.word[found.places]
    assert named.mean() > (outputs == train.word)[found.places].mean()


def test_a_slot_tells_which_word_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masked, "_RATE", 1e-2)
    monkeypatch.setattr(masked, "_NEW_RATE", 1e-2)
    made, _, _ = considered("2")
    train = made.read(texts() * 40)
    law = plan(epsilon="2").mechanism.strict
    model = SlotModel(made.words.spelled, made.printed, law.base)
    loss = masked.train(model, train, np.append(np.arange(len(law.base)), -1))
    assert loss < np.log(len(VOCABULARY)) - 0.3
