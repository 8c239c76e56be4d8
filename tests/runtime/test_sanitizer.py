"""``Sanitizer``: what comes out, what survives, what is refused."""

import dataclasses
import os
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import regex
import textveil
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from textveil import Result, Sanitizer, TextveilError
from textveil.errors import BundleError, InputError, OptionError, UnknownLevel, UnknownMechanism
from textveil.mechanisms import entropy
from textveil.mechanisms import protocol as mechanisms
from textveil.mechanisms.santext_plus import ReplacementCoin
from textveil.text import sanitizer as sanitizer_module
from textveil.text import segmentation
from textveil.text.lexicon import Lexicon

MECHANISMS = (
    {},
    {"mechanism": "santext+", "level": "high", "replacement_probability": "1e-12"},
    {"mechanism": "santext"},
    {"mechanism": "krr", "epsilon": 30},
    {"mechanism": "random"},
)
STRANGE = (
    "the doctor, don't @x 1 \t\r\n\u2028\u00a0“”—é中😀\u200d🚀\u0308\u200b\0\x1b\ud800\udfff\U0001f1e6'sΩжn’T\u202f_"
)
strange_texts = st.text(st.characters()) | st.text(st.sampled_from(STRANGE), max_size=40)
#: A fixture that a test only reads may be shared by all examples.
reading = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    """All random words are 0: common words are replaced, and every token becomes its nearest output."""
    monkeypatch.setattr(entropy, "random_uint64", lambda count: np.zeros(count, np.uint64))


@pytest.fixture(scope="module")
def flat_bundle(make_bundle: Callable[..., Path]) -> Path:
    """Two outputs and k = 1: every row is the base measure, and random words of 0 draw its first output."""
    words = ["zz", "yy", "the", "doctor", "do"]
    return make_bundle(words, share=1, never=words[2:], k=1)


@pytest.fixture
def constant(flat_bundle: Path, nearest: None) -> Sanitizer:
    """Every token becomes ``zz``: what is left is what the text gives away."""
    return Sanitizer.load(flat_bundle)


@pytest.fixture
def constant_clitic(make_bundle: Callable[..., Path], nearest: None) -> Sanitizer:
    """Every token becomes ``'s``."""
    words = ["'s", "yy", "the", "doctor"]
    return Sanitizer.load(make_bundle(words, share=1, never=words[2:], k=1))


