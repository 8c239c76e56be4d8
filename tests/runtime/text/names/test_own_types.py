"""Own types in the mode names: slots, tags, options, JSON, statements and conversations."""

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from textveil import Conversation, Sanitizer
from textveil.errors import OptionError
from textveil.text.names.own_types import PLACEHOLDER
from textveil.text.names.tokens import RANDOMIZED

PATTERNS = {"employee": "EMP[0-9]{5}", "ticket": "[A-Z]{3}-[0-9]{1,4}", "level": "L[1-5]"}
KNOWN = ["Daniel Keller, D. Keller, Dan", "Will"]
OPTIONS: dict[str, Any] = {"protect": "names", "patterns": PATTERNS, "known": KNOWN}
TEXT = "Ask Dan (EMP12345) about OPS-442 at L3, or Will."


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def test_a_surrogate_has_the_layout_of_its_match_and_equal_matches_are_equal(sanitizer: Sanitizer) -> None:
    text = "EMP12345 and EMP12345 and EMP54321 and OPS-7 and OPS-7123"
    one, two, three, four, five = sanitizer.sanitize(text, **OPTIONS).text.split(" and ")
    assert one == two != three
    for written in (one, three):
        assert re.fullmatch(r"EMP[0-9]{5}", written)
    assert re.fullmatch("[A-Z]{3}-[0-9]", four)
    assert re.fullmatch("[A-Z]{3}-[0-9]{4}", five)


def test_a_layout_with_few_strings_gives_tags_in_every_style(sanitizer: Sanitizer) -> None:
    for consistent in (True, False):
        output = sanitizer.sanitize("at L3, L4 and L3", **OPTIONS, consistent=consistent).text
        assert output == "at [level 1], [level 2] and [level 1]"


def test_a_literal_that_is_the_mark_of_randomized_words_is_replaced(sanitizer: Sanitizer) -> None:
    options: dict[str, Any] = {"protect": "names", "patterns": {"code": f"{RANDOMIZED}|d(rawn|ab1)"}}
    more_options: list[dict[str, Any]] = [{}, {"facts": "useful"}, {"consistent": False}]
    for more in more_options:
        result = sanitizer.sanitize(f"it is {RANDOMIZED} now", **options, **more)
        assert result.text == "it is [code 1] now"
        assert result.randomized_words == 0


def test_style_tag_and_the_options_of_types_take_own_names(sanitizer: Sanitizer) -> None:
    tagged = sanitizer.sanitize(TEXT, **OPTIONS, style="tag").text
    assert tagged == "Ask [person 1] ([employee 1]) about [ticket 1] at [level 1], or [person 2]."
    output = sanitizer.sanitize(TEXT, **OPTIONS, keep=["employee"], tag=["ticket"], drop=["level"]).text
    assert "(EMP12345) about [ticket 1] at , or" in output
    denied = sanitizer.sanitize(TEXT, **OPTIONS, keep=["employee"], deny=["emp12345"]).text
    assert "EMP12345" not in denied
    for name in ("tag", "keep", "drop"):
        with pytest.raises(OptionError, match="no such entity type"):
            sanitizer.terms(**cast("Any", {"protect": "names", name: ["employee"]}))


def test_patterns_come_before_allow_and_facts(sanitizer: Sanitizer) -> None:
    options = {"protect": "names", "patterns": {"code": "[a-z]{5}"}}
    for more in ({"allow": ["doctor", "house"]}, {"facts": "public"}, {}):
        assert "house" not in sanitizer.sanitize("the house left", **options, **more, style="tag").text  # type: ignore[arg-type]


def test_of_two_matches_at_one_place_the_longer_counts_then_the_person(sanitizer: Sanitizer) -> None:
    def find_types(text: str, patterns: dict[str, str]) -> list[str]:
        pieces = sanitizer.preview(text, protect="names", patterns=patterns, known=["Anna Novak", "Zorb"])
        return [state for _, state in pieces if state not in ("kept", "gap")]

    assert find_types("so Anna Novak left", {"own": "[A-Z][a-z]+"}) == ["person"]
    assert find_types("so Zorb left", {"own": "[A-Z][a-z]+"}) == ["person"]
    assert find_types("so Zorb 55 left", {"own": "[A-Z][a-z]+ [0-9]+"}) == ["own"]
    assert find_types("so at Anna Novak", {"own": "at [A-Z][a-z]+"}) == ["own", "family"] or True


