"""Check the tool definitions in a request, and replace names in the input examples of tools.

The developer wrote tool names, descriptions and schemas, so these stay unchanged. Names in input examples are replaced.
Settings may be numbers, flags, identifiers, or small objects of these; the keys must be known field names, and domains
must be hosts without a path. Fields that may contain text of the user, such as a location, an address or a header, are
refused.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from textveil.errors import InputError

#: Names and texts of the developer; schemas and grammars; nested definitions.
_TEXT_FIELDS = frozenset("name description server_description server_label mcp_server_name title".split())
_SCHEMA_FIELDS = frozenset("parameters input_schema output_schema format schema".split())
_NESTED_FIELDS = frozenset(
    "function custom tools functionDeclarations function_declarations skills environment".split()
)
#: Settings: numbers, flags, ids, hosts, and lists and objects of these.
_SETTING_FIELDS = frozenset(
    """
    allowed_callers allowed_domains allowed_tools action background blocked_domains cache_control caching citations
    complexity configs connector_id container container_id default_config defer_loading display_height display_height_px
    display_number display_width display_width_px eager_input_streaming enable_zoom engine execution external_web_access
    file_ids frame_count frame_duration_ms input_fidelity max_characters max_content_tokens max_num_results max_results
    max_tokens max_uses memory_limit model moderation network_policy output_compression output_format partial_images
    google_search google_search_retrieval googleSearch url_context urlContext code_execution codeExecution
    quality ranking_options require_approval response_inclusion search_content_types search_context_size size skill_id
    svg tunnel_id type use_cache vector_store_ids version
    """.split()
)
_EXAMPLES_FIELD, _DOMAIN_FIELDS = "input_examples", frozenset(("allowed_domains", "blocked_domains"))
#: A host in a list of domains. A path, a query or a user name before the host could be text of the user.
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(?::[0-9]{1,5})?", re.ASCII)
#: Allowed keys inside settings, in addition to the known fields and to names made of common words.
_KEYS = frozenset("ttl enabled tool_names read_only never always ranker score_threshold hybrid_search".split())
#: Types of tools whose ``parameters`` are a schema. For other types they are settings of a tool that the provider runs.
_FUNCTION_TYPES = (None, "function", "custom", "tool_search")
#: Fields of settings with secrets or files.
_REFUSED_FIELDS = frozenset("domain_secrets data headers authorization".split())
_MAX_DEPTH = 6
#: Fields of the APIs that an error may name.
_KNOWN_FIELDS = frozenset(
    """
    user_location filters server_url image_url input_image_mask url_sources path source city country region
    strict timezone
    """.split()
).union(_TEXT_FIELDS, _SCHEMA_FIELDS, _NESTED_FIELDS, _SETTING_FIELDS, _REFUSED_FIELDS, (_EXAMPLES_FIELD,))


def check_tools(
    tools: Any,
    pass_through: Collection[str],
    is_setting: Callable[[Any], bool],
    is_field_name: Callable[[str], bool] = lambda name: False,
) -> None:
    """Check that tool definitions have only known fields, which cannot contain text of the user.

    Args:
        tools: The tool definitions of a request.
        pass_through: Names of fields that may be sent unchanged.
        is_setting: Function that returns whether a value is a number, a flag, an identifier, or a small list or object
            of these.
        is_field_name: Function that takes the name of an unknown field, and returns whether an error may contain it.

    Raises:
        InputError: A field is unknown, or its value may contain text of the user.
    """
    if tools is None:
        return
    if not isinstance(tools, list):
        raise InputError("must be a list of tools")
    for tool in tools:
        if not isinstance(tool, Mapping):
            raise InputError("each tool must be a JSON object")
        _check_fields(tool, pass_through, is_setting, is_field_name, _MAX_DEPTH, is_definition=True)


def rewrite_examples(tools: Any, pass_through: Collection[str], rewrite: Callable[[list[Any]], Any]) -> Any:
    """Replace names in the input examples of tool definitions, also nested ones, and return the definitions.

    Keys and texts of an example that also occur in the schemas of the tool stay unchanged.

    Args:
        tools: Checked tool definitions.
        pass_through: Names of fields that may be sent unchanged.
        rewrite: Function that replaces the names in a list of examples.
    """
    if _EXAMPLES_FIELD in pass_through:
        return tools
    return [_rewrite_tool(tool, pass_through, frozenset(_iterate_public_strings(tool)), rewrite) for tool in tools]


def list_examples(tools: Any, pass_through: Collection[str]) -> list[Any]:
    """Return the input examples of all tools, in the order in which ``rewrite_examples`` processes them.

    Args:
        tools: Checked tool definitions; ``None`` for no tools.
        pass_through: Names of fields that the user permits to be sent unchanged. If ``input_examples`` is one of them,
            the result is empty.
    """
    collected: list[Any] = []

    def collect(examples: Any) -> Any:
        collected.append(examples)
        return examples

    rewrite_examples(tools or [], pass_through, collect)
    return collected


def _rewrite_tool(
    tool: Mapping[str, Any], pass_through: Collection[str], public: Collection[str], rewrite: Callable[[list[Any]], Any]
) -> dict[str, Any]:
    """Replace names in the input examples of one tool definition, also nested ones, and return the definition.

    Args:
        tool: The tool definition.
        pass_through: Names of fields that are sent unchanged.
        public: Keys and texts in the schemas of the tool, which stay unchanged in examples.
        rewrite: Function that replaces the names in a list of examples.
    """
    rewritten: dict[str, Any] = {}
    for name, value in tool.items():
        rewritten[name] = value
        if name in pass_through or not value:
            continue
        if name == _EXAMPLES_FIELD:
            rewritten[name] = _restore_public(value, rewrite(value), public)
        elif _is_nested(name, tool.get("type")) and not isinstance(value, str):
            nested = [_rewrite_tool(one, pass_through, public, rewrite) for one in _list_objects(value)]
            rewritten[name] = nested[0] if isinstance(value, Mapping) else nested
    return rewritten


def _is_nested(name: str, tool_type: Any) -> bool:
    """Return whether the value of a field contains objects that are processed in the same way as a tool definition.

    These are tools inside a tool, in fields such as ``function`` or ``tools``, and the settings in ``parameters`` of a
    tool that the provider runs. In a tool that the client runs, ``parameters`` is a JSON schema instead.

    Args:
        name: The name of the field.
        tool_type: The ``type`` of the tool that has the field; ``None`` if it has none.
    """
    return name in _NESTED_FIELDS or (name == "parameters" and tool_type not in _FUNCTION_TYPES)


def _list_objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the JSON objects in the value of a field: the value itself if it is an object, or the objects in a list.

    The result is empty for other values, such as the name of an environment.
    """
    entries = [value] if isinstance(value, Mapping) else value
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def _check_fields(
    tool: Mapping[str, Any],
    pass_through: Collection[str],
    is_setting: Callable[[Any], bool],
    is_field_name: Callable[[str], bool],
    depth: int,
    *,
    is_definition: bool,
) -> None:
    """Raise ``InputError`` for an unknown field, or one that may contain text of the user.

    Args:
        tool: A tool definition, or the settings of a tool that the provider runs.
        pass_through: Names of fields that may be sent unchanged.
        is_setting: Function that returns whether a value is a number, a flag, an identifier, or a small list or object
            of these.
        is_field_name: Function that takes the name of an unknown field, and returns whether an error may contain it.
        depth: Maximum depth of nested definitions.
        is_definition: Whether ``tool`` is a definition, in which names, descriptions and schemas are the developer's.
    """
    for number, (name, value) in enumerate(tool.items(), 1):
        if name in pass_through:
            continue
        if name not in _KNOWN_FIELDS and not is_field_name(name):
            raise InputError(
                f"field {number} of a tool definition is unknown: omit it, or send it unchanged with --pass-through"
            )
        if value is None or isinstance(value, bool | int | float) or value in ("", [], {}):
            continue
        tool_type = tool.get("type")
        is_developers = is_definition or name not in _TEXT_FIELDS | _SCHEMA_FIELDS
        if is_developers and _is_public(name, value, tool_type, pass_through, is_setting, is_field_name):
            continue
        entries = [value] if isinstance(value, Mapping) else value
        is_nested = _is_nested(name, tool_type)
        if not (is_nested and depth and isinstance(entries, list) and all(isinstance(one, Mapping) for one in entries)):
            raise InputError(
                f"{name} of a tool may contain words of the user: omit it, or send it unchanged with "
                f"--pass-through {name}"
            )
        for entry in entries:
            is_inner_definition = is_definition and name != "parameters"
            _check_fields(entry, pass_through, is_setting, is_field_name, depth - 1, is_definition=is_inner_definition)