@pytest.fixture
def keep_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coin of SanText+ always keeps."""
    monkeypatch.setattr(ReplacementCoin, "replaced", lambda coin, words: np.zeros(len(words), bool))


def tokens_of(segment: str, clitics: bool = True) -> int:
    """How many tokens a segment has in the constant bundles, which hold no clitic themselves."""
    if segmentation.is_gap(segment):
        return 0
    split = segmentation.split_clitic(segmentation.key(segment))
    return 2 if split and clitics and not segmentation.is_string(segment) else 1


# --- gaps, joints and case -----------------------------------------------------------------------------------------


@reading
@given(strange_texts)
@example("")
@example(" \n\t ")
@example("a\x00b")
@example("don’t")
@example("😀😀 中文")
def test_nothing_but_gaps_survives(constant: Sanitizer, text: str) -> None:
    """White space and punctuation byte for byte; every token is redrawn; a blank where two tokens touch."""
    expected, touching = [], False
    for segment in segmentation.segments(text):
        tokens = tokens_of(segment)
        if not tokens:
            expected.append(segment)
        for _ in range(tokens):
            expected.append(" zz" if touching else "zz")
            touching = True
        touching = tokens > 0
    result = constant.sanitize(text, case="drop")
    assert result.text == "".join(expected)
    assert result.tokens == result.text.count("zz")


@reading
@given(strange_texts)
def test_case_patterns_are_carried(constant: Sanitizer, text: str) -> None:
    patterns = [
        segmentation.case_pattern(segment) for segment in segmentation.segments(text) if tokens_of(segment) == 1
    ]
    carried = constant.sanitize(text).text
    assert carried.lower() == constant.sanitize(text, case="drop").text.lower()
    if all(tokens_of(segment) < 2 for segment in segmentation.segments(text)):
        words = regex.findall("(?i)zz", carried)
        assert words == [("zz", "Zz", "ZZ")[pattern] for pattern in patterns]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The DOCTOR said.", "Zz ZZ zz."),
        ("JOHN'S house", "ZZ ZZ zz"),
        ("John’s", "Zz zz"),
        ("Don't I?", "Zz zz Zz?"),
        ("A4 USB x", "ZZ ZZ zz"),
        ("WWW.EXAMPLE.COM", "ZZ"),
        ("Éclair ÉCLAIR éclair", "Zz ZZ zz"),
        ("  indented\r\n\tline ", "  zz\r\n\tzz "),
        ("a-b—c/d", "zz-zz—zz/zz"),
        ("(doctor@boston.com)", "(zz)"),
        ("$5 € ^", "zz zz zz"),
        ("x😀y", "zz"),
        ("a\u200bb", "zz"),
    ],
)
def test_examples_of_the_shape(constant: Sanitizer, text: str, expected: str) -> None:
    assert constant.sanitize(text).text == expected


def test_a_clitic_that_comes_out_stands_without_a_blank(constant_clitic: Sanitizer) -> None:
    assert constant_clitic.sanitize("x😀y the").text == "'s 's"
    assert constant_clitic.sanitize("JOHN'S").text == "'S'S"
    assert constant_clitic.sanitize("x😀y the", sanitize_punctuation=True).text == "'s 's"


@reading
@given(strange_texts)
@example(" . ")
@example("—")
def test_strict_leaves_single_blanks_only(constant: Sanitizer, text: str) -> None:
    """Punctuation is drawn too; nothing but blanks between tokens, case dropped."""
    tokens = 0
    for segment in segmentation.segments(text):
        gap = segmentation.is_gap(segment)
        tokens += sum(not character.isspace() for character in segment) if gap else tokens_of(segment)
    result = constant.sanitize(text, sanitize_punctuation=True)
    assert result.text == " ".join(["zz"] * tokens)
    assert result.tokens == tokens
    assert result.statement.terms.case == "drop"


def test_strict_with_real_words(english: Sanitizer) -> None:
    text = "“My DOCTOR, in Boston…”\n\tsaid: (the biopsy)\r\nwas clean!"
    for options in ({"mechanism": "santext+", "level": level.name} for level in english.bundle.levels):
        out = english.sanitize(text, sanitize_punctuation=True, **options).text
        assert out == " ".join(out.split())
        assert all(word in english.bundle.ids for word in out.split(" "))


def test_english_text_keeps_its_shape(english: Sanitizer) -> None:
    text = "  My doctor\tin BOSTON (Mass.) said:\r\n“the biopsy—was clean!”  \n"
    segments = segmentation.segments(text)
    shape = regex.compile("".join(regex.escape(s) if segmentation.is_gap(s) else r"(\S+?)" for s in segments))
    for _ in range(50):
        result = english.sanitize(text, mechanism="santext")
        match = shape.fullmatch(result.text)
        assert match is not None
        assert all(word.lower() in english.bundle.ids for word in match.groups())
        assert result.tokens == len(match.groups()) == 10


def test_every_mechanism_prints_words_of_its_outputs(english: Sanitizer) -> None:
    text = "my doctor in boston said zzyzzx 17 😀 " * 20
    lightest = english.bundle.levels[-1].name
    for options in ({"mechanism": "santext", "level": lightest}, {"mechanism": "krr", "epsilon": 3}):
        law = english.distribution("zzyzzx", **options)
        assert set(english.sanitize(text, **options).text.split()) <= set(law.words)
    plus = set(english.distribution("zzyzzx", mechanism="santext+").words)
    kept = {"my", "doctor", "in", "boston", "said"}
    assert set(english.sanitize(text, mechanism="santext+").text.split()) <= plus | kept
    visible = {"my", "in"}
    possible = set().union(*(english.distribution(word).words for word in {*text.split()} - visible))
    assert set(english.sanitize(text).text.split()) <= possible | visible


# --- texts at the edge ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", MECHANISMS, ids=str)
@pytest.mark.parametrize("text", ["", " ", "\n", " \t\r\n\u00a0\u2028", "...", "—“”"])
def test_without_words_nothing_changes(tiny: Sanitizer, text: str, options: dict[str, str]) -> None:
    result = tiny.sanitize(text, **options)
    assert (result.text, result.tokens) == (text, 0)
    assert result.statement.epsilon_document == 0
    assert result.statement.epsilon_0_document == 0


@pytest.mark.parametrize("options", MECHANISMS, ids=str)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "a\0b",
        "\ud800",
        "\ud83d\ude00",
        "\udfff the",
        "😀",
        "👩\u200d🚀👩\u200d🚀",
        "\x7f\x1b31m",
        "\ufeff",
        "\U0010ffff",
    ],
)
def test_odd_characters_never_come_out(tiny: Sanitizer, text: str, strict: bool, options: dict[str, str]) -> None:
    result = tiny.sanitize(text, sanitize_punctuation=strict, **options)
    printable = set("".join(tiny.bundle.vocabulary))
    assert result.tokens > 0
    assert set(result.text) <= printable | {character.upper() for character in printable} | {" ", "S"}
    result.text.encode("utf-8")


@settings(reading, max_examples=300)
@given(strange_texts, st.sampled_from(MECHANISMS), st.booleans(), st.sampled_from(["carry", "drop"]))
def test_any_text_is_sanitized(tiny: Sanitizer, text: str, options: dict[str, str], strict: bool, case: str) -> None:
    result = tiny.sanitize(text, sanitize_punctuation=strict, case=case, **options)
    result.text.encode("utf-8")  # no surrogate comes out
    foreign = {c for c in text if not segmentation.is_gap(c)} - set("".join(tiny.bundle.vocabulary).lower())
    foreign -= set("".join(tiny.bundle.vocabulary).upper()) | {" "}
    assert not foreign & set(result.text)


@pytest.mark.parametrize("value", [None, b"the", 5, ["the"], object()])
def test_what_is_not_a_string_is_refused(tiny: Sanitizer, value: object) -> None:
    with pytest.raises(InputError, match=r"^text 1 of 1 is not a string$"):
        tiny.sanitize(value)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^text 2 of 3 is not a string$"):
        tiny.sanitize_batch(["the", value, "a"])  # type: ignore[list-item]


# --- batches and long texts ----------------------------------------------------------------------------------------


def test_a_batch_is_its_texts(tiny: Sanitizer, nearest: None) -> None:
    texts = ["the doctor", "", " ", "zzz, don't", "Boston 17", "\ud800", "the doctor"]
    assert tiny.sanitize_batch(texts) == [tiny.sanitize(text) for text in texts]
    assert tiny.sanitize_batch([]) == []
    assert tiny.sanitize_batch(tuple(texts)) == tiny.sanitize_batch(texts)


def test_texts_of_a_batch_are_drawn_apart(tiny: Sanitizer) -> None:
    results = tiny.sanitize_batch(["doctor " * 40] * 5, mechanism="random")
    assert len({result.text for result in results}) == 5


@pytest.mark.slow
@settings(reading, max_examples=300)
@given(st.lists(strange_texts, max_size=6), st.integers(1, 60), st.booleans())
def test_batches_of_any_size_give_the_same(
    tiny: Sanitizer, nearest: None, texts: list[str], limit: int, strict: bool
) -> None:
    whole = [tiny.sanitize(text, sanitize_punctuation=strict) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sanitizer_module, "_BATCH_CHARACTERS", limit)
        patch.setattr(sanitizer_module, "_CHUNK_SEGMENTS", limit)
        assert tiny.sanitize_batch(texts, sanitize_punctuation=strict) == whole


blanks_and_words = st.text(st.sampled_from("ab1@.'\"’é \u0308\u00ad\u200d🚀\u2003\u202f\t\n_-“ "), max_size=60)


@settings(max_examples=1000)
@given(st.text(max_size=60) | blanks_and_words)
@example("a \u0308b")
@example("aa @ bb")
@example("a\u2003 b")
def test_a_long_text_has_the_segments_of_a_short_one(text: str) -> None:
    assert list(segmentation.iterate_segments(text)) == segmentation.segments(text)


@settings(reading, max_examples=500)
@given(st.text(max_size=40) | blanks_and_words, st.integers(1, 20), st.booleans())
@example("the \u0308doctor", 1, False)  # a blank with a mark on it is a token, not a gap
@example("the doctor   ", 10, True)  # the last piece has no tokens
def test_a_long_text_is_written_like_a_short_one(constant: Sanitizer, text: str, limit: int, strict: bool) -> None:
    whole = constant.sanitize(text, sanitize_punctuation=strict)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sanitizer_module, "_BATCH_CHARACTERS", limit)
        patch.setattr(sanitizer_module, "_CHUNK_SEGMENTS", limit)
        patch.setattr(sanitizer_module, "_CHUNK_SEGMENTS", limit)
        assert constant.sanitize(text, sanitize_punctuation=strict) == whole


@pytest.mark.slow
def test_two_million_characters(english: Sanitizer) -> None:
    text = "The doctor, said zzyzx7! " * 80_000
    result = english.sanitize(text, mechanism="random")
    assert result.tokens == 4 * 80_000
    assert result.text.count("! ") >= 80_000  # marks may also come out of words
    assert result.text.count(", ") >= 80_000


@pytest.mark.slow
def test_a_text_without_a_blank(constant: Sanitizer) -> None:
    lines = 200_000
    assert 4 * lines > sanitizer_module._CHUNK_SEGMENTS
    assert constant.sanitize("é,x\n" * lines).text == "zz,zz\n" * lines


# --- statements ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", MECHANISMS, ids=str)
@pytest.mark.parametrize("strict", [False, True])
def test_a_statement_tells_parameters_and_the_number_of_tokens_only(
    tiny: Sanitizer, options: dict[str, str], strict: bool
) -> None:
    """Same number of tokens, entirely different words: known, unknown, common, sensitive, repeated."""
    texts = ["the of and to in", "zzz 17 😀 x@y.z qqq", "doctor nurse boston doctor nurse", "the zzz doctor 4 the"]
    first, *others = [tiny.sanitize(text, sanitize_punctuation=strict, **options).statement for text in texts]
    for other in others:
        assert other == first
        assert other.to_dict() == first.to_dict()
        assert (str(other), other.summary()) == (str(first), first.summary())
    assert first.tokens == 5


@reading
@given(strange_texts)
def test_statements_add_up(tiny: Sanitizer, text: str) -> None:
    statement = tiny.sanitize(text).statement
    terms = tiny.terms()
    assert statement.terms == terms
    assert statement.epsilon_document == statement.tokens * terms.epsilon
    assert statement.epsilon_0_document == statement.tokens * (terms.epsilon_0 + terms.rounding_slack)


def test_a_statement_says_what_is_not_protected(tiny: Sanitizer) -> None:
    def said(**options: object) -> str:
        return " / ".join(tiny.terms(**options).not_protected)  # type: ignore[arg-type]

    default = said()
    for part in (
        "number of tokens",
        "punctuation",
        "case pattern",
        "common words",
        "came out unchanged",
        "draws afresh",
    ):
        assert part in default
    assert "case pattern" not in said(case="drop")
    strict = said(sanitize_punctuation=True)
    assert "punctuation" not in strict
    assert "case pattern" not in strict
    assert "common words" not in said(mechanism="santext")
    assert "came out unchanged" not in said(mechanism="random")
    assert all("draws afresh" in said(**options) for options in MECHANISMS)
    assert tiny.bundle.identity in str(tiny.sanitize("the").statement)


def test_results_cannot_be_changed(tiny: Sanitizer) -> None:
    result = tiny.sanitize("the doctor")
    assert isinstance(result, Result)
    for thing, name in ((result, "text"), (result.statement, "tokens"), (result.terms, "epsilon")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, None)


# --- fresh draws, threads, forks -----------------------------------------------------------------------------------


def test_every_call_draws_afresh(english: Sanitizer) -> None:
    text = "doctor " * 30
    assert len({english.sanitize(text, mechanism="random").text for _ in range(10)}) == 10


def test_threads_share_a_sanitizer(tiny_path: Path) -> None:
    shared = Sanitizer.load(tiny_path)
    levels = [{"level": "low"}, {"level": "high"}, {"mechanism": "random"}, {"mechanism": "krr", "epsilon": 2}]
    start = threading.Barrier(8)

    def work(number: int) -> list[Result]:
        start.wait()
        text = "doctor " * (number + 1)
        return [shared.sanitize(text, **options) for _ in range(50) for options in levels]

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(work, range(8)))
    expected = [shared.terms(**options) for options in levels] * 50
    for number, results in enumerate(done):
        assert [result.tokens for result in results] == [number + 1] * 200
        assert [result.terms for result in results] == expected
    streams = [tuple(result.text for result in results) for results in done]
    assert len(set(streams)) == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_fork_has_a_stream_of_its_own(tiny: Sanitizer) -> None:
    def in_a_fork() -> bytes:
        receiver, sender = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(sender, tiny.sanitize("doctor " * 40, mechanism="random").text.encode())
            finally:
                os._exit(0)
        os.close(sender)
        with open(receiver, "rb") as file:
            out = file.read()
        os.waitpid(child, 0)
        return out

    outs = [in_a_fork() for _ in range(3)]
    assert len(set(outs)) == 3
    assert all(out.split() for out in outs)


# --- kept words ----------------------------------------------------------------------------------------------------


def test_a_common_word_is_kept_with_its_case(tiny: Sanitizer, keep_all: None) -> None:
    out = tiny.sanitize("The THE the doctor").text.split()
    assert out[:3] == ["The", "THE", "the"]


def test_a_merged_spelling_prints_its_representative(make_bundle: Callable[..., Path], keep_all: None) -> None:
    merged = Sanitizer.load(make_bundle(allow=["colour"]))
    assert merged.bundle.ids["color"] == merged.bundle.ids["colour"]
    assert merged.sanitize("Color, COLOR color").text == "Colour, COLOUR colour"
    assert merged.distribution("color") == merged.distribution("colour")


def test_a_clitic_and_its_stem_are_two_tokens(tiny: Sanitizer, keep_all: None) -> None:
    assert tiny.sanitize("the's").text == "the's"
    assert tiny.sanitize("THE’S").text == "THE'S"
    kept_clitic = tiny.sanitize("doctor's")
    assert kept_clitic.text.endswith("'s")
    assert kept_clitic.tokens == 2


def test_a_denied_word_is_never_kept(tiny: Sanitizer, keep_all: None) -> None:
    outputs = set(tiny.distribution("zzz").words)
    for denied in ("the", "The", "THE", "ｔｈｅ"):
        assert tiny.sanitize("the", deny=[denied]).text in outputs
    assert tiny.sanitize("and", deny=["the"]).text == "and"


@pytest.mark.parametrize("faulty", [False, True])
def test_sanitized_punctuation_is_never_kept(
    tiny: Sanitizer, keep_all: None, monkeypatch: pytest.MonkeyPatch, faulty: bool
) -> None:
    """The coin is for words. A lexicon that takes a mark for a whole word prints it as it was."""
    if faulty:
        word = Lexicon.word
        monkeypatch.setattr(
            Lexicon, "word", lambda *args, **named: dataclasses.replace(word(*args, **named), whole=True)
        )
    assert (tiny.sanitize(",", sanitize_punctuation=True).text == ",") == faulty


def test_strings_are_never_looked_up(make_bundle: Callable[..., Path], keep_all: None) -> None:
    """Whatever a vocabulary holds: a string with digits or an at sign is unknown (``segmentation.is_string``)."""
    odd = Sanitizer.load(make_bundle(["b2b", "the", "@the", "doctor", "nurse", "piano", "marble", "river"], k=2))
    for string in ("b2b", "@the"):
        assert odd.sanitize(string).text not in ("b2b", "@the")


# --- WordPiece bundles ---------------------------------------------------------------------------------------------


@pytest.fixture
def one_piece(make_bundle: Callable[..., Path], nearest: None) -> Sanitizer:
    """WordPieces of which only ``piano`` is drawn, and the common whole words are kept."""
    spelled = "the of and in said a ##s un ##aff ##able , ' t cafe 19 doctor ##psy piano ##rare"
    words = spelled.split()
    common = {"the", "of", "and", "in", "said", "a", "cafe"}
    never = [word for word in words if word not in {*common, "piano", "##rare"}]
    return Sanitizer.load(make_bundle(words, tokens="wordpiece", share=1, allow=common, never=never, k=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expected", "tokens"),
    [
        ("the", "the", 1),
        ("The doctor said", "The piano said", 3),
        ("unaffable", "pianopianopiano", 3),
        ("Unaffable.", "Pianopianopiano.", 3),
        ("thes", "pianopiano", 2),
        ("THES", "PIANOPIANO", 2),
        ("xqj", "piano", 1),
        ("19", "piano", 1),
        ("a19", "piano", 1),
        ("Café", "Cafe", 1),
        ("the@and", "piano", 1),
        ("don't", "pianopianopiano", 3),
        ("中文", "piano", 1),
        ("the\0", "piano", 1),
        ("\u200b", "piano", 1),
        ("the\u00adof", "piano", 1),
        ("[UNK] ##s", "[PIANO] ##piano", 2),
    ],
)
def test_whole_words_are_cut_into_pieces(
    one_piece: Sanitizer, keep_all: None, text: str, expected: str, tokens: int
) -> None:
    """Pieces are joined without ``##``; only a common word in one piece is ever kept."""
    result = one_piece.sanitize(text)
    assert result.text == expected
    assert result.tokens == tokens


