"""Allowed values of the settings in requests.

The lists contain the values that the APIs define, so that no setting can carry text. A value that an API adds later can
be sent with ``--pass-through FIELD``.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

SettingCheck = Callable[[Any], bool]

_MODEL_PATTERN = re.compile(r"(?=.{1,128}\Z)[A-Za-z0-9][A-Za-z0-9._-]*(?:[:/@][A-Za-z0-9._-]*)*", re.ASCII)
_TOOL_PATTERN = re.compile(r"[A-Za-z0-9_.$-]{1,64}", re.ASCII)
_REPLY_ID_PATTERN = re.compile(r"(?:resp|msg|chatcmpl|response)[_-][A-Za-z0-9_-]{1,256}", re.ASCII)
_TOKEN_PATTERN = re.compile(r"[0-9]{1,9}")


def is_known_setting(name: str, value: Any) -> bool:
    """Return whether the API allows a value for a setting.

    Allowed values are numbers, flags, entries of a list, and objects of these.

    Args:
        name: Name of the field. A field without a rule in this module may have any value that ``request_fields``
            allows.
        value: Value of the field.
    """
    check = _CHECK_BY_SETTING.get(name)
    return value is None or check is None or check(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _make_choice_check(choices: str) -> SettingCheck:
    values = frozenset(choices.split())
    return lambda value: isinstance(value, str) and value in values


def _make_pattern_check(pattern: "re.Pattern[str]") -> SettingCheck:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _make_object_check(**checks: SettingCheck) -> SettingCheck:
    return lambda value: (
        isinstance(value, Mapping) and all(name in checks and checks[name](entry) for name, entry in value.items())
    )


def _make_list_check(check: SettingCheck) -> SettingCheck:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _make_union_check(*checks: SettingCheck) -> SettingCheck:
    return lambda value: any(check(value) for check in checks)


_is_tool_name = _make_pattern_check(_TOOL_PATTERN)
_TOOL_TYPES = """auto any none tool function custom allowed_tools file_search web_search web_search_preview
web_search_preview_2025_03_11 computer_use_preview code_interpreter mcp image_generation shell apply_patch"""
_is_tool_type = _make_choice_check(_TOOL_TYPES)
_ALLOWED = _make_object_check(
    mode=_make_choice_check("auto required"),
    tools=_make_list_check(
        _make_object_check(
            type=_is_tool_type,
            name=_is_tool_name,
            server_label=_is_tool_name,
            function=_make_object_check(name=_is_tool_name),
        )
    ),
    type=_is_tool_type,
)
_TOOL_CHOICE = _make_union_check(
    _make_choice_check("none auto required any"),
    _make_object_check(
        type=_is_tool_type,
    name=_is_tool_name,
    server_label=_is_tool_name,
    function=_make_object_check(name=_is_tool_name),
        custom=_make_object_check(name=_is_tool_name), disable_parallel_tool_use=_is_flag, allowed_tools=_ALLOWED,
    ),
    _ALLOWED,
)  # fmt: skip
_EFFORT = _make_choice_check("none minimal low medium high xhigh max")
_SUMMARY = _make_choice_check("auto concise detailed none")
_AMOUNT = _make_object_check(type=_make_choice_check("input_tokens tool_uses thinking_turns all"), value=_is_number)
_EDIT = _make_object_check(
    type=_make_choice_check("clear_tool_uses_20250919 clear_thinking_20251015 compact_20260112"),
    trigger=_AMOUNT,
    keep=_make_union_check(_AMOUNT, _make_choice_check("all")),
    clear_at_least=_AMOUNT,
    exclude_tools=_make_list_check(_is_tool_name),
    clear_tool_inputs=_make_union_check(_is_flag, _make_list_check(_is_tool_name)), pause_after_compaction=_is_flag,
)  # fmt: skip
_INCLUDE = """file_search_call.results web_search_call.results web_search_call.action.sources
message.input_image.image_url message.output_text.logprobs computer_call_output.output.image_url
code_interpreter_call.outputs reasoning.encrypted_content"""
_NUMBERS = """temperature top_p top_logprobs n max_tokens max_completion_tokens presence_penalty frequency_penalty seed
top_k min_p repetition_penalty max_output_tokens max_tool_calls dimensions"""


def _is_bias(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(token, str) and _TOKEN_PATTERN.fullmatch(token) and _is_number(bias) for token, bias in value.items()
    )


_CHECK_BY_SETTING: Mapping[str, SettingCheck] = {
    **dict.fromkeys(_NUMBERS.split(), _is_number),
    **dict.fromkeys("stream store parallel_tool_calls logprobs".split(), _is_flag),
    "model": _make_pattern_check(_MODEL_PATTERN),
    "stream_options": _make_object_check(
        include_usage=_is_flag, include_obfuscation=_is_flag, continuous_usage_stats=_is_flag
    ),
    "service_tier": _make_choice_check("auto default flex priority scale standard standard_only batch"),
    "tool_choice": _TOOL_CHOICE,
    "function_call": _make_union_check(_make_choice_check("none auto"), _make_object_check(name=_is_tool_name)),
    "logit_bias": _is_bias,
    "modalities": _make_list_check(_make_choice_check("text audio image")),
    "reasoning_effort": _EFFORT,
    "verbosity": _make_choice_check("low medium high"),
    "prompt_cache_retention": _make_choice_check("in_memory in-memory 24h"),
    "previous_response_id": _make_pattern_check(_REPLY_ID_PATTERN),
    "reasoning": _make_object_check(effort=_EFFORT, summary=_SUMMARY, generate_summary=_SUMMARY),
    "truncation": _make_choice_check("auto disabled"),
    "include": _make_list_check(_make_choice_check(_INCLUDE)),
    "thinking": _make_object_check(
        type=_make_choice_check("enabled disabled adaptive"),
        budget_tokens=_is_number,
        display=_make_choice_check("summarized omitted full"),
    ),
    "cache_control": _make_object_check(type=_make_choice_check("ephemeral"), ttl=_make_choice_check("5m 1h")),
    "speed": _make_choice_check("standard fast"),
    "context_management": _make_union_check(
        _make_object_check(edits=_make_list_check(_EDIT)),
        _make_list_check(_make_object_check(type=_make_choice_check("compaction"), compact_threshold=_is_number)),
    ),
    "inference_geo": _make_choice_check("us eu global"),
    "encoding_format": _make_choice_check("float base64"),
}
