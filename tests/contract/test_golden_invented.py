"""The mode `names` reads an invented language by the rules of its bundle alone, and no word of English."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from invented_language import CLITICS_BEFORE, WORDS, spell
from names_texts import by_the_product
from scripted import scripted_words
from textveil import Sanitizer
from textveil.bundle import open_bundle
from textveil.bundle.text_bundle import TextBundle

GOLDEN = Path(__file__).parents[2] / "docs" / "golden"
VECTORS = json.loads((GOLDEN / "names-qaa.json").read_text("utf-8"))
ENGLISH_TEXT = (
    "My doctor said that the new house in London was sold on Monday by Anna Baker. I can't believe it's true, and they"
    " never told us about the old car or the twenty letters. Please call him, thanks! The President of France won."
)


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load(GOLDEN / "names-qaa")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=range(len(VECTORS["cases"])))
def test_the_product_gives_the_golden_texts(case: dict[str, Any]) -> None:
    bundle, stream = open_bundle(GOLDEN / "names-qaa", TextBundle), scripted_words(case["random_label"])
    found = by_the_product(bundle, VECTORS["documents"], case["options"], stream)
    assert found == (case["outputs"], case["templates"], case["kept_words"], case["random_words"])


def test_no_english_word_is_kept_or_produced(sanitizer: Sanitizer) -> None:
    english = Sanitizer.load().bundle.get_names_lists()
    listed = english.common_words.keys() | set().union(*english.members_by_type.values())
    assert not listed & set(WORDS)
    for text in (ENGLISH_TEXT, ENGLISH_TEXT.lower(), ENGLISH_TEXT.upper()):
        result = sanitizer.sanitize(text, protect="names", facts="none")
        words = set(re.findall(r"[^\W\d_]{2,}", result.text.lower()))
        assert not words & set(re.findall(r"[^\W\d_]{2,}", text.lower()))
        assert not words & english.common_words.keys()


def tag(sanitizer: Sanitizer, text: str) -> str:
    return sanitizer.sanitize(spell(text), protect="names", style="tag", facts="none").text


@pytest.mark.parametrize("clitic", CLITICS_BEFORE)
def test_a_clitic_before_a_name_is_kept_and_one_with_a_capital_is_part_of_it(sanitizer: Sanitizer, clitic: str) -> None:
    assert tag(sanitizer, f"w0 {clitic}Vrobel w1") == spell(f"w0 {clitic}[person 1] w1")
    assert tag(sanitizer, f"w0 {clitic.capitalize()}Vrobel w1") == spell("w0 [person 1] w1")
    assert tag(sanitizer, f"{clitic.capitalize()}w61 w0") == spell(f"{clitic.capitalize()}w61 w0")
    look_alike = clitic.replace("l", "\u217c").replace("d", "\u217e")
    assert look_alike not in tag(sanitizer, f"W0 {look_alike}w61 w1 Zork")


@pytest.mark.parametrize("text", ["W0 W30 W1 Zork.", "W0 Zork, W30.", "W30 W31 W0 Zork."])
def test_a_noun_with_a_capital_is_kept_outside_of_names(sanitizer: Sanitizer, text: str) -> None:
    assert tag(sanitizer, text) == spell(text).replace("Zork", "[person 1]")


@pytest.mark.parametrize("text", ["W0 Ttx W30 w1", "W0 Zork W30 w1", "W0 A. W30 w1", "W0 Zork-W30 w1"])
def test_a_noun_in_a_name_is_hidden(sanitizer: Sanitizer, text: str) -> None:
    assert spell("W30") not in tag(sanitizer, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w0 5 w1 monlq w1 2024 w2", "w0 [day 1] w1 [month 1] w1 [year 1] w2"),
        ("w0 3. Monlq 24 w2", "w0 [day 1]. [month 1] [day 2] w2"),
        ("w0 5 w2 monlq w2", "w0 [number 1] w2 [month 1] w2"),
        ("w0 1.234,56 w1 1.234.567 w1", "w0 [number 1] w1 [number 2] w1"),
    ],
)
def test_dates_and_numbers_have_the_marks_of_the_language(sanitizer: Sanitizer, text: str, expected: str) -> None:
    assert tag(sanitizer, text) == spell(expected)


def test_surrogates_of_numbers_have_the_marks_of_the_language(sanitizer: Sanitizer) -> None:
    text = sanitizer.sanitize("1.234,56 12.345.678 7h30", protect="names", facts="none").text
    assert re.fullmatch(r"[2-9]\.[0-9]{3},[0-9]{2} [0-9]{1,2}\.[0-9]{3}\.[0-9]{3} [1-9]h[0-5][05]", text)