@settings(reading, max_examples=200)
@given(strange_texts)
def test_pieces_take_any_text(pieces: Sanitizer, text: str) -> None:
    result = pieces.sanitize(text, mechanism="random")
    result.text.encode("utf-8")
    gaps = [segment for segment in segmentation.segments(text) if segmentation.is_gap(segment)]
    assert "##" not in result.text or any("#" in gap for gap in gaps)


def test_pieces_in_strict_mode(one_piece: Sanitizer) -> None:
    assert one_piece.sanitize("Unaffable, the!").text == "Pianopianopiano, Piano!".replace("Piano!", "piano!")
    strict = one_piece.sanitize("Unaffable, the!", sanitize_punctuation=True)
    assert (strict.text, strict.tokens) == ("pianopianopiano piano piano piano", 6)


def test_a_string_of_a_wordpiece_bundle_has_the_law_of_the_unknown(pieces: Sanitizer) -> None:
    """What ``distribution`` tells is what ``sanitize`` draws from, also for a number that is in the vocabulary."""
    assert pieces.distribution("19") == pieces.distribution("20")
    assert pieces.distribution("19").symbol == "<unk>"


# --- options -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"mechanism": "canary"}, UnknownMechanism),
        ({"level": "canary"}, UnknownLevel),
        ({"epsilon": "canary"}, OptionError),
        ({"epsilon": 17.25}, UnknownLevel),
        ({"epsilon": "nan"}, OptionError),
        ({"epsilon": "inf"}, OptionError),
        ({"epsilon": "snan"}, OptionError),
        ({"epsilon": True}, OptionError),
        ({"level": "low", "epsilon": 16}, UnknownLevel),
        ({"case": "canary"}, OptionError),
        ({"case": "CARRY"}, OptionError),
        ({"replacement_probability": "canary"}, OptionError),
        ({"replacement_probability": "0"}, OptionError),
        ({"replacement_probability": 0}, OptionError),
        ({"replacement_probability": 0.0}, OptionError),
        ({"replacement_probability": -0.1}, OptionError),
        ({"replacement_probability": 1.0001}, OptionError),
        ({"replacement_probability": float("nan")}, OptionError),
        ({"mechanism": "santext", "replacement_probability": "0.3"}, OptionError),
        ({"mechanism": "santext", "deny": ["canary"]}, OptionError),
        ({"mechanism": "krr"}, OptionError),
        ({"mechanism": "krr", "epsilon": 0}, OptionError),
        ({"mechanism": "krr", "epsilon": -1}, OptionError),
        ({"mechanism": "krr", "epsilon": 30.001}, OptionError),
        ({"mechanism": "krr", "epsilon": 2, "level": "low"}, OptionError),
        ({"mechanism": "random", "epsilon": 1}, OptionError),
        ({"mechanism": "random", "level": "low"}, OptionError),
        ({"deny": "canary"}, OptionError),
        ({"deny": ["the", 5]}, OptionError),
        ({"deny": 5}, OptionError),
    ],
    ids=str,
)
@pytest.mark.parametrize("text", ["the doctor", ""])
def test_options_are_checked(tiny: Sanitizer, options: dict[str, str], error: type[TextveilError], text: str) -> None:
    """Also before an empty text, and without repeating the value."""
    with pytest.raises(error) as refused:
        tiny.sanitize(text, **options)
    assert "\n" not in str(refused.value)
    assert "canary" not in str(refused.value)
    with pytest.raises(error):
        tiny.sanitize_batch([], **options)
    with pytest.raises(error):
        tiny.terms(**options)
    with pytest.raises(error):
        tiny.distribution("the", **options)


