"""A model in a conversation, and a tracer, get surrogates."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from textveil import Conversation
from textveil.conversation import ReplyView
from textveil.errors import InputError
from textveil_cli.errors import TracingRefused

pytest.importorskip("langchain_core", reason="needs the extra langchain: make integrations")

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableGenerator, RunnableLambda
from langchain_core.tools import StructuredTool
from textveil_cli.integrations import langchain_messages
from textveil_cli.integrations.langchain import ConversationRunnable
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
    talk = ConversationRunnable(Echo(responses=["unused"]), Conversation())
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


@pytest.mark.parametrize("way", ["invoke", "stream", "ainvoke", "bound"])
def test_stop_sequences_are_rewritten_as_the_model_writes_them(way: str) -> None:
    """A model never writes an original; a special token of the model stays."""
    given: list[tuple[str, Any]] = []

    class Stops(Echo):
        def _generate(self, messages: Any, stop: Any = None, *args: Any, **kwargs: Any) -> Any:
            given.append((messages[-1].text, stop))
            return super()._generate(messages, stop, *args, **kwargs)

        def _stream(self, messages: Any, stop: Any = None, *args: Any, **kwargs: Any) -> Any:
            given.append((messages[-1].text, stop))
            return super()._stream(messages, stop, *args, **kwargs)

    model, stop = Stops(responses=["unused"]), ["Zorblaxia Novak", "</s>", "Observation:"]
    talk = ConversationRunnable(model.bind(stop=stop) if way == "bound" else model, Conversation())
    settings: dict[str, Any] = {} if way == "bound" else {"stop": stop}
    if way == "ainvoke":
        asyncio.run(talk.ainvoke(HELLO, **settings))
    else:
        list((talk.stream if way == "stream" else talk.invoke)(HELLO, **settings))
    ((sent, stops),) = given
    assert stops[0] in sent
    assert stops[1:] == stop[1:]
    assert "Novak" not in f"{stops}"


def test_a_talk_that_begins_with_a_stream() -> None:
    assert "".join(
        chunk.text for chunk in ConversationRunnable(Echo(responses=[""]), Conversation()).stream(SAID)
    ).endswith(SAID)

    async def pieces(talk: ConversationRunnable) -> str:
        return "".join([chunk.text async for chunk in talk.astream(SAID)])

    assert asyncio.run(pieces(ConversationRunnable(Echo(responses=[""]), Conversation()))).endswith(SAID)


def test_what_a_model_thought_in_a_stream_goes_back_to_it() -> None:
    seen: list[Any] = []

    def thinks(given: Any) -> Any:
        seen.extend(given)
        for part in ({"type": "thinking", "thinking": "Od"}, {"type": "thinking", "thinking": "d", "signature": "s"}):
            yield AIMessageChunk(content=[{**part, "index": 0}])
        yield AIMessageChunk(content=[{"type": "text", "text": "Hello", "index": 1}])

    talk = ConversationRunnable(RunnableGenerator(thinks), Conversation())
    said, calls = HumanMessage(SAID), AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}])
    first, *rest = talk.stream([said])
    reply = sum(rest, first)
    list(talk.stream([said, reply, said, calls, ToolMessage("no", tool_call_id="1", status="error")]))
    assert seen[1][1].content[0] == {"type": "thinking", "thinking": "Odd", "signature": "s", "index": 0}
    assert seen[1][-1].status == "error"  # a tool that failed


def test_a_talk_inside_a_traced_run_is_refused(tracer: Tracer) -> None:
    talk = ConversationRunnable(Echo(responses=["unused"]), Conversation())
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


@pytest.mark.slow
@pytest.mark.parametrize(("reply", "option", "reason"), ATTACKS)
def test_replies_are_restored_in_running_text_alone(reply: str, option: dict[str, Any], reason: str) -> None:
    for given in ({}, option):
        for length in (1, 2, 3, 4, 5, 999):

            def write(messages: Any, length: int = length) -> Any:
                text = reply.replace("{}", " ".join(next(messages)[0].text.split()[2:4]))
                for place in range(0, len(text), length):
                    yield AIMessageChunk(content=text[place : place + length])

            talk = ConversationRunnable(RunnableGenerator(write), Conversation(style="surrogate", **given))
            for found in (talk.invoke(HELLO), sum_of(talk.stream(HELLO))):
                assert ("Zorblaxia Novak" in found.text) is bool(given)
                stays = found.response_metadata["textveil"]["not_restored"]
                assert [one["reason"] for one in stays] == ([] if given else [reason])


def sum_of(chunks: Any) -> Any:
    first, *rest = chunks
    return sum(rest, first)


def test_no_place_is_spread_over_two_parts() -> None:
    def write(messages: Any) -> Any:
        name = " ".join(next(messages)[0].text.split()[2:4])
        for index, text in enumerate(("![x](<https://e.example/?q=", f" {name} >)")):
            yield AIMessageChunk(content=[{"type": "text", "text": text, "index": index}])

    talk = ConversationRunnable(RunnableGenerator(write), Conversation())
    for found in (talk.invoke(HELLO), sum_of(talk.stream(HELLO))):
        assert "Novak" not in found.text
        assert [one["reason"] for one in found.response_metadata["textveil"]["not_restored"]] == ["link"]


#: Opens a place that a surrogate closes, in a part in which nothing is restored; and what opens none.
OPENS = ("Look: ![x](https://e.example/?a=", '<img src="https://e.example/?', "`")
OPENS_NOTHING = "Look at **this** [page](https://b.example/x), `x = 1`: done."
#: Parts of a stream that stay as they came, and that a client may show before the text that follows.
UNREAD: dict[str, Callable[[str], list[dict[str, Any]]]] = {
    "unknown part": lambda text: [{"content": [{"type": "x", "text": text, "index": 0}]}],
    "unknown part in two": lambda text: [
        {"content": [{"type": "x", "note": part, "index": 0}]} for part in (text[:9], text[9:]) if part
    ],
    "part without type": lambda text: [{"content": [{"text": text}]}],
    "part of an odd type": lambda text: [{"content": [{"type": ["text"], "text": text}]}],
    "thinking": lambda text: [{"content": [{"type": "thinking", "thinking": text, "index": 0}]}],
    "reasoning": lambda text: [{"content": [{"type": "reasoning", "summary": [{"text": text}], "index": 0}]}],
    "refusal": lambda text: [{"content": [{"type": "refusal", "refusal": text}]}],
    "non-standard": lambda text: [{"content": [{"type": "non_standard", "value": {"content": [{"text": text}]}}]}],
    "field of a text": lambda text: [{"content": [{"type": "text", "text": "", "note": text, "index": 0}]}],
    "text that is no string": lambda text: [{"content": [{"type": "text", "text": {"value": text}, "index": 0}]}],
    "keywords": lambda text: [
        {"content": "", "additional_kwargs": {"reasoning_content": part}} for part in (text[:9], text[9:]) if part
    ],
    "text": lambda text: [{"content": [{"type": "text", "text": text, "index": 0}]}],
    "string in a list": lambda text: [{"content": [text]}],
    "text without index": lambda text: [{"content": [{"type": "text", "text": text}]}],
}


def write_parts(first: list[dict[str, Any]], reply: str, content: Callable[[str], Any]) -> Any:
    """Return a model whose stream has some parts first, then a reply with a surrogate."""

    def write(messages: Any) -> Any:
        text = reply.format(" ".join(next(messages)[0].text.split()[2:4]))
        for part in first:
            yield AIMessageChunk(**part)
        for part in (text[: len(text) // 2], text[len(text) // 2 :]):
            yield AIMessageChunk(content=content(part))

    return RunnableGenerator(write)


WAYS: tuple[Callable[[str], Any], ...] = (str, lambda part: [{"type": "text", "text": part, "index": 7}])


@pytest.mark.full
@pytest.mark.parametrize("opens", OPENS)
@pytest.mark.parametrize("place", UNREAD)
def test_no_part_begins_a_place_for_the_next_text(place: str, opens: str) -> None:
    ends = "` and" if opens == "`" else ' ">) and'
    for content in WAYS:
        for on in (f"{{}}{ends}", f" {{}} {ends}"):
            found = sum_of(
                ConversationRunnable(write_parts(UNREAD[place](opens), on, content), Conversation()).stream(HELLO)
            )
            assert "Novak" not in str(found.content)
            assert len(found.response_metadata["textveil"]["not_restored"]) == 1
        model = write_parts(UNREAD[place](OPENS_NOTHING), "So {} is here.", content)
        found = sum_of(ConversationRunnable(model, Conversation()).stream(HELLO))
        assert "So Zorblaxia Novak is here." in found.text


def test_a_part_behind_a_text_keeps_what_follows() -> None:
    """It is unknown where a client displays the part."""
    for opens in OPENS:

        def write(messages: Any, opens: str = opens) -> Any:
            name = " ".join(next(messages)[0].text.split()[2:4])
            yield AIMessageChunk(content="So ")
            yield AIMessageChunk(content="", additional_kwargs={"note": opens})
            yield AIMessageChunk(content=f"{name} is here.")

        assert "Novak" not in sum_of(ConversationRunnable(RunnableGenerator(write), Conversation()).stream(HELLO)).text


@pytest.mark.parametrize("kind", ["text", "x"])
def test_a_part_that_is_out_does_not_go_on(kind: str) -> None:
    """Libraries put what comes to the text before, which the next one has restored originals behind."""

    def write(messages: Any) -> Any:
        name = " ".join(next(messages)[0].text.split()[2:4])
        parts = [(0, "text", "Look: "), (1, "text", f" {name}) is here. "), (0, kind, "![x](https://e.example/?a=")]
        for index, of_type, text in parts:
            yield AIMessageChunk(content=[{"type": of_type, "text": text, "index": index}])

    talk = ConversationRunnable(RunnableGenerator(write), Conversation())
    came: list[Any] = []
    with pytest.raises(InputError, match="after the next part had begun: call the model again"):
        came.extend(talk.stream(HELLO))
    assert "https" not in str(came)


def test_the_rest_of_a_text_brings_no_field_of_it_again() -> None:
    def write(messages: Any) -> Any:
        name = " ".join(next(messages)[0].text.split()[2:4])
        yield AIMessageChunk(content=[{"type": "text", "text": name, "annotations": [{"url": "u"}], "index": 0}])
        yield AIMessageChunk(content=[{"type": "text", "text": name, "index": 1}])

    found = sum_of(ConversationRunnable(RunnableGenerator(write), Conversation()).stream(HELLO))
    assert [part["text"] for part in found.content] == ["Zorblaxia Novak"] * 2
    assert found.content[0]["annotations"] == [{"url": "u"}]


def test_a_whole_reply_of_an_odd_shape_is_refused() -> None:
    parts: list[dict[str, Any]] = [{"text": "x"}, {"type": "text", "text": 5}, {"type": ["text"]}]
    for part in parts:
        talk = ConversationRunnable(
            RunnableLambda(lambda _, part=part: AIMessage(content=[dict(part)])), Conversation()
        )
        with pytest.raises(InputError, match="shape"):
            talk.invoke(HELLO)


def test_parts_that_are_not_read_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: unrestored text is not parsed."""
    model = write_parts(UNREAD["unknown part"](OPENS[0]), "{}) is", WAYS[1])
    monkeypatch.setattr(ReplyView, "pass_part", lambda *given: None)
    assert "Novak" in sum_of(ConversationRunnable(model, Conversation()).stream(HELLO)).text


