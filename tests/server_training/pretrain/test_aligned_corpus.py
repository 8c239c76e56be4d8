"""Sanitized and original text are aligned as an encoder reads them: in the pieces of the written text."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_bundles import Lists, scattered, small_bundle
from textveil.mechanisms import SlotlessMechanism
from textveil.mechanisms.baselines.santext_plus import SanTextPlus
from textveil.text.sanitizer import Sanitizer
from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.pretrain.aligned_corpus import AlignedCorpus, AlignedPairs, StringPieces, expand_ranges
from textveil_training.pretrain.masking import IGNORED, MaskedBatch, Masker
from textveil_training.token_randomizer import TokenRandomizer

WORDS = ["they", "don", "do", "can", "n't", "'s", "'ll", "o'clock", "cat", "house", "señor", "run", "baba", "walk"]
TEXTS = [
    "They don't run; the CAT can't!",
    "Mr. Johnson's house (see http://example.org/x) isn't at 5 o'clock",
    "they'll walk -- don't they've? n't 's",
    "señor's “house”, cat/run a$b run,walk",
    "Don\u2019t. CAN'T, it\u2019s Cat",
    "n't n't",
]
LAW: dict[str, Any] = {"mechanism": "santext", "epsilon": "4"}


def tokenizer_of(folder: Path, entries: list[str], max_tokens: int = 64) -> EncoderTokenizer:
    path = folder / "vocab.txt"
    letters = [
        *"abcdefghijklmnopqrstuvwxyz0123456789.,;:!?()'-/“”’$",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz0"),
    ]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    path.write_text("\n".join(dict.fromkeys([*special, *entries, *letters])) + "\n", encoding="utf-8")
    return EncoderTokenizer(path, lowercase=True, max_tokens=max_tokens)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aligned")
    options: dict[str, Any] = {"k": 5, "exponents": ["2"], "lists": Lists()}
    small_bundle(folder / "words", scattered(len(WORDS), 6, 1), words=WORDS, **options)
    return folder


@pytest.fixture
def _known_draws(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """Draws that depend on the input and the place alone, with every third one a clitic where there are any."""

    def draw(self: Any, inputs: Any, slots: Any, random_uint64: Any) -> Any:
        places = np.arange(len(inputs))
        found = (np.asarray(inputs) * 5 + places * 7 + 3) % 14
        found = np.where(places % 12 == 0, WORDS.index("do"), found)  # n't stays after an auxiliary alone
        return np.where(places % 3 == 1, 4 + places // 3 % 2, found)

    for mechanism in (SlotlessMechanism, SanTextPlus):
        monkeypatch.setattr(mechanism, "draw_symbols", draw)


def pieces_of(strings: StringPieces, items: Any) -> list[int]:
    flat, begins = strings.flat_pieces
    return [int(piece) for item in items for piece in flat[begins[item] : begins[item + 1]]]


@pytest.mark.usefixtures("_known_draws")
def test_the_model_reads_what_it_would_read_of_the_sanitized_text(place: Path, tmp_path: Path) -> None:
    tokenizer = tokenizer_of(tmp_path, ["they", "do", "don", "can", "cat", "baba", "ru", "##n"])
    channel, sanitizer = TokenRandomizer(place / "words", **LAW), Sanitizer.load(place / "words")
    contracted = negated = 0
    for text in TEXTS:
        strings = StringPieces(tokenizer)
        corpus = AlignedCorpus([text], strings, channel)
        places, counts = corpus.locate_items(np.array([0]))
        sanitized = corpus.sanitize_items(places)
        written = sanitizer.sanitize(text, **LAW).text
        assert pieces_of(strings, sanitized) == tokenizer.split_into_pieces(written).pieces.tolist()
        assert pieces_of(strings, corpus.items) == tokenizer.split_into_pieces(text).pieces.tolist()
        assert counts.tolist() == [len(corpus.items)]
        assert corpus.lengths.tolist() == [len(tokenizer.split_into_pieces(text).pieces)]
        contracted += len(re.findall(r"\wn't", written))
        negated += len(re.findall(r"\w not\b", written))
    assert contracted >= 2
    assert negated >= 1


def test_without_care_for_contractions_another_sequence_would_be_read(place: Path, tmp_path: Path) -> None:
    strings = StringPieces(tokenizer_of(tmp_path, []))
    corpus = AlignedCorpus(["do n't"], strings, TokenRandomizer(place / "words", **LAW))
    alone = pieces_of(strings, [strings.get_id("do"), strings.get_id("n't")])
    joined = strings.join_contractions(np.array([strings.get_id("do"), strings.get_id("n't")]), np.array([False, True]))
    assert [strings.get_string(number) for number in joined] == ["don", "'t"]
    assert alone == pieces_of(strings, corpus.items) != pieces_of(strings, joined)


def test_the_original_of_an_unknown_word_is_its_spelling(place: Path, tmp_path: Path) -> None:
    strings = StringPieces(tokenizer_of(tmp_path, []))
    corpus = AlignedCorpus(["Johnson's house, 12"], strings, TokenRandomizer(place / "words", **LAW))
    assert [strings.get_string(number) for number in corpus.items] == ["Johnson", "'s", "house", ",", "12"]


def test_words_are_replaced_each_in_its_own_place(place: Path, tmp_path: Path) -> None:
    """Texts in another order, and a text without a word, which is left out."""
    strings = StringPieces(tokenizer_of(tmp_path, []))
    texts = ["cat run", "...", "house", "walk, walk!"]
    corpus = AlignedCorpus(texts, strings, TokenRandomizer(place / "words", mechanism="krr", epsilon="30"))
    assert len(corpus) == 3
    places, counts = corpus.locate_items(np.array([2, 0]))
    found = [strings.get_string(number) for number in corpus.sanitize_items(places)]
    assert (found, counts.tolist()) == (["walk", ",", "walk", "!", "cat", "run"], [4, 2])


def test_every_visit_draws_afresh(place: Path, tmp_path: Path) -> None:
    strings = StringPieces(tokenizer_of(tmp_path, []))
    corpus = AlignedCorpus(["cat run house walk " * 20], strings, TokenRandomizer(place / "words", mechanism="random"))
    places, _ = corpus.locate_items(np.array([0]))
    first, second = corpus.sanitize_items(places), corpus.sanitize_items(places)
    assert (first != second).mean() > 0.5
    assert (corpus.items == corpus.items[np.arange(80) % 4]).all()  # the originals are left as they were


def test_raw_text_needs_no_bundle(tmp_path: Path) -> None:
    tokenizer = tokenizer_of(tmp_path, [])
    strings = StringPieces(tokenizer)
    corpus = AlignedCorpus(["They don't run."], strings, None)
    assert [strings.get_string(number) for number in corpus.items] == ["They", "don", "'t", "run", "."]
    assert corpus.words.tolist() == [True, True, True, True, False]
    with pytest.raises(ValueError, match="made without a mechanism"):
        corpus.sanitize_items(np.arange(5))


def masked(
    tokenizer: EncoderTokenizer, strings: StringPieces, rows: list[tuple[list[str], list[str]]], **options: Any
) -> MaskedBatch:
    """Return a batch of texts given as kept and original words; ``.`` is not a word."""
    masker = Masker(
        tokenizer, strings, options.pop("probability", 0.15), len(tokenizer.ids), options.pop("unchanged", 0.1)
    )
    shown = np.array([strings.get_id(word) for row, _ in rows for word in row])
    original = np.array([strings.get_id(word) for _, row in rows for word in row])
    words = np.array([word != "." for row, _ in rows for word in row])
    return masker(shown, original, words, np.array([len(row) for row, _ in rows]), **options)


def test_targets_are_the_originals_pieces_at_the_sanitized_words_places(tmp_path: Path) -> None:
    tokenizer = tokenizer_of(tmp_path, ["run", "##ning", "cat"])
    strings, ids = StringPieces(tokenizer), tokenizer.ids
    rows = [(["cat", ".", "running"], ["running", ".", "cat"]), (["running"], ["running"])]
    batch = masked(tokenizer, strings, rows, probability=0.999999, only_masks=True)
    mask, first, last = ids["[MASK]"], ids["[CLS]"], ids["[SEP]"]
    assert batch.ids.tolist() == [
        [first, mask, ids["."], mask, mask, last],
        [first, mask, mask, last, 0, 0],
    ]
    no = IGNORED
    assert batch.targets.tolist() == [
        [no, ids["run"], no, ids["cat"], no, no],
        [no, ids["run"], ids["##ning"], no, no, no],
    ]
    assert batch.mask.tolist() == [[1] * 6, [1, 1, 1, 1, 0, 0]]


@pytest.mark.parametrize(("unchanged", "masked_share"), [(0.1, 0.8), (0.55, 0.4)])
def test_shares_of_what_is_masked(tmp_path: Path, unchanged: float, masked_share: float) -> None:
    """40,000 words of two pieces: each share within five standard errors; a word is masked whole."""
    tokenizer = tokenizer_of(tmp_path, ["run", "##ning"], max_tokens=100_000)
    strings, ids = StringPieces(tokenizer), tokenizer.ids
    count = 40_000
    torch.manual_seed(1)
    batch = masked(tokenizer, strings, [(["running"] * count, ["running"] * count)], unchanged=unchanged)
    shown, targets = (part[0, 1:-1].view(count, 2) for part in (batch.ids, batch.targets))
    chosen = targets[:, 0] != IGNORED
    assert ((targets[:, 1] != IGNORED) == chosen).all()
    assert (targets[chosen] == torch.tensor([ids["run"], ids["##ning"]])).all()
    masks = shown == ids["[MASK]"]
    halves = masks.any(1) & ~masks.all(1)  # never of a word that is masked; a random piece may happen to be [MASK]
    assert int(halves.sum()) < 60
    same = (shown == torch.tensor([ids["run"], ids["##ning"]])).all(1)
    assert same[~chosen].all()
    number = int(chosen.sum())

    def near(found: int, total: int, share: float) -> bool:
        return abs(found - total * share) < 5 * (total * share * (1 - share)) ** 0.5

    assert near(number, count, 0.15)
    assert near(int(masks.all(1)[chosen].sum()), number, masked_share)
    assert near(int(same[chosen].sum()), number, unchanged)
    assert not near(int(masks.all(1)[chosen].sum()), number, masked_share + 0.1)  # five errors tell such shares apart


def test_long_texts_are_cut_and_parts_cover_the_batch(tmp_path: Path) -> None:
    tokenizer = tokenizer_of(tmp_path, ["cat"], max_tokens=6)
    strings = StringPieces(tokenizer)
    rows = [(["cat"] * length, ["cat"] * length) for length in (1, 9, 2)]
    batch = masked(tokenizer, strings, rows, probability=0.5)
    assert batch.mask.sum(1).tolist() == [3, 6, 4]
    assert (batch.ids[torch.arange(3), batch.mask.sum(1) - 1] == tokenizer.last).all()
    parts = [batch.take_part(number, 2) for number in range(2)]
    assert [len(part.ids) for part in parts] == [2, 1]
    assert sum(int((part.targets != IGNORED).sum()) for part in parts) == int((batch.targets != IGNORED).sum())
    idle = batch.take_part(5, 6)
    assert len(idle.ids) == 1
    assert (idle.targets == IGNORED).all()


def test_ragged() -> None:
    assert expand_ranges(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]


class Swapping:
    """A mode with known outputs: a full name becomes one word, a number another one, all else is kept."""

    def sanitize_texts(self, texts: list[str]) -> list[str]:
        swaps = {"Anna Berg": "Kim", "twelve": "nine", "Rome": "Oslo"}
        found = []
        for text in texts:
            for old, new in swaps.items():
                text = text.replace(old, new)
            found.append(text)
        return found


def test_the_target_of_a_surrogate_is_its_original_where_it_is_known(tmp_path: Path) -> None:
    """One word for one word has a target; a surrogate for a full name has none, and the words around it have theirs."""
    strings = StringPieces(tokenizer_of(tmp_path, []))
    mode: Any = Swapping()
    corpus = AlignedPairs(["Anna Berg saw twelve cats in Rome.", "...", "A cat sat."], strings, mode)
    assert len(corpus) == 2
    places, counts = corpus.locate_items(np.array([0, 1]))
    shown = [strings.get_string(number) for number in corpus.sanitize_items(places)]
    original = [strings.get_string(number) for number in corpus.items[places]]
    assert counts.tolist() == [7, 4]
    assert shown[:7] == ["Kim", "saw", "nine", "cats", "in", "Oslo", "."]
    assert original[:7] == ["", "saw", "twelve", "cats", "in", "Rome", "."]
    assert shown[7:] == original[7:] == ["A", "cat", "sat", "."]
    assert not strings.has_pieces(strings.get_id(""))


def test_a_surrogate_of_unknown_origin_is_never_asked_for(tmp_path: Path) -> None:
    tokenizer = tokenizer_of(tmp_path, [])
    strings = StringPieces(tokenizer)
    mode: Any = Swapping()
    corpus = AlignedPairs(["Anna Berg saw Rome"], strings, mode)
    places, counts = corpus.locate_items(np.array([0]))
    masker = Masker(tokenizer, strings, 0.999999, len(tokenizer.ids))
    shown = corpus.sanitize_items(places)
    batch = masker(shown, corpus.items[places], corpus.words[places], counts, only_masks=True)
    width = len(pieces_of(strings, shown[:1]))
    assert (batch.targets[0, 1 : 1 + width] == IGNORED).all()
    assert (batch.targets[0, 1 + width :] != IGNORED).any()