def test_errors_list_what_there_is(tiny: Sanitizer) -> None:
    with pytest.raises(UnknownLevel, match=r"low \(4\), high \(16\)$"):
        tiny.sanitize("the", level="x")
    with pytest.raises(UnknownLevel, match=r"low \(4\), high \(16\)$"):
        tiny.sanitize("the", epsilon=5)
    with pytest.raises(UnknownMechanism, match=re.escape(", ".join(mechanisms.MECHANISMS)) + "$"):
        tiny.sanitize("the", mechanism="x")
    with pytest.raises(OptionError, match=r"^unknown option; there are mechanism, .*, sanitize_punctuation$"):
        tiny.sanitize("the", allow=["doctor"])  # type: ignore[call-arg]
    with pytest.raises(OptionError, match=r"^strict is now"):
        tiny.sanitize("the", strict=True)  # type: ignore[call-arg]


# --- one word, two words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "tokens"), [("", 0), (" ", 0), ("the doctor", 2), ("Jean-Luc", 3), ("don't", 2), ("!?", 2), ("x😀 y", 2)]
)
def test_a_distribution_is_of_one_token(tiny: Sanitizer, word: str, tokens: int) -> None:
    with pytest.raises(OptionError, match=f"^one word is needed, and this is {tokens} tokens$"):
        tiny.distribution(word)
    with pytest.raises(OptionError, match=f"this is {tokens} tokens$"):
        tiny.distance("the", word)
    with pytest.raises(OptionError, match=f"this is {tokens} tokens$"):
        tiny.distance(word, "the")


