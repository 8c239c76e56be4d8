"""Facts of the mode ``names`` that may name a party: an employer, a home, a person, a plate, a date or a random id."""

import random

import pytest
from fact_exchange import make_plan
from planted import planted
from textveil import Sanitizer
from textveil.text.names import fact_numbers, fact_strings
from textveil.text.names import facts as fact_rules
from textveil.text.names.fact_identifiers import IdentifierRules
from textveil.text.names.fact_products import ProductFacts
from textveil.text.names.fact_strings import FactStrings
from textveil.text.names.plan import NamesPlan


def list_hidden(plan: NamesPlan, text: str) -> str:
    (read,) = plan.make_reader().read_texts([text])
    return " ".join(element.span.text for element in read.elements if not isinstance(element, str))


@pytest.mark.parametrize(
    "text",
    [
        "She is a Nokia engineer; by her Nokia internship of it",
        "Nokia fired me; I quit Nokia; my Nokia badge",
        "I worked for two years with the old Nokia",
        "my job is to be the voice of Nokia",
        "the Nokia phone team is here",
        "an email from Nokia came",
        "She is at Nokia now",
        "the letter by Kowal, Nokia is here",
        "Kowal, Nokia",
        "Kowal\nNokia",
        "Our Nokia is old",
        "I manage the Nokia account",
        "After ten years Nokia let me go",
        "I was inside Nokia for years",
    ],
)
def test_a_company_that_may_be_an_employer_is_hidden(sanitizer: Sanitizer, text: str) -> None:
    plan = make_plan(sanitizer, "useful")
    assert "Nokia" in list_hidden(plan, text)
    assert "Nokia" not in list_hidden(make_plan(sanitizer, "public"), text.replace("Kowal", "it"))
    assert "instagram" in list_hidden(plan, text.replace("Nokia", "instagram"))


