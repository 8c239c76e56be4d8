"""Common client libraries work with another base address and no other change; `make integrations` installs them."""

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from gateways import CHAT, gateway
from serving import Server
from upstreams import Upstream

TEXT = "I am Zqxwvina Novak, order 88213.471."
NEEDS = "a client of its own: make integrations"
FIND = {"name": "find", "description": "Finds somebody.", "parameters": {"type": "object", "properties": {"who": {}}}}


@pytest.fixture
def base(gate: Server) -> str:
    return f"http://localhost:{gate.port}"


@pytest.fixture(autouse=True)
def nothing_personal(up: Upstream) -> Any:
    """Check that no personal data of a client's request reached the upstream."""
    before = len(up.asked)
    yield
    sent = json.dumps(up.asked[before:])
    assert not any(word in sent for word in ("Zqxw", "Novak", "88213.471"))


def test_openai_chat(base: str) -> None:
    openai = pytest.importorskip("openai", reason=NEEDS)
    client = openai.OpenAI(base_url=base + "/v1", api_key="k", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": TEXT}]
    reply = client.chat.completions.create(model="echo", messages=messages, user="Novak")
    assert reply.choices[0].message.content == TEXT
    messages += [reply.choices[0].message.model_dump(exclude_none=True), {"role": "user", "content": "And Novak?"}]
    assert client.chat.completions.create(model="echo", messages=messages).choices[0].message.content == "And Novak?"
    chunks = client.chat.completions.create(
        model="echo", messages=messages[:1], stream=True, stream_options={"include_usage": True}
    )
    got = list(chunks)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in got if chunk.choices) == TEXT
    assert got[-1].usage.total_tokens == 2
    with client.chat.completions.stream(model="echo", messages=messages[:1]) as stream:
        assert stream.get_final_completion().choices[0].message.content == TEXT


@pytest.mark.slow
@pytest.mark.parametrize("places", [(), ("--restore-places", "json")])
def test_openai_tools(up: Upstream, tmp_path: Path, places: tuple[str, ...]) -> None:
    with gateway(tmp_path, up.url, "--restore-tools", "find", *places) as server:
        use_openai_tools(f"http://localhost:{server.port}", up, restores_json=bool(places))


def use_openai_tools(base: str, up: Upstream, *, restores_json: bool) -> None:
    openai = pytest.importorskip("openai", reason=NEEDS)
    client = openai.OpenAI(base_url=base + "/v1", api_key="k", max_retries=0)
    tools: list[Any] = [{"type": "function", "function": FIND}]
    messages: list[Any] = [{"role": "user", "content": TEXT}]
    reply = client.chat.completions.create(model="call", messages=messages, tools=tools)
    call = reply.choices[0].message.tool_calls[0]
    assert json.loads(call.function.arguments) == {"who": TEXT}
    given = {"role": "tool", "tool_call_id": call.id, "content": json.dumps({"found": [TEXT]})}
    messages += [reply.choices[0].message, given]
    reply = client.chat.completions.create(model="echo", messages=messages, tools=tools)
    found = reply.choices[0].message.content
    assert found == up.last["messages"][-1]["content"] or restores_json
    assert (json.loads(found) == {"found": [TEXT]}) is restores_json
    with client.chat.completions.stream(model="call", messages=messages[:1], tools=tools) as stream:
        final = stream.get_final_completion().choices[0].message
    assert json.loads(final.tool_calls[0].function.arguments) == {"who": TEXT}


