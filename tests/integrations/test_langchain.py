"""The runnable under tracing: whoever looks on sees sanitized text, or nothing."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from canaries import SECRET
from textveil.errors import InputError, TracingRefused

pytest.importorskip("langchain_core", reason="needs the extra langchain: make integrations")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumps
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from textveil.integrations.langchain import SanitizeFirst

TEXT = f"The {SECRET} said and not"


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
    echo = RunnableLambda(lambda messages: messages.to_string())
    return SanitizeFirst(level="strongest") | {"note": lambda text: text} | prompt | echo


def test_the_text_is_sanitized() -> None:
    said = SanitizeFirst(level="strongest").invoke(TEXT)
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
        SanitizeFirst().invoke({"note": SECRET})  # type: ignore[arg-type]


def test_a_model_streams() -> None:
    built = SanitizeFirst() | FakeListChatModel(responses=["thank you"]) | StrOutputParser()
    assert "".join(built.stream("The of")) == "thank you"


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str]) -> None:
    said = example("with_langchain.py")
    assert said.count("traced:") >= 4
    assert said.endswith("Thank you. We will look into it.\n")
