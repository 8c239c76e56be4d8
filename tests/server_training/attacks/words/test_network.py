"""The network names what neighbors tell, and sees nothing that it should not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from textveil_training.attacks.words import NOTHING, network
from textveil_training.attacks.words.network import RANKED, Seen
from toy_release import VOCABULARY, considered, copied


@pytest.fixture
def vectors(tmp_path: Path) -> torch.Tensor:
    made, _, _ = considered("2")
    path = tmp_path / "vectors.txt"
    one_hot = np.eye(len(VOCABULARY), dtype=int)
    path.write_text(
        "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(VOCABULARY, one_hot, strict=True))
    )
    found = network.word_vectors(made.words, network.read_vectors(path))
    assert found.shape == (len(made.words.spelled) + 1, len(VOCABULARY))
    assert not found[-1].any()
    return found


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_network_names_what_its_neighbors_tell(
    vectors: torch.Tensor, shuffled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "_PASSES", 15)
    monkeypatch.setattr(network, "_BATCH", 128)
    learned = network.train(vectors, [copied(vectors, shuffled)[:2] for _ in range(2)])
    seen, truth, unchanged = copied(vectors)
    scores = learned.scores(seen)
    assert np.allclose(np.exp(scores).sum(axis=1), 1, atol=1e-4)
    named = float((scores.argmax(axis=1) == truth).mean())
    assert unchanged < 0.6
    assert (named > unchanged + 0.2) != shuffled


def test_a_masked_word_is_not_seen(vectors: torch.Tensor) -> None:
    made, train, attacker = considered("2")
    nothing = np.full(len(train.word), NOTHING)
    first, second = (made.draw(train) for _ in range(2))
    found = attacker.of(train, first).first(RANKED)
    flat = np.where(found.words >= 0, 0.0, -np.inf)

    def around(outputs: Any) -> torch.Tensor:
        return Seen.of(vectors, train, outputs, found.unseen, flat).around(torch.arange(100), vectors)

    assert torch.equal(around(nothing), around(nothing))
    assert not torch.equal(around(first), around(second))
    assert (found.unseen.likelihood[found.words >= 0] == 0).all()
