"""Search for strings that a model itself wrote into a tool call, and which may be guesses of private strings."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from textveil.conversation.message_rewriter import SpelledNumber, parse_json_container
from textveil.errors import InputError
from textveil.text.identifiers import split_identifier
from textveil.text.inflections import SurrogatePair
from textveil.text.names.plan import NamesPlan
from textveil.text.names.read import NamesReader
from textveil.text.names.tokens import KNOWN_PERSON
from textveil.text.segmentation import fold_word

#: Pattern of the words and numbers in a hidden string.
_WORD_PATTERN = re.compile(r"[^\W_]+")
#: Entity types whose lists contain common words, such as *hope*. A tool that capitalizes such a word makes it a name.
_NAME_TYPES = "given family city country state place organization group month weekday".split()


def find_hidden_strings(
    value: Any,
    reader: NamesReader,
    plan: NamesPlan,
    restored: Collection[SurrogatePair],
    is_field: Callable[[str], bool],
    max_count: int,
) -> list[str]:
    """Return the strings in a tool call with which the model could test guesses of private strings.

    These are strings that the model itself wrote. Suppose that the tool repeats such a string in its result. If an
    equal string of the conversation is hidden, both get the same surrogate (replacement), and the model sees that its
    guess is right. Surrogates that the device replaced by originals in the call are not guesses, because the tool
    receives the originals. All other surrogates are guesses, because a tool may repeat them.

    Args:
        value: The arguments, as a value or as JSON text. JSON text that programs decode in different ways counts as
            ``max_count`` guesses.
        reader: Finder of the words to hide in texts.
        plan: Rules for hiding names and numbers.
        restored: The surrogates that were replaced by originals in the call, each with its original.
        is_field: Function that returns whether a key is the public name of a field.
        max_count: Maximum number of strings in the result.
    """
    outputs = {fold_word(word) for pair in restored for word in (pair.output, *pair.output.split())}
    tags = [pair.output for pair in restored if pair.output.startswith("[")]
    strings: dict[str, None] = {}
    if isinstance(value, str) and "\\" in value and not _is_json(value):  # a lenient JSON reader decodes its escapes
        return [f"unreadable {number}" for number in range(max_count)]
    try:
        for text in _iterate_texts(value, is_field):
            for tag in tags:
                text = text.replace(tag, "")
            strings.update(dict.fromkeys(_iterate_hidden_strings(text, reader, plan, outputs)))
            if len(strings) >= max_count:
                break
    except InputError:  # a duplicate key, or a number that is not finite
        return [f"unreadable {number}" for number in range(max_count)]
    return [*strings][:max_count]


def _iterate_hidden_strings(text: str, reader: NamesReader, plan: NamesPlan, outputs: Collection[str]) -> Iterator[str]:
    """Yield each string of a text that the rules replace in at least one context, and each word of such a string.

    The result includes words because a tool that receives the string may split it.

    Args:
        text: The text.
        reader: Finder of the words to hide in texts.
        plan: Rules for hiding names and numbers.
        outputs: Strings to ignore, in lower case: surrogates (replacements), for which the text now has the originals.
    """
    for entry in plan.hide_context_words(reader.stream_text(text)):
        if isinstance(entry, str):
            yield from (word for word in _WORD_PATTERN.findall(entry) if word.islower() and _may_be_name(word, plan))
        if not isinstance(entry, str) and entry.span.entity_type == KNOWN_PERSON:
            from textveil.text.names.known_persons import describe_known_tag  # lazy: most texts list no persons

            if fold_word(entry.span.text) not in outputs:
                yield describe_known_tag(entry)[1][0][-1]
        for part in () if isinstance(entry, str) else entry.parts:
            # A capitalized word, such as March or King, is a family name after a first name.
            may_be_name = len(part.text) > 1 and part.text.isalpha() and not part.text.islower()
            if (may_be_name or has_equal_surrogates(part.entity_type, part.layout, plan)) and fold_word(
                part.text
            ) not in outputs:
                yield part.folded
            words = _WORD_PATTERN.findall(part.text)
            if len(words) > 1:
                for word in words:
                    yield from _iterate_hidden_strings(word, reader, plan, outputs)


def find_name_strings(name: str, reader: NamesReader, plan: NamesPlan, is_field: Callable[[str], bool]) -> list[str]:
    """Return the strings in a tool's name with which a model could test guesses (see ``find_hidden_strings``).

    Both the whole name and each of its words are checked, because clients may quote the name in an error message.
    """
    texts = [_format_field_name(name)] if is_field(name) else [name, " ".join(split_identifier(name))]
    return list(dict.fromkeys(string for text in texts for string in _iterate_hidden_strings(text, reader, plan, ())))


def _may_be_name(word: str, plan: NamesPlan) -> bool:
    """Return whether a common word in lower case would be hidden as a name if it were capitalized, such as ``grace``.

    The result is false for names of types whose equal strings get different surrogates (replacements).
    """
    return word in plan.known_words or (
        word not in plan.allowed
        and any(
            word in plan.lists.members_by_type.get(entity_type, ()) and has_equal_surrogates(entity_type, "", plan)
            for entity_type in _NAME_TYPES
        )
    )


def list_model_words(value: Any, restored: Collection[SurrogatePair]) -> list[str]:
    """Return the words that the model itself wrote into the arguments of a tool call, in lower case.

    Words of surrogates that were replaced by originals (``restored``) are not included.
    """
    outputs = {word.casefold() for pair in restored for word in _WORD_PATTERN.findall(pair.output)}
    try:
        texts = [*_iterate_texts(value, lambda name: False)]
    except InputError:  # the value that a tool gets depends on its JSON reader
        texts = [value] if isinstance(value, str) else []
    words = dict.fromkeys(word.casefold() for text in texts for word in _WORD_PATTERN.findall(text))
    return [word for word in words if word not in outputs]


def has_equal_surrogates(entity_type: str, layout: str, plan: NamesPlan) -> bool:
    """Return whether equal strings of an entity type may get equal surrogates (replacements) or tags in a conversation.

    Args:
        entity_type: Entity type of the strings.
        layout: Public form of the strings, such as the number of digits; empty for words.
        plan: Rules for hiding names and numbers.
    """
    return (
        plan.style.tags
        or bool(plan.style.tag or plan.style.value_tags)
        or plan.surrogates.get_size_and_consistency(entity_type, layout)[1]
    )


def _iterate_texts(value: Any, is_field: Callable[[str], bool]) -> Iterator[str]:
    """Yield all texts, numbers and keys in the arguments of a call, as strings.

    Args:
        value: The arguments. A text that is JSON is decoded.
        is_field: Function that returns whether a key is the public name of a field. The words of such a key are
            separated by blanks in the result.
    """
    if isinstance(value, str):
        container = parse_json_container(value)
        if container is None:
            yield value
        else:
            yield from _iterate_texts(container, is_field)
    elif isinstance(value, list):
        for entry in value:
            yield from _iterate_texts(entry, is_field)
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            yield _format_field_name(str(name)) if is_field(str(name)) else str(name)
            yield from _iterate_texts(entry, is_field)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield (plain := json.dumps(abs(value)))
        if isinstance(value, SpelledNumber) and (spelling := value.spelling.removeprefix("-")) != plain:
            yield spelling


def _format_field_name(name: str) -> str:
    """Return the words of a field name, separated by blanks, as a tool may write them into a text.

    The name is sent unchanged as a JSON key, but in a text its words may be hidden. So the caller checks these words
    like a text.
    """
    words = split_identifier(name)
    return name if len(words) == 1 else " ".join(words).lower()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
