"""Check the fields of a request, and replace names in those that contain text of a person or a tool.

The developer of the client wrote settings, tool names and schemas, so these stay unchanged (see ``tool_definitions``).
A request with an unknown field is refused.
"""

import hmac
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from textveil import Conversation
from textveil.conversation import SETTINGS_TYPE, list_tool_names, rewrite_stop_sequences
from textveil.errors import InputError
from textveil.work_steps import free_in_steps

from textveil_cli.gateway.setting_values import is_known_setting
from textveil_cli.gateway.tool_definitions import check_tools, list_examples, rewrite_examples

#: Treatments of a field, in this order: a setting; a schema of the developer; messages; instructions; a text or
#: a list of texts; a JSON value; an id of the user; an empty value; tool definitions.
_SETTING, _SCHEMA, _MESSAGES, _INSTRUCTIONS, _TEXTS, _VALUE, _USER_ID, _EMPTY, _TOOLS = range(9)


def _map_treatments(**names: str) -> Mapping[str, int]:
    treatments = {
        "setting": _SETTING, "schema": _SCHEMA, "messages": _MESSAGES, "before": _INSTRUCTIONS, "texts": _TEXTS,
        "value": _VALUE, "person": _USER_ID, "empty": _EMPTY, "tools": _TOOLS,
    }  # fmt: skip
    return {name: treatments[treatment] for treatment, fields in names.items() for name in fields.split()}


_USER_ID_FIELDS = "user safety_identifier prompt_cache_key"
_OPENAI_SETTINGS = (
    "model stream stream_options temperature top_p service_tier store parallel_tool_calls tool_choice top_logprobs"
)
_CHAT_FIELDS = _map_treatments(
    messages="messages",
    setting=f"{_OPENAI_SETTINGS} n max_tokens max_completion_tokens presence_penalty frequency_penalty logit_bias "
    "logprobs seed modalities reasoning_effort verbosity prompt_cache_retention function_call top_k min_p "
    "repetition_penalty",
    schema="response_format",
    tools="tools functions",
    texts="stop",
    value="metadata",
    person=_USER_ID_FIELDS,
)
_RESPONSES_FIELDS = _map_treatments(
    messages="input",
    before="instructions",
    setting=f"{_OPENAI_SETTINGS} max_output_tokens max_tool_calls previous_response_id reasoning truncation include "
    "prompt_cache_retention",
    schema="text",
    tools="tools",
    value="metadata",
    person=_USER_ID_FIELDS,
    empty="background conversation prompt",
)
_ANTHROPIC_FIELDS = _map_treatments(
    messages="messages",
    before="system",
    setting="model stream max_tokens temperature top_p top_k service_tier thinking tool_choice cache_control speed "
    "context_management inference_geo",
    schema="output_config output_format",
    tools="tools",
    texts="stop_sequences",
    value="metadata",
    empty="container mcp_servers",
)
_EMBEDDINGS_FIELDS = _map_treatments(setting="model dimensions encoding_format", texts="input", person="user")
#: The fields of each path.
FIELDS_BY_PATH: Mapping[str, Mapping[str, int]] = {
    "/v1/chat/completions": _CHAT_FIELDS,
    "/v1/responses": _RESPONSES_FIELDS,
    "/v1/messages": _ANTHROPIC_FIELDS,
    "/v1/messages/count_tokens": _ANTHROPIC_FIELDS,
    "/v1/embeddings": _EMBEDDINGS_FIELDS,
}
_IDENTIFIER = re.compile(r"[\w.:+/=|-]{0,512}", re.ASCII)
_KEY_PATTERN = re.compile(r"[\w.$-]{1,64}", re.ASCII)
_REFERENCE_TYPE = "item_reference"
#: Maximum number of item ids in a request: as many as a conversation stores.
_MAX_REFERENCES = 2_000
_MAX_DEPTH, _MAX_ENTRIES, _MAX_INTEGER = 6, 2_000, 1 << 64


