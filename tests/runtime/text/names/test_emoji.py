"""Emoji sequences of Unicode's list without a skin tone stay; every other sequence is replaced as one."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textveil import Conversation, Sanitizer
from textveil.text.names.emoji import (
    EMOJI,
    KEYCAP,
    SKIN_TONES,
    classify_sequence,
    count_emoji_surrogates,
    find_sequences,
    make_emoji_surrogate,
)

LIST = Path(__file__).parents[4] / "docs" / "golden" / "emoji" / "sequences.txt"
TONE = re.compile(f"[{SKIN_TONES}]")
#: Sequences of no list: flags of any letters, tags, selectors, tones and joiners of nothing, keys that are joined.
ODD = [
    "🇩", "🇦🇳🇳🇦",
    "🏴\U000e0061\U000e007f", "👍\ufe0e", "👍\ufe0f\ufe0f", "👍🏽🏽", "🏽", "😀🏽", "👍\u200d", "👍\u200d👍",
    "👩\u200d👩", "👩🏽\u200d⚕\ufe0e", "5\ufe0f\u20e3\u200d👍", "👍\u20e3", "👍\U000e0041",
]  # fmt: skip


def classes() -> dict[str, list[str]]:
    """Return the sequences of Unicode's list by class."""
    found: dict[str, list[str]] = {}
    for line in LIST.read_text("utf-8").splitlines():
        found.setdefault(line[2:], []) if line.startswith("# ") else found[[*found][-1]].append(line)
    return found


CLASSES = classes()
LISTED = {s for name in ("Basic_Emoji", "RGI_Emoji_Modifier_Sequence", "RGI_Emoji_ZWJ_Sequence") for s in CLASSES[name]}
LISTED -= set(SKIN_TONES)


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def test_the_list_has_all_classes() -> None:
    assert {name: len(found) for name, found in CLASSES.items()} == {
        "Basic_Emoji": 1400,
        "RGI_Emoji_Modifier_Sequence": 665,
        "RGI_Emoji_ZWJ_Sequence": 1614,
        "Emoji_Keycap_Sequence": 12,
        "RGI_Emoji_Flag_Sequence": 259,
        "RGI_Emoji_Tag_Sequence": 3,
    }


@pytest.mark.parametrize("name", CLASSES)
def test_each_listed_sequence_is_one_and_of_its_kind(name: str) -> None:
    for sequence in CLASSES[name]:
        assert [match[0] for match in find_sequences(f"a{sequence}b{sequence}")] == [sequence, sequence]
        kind, layout = classify_sequence(sequence)
        if sequence not in LISTED:
            assert (kind, layout) == (KEYCAP if name.startswith("Emoji_Keycap") else EMOJI, "")
        else:
            assert (kind != "") == (layout != "") == bool(TONE.search(sequence))


def _written(parts: Iterator[tuple[str, ...]]) -> Iterator[str]:
    for chosen in parts:
        yield "\u200d".join(chosen)


@pytest.mark.full
def test_nothing_else_is_listed() -> None:
    """The test tries all pairs and triples, and some quadruples, of parts of listed sequences; U+FE0F is optional."""
    bare = {sequence.replace("\ufe0f", "") for sequence in LISTED}
    bare |= {
        re.sub(TONE, tone, sequence) for sequence in bare if len(TONE.findall(sequence)) == 2 for tone in SKIN_TONES
    }
    plain = {TONE.sub(SKIN_TONES[0], sequence) for sequence in bare}
    parts = sorted({part for sequence in LISTED for part in TONE.sub(SKIN_TONES[0], sequence).split("\u200d")})
    joined = sorted({part for s in LISTED if "\u200d" in s for part in TONE.sub(SKIN_TONES[0], s).split("\u200d")})
    last = sorted({part for s in LISTED if "\u200d" in s for part in TONE.sub(SKIN_TONES[0], s).split("\u200d")[1:]})
    people = ["👨", "👩", "🧑", "👦", "👧", "🧒", "👨🏻", "👩🏻", "🧑🏻", "💋", "❤️", "🤝", "➡️", "♂️", "🐰", "👶"]
    texts = itertools.chain(
        parts,
        _written(itertools.product(parts, last)),
        _written(itertools.product(joined, last, people)),
        _written(itertools.product(people, people, people, people)),
    )
    for text in texts:
        kind, layout = classify_sequence(text)
        assert (kind == "" or layout != "") == (text.replace("\ufe0f", "") in plain and text in _forms(text)), text