def test_distances(tiny: Sanitizer, english: Sanitizer) -> None:
    words = ["the", "doctor", "Doctor", "DOCTOR", "nurse", "boston", "zzyzzx", "17", "x@y.z"]
    for sanitizer in (tiny, english):
        known = {segmentation.key(word) for word in words} & sanitizer.bundle.ids.keys()
        for first in words:
            for second in words:
                distance = sanitizer.distance(first, second)
                assert distance == sanitizer.distance(second, first)
                same = segmentation.key(first) == segmentation.key(second)
                unknown = {segmentation.key(first), segmentation.key(second)}.isdisjoint(known)
                assert (distance == 0) == (same or unknown)
                for third in words:
                    around = sanitizer.distance(first, third) + sanitizer.distance(third, second)
                    assert distance <= around + 1e-12
    assert english.distance("doctor", "nurse") < english.distance("doctor", "wardrobe")
    assert tiny.distance("color", "colour") == 0


def test_the_unit_of_distance_is_the_median(english: Sanitizer) -> None:
    symbols = english.bundle.symbols
    sampled = np.random.default_rng(3).integers(0, symbols, (4000, 2))
    distances = [english.bundle.metric.distance(a, b) for a, b in sampled.tolist() if a != b]
    assert abs(float(np.median(distances)) - 1) < 0.02
    unknown = [english.bundle.metric.distance(a, symbols) for a in sampled[:, 0].tolist()]
    assert abs(float(np.median(unknown)) - 1) < 0.02


