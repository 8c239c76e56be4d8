"""Draws of the surrogates of a document, its text with them, and pairs that restore replies.

A *draw* is the random choice of a surrogate. It does not read the string that the surrogate replaces. It depends only
on the types, the layout and the case of the span, and on which spans are equal (docs/proofs/names.md).

A pair is a surrogate and its original. A very short surrogate could also be a word of the reply itself. Such a
surrogate is restored only next to its neighbors (``7 chairs``), or where the reply repeats the text around it.
"""

import hmac
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import cast

from textveil.bundle.rules import english_rules
from textveil.text.inflections import SurrogatePair, find_word_before
from textveil.text.names.emoji import KEYCAP
from textveil.text.names.entity_types import (
    PUBLIC_TYPE_NAMES,
    EntityMention,
    MentionPart,
    RewrittenElement,
    find_kept_short_forms,
    iterate_organization_pairs,
    iterate_short_forms,
)
from textveil.text.names.guarantee import ReplacementStyle
from textveil.text.names.known_persons import join_known_surrogates
from textveil.text.names.read import ReadText
from textveil.text.names.surrogates import SurrogatePools
from textveil.text.names.tokens import IDENTIFIER_PIECE, JSON_NUMBER_CASE, KNOWN_PERSON, RANDOMIZED
from textveil.text.quotations import cut_after, cut_before, is_separate_word, join_after, join_before
from textveil.text.replaced_spans import ReplacedSpan, record_spans
from textveil.text.restore import escape_tags
from textveil.work_limits import check_work

#: Pools of types without consistent surrogates are drawn from without replacement up to this size. In larger pools
#: repeated surrogates are rare.
_MAX_DEALT_POOL = 1 << 20

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
_FIRST_DATE_TYPES = frozenset(kinds[0] for kinds in _DATE_TYPES)
_DATE_GAPS = frozenset((" ", ", ", ". "))
_WORD_AFTER = re.compile(r"[%\u20ac]|-?\w[\w'\u2019]+| ?[^\W\d_][\w'\u2019]{3,}|\.? [^\W\d_]\w+")
_BLANK, _END_MARKS = frozenset(("", " ", "\n")), frozenset(".,;:!?")
_SIGNS = frozenset("$\u20ac\u00a3\u00a5#")
#: Words of at most this length do not count as context; and the number of characters that are read after a mention.
_MAX_SHORT_WORD, _CONTEXT_CHARACTERS = 3, 40
#: Number of elements per step, and the number of elements before and after a mention on which its pairs may depend.
_WINDOW, _ELEMENTS_BEFORE, _ELEMENTS_AFTER = 1 << 8, 24, 16
#: The largest number of pairs per text that store the text around them, and the largest number of surrogates whose
#: first spelling is stored. Each needs some hundred bytes.
_MAX_QUOTED_PAIRS, _MAX_SPELLINGS = 1 << 9, 1 << 10


_TagGroup = tuple[str | tuple[str, ...], ...]


class _SurrogateDeck:
    """The surrogates of one pool that a document has not used: a partial Fisher-Yates shuffle.

    Drawing without replacement is *dealing*: each draw takes one surrogate out of the deck.
    """

    __slots__ = ("_left", "_moved", "free")

    def __init__(self, size: int) -> None:
        #: Number of surrogates that are neither dealt nor reserved for a planned draw; ``_left``: that are not dealt.
        self.free, self._left = size, size
        self._moved: dict[int, int] = {}

    def deal(self, index: int) -> int:
        """Remove and return the surrogate at an index of the remaining ones."""
        self._left = left = self._left - 1
        dealt = self._moved.get(index, index)
        self._moved[index] = self._moved.get(left, left)
        return dealt


