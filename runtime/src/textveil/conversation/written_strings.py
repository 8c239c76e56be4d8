"""Strings of the model's own in the arguments of a call, for counting."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from textveil.conversation.shapes import parsed
from textveil.errors import InputError
from textveil.text.forms import Pair
from textveil.text.identifiers import split_identifier
from textveil.text.names.plan import NamesPlan
from textveil.text.names.read import TextReader
from textveil.text.segmentation import key

#: Words and numbers of a hidden string.
_WORDS = re.compile(r"[^\W_]+")
#: Entity types whose lists contain common words, such as *hope*: a tool that capitalizes them turns them into names.
_NAMED = "given family city country state place organization group month weekday".split()


def hidden_strings(
    value: Any,
    reader: TextReader,
    plan: NamesPlan,
    restored: Collection[Pair],
    is_field: Callable[[str], bool],
    most: int,
) -> list[str]:
    """Return the strings of arguments that the rules hide with visible equality in any context.

    The result has at most ``most`` strings. Surrogates that the device restored into the call are not counted: the tool
    gets the originals. Any other surrogate counts like other strings, since a tool may echo it. Arguments that JSON
    readers decode differently count as ``most``.
    """
    outputs = {key(word) for pair in restored for word in (pair.output, *pair.output.split())}
    tags = [pair.output for pair in restored if pair.output.startswith("[")]
    found: dict[str, None] = {}
    if isinstance(value, str) and "\\" in value and not _is_json(value):  # a lenient JSON reader decodes its escapes
        return [f"unreadable {number}" for number in range(most)]
    try:
        for text in _texts(value, is_field):
            for tag in tags:
                text = text.replace(tag, "")
            found.update(dict.fromkeys(_strings_of(text, reader, plan, outputs)))
            if len(found) >= most:
                break
    except InputError:  # a duplicate key, or a number that is not finite
        return [f"unreadable {number}" for number in range(most)]
    return [*found][:most]


def _strings_of(text: str, reader: TextReader, plan: NamesPlan, outputs: Collection[str]) -> Iterator[str]:
    """Yield the strings of a text that another context may hide, and words of hidden strings.

    Words count one by one because a tool may split the string.
    """
    for entry in plan.read_strictly(reader.stream(text)):
        if isinstance(entry, str):
            yield from (word for word in _WORDS.findall(entry) if word.islower() and _may_name(word, plan))
        for part in () if isinstance(entry, str) else entry.parts:
            # A capitalized word, such as March or King, is a family name after a first name.
            may_be_name = len(part.text) > 1 and part.text.isalpha() and not part.text.islower()
            if (may_be_name or shows_equality(part.kind, part.layout, plan)) and key(part.text) not in outputs:
                yield part.folded
            words = _WORDS.findall(part.text)
            if len(words) > 1:
                for word in words:
                    yield from _strings_of(word, reader, plan, outputs)


def name_strings(name: str, reader: TextReader, plan: NamesPlan, is_field: Callable[[str], bool]) -> list[str]:
    """Return the hidden strings of a tool's name, as ``hidden_strings`` does for its arguments.

    The name is analyzed as a whole, as clients quote it, and word by word.
    """
    texts = [_text_of_field(name)] if is_field(name) else [name, " ".join(split_identifier(name))]
    return list(dict.fromkeys(found for text in texts for found in _strings_of(text, reader, plan, ())))


def _may_name(word: str, plan: NamesPlan) -> bool:
    """Return whether a lowercase common word is a name if capitalized, with visible equality."""
    return word not in plan.allowed and any(
        word in plan.lists.kinds.get(kind, ()) and shows_equality(kind, "", plan) for kind in _NAMED
    )


def own_words(value: Any, restored: Collection[Pair]) -> list[str]:
    """Return the folded words of arguments, without those of the surrogates restored in them."""
    outputs = {word.casefold() for pair in restored for word in _WORDS.findall(pair.output)}
    try:
        texts = [*_texts(value, lambda name: False)]
    except InputError:  # the value that a tool gets depends on its JSON reader
        texts = [value] if isinstance(value, str) else []
    words = dict.fromkeys(word.casefold() for text in texts for word in _WORDS.findall(text))
    return [word for word in words if word not in outputs]


def shows_equality(kind: str, layout: str, plan: NamesPlan) -> bool:
    """Return whether equal strings of an entity type have equal outputs in a conversation."""
    return plan.style.tags or bool(plan.style.tag) or plan.surrogates.of(kind, layout)[1]


def _texts(value: Any, is_field: Callable[[str], bool]) -> Iterator[str]:
    """Yield all texts, numbers and keys of arguments."""
    if isinstance(value, str):
        inside = parsed(value)
        if inside is None:
            yield value
        else:
            yield from _texts(inside, is_field)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry, is_field)
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            yield _text_of_field(str(name)) if is_field(str(name)) else str(name)
            yield from _texts(entry, is_field)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield json.dumps(abs(value))


def _text_of_field(name: str) -> str:
    """Return the name of a field as a text.

    An object keeps the name, but a tool may write it into a context where it would be hidden.
    """
    words = split_identifier(name)
    return name if len(words) == 1 else " ".join(words).lower()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