@dataclass(frozen=True, kw_only=True, repr=False)
class CheckedRequest:
    """A request whose fields were checked and whose names were not yet replaced.

    Attributes:
        treatments: How the gateway treats each field, by field name.
        body: The body of the request.
        messages: The messages of the request.
        reply_ids: The provider's ids of earlier replies that the request contains, the last one first.
        pass_through: Names of fields that are sent unchanged.
    """

    treatments: Mapping[str, int]
    body: Mapping[str, Any]
    messages: list[Any]
    reply_ids: list[str]
    pass_through: Collection[str] = ()

    def free_memory(self) -> None:
        """Free the body step by step, so that other threads can run in between.

        Nobody may use the request afterward.
        """
        free_in_steps(self.messages, self.body)

    @contextmanager
    def free_afterward(self) -> Iterator["CheckedRequest"]:
        """Context manager that yields this request and frees the memory of its body at the end of the block."""
        try:
            yield self
        finally:
            self.free_memory()


def check_request(
    path: str, body: Any, pass_through: Collection[str], is_field_name: Callable[[str], bool] = lambda _: False
) -> CheckedRequest:
    """Check the fields of a request; call this before names in the request are replaced.

    Args:
        path: Path of the request.
        body: Parsed body of the request.
        pass_through: Names of fields that may be sent unchanged, in addition to the known ones.
        is_field_name: Function that takes the name of an unknown field, and returns whether an error may contain it.
            Only names made of common words may be in an error, since any other name could be private text.

    Raises:
        InputError: The shape, a field or a value of the request is unknown.
    """
    known = FIELDS_BY_PATH[path]
    treatments = {
        **known,
        **{name: _SCHEMA for name in pass_through if known.get(name, _EMPTY) in (_EMPTY, _SETTING, _TOOLS)},
    }
    if not isinstance(body, Mapping):
        raise InputError("the body must be a JSON object")
    messages: list[Any] = []
    for number, (name, value) in enumerate(body.items(), 1):
        treatment = treatments.get(name)
        if treatment is None:
            is_quotable = isinstance(name, str) and is_field_name(name)
            where = name if is_quotable else f"field {number} of the {len(body)} of the request"
            option = f"--pass-through {name}" if is_quotable else "--pass-through"
            raise InputError(f"{where} is unknown: omit it, or send it unchanged with {option}")
        if treatment in (_SETTING, _SCHEMA, _TOOLS) and not _has_plain_numbers(value):
            raise InputError(f"{name}: a number is not finite, or has more than 64 bits")
        if treatment == _SETTING and not _is_setting(value):
            raise InputError(
                f"{name}: must be a number, a flag, an identifier without blanks, or a small list or object of these"
            )
        if treatment == _SETTING and not is_known_setting(name, value):
            raise InputError(
                f"{name}: textveil does not know this value (to send it unchanged, use --pass-through {name})"
            )
        if treatment == _TOOLS:
            try:
                check_tools(value, pass_through, _is_setting, is_field_name)
            except InputError as error:
                raise InputError(f"{name}: {error}") from None
        if treatment == _EMPTY and value:
            raise InputError(f"{name}: the gateway cannot rewrite this field: omit it")
        if treatment == _USER_ID and not isinstance(value, str | None):
            raise InputError(f"{name}: must be a text")
        if treatment == _TEXTS and not isinstance(value, str | None) and not _are_texts(value):
            raise InputError(f"{name}: must be a text or a list of texts, not tokens")
        if treatment == _MESSAGES:
            messages = [{"role": "user", "content": value}] if isinstance(value, str) else value  # pyright: ignore
            if not isinstance(messages, list):
                raise InputError(f"{name}: must be a list")
    if any(isinstance(item, Mapping) and item.get("type") == SETTINGS_TYPE for item in messages):
        raise InputError("a message has an unknown type: omit it")
    items = [item for item in reversed(messages) if isinstance(item, Mapping)]
    references = [
        body.get("previous_response_id"),
        *(item.get("id") for item in items if item.get("type") == _REFERENCE_TYPE),
    ]
    reply_ids = [*dict.fromkeys(name for name in references if isinstance(name, str))]
    if len(reply_ids) > _MAX_REFERENCES:
        raise InputError(
            f"the request refers to more than {_MAX_REFERENCES:,} items by their ids: send the items themselves"
        )
    return CheckedRequest(
        treatments=treatments, body=body, messages=messages, reply_ids=reply_ids, pass_through=pass_through
    )


