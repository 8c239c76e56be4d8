"""The runtime reproduces the golden vectors of own types; so does the TypeScript package (web/test)."""

import json
from pathlib import Path
from typing import Any

import names_own_texts
import pytest
from names_texts import by_the_product
from scripted import scripted_words
from textveil.bundle import open_bundle
from textveil.bundle.text_bundle import TextBundle
from textveil.text.names.plan import NamesPlanFactory

GOLDEN = Path(__file__).parents[2] / "docs" / "golden"
VECTORS = json.loads((GOLDEN / "own-types.json").read_text("utf-8"))
CASES = pytest.mark.parametrize("case", VECTORS["cases"], ids=range(len(VECTORS["cases"])))


@pytest.fixture(scope="module")
def opened() -> TextBundle:
    return open_bundle(GOLDEN / "names", TextBundle)


@CASES
def test_the_product_gives_the_golden_texts(case: dict[str, Any], opened: TextBundle) -> None:
    found = by_the_product(opened, VECTORS["documents"], case["options"], scripted_words(case["random_label"]))
    assert found == (case["outputs"], case["templates"], case["kept_words"], case["random_words"])
    terms = NamesPlanFactory(opened).make_plan(case["options"]).terms
    assert terms.statement(sum(case["kept_words"])).format_line() == case["line"]


def test_the_vectors_have_every_option_and_every_form_of_a_spelling() -> None:
    assert [case["options"] for case in VECTORS["cases"]] == names_own_texts.OPTIONS
    slots = [entry for texts in VECTORS["cases"][0]["templates"] for text in texts for entry in text if entry]
    forms = {entry[2] for entry in slots if isinstance(entry, list) and isinstance(entry[2], str)}
    assert forms >= {"GF", "dF", "G", "F", "FG", "I", "E", "A", "Gf"}
    assert {entry[0] for entry in slots if isinstance(entry, list)} >= set(names_own_texts.PATTERNS)
