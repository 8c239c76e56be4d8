"""Account names of common words in the mode ``names``: none of their words stays (docs/names-rule.md).

An account name has two words or more, and two digits or more at its end: ``blue_rider84``. Identifiers of source code
stay as before.
"""

import random

import pytest
from textveil import Sanitizer
from textveil.text.names import fact_identifiers, fact_strings
from textveil.text.names.fact_identifiers import IdentifierRules
from textveil.text.names.fact_strings import FactStrings

WORDS = "blue rider coffee river green tree report zorblax kowal".split()
ACCOUNT_NAMES = ("blue_rider84", "SunnyDay77", "river.tree12", "greenTree2004", "my_coffee-river_99", "zorblax_tree84")
IDENTIFIERS = ("customer_id", "getUserName", "base64", "sha256", "line_2", "report12")


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def find_kept(sanitizer: Sanitizer, facts: str) -> list[str]:
    """Return the account names of which a part stays unchanged."""
    kept = []
    for name in ACCOUNT_NAMES:
        pieces = sanitizer.preview(f"I wrote to {name} today.", facts=facts)
        if (name, "kept") in pieces or all(name != piece for piece, _ in pieces):
            kept.append(name)
    return kept


#: Names with a title, initials or a prefix and no blank, as people write them by mistake or in logins.
GLUED_NAMES = (
    "Ms.Yoyo Mr.Rich Mr.Docker Prof.Best Herr.Day Anna.Day B.Day T.Small j_small J.O'Hare o'hare_total.py J.D'Best"
)
CODE = "x_train e.Message i.count e.g n_jobs f.read React.Component System.Console customer_id"


@pytest.mark.parametrize("facts", ["none", "plain", "useful", "public"])
def test_no_part_of_a_name_without_blanks_stays(sanitizer: Sanitizer, facts: str) -> None:
    for name in GLUED_NAMES.replace("'", "\u2019").split() + GLUED_NAMES.split():
        pieces = sanitizer.preview(f"{name} called", protect="names", facts=facts, style="tag", explain=True)
        assert pieces[0].state != "kept", name


def test_a_planted_rule_that_does_not_look_for_initials(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_strings, "may_name_person", lambda string, is_plain_word: False)
    assert "Day" in sanitizer.sanitize("B.Day called", protect="names", facts="plain").text


def test_source_code_with_letters_and_full_stops_stays(sanitizer: Sanitizer) -> None:
    for text in CODE.split():
        assert sanitizer.sanitize(f"use {text} here", protect="names", facts="useful").text == f"use {text} here", text


@pytest.mark.parametrize("facts", ["none", "plain", "useful", "public"])
def test_no_part_of_an_account_name_stays(sanitizer: Sanitizer, facts: str) -> None:
    assert find_kept(sanitizer, facts) == []


def test_identifiers_of_source_code_stay(sanitizer: Sanitizer) -> None:
    for identifier in IDENTIFIERS:
        assert FactStrings(sanitizer.bundle.get_names_lists(), "plain").is_plain(identifier), identifier


def test_the_words_of_an_account_name_do_not_decide(sanitizer: Sanitizer) -> None:
    rules, chance = IdentifierRules(FactStrings(sanitizer.bundle.get_names_lists(), "useful")), random.Random(7)
    for _ in range(500):
        words = chance.choices(WORDS, k=chance.randint(2, 4))
        assert rules.cut(chance.choice("_.").join(words) + str(chance.randint(10, 99))) is None


@pytest.mark.parametrize("module", [fact_strings, fact_identifiers])
def test_planted_rules_that_do_not_look_for_account_names(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch, module: object
) -> None:
    monkeypatch.setattr(module, "may_name_person", lambda string, is_plain_word: False)
    assert find_kept(sanitizer, "plain")