class DocumentDraws:
    """The draws (random choices of surrogates) of one document, and which mentions share a draw.

    Args:
        texts: The texts of the document, as read.
        style: Options for the replacement of spans.
        surrogates: The surrogate pools.
        key: Secret key that links equal strings of all documents.
    """

    def __init__(
        self, texts: Sequence[ReadText], style: ReplacementStyle, surrogates: SurrogatePools, key: bytes | None
    ) -> None:
        self._texts, self._style, self._surrogates, self._key = texts, style, surrogates, key
        self._decks: dict[tuple[str, str], _SurrogateDeck] = {}
        self._draw_numbers: dict[tuple[str, str, str], int] = {}
        #: Tags by the public type and by type and layout of each part, then by the folded string of the only part, or
        #: by those of all parts. One dictionary with the whole keys would take twice the memory.
        self._tags: dict[_TagGroup, dict[str | tuple[str, ...], str]] = {}
        self._counts: dict[str, int] = {}
        #: For each draw, how many surrogates it chooses from; ``_decks_by_draw`` has its deck, or ``None``.
        self.bounds: list[int] = []
        self._decks_by_draw: list[_SurrogateDeck | None] = []
        #: Words of the randomized list, in order of the text. Each is randomized independently.
        self.randomized_words: list[str] = []
        self._draws = [
            [self._plan_mention(entry) for entry in text.elements if not isinstance(entry, str)] for text in texts
        ]

    def _plan_mention(self, mention: EntityMention) -> str | list[int] | None:
        """Return the output for a mention without a draw, else the number of the draw of each part.

        A tag or an empty string needs no draw. The result is ``None`` for a word that the word list randomizes.
        """
        if mention.parts[0].layout == RANDOMIZED:
            self.randomized_words.append(mention.parts[0].folded)
            return None
        public_type = PUBLIC_TYPE_NAMES.get(mention.entity_type, mention.entity_type)
        style = self._style
        if public_type in style.drop:
            return ""
        if (
            style.tags
            or public_type in style.tag
            or mention.span.entity_type == IDENTIFIER_PIECE
            or self._surrogates.needs_tag(*mention.parts[0][:2])
            or (mention.entity_type in style.value_tags and style.has_value_tag(mention.parts[0].layout))
        ):
            return self._get_tag(public_type, _make_tag_key(mention))
        draws = [*map(self._draw_part, mention.parts)]
        return self._get_tag(public_type, _make_tag_key(mention)) if None in draws else cast("list[int]", draws)

    def _get_tag(self, public_type: str, equality_key: tuple[tuple[str, ...], ...]) -> str:
        group = public_type, *[part[:-1] for part in equality_key]
        strings = equality_key[0][-1] if len(equality_key) == 1 else tuple([part[-1] for part in equality_key])
        tags = self._tags.get(group)
        if tags is None:
            tags = self._tags[group] = {}
        tag = tags.get(strings)
        if tag is None:
            self._counts[public_type] = self._counts.get(public_type, 0) + 1
            tag = tags[strings] = f"[{public_type} {self._counts[public_type]}]"
        return tag

    def _draw_part(self, part: MentionPart) -> int | None:
        """Return the number of the draw of a part; ``None`` if its pool or the cap is used up.

        Under a key there is no draw: the surrogate is a function of the string, and the result is negative, ``-1 -
        index``.
        """
        cached = self._surrogates.cached_sizes.get(part[:2])
        size, is_consistent = cached or self._surrogates.get_size_and_consistency(part.entity_type, part.layout)
        if not self._style.consistent or (self._key is not None and not is_consistent):
            return self._add_draw(size, None)
        if self._key is not None:
            return -1 - _compute_keyed_number(self._key, part) % size
        equality_key = part[:3]
        if not is_consistent:  # a surrogate with two originals cannot be restored
            number = self._plan_deal(equality_key[:2], size) if size <= _MAX_DEALT_POOL else None
            return self._add_draw(size, None) if number is None else number
        number = self._draw_numbers.get(equality_key)
        if number is None:
            if len(self._draw_numbers) >= self._style.cap:
                return None
            number = self._plan_deal(equality_key[:2], size)
            if number is not None:
                self._draw_numbers[equality_key] = number
        return number

    def _plan_deal(self, pool: tuple[str, str], size: int) -> int | None:
        """Plan a draw without replacement, and return its number; ``None`` if the pool is used up.

        No other draw of the document gives the same surrogate.
        """
        deck = self._decks.get(pool)
        if deck is None:
            deck = self._decks[pool] = _SurrogateDeck(size)
        if deck.free == 0:
            return None
        number = self._add_draw(deck.free, deck)
        deck.free -= 1
        return number

    def _add_draw(self, bound: int, deck: _SurrogateDeck | None) -> int:
        self.bounds.append(bound)
        self._decks_by_draw.append(deck)
        return len(self.bounds) - 1

    def write_texts(
        self, samples: Sequence[int], words: Iterator[str]
    ) -> tuple[list[str], Iterable[SurrogatePair], list[tuple[ReplacedSpan, ...] | None]]:
        """Return the texts with their surrogates, the pairs that restore replies, and the spans of each text.

        The spans of a text are ``None`` where escaping has moved them.

        Args:
            samples: For each draw, a random number below its entry in ``bounds``.
            words: The randomized output of each of ``randomized_words``, possibly followed by those of other documents.
        """
        indices = [
            index if deck is None else deck.deal(index)
            for index, deck in zip(samples, self._decks_by_draw, strict=True)
        ]
        pairs: dict[SurrogatePair, None] = {}
        texts, spans = list[str](), list[tuple[ReplacedSpan, ...] | None]()
        for text, draws in zip(self._texts, self._draws, strict=True):
            replaced = list[ReplacedSpan]()
            drawn = quote_json_tags(self._iterate_elements(text, draws, indices, words))
            elements = record_spans(drawn, replaced, PUBLIC_TYPE_NAMES)
            if not any(isinstance(draw, str) and draw.startswith("[") for draw in draws):
                written, text_pairs = write_with_pairs(elements)
            else:
                element_list = [*elements]
                unescaped, text_pairs = write_with_pairs(element_list)
                written = _join_with_tags(element_list)
                replaced = replaced if len(unescaped) == len(written) else None
            pairs |= dict.fromkeys(text_pairs)
            texts.append(written)
            spans.append(None if replaced is None else tuple(replaced))
        return texts, pairs, spans

    def _iterate_elements(
        self, text: ReadText, draws: Sequence[str | list[int] | None], indices: Sequence[int], words: Iterator[str]
    ) -> Iterator[RewrittenElement]:
        """Yield the elements of a text with surrogates. Randomized words cannot be restored later."""
        rest = iter(draws)
        for element in text.elements:
            if isinstance(element, str):
                yield RewrittenElement(element, element)
                continue
            draw, original = next(rest), element.span.text
            if draw is None:
                yield RewrittenElement(output := next(words), original, parts=(output,))
            elif isinstance(draw, str):
                yield RewrittenElement(draw, original, element)
            else:
                yield self._join_surrogates(element, [indices[part] if part >= 0 else -1 - part for part in draw])

    def _join_surrogates(self, mention: EntityMention, indices: Sequence[int]) -> RewrittenElement:
        """Return the element of a mention, given the index of the surrogate of each part."""
        surrogates = self._surrogates.spell_surrogates(mention.parts, indices, mention.case)
        if mention.span.entity_type == KNOWN_PERSON:
            return join_known_surrogates(mention, surrogates)
        return join_surrogates(mention, surrogates)


