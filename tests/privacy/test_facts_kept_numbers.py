"""Facts of the mode ``names``: numbers with signs of units, parts of numbered things and scores that stay unchanged.

Each rule has texts in which it keeps a number, texts in which a value that could identify a person stays hidden, and a
planted fault.
"""

from typing import Any

import pytest
from fact_exchange import LEVELS, make_plan
from planted import planted
from textveil import Sanitizer
from textveil.text.names.fact_labels import LabelFacts
from textveil.text.names.fact_numbers import CodeFacts, NumberFacts
from textveil.text.names.fact_places import LinePlaces
from textveil.text.names.plan import NamesPlan

#: The lowest value of the option that keeps the whole text.
KEPT = [
    ("plain", "Mix 500 g flour with 2 l water, and wait 5 s"),
    ("plain", "I am 1.84 m tall. It took 5 h 30 min, and 400 m of it in 3 d"),
    ("plain", "A 12 V battery, a 5 W lamp and the 2 L bottle"),
    ("plain", "The value was 88 mg/L, then 5.4 mmol/L and 5 g/L"),
    ("plain", "My code has 3 functions, and the key of length 16 is for 4 users"),
    ("plain", "The session took 45 minutes. The token expires in 30 minutes"),
    ("plain", "Why does this code raise a KeyError? The code throws a KeyError"),
    ("useful", "The code returns 5 here"),
    ("plain", "It is step 4 of 10, see clause 14.2"),
    ("plain", "I scored 17/20; my blood pressure was 148/92 then"),
    ("useful", "It is version 3.2.18, Version: 5.4.19, or Python 3.11.12"),
    ("plain", "The plan has 32 m2 and holds 80 m3"),
]
#: Texts, and strings that no value of the option keeps. A comma separates them.
HIDDEN = [
    ("He saw 12 V Kowal and 5 L, Kowal, then 7 g kowal", "12,V Kowal,5,7,g"),
    ("The code is 12 and my code 4711", "12,4711"),
    ("Come between 2 and 4 March, or from May 3 until 9", "2,9"),
    ("My password has 8 letters. The pin returns 5", "8,5"),
    ("My code has: 12 users, my code works, 12", "12,12"),
    ("It was born 3.2.18, room 4 of 10 and the box 17/20", "3.2.18,4,10,17/20"),
    ("version 3.2.2018 and release: 2.11.23", "3.2.2018,2.11.23"),
    ("We live at 14 d", "14,d"),
    ("Flat 12 m is his, and the pin is 500 g", "12,m,500,g"),
    ("in Kowal 12 g", "12,g"),
    ("The plan is 5 g 7 h 3 m", "5,g,7,h"),
]


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def list_hidden(plan: NamesPlan, text: str) -> list[str]:
    """Return the texts of the replaced entities."""
    (read,) = plan.make_reader().read_texts([text])
    return [element.span.text for element in read.elements if not isinstance(element, str)]


@pytest.mark.parametrize(("level", "text"), KEPT)
def test_needed_numbers_are_kept(sanitizer: Sanitizer, level: str, text: str) -> None:
    for value in LEVELS[LEVELS.index(level) :]:
        assert list_hidden(make_plan(sanitizer, value), text) == []


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("text", "strings"), HIDDEN)
def test_numbers_that_may_identify_are_hidden(sanitizer: Sanitizer, level: str, text: str, strings: str) -> None:
    hidden = " ".join(list_hidden(make_plan(sanitizer, level), text)).split(" ")
    for string in strings.replace(" ", ",").split(","):
        assert string in hidden
        hidden.remove(string)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("We live at 14 d", ('place.get_word(index - 2).lower() != "at"', "True")),
        ("in Kowal 12 g", ("not place.is_hidden(index - 2, index - 1)", "True")),
        ("We saw 7 g kowal", ("place.is_hidden(index + 1, index + 1)", "False")),
        ("The pin is 500 g", ("place.follows(index, self._before_values, _FAR_UNIT)", "False")),
        ("The plan is 5 g 7 h", ("return place.get_word(index + 2) in self._words.units", "return True")),
    ],
)
def test_a_planted_fault_shows_the_letter_of_a_code_or_name(
    sanitizer: Sanitizer, text: str, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list_hidden(make_plan(sanitizer, "plain"), text)
    monkeypatch.setattr(NumberFacts, "is_kept_unit", planted(NumberFacts.is_kept_unit, change))
    assert len(list_hidden(make_plan(sanitizer, "plain"), text)) < len(before)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("The code is 12 users", ("return is_use and", "return")),
        ("My password has 8 letters", (" and self._words[at - 1].lower() in _USED", "")),
        ("My code has: 12 users", (' and {" "}.issuperset(self.gaps[at : index + 1])', "")),
    ],
)
def test_a_planted_fault_shows_a_value_behind_a_word_for_a_secret(
    sanitizer: Sanitizer, text: str, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list_hidden(make_plan(sanitizer, "plain"), text) != []
    monkeypatch.setattr(LinePlaces, "_is_used", planted(LinePlaces._is_used, change))
    assert list_hidden(make_plan(sanitizer, "plain"), text) == []


#: Texts with names, and what stays hidden of each; with tags.
SENTENCES = [
    ("Dear Sir or Madam, it is here", []),
    ("Dear Sir/Madam,\nit is here", []),
    ("Dear Sir, Kowal is here", ["Sir", "Kowal"]),
    ("Dear Madam Kowal,", ["Madam", "Kowal"]),
    ("I saw Kowal. May I come? Then Kowal. Will you come?", ["Kowal", "Kowal"]),
    ("I saw Kowal. One more letter", ["Kowal"]),
    ("I saw Kowal. May Kowal came. Will Kowal came", ["Kowal", "May", "Kowal", "Will Kowal"]),
]


@pytest.mark.parametrize(("text", "hidden"), SENTENCES)
def test_words_without_a_name_are_kept(sanitizer: Sanitizer, text: str, hidden: list[str]) -> None:
    for value in LEVELS:
        plan = sanitizer.names_plan(protect="names", facts=value, style="tag")
        assert list_hidden(plan, text) == hidden


@pytest.mark.parametrize(
    ("owner", "name", "text", "change"),
    [
        (LabelFacts, "is_salutation", "Dear Sir, Kowal is here", (" or place.precedes_name(last)", "")),
        (LabelFacts, "is_salutation", "Dear Madam Kowal,", ('.startswith(",")', '.startswith(" ")')),
        (LabelFacts, "begins_question", "I saw Kowal. May Kowal came", ("is_subject and", "True and")),
        (CodeFacts, "is_kept_number", "I have 3.2.18 of it", ("is_label or", "True or")),
        (NumberFacts, "is_kept", "it is 17/20 here", (" and place.follows(index, _SCORE_WORDS)", "")),
        (NumberFacts, "_follows_counter", "it is 400 of 120", (".lower() in self._words.counters", ' != ""')),
    ],
)
def test_a_planted_fault_shows_what_is_beside_a_name(
    sanitizer: Sanitizer, owner: Any, name: str, text: str, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list_hidden(sanitizer.names_plan(protect="names", facts="useful", style="tag"), text)
    monkeypatch.setattr(owner, name, planted(getattr(owner, name), change))
    after = list_hidden(sanitizer.names_plan(protect="names", facts="useful", style="tag"), text)
    assert len(after) < len(before)
