"""The runtime reproduces the golden vectors of the mode `names`, as whole documents; web/test has the second reader."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from names_texts import by_the_product
from scripted import scripted_words
from textveil.bundle import open_bundle
from textveil.bundle.text_bundle import TextBundle
from textveil.text.names import read
from textveil.text.names.lexicon import is_letter
from textveil.text.names.plan import NamesPlanFactory
from textveil.text.names.tokens import NUMBER_WORD, NamesToken

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "golden" / "names"
TOLD = json.loads((DOCS / "golden" / "names.json").read_text("utf-8"))
CASES = pytest.mark.parametrize("case", TOLD["cases"], ids=range(len(TOLD["cases"])))


@pytest.fixture(scope="module")
def opened() -> TextBundle:
    return open_bundle(FOLDER, TextBundle)


def told(case: dict[str, Any]) -> tuple[Any, ...]:
    return case["outputs"], case["templates"], case["kept_words"], case["random_words"]


@CASES
def test_the_product_gives_the_golden_texts(case: dict[str, Any], opened: TextBundle) -> None:
    stream = scripted_words(case["random_label"])
    assert by_the_product(opened, TOLD["documents"], case["options"], stream) == told(case)
    terms = NamesPlanFactory(opened).make_plan(case["options"]).terms
    assert terms.statement(sum(case["kept_words"])).format_line() == case["line"]


def test_the_vectors_see_a_fault_in_two_letters_beside_each_other(
    opened: TextBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 24 faults that were planted by chance, the vectors missed only this one before they had such texts."""

    def may_have_spelled(words: Sequence[NamesToken], special_indices: Sequence[int]) -> bool:
        letters = [False, *map(is_letter, words), False]
        return any(words[index].flags & NUMBER_WORD or all(letters[index : index + 3]) for index in special_indices)

    monkeypatch.setattr(read, "may_have_spelled", may_have_spelled)
    case = TOLD["cases"][0]
    found = by_the_product(opened, TOLD["documents"], case["options"], scripted_words(case["random_label"]))
    assert found != told(case)
    at = [place for place, texts in enumerate(found[1]) if texts != case["templates"][place]]
    assert at == [len(TOLD["documents"]) - 1]


def test_the_vectors_have_every_option_and_kind() -> None:
    given = {name for case in TOLD["cases"] for name in case["options"]}
    assert given == {"facts", "consistent", "style", "consistent_cap", "keep", "tag", "drop", "allow", "deny"}
    texts = [text for case in TOLD["cases"] for texts in case["templates"] for text in texts]
    parts = {part[0] for text in texts for entry in text if isinstance(entry, list) for part in entry[5:]}
    pools = {path.stem.removeprefix("surrogates.").partition("-")[0] for path in FOLDER.glob("surrogates.*.txt")}
    assert {kind.partition("-")[0] for kind in parts} == {
        *(pools - {"particle"}),
        *(
            "number",
            "digits",
            "year",
            "season",
            "day",
            "age",
            "time",
            "date",
            "ordinal",
            "decade",
            "initial",
            "letter",
            "phone",
        ),
        *"card ssn account iban postcode ip mac email handle hashtag url path file hash key id".split(),
        *"symbol emoji keycap other spelled".split(),
    }


def test_the_example_of_the_document_is_the_first_text() -> None:
    rule = (DOCS / "names-rule.md").read_text("utf-8")
    assert f"> {TOLD['documents'][0][0]}\n" in rule
    assert f"> {TOLD['cases'][0]['outputs'][0][0]}\n" in rule


def test_the_bundle_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 100_000
