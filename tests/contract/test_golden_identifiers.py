"""The golden vectors of identifiers, which the package for browsers reads too."""

import json
from pathlib import Path

import pytest
from textveil.text.identifiers import split_identifier

DOCS = Path(__file__).parents[2] / "docs"
CASES = json.loads((DOCS / "golden" / "identifiers.json").read_text("utf-8"))


@pytest.mark.parametrize(("identifier", "words"), CASES, ids=str)
def test_an_identifier_has_the_golden_words(identifier: str, words: list[str]) -> None:
    assert split_identifier(identifier) == words


def test_the_examples_of_the_document_are_golden() -> None:
    rule = (DOCS / "names-rule.md").read_text("utf-8")
    examples = [
        row.split("|")[1:3] for row in rule.partition("## Identifiers")[2].splitlines() if row.startswith("| `")
    ]
    assert len(examples) >= 6
    golden = dict(CASES)
    for identifier, words in examples:
        assert golden[identifier.strip(" `")] == words.strip(" `").split("` `")
