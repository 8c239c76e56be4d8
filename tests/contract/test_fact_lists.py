"""The lists of public facts have no name of a person, and keep the rules of their README."""

import re

import pytest
from scripts import ROOT, load_script
from textveil.bundle.layout import FACT_KINDS
from textveil.bundle.rules import english_rules

LISTS = ROOT / "artifacts" / "english-v4"
BUILDER = ROOT / "artifacts" / "lists"
README = (BUILDER / "README.md").read_text("utf-8")
PERSONS = ("given", "family", "given-abroad")
CLOSED = ("month", "weekday", "title", "office", "particle", "number-word", "ordinal", "first-word")
PLACES = ("city", "country", "the-country", "country-part", "state", "place")


def read(name: str) -> dict[str, set[str]]:
    """Return the entries of a list with their marks."""
    lines = (LISTS / f"{name}.txt").read_text("utf-8").splitlines()
    return {line.partition("\t")[0]: set(filter(None, line.partition("\t")[2].split(","))) for line in lines}


def read_folded(*types: str) -> set[str]:
    """Return the members of entity types."""
    return {entry for entity_type in types for entry in read(f"entity.{entity_type}")}


FACTS = {kind: list(read(f"facts.{kind}")) for kind in FACT_KINDS}
COMMON = read("common-words")
WITH_CAPITAL = ("capital", "company", "acronym")


@pytest.mark.parametrize("kind", FACT_KINDS)
def test_the_readme_has_the_size_of_each_list(kind: str) -> None:
    row = re.search(rf"\| `facts\.{kind}\.txt` \| ([\d,]+) \|", README)
    assert row is not None
    assert int(row[1].replace(",", "")) == len(FACTS[kind])


@pytest.mark.parametrize("kind", [kind for kind in FACT_KINDS if kind != "language"])
def test_no_entry_is_a_person_or_of_a_closed_type(kind: str) -> None:
    keys = {entry.lower() for entry in FACTS[kind] if kind != "acronym" or len(entry) > 2}
    assert not keys & read_folded(*PERSONS, *CLOSED, "group", "street-word", "unit-word", "institution-word")


@pytest.mark.parametrize("kind", WITH_CAPITAL)
def test_no_entry_with_a_capital_is_a_place(kind: str) -> None:
    assert not {entry.lower() for entry in FACTS[kind]} & read_folded(*PLACES)


def test_no_term_with_a_capital_is_a_listed_firm() -> None:
    firms = read_folded("organization")
    assert not {entry.lower() for entry in (*FACTS["acronym"], *FACTS["term"], *FACTS["foreign"])} & firms
    assert not set(FACTS["capital"]) & set(FACTS["company"])


def test_no_pool_prints_a_fact() -> None:
    """Languages may be printed: they are nationalities too, which are replaced."""
    printed = {part for file in LISTS.glob("surrogates.*.txt") for part in file.read_text("utf-8").split()}
    printed |= {part.lower() for part in printed}
    assert {kind for kind in FACT_KINDS if printed & set(FACTS[kind])} == {"language"}


def test_terms_are_no_common_words() -> None:
    assert not COMMON.keys() & {*FACTS["term"], *FACTS["foreign"]}
    assert not set(FACTS["term"]) & set(FACTS["foreign"])


def test_words_that_everybody_needs() -> None:
    assert {"kubernetes", "docker", "apixaban", "dataframe", "javascript"} <= set(FACTS["term"])
    assert {"Kubernetes", "PostgreSQL", "JavaScript", "Python", "React"} <= set(FACTS["capital"])
    assert {"ChatGPT", "Google", "Microsoft", "Apple"} <= set(FACTS["company"])
    assert {"AI", "UI", "SQL", "JSON", "DNS", "SVG"} <= set(FACTS["acronym"])
    assert {"english", "french", "spanish", "hindi"} <= set(FACTS["language"])
    assert not {"catholique", "français", "juif", "española"} & set(FACTS["foreign"])


def test_names_of_a_census_are_marked() -> None:
    """Every common word that a list of names has, and rarer ones."""
    marked = {word for word, marks in COMMON.items() if "census" in marks}
    assert COMMON.keys() & read_folded(*PERSONS) <= marked
    assert {"hope", "price", "small"} <= marked
    assert not {"because", "first", "keyboard"} & marked


def test_words_of_the_rules() -> None:
    """Words that open a sentence are common and have no flag for it; pieces of identifiers are in no other list."""
    facts = english_rules().facts
    assert facts.starts <= COMMON.keys()
    assert facts.starts & read_folded(*PERSONS) <= {"price", "will"}
    assert not facts.identifier_pieces & (COMMON.keys() | set(FACTS["term"]))
    assert not facts.secret_words & facts.counters
    assert {"km", "kg", "mb", "px", "%"} <= facts.units
    assert {"starts", "begins", "digits", "door", "bed", "desk", "dial"} <= facts.address_words


def test_names_of_the_locales() -> None:
    """No name is on a list with a capital, and at most .2 % of the unlisted ones are terms."""
    try:
        check = load_script("artifacts/lists/check_facts.py")
        check.list_locale_names()
    except ImportError as error:
        pytest.skip(f"the sources of the lists are not installed (artifacts/lists/requirements.txt): {error}")
    assert check.find_problems(LISTS) == []