def _forms(text: str) -> set[str]:
    """Return the text if every U+FE0F in it is listed or follows a single character."""
    selected = {part for sequence in LISTED for part in sequence.split("\u200d") if part.endswith("\ufe0f")}
    ends = [part for part in text.split("\u200d") if part.endswith("\ufe0f")]
    return {text} if "\u200d" not in text or selected.issuperset(ends) else set()


def test_surrogates_are_listed_and_never_the_box() -> None:
    layouts = {classify_sequence(sequence)[1] for sequence in LISTED} - {""}
    for layout in layouts:
        made = {make_emoji_surrogate(layout, number) for number in range(count_emoji_surrogates(layout))}
        assert len(made) == count_emoji_surrogates(layout) in (5, 20)
        assert made <= LISTED
        assert {classify_sequence(one) for one in made} == {(EMOJI, layout)}
    spare = {make_emoji_surrogate("", number) for number in range(count_emoji_surrogates(""))}
    assert len(spare) == count_emoji_surrogates("") >= 200  # so equal ones become equal
    assert spare <= LISTED  # and are kept when they are read again
    assert {classify_sequence(one) for one in spare} == {("", "")}


@pytest.mark.parametrize("sequence", ODD, ids=ascii)
def test_any_other_sequence_is_one_slot(sanitizer: Sanitizer, sequence: str) -> None:
    assert [match[0] for match in find_sequences(f"ab{sequence}cd")] == [sequence]
    assert classify_sequence(sequence) == (EMOJI, "")
    for text in (sequence, f"so {sequence} it is", f"so{sequence}it"):
        result = sanitizer.sanitize(text, protect="names")
        assert not set(sequence) & set(result.text) - {"\ufe0f"}
        assert "\u25a1" not in result.text
        assert result.restore(result.text) == text


@pytest.mark.parametrize("style", ["surrogate", "tag"])
@pytest.mark.parametrize("name", CLASSES)
def test_each_class_alone_and_in_words_goes_out_and_comes_back(sanitizer: Sanitizer, name: str, style: str) -> None:
    for sequence in [s for s in CLASSES[name] if s not in SKIN_TONES][::23]:
        conversation = Conversation(sanitizer, protect="names", style=style)
        for text in (f"great {sequence} work", f"great{sequence}work, {sequence}{sequence}!"):
            kept = classify_sequence(sequence)[0] == ""
            result = sanitizer.sanitize(text, protect="names", style=style)
            assert (result.text == text) is kept or sequence in result.text  # a tone may come out for itself
            assert "\u25a1" not in result.text
            if name != "Emoji_Keycap_Sequence":  # a digit alone is restored beside words alone
                assert result.restore(result.text) == text
                assert conversation.incoming(conversation.outgoing_text(text)).reply == text


def test_lone_joiners_and_selectors_are_replaced(sanitizer: Sanitizer) -> None:
    for lone in ("\u200d", "\ufe0e", "\ufe0f", "\u20e3", "\U000e0041"):
        result = sanitizer.sanitize(f"so {lone} it \u200d👍 is", protect="names")
        assert lone not in result.text
        assert "👍 is" in result.text
        assert result.restore(result.text) == f"so {lone} it \u200d👍 is"


def test_names_and_numbers_beside_emoji_are_read_as_alone(sanitizer: Sanitizer) -> None:
    result = sanitizer.sanitize("thanks👍Tadzio🇵🇱 and 5👍7", protect="names", facts="none")
    assert re.fullmatch("thanks👍[^ 👍]+ and [1-9]👍[1-9]", result.text)
    assert "Tadzio" not in result.text
    assert "🇵🇱" not in result.text


def test_keys_are_numbers_to_people(sanitizer: Sanitizer) -> None:
    text = "call 5️⃣5️⃣#️⃣"
    assert sanitizer.sanitize(text, protect="names", keep=["number"]).text == text
    assert sanitizer.sanitize(text, protect="names", style="tag").text == "call [number 1][number 1][number 2]"
    assert re.fullmatch("call (?:[0-9]\ufe0f\u20e3){3}", sanitizer.sanitize(text, protect="names").text)
