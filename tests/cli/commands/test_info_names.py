"""``textveil info`` and other commands accept a bundle with only the lists of the mode ``names``."""

import json
from collections.abc import Callable
from pathlib import Path

from small_names import COMMON, KINDS, POOLS


def test_info(here: Callable, names: Path) -> None:
    ran = here("info", names)
    assert ran.code == 0
    shown = sum("name" in marks.split(",") for marks in COMMON.values())
    assert ran.text.startswith("small names: lists of the mode names\n")
    assert f"names: {len(COMMON)} common words can be kept, {shown} of them also names\n" in ran.text
    rows = [line.split() for line in ran.text.splitlines()]
    assert ["given", "11", "210", "1", "in", "210"] in rows
    assert ["first-word", str(len(KINDS["first-word"].split("|"))), "-", "-"] in rows
    assert ["word", "-", "210", "1", "in", "210"] in rows


def test_info_as_json(here: Callable, names: Path) -> None:
    told = json.loads(here("info", "--json", names).text)
    assert (told["staircase"], told["epsilons"], told["default_mechanism"], told["vocabulary_size"]) == (
        None,
        [],
        None,
        0,
    )
    kinds = {kind.pop("name"): kind for kind in told["names"]["entity_types"]}
    assert kinds.keys() == KINDS.keys() | POOLS.keys()
    assert kinds["given"] == {"listed_words": 11, "surrogates": 210, "unchanged_probability": 1 / 210}
    assert kinds["first-word"] == {
        "listed_words": len(KINDS["first-word"].split("|")),
        "surrogates": None,
        "unchanged_probability": None,
    }
    assert told["names"]["common_words"] == len(COMMON)


def test_info_of_a_bundle_without_them(here: Callable, tiny_path: Path) -> None:
    assert json.loads(here("info", "--json", tiny_path).text)["names"] is None


def test_verify_and_what_needs_a_mechanism(here: Callable, names: Path) -> None:
    ran = here("verify", names)
    assert ran.code == 0
    assert f"mode names: {len(COMMON)} common words" in ran.text
    for command in (("levels",), ("inspect", "word")):
        assert here(*command, "--bundle", names).code == 1