def test_openai_responses_embeddings_and_models(base: str) -> None:
    openai = pytest.importorskip("openai", reason=NEEDS)
    client = openai.OpenAI(base_url=base + "/v1", api_key="k", max_retries=0)
    reply = client.responses.create(model="echo", input=TEXT, instructions="Help Novak.")
    assert reply.output_text == TEXT
    later: list[Any] = [{"role": "user", "content": TEXT}, *reply.output, {"role": "user", "content": "And Novak?"}]
    assert client.responses.create(model="echo", input=later).output_text == "And Novak?"
    assert client.responses.create(model="echo", input="Novak!", previous_response_id=reply.id).output_text == "Novak!"
    with client.responses.stream(model="echo", input=TEXT) as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        assert "".join(deltas) == stream.get_final_response().output_text == TEXT
    tool: Any = {"type": "function", **FIND, "strict": False}
    with client.responses.stream(model="call", input=TEXT, tools=[tool]) as stream:
        final = stream.get_final_response().output[0]
    assert json.loads(final.arguments) == {"who": TEXT}
    given: Any = {"type": "function_call_output", "call_id": final.call_id, "output": TEXT}
    asked: list[Any] = [{"role": "user", "content": TEXT}, final.model_dump(exclude_none=True), given]
    asked[1].pop("parsed_arguments", None)
    assert client.responses.create(model="echo", input=asked, tools=[tool]).output_text == TEXT
    assert client.embeddings.create(model="m", input=[TEXT], encoding_format="float").data[0].embedding == [0.5]
    assert [model.id for model in client.models.list()] == ["m"]


def test_openai_async_and_errors(base: str) -> None:
    openai = pytest.importorskip("openai", reason=NEEDS)

    async def ask() -> None:
        async with openai.AsyncOpenAI(base_url=base + "/v1", api_key="k", max_retries=0) as client:
            messages: list[Any] = [{"role": "user", "content": TEXT}]
            many = [client.chat.completions.create(model="echo", messages=messages) for _ in range(8)]
            assert {reply.choices[0].message.content for reply in await asyncio.gather(*many)} == {TEXT}
            stream = await client.chat.completions.create(model="echo", messages=messages, stream=True)
            assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == TEXT
            with pytest.raises(openai.RateLimitError) as limited:
                await client.chat.completions.create(model="error-429", messages=messages)
            assert limited.value.code == "its-own"
            image: Any = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}
            with pytest.raises(openai.UnprocessableEntityError, match="the type image_url is not text"):
                await client.chat.completions.create(model="echo", messages=[image])
            for fault in ("half", "bytes"):
                stream = await client.chat.completions.create(model=fault, messages=messages, stream=True)
                with pytest.raises(openai.APIError, match="the upstream"):
                    assert [chunk async for chunk in stream]

    asyncio.run(ask())


