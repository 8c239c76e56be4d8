"""The runnable under tracing: whoever looks on sees sanitized text, or nothing."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from canaries import SECRET
from host_texts import TEXT, VISIBLE, is_sanitized, refused_in_one_line
from textveil import Conversation
from textveil.errors import ColumnError, InputError, TracingRefused

pytest.importorskip("langchain_core", reason="needs the extra langchain: make integrations")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.runnables import RunnableGenerator, RunnableLambda
from textveil_cli.integrations.langchain import Converse, SanitizeDocuments, SanitizeFirst


class Tracer(BaseCallbackHandler):
    """Keeps all that any handler is told, as a tracing service would."""

    raise_error = True

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("on_"):
            return super().__getattribute__(name)

        def keep(*arguments: Any, **named: Any) -> None:
            self.seen.append(f"{name} {arguments} {named}")

        return keep

    @property
    def everything(self) -> str:
        return "\n".join(self.seen)


@pytest.fixture
def tracer() -> Tracer:
    return Tracer()


def chain() -> Any:
    prompt = ChatPromptTemplate.from_messages([("user", "Answer: {note}")])

    def echo(messages: Any) -> str:
        return messages.to_string()

    return SanitizeFirst(epsilon=4) | {"note": lambda text: text} | prompt | RunnableLambda(echo)


def test_the_text_is_sanitized() -> None:
    said = SanitizeFirst(epsilon=4).invoke(TEXT)
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
    """Their first one has the input that was given."""
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
    """What models were sent."""
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
    with pytest.raises(InputError, match="SanitizeFirst goes before the prompt") as refused:
        (SanitizeFirst() | model).invoke(given)
    assert refused_in_one_line(str(refused.value))
    assert seen == []


@pytest.mark.parametrize("prompt", [PROMPT, ONE], ids=["chat", "text"])
def test_behind_a_prompt_it_is_refused(model: RunnableLambda, seen: list[str], prompt: Any) -> None:
    with pytest.raises(InputError, match="SanitizeFirst goes before the prompt"):
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


def test_pipe_is_no_run_around_it(tracer: Tracer) -> None:
    said = SanitizeFirst().pipe(RunnableLambda(str.upper), StrOutputParser()).invoke(TEXT, {"callbacks": [tracer]})
    assert said.startswith("THE ")
    assert "and not" in tracer.everything
    assert "Zorblax" not in tracer.everything


def test_keys_are_names_and_have_texts() -> None:
    with pytest.raises(InputError, match="where keys are wanted"):
        SanitizeFirst(keys="note")
    for given in ({"other": TEXT}, {"note": None}, {"note": [TEXT]}):
        with pytest.raises(ColumnError, match=r"^key 1 of 1 has no text in the input$"):
            SanitizeFirst(keys=["note"]).invoke(given)


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


class Echo(FakeListChatModel):
    """Says what it was told last, word by word."""

    def _call(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        return f"You said: {messages[-1].content}"

    def _stream(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        from langchain_core.outputs import ChatGenerationChunk

        for character in self._call(messages):
            yield ChatGenerationChunk(message=AIMessageChunk(content=character))

    async def _astream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        for chunk in self._stream(messages):
            yield chunk


SAID = "I am Zorblaxia Novak, order 88213.471."


def test_a_model_is_talked_with(tracer: Tracer) -> None:
    talk = Converse(Echo(responses=["unused"]), Conversation())
    reply = talk.invoke(SAID, config={"callbacks": [tracer]})
    assert isinstance(reply, AIMessage)
    assert reply.content == f"You said: {SAID}"
    again = talk.invoke([HumanMessage(SAID), reply, ("user", "Novak, please")], config={"callbacks": [tracer]})
    assert again.content == "You said: Novak, please"
    assert "".join(str(chunk.content) for chunk in talk.stream(SAID)) == f"You said: {SAID}"
    assert asyncio.run(talk.ainvoke(ChatPromptTemplate.from_template("{note}").invoke({"note": SAID}))).content
    assert tracer.seen
    for word in ("Zorblaxia", "Novak", "88213.471"):
        assert word not in tracer.everything + repr(talk)


def test_a_talk_that_begins_with_a_stream() -> None:
    assert "".join(chunk.text for chunk in Converse(Echo(responses=[""]), Conversation()).stream(SAID)).endswith(SAID)

    async def pieces(talk: Converse) -> str:
        return "".join([chunk.text async for chunk in talk.astream(SAID)])

    assert asyncio.run(pieces(Converse(Echo(responses=[""]), Conversation()))).endswith(SAID)


def test_what_a_model_thought_in_a_stream_goes_back_to_it() -> None:
    seen: list[Any] = []

    def thinks(given: Any) -> Any:
        seen.extend(given)
        for part in ({"type": "thinking", "thinking": "Od"}, {"type": "thinking", "thinking": "d", "signature": "s"}):
            yield AIMessageChunk(content=[{**part, "index": 0}])
        yield AIMessageChunk(content=[{"type": "text", "text": "Hello", "index": 1}])

    talk = Converse(RunnableGenerator(thinks), Conversation())
    said, calls = HumanMessage(SAID), AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}])
    first, *rest = talk.stream([said])
    reply = sum(rest, first)
    list(talk.stream([said, reply, said, calls, ToolMessage("no", tool_call_id="1", status="error")]))
    assert seen[1][1].content[0] == {"type": "thinking", "thinking": "Odd", "signature": "s", "index": 0}
    assert seen[1][-1].status == "error"  # a tool that failed


def test_a_talk_inside_a_traced_run_is_refused(tracer: Tracer) -> None:
    talk = Converse(Echo(responses=["unused"]), Conversation())
    with pytest.raises(TracingRefused):
        RunnableLambda(lambda text: talk.invoke(text)).invoke(SAID, config={"callbacks": [tracer]})
    with pytest.raises(InputError, match="image_url"):
        talk.invoke([HumanMessage([{"type": "image_url", "image_url": {"url": "x"}}])])
