"""The operators work in Presidio's own engine."""

import logging
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from canaries import SECRET

pytest.importorskip("presidio_anonymizer", reason="needs the extra presidio: make integrations")

from presidio_anonymizer import AnonymizerEngine, BatchAnonymizerEngine, DeanonymizeEngine
from presidio_anonymizer.entities import OperatorConfig, OperatorResult, RecognizerResult
from scripts import ROOT
from textveil import Conversation, Sanitizer
from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil_cli.integrations import ConfiguredSanitizer
from textveil_cli.integrations.presidio import TextveilOperator, TextveilRestoreOperator


def anonymize(text: str, spans: list[tuple[str, str]], **params: object) -> str:
    engine = AnonymizerEngine()
    engine.add_anonymizer(TextveilOperator)
    found = [RecognizerResult(kind, text.index(part), text.index(part) + len(part), 0.9) for kind, part in spans]
    return engine.anonymize(text, found, {"DEFAULT": OperatorConfig("textveil", params)}).text


def test_what_is_found_is_drawn_and_the_rest_stays() -> None:
    text = "invoice 7: call 555-1234, or zorblax@example.org, or Zorblaxia"  # none of these is a substitute
    spans = [("PHONE_NUMBER", "555-1234"), ("EMAIL_ADDRESS", "zorblax@example.org"), ("PERSON", "Zorblaxia")]
    said = anonymize(text, spans)
    assert said.startswith("invoice 7: call ")
    assert not any(part in said for _, part in spans)
    assert "@" in said


def test_a_function_word_that_is_found_is_drawn_unless_it_is_to_stay() -> None:
    said = {anonymize("ask will about it", [("PERSON", "will")], protect="all", epsilon=4) for _ in range(20)}
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
        assert re.fullmatch(r"ask \S+ \S+ of \S+( \S+)* about it", said.text)  # a city may have several words
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
        ("NRP", ["group"] * 3),
        ("ORGANIZATION", ["organization"] * 3),
    ],
)
@pytest.mark.parametrize(
    "span", ["Zorblaxia Quuxling Frobnitz", "zorblaxia quuxling frobnitz", "ZORBLAXIA McQuux Don't"]
)
def test_a_surrogate_is_of_the_kind_that_presidio_found(span: str, entity: str, kinds: list[str]) -> None:
    plan: Any = Sanitizer.load()._get_plan({"protect": "all"})
    lists = {kind.name: set(kind.surrogates) for kind in plan.rule.entity_types}
    said = anonymize(f"ask {span} about it", [(entity, span)], protect="all")
    words = said.removeprefix("ask ").removesuffix(" about it").split()
    assert [word.casefold() in lists[kind] for word, kind in zip(words, kinds, strict=True)] == [True] * 3
    assert [word.isupper() for word in words] == [word.isupper() for word in span.split()]
    assert [word.islower() for word in words] == [word.islower() for word in span.split()]


@pytest.mark.parametrize(
    ("entity", "span", "shape"),
    [
        ("PERSON", "will", r"[A-Za-z' -]+"),
        ("ILLNESS", "diabetes", r"[a-z'-]+"),
        ("ILLNESS", "a common cold", r"[a-z'-]+ [a-z'-]+ [a-z'-]+"),
        ("DOSE", "5 mg of aspirin", r"\S+ \S+ \S+ \S+"),
        ("WILL", "Don't Hope", r"\S+ \S+"),
    ],
)
def test_by_default_no_word_of_a_span_stays(entity: str, span: str, shape: str) -> None:
    for params in ({}, {"protect": "names"}, {"protect": "names", "facts": "public", "deny": ["quux"]}):
        said = anonymize(f"see {span} now", [(entity, span)], **params)
        assert re.fullmatch(f"see {shape} now", said)
        words = {word for word in span.split() if not word.isdigit()}  # a random digit may be the same
        assert words.isdisjoint(said.removeprefix("see ").removesuffix(" now").split())
    assert anonymize("see this morning now", [("DATE_TIME", "this morning")]) == "see this morning now"


def test_a_clitic_is_not_a_name() -> None:
    said = anonymize("ask Zorblaxia's dog", [("PERSON", "Zorblaxia's")], protect="all")
    assert dict(ConfiguredSanitizer(protect="all").preview(said))[said.split()[1]] == "given-name"
    assert re.fullmatch(
        r"ask \S+'s dog", anonymize("ask Zorblaxia's dog", [("PERSON", "Zorblaxia's")], protect="words")
    )


