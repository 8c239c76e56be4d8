"""Options of ``Sanitizer``: kept and denied words, refused values, and plans that are cached between calls."""

import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import textveil
from textveil import Sanitizer, TextveilError, errors
from textveil.errors import OptionError, UnknownLevel, UnknownMechanism
from textveil.text.sanitizer import make_plan
from textveil.text.token_rules.every_word import EveryWordRule

# --- kept words ----------------------------------------------------------------------------------------------------


def test_a_common_word_is_kept_with_its_case(tiny: Sanitizer, keep_all: None) -> None:
    out = tiny.sanitize("The THE the doctor").text.split()
    assert out[:3] == ["The", "THE", "the"]


def test_a_merged_spelling_prints_its_representative(make_bundle: Callable[..., Path], keep_all: None) -> None:
    merged = Sanitizer.load(make_bundle(allow=["colour"]))
    assert merged.bundle.symbol_ids["color"] == merged.bundle.symbol_ids["colour"]
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
    """The coin is for words. A rule that takes a mark for a whole word prints it as it was."""
    if faulty:
        mark = EveryWordRule.classify_mark
        monkeypatch.setattr(EveryWordRule, "classify_mark", lambda *given: mark(*given)._replace(is_whole=True))
    assert (tiny.sanitize(",", sanitize_punctuation=True).text == ",") == faulty


def test_strings_are_never_looked_up(make_bundle: Callable[..., Path], keep_all: None) -> None:
    """For any vocabulary a string with digits or an at sign is unknown (``segmentation.is_string``)."""
    odd = Sanitizer.load(make_bundle(["b2b", "the", "@the", "doctor", "nurse", "piano", "marble", "river"], k=2))
    for string in ("b2b", "@the"):
        assert odd.sanitize(string).text not in ("b2b", "@the")


# --- options -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"mechanism": "canary"}, UnknownMechanism),
        ({"epsilon": "canary"}, OptionError),
        ({"epsilon": 17.25}, UnknownLevel),
        ({"epsilon": "nan"}, OptionError),
        ({"epsilon": "inf"}, OptionError),
        ({"epsilon": "snan"}, OptionError),
        ({"epsilon": True}, OptionError),
        ({"level": "low"}, OptionError),
        ({"case": "drop"}, OptionError),
        ({"split": True}, OptionError),
        ({"replacement_probability": "canary"}, OptionError),
        ({"mechanism": "santext", "replacement_probability": "0.3"}, OptionError),
        ({"mechanism": "santext", "deny": ["canary"]}, OptionError),
        ({"mechanism": "krr"}, OptionError),
        ({"mechanism": "krr", "epsilon": 0}, OptionError),
        ({"mechanism": "krr", "epsilon": -1}, OptionError),
        ({"mechanism": "krr", "epsilon": 30.001}, OptionError),
        ({"mechanism": "random", "epsilon": 1}, OptionError),
        ({"deny": "canary"}, OptionError),
        ({"deny": ["the", 5]}, OptionError),
        ({"deny": 5}, OptionError),
    ],
    ids=str,
)
@pytest.mark.parametrize("text", ["the doctor", ""])
def test_options_are_checked(tiny: Sanitizer, options: dict[str, Any], error: type[TextveilError], text: str) -> None:
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
    with pytest.raises(UnknownLevel, match=r"^no such level: 5; santext\+ has the levels 4, 16$"):
        tiny.sanitize("the", epsilon=5)
    with pytest.raises(UnknownMechanism, match=r"santext, santext\+, random, krr, fbdd$"):
        tiny.sanitize("the", mechanism="x")
    for call in (
        lambda **unknown: tiny.sanitize("the", **unknown),
        lambda **unknown: make_plan(tiny.bundle, **unknown),
    ):
        with pytest.raises(OptionError, match=r"^unknown option: choose among mechanism, .*, sanitize_punctuation$"):
            call(permit=["doctor"])
        for name, suggested in (("styles", "style"), ("Keep", "keep"), ("fact", "facts"), ("protec", "protect")):
            with pytest.raises(OptionError, match=rf"^unknown option: did you mean {suggested}\?$"):
                call(**{name: "doctor"})
        with pytest.raises(OptionError, match=r"^unknown option: choose among "):
            call(keep=["city"], keeep=["city"])


