"""Words beside a name that may be parts of it: titles that are family names, and words that ``keep`` names.

A title or office directly after a first name is a family name: *Mark King*, *Mary Bishop*. The option ``keep`` leaves
entities unchanged, unless they are parts of a name.

The *closed* types are groups of people, months, number words and weekdays. A word of a closed type, such as *May*, may
also be a name. So such a word stays unchanged only if no name is beside it. The decision reads the types and layouts
(public forms) of the entities beside the word, and the gaps between, but never their text.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol, Self, TypeVar

from textveil.lazy import CHARACTERS, load_data
from textveil.text.names.tokens import CAPITALIZED_RUN, ENDS_IN_INITIAL, LONE_INITIAL, EntitySpan
from textveil.text.segmentation import LOWER, TITLE, UPPER

_CLOSED, TITLES = frozenset(("group", "month", "number-word", "weekday")), frozenset(("title", "office"))
#: Types of words that may also be first names (``Christian``, ``June``).
_FIRST = frozenset(("group", "month"))
_RUNS = frozenset((CAPITALIZED_RUN, LONE_INITIAL))
_GAPS = load_data(CHARACTERS)["gaps"]
#: Mentions that may be the other part of a name, each with the gaps that join a word to it.
_NAME, _INITIAL, _TITLE, _OTHER = "name", "initial", "title", ""
_JOINS = {
    _NAME: frozenset(_GAPS["joins"]),
    _INITIAL: frozenset((*_GAPS["joins"], *_GAPS["joins_initials"])),
    _TITLE: frozenset((" ", ". ")),
    _OTHER: frozenset[str](),
}
_AFTER_INITIAL = frozenset((" ", *_GAPS["joins_initials"]))
#: The gap after a family name that precedes the first name, and ends of the text before such an entry of a list.
_NAME_COMMA, _ENTRY_ENDS = ", ", ("\n", "\r", ";", "; ")


class _HasSpan(Protocol):
    """Interface of a detected entity: this module reads only the span (the tokens) of the entity."""

    @property
    def span(self) -> EntitySpan:
        """The span (the tokens) of the entity."""
        ...


class _IsMention(_HasSpan, Protocol):
    """Interface of ``EntityMention``, a detected entity with its type and the parts of its name."""

    @property
    def entity_type(self) -> str:
        """The entity type."""
        ...

    @property
    def parts(self) -> tuple[Any, ...]:
        """The parts (``MentionPart``), each with an entity type of its own."""
        ...

    @property
    def name_text(self) -> str:
        """The text of the name, without common words before it."""
        ...

    def _replace(self, **changes: Any) -> Self: ...


Mention = TypeVar("Mention", bound=_HasSpan)
NamedMention = TypeVar("NamedMention", bound=_IsMention)


def merge_kept_mentions(
    elements: Iterable[str | Mention], is_covered: Callable[[Mention], bool]
) -> Iterator[str | Mention]:
    """Yield the parts of a text, and turn entities into unchanged text if an option such as ``keep`` covers them.

    Args:
        elements: Unchanged texts and detected entities, in order.
        is_covered: Function that returns whether the option applies to an entity, by its own text and type.
    """
    kept_texts, gap = list[str](), list[str]()
    before, lead = _OTHER, ""
    waiting: Mention | None = None  # a covered word, until the mention after it is read
    for element in elements:
        if isinstance(element, str):
            gap.append(element)
            continue
        text, covered, entity_type = "".join(gap), is_covered(element), element.span.entity_type
        gap = []
        part = _find_part(element) if entity_type in TITLES or not covered else _OTHER
        if waiting is not None:
            if _is_in_name(waiting, before, lead, text, part, entity_type):
                yield "".join((*kept_texts, lead))
                yield waiting
                kept_texts, before = [], _NAME if waiting.span.entity_type in _CLOSED else _TITLE
            else:
                kept_texts += lead, waiting.span.text
                before = _find_part(waiting)
            waiting = None
        if covered and entity_type in _CLOSED | TITLES:
            waiting, lead = element, text
            continue
        before = part
        if covered:
            kept_texts += text, element.span.text
        else:
            yield "".join((*kept_texts, text))
            yield element
            kept_texts = []
    if waiting is not None and _is_in_name(waiting, before, lead, "".join(gap), _OTHER, ""):
        yield "".join((*kept_texts, lead))
        yield waiting
        kept_texts = []
    elif waiting is not None:
        kept_texts += lead, waiting.span.text
    yield "".join((*kept_texts, *gap))


def _find_part(mention: _HasSpan) -> str:
    """Return the role that an entity may have in a person's name: a name, an initial, a title, or none."""
    span = mention.span
    if span.entity_type in TITLES:
        return _TITLE
    if span.entity_type not in _RUNS:
        return _OTHER
    return _INITIAL if span.layout == ENDS_IN_INITIAL else _NAME