def join_surrogates(mention: EntityMention, surrogates: tuple[str, ...]) -> RewrittenElement:
    """Return the element of a mention, given the surrogates of its parts.

    A dot follows each initial except the last part.
    """
    if len(surrogates) == 1:  # the most frequent case
        return RewrittenElement(surrogates[0], mention.span.text, mention, surrogates)
    dots = ["." if part.entity_type == "initial" else "" for part in mention.parts[:-1]]
    return RewrittenElement(
        " ".join(map("".join, zip(surrogates, [*dots, ""], strict=True))), mention.span.text, mention, surrogates
    )


def _make_tag_key(mention: EntityMention) -> tuple[tuple[str, ...], ...]:
    """Return the key that mentions with the same tag share.

    A JSON number never shares a tag with the same digits in text.
    """
    return (("json",), *mention.equality_key) if mention.case == JSON_NUMBER_CASE else mention.equality_key


def quote_json_tags(elements: Iterable[RewrittenElement]) -> Iterator[RewrittenElement]:
    """Yield the elements with valid JSON in place of numbers that become a tag or are dropped.

    A tag becomes a JSON string, and a dropped number becomes ``null``. A kept sign before the number moves into the
    string.
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


def _join_with_tags(elements: Iterable[RewrittenElement]) -> str:
    """Join a text with tags; escape kept text that looks like a tag, so that it is not restored."""
    parts, last = list[str](), 0
    for element in elements:
        parts.append(element.output)
        if element.mention is not None and not element.parts and element.output:
            parts[last:-1] = [escape_tags("".join(parts[last:-1]))]
            last = len(parts)
    return "".join([*parts[:last], escape_tags("".join(parts[last:]))])


def _compute_keyed_number(key: bytes, part: MentionPart) -> int:
    """Return a keyed hash of a part, which modulo the size of its pool is the surrogate's index.

    It is the first 128 bits of HMAC-SHA256 of type, layout and folded string. The reduction has a bias below 2^-60.
    """
    message = "\0".join((part.entity_type, part.layout, part.folded)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.digest(key, message, "sha256")[:16], "big")


def write_with_pairs(elements: Iterable[RewrittenElement]) -> tuple[str, list[SurrogatePair]]:
    """Join the elements of a text, and return the pairs that restore replies to it.

    The number of pairs for repeated mentions is limited. Few elements are in memory at a time, because all together
    need many times the memory of the text.
    """
    written: list[str] = []
    pairs: list[SurrogatePair] = []
    known_pairs, spellings, quoted_count = set[SurrogatePair](), dict[str, str](), 0
    short_forms: dict[str, set[str]] = {}
    left, window, start, is_start, is_end = iter(elements), list[RewrittenElement](), 0, True, False
    while not is_end:
        if written:  # a first window is short work
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
    """Yield the pairs of the mentions in a range of elements.

    Args:
        elements: Elements of the text.
        start: The first element whose mention counts. Earlier elements are context.
        stop: The index after the last such element; ``None`` for the end. Later elements are context.
        is_start: Whether the text begins with the first of the elements.
        is_end: Whether the text ends with the last of the elements.
        spellings: Spelling of the original at the first occurrence of each surrogate. The function adds those of this
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
    """Return whether the surrogate also replaces another spelling of its original.

    A reply that quotes the surrogate could then be restored in the wrong spelling. ``spellings`` collects the first
    original of each surrogate.
    """
    output, original = element.output, element.original
    folded_output = output.lower()
    first = spellings.get(folded_output, original)
    if len(spellings) < _MAX_SPELLINGS:
        spellings.setdefault(folded_output, original)
    shows_no_case = output[0] == "[" or any(map(str.isdigit, output))
    return first != original or (shows_no_case and original.isupper())  # a later occurrence without capitals counts