@pytest.mark.parametrize("entity", ["PERSON", "LOCATION", "NRP", "ORGANIZATION"])
def test_nothing_depends_on_words_that_are_on_no_list(entity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.random.default_rng(7).integers(0, 2**64, 4096, np.uint64)
    monkeypatch.setattr(entropy, "random_uint64", lambda count: words[:count])
    spans = ["Zorblaxia Quuxling", "Frobnitz Table", "Invoice Doctor", "The Hungry"]
    assert len({anonymize(f"ask {span}", [(entity, span)], protect="all") for span in spans}) == 1
    assert (
        len({anonymize(f"ask {span}", [("DATE_TIME", span)], protect="all") for span in spans}) > 1
    )  # by words, the draw follows


def test_words_that_are_on_a_list_stay_of_its_kind() -> None:
    said = anonymize("at 42 Zorblax Street now", [("LOCATION", "42 Zorblax Street")], protect="all")
    assert re.fullmatch(r"at [\d.,]+ \S+ \S+ now", said)
    kinds = dict(ConfiguredSanitizer(protect="all").preview(said))
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
    drawn, sent, back, reply = said.splitlines()
    assert "555-0143" not in drawn + sent
    assert "anna.novak" not in drawn + sent
    assert drawn.endswith(" about invoice 20-4431.")
    assert back.startswith("back: Please call 555-0143 or write to anna.novak@example.org ")
    assert reply == "reply: I wrote to anna.novak@example.org today."


# --- with a conversation: what was replaced comes back --------------------------------------------------------------


def settings(conversation: Any, **others: Any) -> dict[str, OperatorConfig]:
    return {"DEFAULT": OperatorConfig("textveil", {"conversation": conversation, **others})}


def test_the_other_engine_puts_back_what_was_replaced(engine: AnonymizerEngine) -> None:
    text = "ask Zorblaxia Quuxling of Frobnitzville, 555-1234, will and diabetes since 30 March 2024; Quuxling"
    spans = {
        "Zorblaxia Quuxling": "PERSON",
        "Frobnitzville": "LOCATION",
        "555-1234": "PHONE_NUMBER",
        "will": "PERSON",
        "diabetes": "ILLNESS",
        "30 March 2024": "DATE_TIME",  # surrogates have days up to 28
    }
    found = [*found_in(text, spans), RecognizerResult("PERSON", len(text) - 8, len(text), 0.9)]
    mapping = settings(Conversation(style="surrogate", facts="none"))
    sent = engine.anonymize(text, found, mapping)
    assert re.fullmatch(r"ask \S+ (\S+) of .+, \S+, .+ and .+ since \d+ \w+ \d{4}; \1", sent.text)
    # A date is drawn from all dates of the years around it, so its surrogate may equal it.
    undated = [part for part, entity in spans.items() if entity != "DATE_TIME"]
    assert not [part for part in undated if re.search(rf"(?<!\w){part}(?!\w)", sent.text)]
    back = DeanonymizeEngine()
    back.add_deanonymizer(TextveilRestoreOperator)
    assert back.deanonymize(sent.text, sent.items, mapping).text == text
    name = sent.text.split()[1]
    reply = f"Tell {name} that {name}'s call is on {re.findall(r'[0-9]+ [A-Z][a-z]+ [0-9]{4}', sent.text)[0]}."
    whole = [OperatorResult(0, len(reply), "REPLY")]
    said = back.deanonymize(reply, whole, mapping).text
    assert said == "Tell Zorblaxia that Zorblaxia's call is on 30 March 2024."
    assert back.deanonymize(reply, whole, settings(Conversation())).text == reply


@pytest.mark.parametrize(
    ("entity", "span", "written"),
    [
        ("PERSON", "Zorblaxia Quuxling", "[person 1]"),
        ("PERSON", "will", "[person 1]"),
        ("PERSON", "Dr. Smith", "[title 1]. [person 1]"),
        ("LOCATION", "Frobnitzville", "[city 1]"),
        ("LOCATION", "12 Elm Street, Springfield", "[number 1] [street 1], [city 1]"),
        ("LOCATION", "Reading", "[city 1]"),
        ("NRP", "Zorblaxian", "[group 1]"),
        ("ORGANIZATION", "Zorblaxia", "[organization 1]"),
        ("ORGANIZATION", "the Frobnitz", "[organization 1]"),
        ("EMAIL_ADDRESS", "anna@quux.org", "[email 1]"),
        ("ILLNESS", "diabetes", "[word 1]"),
        ("DATE_TIME", "since 12 March 2024", "since [day 1] [month 1] [year 1]"),
    ],
)
def test_the_entity_decides_the_kind(entity: str, span: str, written: str) -> None:
    params = {"conversation": Conversation(style="tag"), "entity_type": entity}
    assert TextveilOperator().operate(span, params) == written


@pytest.mark.parametrize(("entity", "span"), [("LOCATION", "Java"), ("PERSON", "Project Plan"), ("LOCATION", "France")])
def test_a_detected_span_is_replaced_even_if_it_is_a_public_fact(entity: str, span: str) -> None:
    params = {"conversation": Conversation(style="tag", facts="public"), "entity_type": entity}
    assert span not in TextveilOperator().operate(span, params)


def test_a_conversation_is_the_only_parameter(engine: AnonymizerEngine) -> None:
    for wrong in (settings("talk"), settings(Conversation(), epsilon=6)):
        with pytest.raises(
            OptionError, match="must be a Conversation and the only parameter: set options in the Conversation"
        ):
            engine.anonymize(NOTE, found_in(NOTE, SPANS), wrong)
    back = DeanonymizeEngine()
    back.add_deanonymizer(TextveilRestoreOperator)
    with pytest.raises(OptionError, match="the parameter conversation is missing"):
        back.deanonymize("ask", [OperatorResult(0, 3, "PERSON")], {"DEFAULT": OperatorConfig("textveil")})
    with pytest.raises(OptionError, match="entity_type must be one of"):
        Conversation().outgoing_text("ask", "animal")


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("![x](https://e.example/?q={})", {"restore_places": "all"}),
        ("[x](https://ok.example/?q={})", {"restore_hosts": ["ok.example"]}),
        ("Run `{}`.", {"restore_places": ["code"]}),
        ('{"name": "{}"}', {"restore_places": ["json"]}),
        ("<script>{}", {"restore_places": ["all"]}),
    ],
)
def test_a_reply_is_restored_in_running_text_alone(reply: str, option: dict[str, Any]) -> None:
    for given in ({}, option):
        conversation = Conversation(style="surrogate", **given)
        name = conversation.outgoing_text("Zorblaxia Novak", "person")
        text = reply.replace("{}", name)
        expected = reply.replace("{}", "Zorblaxia Novak") if given else text
        assert TextveilRestoreOperator().operate(text, {"conversation": conversation}) == expected