def test_without_rows_there_are_no_distances(make_bundle: Callable[..., Path]) -> None:
    bare = Sanitizer.load(make_bundle(embeddings=False))
    with pytest.raises(BundleError, match="does not carry embedding rows"):
        bare.distance("the", "doctor")
    assert bare.bundle.metric is None
    assert bare.sanitize("the doctor").tokens == 2


# --- plans are kept, texts are not ---------------------------------------------------------------------------------


def test_no_text_is_kept_between_calls(tiny_path: Path) -> None:
    """Nothing that hangs on a sanitizer remembers a word it has seen."""
    fresh = Sanitizer.load(tiny_path)
    fresh.sanitize("Zorblaxia doctor@boston.com")

    def reachable(thing: object, seen: set[int]) -> Iterator[str]:
        if id(thing) in seen:
            return
        seen.add(id(thing))
        if isinstance(thing, str):
            yield thing
        elif isinstance(thing, dict):
            for pair in thing.items():
                yield from reachable(pair, seen)
        elif isinstance(thing, (list, tuple, set, frozenset)):
            for item in thing:
                yield from reachable(item, seen)
        elif hasattr(thing, "__dict__") and not isinstance(thing, type):
            yield from reachable(list(vars(thing).values()), seen)
        kept.append(thing)  # or another object takes its place in memory, and its id

    kept: list[object] = []
    found = " ".join(reachable(fresh, set())).lower()
    assert "doctor" in found  # the vocabulary
    assert "zorblaxia" not in found
    assert "@" not in found