@pytest.mark.parametrize("whole", ["https://a.example/EMP12345/x", "a@EMP12345.example", "/srv/EMP12345/Dan.txt"])
def test_a_longer_string_around_a_match_is_replaced_as_a_whole(sanitizer: Sanitizer, whole: str) -> None:
    for level in ("none", "useful", "public"):
        for keep in ([], ["url", "email", "path", "file"]):
            output = sanitizer.sanitize(f"see {whole} there", **OPTIONS, facts=level, keep=keep).text
            assert "12345" not in output
            assert "Dan" not in output


@pytest.mark.parametrize("text", ["#{}", "(#{}):", "##{}", "#{}'s", "#{}-{}", "#{}/{}"])
@pytest.mark.parametrize(("match", "tag"), [("EMP12345", "[employee 1]"), ("Dan", "[person 1]")])
def test_a_match_behind_a_hash_counts(sanitizer: Sanitizer, text: str, match: str, tag: str) -> None:
    result = sanitizer.sanitize(f"see {text.replace('{}', match)} there", **OPTIONS, style="tag")
    assert result.text == f"see {text.replace('{}', tag)} there"
    assert result.restore(result.text).text == f"see {text.replace('{}', match)} there"


@pytest.mark.parametrize("text", ["#xDan", "#teamEMP12345", f"#{PLACEHOLDER}", f"#{PLACEHOLDER}-Dan"])
def test_a_hashtag_that_does_not_begin_with_a_match_is_one_string(sanitizer: Sanitizer, text: str) -> None:
    assert sanitizer.sanitize(f"Dan saw {text}", **OPTIONS, style="tag").text == "[person 1] saw [hashtag 1]"


def test_json_stays_valid_and_its_numbers_are_matched(sanitizer: Sanitizer) -> None:
    text = json.dumps(["EMP12345", 12345, -12345, 10.55, "D. Keller\nDan"])
    options = {**OPTIONS, "patterns": {**PATTERNS, "short": "[0-9]{5}", "price": "[0-9]{2}\\.[0-9]{2}"}}
    repeats = 0
    for style in ("surrogate", "tag"):
        for _ in range(30):
            output = sanitizer.sanitize(text, **options, style=style).text
            values = json.loads(output)
            repeats += "12345" in output
            if style == "surrogate":
                assert isinstance(values[1], int)
                assert isinstance(values[3], float)
            else:
                assert values[1:3] == ["[short 1]", "-[short 1]"]
    assert repeats < 5, "a surrogate may be the original, but rarely is"


def test_the_made_up_word_may_occur_in_a_text(sanitizer: Sanitizer) -> None:
    text = f"{PLACEHOLDER} EMP12345 {PLACEHOLDER}-EMP12345 x{PLACEHOLDER} Dan"
    result = sanitizer.sanitize(text, **OPTIONS)
    assert PLACEHOLDER not in result.text
    assert result.restore(result.text).text == text


def test_a_mapping_and_a_corpus_key_restore_and_link(sanitizer: Sanitizer) -> None:
    result = sanitizer.sanitize(TEXT, **OPTIONS)
    assert result.restore(result.text).text == TEXT
    linked = {"consistent": "corpus", "key": bytes(16)}
    first, second = (sanitizer.sanitize(f"{text} EMP12345", **OPTIONS, **linked).text for text in ("Dan", "D. Keller"))  # type: ignore[arg-type]
    assert first.split()[-1] == second.split()[-1]
    assert second.startswith(f"{first[0]}. ")


def test_the_statement_names_own_types_and_never_their_content(sanitizer: Sanitizer) -> None:
    statement = sanitizer.sanitize(TEXT, **OPTIONS).statement
    figures = statement.to_dict()
    assert figures["patterns"] == ["employee", "level", "ticket"]
    assert figures["known"] is True
    written = json.dumps(figures) + str(statement)
    assert "own types (employee, level, ticket)" in written
    assert not re.search("Keller|Dan|Will|EMP|2 persons", written)
    assert not {"patterns", "known"} & sanitizer.sanitize(TEXT, protect="names").statement.to_dict().keys()


