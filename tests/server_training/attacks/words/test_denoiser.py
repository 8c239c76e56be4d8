"""A denoiser recovers words from their neighbors, and its input has no hidden word."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from textveil_training.attacks.words import RANDOMIZED, SURROGATE, denoiser
from textveil_training.attacks.words.denoiser import RANKED, WIDTH, Denoiser, DenoiserInput
from toy_release import VOCABULARY, considered, copied


def network() -> Denoiser:
    torch.manual_seed(7)
    return Denoiser(denoiser.make_word_vectors(considered("2")[0].words, None))


@pytest.mark.slow
@pytest.mark.parametrize("shuffled", [False, True])
def test_it_names_what_its_neighbors_tell(shuffled: bool) -> None:
    made = network()
    rows = len(made.vectors)
    passes = [lambda: [copied(rows, shuffled)[:2]]] * 12
    learned = denoiser.train_denoiser(made, passes, rate=3e-3, batch=256)
    seen, truth, unchanged = copied(rows)
    scores = learned.score_candidates(seen)
    assert np.allclose(np.exp(scores).sum(axis=1), 1, atol=1e-4)
    assert unchanged < 0.6
    assert (float((scores.argmax(axis=1) == truth).mean()) > unchanged + 0.2) != shuffled


def test_a_hidden_word_is_not_read() -> None:
    made, train, attacker = considered("2")
    outputs = made.draw(train)
    found = attacker.find_candidates(train, outputs).take_first(RANKED)
    rows = len(made.words.spellings) + 1
    seen = DenoiserInput.from_release(train, outputs, found, rows)
    hidden = np.isin(train.role, (RANDOMIZED, SURROGATE))
    shown, row_of = seen.shown.numpy(), seen.row_of.numpy()
    assert (shown[hidden] == rows - 1).all()
    assert (shown[~hidden] == train.word[~hidden]).all()
    assert (row_of[hidden] == np.arange(hidden.sum())).all()
    assert (row_of[~hidden] == -1).all()
    other = replace(train, word=np.where(hidden, 0, train.word))
    pairs = zip(
        vars(seen).values(), vars(DenoiserInput.from_release(other, outputs, found, rows)).values(), strict=True
    )
    assert all(torch.equal(mine, same) for mine, same in pairs)


def test_the_first_guess_is_the_posterior_without_context() -> None:
    made = network()
    torch.nn.init.zeros_(made.code.weight)
    torch.nn.init.zeros_(made.code.bias)
    seen, _, _ = copied(len(made.vectors))
    posterior = seen.compute_posterior(torch.arange(len(seen.words)))
    assert np.allclose(np.exp(made.score_candidates(seen)), posterior, atol=1e-5)


def test_vectors_are_read_and_others_are_small(tmp_path: Path) -> None:
    words = considered("2")[0].words
    path = tmp_path / "vectors.txt.gz"
    one_hot = np.eye(len(VOCABULARY), dtype=int)
    lines = (f"{word} {' '.join(map(str, row))}\n" for word, row in zip(VOCABULARY, one_hot, strict=True))
    path.write_bytes(gzip.compress("".join(lines).encode()))
    found = denoiser.make_word_vectors(words, denoiser.read_vectors(path))
    assert found.shape == (len(words.spellings) + 1, WIDTH)
    known = found[[words.ids[word] for word in VOCABULARY], : len(VOCABULARY)]
    assert (known.argmax(dim=1) == torch.arange(len(VOCABULARY))).all()
    assert found[-1].abs().max() < 0.5


def test_each_hidden_element_is_in_one_batch() -> None:
    lengths = [3, 300, 1, 5, 5, 200]
    document = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
    hidden = torch.arange(len(document)) % 2 == 0
    hidden[:3] = False  # nothing is hidden in the first text, nor in the third
    for shuffled in (False, True):
        found = list(denoiser.make_batches(document, hidden, 100, shuffled=shuffled))
        numbers = torch.cat([texts[texts >= 0] for texts in found])
        assert numbers.sort().values.tolist() == [*range(3, 303), *range(304, len(document))]
        assert all(texts.shape[1] <= denoiser._LONGEST for texts in found)
        assert all(len(texts) == 1 or texts.shape[0] * (texts.shape[1] + 2) <= 100 for texts in found)
        for numbers in found:
            for row in numbers:
                assert len(torch.unique(document[row[row >= 0]])) == 1
