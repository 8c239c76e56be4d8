"""Listed persons: the list, the forms of spellings, where a spelling is matched, and one surrogate for a person."""

import random
import re
from typing import Any

import pytest
from textveil import Conversation, Sanitizer
from textveil.errors import OptionError

PEOPLE = [
    "# the team",
    "Daniel Keller, D. Keller, Dan Keller, Keller, Dan, DK, keller@acme.example, dkeller7",
    "",
    "Will Stone | Will",
    "Dr. \u00c9lodie van der Berg, van der Berg, \u00c9. van der Berg",
    "Rose O\u2019Brien, O\u2019Brien, Rose O., R. O'Brien",
]


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def sanitize(sanitizer: Sanitizer, text: str, **options: Any) -> Any:
    """Return the result for a text with the listed persons."""
    all_options: dict[str, Any] = {"protect": "names", "known": PEOPLE, **options}
    return sanitizer.sanitize(text, **all_options)


def find_states(sanitizer: Sanitizer, text: str, **options: Any) -> list[str]:
    """Return the parts of a text that are slots of listed persons."""
    all_options: dict[str, Any] = {"known": PEOPLE, **options}
    plan = sanitizer.names_plan(**all_options)
    elements = plan.make_reader().read_texts([text])[0].elements
    return [entry.span.text for entry in elements if not isinstance(entry, str) and entry.span.layout]


def test_all_spellings_of_a_person_get_one_surrogate_person(sanitizer: Sanitizer) -> None:
    text = "Daniel Keller; D. Keller; Keller; Dan; DK; keller@acme.example; Dan Keller; DANIEL KELLER; keller; D Keller"
    whole, dotted, family, given, initials, address, nick, upper, lower, bare = sanitize(sanitizer, text).text.split(
        "; "
    )
    first, last = whole.split(" ")
    assert (dotted, family, given) == (f"{first[0]}. {last}", last, first)
    assert (initials, nick, upper, lower) == (first[0] + last[0], whole, whole.upper(), last.lower())
    assert bare == dotted
    assert address == f"{first}.{last}@example.com".lower()


def test_every_name_of_a_person_gets_one_tag_and_an_address_its_own(sanitizer: Sanitizer) -> None:
    text = "Daniel Keller, D. Keller, Dan, keller@acme.example and dkeller7 know Will, Will Stone and Anna."
    expected = (
        "[person 1], [person 1], [person 1], [email 1] and [handle 1] know [person 2], [person 2] and [person 3]."
    )
    assert sanitize(sanitizer, text, style="tag").text == expected


def test_the_tags_of_addresses_come_back_exactly(sanitizer: Sanitizer) -> None:
    """Each address has a tag of its own, also two of one person; other addresses continue the numbers."""
    known = ["Anna Novak, a.novak@acme.example, anna@home.example | anna_n", "Dan Kell, dan@home.example"]
    text = "Anna Novak: anna@home.example; a.novak@acme.example; anna_n; dan@home.example; x@y.example; Dan Kell"
    result = sanitize(sanitizer, text, known=known, style="tag")
    assert result.text == "[person 1]: [email 1]; [email 2]; [handle 1]; [email 3]; [email 4]; [person 2]"
    assert result.restore("Write to [email 1], [email 2] and [email 3], not to [handle 1] of [person 1].").text == (
        "Write to anna@home.example, a.novak@acme.example and dan@home.example, not to anna_n of Anna Novak."
    )
    repeated = sanitize(sanitizer, "ANNA@HOME.example or anna@home.example", known=known, style="tag")
    assert repeated.text == "[email 1] or [email 1]"
    assert repeated.restore(repeated.text).text == "ANNA@HOME.example or anna@home.example"
    assert sanitize(sanitizer, text, known=known, tag=["person"]).text.count("[email ") >= 3


def test_a_conversation_restores_an_address_of_a_person(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer, known=["Anna Novak, anna@home.example"])
    sent = conversation.outgoing_text("Anna Novak has anna@home.example.")
    assert sent == "[person 1] has [email 1]."
    assert conversation.incoming("Mail [email 1], [person 1]'s.").reply == "Mail anna@home.example, Anna Novak's."
    assert conversation.outgoing_text("Is it anna@home.example?") == "Is it [email 1]?"


@pytest.mark.parametrize(
    "text",
    [
        "Keller's dog", "Keller\u2019s dog", "(Keller)", "Keller-led", "post-Keller", "Keller/Novak", "Keller,Novak",
        "by Keller.", "\u201cKeller\u201d", "name=Keller", "KELLER", "keller", "Ke\u2060y Keller", "a\tKeller",
    ],
)  # fmt: skip
def test_a_spelling_is_found_between_marks(sanitizer: Sanitizer, text: str) -> None:
    (found,) = find_states(sanitizer, text)
    assert found.lower() == "keller"


