"""Runtime and second reader reproduce the golden vectors of the staircase, as whole texts."""

import json
from collections.abc import Iterator
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import pytest
import reference_reader as reader
from scripted import scripted_words
from textveil import Sanitizer
from whole_texts import Told, by_the_product

GOLDEN = Path(__file__).parents[2] / "docs" / "golden"
FOLDER = GOLDEN / "staircase"
TOLD = json.loads((GOLDEN / "staircase.json").read_text("utf-8"))
CASES = pytest.mark.parametrize("case", TOLD["cases"], ids=range(len(TOLD["cases"])))


def source(case: dict[str, Any]) -> Iterator[int]:
    """Return the random words of a case."""
    return repeat(int(case["random_word"], 16)) if "random_word" in case else scripted_words(case["random_label"])


def told(case: dict[str, Any]) -> Told:
    return case["outputs"], case["tokens"], case["random_words"]


@pytest.fixture(scope="module")
def opened() -> Sanitizer:
    return Sanitizer.load(FOLDER)


@pytest.fixture(scope="module")
def read() -> Any:
    return reader.open_bundle(FOLDER)


@CASES
def test_the_product_gives_the_golden_texts(case: dict[str, Any], opened: Sanitizer) -> None:
    assert by_the_product(opened, TOLD["texts"], case["options"], source(case)) == told(case)


@CASES
def test_the_document_gives_the_golden_texts(case: dict[str, Any], read: Any) -> None:
    words = source(case)
    found = reader.rewrite_batch(read, TOLD["texts"], case["options"], lambda number: list(islice(words, number)))
    assert found == told(case)


def test_the_vectors_have_every_option_and_role(read: Any) -> None:
    given = {name for case in TOLD["cases"] for name in case["options"]}
    assert given == {
        *("epsilon", "protect", "deny", "sanitize_punctuation"),
        *("consistent", "consistent_cap"),
    }
    rule = reader.TemplateReader(read, {"protect": "words"})
    met = {token.kind for text in TOLD["texts"] for item in rule.read(text) if isinstance(item, list) for token in item}
    assert met == {-1, *range(len(read.staircase.kinds))}


def test_the_bundle_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 100_000