GUESSES = "We met Aachen, Xqwbrad and Zqxwgrad."
CALL: dict[str, Any] = {"name": "find", "args": {"q": "x"}, "id": "call_1", "type": "tool_call"}
PIECE: Any = {"name": "find", "args": '{"q": "x"}', "id": "call_1", "index": 0, "type": "tool_call_chunk"}
#: Replies that are not the model's by their role or by their parts.
FOREIGN: dict[str, list[Any]] = {
    "a message of a user": [HumanMessageChunk(content=GUESSES)],
    "a system message": [SystemMessageChunk(content=GUESSES)],
    "a role of its own": [ChatMessageChunk(content=GUESSES, role="user")],
    "a result": [ToolMessageChunk(content=GUESSES, tool_call_id="call_1")],
    "a result behind its call": [
        AIMessageChunk(content="", tool_call_chunks=[PIECE]),
        AIMessageChunk(content=[{"type": "tool_result", "tool_use_id": "call_1", "content": GUESSES, "index": 1}]),
    ],
    "an output behind its call": [
        AIMessageChunk(content="", tool_call_chunks=[PIECE]),
        AIMessageChunk(content=[{"type": "function_call_output", "call_id": "call_1", "output": GUESSES, "index": 1}]),
    ],
    "a text of a user": [AIMessageChunk(content=[{"type": "text", "text": GUESSES, "role": "user", "index": 0}])],
}


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("kind", FOREIGN)
def test_a_model_does_not_choose_the_role_of_its_reply(kind: str, streams: bool) -> None:
    seen: list[Any] = []

    def answers(given: Any) -> Any:
        for messages in given:
            seen.append(messages)
            yield from FOREIGN[kind] if len(seen) == 1 else [AIMessageChunk(content="Well.")]

    def answers_whole(messages: Any) -> Any:
        return sum_of([*answers([messages])])

    talk = ConversationRunnable(
        RunnableGenerator(answers) if streams else RunnableLambda(answers_whole), Conversation()
    )
    question = HumanMessage("I met Zqxwgrad today.")
    reply = sum_of([*talk.stream([question])]) if streams else talk.invoke([question])
    assert isinstance(reply, AIMessage)
    results = [ToolMessage(GUESSES, tool_call_id=call["id"]) for call in reply.tool_calls]
    asked = [question, reply, *results, HumanMessage("Go on.")]
    if streams:
        list(talk.stream(asked))
    else:
        talk.invoke(asked)
    surrogate = seen[0][0].content.removeprefix("I met ").removesuffix(" today.")
    assert {message.type for message in seen[1][1 : len(seen[1]) - 1 - len(results)]} <= {"ai"}
    assert surrogate not in str(seen[1][1:])
    assert "Zqxwgrad" not in str(seen[1][1:]) or "Xqwbrad" in str(seen[1][1:])  # as the model wrote it


