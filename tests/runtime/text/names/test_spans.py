"""The context of a word decides whether the mode ``names`` keeps it."""

import re

import pytest
from textveil import Sanitizer
from textveil.text.names.plan import NamesPlanFactory


@pytest.fixture(scope="module")
def plans() -> NamesPlanFactory:
    return NamesPlanFactory(Sanitizer.load().bundle)


def slots(plans: NamesPlanFactory, text: str) -> str:
    """Return a text with the type of each slot in its place."""
    (read,) = plans.make_plan({"facts": "none"}).make_reader().read_texts([text])
    return "".join(entry if isinstance(entry, str) else f"<{entry.entity_type}>" for entry in read.elements)


@pytest.mark.parametrize("apostrophe", ["\u2019", "\u2018", "\u02bc"])
def test_every_apostrophe_keeps_the_same_words(plans: NamesPlanFactory, apostrophe: str) -> None:
    """Phones and word processors write other apostrophes than keyboards; the output has the original character."""
    words = [word for word in plans._lists.common_words if "'" in word[1:-1]]
    assert len(words) > 70
    texts = ["I'm sure we'll see, don't go.", "They'Re here and It'S Anna's", "Zorbl's dog, zorbl's dog"]
    for word in [*words, *plans._lists.kept_capitals]:
        texts += (f"so {word} is", f"{word.capitalize()} it is so", f"We see {word.upper()} now", f"{word} so")
    reader = plans.make_plan({"facts": "none"}).make_reader()  # each reads the lists anew
    for text in texts:
        straight, other = (
            "".join(
                entry if isinstance(entry, str) else f"<{entry.entity_type}>"
                for entry in reader.read_texts([spelled])[0].elements
            )
            for spelled in (text, text.replace("'", apostrophe))
        )
        assert other == straight.replace("'", apostrophe)


@pytest.mark.parametrize("end", ["", " ", "-", ".", " on"])
def test_years_without_old_are_no_age(plans: NamesPlanFactory, end: str) -> None:
    """This also holds if the text ends after a blank or a hyphen."""
    assert slots(plans, f"he was there 45 years{end}") == f"he was there <number> years{end}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("he left\nNotes: none", "he left\nNotes: none"),
        ("he left\n\nNotes none", "he left\n\nNotes none"),
        ("he left\nNotes none", "he left\n<word> none"),
        ("he left, Notes: none", "he left, <word>: none"),
        ("he has it. Notes none", "he has it. Notes none"),
        ("he left. (Notes none)", "he left. (Notes none)"),
        ("he left.) -Notes none", "he left.) -<word> none"),
        ("he and i. Notes none", "he and i. <word> none"),
    ],
)
def test_where_a_sentence_starts(plans: NamesPlanFactory, text: str, expected: str) -> None:
    """At the start of a sentence a common word may have a capital."""
    assert slots(plans, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("she lives at SW1A 1AA, or m1 1ae.", "she lives at <postcode>, or <postcode>."),
        ("room SW1A or 1AA here", "room <id> or <id> here"),
        ("Zorbl Ltd. answered Zorbl, Inc., and left", "<organization> answered <organization>, and left"),
        ("he saw Zorbl Co. Ltd. Novak left", "he saw <organization>. <family> left"),
        ("the 5, Ltd, is", "the <number>, <organization>, is"),
        ("LONDON (AP) it said", "<city> (<acronym>) it said"),
        ("he likes Marks & Spencer", "he likes <organization>"),
        ("he works at google in europe", "he works at <acronym> in <city>"),
    ],
)
def test_kinds_of_codes_and_firms(plans: NamesPlanFactory, text: str, expected: str) -> None:
    assert slots(plans, text) == expected


@pytest.mark.parametrize("apostrophe", ["'", "\u2019", "\u2018", "\u02bc"])
def test_a_lone_clitic_is_a_word(plans: NamesPlanFactory, apostrophe: str) -> None:
    """Tokenizers write a blank before it; marks follow it directly or after a blank."""
    for text in ("they 're here , we 'll see, i 've .", "it 's late, i 'm so, he 'd go 've", "they do n't go"):
        spelled = text.replace("'", apostrophe)
        assert slots(plans, spelled) == spelled


def test_a_quoted_word_is_no_clitic(plans: NamesPlanFactory) -> None:
    assert slots(plans, "the 'zorbl' and 'red' and 'M. Novak") == "the '<word>' and 'red' and '<person>"
    (read,) = plans.make_plan({"deny": ["re"]}).make_reader().read_texts(["they 're here"])
    assert [entry.entity_type for entry in read.elements if not isinstance(entry, str)] == ["word"]


def test_an_expression_with_a_sign_is_kept_whole(plans: NamesPlanFactory) -> None:
    """Other letters with a slash between are slots of their own."""
    for text in ("it is n/a there", "a car w/o keys", "sent C/O the bank", "the I/O of it", "a Q&A there"):
        assert slots(plans, text) == text
    assert slots(plans, "it is k/q there") == "it is <letter>/<letter> there"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("To: Anna Hope, Ben Price, Tom Wise", "To: <R>, <R>, <R>"),
        ("TO: ANNA HOPE, BEN PRICE", "TO: <R>, <R>"),
        ("Team: Anna Novak; Ben Hope; Tom Wise; Eve Kovac", "Team: <R>; <R>; <R>; <R>"),
        ("Anna Hope and Ben Love, Tom Day, Eve Kovac", "<R> and <R>, <R>, <R>"),
        ("To: Anna Hope Kovac, Ben Price, Tom Wise", "To: <R>, <R>, <R>"),
        ("With Mr. Hope, Mr. Price, Mr. Wise, Mr. Day, Mr. Good, Mr. Short", "With " + ", ".join(["<R>. <R>"] * 6)),
        ("Hope, Daniel; Hope, Anna; Nice, Tom; Love, Eve", "<R>, <R>; <R>, <R>; Nice, <R>; Love, <R>"),
        ("HOPE, DANIEL\nHope, Anna called\nThe Hope, Anna", "<R>, <R>\n<R>, <R> called\nThe <R>, <R>"),
        ("To: Hope\nHope Young came\nRe: Hope Young, DOB\nHope: yes", "To: <R>\n<R> came\nRe: <R>, DOB\n<R>: yes"),
        ("Hope you are well. Hope this helps", "Hope you are well. Hope this helps"),
        ("Today, Daniel called. Hope, Mr. Novak left", "Today, <R> called. <R>, <R>. <R> left"),
        ("Love, she called. Love; Daniel", "Love, she called. Love; <R>"),
        ("Kovac Makes New Plan For The Great House Today", "<R> Makes New Plan For The Great House Today"),
        ("New Plan For The Great House Of Kovac Today", "New Plan For The Great House Of <R>"),
        ("I SAW ANNA KOVAC AND THE HOUSE", "I SAW <R> AND THE HOUSE"),
        ("ANNA HOPE WITH BEN PRICE, BANK OF BOSTON NOW", "<R> WITH <R>, <R> NOW"),
        ("I LIVE IN BOSTON NEAR KOVAC STREET", "I LIVE IN <R> NEAR <R>"),
    ],
)
def test_surnames_of_a_headline_are_replaced(plans: NamesPlanFactory, text: str, expected: str) -> None:
    """A list of persons is a headline too; a surname that is a common word is replaced behind a replaced word."""
    assert re.sub("<[a-z]+>", "<R>", slots(plans, text)) == expected