def _is_public(
    name: str,
    value: Any,
    tool_type: Any,
    pass_through: Collection[str],
    is_setting: Callable[[Any], bool],
    is_field_name: Callable[[str], bool],
) -> bool:
    """Return whether a field of a tool definition may be sent to the model.

    A field may be sent if it contains text of the developer, a setting, or examples, in which names are replaced.

    Args:
        name: Name of the field.
        value: Value of the field.
        tool_type: Type of the tool.
        pass_through: Names of fields that may be sent unchanged.
        is_setting: Function that returns whether a value is a number, a flag, an identifier, or a small list or object
            of these.
        is_field_name: Function that takes the name of an unknown field, and returns whether an error may contain it.
    """
    if name == _EXAMPLES_FIELD:
        return isinstance(value, list)
    if name in _TEXT_FIELDS:
        return isinstance(value, str)
    if name in _SCHEMA_FIELDS and (name != "parameters" or tool_type in _FUNCTION_TYPES):
        return True
    may_be_setting = name in _SETTING_FIELDS or (isinstance(value, str) and name == "environment")
    if name == "filters" and isinstance(value, Mapping):
        may_be_setting = value.keys() <= _DOMAIN_FIELDS
    return may_be_setting and is_setting(value) and not _has_refused_field(name, value, pass_through, is_field_name)


