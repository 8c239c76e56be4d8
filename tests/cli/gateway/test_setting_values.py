"""Settings of requests have only values that their API defines, so none of them contains a name."""

from typing import Any

import pytest
from textveil import Conversation
from textveil.errors import InputError
from textveil_cli.gateway.request_fields import _SETTING, FIELDS_BY_PATH, check_request
from textveil_cli.gateway.setting_values import _CHECK_BY_SETTING, is_known_setting

#: Values that an API documents, by field.
KNOWN: list[tuple[str, Any]] = [
    ("model", "gpt-4o-mini-2024-07-18"), ("model", "ft:gpt-4o:acme::abc123"), ("model", "org/model-7b:free"),
    ("model", "claude-sonnet-4-20250514"), ("temperature", 0.5), ("stream", True), ("stream", None),
    ("stream_options", {"include_usage": True}), ("service_tier", "flex"), ("service_tier", "standard_only"),
    ("tool_choice", "auto"), ("tool_choice", {"type": "tool", "name": "find", "disable_parallel_tool_use": True}),
    ("tool_choice", {"type": "function", "function": {"name": "get_weather"}}),
    ("tool_choice", {"type": "file_search"}),
    ("tool_choice", {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "find"}]}),
    ("function_call", {"name": "find"}), ("logit_bias", {"50256": -100}), ("modalities", ["text"]),
    ("reasoning_effort", "low"), ("verbosity", "high"), ("prompt_cache_retention", "24h"),
    ("previous_response_id", "resp_67cb71b351908190a308f3859487620d06981a8637e6bc44"),
    ("reasoning", {"effort": "low", "summary": "auto"}), ("truncation", "auto"),
    ("include", ["reasoning.encrypted_content"]), ("thinking", {"type": "enabled", "budget_tokens": 1024}),
    ("cache_control", {"type": "ephemeral", "ttl": "1h"}), ("speed", "fast"), ("inference_geo", "us"),
    ("context_management", {"edits": [{"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 3}}]}
     ),
    ("encoding_format", "base64"), ("dimensions", 256),
]  # fmt: skip
FIELDS = sorted({name for fields in FIELDS_BY_PATH.values() for name, kind in fields.items() if kind == _SETTING})


@pytest.mark.parametrize(("name", "value"), KNOWN, ids=str)
def test_values_of_the_apis_go_out(name: str, value: Any) -> None:
    assert is_known_setting(name, value)


def test_every_setting_has_a_rule_and_a_value_here() -> None:
    assert (
        set(FIELDS)
        == set(_CHECK_BY_SETTING)
        == {name for name, _ in KNOWN}
        | {
            *"max_tokens max_completion_tokens max_output_tokens max_tool_calls top_p top_k min_p".split(),
            *"top_logprobs n seed".split(),
            *"presence_penalty frequency_penalty repetition_penalty store parallel_tool_calls logprobs".split(),
        }
    )


@pytest.mark.parametrize("name", [name for name in FIELDS if name != "model"])
@pytest.mark.parametrize("secret", ["anna_kovacs", "Kovacs", "DE89370400440532013000", "555-0142"])
def test_no_setting_carries_a_name(name: str, secret: str) -> None:
    """This includes objects and lists; the name of a chosen tool comes from the developer."""
    shapes: list[Any] = [secret, [secret], {secret: True}, {secret: 1}, {"type": secret}, {"type": "auto", "x": secret}]
    assert not any(is_known_setting(name, shape) for shape in shapes)


@pytest.mark.parametrize("model", ["Anna Kovacs", "", "a\nb", "é", "x" * 129, 5, ["m"], "-m", "m?x=1"])
def test_a_model_is_a_name_without_blanks(model: Any) -> None:
    assert not is_known_setting("model", model)


def test_an_unknown_value_is_refused_by_the_name_of_its_field_and_can_be_let_through() -> None:
    body = {"model": "m", "messages": [], "service_tier": "anna_kovacs"}
    with pytest.raises(InputError, match=r"^service_tier: .*--pass-through service_tier") as caught:
        check_request("/v1/chat/completions", body, ())
    assert "kovacs" not in str(caught.value)
    assert check_request("/v1/chat/completions", body, {"service_tier"}).body["service_tier"] == "anna_kovacs"


def test_an_unknown_field_is_named_if_its_words_are_those_of_fields() -> None:
    is_field_name = Conversation().is_field_name
    with pytest.raises(InputError) as caught:
        check_request("/v1/chat/completions", {"model": "m", "searchDepth": 5}, (), is_field_name)
    assert str(caught.value).startswith(
        "searchDepth is unknown: omit it, or send it unchanged with --pass-through searchDepth"
    )
    for name in ("anna_kovacs", "kovacs", "Grace", "48213", "k.novak", ""):
        with pytest.raises(InputError, match=r"^field 2 of the 2 of the request is unknown: omit it") as caught:
            check_request("/v1/chat/completions", {"model": "m", name: 5}, (), is_field_name)
        assert not name or name not in str(caught.value)