def test_denied_words_of_one_call_are_not_those_of_another(tiny: Sanitizer, keep_all: None) -> None:
    """Whatever collection they come in: a call with other words has another plan."""
    the, and_ = tiny.bundle.ids["the"], tiny.bundle.ids["and"]

    class Words:
        def __init__(self, *words: str) -> None:
            self.words = words

        def __iter__(self) -> Iterator[str]:
            return iter(self.words)

        def __len__(self) -> int:
            return len(self.words)

        def __contains__(self, word: object) -> bool:
            return word in self.words

        def __repr__(self) -> str:
            return "Words()"

    padding = ["zzz"] * 2000
    kinds: list[Callable[..., object]] = [
        lambda *words: list(words),
        lambda *words: tuple(words),
        lambda *words: set(words),
        lambda *words: frozenset(words),
        lambda *words: dict.fromkeys(words).keys(),
        Words,
        lambda *words: np.array([*padding, *words, *padding]),
    ]
    for kind in kinds:
        assert tiny.sanitize("the and", deny=kind("the")).text.endswith(" and")
        assert tiny.sanitize("the and", deny=kind("and")).text.startswith("the ")
        for deny, place in ((kind("the"), the), (kind("and"), and_), (kind("the", "and"), the)):
            assert not tiny._plan({"deny": deny}).keepable[place]


