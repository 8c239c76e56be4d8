"""Short surrogates are restored where a reply quotes them, for any division of it, and reported elsewhere."""

import pytest
from textveil import Conversation, Sanitizer
from textveil.text.inflections import SurrogatePair
from textveil.text.quotations import cut_after, cut_before
from textveil.text.restore import Restorer
from textveil.text.restore_policy import RestorePolicy

EVERYWHERE = RestorePolicy.parse("all")


def quote(before: str, output: str, original: str, after: str, *, weak: bool = True) -> SurrogatePair:
    return SurrogatePair(
        output,
        original,
        weak=weak,
        before=cut_before(before, is_start=True),
        after=cut_after(after, is_end=True),
    )


PAIRS = [
    SurrogatePair("b", "x", weak=True),
    quote("Solve for ", "b", "x", " in the first line."),
    SurrogatePair("7", "3", weak=True),
    quote("A pump of ", "7", "3", "V and a lamp."),
    quote("\u25a1 ", "\u25a1", "\u2600", " are suns over there."),
]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("> Solve for b in the\n> first line.", "> Solve for x in the\n> first line."),
        ("SOLVE FOR B in THE first line.", "SOLVE FOR X in THE first line."),
        ("Take vitamin b or option b.", "Take vitamin b or option b."),
        ("The letter b in the", "The letter b in the"),
        ("A pump of 7V and a lamp.", "A pump of 3V and a lamp."),
        ("Step 7: a pump of 17V and a lamp, and 7x of 7.", "Step 7: a pump of 17V and a lamp, and 7x of 7."),
    ],
)
def test_a_quotation_is_restored_and_nothing_else(reply: str, expected: str) -> None:
    restorer = Restorer(PAIRS)
    restored = restorer.restore(reply, EVERYWHERE)
    assert restored.text == expected
    for length in (1, 2, 3, 7):
        stream = restorer.open_stream(EVERYWHERE)
        text = "".join(stream.feed(reply[at : at + length]) for at in range(0, len(reply), length)) + stream.close()
        assert (text, stream.report) == (restored.text, restored.report)
    assert Restorer.from_json(restorer.to_json().encode()).restore(reply, EVERYWHERE).report == restored.report


def test_what_is_not_quoted_is_reported() -> None:
    report = Restorer(PAIRS).restore("Step 7, option b.").report
    assert [(stays.written, stays.reason.value) for stays in report.not_restored] == [("7", "word"), ("b", "word")]


def test_equal_quotations_of_different_originals_restore_nothing() -> None:
    pairs = [quote("Solve for ", "b", original, " in the first line.") for original in "xy"]
    restored = Restorer([SurrogatePair("b", "x", weak=True), SurrogatePair("b", "y", weak=True), *pairs]).restore(
        "Solve for b in the first"
    )
    assert restored == "Solve for b in the first"
    assert [stays.reason.value for stays in restored.report.not_restored] == ["ambiguous"]


def test_a_strong_surrogate_needs_both_sides() -> None:
    restorer = Restorer(
        [SurrogatePair("Ruth", "Anna"), quote("Yes. ", "Ruth", "Ask Anna", " about the tickets.", weak=False)]
    )
    assert restorer.restore("Yes. Ruth about the tickets") == "Yes. Ask Anna about the tickets"
    assert restorer.restore("Tell Ruth about the tickets") == "Tell Anna about the tickets"


@pytest.mark.parametrize(
    "text",
    [
        "Let f(x) = x + 3 and g(y) = y - 4, for 2 < x < 9.",
        "A 12V pump, 7x faster, at 50Hz and 3%.",
        "3.",
        "B.",
        "It is DEVICE_ID or device_id, not Device_Id.",
        "On Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday, Monday and Friday we met.",
        "Always format as MM/DD/YYYY in /NT.",
    ],
)
@pytest.mark.parametrize("style", ["tag", "surrogate"])
def test_an_echo_is_the_text(text: str, style: str) -> None:
    sanitizer = Sanitizer.load()
    conversation = Conversation(sanitizer, style=style, restore_places="all")
    assert conversation.incoming(conversation.outgoing_text(text)).reply == text
    result = sanitizer.sanitize(text, protect="names", style=style)
    assert result.restore(result.text, restore_places="all") == text


def test_small_pools_have_no_repeats_while_they_last() -> None:
    text = "Rooms 2, 5, 3, 8, 4, 6, 9, 7 and 1 were full."
    out = Sanitizer.load().sanitize(text, protect="names").text
    digits = [character for character in out if character.isdigit()]
    assert sorted(digits) == sorted(set(digits))