def test_anthropic(base: str) -> None:
    anthropic = pytest.importorskip("anthropic", reason=NEEDS)
    client = anthropic.Anthropic(base_url=base, api_key="k", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": TEXT}]
    given: dict[str, Any] = {"max_tokens": 9, "system": "Help Novak.", "metadata": {"user_id": "Novak"}}
    reply = client.messages.create(model="echo", messages=messages, **given)
    assert reply.content[0].text == TEXT
    more = [*messages, {"role": "assistant", "content": reply.content}, {"role": "user", "content": "And Novak?"}]
    assert client.messages.create(model="echo", messages=more, **given).content[0].text == "And Novak?"
    with client.messages.stream(model="echo", messages=messages, **given) as stream:
        assert "".join(stream.text_stream) == stream.get_final_message().content[0].text == TEXT
    tools: list[Any] = [{"name": "find", "description": "Finds.", "input_schema": FIND["parameters"]}]
    call = client.messages.create(model="call", messages=messages, tools=tools, **given).content[0]
    assert call.input == {"who": TEXT}
    with client.messages.stream(model="call", messages=messages, tools=tools, **given) as stream:
        call = stream.get_final_message().content[0]
    assert call.input == {"who": TEXT}
    result = {"type": "tool_result", "tool_use_id": call.id, "content": TEXT}
    more = [*messages, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    assert client.messages.create(model="echo", messages=more, tools=tools, **given).content[0].text == TEXT
    assert client.messages.count_tokens(model="m", messages=messages).input_tokens == 7
    with pytest.raises(anthropic.RateLimitError):
        client.messages.create(model="error-429", messages=messages, **given)
    with pytest.raises(anthropic.APIError, match="the upstream"):
        list(client.messages.create(model="bytes", messages=messages, stream=True, **given))


def test_anthropic_async(base: str) -> None:
    anthropic = pytest.importorskip("anthropic", reason=NEEDS)

    async def ask() -> None:
        async with anthropic.AsyncAnthropic(base_url=base, api_key="k", max_retries=0) as client:
            asked: dict[str, Any] = {"max_tokens": 9, "messages": [{"role": "user", "content": TEXT}]}
            assert (await client.messages.create(model="echo", **asked)).content[0].text == TEXT
            async with client.messages.stream(model="echo", **asked) as stream:
                assert "".join([text async for text in stream.text_stream]) == TEXT

    asyncio.run(ask())


@pytest.mark.parametrize("responses", [False, True])
def test_langchain_openai(base: str, responses: bool) -> None:
    chat_models = pytest.importorskip("langchain_openai", reason=NEEDS)
    messages = pytest.importorskip("langchain_core.messages", reason=NEEDS)

    def model(name: str) -> Any:
        given: dict[str, Any] = {"base_url": base + "/v1", "api_key": "k", "max_retries": 0}
        return chat_models.ChatOpenAI(model=name, use_responses_api=responses, **given)

    def text(message: Any) -> str:
        content = message.content
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)

    asked = [messages.SystemMessage("Help Novak."), messages.HumanMessage(TEXT)]
    reply = model("echo").invoke(asked)
    assert text(reply) == TEXT
    assert text(model("echo").invoke([*asked, reply, messages.HumanMessage("And Novak?")])) == "And Novak?"
    assert "".join(text(chunk) for chunk in model("echo").stream(asked)) == TEXT
    if not responses:  # one loop alone: its client is shared, and belongs to the first
        assert text(asyncio.run(model("echo").ainvoke(asked))) == TEXT
    tool = {"type": "function", "function": FIND}
    called = model("call").bind_tools([tool]).invoke(asked)
    assert called.tool_calls[0]["args"] == {"who": TEXT}
    result = messages.ToolMessage(TEXT, tool_call_id=called.tool_calls[0]["id"])
    assert text(model("echo").bind_tools([tool]).invoke([*asked, called, result])) == TEXT
    embeddings = chat_models.OpenAIEmbeddings(
        model="m", base_url=base + "/v1", api_key="k", check_embedding_ctx_length=False
    )
    assert embeddings.embed_query(TEXT) == [0.5]


def test_langchain_anthropic(base: str) -> None:
    chat_models = pytest.importorskip("langchain_anthropic", reason=NEEDS)
    model = chat_models.ChatAnthropic(model="echo", base_url=base, api_key="k", max_retries=0)
    assert model.invoke(TEXT).content == TEXT
    assert "".join(chunk.text for chunk in model.stream(TEXT)) == TEXT


def test_vercel_ai_sdk(base: str) -> None:
    modules = Path(__file__).parents[3] / ".envs/gateway/node_modules"
    if not (modules / "ai").is_dir():
        pytest.skip(NEEDS)
    command = ["node", str(Path(__file__).with_name("aisdk.cjs")), base, TEXT]
    asked = {**os.environ, "NODE_PATH": str(modules)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=asked)
    assert done.returncode == 0, done.stderr
    found = [TEXT, "And Novak?", TEXT, {"who": TEXT}, {"who": TEXT}, {"found": TEXT}]
    assert json.loads(done.stdout) == {"responses": found, "chat": found, "anthropic": found, "embedding": [0.5]}


@pytest.mark.parametrize("streamed", [False, True])
def test_curl(base: str, streamed: bool) -> None:
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    body = json.dumps({"model": "echo", "stream": streamed, "messages": [{"role": "user", "content": TEXT}]})
    command = ["curl", "-sN", base + CHAT, "-H", "Content-Type: application/json", "-d", body]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "Novak" in said
    assert "Zqxwvina" in said
