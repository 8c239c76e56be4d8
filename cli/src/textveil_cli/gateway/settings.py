"""Allowed values of the settings in requests.

They are values of the APIs, so that no setting carries text. A value that an API adds later is sent with
``--pass-through FIELD``.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]

_MODEL = re.compile(r"(?=.{1,128}\Z)[A-Za-z0-9][A-Za-z0-9._-]*(?:[:/@][A-Za-z0-9._-]*)*", re.ASCII)
_TOOL = re.compile(r"[A-Za-z0-9_.$-]{1,64}", re.ASCII)
_REPLY = re.compile(r"(?:resp|msg|chatcmpl|response)[_-][A-Za-z0-9_-]{1,256}", re.ASCII)
_TOKEN = re.compile(r"[0-9]{1,9}")


def is_known_setting(name: str, value: Any) -> bool:
    """Return whether the value of a setting is one that its API allows.

    Allowed are numbers, flags, entries of a list, and objects of these.

    Args:
        name: The field. A field without a rule here may have any value that ``fields`` allows.
        value: Its value.
    """
    check = _SETTINGS.get(name)
    return value is None or check is None or check(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _one_of(listed: str) -> Check:
    values = frozenset(listed.split())
    return lambda value: isinstance(value, str) and value in values


def _fits(pattern: "re.Pattern[str]") -> Check:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _object(**checks: Check) -> Check:
    return lambda value: (
        isinstance(value, Mapping) and all(name in checks and checks[name](entry) for name, entry in value.items())
    )


def _list(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _any(*checks: Check) -> Check:
    return lambda value: any(check(value) for check in checks)


_is_tool = _fits(_TOOL)
_KINDS = """auto any none tool function custom allowed_tools file_search web_search web_search_preview
web_search_preview_2025_03_11 computer_use_preview code_interpreter mcp image_generation shell apply_patch"""
_is_tool_kind = _one_of(_KINDS)
_ALLOWED = _object(
    mode=_one_of("auto required"),
    tools=_list(_object(type=_is_tool_kind, name=_is_tool, server_label=_is_tool, function=_object(name=_is_tool))),
    type=_is_tool_kind,
)
_TOOL_CHOICE = _any(
    _one_of("none auto required any"),
    _object(
        type=_is_tool_kind, name=_is_tool, server_label=_is_tool, function=_object(name=_is_tool),
        custom=_object(name=_is_tool), disable_parallel_tool_use=_is_flag, allowed_tools=_ALLOWED,
    ),
    _ALLOWED,
)  # fmt: skip
_EFFORT = _one_of("none minimal low medium high xhigh max")
_SUMMARY = _one_of("auto concise detailed none")
_AMOUNT = _object(type=_one_of("input_tokens tool_uses thinking_turns all"), value=_is_number)
_EDIT = _object(
    type=_one_of("clear_tool_uses_20250919 clear_thinking_20251015 compact_20260112"),
    trigger=_AMOUNT, keep=_any(_AMOUNT, _one_of("all")), clear_at_least=_AMOUNT, exclude_tools=_list(_is_tool),
    clear_tool_inputs=_any(_is_flag, _list(_is_tool)), pause_after_compaction=_is_flag,
)  # fmt: skip
_INCLUDE = """file_search_call.results web_search_call.results web_search_call.action.sources
message.input_image.image_url message.output_text.logprobs computer_call_output.output.image_url
code_interpreter_call.outputs reasoning.encrypted_content"""
_NUMBERS = """temperature top_p top_logprobs n max_tokens max_completion_tokens presence_penalty frequency_penalty seed
top_k min_p repetition_penalty max_output_tokens max_tool_calls dimensions"""


def _is_bias(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(token, str) and _TOKEN.fullmatch(token) and _is_number(bias) for token, bias in value.items()
    )


_SETTINGS: Mapping[str, Check] = {
    **dict.fromkeys(_NUMBERS.split(), _is_number),
    **dict.fromkeys("stream store parallel_tool_calls logprobs".split(), _is_flag),
    "model": _fits(_MODEL),
    "stream_options": _object(include_usage=_is_flag, include_obfuscation=_is_flag, continuous_usage_stats=_is_flag),
    "service_tier": _one_of("auto default flex priority scale standard standard_only batch"),
    "tool_choice": _TOOL_CHOICE,
    "function_call": _any(_one_of("none auto"), _object(name=_is_tool)),
    "logit_bias": _is_bias,
    "modalities": _list(_one_of("text audio image")),
    "reasoning_effort": _EFFORT,
    "verbosity": _one_of("low medium high"),
    "prompt_cache_retention": _one_of("in_memory in-memory 24h"),
    "previous_response_id": _fits(_REPLY),
    "reasoning": _object(effort=_EFFORT, summary=_SUMMARY, generate_summary=_SUMMARY),
    "truncation": _one_of("auto disabled"),
    "include": _list(_one_of(_INCLUDE)),
    "thinking": _object(
        type=_one_of("enabled disabled adaptive"), budget_tokens=_is_number, display=_one_of("summarized omitted full")
    ),
    "cache_control": _object(type=_one_of("ephemeral"), ttl=_one_of("5m 1h")),
    "speed": _one_of("standard fast"),
    "context_management": _any(
        _object(edits=_list(_EDIT)), _list(_object(type=_one_of("compaction"), compact_threshold=_is_number))
    ),
    "inference_geo": _one_of("us eu global"),
    "encoding_format": _one_of("float base64"),
}