@pytest.mark.parametrize("text", ["Kellers", "Kellerman", "xKeller", "Keller_x", "Keller7", "Keller\u0301"])
def test_a_spelling_is_never_a_part_of_a_longer_word(sanitizer: Sanitizer, text: str) -> None:
    assert find_states(sanitizer, text) == []


@pytest.mark.parametrize("gap", [" ", "  ", "\t", "\n", "\r\n", " \n ", "\u00a0"])
def test_blanks_and_one_line_break_join_the_words_of_a_name(sanitizer: Sanitizer, gap: str) -> None:
    text = f"We met Daniel{gap}Keller there."
    assert find_states(sanitizer, text) == [f"Daniel{gap}Keller"]
    result = sanitize(sanitizer, text)
    assert result.restore(result.text).text == text


@pytest.mark.parametrize("gap", ["\n\n", ", ", ". ", " - ", ": "])
def test_other_gaps_part_the_words_of_a_name(sanitizer: Sanitizer, gap: str) -> None:
    """The family name is a spelling of its own, the first name is not."""
    assert "Daniel" not in "".join(find_states(sanitizer, f"We met Daniel{gap}Keller there."))


def test_spellings_are_compared_in_look_up_form(sanitizer: Sanitizer) -> None:
    for text in (
        "E\u0301lodie van der Berg",
        "\u00c9LODIE VAN DER BERG",
        "Rose O'Brien",
        "rose o\u02bcbrien",
        "\uff24an",
    ):
        assert find_states(sanitizer, f"Then {text} left.") == [text]


def test_a_title_of_a_spelling_does_not_count(sanitizer: Sanitizer) -> None:
    for text in ("Then Dr. \u00c9lodie van der Berg left.", "Then \u00c9lodie van der Berg left."):
        assert find_states(sanitizer, text) == ["\u00c9lodie van der Berg"]
    assert sanitize(sanitizer, "Dr. Keller", style="tag").text != sanitize(sanitizer, "Keller", style="tag").text


def test_a_common_word_is_a_name_only_with_a_capital(sanitizer: Sanitizer) -> None:
    text = "Will will. WILL will, will Will?"
    assert find_states(sanitizer, text) == ["Will", "WILL", "Will"]
    assert find_states(sanitizer, text, known=["will"]) == ["Will", "will", "WILL", "will", "will", "Will"]


def test_a_listed_person_is_hidden_though_allowed_kept_or_a_fact(sanitizer: Sanitizer) -> None:
    text = "Then Ostrander and the python of Will said it."
    options = {"known": ["Ostrander", "Python", "Will"], "allow": ["Ostrander", "python", "will"], "keep": ["person"]}
    for facts in ("none", "useful", "public"):
        output = sanitize(sanitizer, text, **options, facts=facts, style="tag").text
        assert not re.search("Ostrander|Will", output)
    assert "python" not in sanitize(sanitizer, text, known=["python"], facts="public").text


def test_no_rule_keeps_a_string_with_a_listed_person(sanitizer: Sanitizer) -> None:
    """Without the list, the rules of facts keep both as code."""
    text = "see order.total and x.get.order.value()"
    for level in ("plain", "useful", "public"):
        assert "order" not in sanitize(sanitizer, text, known=["Order, order"], facts=level).text


@pytest.mark.parametrize("style", ["surrogate", "tag"])
def test_a_text_is_restored_exactly_in_all_spellings(sanitizer: Sanitizer, style: str) -> None:
    """What stands around each surrogate differs; else the first listed spelling is restored."""
    chance = random.Random(4)
    spellings = "Daniel Keller|D. Keller|Dan Keller|Keller|Dan|DK|keller@acme.example|DANIEL KELLER|Will|Rose O.".split(
        "|"
    )
    for _ in range(30):
        places = "the doctor saw|a nurse called|we then met|they still like|it was about|there is also".split("|")
        text = ", and ".join(f"{place} {chance.choice(spellings)} at the house" for place in places)
        result = sanitize(sanitizer, text, style=style)
        assert result.restore(result.text).text == text


def test_a_reply_gets_the_first_listed_spelling_of_a_form(sanitizer: Sanitizer) -> None:
    result = sanitize(sanitizer, "Dan Keller asked Daniel Keller, and Dan came.")
    first, last = result.text.split()[:2]
    reply = f"I asked {first} {last} and {first}. Mr. {last} agreed."
    assert result.restore(reply).text == "I asked Daniel Keller and Daniel. Mr. Keller agreed."


