"""Fields of requests, and the treatment of each. An unlisted field is not sent.

Text of a person or a tool is rewritten. Settings, tool names and schemas are the developer's and stay unchanged
(``tool_definitions``).
"""

import hmac
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from textveil import Conversation
from textveil.conversation import SETTINGS, list_tool_names, rewrite_stop_sequences
from textveil.errors import InputError

from textveil_cli.gateway.settings import is_known_setting
from textveil_cli.gateway.tool_definitions import check_tools, list_examples, rewrite_examples

#: Treatments of a field, in order: a setting; a schema of the developer; messages; instructions before them; a text or
#: a list of texts; a JSON value; an id of the user; an empty value; tool definitions.
_SETTING, _SCHEMA, _MESSAGES, _BEFORE, _TEXTS, _VALUE, _PERSON, _EMPTY, _TOOLS = range(9)


def _fields(**names: str) -> Mapping[str, int]:
    kinds = {
        "setting": _SETTING, "schema": _SCHEMA, "messages": _MESSAGES, "before": _BEFORE, "texts": _TEXTS,
        "value": _VALUE, "person": _PERSON, "empty": _EMPTY, "tools": _TOOLS,
    }  # fmt: skip
    return {name: kinds[kind] for kind, listed in names.items() for name in listed.split()}