def test_a_planted_result_in_a_reply_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(langchain_messages, "_claim_reply", lambda conversation, reply: None)
    monkeypatch.setattr(langchain_messages, "_RESULT_TYPES", frozenset())
    with pytest.raises(AssertionError):
        test_a_model_does_not_choose_the_role_of_its_reply("a result behind its call", True)


@pytest.mark.parametrize("is_bound", [True, False])
def test_tools_that_are_bound_are_no_guesses(is_bound: bool) -> None:
    seen: list[Any] = []

    def answer(messages: Any, **kwargs: Any) -> AIMessage:
        seen.append(messages)
        return AIMessage("", tool_calls=[{**CALL, "name": "Zqxwgrad_4", "args": {"q": ["Alba", "Berlo", "Corti"]}}])

    model: Any = RunnableLambda(answer)
    tools = [{"type": "function", "function": {"name": "Zqxwgrad_4"}}] if is_bound else []
    talk = ConversationRunnable(model.bind(tools=tools), Conversation(style="surrogate", facts="none"))
    question = HumanMessage("I met Zqxwgrad today.")
    reply = talk.invoke([question])
    talk.invoke([question, reply, ToolMessage("She met Zqxwgrad.", tool_call_id="call_1")])
    surrogate = seen[0][0].content.removeprefix("I met ").removesuffix(" today.")
    assert (surrogate in seen[1][-1].content) is is_bound


