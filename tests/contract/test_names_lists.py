"""The public lists of the mode `names` keep the rules of their README."""

import json
import unicodedata
from dataclasses import fields
from pathlib import Path

import pytest
import regex
from scripts import ROOT, load_script
from textveil.bundle import DEFAULT_BUNDLE, TextBundle, open_bundle
from textveil.bundle.names_files import parse_names_lists

LISTS = ROOT / "artifacts" / "english-v4"
NEVER = ROOT / "export" / "src" / "textveil_export" / "lists" / "never_output.txt"
MARKS = {"strict", "start", "emphasis", "opener", "name", "function", "rare", "census"}
#: Kinds of single words: a word is on one of their lists only.
BY_LIST = load_script("artifacts/lists/entity_lists.py").ORDER
CLOSED = set("the-country state unit particle title office month weekday number-word".split())
SENTENCE = "given family city country state group organization place street acronym".split()
KEPT_APART = ("word", *(f"word-{end}" for end in ("ing", "ed", "s", "ly")))


def read(name: str, folder: Path = LISTS) -> dict[str, set[str]]:
    lines = (folder / f"{name}.txt").read_text("utf-8").splitlines()
    return {line.partition("\t")[0]: set(filter(None, line.partition("\t")[2].split(","))) for line in lines}


def pool(kind: str) -> list[str]:
    return (LISTS / f"surrogates.{kind}.txt").read_text("utf-8").splitlines()


def fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


COMMON = read("common-words")
DEFINITION = json.loads((LISTS / "mechanism.json").read_text("utf-8"))
KINDS = {kind: read(f"entity.{kind}") for kind in DEFINITION["names"]["entity_types"]}
POOLS = sorted(file.stem.removeprefix("surrogates.") for file in LISTS.glob("surrogates.*.txt"))


@pytest.mark.parametrize("name", ["common-words", *(f"entity.{kind}" for kind in KINDS)])
def test_entries_are_folded_and_in_order(name: str) -> None:
    entries = [line.partition("\t")[0] for line in (LISTS / f"{name}.txt").read_text("utf-8").splitlines()]
    assert entries == sorted(set(entries))
    assert all(fold(entry) == entry and regex.fullmatch(r"[\p{L}']+(?: [\p{L}']+)*", entry) for entry in entries)


def test_the_lists_pass_the_checks_that_their_reader_skips() -> None:
    """The built-in bundle is parsed without them, with the same result."""
    files = open_bundle(DEFAULT_BUNDLE, TextBundle).names_files
    assert files.is_checked
    fast = parse_names_lists(files.entity_types, files.pool_types, files.contents, is_checked=True)
    checked = parse_names_lists(files.entity_types, files.pool_types, files.contents)
    for field in fields(checked):
        assert getattr(fast, field.name) == getattr(checked, field.name), field.name
    assert [*fast.common_words] == [*checked.common_words]


def test_common_words_have_known_marks() -> None:
    assert 55_000 <= len(COMMON) <= 65_000
    assert set().union(*COMMON.values()) == MARKS
    functions = (LISTS / "function-words.txt").read_text("utf-8").splitlines()
    assert {line.partition("\t")[0] for line in functions} == {w for w, marks in COMMON.items() if "function" in marks}
    assert all("start" in marks for marks in COMMON.values() if "opener" in marks)
    assert all("start" in marks for marks in COMMON.values() if "rare" in marks)
    assert all("strict" in marks and "name" not in marks for marks in COMMON.values() if "emphasis" in marks)


def test_the_overlap_is_published() -> None:
    shown = list(read("kept-names", ROOT / "artifacts" / "lists"))
    assert shown == sorted(word for word, marks in COMMON.items() if "name" in marks)


def test_no_key_is_on_two_lists_of_kinds() -> None:
    keys = [key for kind in BY_LIST for key in KINDS[kind]]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("kind", BY_LIST)
