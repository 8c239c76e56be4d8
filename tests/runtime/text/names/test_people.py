"""Capitalized runs that name persons, and mentions of the same person."""

from pathlib import Path

import pytest
from planted import planted
from textveil import Conversation, Sanitizer
from textveil.text.names.conversation_state import ConversationDraws
from textveil.text.names.plan import NamesPlanFactory

BODIES = (
    "Zorblax Systems|Zorblax & Wyxes|University of Zorblax|Google Chrome|IBM Watson|Stranger Things|Applied Mathematics"
    "|House of the Wyxes|Plan B|Visit Boston"
).split("|")
PEOPLE = (
    "Tobias Quell|Li Wei|Nguyen Van Anh|Kim Min-jun|Weronika Zielinska|TOBIAS QUELL|Zorblax Wyxes|Diego Alvarez"
    "|Joy Field|Lee Rivers|Chidi Short|Tarek El-Sayed"
    "|Piet van der Berg|Maria de la Cruz|Yesterday Zorblax|Ask Zorblax Wyxes|Victoria Novak"
).split("|")


@pytest.fixture(scope="module")
def shipped() -> Sanitizer:
    return Sanitizer.load()


def type_of(sanitizer: Sanitizer, run: str) -> str:
    text = f"the one here is {run}"
    return dict(sanitizer.preview(text, protect="names")).get(run, "")


@pytest.mark.parametrize("run", PEOPLE)
def test_a_run_without_a_word_of_bodies_is_a_person(shipped: Sanitizer, run: str) -> None:
    assert type_of(shipped, run) == "person"


@pytest.mark.parametrize("run", BODIES)
def test_a_run_with_a_common_word_a_body_or_an_acronym_is_no_person(shipped: Sanitizer, run: str) -> None:
    assert type_of(shipped, run) not in ("person", "")


@pytest.mark.parametrize("run", ["Lake Geneva", "New Zealand", "Redondo Beach", "Zorblax Street"])
def test_places_stay_places(shipped: Sanitizer, run: str) -> None:
    assert type_of(shipped, run) in ("place", "country", "street", "city")


def test_a_person_before_a_place_needs_a_place_of_persons(shipped: Sanitizer) -> None:
    """Behind a word before places the same words are a place."""
    for lead in ("We live on ", "They met in ", "It is the "):
        assert dict(shipped.preview(f"{lead}Joy Field", protect="names"))["Joy Field"] == "place"
    assert dict(shipped.preview("We met Jordan River", protect="names"))["Jordan River"] == "place"
    assert dict(shipped.preview("We know Zorblax Systems", protect="names"))["Zorblax Systems"] == "organization"


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("I am Mark King, and Mark King paid.", ["Mark King", "Mark King"]),
        ("Ask Mary Bishop. Will King and Ivy Prince left.", ["Mary Bishop", "Will King", "Ivy Prince"]),
        ("James Dean met Anna Chancellor's friend", ["James Dean", "Anna Chancellor"]),
        ("we met M. King and J. R. Bishop", ["M. King", "J. R. Bishop"]),
        ("we met Dr. Mark King", ["Dr", "Mark King"]),
        ("King Charles and Queen Mary met the King", ["King", "Charles", "Queen", "Mary", "King"]),
        ("we told Anna Professor Novak and Anna Dr. Novak", ["Anna", "Professor", "Novak", "Anna Dr", "Novak"]),
        ("the Microsoft President met Anna Novak King", ["Microsoft", "President", "Anna Novak", "King"]),
        ("we met Zorblax President", ["Zorblax President"]),
        ("we told Mark, King of Leeds", ["Mark", "King", "Leeds"]),
        ("we told Anna Mrs", ["Anna", "Mrs"]),
    ],
)
def test_a_title_behind_a_first_name_is_a_family_name(shipped: Sanitizer, text: str, slots: list[str]) -> None:
    (read,) = shipped.names_plan(protect="names").make_reader().read_texts([text])
    assert [entry.span.text for entry in read.elements if not isinstance(entry, str)] == slots
    assert "".join(entry if isinstance(entry, str) else entry.span.text for entry in read.elements) == text


def test_equal_names_that_end_in_a_title_are_equal(shipped: Sanitizer) -> None:
    words = shipped.sanitize("he met Mark King, and Mark King paid.").text.replace(",", "").split()
    assert words[2:4] == words[5:7]
    assert shipped.sanitize("he met Mark King and MARK KING", style="tag").text == "he met [person 1] and [person 1]"


def test_the_list_of_first_names_abroad_decides_types_alone(names: Path) -> None:
    sanitizer = Sanitizer.load(names)
    for with_list, without in (("Weronika", "Wyxonika"), ("weronika", "wyxonika"), ("Zuri Novak", "Zyxi Novak")):
        texts = [f"he said {name} left. {name} is here\n{name}\n" for name in (with_list, without)]
        kept = [
            [at for at, (_, what) in enumerate(sanitizer.preview(text, protect="names")) if what != "kept"]
            for text in texts
        ]
        assert kept[0] == kept[1]


@pytest.mark.parametrize("first", ["Weronika", "Tobias", "Wyxonika"])
def test_first_name_family_name_and_both_are_one_person(shipped: Sanitizer, first: str) -> None:
    text = f"he met {first} Zielinska, and {first} wrote to Ms. Zielinska, and {first} left"
    words = shipped.sanitize(text, protect="names").text.replace(",", "").split()
    given, family = words[2], words[3]
    assert (words[5], words[9], words[11]) == (given, family, given)


def test_a_lone_first_name_is_that_of_a_person_in_an_earlier_message(shipped: Sanitizer) -> None:
    conversation = Conversation(shipped, style="surrogate")
    first, second = (
        conversation.start_exchange().outgoing([{"role": "user", "content": text}])[0]["content"]
        for text in ("he met Wyxonika Zielinska", "he saw Wyxonika and Ms. Zielinska")
    )
    given, family = first.split()[2:]
    assert (second.split()[2], second.split()[-1]) == (given, family)


def write_unlinked(bundle: Path) -> str:
    """Rewrite two mentions of one first name, one of which the model may have written."""
    plan = NamesPlanFactory(Sanitizer.load(bundle).bundle).make_plan({})
    running = ConversationDraws(plan.style, plan.surrogates, plan.lists.common_words)
    for entry in plan.make_reader().read_texts(["he met Wyxonika Zorblax"]):
        running.rewrite(entry)
    (read,) = plan.make_reader().read_texts(["he saw Wyxonika"])
    return "".join(piece.output for piece in running.rewrite_unlinked(read.elements))


def test_a_text_that_a_model_wrote_does_not_tell_that_a_name_is_a_first_name(names: Path) -> None:
    assert write_unlinked(names).endswith("son")  # all family names of this bundle do, and no first name


def test_a_link_in_a_text_that_a_model_wrote_is_found(names: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = (" and self._is_linked:", ":")
    monkeypatch.setattr(ConversationDraws, "_rewrite_mention", planted(ConversationDraws._rewrite_mention, fault))
    assert not write_unlinked(names).endswith("son")


@pytest.mark.parametrize("consistent", [True, False])
def test_without_consistent_surrogates_the_output_shows_no_equal_first_name(names: Path, consistent: bool) -> None:
    text = "he met Wyxonika Zorblax, he saw Wyxonika"
    rewritten = Sanitizer.load(names).sanitize(text, protect="names", consistent=consistent).text
    assert rewritten.endswith("son") != consistent  # all family names of this bundle do, and no first name