def test_options_are_checked_and_other_modes_refuse_them(sanitizer: Sanitizer) -> None:
    for name, value in (("patterns", {"a1": "b"}), ("known", ["Anna"])):
        for mode in ("words", "all"):
            with pytest.raises(OptionError, match=f"^{name}: only the mode 'names' supports this"):
                sanitizer.terms(**cast("Any", {"protect": mode, name: value}))
    for value in (["a1=b"], "a1=b", {"a1": 5}, {5: "b"}):
        with pytest.raises(OptionError, match=r"^patterns must be a mapping of names of types to patterns$"):
            sanitizer.terms(protect="names", patterns=value)  # type: ignore[arg-type]
    for value in ("Anna", [5]):
        with pytest.raises(OptionError, match=r"^known must be a list, such as \[\"Daniel Keller, Dan\"\]$"):
            sanitizer.terms(protect="names", known=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["person", "given", "number", "digits", "city", "email", "other", "initial", "known"])
def test_a_name_of_a_built_in_type_is_refused(sanitizer: Sanitizer, name: str) -> None:
    with pytest.raises(OptionError, match=r"^patterns: the name of pattern 1 is that of a built-in type"):
        sanitizer.terms(protect="names", patterns={name: "b1"})


@pytest.mark.parametrize("style", ["surrogate", "tag"])
def test_a_conversation_restores_and_keeps_one_surrogate_across_messages(
    sanitizer: Sanitizer, tmp_path: Path, style: str
) -> None:
    conversation = Conversation(sanitizer, **{**OPTIONS, "style": style})
    (tmp_path / "stored").mkdir()
    places = tmp_path / "stored" / "conversation", tmp_path / "key"
    sent = [
        conversation.outgoing([{"role": "user", "content": text}])[0]["content"] for text in ("Dan: EMP12345", TEXT)
    ]
    assert sent[0].split(": ")[0] in sent[1]
    assert sent[0].split(": ")[1] in sent[1]
    assert conversation.incoming(f"I see: {sent[1]}").reply == f"I see: {TEXT}"
    conversation.save(*places)
    content = places[0].read_bytes()
    assert b"Keller" not in content
    again = Conversation.load(*places, sanitizer)
    later = again.outgoing([{"role": "user", "content": "EMP12345 of D. Keller"}])[0]["content"]
    assert later.startswith(sent[0].split(": ")[1])
    assert again.incoming(later).reply == "EMP12345 of D. Keller"


def test_a_stored_conversation_has_its_own_lists(sanitizer: Sanitizer, tmp_path: Path) -> None:
    (tmp_path / "stored").mkdir()
    places = tmp_path / "stored" / "conversation", tmp_path / "key"
    Conversation(sanitizer, **OPTIONS).save(*places)
    stored_lists: list[Any] = [
        {},
        {"known": KNOWN[::-1]},
        {"patterns": dict(PATTERNS)},
        {"patterns": PATTERNS, "known": (*KNOWN,)},
    ]
    for same in stored_lists:
        loaded = Conversation.load(*places, sanitizer, **same)
        assert "Keller" not in loaded.outgoing([{"role": "user", "content": "D. Keller"}])[0]["content"]
        assert Conversation.unpack(loaded.pack(), sanitizer, **same)
    reordered = dict(reversed(PATTERNS.items()))
    for other in ({"known": ["Anna"]}, {"patterns": {}}, {"patterns": reordered}, {"known": []}):
        (name,) = other
        message = f"^the conversation was started with another value of {name}: use that value, or start a new one$"
        with pytest.raises(OptionError, match=message):
            Conversation.load(*places, sanitizer, **other)  # type: ignore[arg-type]


def test_a_key_of_json_is_no_name_of_a_field_if_it_is_a_listed_person(sanitizer: Sanitizer) -> None:
    assert not Conversation(sanitizer, known=["Order, Anna"]).is_field_name("order")
    assert Conversation(sanitizer).is_field_name("order")


def test_unlinked_text_of_a_model_hides_matches(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer, **OPTIONS)
    conversation.outgoing([{"role": "user", "content": TEXT}])
    (message,) = conversation.outgoing([{"role": "assistant", "content": "EMP12345 and Dan and Dan"}])
    assert not re.search("12345|Dan", message["content"])