_PERSONS = "user safety_identifier prompt_cache_key"
_MODEL = "model stream stream_options temperature top_p service_tier store parallel_tool_calls tool_choice top_logprobs"
_CHAT = _fields(
    messages="messages",
    setting=f"{_MODEL} n max_tokens max_completion_tokens presence_penalty frequency_penalty logit_bias logprobs seed "
    "modalities reasoning_effort verbosity prompt_cache_retention function_call top_k min_p repetition_penalty",
    schema="response_format",
    tools="tools functions",
    texts="stop",
    value="metadata",
    person=_PERSONS,
)
_RESPONSES = _fields(
    messages="input",
    before="instructions",
    setting=f"{_MODEL} max_output_tokens max_tool_calls previous_response_id reasoning truncation include "
    "prompt_cache_retention",
    schema="text",
    tools="tools",
    value="metadata",
    person=_PERSONS,
    empty="background conversation prompt",
)
_ANTHROPIC = _fields(
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
_EMBEDDINGS = _fields(setting="model dimensions encoding_format", texts="input", person="user")
#: The fields of each path.
PATHS: Mapping[str, Mapping[str, int]] = {
    "/v1/chat/completions": _CHAT,
    "/v1/responses": _RESPONSES,
    "/v1/messages": _ANTHROPIC,
    "/v1/messages/count_tokens": _ANTHROPIC,
    "/v1/embeddings": _EMBEDDINGS,
}
_IDENTIFIER = re.compile(r"[\w.:+/=|-]{0,512}", re.ASCII)
_NAME = re.compile(r"[\w.$-]{1,64}", re.ASCII)
_REFERENCE = "item_reference"
#: As many ids as a conversation stores.
_MOST_REFERENCES = 2_000
_MOST_DEEP, _MOST_ENTRIES, _MOST_INTEGER = 6, 2_000, 1 << 64


@dataclass(frozen=True, kw_only=True, repr=False)
class Asked:
    """A checked request, ready for rewriting.

    Attributes:
        fields: Treatment of each field.
        body: The body.
        messages: Its messages, as a list.
        after: Reply ids of the provider that the request refers to, the last one first.
        passes: Fields that may be sent unchanged.
    """

    fields: Mapping[str, int]
    body: Mapping[str, Any]
    messages: list[Any]
    after: list[str]
    passes: Collection[str] = ()


def read_request(
    path: str, body: Any, passes: Collection[str], is_field_name: Callable[[str], bool] = lambda _: False
) -> Asked:
    """Check a request, without a draw.

    Args:
        path: Path of the request.
        body: Body of the request.
        passes: Fields that may be sent unchanged, in addition to the known ones.
        is_field_name: Function that returns whether an error may contain the name of a field: its words are common
            ones.

    Raises:
        InputError: The shape, a field or a value of the request is unknown.
    """
    known = PATHS[path]
    fields = {**known, **{name: _SCHEMA for name in passes if known.get(name, _EMPTY) in (_EMPTY, _SETTING, _TOOLS)}}
    if not isinstance(body, Mapping):
        raise InputError("the body must be an object of JSON")
    messages: list[Any] = []
    for number, (name, value) in enumerate(body.items(), 1):
        what = fields.get(name)
        if what is None:
            is_plain = isinstance(name, str) and is_field_name(name)
            where = name if is_plain else f"field {number} of the {len(body)} of the request"
            let = f"--pass-through {name} lets it out" if is_plain else "name it with --pass-through"
            raise InputError(f"{where} is not known: leave it out, or {let} as it is")
        if what in (_SETTING, _SCHEMA, _TOOLS) and not _has_plain_numbers(value):
            raise InputError(f"{name}: a number is not finite, or has more than 64 bits")
        if what == _SETTING and not _is_setting(value):
            raise InputError(f"{name}: a number, a flag, an identifier without blanks, or a few of these are wanted")
        if what == _SETTING and not is_known_setting(name, value):
            raise InputError(f"{name}: it has none of the values that its API names (--pass-through {name} lets it)")
        if what == _TOOLS:
            try:
                check_tools(value, passes, _is_setting, is_field_name)
            except InputError as error:
                raise InputError(f"{name}: {error}") from None
        if what == _EMPTY and value:
            raise InputError(f"{name}: it cannot be rewritten")
        if what == _PERSON and not isinstance(value, str | None):
            raise InputError(f"{name}: a text is wanted")
        if what == _TEXTS and not isinstance(value, str | None) and not _are_texts(value):
            raise InputError(f"{name}: a text or a list of texts is wanted, and no tokens")
        if what == _MESSAGES:
            messages = [{"role": "user", "content": value}] if isinstance(value, str) else value  # pyright: ignore
            if not isinstance(messages, list):
                raise InputError(f"{name}: a list is wanted")
    if any(isinstance(item, Mapping) and item.get("type") == SETTINGS for item in messages):
        raise InputError("a message has a type that is not known")
    items = [item for item in reversed(messages) if isinstance(item, Mapping)]
    after = [body.get("previous_response_id"), *(item.get("id") for item in items if item.get("type") == _REFERENCE)]
    names = [*dict.fromkeys(name for name in after if isinstance(name, str))]
    if len(names) > _MOST_REFERENCES:
        raise InputError(f"it names more than {_MOST_REFERENCES:,} items by reference: send the items themselves")
    return Asked(fields=fields, body=body, messages=messages, after=names, passes=passes)


def rewritten(asked: Asked, exchange: Conversation, key: bytes) -> dict[str, Any]:
    """Return the rewritten body.

    Args:
        asked: The checked request.
        exchange: The conversation state that rewrites it.
        key: Key of the hash that replaces ids of the user; equal ids have equal hashes under one key.

    Raises:
        InputError: A message has an unknown shape, or cannot be rewritten. Nothing is drawn then.
        LedgerError: A privacy ledger refuses a text, or cannot record its spend.
    """
    body, fields = dict(asked.body), asked.fields
    exchange.declare_tools(name for field in ("tools", "functions") for name in list_tool_names(body.get(field)))
    items: list[Any] = []
    for name, value in body.items():
        if fields[name] == _BEFORE and value:
            items.append({"role": "system", "content": value})
        elif fields[name] == _VALUE and value:
            items.append({"type": SETTINGS, "value": value})
        elif fields[name] == _TOOLS:
            examples = list_examples(value, asked.passes)
            items += [{"type": SETTINGS, "value": entry} for entry in examples]
    sent = iter(exchange.outgoing([*items, *asked.messages]))
    for name, value in body.items():
        what = fields[name]
        if what == _BEFORE and value:
            body[name] = next(sent)["content"]
        elif what == _VALUE and value:
            body[name] = next(sent)["value"]
        elif what == _TOOLS and value:
            body[name] = rewrite_examples(value, asked.passes, lambda _: next(sent)["value"])
        elif what == _TEXTS and value:
            written = rewrite_stop_sequences(exchange, [value] if isinstance(value, str) else value)
            body[name] = written[0] if isinstance(value, str) else written
        elif what == _PERSON and value:
            body[name] = hmac.digest(key, b"person" + value.encode("utf-8", "surrogatepass"), "sha256").hex()[:32]
    for name, value in body.items():
        if fields[name] == _MESSAGES:
            messages = list(sent)
            body[name] = messages[0]["content"] if isinstance(value, str) else messages
    return body


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _has_plain_numbers(value: Any) -> bool:
    """Return whether all numbers of a value are finite and its integers have at most 64 bits.

    Every JSON reader reads such integers alike.
    """
    level = [value]
    while level:
        for number in level:
            if isinstance(number, float) and not math.isfinite(number):
                return False
            if isinstance(number, int) and abs(number) > _MOST_INTEGER:
                return False
        level = [
            entry
            for container in level
            if isinstance(container, list | Mapping)
            for entry in (container.values() if isinstance(container, Mapping) else container)
        ]
    return True


def _is_setting(value: Any, depth: int = 0) -> bool:
    """Return whether a value is a number, a flag, an id, or a small container of these."""
    if value is None or isinstance(value, bool | int | float):
        return True
    if isinstance(value, str):
        return _IDENTIFIER.fullmatch(value) is not None
    if depth == _MOST_DEEP or not isinstance(value, list | Mapping) or len(value) > _MOST_ENTRIES:
        return False
    if isinstance(value, Mapping):
        return all(map(_NAME.fullmatch, value)) and all(_is_setting(entry, depth + 1) for entry in value.values())
    return all(_is_setting(entry, depth + 1) for entry in value)
