"""The reader of language rules is strict, and the rules of a bundle replace those of English."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from small_names import write_names
from textveil import Sanitizer
from textveil.bundle.fact_words import FactWords
from textveil.bundle.rules import english_rules, parse_template, read_rules
from textveil.errors import BundleDamaged, BundleError, BundleTooLarge
from textveil.lazy import decode_table, load_data, read_data

ENGLISH = read_data("rules.json")
CHANGED = json.loads((Path(__file__).parents[2] / "fixtures" / "changed_rules.json").read_text("utf-8"))
INVENTED = json.loads((Path(__file__).parents[2] / "fixtures" / "invented_rules.json").read_text("utf-8"))


def changed(**values: Any) -> bytes:
    """Return the rules of English with other values; ``__`` in a name separates keys."""
    rules = copy.deepcopy(json.loads(ENGLISH))
    for path, value in values.items():
        *keys, last = path.split("__")
        place = rules
        for key in keys:
            place = place[key]
        place[last] = value
    return json.dumps(rules).encode()


def test_the_rules_of_english_are_sound() -> None:
    found, built = vars(read_rules(ENGLISH)), vars(english_rules())
    assert {name: value for name, value in found.items() if name != "patterns"} == {
        name: value for name, value in built.items() if name != "patterns"
    }


@pytest.mark.parametrize("name", ["rules.json", "entity_types.json", "character_tables.json", "statements.json"])
def test_keys_are_sorted_and_each_line_is_short(name: str) -> None:
    def check(value: Any) -> None:
        if isinstance(value, dict):
            assert [*value] == sorted(value)
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(part)

    check(load_data(name))
    text = read_data(name).decode("utf-8")
    assert text.endswith("}\n")
    assert all(len(line) <= 120 or line.count('"') in (2, 4) for line in text.split("\n"))


def test_words_of_the_rules_for_public_facts() -> None:
    """Without them the sets are empty; unknown keys are ignored."""
    facts = read_rules(ENGLISH).facts
    assert "km" in facts.units
    assert "password" in facts.secret_words
    without = json.loads(ENGLISH)
    del without["optional"]
    assert read_rules(json.dumps(without).encode()).facts == FactWords()
    some = read_rules(changed(optional={"facts": {"units": ["km"], "later": 3}, "later": "x"})).facts
    assert some == FactWords(units=frozenset(["km"]))


def test_tables_have_ranges_in_order() -> None:
    characters = load_data("character_tables.json")
    tables = [*characters["tables"].values(), *characters["emoji"]["classes"].values(), characters["emoji"]["spare"]]
    for table in tables:
        found = decode_table(table)
        assert found == sorted(set(found))
        assert len(found) % 2 == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        ENGLISH.replace(b'"language"', b'"tongue"'),
        ENGLISH.replace(b'"kept_whole": [', b'"kept_whole": [], "kept_whole": [', 1),
        *(changed(**{path.replace(".", "__"): value for path, value in one.items()}) for one in CHANGED["wrong"]),
        changed(kept_whole=["x" * 513]),
        changed(kept_whole=[f"x{number}" for number in range(1025)]),
    ],
)
def test_what_is_not_of_the_format_is_refused(content: bytes) -> None:
    with pytest.raises(BundleDamaged) as found:
        read_rules(content)
    assert "\n" not in str(found.value)
    assert str(found.value).startswith("rules.json: ")


@pytest.mark.parametrize(
    "content",
    [
        ENGLISH + b" " * 65_536,
        changed(language="x" * 513),
        changed(patterns__ssn={"any_case": False, "text": "[0-9]" * 103}),
        changed(surrogates__templates__phone="{0-999999999999}{0-99}"),
        changed(
            surrogates__choices={
                **load_data("rules.json")["surrogates"]["choices"],
                "letter": [*"abcdefghijklmnopqrstuv"],
            }
        ),
        changed(kept_whole=[f"x{number}" for number in range(65_536)]),
    ],
)
def test_what_is_too_large_is_refused(content: bytes) -> None:
    with pytest.raises(BundleTooLarge, match=r"^rules\.json: "):
        read_rules(content)


@pytest.mark.parametrize("values", CHANGED["right"])
def test_what_is_of_the_format_is_read(values: dict[str, Any]) -> None:
    found = read_rules(changed(**{path.replace(".", "__"): value for path, value in values.items()}))
    assert found.patterns.ssn.fullmatch("no such text") is None


def test_fields_of_templates() -> None:
    found = parse_template("a{007-009/2}b{0x0f-0x10}{Y-Z}{given}")
    assert [(field.text, field.name, field.count, field.format) for field in found] == [
        ("a", "", 1, ""), ("", "", 2, "03d"), ("b", "", 1, ""), ("", "", 2, "02x"),
        ("", "", 1, ""), ("", "", 2, "c"), ("", "", 1, ""), ("", "given", 1, ""), ("", "", 1, ""),
    ]  # fmt: skip


def invented() -> str:
    """Return the rules of an invented language."""
    values = {path.replace(".", "__"): value for path, value in INVENTED["changes"].items()}
    return changed(**values).decode("utf-8")


def tagged(folder: Path) -> list[str]:
    """Return each text with tags."""
    sanitizer = Sanitizer.load(folder)
    return [sanitizer.sanitize(text, protect="names", style="tag", facts="none").text for text in INVENTED["texts"]]


def test_the_rules_of_a_bundle_replace_those_of_english(tmp_path: Path) -> None:
    english = write_names(tmp_path / "english")
    other = write_names(tmp_path / "other", changed={"rules.json": invented()})
    assert tagged(english) == INVENTED["english"]
    assert tagged(other) == INVENTED["invented"]
    text = Sanitizer.load(other).sanitize(INVENTED["texts"][-1], protect="names").text
    assert re.fullmatch(INVENTED["phone"], text)


@pytest.mark.parametrize("field", ["law", "manifest"])
def test_rules_that_only_one_file_lists_are_refused(tmp_path: Path, field: str) -> None:
    write_names(tmp_path / "bundle", changed={"rules.json": invented()})

    def leave_out(found: dict[str, Any]) -> None:
        del found["files"]["rules.json"]

    folder = write_names(tmp_path / field, changed={"rules.json": invented()}, **{field: leave_out})
    with pytest.raises(BundleError):
        Sanitizer.load(folder)


def test_rules_with_an_error_are_refused_at_the_first_use(tmp_path: Path) -> None:
    folder = write_names(tmp_path / "bundle", changed={"rules.json": "{}\n"})
    with pytest.raises(BundleDamaged, match=r"^rules\.json: "):
        Sanitizer.load(folder).sanitize("Anna", protect="names")
