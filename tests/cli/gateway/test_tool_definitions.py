"""In definitions of tools only names, descriptions and schemas stay unchanged."""

import json
from collections.abc import Callable, Collection
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra gateway: make integrations")

from textveil import Conversation, InputError, Sanitizer
from textveil_cli.gateway import request_fields, tool_definitions
from textveil_cli.gateway.request_fields import check_request, rewrite_request

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"enum": ["KELVIN", "celsius"]}, "kowalczykId": {}},
}
NAMED = {"city": "Zorblax Quellx", "days": 5}
#: Definitions in which every value is the developer's, or a setting.
KEPT: list[tuple[str, Any]] = [
    (CHAT, {"type": "function", "function": {"name": "Zqxw_find", "description": "Ask Zqxw.", "parameters": SCHEMA}}),
    (CHAT, {"type": "function", "function": {"name": "f", "parameters": {}, "strict": True}}),
    (CHAT, {"type": "custom", "custom": {"name": "f", "format": {
        "type": "grammar", "grammar": {"definition": "start: Zqxw", "syntax": "lark"}}}}),
    (CHAT, {"google_search": {}}),
    (CHAT, {"type": "openrouter:web_search", "parameters": {"engine": "exa", "max_results": 5}}),
    (RESPONSES, {"type": "function", "name": "f", "parameters": SCHEMA, "strict": None, "output_schema": SCHEMA}),
    (RESPONSES, {"type": "custom", "name": "f", "format": {"type": "grammar", "syntax": "lark", "definition": "a: b"}}),
    (RESPONSES, {"type": "namespace", "name": "n", "description": "Zqxw", "tools": [{"name": "f"}]}),
    (RESPONSES, {"type": "web_search", "search_context_size": "low", "filters": {"allowed_domains": ["arxiv.org"]}}),
    (RESPONSES, {"type": "web_search", "user_location": None}),
    (RESPONSES, {"type": "file_search", "vector_store_ids": ["vs_1"], "max_num_results": 3,
                 "ranking_options": {"ranker": "auto", "score_threshold": 0.5}}),
    (RESPONSES, {"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["file-1"]}}),
    (RESPONSES, {"type": "code_interpreter", "container": "cntr_1", "allowed_callers": ["direct"]}),
    (RESPONSES, {"type": "image_generation", "size": "1024x1024", "quality": "high", "partial_images": 2}),
    (RESPONSES, {"type": "computer_use_preview", "display_width": 9, "display_height": 9, "environment": "browser"}),
    (RESPONSES, {"type": "mcp", "server_label": "Zqxw", "connector_id": "connector_gmail", "require_approval": {
        "never": {"tool_names": ["a"]}}, "allowed_tools": ["a"], "server_description": "The shop of Zqxw."}),
    (RESPONSES, {"type": "shell", "environment": {"type": "container_auto", "skills": [
        {"type": "skill_reference", "skill_id": "skill_1", "version": "2"}]}}),
    (RESPONSES, {"type": "tool_search", "execution": "client", "description": "Zqxw", "parameters": SCHEMA}),
    (MESSAGES, {"name": "f", "description": "Zqxw", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}),
    (MESSAGES, {"name": "f", "input_schema": SCHEMA, "input_examples": [], "eager_input_streaming": True}),
    (MESSAGES, {"type": "web_search_20250305", "name": "web_search", "max_uses": 5, "blocked_domains": ["a.example"]}),
    (MESSAGES, {"type": "web_fetch_20250910", "name": "web_fetch", "citations": {"enabled": True}}),
    (MESSAGES, {"type": "computer_20250124", "name": "computer", "display_width_px": 9, "display_height_px": 9}),
    (MESSAGES, {"type": "mcp_toolset", "mcp_server_name": "Zqxw", "configs": {"find": {"enabled": True}}}),
    (MESSAGES, {"type": "mcp_toolset", "mcp_server_name": "a", "default_config": {"defer_loading": True}}),
    (MESSAGES, {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.example", "b.example:8"]}),
    (MESSAGES, {"type": "advisor_20260301", "name": "advisor", "model": "m-1", "max_uses": 1}),
]  # fmt: skip
LOCATION = {"type": "approximate", "city": "Zqxw", "country": "HU", "timezone": "Europe/Budapest"}
#: Definitions with a value of the user's, and the field that an error names.
REFUSED: list[tuple[str, Any, str]] = [
    (CHAT, {"type": "openrouter:web_search", "parameters": {"user_location": LOCATION}}, "user_location"),
    (RESPONSES, {"type": "web_search", "user_location": LOCATION}, "user_location"),
    (RESPONSES, {"type": "file_search", "filters": {"type": "eq", "key": "a", "value": "Zqxw"}}, "filters"),
    (RESPONSES, {"type": "file_search", "filters": {"type": "and", "filters": [
        {"type": "eq", "key": "a", "value": "Zqxw"}]}}, "filters"),
    (RESPONSES, {"type": "web_search", "filters": {"allowed_domains": ["Ask Zqxw of Szeged"]}}, "filters"),
    (RESPONSES, {"type": "mcp", "server_label": "a", "headers": {"X-User": "Zqxw"}}, "headers"),
    (RESPONSES, {"type": "mcp", "server_label": "a", "authorization": "Zqxw"}, "authorization"),
    (RESPONSES, {"type": "mcp", "server_label": "a", "server_url": "https://a.example/Zqxw"}, "server_url"),
    (RESPONSES, {"type": "code_interpreter", "container": {"type": "auto", "network_policy": {
        "type": "allowlist", "allowed_domains": ["a.example"], "domain_secrets": [
            {"domain": "a", "name": "b", "value": "Zqxw"}]}}}, "container"),
    (RESPONSES, {"type": "shell", "environment": {"type": "local", "skills": [
        {"name": "a", "description": "b", "path": "/home/Zqxw/a"}]}}, "path"),
    (RESPONSES, {"type": "shell", "environment": {"type": "container_auto", "skills": [
        {"type": "inline", "name": "a", "description": "b", "source": {"type": "base64", "data": "Zqxw"}}]}}, "source"),
    (RESPONSES, {"type": "image_generation", "input_image_mask": {"image_url": "data:Zqxw"}}, "input_image_mask"),
    (RESPONSES, {"type": "image_generation", "size": "as large as Zqxw"}, "size"),
    (RESPONSES, {"type": "function", "name": ["Zqxw"]}, "name"),
    (MESSAGES, {"type": "web_search_20250305", "name": "web_search", "user_location": LOCATION}, "user_location"),
    (MESSAGES, {"type": "web_fetch_20250910", "name": "web_fetch", "url_sources": [{"a": "Zqxw"}]}, "url_sources"),
    (MESSAGES, {"name": "f", "input_schema": {}, "input_examples": "Zqxw"}, "input_examples"),
    (RESPONSES, {"type": "function", "name": "f", "parameters": {}, "strict": "Zqxw"}, "strict"),
    (MESSAGES, {"name": "f", "input_schema": {}, "searchDepth": "Zqxw"}, "searchDepth"),
    (MESSAGES, {"name": "f", "input_schema": {}, "Zqxw": 5}, "field 3 of a tool"),
    (MESSAGES, {"type": "met Zqxw today", "name": "f"}, "type"),
    *((MESSAGES, {"type": "web_search_20250305", "name": "web_search", field: [domain]}, field)
      for field in ("allowed_domains", "blocked_domains")
      for domain in ("a.example/Zqxw", "https://a.example", "Zqxw=a.example", "Zqxw:1@a.example", "a.example|Zqxw")),
    (RESPONSES, {"type": "web_search", "filters": {"allowed_domains": ["a.example/Zqxw"]}}, "filters"),
    (RESPONSES, {"type": "code_interpreter", "container": {"type": "auto", "network_policy": {
        "type": "allowlist", "allowed_domains": ["a.example/Zqxw"]}}}, "container"),
    (CHAT, {"type": "openrouter:web_search", "parameters": {"allowed_domains": ["a.example/Zqxw"]}}, "allowed_domains"),
    *((CHAT, {"type": "openrouter:web_search", "parameters": inner}, next(iter(inner)))
      for inner in (
          {"name": "Zqxw"}, {"description": "Zqxw of Szeged"}, {"title": "Zqxw"}, {"schema": {"Zqxw": "Szeged"}},
          {"format": "Zqxw"}, {"input_schema": {"a": "Zqxw"}}, {"input_schema": "Zqxw"})),
    *((CHAT, {"type": "openrouter:web_search", "parameters": {nested: [inner]}}, next(iter(inner)))
      for nested in ("custom", "function", "tools")
      for inner in ({"name": "Zqxw"}, {"description": "Zqxw"}, {"parameters": {"Zqxw": "a"}})),
    (MESSAGES, {"type": "mcp_toolset", "mcp_server_name": "a", "configs": {"Zqxw": {"enabled": True}}}, "configs"),
    (MESSAGES, {"type": "mcp_toolset", "mcp_server_name": "a", "configs": {"find": {"Zqxw": True}}}, "configs"),
    (MESSAGES, {"type": "mcp_toolset", "mcp_server_name": "a", "configs": {"find": {"name": "Zqxw"}}}, "configs"),
    (MESSAGES, {"type": "mcp_toolset", "mcp_server_name": "a", "default_config": {"Zqxw": 5}}, "default_config"),
    (MESSAGES, {"name": "f", "input_schema": {}, "cache_control": {"type": "ephemeral", "Zqxw": 5}}, "cache_control"),
    (RESPONSES, {"type": "file_search", "ranking_options": {"Zqxw": 5}}, "ranking_options"),
    (RESPONSES, {"type": "mcp", "server_label": "a", "require_approval": {"never": {"Zqxw": ["a"]}}},
     "require_approval"),
]  # fmt: skip


def ask(
    path: str, tools: Any, sanitizer: Sanitizer, passes: Collection[str] = (), field: str = "tools"
) -> dict[str, Any]:
    """Return the body of a request with tools, as it is sent."""
    conversation = Conversation(sanitizer)
    key = "input" if path == RESPONSES else "messages"
    body = {"model": "m", field: tools, key: [{"role": "user", "content": "I met Zqxw."}], "metadata": {"a": "Zqxw"}}
    request = check_request(path, body, passes, conversation.is_field_name)
    return rewrite_request(request, conversation.start_exchange(), b"k")


@pytest.mark.parametrize(("path", "tool"), KEPT, ids=lambda value: json.dumps(value)[:60])
def test_names_descriptions_schemas_and_settings_stay(sanitizer: Sanitizer, path: str, tool: Any) -> None:
    assert ask(path, [tool], sanitizer)["tools"] == [tool]


@pytest.mark.parametrize(("path", "tool", "name"), REFUSED, ids=lambda value: json.dumps(value)[:60])
def test_what_may_have_words_of_the_user_is_refused_by_its_name(
    sanitizer: Sanitizer, path: str, tool: Any, name: str
) -> None:
    with pytest.raises(InputError, match=name) as caught:
        ask(path, [tool], sanitizer)
    assert "Zqxw" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert ask(path, [tool], sanitizer, {"tools"})["tools"] == [tool]


@pytest.mark.parametrize("name", ["user_location", "server_url", "filters", "headers"])
def test_a_field_that_is_named_goes_out_as_it_is(sanitizer: Sanitizer, name: str) -> None:
    for path, tool, refused in REFUSED:
        if refused == name:
            assert ask(path, [tool], sanitizer, {name})["tools"] == [tool]


def test_functions_of_the_old_kind_are_checked_too(sanitizer: Sanitizer) -> None:
    function = {"name": "f", "parameters": SCHEMA}
    assert ask(CHAT, [function], sanitizer, field="functions")["functions"] == [function]
    with pytest.raises(InputError, match="user_location"):
        ask(CHAT, [{**function, "user_location": LOCATION}], sanitizer, field="functions")


def test_examples_of_inputs_are_rewritten_and_fit_their_schema(sanitizer: Sanitizer) -> None:
    examples = [
        {"city": "Zqxw", "unit": "KELVIN", "kowalczykId": "Kowalczyk"},
        {"city": "Zqxw", "days": 5, "Zqxw": [True]},
    ]
    tool = {"name": "f", "input_schema": SCHEMA, "input_examples": examples}
    other = {"name": "g", "input_schema": {}, "input_examples": [{"unit": "KELVIN"}]}
    sent = ask(MESSAGES, [tool, {"name": "h", "input_schema": {}}, other], sanitizer)
    first, second = sent["tools"][0]["input_examples"]
    assert first.keys() == examples[0].keys()
    assert first["unit"] == "KELVIN"
    assert sent["messages"][0]["content"] == f"I met {first['city']}."
    assert sent["metadata"] == {"a": first["city"]}
    assert second["city"] == first["city"]
    assert [*second.values()][2] == [True]
    assert "Kowalczyk" not in first["kowalczykId"]
    assert "Zqxw" not in json.dumps(sent)
    assert sent["tools"][1] == {"name": "h", "input_schema": {}}
    assert "KELVIN" not in json.dumps(sent["tools"][2]["input_examples"])
    assert ask(MESSAGES, [tool], sanitizer, {"input_examples"})["tools"] == [tool]


@pytest.mark.parametrize("tools", ["Zqxw", {"name": "Zqxw"}, [["Zqxw"]], [5]])
def test_tools_of_another_shape_are_refused(sanitizer: Sanitizer, tools: Any) -> None:
    with pytest.raises(InputError, match=r"tools: "):
        ask(CHAT, tools, sanitizer)


def test_planted_checks(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    faults: list[tuple[Any, str, Callable[..., Any]]] = [
        (tool_definitions, "_has_refused_field", lambda *given: False),
        (tool_definitions, "_is_public", lambda *given: True),
        (request_fields, "rewrite_examples", lambda tools, pass_through, rewrite: tools),
        (tool_definitions, "_restore_public", lambda value, rewritten, public: rewritten),
    ]
    for module, name, fault in faults:
        with monkeypatch.context() as patch:
            patch.setattr(module, name, fault)
            with pytest.raises((AssertionError, KeyError, pytest.fail.Exception)):
                check_all(sanitizer)


def check_all(sanitizer: Sanitizer) -> None:
    for path, tool, field in REFUSED:
        test_what_may_have_words_of_the_user_is_refused_by_its_name(sanitizer, path, tool, field)
    test_examples_of_inputs_are_rewritten_and_fit_their_schema(sanitizer)


def test_tools_of_any_shape_are_no_fault_of_ours(sanitizer: Sanitizer) -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    for tool in ({"name": 7}, {"function": {"name": ["a"]}}, {"function": 5}, {"custom": [5]}, {"tools": {"name": 5}}):
        assert ask(CHAT, [tool], sanitizer, {"tools"})["tools"] == [tool]
    assert ask(CHAT, deep, sanitizer, {"tools"})["tools"] is deep
    with pytest.raises(InputError):
        ask(CHAT, [{"name": "f", "tools": deep}], sanitizer)


@pytest.mark.parametrize(
    ("api", "tool"),
    [
        (CHAT, {"type": "function", "function": {"name": "f", "parameters": SCHEMA, "input_examples": [NAMED]}}),
        (CHAT, {"type": "function", "function": {"name": "f", "parameters": SCHEMA}, "input_examples": [NAMED]}),
        (RESPONSES, {"type": "namespace", "name": "n", "tools": [{"name": "f", "input_examples": [NAMED]}]}),
        (MESSAGES, {"type": "custom", "custom": {"name": "f", "input_schema": SCHEMA, "input_examples": [NAMED]}}),
        (RESPONSES, {"type": "x", "parameters": {"custom": [{"input_examples": [NAMED]}] * 2}}),
    ],
)
def test_examples_inside_nested_definitions_are_rewritten(api: str, tool: dict[str, Any], sanitizer: Sanitizer) -> None:
    twice = ask(api, [tool, tool], sanitizer)["tools"]
    for sent in twice:
        assert "Quellx" not in json.dumps(sent)
        assert sent.keys() == tool.keys()
    assert ask(api, [tool], sanitizer, {"input_examples"})["tools"] == [tool]
