"""A tracer of the runnable gets sanitized text, or nothing."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from canaries import SECRET
from host_texts import TEXT, VISIBLE, is_sanitized, refused_in_one_line
from textveil.errors import InputError
from textveil_cli.errors import ColumnError, TracingRefused

pytest.importorskip("langchain_core", reason="needs the extra langchain: make integrations")

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumps
from langchain_core.messages import HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.runnables import RunnableLambda
from textveil_cli.integrations.langchain import SanitizeDocuments, SanitizeFirst
from tracers import Tracer


def chain() -> Any:
    prompt = ChatPromptTemplate.from_messages([("user", "Answer: {note}")])

    def echo(messages: Any) -> str:
        return messages.to_string()

    return SanitizeFirst(protect="words", epsilon=4) | {"note": lambda text: text} | prompt | RunnableLambda(echo)


def test_the_text_is_sanitized() -> None:
    said = SanitizeFirst(protect="words", epsilon=4).invoke(TEXT)
    assert said.startswith("The ")
    assert said.endswith(" and not")
    assert "Zorblax" not in said
    assert chain().invoke("The of").endswith("Answer: The of")


def ways(chain: Any, config: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    async def pieces() -> list[Any]:
        return [piece async for piece in chain.astream(TEXT, config)]

    return {
        "invoke": lambda: chain.invoke(TEXT, config),
        "batch": lambda: chain.batch([TEXT, TEXT], config),
        "stream": lambda: list(chain.stream(TEXT, config)),
        "transform": lambda: list(chain.transform(iter([TEXT]), config)),
        "ainvoke": lambda: asyncio.run(chain.ainvoke(TEXT, config)),
        "abatch": lambda: asyncio.run(chain.abatch([TEXT, TEXT], config)),
        "astream": lambda: asyncio.run(pieces()),
    }


WAYS = ["invoke", "batch", "stream", "transform", "ainvoke", "abatch", "astream"]


@pytest.mark.parametrize("way", WAYS)
def test_a_tracer_of_the_chain_never_sees_the_text(tracer: Tracer, way: str) -> None:
    said = ways(chain(), {"callbacks": [tracer]})[way]()
    assert "and not" in tracer.everything  # it sees what follows
    assert "Zorblax" not in tracer.everything + str(said)
    alone = Tracer()
    ways(SanitizeFirst(), {"callbacks": [alone]})[way]()
    assert "Zorblax" not in alone.everything


@pytest.mark.parametrize("way", WAYS)
def test_inside_a_traced_run_it_refuses(tracer: Tracer, way: str) -> None:
    late = RunnableLambda(lambda text: text) | chain()
    with pytest.raises(TracingRefused) as refused:
        ways(late, {"callbacks": [tracer]})[way]()
    assert "Zorblax" not in str(refused.value)
    assert "Zorblax" in tracer.everything  # which is why: the run around it has shown the text already
    assert "and not" in str(ways(late, {})[way]())  # without a tracer it is a step like any other


def test_a_retry_around_it_is_a_run_and_is_refused(tracer: Tracer) -> None:
    with pytest.raises(TracingRefused):
        SanitizeFirst().with_retry(stop_after_attempt=1).invoke(TEXT, {"callbacks": [tracer]})


def test_events_are_refused() -> None:
    """The first event would contain the input."""
    for stream in (chain().astream_events, chain().astream_log):
        with pytest.raises(TracingRefused):
            stream(TEXT)


def test_its_own_description_has_no_text() -> None:
    built = chain()
    built.invoke(TEXT)
    assert "Zorblax" not in repr(built) + dumps(built) + json.dumps(str(built.get_graph()))


def test_what_is_no_string_is_refused() -> None:
    with pytest.raises(InputError):
        SanitizeFirst().invoke({"note": SECRET})


def test_a_model_streams() -> None:
    built = SanitizeFirst() | FakeListChatModel(responses=["thank you"]) | StrOutputParser()
    assert "".join(built.stream("The of")) == "thank you"


# --- as its tutorial calls it: dictionaries, prompts, messages, batches, documents ----------------------------------


@pytest.fixture
def seen() -> list[str]:
    """Return the inputs of all models."""
    return []


@pytest.fixture
def model(seen: list[str]) -> RunnableLambda:
    def answer(given: Any) -> str:
        seen.append(given if isinstance(given, str) else given.to_messages()[-1].content)
        return "thank you"

    return RunnableLambda(answer)


PROMPT = ChatPromptTemplate.from_messages([("system", "Be kind in {language}."), ("user", "{note}")])
ONE = PromptTemplate.from_template("{note}")


def test_before_a_prompt_of_one_variable(model: RunnableLambda, seen: list[str]) -> None:
    for prompt in (ONE, ChatPromptTemplate.from_template("{note}")):
        assert (SanitizeFirst() | prompt | model).invoke(TEXT) == "thank you"
    assert [is_sanitized(text) for text in seen] == [True, True]


@pytest.mark.parametrize("way", ["invoke", "batch", "stream", "ainvoke", "abatch"])
def test_a_dictionary_with_its_keys(tracer: Tracer, model: RunnableLambda, seen: list[str], way: str) -> None:
    chain = SanitizeFirst(keys=["note"]).pipe(PROMPT, model)
    given: Any = {"note": TEXT, "language": "English"}
    said = getattr(chain, way)([given] if "batch" in way else given, {"callbacks": [tracer]})
    assert "thank you" in str(list(said) if way == "stream" else asyncio.run(said) if way[0] == "a" else said)
    assert [is_sanitized(text) for text in seen] == [True]
    assert "Be kind in English." in tracer.everything
    assert "Zorblax" not in tracer.everything


@pytest.mark.parametrize(
    "given",
    [
        {"note": TEXT},
        [TEXT],
        HumanMessage(TEXT),
        [HumanMessage(TEXT)],
        [("user", TEXT)],
        ChatPromptTemplate.from_template("{note}").invoke({"note": TEXT}),
        ONE.invoke({"note": TEXT}),
        Document(page_content=TEXT),
        TEXT.encode(),
        None,
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_is_no_text_is_refused_with_what_to_do(model: RunnableLambda, seen: list[str], given: Any) -> None:
    with pytest.raises(InputError, match="put SanitizeFirst before the prompt") as refused:
        (SanitizeFirst() | model).invoke(given)
    assert refused_in_one_line(str(refused.value))
    assert seen == []


@pytest.mark.parametrize("prompt", [PROMPT, ONE], ids=["chat", "text"])
def test_behind_a_prompt_it_is_refused(model: RunnableLambda, seen: list[str], prompt: Any) -> None:
    with pytest.raises(InputError, match="put SanitizeFirst before the prompt"):
        (prompt | SanitizeFirst() | model).invoke({"note": TEXT, "language": "English"})
    assert seen == []


def test_one_variable_of_several(model: RunnableLambda, seen: list[str]) -> None:
    parts: Any = {"note": (lambda given: given["note"]) | SanitizeFirst(), "language": lambda given: given["language"]}
    assert (parts | PROMPT | model).invoke({"note": TEXT, "language": "English"}) == "thank you"
    assert [is_sanitized(text) for text in seen] == [True]


@pytest.mark.parametrize("keys", [[], ["note"]])
def test_a_batch_is_a_list(keys: list[str]) -> None:
    """LangChain goes through the characters of a string, and would give each to the chain."""
    chain = SanitizeFirst(keys=keys)

    async def pieces() -> list[Any]:
        return [piece async for piece in chain.abatch_as_completed(TEXT)]

    for call in (
        lambda: chain.batch(TEXT),  # type: ignore[arg-type]
        lambda: list(chain.batch_as_completed(TEXT)),
        lambda: asyncio.run(chain.abatch(TEXT)),  # type: ignore[arg-type]
        lambda: asyncio.run(pieces()),
        lambda: chain.batch({"note": TEXT}),  # type: ignore[arg-type]
        lambda: chain.map().invoke(TEXT),
    ):
        with pytest.raises((InputError, TracingRefused)) as refused:
            call()
        assert refused_in_one_line(str(refused.value))


def test_batches_as_they_come() -> None:
    assert sorted(number for number, _ in SanitizeFirst().batch_as_completed([TEXT, TEXT])) == [0, 1]
    assert all(is_sanitized(text) for _, text in SanitizeFirst().batch_as_completed([TEXT, TEXT]))


def test_keys_are_names_and_have_texts() -> None:
    with pytest.raises(InputError, match="expected keys, got one string: put it in a list"):
        SanitizeFirst(keys="note")
    for given, names in (({"other": TEXT}, "other"), ({"note": None}, "note"), ({"note": [TEXT]}, "note")):
        with pytest.raises(ColumnError, match=rf"^key note has no text in the input \({names}\)"):
            SanitizeFirst(keys=["note"]).invoke(given)
    with pytest.raises(ColumnError, match=r"^key 1 of 2 has no text in the input$"):
        SanitizeFirst(keys=[f"{SECRET} said", "note"]).invoke({"note": TEXT, f"{SECRET} said that it was clean": TEXT})


def test_documents_before_they_go_to_a_store() -> None:
    given = [Document(page_content=TEXT, metadata={"page": 3}, id="7"), Document(page_content=VISIBLE)]
    for done in (
        SanitizeDocuments().transform_documents(given),
        asyncio.run(SanitizeDocuments().atransform_documents(given)),
    ):
        assert is_sanitized(done[0].page_content)
        assert (done[0].metadata, done[0].id) == ({"page": 3}, "7")
        assert done[1].page_content == VISIBLE
        done[0].metadata["page"] = 4
    assert (given[0].page_content, given[0].metadata) == (TEXT, {"page": 3})


@pytest.mark.parametrize("given", [TEXT, [TEXT], Document(page_content=TEXT), {"a": Document(page_content=TEXT)}])
def test_what_is_no_list_of_documents(given: Any) -> None:
    with pytest.raises(InputError) as refused:
        SanitizeDocuments().transform_documents(given)
    assert refused_in_one_line(str(refused.value))


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str]) -> None:
    said = example("with_langchain.py")
    assert said.count("traced:") == 3
    assert "Thank you. We will look into it.\nthe model got: I am " in said
    assert said.endswith("\nthe user got: Dear Anna Novak, we look for it.\n")
    assert said.count("Novak") == 1
