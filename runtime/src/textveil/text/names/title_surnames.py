"""Titles and offices that are family names, since they directly follow a first name: *Mark King*, *Mary Bishop*.

The decision reads the types and forms of the entities and the gaps between, never their text. It joins two replaced
entities to one, so it never decides whether a string is replaced.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from textveil.lazy import CHARACTERS, load_data
from textveil.text.names.tokens import AFTER_TITLE, CAPITALIZED_RUN, ENDS_IN_INITIAL, LONE_INITIAL
from textveil.text.segmentation import TITLE, UPPER

if TYPE_CHECKING:
    from textveil.text.names.entity_types import EntityMention

_GAPS = load_data(CHARACTERS)["gaps"]
_TITLES, _RUNS = frozenset(("title", "office")), frozenset((CAPITALIZED_RUN, LONE_INITIAL))
#: Gaps that join a title to a name after it, and gaps between an initial and a family name.
_JOINS, _AFTER_INITIAL = frozenset(_GAPS["joins"]), frozenset((" ", *_GAPS["joins_initials"]))


def join_title_surnames(entries: "Iterable[str | EntityMention]") -> "Iterator[str | EntityMention]":
    """Yield the parts of a text, and join each title or office that is a family name to the first name before it.

    Args:
        entries: Unchanged texts and detected entities, in order.
    """
    gap = gap_after = ""
    name: EntityMention | None = None
    title: EntityMention | None = None
    for entry in entries:
        if isinstance(entry, str):
            if name is None:
                yield entry
            elif title is None:
                gap += entry
            else:
                gap_after += entry
            continue
        if name is not None and title is None and _may_be_surname(name, gap, entry):
            title = entry
            continue
        if name is not None:
            yield from _join_name(name, gap, title, gap_after, entry)
            gap, title, gap_after = "", None, ""
        name = entry if _lacks_surname(entry) else None
        if name is None:
            yield entry
    if name is not None:
        yield from _join_name(name, gap, title, gap_after, None)


def _lacks_surname(mention: "EntityMention") -> bool:
    """Return whether an entity consists of first names and initials, or is a single name of unknown kind."""
    if mention.span.entity_type not in _RUNS:
        return False
    if mention.entity_type == "family":
        return mention.span.preceding_word != AFTER_TITLE
    return all(part.entity_type in ("given", "initial") for part in mention.parts)


def _may_be_surname(name: "EntityMention", gap: str, mention: "EntityMention") -> bool:
    """Return whether an entity is a title or an office that may be the family name of the name before it.

    An office after a single name of unknown kind is none, since that name may be the name of a firm.

    Args:
        name: The name.
        gap: The text between the two.
        mention: The entity.
    """
    span, before = mention.span, name.span
    if (
        span.entity_type not in _TITLES
        or span.layout
        or (span.entity_type == "office" and name.entity_type == "family")
    ):
        return False
    if span.case != TITLE and not span.case == before.case == UPPER:
        return False
    ends_in_initial = before.layout == ENDS_IN_INITIAL or before.entity_type == LONE_INITIAL
    return gap in _AFTER_INITIAL if ends_in_initial else gap == " "


def _join_name(
    name: "EntityMention", gap: str, title: "EntityMention | None", gap_after: str, following: "EntityMention | None"
) -> "Iterator[str | EntityMention]":
    """Yield a name and the title after it as one person, or both unchanged if the title belongs to a name after it.

    Args:
        name: The name.
        gap: The text after the name.
        title: The title after it; ``None`` if there is none.
        gap_after: The text after the title.
        following: The next entity; ``None`` at the end of the text.
    """
    if title is None:
        yield from (name, gap)
        return
    if following is not None and following.span.entity_type in _RUNS | _TITLES and gap_after in _JOINS:
        yield from (name, gap, title, gap_after)
        return
    before, after, (last,) = name.span, title.span, title.parts
    given = [part._replace(entity_type="given") if part.entity_type == "family" else part for part in name.parts]
    case = UPPER if before.case == after.case == UPPER else TITLE
    span = before._replace(
        entity_type=CAPITALIZED_RUN,
        case=case,
        layout="",
        tokens=(*before.tokens, *after.tokens),
        text=f"{before.text}{gap}{after.text}",
    )
    parts = (*given, last._replace(entity_type="family"))
    yield name._replace(
        entity_type="person", case=case, parts=parts, span=span, name_text=f"{name.name_text}{gap}{title.name_text}"
    )
    yield gap_after