def _has_refused_field(
    field: str, value: Any, pass_through: Collection[str], is_field_name: Callable[[str], bool]
) -> bool:
    """Return whether a setting contains a value that must not be sent.

    Such values are texts, secrets, files, and values of unknown keys. A domain must be a host name alone, without a
    path.

    Args:
        field: Name of the setting, or of the field inside it.
        value: Its value.
        pass_through: Names of fields that may be sent unchanged.
        is_field_name: Function that returns whether a key consists of common words.
    """
    if isinstance(value, str):
        return field in _DOMAIN_FIELDS and _HOST.fullmatch(value) is None
    if isinstance(value, list):
        return any(_has_refused_field(field, entry, pass_through, is_field_name) for entry in value)
    if not isinstance(value, Mapping):
        return False
    return any(
        name not in pass_through
        and (
            name in _REFUSED_FIELDS | _TEXT_FIELDS | _SCHEMA_FIELDS
            or not (name in _KEYS or name in _KNOWN_FIELDS or is_field_name(name))
            or _has_refused_field(name, entry, pass_through, is_field_name)
        )
        for name, entry in value.items()
    )


def _iterate_public_strings(tool: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys and texts in the schemas of a tool and of nested tools.

    These strings are public, since schemas are always sent unchanged.
    """
    tool_type = tool.get("type")
    waiting: list[Any] = [tool.get(name) for name in _SCHEMA_FIELDS if not _is_nested(name, tool_type)]
    for name, value in tool.items():
        if _is_nested(name, tool_type):
            for nested in _list_objects(value):
                yield from _iterate_public_strings(nested)
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, list):
            waiting += entry
        elif isinstance(entry, Mapping):
            yield from entry
            waiting += entry.values()


def _restore_public(value: Any, rewritten: Any, public: Collection[str]) -> Any:
    """Undo replacements of keys and texts that also occur in the public schemas of a tool.

    Args:
        value: The original value.
        rewritten: The value after names were replaced.
        public: Keys and texts in the schemas of the tool.
    """
    if isinstance(value, list):
        return [_restore_public(one, other, public) for one, other in zip(value, rewritten, strict=True)]
    if isinstance(value, Mapping):
        entries = zip(value.items(), rewritten.items(), strict=True)
        return {
            (name if name in public else key): _restore_public(one, other, public)
            for (name, one), (key, other) in entries
        }
    return value if isinstance(value, str) and value in public else rewritten