def test_an_iterator_of_denied_words_is_taken_or_refused(tiny: Sanitizer, keep_all: None) -> None:
    """It can be read only once; read twice it would deny nothing, and say nothing."""
    for word in ("the", "and", "of"):
        for deny in (iter([word]), map(str.lower, [word]), (spelled for spelled in [word])):
            try:
                out = tiny.sanitize("the and of", deny=deny).text.split()  # type: ignore[typeddict-item]
            except OptionError:
                continue
            assert word not in out
            assert len({"the", "and", "of"} & set(out)) == 2


def test_a_changed_collection_is_read_again(tiny: Sanitizer, keep_all: None) -> None:
    denied = ["zzz"]
    assert tiny.sanitize("the", deny=denied).text == "the"
    denied.append("the")
    assert tiny.sanitize("the", deny=denied).text != "the"


def test_many_different_options_do_not_pile_up(tiny_path: Path) -> None:
    fresh = Sanitizer.load(tiny_path)
    for number in range(100):
        fresh.sanitize("the", mechanism="krr", epsilon=f"1.{number}")
    assert len(fresh._plans) <= 16


def test_public_names() -> None:
    text = {"PrivacyStatement", "Result", "Sanitizer", "TextveilError", "__version__"}
    assert set(textveil.__all__) == text | {"Encoder", "VectorRelease", "VectorStatement"}