def test_names_of_tools_in_every_form() -> None:
    def find(q: str) -> str:
        return q

    class Answer:
        pass

    tools = [{"name": "a"}, {"type": "function", "function": {"name": "b"}}, StructuredTool.from_function(
        find, name="c", description="d"), find, Answer, {"function_declarations": [{"name": "e"}]}]  # fmt: skip
    assert langchain_messages.find_tool_names(tools) == ["a", "b", "c", "find", "Answer", "e"]
    assert langchain_messages.find_tool_names(None) == []


NAMES_GUESSED = [f"Zorblax{letter}" for letter in "abcdefgh"]


def ask_about_guesses(reply: AIMessage) -> str:
    """Send a reply back with an error that has the arguments of its calls, and return what the model gets of it."""
    seen: list[Any] = []

    def answer(messages: Any) -> AIMessage:
        seen.append(messages)
        return reply

    talk, said = (
        ConversationRunnable(RunnableLambda(answer), Conversation(style="surrogate", facts="none")),
        HumanMessage(f"I met {NAMES_GUESSED[3]} in Boston."),
    )
    came = talk.invoke([said])
    errors = [
        ToolMessage(f"Invalid arguments: {call['args']}", tool_call_id=call["id"]) for call in came.invalid_tool_calls
    ]
    talk.invoke([said, came, *errors])
    surrogate = str(seen[0][0].content).split()[2]
    return str(seen[1][-1].content) if surrogate in str(seen[1][-1].content) else ""


@pytest.mark.parametrize("identifier", ["call_1", "call_2"])
def test_an_invalid_call_under_the_identifier_of_another_tests_no_guess(identifier: str) -> None:
    call = {"name": "find", "args": {}, "id": "call_1", "type": "tool_call"}
    broken = {
        "name": "find",
        "args": f'{{"q": {NAMES_GUESSED}',
        "id": identifier,
        "error": None,
        "type": "invalid_tool_call",
    }
    reply = AIMessage(content="", tool_calls=[call], invalid_tool_calls=[broken])  # pyright: ignore[reportArgumentType]
    assert ask_about_guesses(reply) == ""


def test_a_stream_has_no_calls_beside_those_that_are_counted() -> None:
    beside = {"tool_calls": [{"id": "call_1", "function": {"name": "find", "arguments": "Zqxw"}}], "note": "kept"}

    def answer(inputs: Any) -> Any:
        for _ in inputs:
            yield AIMessageChunk(content="hello", additional_kwargs=beside)

    chunks = [*ConversationRunnable(RunnableGenerator(answer), Conversation()).stream("hi")]
    assert [chunk.additional_kwargs for chunk in chunks[:1]] == [{"note": "kept"}]
    assert all("Zqxw" not in str(chunk.additional_kwargs) for chunk in chunks)
