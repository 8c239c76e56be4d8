"""The operator in Presidio's own engine."""

import logging
from collections.abc import Callable

import pytest
from canaries import SECRET

pytest.importorskip("presidio_anonymizer", reason="needs the extra presidio: make integrations")

from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult
from textveil.errors import OptionError
from textveil.integrations.presidio import TextveilOperator


def anonymize(text: str, spans: list[tuple[str, str]], **params: object) -> str:
    engine = AnonymizerEngine()
    engine.add_anonymizer(TextveilOperator)
    found = [RecognizerResult(kind, text.index(part), text.index(part) + len(part), 0.9) for kind, part in spans]
    return engine.anonymize(text, found, {"DEFAULT": OperatorConfig("textveil", params)}).text


def test_what_is_found_is_drawn_and_the_rest_stays() -> None:
    text = "invoice 7: call 555-0143, or anna@example.org, or Zorblaxia"
    spans = [("PHONE_NUMBER", "555-0143"), ("EMAIL_ADDRESS", "anna@example.org"), ("PERSON", "Zorblaxia")]
    said = anonymize(text, spans)
    assert said.startswith("invoice 7: call ")
    assert not any(part in said for _, part in spans)
    assert "@" in said


def test_a_function_word_that_is_found_is_drawn_unless_it_is_to_stay() -> None:
    said = {anonymize("ask will about it", [("PERSON", "will")], level="strongest") for _ in range(20)}
    assert any(not text.startswith("ask will ") for text in said)
    assert anonymize("ask will about it", [("PERSON", "will")], visible="function-words") == "ask will about it"


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(OptionError):
        anonymize("ask Anna", [("PERSON", "Anna")], level=SECRET)


def test_nothing_is_logged_of_a_span(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        said = anonymize(f"ask {SECRET} now", [("PERSON", SECRET)])
    assert "performing operation" in caplog.text  # the log is looked at
    assert "Zorblax" not in caplog.text + said


@pytest.mark.full
def test_the_recipe_runs(example: Callable[[str], str]) -> None:
    pytest.importorskip("presidio_analyzer", reason="the recipe needs presidio-analyzer: make integrations")
    said = example("with_presidio.py")
    assert said.startswith("Please call ")
    assert "555-0143" not in said
    assert "anna.novak" not in said
    assert "20-4431" in said