def _is_in_name(mention: _HasSpan, before: str, lead: str, gap: str, after: str, type_after: str) -> bool:
    """Return whether a word such as *Brown* or *May* is beside a name, and so may be a part of the name.

    Args:
        mention: The word, as a detected entity.
        before: Result of ``_find_part`` for the entity before the word.
        lead: The unchanged text between that entity and the word.
        gap: The unchanged text between the word and the next entity.
        after: Result of ``_find_part`` for the next entity.
        type_after: Entity type of the span of the next entity; empty if there is none.
    """
    is_joined = lead in _JOINS[before]
    if mention.span.entity_type in TITLES:
        return is_joined and (before != _TITLE or type_after not in _RUNS or gap not in _JOINS[_TITLE])
    if is_joined or after not in (_NAME, _INITIAL):
        return is_joined
    is_entry = lead == "" or lead.endswith(_ENTRY_ENDS)
    return (gap in _JOINS[_NAME] and mention.span.entity_type in _FIRST) or (gap == _NAME_COMMA and is_entry)


def select_kept_names(lists: Collection[tuple[bool, frozenset[str]]]) -> frozenset[str]:
    """Return the names that the option ``keep`` leaves unchanged: it covers each list that contains such a name.

    In *Anna Bishop*, for example, the title *Bishop* is a family name.

    Args:
        lists: For each list of names, whether the option names its entity type, and the list.
    """
    kept_names, hidden = (frozenset[str]().union(*(of for kept, of in lists if kept == way)) for way in (True, False))
    return kept_names - hidden


def join_title_surname(
    entries: Sequence[str | NamedMention], title_at: int, following: NamedMention | None
) -> Sequence[str | NamedMention]:
    """Return parts of a text, in which a title or office that is a family name is joined to the first name before it.

    The parts are unchanged if the title is no family name, or if it belongs to a name after it.

    Args:
        entries: An entity, the text after it, a title or office, and the text after that. There may be text alone
            before the title.
        title_at: Index of the title.
        following: The next entity; ``None`` at the end of the text.
    """
    name, title = entries[0], entries[title_at]
    if isinstance(name, str) or isinstance(title, str) or not _lacks_surname(name):
        return entries
    gap, gap_after = ("".join(map(str, part)) for part in (entries[1:title_at], entries[title_at + 1 :]))
    if not _is_title_surname(name, gap, title):
        return entries
    if following is not None and _find_part(following) != _OTHER and gap_after in _JOINS[_NAME]:
        return entries
    return _join_surname(name, gap, title), gap_after


def _lacks_surname(mention: _IsMention) -> bool:
    """Return whether an entity consists of first names and initials, or is a single name of unknown kind."""
    is_name = mention.entity_type == "family" or all(part.entity_type in ("given", "initial") for part in mention.parts)
    return is_name and mention.span.entity_type in _RUNS


def _is_title_surname(name: _IsMention, gap: str, mention: _IsMention) -> bool:
    """Return whether an entity is a title or an office that may be the family name of the name before it.

    Args:
        name: The name.
        gap: The text between the name and the entity.
        mention: The entity.
    """
    span, before = mention.span, name.span
    if span.entity_type not in TITLES or span.layout or span.case == LOWER:
        return False
    ends_in_initial = before.layout == ENDS_IN_INITIAL or before.entity_type == LONE_INITIAL
    return gap in _AFTER_INITIAL if ends_in_initial else gap == " "


def _join_surname(name: NamedMention, gap: str, title: NamedMention) -> NamedMention:
    """Return a name and the title after it as one person.

    Args:
        name: The name.
        gap: The text after the name.
        title: The title after it.
    """
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
    return name._replace(
        entity_type="person", case=case, parts=parts, span=span, name_text=f"{name.name_text}{gap}{title.name_text}"
    )
