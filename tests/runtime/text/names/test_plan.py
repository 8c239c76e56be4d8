"""Options of the mode ``names`` are checked, plans reveal no user words, and a caller may give the type of a text."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textveil import Sanitizer
from textveil.errors import BundleDamaged, OptionError
from textveil.text.names.conversation_state import make_assigned_mention
from textveil.text.names.plan import NamesPlanFactory
from textveil.text.options import DEFAULT_FACTS, FACTS

KEY = bytes(range(65, 81))


@pytest.fixture(scope="module")
def plans(names: Path) -> NamesPlanFactory:
    return NamesPlanFactory(Sanitizer.load(names).bundle)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": ["persn"]}, "no such entity type: persn; did you mean person?"),
        (
            {"keep": ["city"], "drop": ["city"]},
            "an entity type is in two of keep, tag and drop: leave it in one of them",
        ),
        ({"style": "x"}, "style must be one of surrogate, tag"),
        ({"facts": "all"}, "facts must be one of none, plain, useful, public"),
        (
            {"consistent": "corpus"},
            'consistent="corpus" works only with a key, and key only with consistent="corpus": set the missing one',
        ),
        (
            {"key": KEY},
            'consistent="corpus" works only with a key, and key only with consistent="corpus": set the missing one',
        ),
        ({"consistent": "corpus", "key": KEY[1:]}, "key must have at least 16 bytes"),
        (
            {"protect": "names", "epsilon": "8"},
            "the mode 'names' does not support epsilon without randomize: omit it",
        ),
        (
            {"sanitize_punctuation": True},
            "the default mode 'names' does not support sanitize_punctuation: omit it, or use protect words or all",
        ),
    ],
    ids=str,
)
def test_what_is_refused(plans: NamesPlanFactory, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        plans.make_plan(options)
    assert str(refused.value) == message


@pytest.mark.parametrize("level", FACTS)
def test_each_value_of_facts_is_accepted_and_stated(plans: NamesPlanFactory, level: str) -> None:
    plan = plans.make_plan({"facts": level})
    assert plan.facts_level == level
    statement = plan.terms.statement(5).to_dict()
    assert statement["facts"] == level
    assert ("technical and medical terms" in statement["line"]) == (level != "none")
    assert ("languages, ages below 90" in statement["line"]) == (level in ("useful", "public"))
    assert ("countries, known companies" in statement["line"]) == (level == "public")
    assert ("so it is more likely a name." in statement["summary"]) == (level != "none")
    assert statement["summary"].endswith("Together these can single out a person.") == (level in ("useful", "public"))
    assert ("also when a person or an employer has that name" in statement["summary"]) == (level == "public")
    assert ("all other companies and products" in statement["summary"]) == (level == "useful")
    for statements in (statement["line"], statement["summary"], *statement["not_protected"]):
        assert not re.search("nothing personal|anonymous|public facts", statements)


def test_without_facts_the_statement_has_only_a_new_key(plans: NamesPlanFactory) -> None:
    omitted, plain, none = (
        plans.make_plan(options).terms.statement(3).to_dict()
        for options in ({}, {"facts": DEFAULT_FACTS}, {"facts": "none"})
    )
    assert omitted == plain
    assert omitted.keys() == none.keys()
    assert len(none["not_protected"]) == 6
    assert none["line"].startswith("Kept: common words from a public list. All other words and numbers: replaced")
    assert none["line"].endswith("Kept words can still reveal who the text is about.")


@pytest.mark.parametrize("options", [{"protect": "words"}, {"protect": "all"}, {"mechanism": "random"}], ids=str)
@pytest.mark.parametrize("level", FACTS)
def test_other_modes_refuse_facts(options: dict[str, Any], level: str) -> None:
    for call in (Sanitizer.load().sanitize, Sanitizer.load().preview):
        with pytest.raises(OptionError, match=r"^facts: only the mode 'names' supports this: use protect names$"):
            call("Anna", **options, facts=level)


def test_facts_must_be_a_string() -> None:
    with pytest.raises(OptionError, match=r"^facts must be a string$"):
        Sanitizer.load().sanitize("Anna", protect="names", facts=1)  # type: ignore[arg-type]


def test_a_plan_shows_neither_its_key_nor_the_words_of_the_user(plans: NamesPlanFactory) -> None:
    given = {"consistent": "corpus", "key": KEY, "allow": ["zorblax"], "deny": ["quux"]}
    shown = repr(plans.make_plan(given))
    assert not [secret for secret in (KEY.decode(), "zorblax", "quux") if secret in shown]


def test_what_nobody_named(plans: NamesPlanFactory) -> None:
    plan = plans.make_plan({})
    assert plan.terms.consistent_cap == plan.style.cap == 2_000
    assert not plan.terms.sanitize_punctuation


@pytest.mark.parametrize("lists", ["members_by_type", "surrogate_pools"])
def test_a_bundle_that_lacks_a_list_is_refused(names: Path, lists: str) -> None:
    found = Sanitizer.load(names).bundle.get_names_lists()
    left = {name: of for name, of in getattr(found, lists).items() if name != "city"}
    bundle: Any = SimpleNamespace(get_names_lists=lambda: replace(found, **{lists: left}))
    with pytest.raises(BundleDamaged, match=r"^mechanism\.json: the list city of the mode 'names' is missing$"):
        NamesPlanFactory(bundle)


@pytest.mark.parametrize(
    ("kind", "text", "parts"),
    [
        ("person", "Anna Maria Novak", [("given", "anna"), ("given", "maria"), ("family", "novak")]),
        ("person", "Novak", [("family", "novak")]),
        ("city", "New York", [("city", "new york")]),
    ],
)
def test_a_text_whose_kind_is_known(kind: str, text: str, parts: list[tuple[str, str]]) -> None:
    mention = make_assigned_mention(kind, text)
    assert [(part.entity_type, part.folded) for part in mention.parts] == parts
    assert mention.entity_type == (kind if len(parts) > 1 else parts[0][0])


@pytest.mark.parametrize("options", [{"consistent_cap": 3}, {"consistent": False}, {"style": "tag"}], ids=str)
def test_a_statement_says_where_tags_stand_for_surrogates(options: dict[str, Any]) -> None:
    statement = Sanitizer.load().terms(protect="names", **options).statement(5)
    cap = options.get("consistent_cap")
    assert statement.to_dict()["consistent_cap"] == cap
    assert ("beyond the first 3 different ones" in statement.summary()) == (cap is not None)


@pytest.mark.parametrize(
    ("options", "hidden"),
    [
        ({}, [("martin", "person"), ("short", "word"), ("microsoft", "acronym")]),
        ({"deny": ["martin"]}, [("martin", "person"), ("short", "word"), ("microsoft", "acronym")]),
        ({"drop": ["organization"]}, [("martin", "person"), ("short", "word"), ("microsoft", "organization")]),
        ({"tag": ["organization"]}, [("martin", "person"), ("short", "word"), ("microsoft", "organization")]),
        ({"style": "tag"}, [("martin", "person"), ("short", "word"), ("microsoft", "organization")]),
    ],
    ids=str,
)
def test_names_without_capitals_are_of_their_kinds(options: dict[str, Any], hidden: list[tuple[str, str]]) -> None:
    found = Sanitizer.load().preview("i met martin short at microsoft", protect="names", **options)
    assert [(piece, what) for piece, what in found if what not in ("gap", "kept")] == hidden


def test_a_firm_that_is_called_as_a_person_is_not_kept() -> None:
    told = dict(
        Sanitizer.load().preview("We met Charles Schwab and Microsoft.", protect="names", keep=["organization"])
    )
    assert (told["Charles Schwab"], told["Microsoft"]) == ("organization", "kept")
