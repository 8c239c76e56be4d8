"""MiniLM as an attacker, with a tiny encoder in its place."""

from pathlib import Path

import numpy as np
import pytest
import torch
from textveil_training.attacks.words import DRAWN, KIND, minilm
from textveil_training.attacks.words.network import RANKED, Seen
from toy_release import VOCABULARY, considered, copied
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


@pytest.mark.parametrize("shuffled", [False, True])
def test_it_names_what_its_neighbors_tell(shuffled: bool) -> None:
    spelled = considered("2")[0].words.spelled
    vectors = torch.cat([torch.eye(len(spelled)), torch.zeros(1, len(spelled))])
    learned = minilm.train(spelled, vectors, [copied(vectors, shuffled)[:2] for _ in range(30)])
    gains = []
    for _ in range(6):
        seen, truth, unchanged = copied(vectors)
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
    mask = torch.from_numpy(hidden)
    assert (seen.shown[mask] == len(made.words.spelled)).all()
    assert (seen.shown[~mask].numpy() == train.word[~hidden]).all()
    assert (seen.row_of[mask] == torch.arange(int(hidden.sum()))).all()
    assert (seen.row_of[~mask] == -1).all()


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
