"""Pairs of a surrogate (replacement) and its original, with which replies to a sanitized text are restored.

To restore a reply means to put originals in the places of surrogates. A reply may contain a very short surrogate, such
as ``7``, by chance. Such a surrogate is restored only next to the same word as in the sanitized text (``7 chairs``), or
where the reply repeats more of the sanitized text around it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

import regex

from textveil.bundle.rules import english_rules
from textveil.text.inflections import SurrogatePair, find_word_before
from textveil.text.names.emoji import KEYCAP
from textveil.text.names.entity_types import PUBLIC_TYPE_NAMES, EntityMention
from textveil.text.names.tokens import JSON_NUMBER_CASE
from textveil.text.quotations import cut_after, cut_before, is_separate_word, join_after, join_before
from textveil.text.replaced_spans import SpanOutline
from textveil.text.restore import escape_tags
from textveil.work_steps import check_work

#: Types whose surrogates are restored only if the reply repeats the text around them; types that need the word before
#: or after them; and types that are never restored.
_QUOTED_TYPES = frozenset(("initial", "letter", "symbol", "other"))
_WEAK_TYPES = frozenset(("title", "number-word", "unit", "office", KEYCAP))
_UNRESTORED_TYPES = frozenset(("particle",))
#: Types with so few surrogates that long texts reuse them for other originals.
_REUSED_TYPES = frozenset("weekday month state the-country day age ordinal decade year time".split())
#: Months that are also other words.
_WORD_MONTHS = english_rules().month_words
_DATE_TYPES = frozenset((("day", "month", "year"), ("month", "day", "year"), ("day", "month"), ("month", "day")))
_FIRST_DATE_TYPES = frozenset(map(itemgetter(0), _DATE_TYPES))
_DATE_GAPS = frozenset((" ", ", ", ". "))
_WORD_AFTER = re.compile(r"[%\u20ac]|-?\w[\w'\u2019]+| ?[^\W\d_][\w'\u2019]{3,}|\.? [^\W\d_]\w+")
_BLANK, _END_MARKS = frozenset(("", " ", "\n")), frozenset(".,;:!?")
_SIGNS = frozenset("$\u20ac\u00a3\u00a5#")
_LETTERS = regex.compile(r"\p{L}+")
#: Words of at most this length do not count as context; and the number of characters that are read after a mention.
_MAX_SHORT_WORD, _CONTEXT_CHARACTERS = 3, 40
#: Number of elements per step, and the number of elements before and after a mention on which its pairs may depend.
_WINDOW, _ELEMENTS_BEFORE, _ELEMENTS_AFTER = 1 << 8, 24, 16
#: The largest number of pairs per text that store the text around them, and the largest number of surrogates whose
#: first spelling is stored. Each needs some hundred bytes.
_MAX_QUOTED_PAIRS, _MAX_SPELLINGS = 1 << 9, 1 << 10


class RewrittenElement(NamedTuple):
    """One piece of a sanitized text: unchanged text, or the replacement of an entity.

    Attributes:
        output: The piece in the sanitized text.
        original: The piece in the user's text.
        mention: The replaced entity; ``None`` for unchanged text, and for output without an original to restore.
        parts: The surrogate (replacement) of each part of the entity; empty for unchanged text, a tag and an empty
            output. For a replaced entity without an original to restore, the only entry is ``output``.
    """

    output: str
    original: str
    mention: EntityMention | None = None
    parts: tuple[str, ...] = ()


def iterate_organization_pairs(output: Sequence[str], original: Sequence[str]) -> Iterator[SurrogatePair]:
    """Yield pairs of replacement and original for the short forms of an organization in replies.

    The short forms are its first word and its last word: a reply about ``Acme Steel Works`` may write only *Acme*.

    The original may also be the name of a person that was classified as an organization.

    Args:
        output: Words of the surrogate (replacement).
        original: Words of the original.
    """
    if len(output) > 1 and len(original) > 1:
        yield SurrogatePair(output[0], original[0])
        if len(output) == len(original):
            yield SurrogatePair(output[-1], original[-1])


def iterate_short_forms(element: RewrittenElement) -> Iterator[SurrogatePair]:
    """Yield pairs of replacement and original for the short forms of an organization; none for other entities.

    Example: a reply about ``Acme Steel Works`` may write only *Acme*.
    """
    if len(element.parts) == 1 and element.mention is not None:
        part = element.mention.parts[0]
        if part.entity_type == "organization":
            yield from iterate_organization_pairs(element.parts[0].split(), part.text.split())


def find_kept_short_forms(text: str, short_forms: Mapping[str, Collection[str]]) -> Iterator[SurrogatePair]:
    """Yield a pair for each short form of a replaced organization that is also a word of the sanitized text.

    The pair has the word as its own original. So the word has two originals, itself and the organization. Restoring
    leaves such a word unchanged, because a reply may mean either.

    Args:
        text: The sanitized text.
        short_forms: Surrogates (replacements) of organizations, by their short form.
    """
    kept = set[str]()
    for word in _LETTERS.finditer(text) if short_forms else ():
        folded = word[0].lower()
        if folded not in short_forms or folded in kept:
            continue
        start, end = word.span()
        if not any(
            whole in (text[start : start + len(whole)].lower(), text[max(0, end - len(whole)) : end].lower())
            for whole in short_forms[folded]
        ):
            kept.add(folded)
            yield SurrogatePair(word[0], word[0])


def quote_json_tags(elements: Iterable[RewrittenElement]) -> Iterator[RewrittenElement]:
    """Yield the parts of a text with JSON, and convert tags and removed numbers to valid JSON.

    A tag becomes a JSON string, and a dropped number becomes ``null``. A minus sign before the number moves into the
    string.

    Args:
        elements: Parts of the sanitized text, in order.
    """
    held: RewrittenElement | None = None
    for element in elements:
        if element.mention is not None and element.mention.case == JSON_NUMBER_CASE and not element.parts:
            sign = ""
            if held is not None and held.mention is None and held.output.endswith("-"):
                sign, held = "-", RewrittenElement(held.output[:-1], held.original[:-1])
            original = sign + element.original
            if element.output:
                mention = element.mention._replace(name_text=sign + element.mention.name_text)
                element = RewrittenElement(f'"{sign}{element.output}"', original, mention)
            else:
                element = RewrittenElement("null", original, parts=("null",))
        if held is not None:
            yield held
        held = element
    if held is not None:
        yield held


def are_independent(elements: Iterable[str | EntityMention]) -> bool:
    """Return whether a tag for an entity changes no other part: no text has a bracket, and no number is one of JSON."""
    kept_texts = [element for element in elements if isinstance(element, str)]
    cases = [element.case for element in elements if not isinstance(element, str)]
    return JSON_NUMBER_CASE not in cases and not any("[" in text for text in kept_texts)


def write_tags(
    elements: Sequence[str | EntityMention], tags: Iterable[str], *, keeps_originals: bool
) -> tuple[str, SpanOutline]:
    """Return a text in which each entity has a tag or is removed, and the outline (positions) of its replaced parts.

    Args:
        elements: Unchanged parts and entities of the text, in order, with the properties of ``are_independent``.
        tags: The tag of each entity; empty for a removed entity.
        keeps_originals: Whether the outline has the original texts.
    """
    remaining = iter(tags)
    parts = [element if isinstance(element, str) else next(remaining) for element in elements]
    entries = [
        (
            place,
            PUBLIC_TYPE_NAMES.get(element.entity_type, element.entity_type),
            element.span.text if keeps_originals else "",
        )
        for place, element in enumerate(elements)
        if not isinstance(element, str)
    ]
    return "".join(parts), SpanOutline(entries, [*map(len, parts)])


def join_with_tags(elements: Iterable[RewrittenElement]) -> str:
    """Join the parts of a text with tags, and escape the user's own text that looks like a tag.

    Without the escape, restoring a reply would replace the user's own text too.
    """
    parts, last = list[str](), 0
    for element in elements:
        parts.append(element.output)
        if element.mention is not None and not element.parts and element.output:
            parts[last:-1] = [escape_tags("".join(parts[last:-1]))]
            last = len(parts)
    return "".join([*parts[:last], escape_tags("".join(parts[last:]))])


def write_with_pairs(elements: Iterable[RewrittenElement]) -> tuple[str, list[SurrogatePair]]:
    """Join the parts of a text, and return the text and the pairs of surrogate and original to restore replies.

    A *surrogate* is the replacement of an original. The number of pairs for repeated entities is limited. To save
    memory, the function consumes few parts at a time.

    Args:
        elements: Parts of the sanitized text, in order.
    """
    written: list[str] = []
    pairs: list[SurrogatePair] = []
    known_pairs, spellings, quoted_count = set[SurrogatePair](), dict[str, str](), 0
    short_forms: dict[str, set[str]] = {}
    left, window, start, is_start, is_end = iter(elements), list[RewrittenElement](), 0, True, False
    while not is_end:
        if written:  # no check before the first window, which takes little time
            check_work()
        more = [*islice(left, _WINDOW)]
        written.append("".join(piece.output for piece in more))
        for piece in more:
            is_organization = piece.mention is not None and piece.mention.entity_type == "organization"
            for pair in iterate_short_forms(piece) if is_organization else ():
                short_forms.setdefault(pair.output.lower(), set()).add(piece.output.lower())
        window += more
        is_end = len(more) < _WINDOW
        stop = len(window) if is_end else max(start, len(window) - _ELEMENTS_AFTER)
        for pair in dict.fromkeys(
            find_pairs(window, start, stop, is_start=is_start, is_end=is_end, spellings=spellings)
        ):
            if pair.after is not None or (pair.weak and not pair.before):
                if pair in known_pairs or (pair.after is not None and quoted_count >= _MAX_QUOTED_PAIRS):
                    continue
                known_pairs.add(pair)
                quoted_count += pair.after is not None
            pairs.append(pair)
        past = max(0, stop - _ELEMENTS_BEFORE)
        window, start, is_start = window[past:], stop - past, is_start and not past
    text = "".join(written)
    return text, [*pairs, *find_kept_short_forms(text, short_forms)] if short_forms else pairs


def find_pairs(
    elements: Sequence[RewrittenElement],
    start: int = 0,
    stop: int | None = None,
    *,
    is_start: bool = True,
    is_end: bool = True,
    spellings: dict[str, str] | None = None,
) -> Iterator[SurrogatePair]:
    """Yield the pairs of surrogate (replacement) and original for the entities in a range of a text's parts.

    Args:
        elements: Parts of the text.
        start: Index of the first element of the range. Earlier elements are only context.
        stop: Index after the last element of the range; ``None`` for the end. Later elements are only context.
        is_start: Whether the text begins with the first of the elements.
        is_end: Whether the text ends with the last of the elements.
        spellings: For each surrogate, the original at its first occurrence. The function adds the surrogates of this
            text.
    """
    spellings = {} if spellings is None else spellings
    for index in range(start, len(elements) if stop is None else stop):
        element = elements[index]
        mention = element.mention
        if mention is None or not element.output:
            continue
        if not element.parts:
            yield from _find_tag_pairs(element.output, mention)
            if _has_other_spelling(element, spellings) or mention.name_text != mention.span.text:
                yield _make_quoted_pair(elements, index, is_start=is_start, is_end=is_end)
            continue
        if len(element.parts) > 1:
            yield SurrogatePair(element.output, mention.name_text)
        date = next(_iterate_date_pairs(elements, index), None) if mention.entity_type in _FIRST_DATE_TYPES else None
        is_weak = False
        is_other = _has_other_spelling(element, spellings) or mention.name_text != mention.span.text
        if len(element.parts) > 1 and len(spellings) < _MAX_SPELLINGS:  # a reply may mention one name of several
            for output, part in zip(element.parts, mention.parts, strict=True):
                spellings.setdefault(output.lower(), part.text)
        for output, part in zip(element.parts, mention.parts, strict=True):
            weak = part.entity_type in _WEAK_TYPES or (part.entity_type == "month" and output.lower() in _WORD_MONTHS)
            if weak or (len(output) == 1 and output.isdigit()):  # 7 March is the date, not a 7 in context
                context_pairs = _iterate_context_pairs(elements, index, output, part.text)
                yield from (pair for pair in context_pairs if date is None or pair.output != date.output)
                is_weak = len(element.parts) == 1
            elif part.entity_type in _QUOTED_TYPES:
                if len(element.parts) == 1:
                    yield SurrogatePair(output, part.text, weak=True)
                    is_weak = True
            elif part.entity_type not in _UNRESTORED_TYPES:
                yield SurrogatePair(output, part.text)
                if part.entity_type == "year-range":
                    yield from _iterate_year_pairs(output, part.text)
                elif part.entity_type == "season":
                    yield from _iterate_season_pairs(output, part.text)
                elif part.entity_type == "account":  # a JSON number has no leading zeros
                    yield SurrogatePair(output.lstrip("0"), part.text)
                elif part.entity_type == "organization":
                    yield from iterate_organization_pairs(output.split(), part.text.split())
                elif part.entity_type == "number" and output.endswith("0") and "." in output:
                    yield SurrogatePair(output.rstrip("0").rstrip("."), part.text)
        if date is not None:
            yield date
        is_quoted = is_weak or is_other or mention.entity_type in _REUSED_TYPES or _is_inside_word(elements, index)
        if is_quoted and not (
            len(elements) == 1 and mention.case == JSON_NUMBER_CASE
        ):  # JSON values are restored as a whole
            yield _make_quoted_pair(elements, index, is_start=is_start, is_end=is_end, weak=not is_other)


def _has_other_spelling(element: RewrittenElement, spellings: dict[str, str]) -> bool:
    """Return whether a surrogate (replacement) has replaced, or may later replace, originals of other spellings.

    Restoring such a surrogate is not safe: it could put the wrong spelling into a reply.

    Args:
        element: The element with the surrogate.
        spellings: First original of each surrogate so far. The function adds the original of the element.
    """
    output, original = element.output, element.original
    folded_output = output.lower()
    first = spellings.get(folded_output, original)
    if len(spellings) < _MAX_SPELLINGS:
        spellings.setdefault(folded_output, original)
    shows_no_case = output[0] == "[" or any(map(str.isdigit, output))
    return first != original or (shows_no_case and original.isupper())  # a later occurrence without capitals counts


def _is_inside_word(elements: Sequence[RewrittenElement], index: int) -> bool:
    """Return whether a surrogate (replacement) is a part of a longer word or number in the output.

    Args:
        elements: Parts of the sanitized text.
        index: Index of a part.
    """
    before = "".join([piece.output for piece in elements[max(0, index - 2) : index]])[-3:]
    after = "".join([piece.output for piece in elements[index + 1 : index + 3]])[:2]
    is_mark = after[:1] in _END_MARKS and after[1:] in _BLANK
    if before[-1:] in _BLANK and (is_mark or after[:1] in _BLANK):  # the usual case
        return False
    output = elements[index].output
    return not is_separate_word(before + output + after, len(before), len(before) + len(output))


def _make_quoted_pair(
    elements: Sequence[RewrittenElement], index: int, *, is_start: bool, is_end: bool, weak: bool = False
) -> SurrogatePair:
    """Return the pair of replacement and original for an entity, with the texts before and after the entity.

    Args:
        elements: Parts of the text.
        index: Index of the part with the entity.
        is_start: Whether the text begins with the first of the elements.
        is_end: Whether the text ends with the last of the elements.
        weak: Whether the surrogate may also be a word of the reply itself (``SurrogatePair.weak``).
    """
    first, last = max(0, index - _ELEMENTS_BEFORE), index + 1 + _ELEMENTS_AFTER
    before = join_before([element.output for element in elements[first:index]])
    after = join_after([piece.output for piece in elements[index + 1 : last]])
    piece = elements[index]
    return SurrogatePair(
        piece.output,
        piece.original,
        weak=weak,
        before=cut_before(before, is_start=is_start and first == 0),
        after=cut_after(after, is_end=is_end and last >= len(elements)),
    )


def _find_tag_pairs(output: str, mention: EntityMention) -> Iterator[SurrogatePair]:
    """Yield the pairs of a tag (such as ``[city 1]``) and its original.

    In JSON, a tag for a number has quotation marks. A reply may repeat the tag with or without them, so there is a pair
    for each.

    Args:
        output: The tag.
        mention: The entity that the tag replaces.
    """
    yield SurrogatePair(output, mention.name_text)
    if mention.case == JSON_NUMBER_CASE:
        yield SurrogatePair(output[1:-1], mention.name_text)
        if output[1] == "-":
            yield SurrogatePair(output[2:-1], mention.name_text[1:])


def _iterate_year_pairs(output: str, original: str) -> Iterator[SurrogatePair]:
    """Yield pairs of replacement and original for a range of years: with another dash, and for single years.

    Args:
        output: The range in the sanitized text.
        original: The range of the user's text, which ``output`` replaces.
    """
    years, originals = re.findall("[0-9]+", output), re.findall("[0-9]+", original)
    yield from (SurrogatePair(mark.join(years), mark.join(originals)) for mark in "-\u2013" if mark != output[4])
    yield from map(SurrogatePair, years, originals)


def _iterate_season_pairs(output: str, original: str) -> Iterator[SurrogatePair]:
    """Yield pairs of replacement and original for other spellings of a season such as ``2023/24``.

    Example: for the season ``2023/24``, the pairs cover ``2023-24`` and the single year ``2023``.

    Args:
        output: The season in the sanitized text.
        original: The season of the user's text, which ``output`` replaces.
    """
    yield from (SurrogatePair(f"{output[:4]}{mark}{output[5:]}", original) for mark in "/-\u2013" if mark != output[4])
    yield SurrogatePair(output[:4], original[:4])


def _iterate_context_pairs(
    elements: Sequence[RewrittenElement], index: int, output: str, original: str
) -> Iterator[SurrogatePair]:
    before = find_word_before("".join(piece.output for piece in elements[max(0, index - 3) : index]))
    after = _WORD_AFTER.match("".join(piece.output for piece in elements[index + 1 : index + 4])[:_CONTEXT_CHARACTERS])
    yield SurrogatePair(output, original, 0, True, before if len(before) > _MAX_SHORT_WORD or before in _SIGNS else "")
    if after is not None:
        for follows in dict.fromkeys((after[0], after[0].lstrip("."))):
            yield SurrogatePair(output + follows, original, len(output))


def _iterate_date_pairs(elements: Sequence[RewrittenElement], index: int) -> Iterator[SurrogatePair]:
    """Yield the pair of replacement and original for a date that consists of several entities.

    Args:
        elements: Parts of the sanitized text.
        index: Index of the part that may be the first entity of a date.
    """
    for length in (5, 3):
        date_elements = elements[index : index + length]
        entity_types = tuple(piece.mention.entity_type for piece in date_elements[::2] if piece.mention is not None)
        if (
            len(date_elements) == length
            and entity_types in _DATE_TYPES
            and all(piece.output in _DATE_GAPS for piece in date_elements[1::2])
        ):
            yield SurrogatePair(
                "".join(piece.output for piece in date_elements), "".join(piece.original for piece in date_elements)
            )
            return
