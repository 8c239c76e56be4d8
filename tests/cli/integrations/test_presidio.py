"""The operator in Presidio's own engine."""

import logging
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from canaries import SECRET

pytest.importorskip("presidio_anonymizer", reason="needs the extra presidio: make integrations")

from presidio_anonymizer import AnonymizerEngine, BatchAnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult
from scripts import ROOT
from textveil import Sanitizer
from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil_cli.integrations import Rewriter
from textveil_cli.integrations.presidio import TextveilOperator


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
    said = {anonymize("ask will about it", [("PERSON", "will")], epsilon=4) for _ in range(20)}
    assert any(not text.startswith("ask will ") for text in said)
    assert anonymize("ask will about it", [("PERSON", "will")], protect="words") == "ask will about it"


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(OptionError):
        anonymize("ask Anna", [("PERSON", "Anna")], epsilon=SECRET)


def test_nothing_is_logged_of_a_span(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        said = anonymize(f"ask {SECRET} now", [("PERSON", SECRET)])
    assert "performing operation" in caplog.text  # the log is looked at
    assert "Zorblax" not in caplog.text + said


# --- as its tutorial calls it: operators of entities, without parameters --------------------------------------------


@pytest.fixture
def engine() -> AnonymizerEngine:
    engine = AnonymizerEngine()
    engine.add_anonymizer(TextveilOperator)
    return engine


def found_in(text: str, spans: dict[str, str]) -> list[RecognizerResult]:
    return [RecognizerResult(kind, text.index(part), text.index(part) + len(part), 0.9) for part, kind in spans.items()]


NOTE = "ask Zorblaxia Quuxling of Frobnitzville about it"
SPANS = {"Zorblaxia Quuxling": "PERSON", "Frobnitzville": "LOCATION"}


def test_operators_without_parameters(engine: AnonymizerEngine) -> None:
    found = found_in(NOTE, SPANS)
    for operators in (
        {"DEFAULT": OperatorConfig("textveil")},
        {"PERSON": OperatorConfig("textveil"), "LOCATION": OperatorConfig("textveil", {})},
    ):
        said = engine.anonymize(NOTE, found, operators=operators)
        assert re.fullmatch(r"ask \S+ \S+ of \S+ about it", said.text)
        assert not [part for part in ("Zorblax", "Quux", "Frobnitz") if part in said.text]
        assert {item.operator for item in said.items} == {"textveil"}
    said = engine.anonymize(NOTE, found, operators={"PERSON": OperatorConfig("textveil")})
    assert said.text.endswith(" of <LOCATION> about it")  # as Presidio does where no operator is named


def test_lists_and_dictionaries_of_texts(engine: AnonymizerEngine) -> None:
    many = BatchAnonymizerEngine(anonymizer_engine=engine)
    said = many.anonymize_list(
        [NOTE, NOTE], [found_in(NOTE, SPANS)] * 2, operators={"DEFAULT": OperatorConfig("textveil")}
    )
    assert len(said) == 2
    assert not [part for part in ("Zorblax", "Quux", "Frobnitz") if part in str(said)]


@pytest.mark.parametrize(
    ("entity", "kinds"),
    [
        ("PERSON", ["given-name", "family-name", "family-name"]),
        ("LOCATION", ["city"] * 3),
        ("NRP", ["nationality"] * 3),
        ("ORGANIZATION", ["organization"] * 3),
    ],
)
@pytest.mark.parametrize(
    "span", ["Zorblaxia Quuxling Frobnitz", "zorblaxia quuxling frobnitz", "ZORBLAXIA McQuux Don't"]
)
def test_a_surrogate_is_of_the_kind_that_presidio_found(span: str, entity: str, kinds: list[str]) -> None:
    plan: Any = Sanitizer.load()._plan({})
    lists = {kind.name: set(kind.outputs) for kind in plan.rule.lists}
    said = anonymize(f"ask {span} about it", [(entity, span)])
    words = said.removeprefix("ask ").removesuffix(" about it").split()
    assert [word.casefold() in lists[kind] for word, kind in zip(words, kinds, strict=True)] == [True] * 3
    assert [word.isupper() for word in words] == [word.isupper() for word in span.split()]
    assert [word.islower() for word in words] == [word.islower() for word in span.split()]


def test_a_clitic_is_not_a_name() -> None:
    said = anonymize("ask Zorblaxia's dog", [("PERSON", "Zorblaxia's")])
    assert dict(Rewriter(protect="all").preview(said))[said.split()[1]] == "given-name"
    assert re.fullmatch(
        r"ask \S+'s dog", anonymize("ask Zorblaxia's dog", [("PERSON", "Zorblaxia's")], protect="words")
    )


@pytest.mark.parametrize("entity", ["PERSON", "LOCATION", "NRP", "ORGANIZATION"])
def test_nothing_depends_on_words_that_are_on_no_list(entity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.random.default_rng(7).integers(0, 2**64, 4096, np.uint64)
    monkeypatch.setattr(entropy, "random_uint64", lambda count: words[:count])
    spans = ["Zorblaxia Quuxling", "Frobnitz Table", "Invoice Doctor", "The Hungry"]
    assert len({anonymize(f"ask {span}", [(entity, span)]) for span in spans}) == 1
    assert len({anonymize(f"ask {span}", [("DATE_TIME", span)]) for span in spans}) > 1  # by words, the draw follows


def test_words_that_are_on_a_list_stay_of_its_kind() -> None:
    said = anonymize("at 42 Zorblax Street now", [("LOCATION", "42 Zorblax Street")])
    assert re.fullmatch(r"at [\d.,]+ \S+ \S+ now", said)
    kinds = dict(Rewriter(protect="all").preview(said))
    assert kinds[said.split()[3]] == "street-word"
    assert kinds[said.split()[2]] == "city"


def test_without_kinds_words_are_drawn_as_words() -> None:
    params = {"bundle": ROOT / "artifacts" / "english-santext", "mechanism": "santext", "epsilon": "11"}
    said = anonymize("ask Zorblaxia Quuxling about it", [("PERSON", "Zorblaxia Quuxling")], **params)
    assert said.startswith("ask ")
    assert not [part for part in ("Zorblax", "Quux") if part in said]


@pytest.mark.full
def test_the_recipe_runs(example: Callable[[str], str]) -> None:
    pytest.importorskip("presidio_analyzer", reason="the recipe needs presidio-analyzer: make integrations")
    said = example("with_presidio.py")
    assert said.startswith("Please call ")
    assert "555-0143" not in said
    assert "anna.novak" not in said
    assert "20-4431" in said
