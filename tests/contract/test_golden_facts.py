"""The runtime reproduces the golden vectors of the option ``facts``; so does the TypeScript package (web/test)."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from names_texts import by_the_product
from scripted import scripted_words
from textveil.bundle import open_bundle
from textveil.bundle.text_bundle import TextBundle
from textveil.text.names.plan import NamesPlanFactory

GOLDEN = Path(__file__).parents[2] / "docs" / "golden"
TOLD = json.loads((GOLDEN / "facts.json").read_text("utf-8"))
CASES = pytest.mark.parametrize("case", TOLD["cases"], ids=range(len(TOLD["cases"])))


@pytest.fixture(scope="module")
def opened() -> TextBundle:
    return open_bundle(GOLDEN / "facts", TextBundle)


@CASES
def test_the_product_gives_the_golden_texts(case: dict[str, Any], opened: TextBundle) -> None:
    found = by_the_product(opened, TOLD["documents"], case["options"], scripted_words(case["random_label"]))
    assert found == (case["outputs"], case["templates"], case["kept_words"], case["random_words"])
    terms = NamesPlanFactory(opened).make_plan(case["options"]).terms
    assert terms.statement(sum(case["kept_words"])).format_line() == case["line"]


def test_without_the_option_the_facts_of_plain_are_kept(opened: TextBundle) -> None:
    plain, default = (case for case in TOLD["cases"] if case["options"] in ({"facts": "plain"}, {}))
    assert (plain["templates"], plain["kept_words"], plain["line"]) == (
        default["templates"],
        default["kept_words"],
        default["line"],
    )
    assert "technical and medical terms" in default["line"]


def test_each_value_keeps_more_in_some_document_and_less_in_none() -> None:
    kept = [case["kept_words"] for case in TOLD["cases"][:4]]
    for less, more in pairwise(kept):
        assert all(few <= many for few, many in zip(less, more, strict=True))
        assert sum(less) < sum(more)