def test_errors_suggest_a_similar_value(english: Sanitizer) -> None:
    for name, typed, suggested in (
        ("facts", "usefu", "useful"),
        ("style", "tags", "tag"),
        ("protect", "word", "words"),
    ):
        with pytest.raises(OptionError, match=rf"^{name} must be one of .*; did you mean {suggested}\?$"):
            english.sanitize("the", **{name: typed})  # type: ignore[arg-type]
        with pytest.raises(OptionError, match=rf"^{name} must be one of [a-z, ]*$"):
            english.sanitize("the", **{name: "zzz"})  # type: ignore[arg-type]
    with pytest.raises(UnknownMechanism, match=r"^unknown mechanism: did you mean staircase\?$"):
        english.sanitize("the", mechanism="starcase")


# --- plans are kept, texts are not ---------------------------------------------------------------------------------


def test_no_text_is_kept_between_calls(tiny_path: Path) -> None:
    """No object that a sanitizer references stores a word of an earlier text."""
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
    the, and_ = tiny.bundle.symbol_ids["the"], tiny.bundle.symbol_ids["and"]

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
    kinds: list[Callable[..., Any]] = [
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
            assert not tiny._get_plan({"deny": deny}).mechanism.is_keepable[place]  # type: ignore[attr-defined]


def test_an_iterator_of_denied_words_is_taken_or_refused(tiny: Sanitizer, keep_all: None) -> None:
    """An iterator can be read only once; a second reading would silently deny nothing."""
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
    text = {"Options", "PrivacyStatement", "Result", "Sanitizer", "TextveilError", "__version__"}
    vectors = {"Encoder", "VectorRelease", "VectorStatement"}
    indices = {"TextLabelEncoder", "LabelRelease", "LabelStatement"}
    known = {name for name, found in vars(errors).items() if isinstance(found, type)}
    conversations = {"Conversation", "RestoredReply", "Restored", "RestoreReport"}
    assert set(textveil.__all__) == text | vectors | indices | conversations | known | {"Budget", "Ledger"}


@pytest.mark.parametrize("mechanism", ["staircase", "santext+", "santext", "krr"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("sanitize_punctuation",) for value in ("no", 0, 1, [], "true")),
        *((name, value) for name in ("consistent",) for value in ("no", 1)),
        *((name, value) for name in ("mechanism",) for value in (5, True, ["weak"], b"weak")),
        *(
            (name, value)
            for name in ("epsilon", "replacement_probability")
            for value in (True, [4], b"4", 1j, object())
        ),
        ("deny", "word"),
        ("deny", [5]),
        ("protect", 5),
        ("unknown", 1),
    ],
)
def test_values_of_another_type_are_named_errors(english: Sanitizer, mechanism: str, name: str, value: object) -> None:
    for call in (english.sanitize, english.distribution):
        with pytest.raises(OptionError) as caught:
            call("secretword", **{"mechanism": mechanism, name: value})  # type: ignore[arg-type]
        assert "secretword" not in str(caught.value)


@pytest.mark.parametrize("options", [{"expect_id": 5}, {"max_bytes": "5"}, {"max_bytes": 0}, {"max_bytes": True}])
def test_loading_with_another_type(english: Sanitizer, options: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        Sanitizer.load(english.bundle.path, **options)  # type: ignore[arg-type]


def test_another_process_gets_no_options_of_earlier_calls(tiny: Sanitizer) -> None:
    """A pickled or copied sanitizer had the words in it that were denied before."""
    sanitizer = Sanitizer(tiny.bundle)
    for options in ({"deny": ["zorblax"]}, {"mechanism": "santext+", "deny": ["zorblax"]}):
        sanitizer.sanitize("the quidditch doctor", **options)  # type: ignore[arg-type]
    for given in (pickle.dumps(sanitizer), pickle.dumps(copy.copy(sanitizer)), pickle.dumps(copy.deepcopy(sanitizer))):
        assert b"zorblax" not in given
        assert b"quidditch" not in given
    assert pickle.loads(pickle.dumps(sanitizer)).sanitize("doctor").tokens == 1