def rewrite_request(request: CheckedRequest, exchange: Conversation, key: bytes) -> dict[str, Any]:
    """Replace names in the texts of a request, and return the body to send.

    Args:
        request: The checked request.
        exchange: The conversation, which stores the replacement of each name so far.
        key: Key of the hash that replaces ids of the user; equal ids have equal hashes under one key.

    Raises:
        InputError: A message has an unknown shape, or cannot be processed. No random replacement is sampled in this
            case.
        LedgerError: The epsilon of a text exceeds the rest of the budget in the privacy ledger, or the ledger cannot be
            written.
    """
    body, treatments = dict(request.body), request.treatments
    exchange.declare_tools(name for field in ("tools", "functions") for name in list_tool_names(body.get(field)))
    items: list[Any] = []
    for name, value in body.items():
        if treatments[name] == _INSTRUCTIONS and value:
            items.append({"role": "system", "content": value})
        elif treatments[name] == _VALUE and value:
            items.append({"type": SETTINGS_TYPE, "value": value})
        elif treatments[name] == _TOOLS:
            examples = list_examples(value, request.pass_through)
            items += [{"type": SETTINGS_TYPE, "value": entry} for entry in examples]
    sent = iter(exchange.outgoing([*items, *request.messages]))
    for name, value in body.items():
        treatment = treatments[name]
        if treatment == _INSTRUCTIONS and value:
            body[name] = next(sent)["content"]
        elif treatment == _VALUE and value:
            body[name] = next(sent)["value"]
        elif treatment == _TOOLS and value:
            body[name] = rewrite_examples(value, request.pass_through, lambda _: next(sent)["value"])
        elif treatment == _TEXTS and value:
            texts = rewrite_stop_sequences(exchange, [value] if isinstance(value, str) else value)
            body[name] = texts[0] if isinstance(value, str) else texts
        elif treatment == _USER_ID and value:
            body[name] = hmac.digest(key, b"person" + value.encode("utf-8", "surrogatepass"), "sha256").hex()[:32]
    for name, value in body.items():
        if treatments[name] == _MESSAGES:
            messages = list(sent)
            body[name] = messages[0]["content"] if isinstance(value, str) else messages
    return body


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _has_plain_numbers(value: Any) -> bool:
    """Return whether all numbers of a value are finite, and its integers have at most 64 bits.

    All JSON parsers agree on the value of such numbers.
    """
    level = [value]
    while level:
        for number in level:
            if isinstance(number, float) and not math.isfinite(number):
                return False
            if isinstance(number, int) and abs(number) > _MAX_INTEGER:
                return False
        level = [
            entry
            for container in level
            if isinstance(container, list | Mapping)
            for entry in (container.values() if isinstance(container, Mapping) else container)
        ]
    return True


def _is_setting(value: Any, depth: int = 0) -> bool:
    """Return whether a value is only a setting: a number, a flag, an identifier, or a small list or object of these."""
    if value is None or isinstance(value, bool | int | float):
        return True
    if isinstance(value, str):
        return _IDENTIFIER.fullmatch(value) is not None
    if depth == _MAX_DEPTH or not isinstance(value, list | Mapping) or len(value) > _MAX_ENTRIES:
        return False
    if isinstance(value, Mapping):
        return all(map(_KEY_PATTERN.fullmatch, value)) and all(
            _is_setting(entry, depth + 1) for entry in value.values()
        )
    return all(_is_setting(entry, depth + 1) for entry in value)