def test_members_that_are_common_are_kept_in_lower_case_alone(kind: str) -> None:
    if kind in ("weekday", "month", "group"):
        assert all("capitalized" in marks for key, marks in KINDS[kind].items() if key in COMMON)
    if kind in ("given", "family", "city", "country", "state", "place"):
        assert not [
            key for key in KINDS[kind] if "opener" not in COMMON.get(key, ()) and "start" in COMMON.get(key, ())
        ]


def test_months_titles_and_number_words_are_those_of_the_rules() -> None:
    rules = json.loads((ROOT / "runtime" / "src" / "textveil" / "data" / "rules.json").read_text("utf-8"))
    months, numbers = rules["months"], rules["numbers"]
    full = [month.lower() for month in months["names"]]
    assert set(KINDS["month"]) == {*full, *(month[:3] for month in full), *months["short"]}
    assert pool("month") == sorted(months["names"], key=lambda month: month.lower() in months["also_words"])
    digits = set(numbers["digits"]["words"]) - set(numbers["weak"])
    assert digits | set(numbers["scales"]["words"]) <= KINDS["number-word"].keys()
    assert {word for title in rules["names"]["titles"].values() for word in title["words"]} <= KINDS["title"].keys()


def test_first_names_abroad_are_on_no_list_that_says_something_else() -> None:
    abroad = set(KINDS["given-abroad"])
    assert len(abroad) > 5_000
    assert {"tobias", "diego", "zsófia", "zsofia"} <= abroad
    closed = "weekday month group title office particle given organization firm-word institution-word street-word"
    assert abroad.isdisjoint(COMMON)
    assert all(abroad.isdisjoint(KINDS[kind]) for kind in [*closed.split(), "place-word", "first-word"])
    assert all(word.isalpha() or "'" in word for word in abroad)


def test_groups_are_hidden_in_any_case() -> None:
    for word in "catholic muslim jewish gay lesbian democrat republican german kurdish communist".split():
        assert word in KINDS["group"]
        assert word not in COMMON


@pytest.mark.parametrize("kind", POOLS)
def test_pools_hold_enough_and_nothing_obscene(kind: str) -> None:
    members = pool(kind)
    assert len(members) == len(set(members))
    assert kind in CLOSED or len(members) >= 200
    never = {line for line in NEVER.read_text("utf-8").splitlines() if line[:2] != "# "}
    assert not [member for member in members for part in fold(member).split() if part in never]


@pytest.mark.parametrize("kind", SENTENCE)
def test_outputs_with_a_capital_are_hidden_again(kind: str) -> None:
    capitals = set((LISTS / "kept-capitals.txt").read_text("utf-8").splitlines())
    first = set(KINDS["first-word"]) | set(KINDS["particle"])
    for member in pool(kind):
        for part in member.split():
            assert part not in capitals
            assert fold(part) in first or "start" not in COMMON.get(fold(part), ())


@pytest.mark.parametrize("kind", ["given", "family", "city", "country", "the-country", "state", "group"])
def test_outputs_are_of_their_kind(kind: str) -> None:
    keys = {key.replace("-", " ") for key in KINDS[kind]}
    assert not [member for member in pool(kind) if fold(member).replace(".", "").replace("-", " ") not in keys]


def test_outputs_of_no_kind_are_on_no_list() -> None:
    known = {key for kind in BY_LIST for key in KINDS[kind]} | set(COMMON)
    drawn = [*pool("acronym"), *(word for kind in KEPT_APART for word in pool(kind))]
    assert not [word for word in drawn if fold(word) in known]
    assert len(set(drawn)) == len(drawn)


def test_symbols_are_single_code_points_of_no_sequence() -> None:
    symbols = (LISTS / "kept-symbols.txt").read_text("utf-8").splitlines()
    assert symbols == sorted(set(symbols))
    assert all(len(symbol) == 1 for symbol in symbols)
    assert not [s for s in symbols if regex.fullmatch(r"[\p{L}\p{N}\p{M}\p{Sc}\p{Cf}]", s)]
    assert not [s for s in symbols if 0x1F1E6 <= ord(s) <= 0x1F1FF or 0x1F3FB <= ord(s) <= 0x1F3FF]
