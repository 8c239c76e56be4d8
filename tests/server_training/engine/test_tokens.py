"""Training tokenizes as the device does, drops whole words before truncation, and batches lose nothing."""

from pathlib import Path

import pytest
import torch
from scipy import stats
from textveil.mechanisms.noise.parameters import WordDropout
from textveil.vector.wordpiece import WordPiece
from textveil_training.dpnr.features import remove_random_words
from textveil_training.engine.tokens import SPECIAL, EncoderTokenizer, make_length_batches, sort_by_length
from tiny_training import sentences


@pytest.fixture(scope="module")
def tokenizer(encoder: Path) -> EncoderTokenizer:
    return EncoderTokenizer(encoder / "vocab.txt", lowercase=True, max_tokens=8)


def test_the_pieces_are_the_devices(encoder: Path, tokenizer: EncoderTokenizer) -> None:
    ids = {piece: number for number, piece in enumerate((encoder / "vocab.txt").read_text().splitlines())}
    device = WordPiece(ids, special=SPECIAL)
    texts = [text for _, text, _ in sentences()] + ["", "Cream CREAM, zebra!", "[MASK] aaa"]
    for text in texts:
        assert tokenizer.split_into_pieces(text).pieces.tolist() == device.encode(text)
    words = tokenizer.split_into_pieces("stir cream zebra")
    assert words.word_numbers.tolist() == [0, 1, 1, 2]
    assert "stir" not in repr(words)


def test_texts_are_cut_and_padded(tokenizer: EncoderTokenizer) -> None:
    short, long = (
        tokenizer.split_into_pieces("the rain"),
        tokenizer.split_into_pieces("the rain stops in the evening and the sky clears"),
    )
    ids, mask = tokenizer.make_batch([short, long, tokenizer.split_into_pieces("")])
    assert ids.shape == (3, 8)
    assert ids[1].tolist() == [tokenizer.first, *long.pieces[:6].tolist(), tokenizer.last]
    assert ids[0].tolist() == [tokenizer.first, *short.pieces.tolist(), tokenizer.last, *[tokenizer.padding] * 4]
    assert mask.sum(1).tolist() == [4, 8, 2]
    assert ids[2, :2].tolist() == [tokenizer.first, tokenizer.last]


@pytest.mark.slow
@pytest.mark.parametrize("coins", ["training", "device"])
def test_words_go_whole_and_positions_close_up(tokenizer: EncoderTokenizer, coins: str) -> None:
    torch.manual_seed(0)
    text = tokenizer.split_into_pieces("cream rain cream stir cream")
    pieces = [text.pieces[text.word_numbers == number].tolist() for number in range(5)]
    counts = torch.zeros(5)
    rounds = 4000
    for _ in range(rounds):
        left = text.drop_words(0.3) if coins == "training" else remove_random_words(text, WordDropout("0.3"))
        stayed = sorted(set(left.word_numbers.tolist()))
        assert left.pieces.tolist() == [piece for number in stayed for piece in pieces[number]]
        counts[stayed] += 1
    for count in counts.tolist():
        assert stats.binomtest(int(count), rounds, 0.7).pvalue > 1e-7


def test_removal_comes_before_the_cut(tokenizer: EncoderTokenizer) -> None:
    torch.manual_seed(2)
    text = tokenizer.split_into_pieces("the rain stops in the evening and the sky clears")
    seen = {int(ids[0, 6]) for ids, _ in (tokenizer.make_batch([text], 0.5) for _ in range(200)) if ids.shape[1] == 8}
    assert len(seen) > 3, "what stands beyond the cut moves up"


def test_no_dropout_draws_nothing(tokenizer: EncoderTokenizer) -> None:
    text = tokenizer.split_into_pieces("the rain")
    assert text.drop_words(0.0) is text
    assert remove_random_words(tokenizer.split_into_pieces(""), WordDropout("0.9")).pieces.tolist() == []


def test_batches_hold_every_text_once_and_like_lengths_together(tokenizer: EncoderTokenizer) -> None:
    texts = [tokenizer.split_into_pieces("rain " * (1 + number % 40)) for number in range(400)]
    batches = make_length_batches(texts, 16, torch.Generator().manual_seed(1))
    assert sorted(index for batch in batches for index in batch.tolist()) == list(range(400))
    spread = [max(lengths) - min(lengths) for lengths in ([1 + i % 40 for i in b.tolist()] for b in batches)]
    assert max(spread) <= 3
    again = make_length_batches(texts, 16, torch.Generator().manual_seed(1))
    assert all(torch.equal(one, other) for one, other in zip(batches, again, strict=True))
    other = make_length_batches(texts, 16, torch.Generator().manual_seed(2))
    assert any(not torch.equal(one, two) for one, two in zip(batches, other, strict=True))
    assert sorted(torch.cat(list(sort_by_length(texts, 7))).tolist()) == list(range(400))