@pytest.mark.parametrize(
    "change",
    [
        ("place.follows(index, words.work_words, _WORK_BEFORE)", "False"),
        ("if lead.lower() in words.firm_leads", "if lead.lower() in words.firm_leads and lead != before"),
        ("if lead.lower() in words.firm_leads", "if before in words.firm_leads"),
        ("place.get_word(at).lower() in words.work_words", "False"),
        ("if self._acts_on_writer(place, index)", "if False"),
        ("place.get_word(index + 1).lower() in words.roles", "False"),
    ],
)
def test_a_planted_fault_shows_an_employer(
    sanitizer: Sanitizer, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "She is at Nokia now.\nI worked for us, like Nokia.\nSee the Nokia nurse.\nSee the Nokia phone team"
    text += "\nHere it is.\nNokia let me go.\nA nurse for the Nokia house"
    plan = make_plan(sanitizer, "useful")
    assert list_hidden(plan, text).count("Nokia") == 6
    monkeypatch.setattr(ProductFacts, "_is_product_place", planted(ProductFacts._is_product_place, change))
    assert list_hidden(make_plan(sanitizer, "useful"), text).count("Nokia") == 5


#: Texts with a heading, a plate, a date and an id that stay hidden, marked by low lines.
PARTIES = """
He was at _Fresh Start_ for years
She sued _Clear Path_ of it
We live in _Garden City_ now
It is said that _Fresh Start_ let me go
My car _LB67_ _RTOS_ was here
We pay by _15.11_. or later
It was on _24.12_. At it
The order is _EFS4CV_ here
See /home/_ling_/models/x.pt and /Users/_max_/a.py of it
The order is _mpp44_ and _w7moj_
Call _Fresh Start_ now
Employer: _Fresh Start_
I work for _Fresh Start_ now
My company is called _Fresh Start_ now
Our church, _Fresh Start_, is old
Then _Fresh Start_ fired him
Then _Fresh Start_ pays him
My employer is _Five_ _Guys_
Dear _Django_, I am late
It is said that _Suzuki_ cried
""".strip().split("\n")


@pytest.mark.parametrize("text", PARTIES)
def test_what_may_name_a_party_is_hidden(sanitizer: Sanitizer, text: str) -> None:
    parts = text.split("_")
    assert list_hidden(make_plan(sanitizer, "useful"), "".join(parts)) == " ".join(parts[1::2])


@pytest.mark.parametrize(
    "text",
    [
        "My section is called Fresh Start.",
        "Fresh Start\nI work here.",
        "A passion for Fresh Start is good.",
        "Why was my Payment declined",
        "A list of names, Fresh Start, is here.",
        "The Nokia phone and the Nokia of 2024 said it.",
    ],
)
def test_other_headings_and_companies_stay(sanitizer: Sanitizer, text: str) -> None:
    assert list_hidden(make_plan(sanitizer, "useful"), text) == ""


def test_a_company_that_is_addressed_stays_at_public(sanitizer: Sanitizer) -> None:
    assert list_hidden(make_plan(sanitizer, "public"), "Dear Django, it is said that Suzuki cried") == ""


def test_headings_decimals_and_numbered_words_stay(sanitizer: Sanitizer) -> None:
    text = "The chapter Fresh Start is here. It is 1.5. Then col12, sha256, base64encode and step_10 of it."
    assert list_hidden(make_plan(sanitizer, "useful"), text) == ""


def test_random_strings_with_digits_stay_hidden(sanitizer: Sanitizer) -> None:
    chance, plan = random.Random(4), make_plan(sanitizer, "useful")
    for form in ("aaa0aa", "aaa00", "a0aaa"):
        for _ in range(200):
            code = "".join(chance.choice("abcdefghijklmnopqrstuvwxyz" if one == "a" else "123456789") for one in form)
            assert list_hidden(plan, f"the order is {code} here") == code or code[:-2] in ("bin", "row", "set")


@pytest.mark.parametrize(
    ("place", "name", "change", "text"),
    [
        (ProductFacts, "_follows_party_word", ("before in words.firm_leads", "False"), PARTIES[0]),
        (ProductFacts, "_follows_party_word", ("before in _JOINS", "False"), PARTIES[2]),
        (ProductFacts, "is_party_place", ("or self._acts_on_writer(place, index)", ""), PARTIES[3]),
        (ProductFacts, "_follows_party_word", ("gap in _PARTY_GAPS", 'gap in (": ", ", ")'), PARTIES[10]),
        (ProductFacts, "_follows_party_word", ("gap in _PARTY_GAPS", 'gap in (" ", ", ")'), PARTIES[11]),
        (ProductFacts, "_follows_party_word", ("words.work_words if", "words.party_words if"), PARTIES[12]),
        (ProductFacts, "_follows_party_word", ("_JOINS", "_JOINS - {'called'}"), PARTIES[13]),
        (ProductFacts, "_follows_party_word", ("gap in _PARTY_GAPS", 'gap in (" ", ": ")'), PARTIES[14]),
        (ProductFacts, "is_party_place", ('after.endswith("ed")', "False"), PARTIES[15]),
        (ProductFacts, "is_party_place", ('f"-{after}" in self._words.party_words', "False"), PARTIES[16]),
        (
            ProductFacts,
            "is_party_place",
            (', index - (place.get_class(index - 1) == "number-word")', ", index"),
            PARTIES[17],
        ),
        (ProductFacts, "is_addressed", ("index - 1", "index"), PARTIES[18]),
        (ProductFacts, "is_addressed", ("index + 1", "index"), PARTIES[19]),
        (fact_rules, "follows_plate", ('in ("id", "key")', "in ()"), PARTIES[4]),
        (fact_numbers, "_is_day_place", ('gap == ". "', "False"), PARTIES[5]),
        (fact_numbers, "_is_day_place", ("in _DAY_LEADS", "in ()"), PARTIES[6]),
        (fact_strings, "has_numbered_word", ("if before and after", "if False"), PARTIES[7]),
        (FactStrings, "is_plain", (" or HOME_FOLDER.search(string)", ""), PARTIES[8]),
        (IdentifierRules, "cut", ("start in user or", ""), PARTIES[8]),
        (fact_strings, "has_numbered_word", ("len(digits) != 2 or", "True or"), PARTIES[9]),
    ],
)
def test_a_planted_fault_shows_a_party(
    sanitizer: Sanitizer,
    place: object,
    name: str,
    change: tuple[str, str],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = text.split("_")
    monkeypatch.setattr(place, name, planted(getattr(place, name), change))
    assert list_hidden(make_plan(sanitizer, "useful"), "".join(parts)) != " ".join(parts[1::2])


def test_the_length_of_a_hidden_piece_of_an_identifier_decides_nothing(sanitizer: Sanitizer) -> None:
    """The type of an identifier follows from its length, which a hidden piece has: no output may show which it is."""
    plan = make_plan(sanitizer, "useful")
    outputs = {
        tuple(element for element in read.elements if isinstance(element, str))
        for piece in ("fezumam", "fezumamkatolup")
        for read in plan.make_reader().read_texts([f"the {piece}_id Maintain the plan"])
    }
    assert len(outputs) == 1


@pytest.mark.parametrize("facts", ["none", "plain", "useful", "public"])
def test_names_and_numbers_that_earlier_rules_kept_are_hidden(sanitizer: Sanitizer, facts: str) -> None:
    """Each of these was kept by a rule before: listed acronyms, camel case, months, titles, phones, streets."""
    text = "I know Agi, Sagna and Dr McLean. We met Jan J\u00edlek; Ms.Yoyo called. Ask my wife, Sun, or +41 (0)69 979."
    output = sanitizer.sanitize(text, protect="names", style="tag", facts=facts).text
    assert not [part for part in "Agi Sagna McLean Jan J\u00edlek Yoyo Sun 69 979".split() if part in output]
