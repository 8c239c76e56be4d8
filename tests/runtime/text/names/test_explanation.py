"""An explained preview has each piece of a preview with its position and the list or rule that decides."""

from typing import Any

import pytest
from drawn_words import strict_words
from textveil import Sanitizer
from textveil.errors import OptionError
from textveil.text.explanation import ExplainedPiece
from textveil.text.options import FACTS

SANITIZER = Sanitizer.load()
TEXT = (
    "Dr. Sweet met Anna Novak, A. Bach and Zorblax in Boston. Please pay INR 2.8 NOW for zorbling to john@x.com; it's "
    "24/7. THE END of 5 dogs, customer_id and get_zorblax_name, Project Plan for it. Is Springfield Street far? I do."
)


def explain(text: str, **options: Any) -> dict[str, tuple[str, str]]:
    pieces = SANITIZER.preview(text, explain=True, protect="names", **options)
    return {piece.text: (piece.state, piece.reason) for piece in pieces}


@pytest.mark.parametrize("level", FACTS)
@pytest.mark.parametrize(
    "options",
    [{}, {"keep": ["city", "person"]}, {"style": "tag", "allow": ["zorblax"], "deny": ["dogs"]}, {"drop": ["city"]}],
    ids=str,
)
@pytest.mark.parametrize(
    "text", [TEXT, TEXT.lower(), f'{{"key": "{TEXT} \\u00e9\\nNovak", "b": 12}}', "", "\u0130 Ann"]
)
def test_the_pieces_are_those_of_the_preview(text: str, options: dict[str, Any], level: str) -> None:
    options = {**options, "protect": "names", "facts": level}
    pieces = SANITIZER.preview(text, explain=True, **options)
    assert [(piece.text, piece.state) for piece in pieces] == SANITIZER.preview(text, **options)
    assert [text[piece.start : piece.end] for piece in pieces] == [piece.text for piece in pieces]
    assert "".join(piece.text for piece in pieces) == text
    assert all((piece.reason == "") == (piece.state == "gap") for piece in pieces)


def test_each_reason_of_a_kept_word() -> None:
    reasons = explain(TEXT, allow=["zorblax"], keep=["city"])
    for word, reason in {
        "met": "common-word",
        "and": "function-word",
        "INR": "kept-capital",
        "Please": "common-word-at-start",
        "END": "common-word-in-capitals",
        "24": "expression",
        "Zorblax": "allow",
        "Boston": "keep: city",
    }.items():
        assert reasons[word] == ("kept", reason)


def test_each_reason_of_a_replaced_piece() -> None:
    reasons = explain(TEXT, deny=["dogs"])
    assert reasons["Sweet"] == ("person", "title-before")
    assert reasons["Anna Novak"] == ("person", "list: given, family")
    assert reasons["Boston"] == ("city", "list: city")
    assert reasons["Dr"] == ("title", "list: title")
    assert reasons["Springfield Street"] == ("street", "list: street-word")
    assert reasons["2.8"] == ("number", "pattern")
    assert reasons["john@x.com"] == ("email", "pattern")
    assert reasons["zorbling"] == ("word", "not-common")
    assert reasons["Zorblax"][1] == "capital"
    assert reasons["dogs"] == ("word", "deny")
    lower = explain("i met martin short in paris")
    assert (lower["martin"], lower["short"]) == (("person", "list: family"), ("word", "perhaps-a-name"))
    assert explain("We went to Zorblax in Kowalczyk")["Kowalczyk"] == ("city", "word-before")


def test_the_reasons_of_facts() -> None:
    reasons = explain(TEXT, facts="useful")
    assert reasons["5"] == ("kept", "facts: number")
    assert reasons["customer"] == reasons["id"] == reasons["get"] == ("kept", "facts: identifier")
    assert reasons["zorblax"][0] == "word"
    assert reasons["Project"] == ("kept", "facts: heading")
    assert reasons["dogs"] == ("kept", "common-word")
    assert explain("It was 37.5 °C and 5 kWh", facts="plain")["C"] == ("kept", "facts: unit")
    assert explain("We use Kubernetes for the phonon.", facts="useful")["Kubernetes"] == ("kept", "facts: capital")
    assert explain("They live in France.", facts="public")["France"] == ("kept", "facts: country")
    assert explain("We read the atachment now.", facts="useful")["atachment"] == ("kept", "facts: typing-error")
    assert explain("We read the atachment now.", facts="plain")["atachment"] == ("word", "not-common")
    assert explain(TEXT, facts="none")["5"] == ("number", "pattern")


def test_a_randomized_word_has_its_reason() -> None:
    words = strict_words(SANITIZER.bundle, 130)
    assert explain(f"the {words[7]} is here", randomize=words)[words[7]] == ("randomized", "randomize")


@pytest.mark.parametrize("mode", ["words", "all"])
def test_other_modes_explain_function_words(mode: str) -> None:
    pieces = SANITIZER.preview("The doctor, Anna", explain=True, protect=mode)
    assert [(piece.text, piece.state) for piece in pieces] == SANITIZER.preview("The doctor, Anna", protect=mode)
    assert pieces[0].reason == ("function-word" if mode == "words" else "")
    assert not [piece for piece in pieces[1:] if piece.reason]


def test_an_explained_preview_checks_its_options() -> None:
    assert isinstance(SANITIZER.preview("Anna", explain=True, protect="names")[0], ExplainedPiece)
    with pytest.raises(OptionError, match="no such entity type"):
        SANITIZER.preview("Anna", explain=True, protect="names", keep=["zorblax"])


def test_no_surrogate_of_a_replaced_character_is_in_a_piece() -> None:
    """Characters that this Python classifies in another way than the bundle are those of the text in every piece."""
    text = "Anna \U0001fae9 paid \U00016d40\U00016d41."
    pieces = SANITIZER.preview(text, explain=True, protect="names")
    assert "".join(piece.text for piece in pieces) == text
    assert pieces[-1].end == len(text)


def test_a_number_beside_an_identifying_word_has_this_reason() -> None:
    text = "Customer 4471 placed order #88213 of 3 chairs for patient: 77120. It cost 7719, and order.\n\n51 left."
    reasons = explain(text)
    for number, word in (("4471", "customer"), ("88213", "order"), ("77120", "patient")):
        assert reasons[number] == ("number", f"pattern: beside {word}")
    assert reasons["7719"][1] == reasons["51"][1] == "pattern"
    assert explain(text, facts="none")["4471"] == ("number", "pattern")
