"""MiniLM as an attacker, with a tiny encoder in its place."""

from pathlib import Path

import numpy as np
import pytest
import torch
from textveil_training.attacks.words import minilm
from textveil_training.attacks.words.denoiser import LONGEST
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
        max_position_embeddings=LONGEST + 2,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    monkeypatch.setattr(minilm, "MINILM", str(tmp_path))
    for name, value in (("_RATE", 1e-2), ("_NEW_RATE", 1e-2), ("_BATCH", 128), ("_DROP", 0.0)):
        monkeypatch.setattr(minilm, name, value)


@pytest.mark.parametrize("shuffled", [False, True])
def test_it_names_what_its_neighbors_tell(shuffled: bool) -> None:
    spelled = considered("2")[0].words.spelled
    rows = len(spelled) + 1
    learned = minilm.train(spelled, [lambda: [copied(rows, shuffled)[:2] for _ in range(30)]])
    gains = []
    for _ in range(6):
        seen, truth, unchanged = copied(rows)
        scores = learned.scores(seen)
        assert np.allclose(np.exp(scores).sum(axis=1), 1, atol=1e-4)
        gains.append(float((scores.argmax(axis=1) == truth).mean()) - unchanged)
        assert unchanged < 0.6
    assert (np.mean(gains) > 0.16) != shuffled