@pytest.mark.parametrize("style", ["surrogate", "tag"])
@pytest.mark.parametrize("text", ["daniel keller", "DANIEL KELLER", "daniel Keller", "dan keller", "Daniel Keller"])
def test_a_reply_gets_the_case_of_the_list(sanitizer: Sanitizer, text: str, style: str) -> None:
    """A reply that repeats the words around the name gets the spelling of the text instead."""
    result = sanitize(sanitizer, f"We think {text} complained about the invoice.", style=style)
    name = result.text.removeprefix("We think ").partition(" complained")[0]
    assert result.restore(f"Dear {name if style == 'tag' else name.title()}, hello").text == "Dear Daniel Keller, hello"
    assert result.restore(result.text).text == f"We think {text} complained about the invoice."


@pytest.mark.parametrize("text", ["ana novak", "Ana Novak", "ANA NOVAK"])
@pytest.mark.parametrize("style", ["surrogate", "tag"])
def test_a_name_without_capitals_on_the_list_gets_the_case_of_the_text(
    sanitizer: Sanitizer, text: str, style: str
) -> None:
    result = sanitize(sanitizer, f"We think {text} complained.", style=style, known=["ana novak"])
    name = result.text.removeprefix("We think ").partition(" complained")[0]
    assert result.restore(f"Then {name} left.").text == f"Then {text} left."


def test_a_reply_is_restored_while_it_arrives(sanitizer: Sanitizer) -> None:
    result = sanitize(sanitizer, "Daniel Keller called.")
    stream = result.mapping.open_stream()
    reply = f"Yes: {result.text} Bye."
    restored = "".join(map(stream.feed, reply)) + stream.close()
    assert restored == "Yes: Daniel Keller called. Bye."


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (["Anna Novak", "Bob, Anna Novak"], "entries 1 and 2 have the same spelling"),
        (["# x", "", "Anna", "anna"], "entries 3 and 4 have the same spelling"),
        (["J. Novak", "J Novak"], "entries 1 and 2 have the same spelling"),
        (["Anna", "x"], "entry 2 has a spelling that is not supported"),
        (["Anna, 12345"], "entry 1 has a spelling that is not supported"),
        (["Anna, ???"], "entry 1 has a spelling that is not supported"),
        (["a" * 101], "entry 1 has a spelling that is not supported"),
        (["a " * 13], "entry 1 has a spelling that is not supported"),
        ([",|,"], "entry 1 has no spelling"),
        ([",".join(f"Anna {'b' * number}" for number in range(2, 103))], "entry 1 has more than 100 spellings"),
        (["# Anna", " "], "the list has no person"),
    ],
)
def test_a_list_with_a_mistake_is_refused_without_its_content(
    sanitizer: Sanitizer, known: list[str], message: str
) -> None:
    with pytest.raises(OptionError, match=f"^known: {message}") as caught:
        sanitizer.terms(protect="names", known=known)
    assert not re.search("Anna|Novak|12345", str(caught.value))
    assert "\n" not in str(caught.value)


def test_a_spelling_twice_in_one_entry_counts_once(sanitizer: Sanitizer) -> None:
    assert find_states(sanitizer, "Then Anna left.", known=["Anna, Anna | anna"]) == ["Anna"]


def test_a_list_of_ten_thousand_persons_is_read(sanitizer: Sanitizer) -> None:
    known = [f"Zorb{number}a Quax{number}o, Z. Quax{number}o" for number in range(10_000)]
    text = " ".join(entry.split(",")[0] + " left." for entry in known[::500])
    assert len(find_states(sanitizer, text, known=known)) == 20


def test_an_empty_list_is_no_list(sanitizer: Sanitizer) -> None:
    assert sanitizer.terms(protect="names", known=[]) == sanitizer.terms(protect="names")
    assert sanitizer.terms(protect="names", patterns={}) == sanitizer.terms(protect="names")


@pytest.mark.parametrize("text", ["a qxzjvk-Keller.txt said", "a QXZJVK-keller.txt, qxzjvk/Keller-qxzjvk-Keller.txt"])
def test_a_text_with_the_placeholder_of_matches_is_restored(sanitizer: Sanitizer, text: str) -> None:
    result = sanitize(sanitizer, text, style="tag")
    assert result.restore(result.text).text == text
    assert "".join(piece.text for piece in sanitizer.preview(text, known=PEOPLE, explain=True)) == text