def _is_inside_word(elements: Sequence[RewrittenElement], index: int) -> bool:
    """Return whether a surrogate is written as a part of a longer word or number."""
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
    """Return the pair of a whole mention that also stores the text before and after it."""
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
    """Yield the pairs of a tag.

    A JSON number becomes a tag in quotation marks; a reply may repeat it with or without them.
    """
    yield SurrogatePair(output, mention.name_text)
    if mention.case == JSON_NUMBER_CASE:
        yield SurrogatePair(output[1:-1], mention.name_text)
        if output[1] == "-":
            yield SurrogatePair(output[2:-1], mention.name_text[1:])


def _iterate_year_pairs(output: str, original: str) -> Iterator[SurrogatePair]:
    """Yield pairs for a range of years: written with the other dash, and each year alone."""
    years, originals = re.findall("[0-9]+", output), re.findall("[0-9]+", original)
    yield from (SurrogatePair(mark.join(years), mark.join(originals)) for mark in "-\u2013" if mark != output[4])
    yield from map(SurrogatePair, years, originals)


def _iterate_season_pairs(output: str, original: str) -> Iterator[SurrogatePair]:
    """Yield pairs for a season: written with the other marks, and the year in which it begins."""
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
    """Yield the pair of the date that begins at an index, if several mentions form one."""
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
