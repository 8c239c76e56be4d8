"""Rewriter of the mode ``names``.

It keeps common words and writes a surrogate of the same type for each slot. The draw of a surrogate does not read the
string of the slot. It depends only on the types, the layout and the case of the slot, and on which slots are equal
(docs/proofs/names.md).
"""

import hmac
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from textveil.mechanisms import entropy
from textveil.mechanisms.integer_sampling import draw_uniform_below
from textveil.text.inflections import SurrogatePair
from textveil.text.names.detector import SpanDetector, hide_detected_spans
from textveil.text.names.entity_types import (
    PUBLIC_TYPE_NAMES,
    EntityMention,
    GivenNameLinker,
    MentionPart,
    RewrittenElement,
)
from textveil.text.names.read import NamesReader, ReadText
from textveil.text.names.reply_pairs import write_with_pairs
from textveil.text.names.surrogates import SurrogatePools
from textveil.text.names.tokens import JSON_NUMBER_CASE, RANDOMIZED
from textveil.text.names.word_list import WordListRandomizer
from textveil.text.options import CONSISTENT_CAP
from textveil.text.restore import Restorer, escape_tags

#: Number of characters up to which documents share one call of the random generator.
_BATCH_CHARACTERS = 1 << 15
#: Size of the largest pool that is dealt without replacement although its equal strings do not become equal. In larger
#: pools repeated surrogates are rare.
_MAX_DEALT_POOL = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ReplacementStyle:
    """Options for the replacement of slots.

    Attributes:
        tags: Whether all types are written as tags, ``[city 1]``.
        consistent: Whether equal strings of a document get equal surrogates.
        keep: Types that are kept where a list has the string, or its shape gives the type.
        tag: Types that are written as tags, whatever the style of other types.
        drop: Types that are removed without a replacement.
        cap: Largest number of distinct strings of a document with surrogates of their own. Further strings become tags.
        linked: Whether equal strings of all documents under one key get equal surrogates.
    """

    tags: bool = False
    consistent: bool = True
    keep: frozenset[str] = frozenset()
    tag: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()
    cap: int = CONSISTENT_CAP
    linked: bool = False

    @property
    def effective_cap(self) -> int | None:
        """The cap if one applies, else ``None``."""
        return self.cap if self.consistent and not (self.linked or self.tags) else None


class _SurrogateDeck:
    """Unused surrogates of one type in a document: a partial Fisher-Yates shuffle."""

    __slots__ = ("_left", "_moved", "free")

    def __init__(self, size: int) -> None:
        #: Number of surrogates without a planned draw; ``_left`` counts those that were not dealt.
        self.free, self._left = size, size
        self._moved: dict[int, int] = {}

    def deal(self, index: int) -> int:
        """Remove and return the surrogate at an index of the remaining ones."""
        self._left = left = self._left - 1
        dealt = self._moved.get(index, index)
        self._moved[index] = self._moved.get(left, left)
        return dealt


class _DocumentDraws:
    """Draws of one document: their bounds, and which mentions share a draw.

    Args:
        texts: The texts of the document, as read.
        style: Options for the replacement of slots.
        surrogates: The surrogate pools.
        key: Secret key that links equal strings of all documents.
    """

    def __init__(
        self, texts: Sequence[ReadText], style: ReplacementStyle, surrogates: SurrogatePools, key: bytes | None
    ) -> None:
        self._texts, self._style, self._surrogates, self._key = texts, style, surrogates, key
        self._decks: dict[tuple[str, str], _SurrogateDeck] = {}
        self._draw_numbers: dict[tuple[str, str, str], int] = {}
        self._tags: dict[tuple[str, tuple[tuple[str, ...], ...]], str] = {}
        self._counts: dict[str, int] = {}
        #: Upper bound (exclusive) of each draw; ``_decks_by_draw`` has the deck of each draw, or ``None``.
        self.bounds: list[int] = []
        self._decks_by_draw: list[_SurrogateDeck | None] = []
        #: Words of the randomized list, in order of the text. Each is randomized independently.
        self.randomized_words: list[str] = []
        self._draws = [
            [self._plan_mention(entry) for entry in text.elements if not isinstance(entry, str)] for text in texts
        ]

    def _plan_mention(self, mention: EntityMention) -> str | list[int] | None:
        """Return the output for a mention that needs no draw, or the draw number of each part.

        A tag or an empty string needs no draw. The result is ``None`` for a randomized word.
        """
        if mention.parts[0].layout == RANDOMIZED:
            self.randomized_words.append(mention.parts[0].folded)
            return None
        public_type = PUBLIC_TYPE_NAMES.get(mention.entity_type, mention.entity_type)
        style = self._style
        if public_type in style.drop:
            return ""
        if style.tags or public_type in style.tag:
            return self._get_tag(public_type, _make_tag_key(mention))
        draws = [*map(self._draw_part, mention.parts)]
        return self._get_tag(public_type, _make_tag_key(mention)) if None in draws else cast("list[int]", draws)

    def _get_tag(self, public_type: str, equality_key: tuple[tuple[str, ...], ...]) -> str:
        tag = self._tags.get((public_type, equality_key))
        if tag is None:
            self._counts[public_type] = self._counts.get(public_type, 0) + 1
            tag = self._tags[public_type, equality_key] = f"[{public_type} {self._counts[public_type]}]"
        return tag

    def _draw_part(self, part: MentionPart) -> int | None:
        """Return the draw number of a part; ``None`` if its pool is used up or the cap is reached.

        Under a key the surrogate is a function of the string: the result is then negative, ``-1 - index``.
        """
        size, is_consistent = self._surrogates.get_size_and_consistency(part.entity_type, part.layout)
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
        """Return the number of a new draw without replacement; ``None`` if the pool is used up.

        No other draw of the document has the same surrogate.
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

    def write_texts(self, samples: Sequence[int], words: Iterator[str]) -> tuple[list[str], Iterable[SurrogatePair]]:
        """Return the texts with their surrogates, and the pairs that restore replies.

        Args:
            samples: A number below each of ``totals``.
            words: The randomized output of each of ``words``; more may follow.
        """
        indices = [
            index if deck is None else deck.deal(index)
            for index, deck in zip(samples, self._decks_by_draw, strict=True)
        ]
        pairs: dict[SurrogatePair, None] = {}
        texts = []
        for text, draws in zip(self._texts, self._draws, strict=True):
            elements = quote_json_tags(self._iterate_elements(text, draws, indices, words))
            if not any(isinstance(draw, str) and draw.startswith("[") for draw in draws):
                written, text_pairs = write_with_pairs(elements)
            else:
                element_list = [*elements]
                _, text_pairs = write_with_pairs(element_list)
                written = _join_with_tags(element_list)
            pairs |= dict.fromkeys(text_pairs)
            texts.append(written)
        return texts, pairs

    def _iterate_elements(
        self, text: ReadText, draws: Sequence[str | list[int] | None], indices: Sequence[int], words: Iterator[str]
    ) -> Iterator[RewrittenElement]:
        """Yield the parts of a text; randomized words belong to no mapping."""
        rest = iter(draws)
        for element in text.elements:
            if isinstance(element, str):
                yield RewrittenElement(element, element)
                continue
            draw, original = next(rest), element.span.text
            if draw is None:
                yield RewrittenElement(next(words), original)
            elif isinstance(draw, str):
                yield RewrittenElement(draw, original, element)
            else:
                yield join_surrogates(element, self._spell_parts(element, draw, indices))

    def _spell_parts(self, mention: EntityMention, draws: Sequence[int], indices: Sequence[int]) -> tuple[str, ...]:
        return tuple(
            self._surrogates.spell_surrogate(
                part.entity_type, part.layout, indices[draw] if draw >= 0 else -1 - draw, mention.case
            )
            for part, draw in zip(mention.parts, draws, strict=True)
        )


def join_surrogates(mention: EntityMention, surrogates: tuple[str, ...]) -> RewrittenElement:
    """Return the piece of a mention from the surrogates of its parts.

    A dot follows each initial but a final one.
    """
    if len(surrogates) == 1:  # the most frequent case
        return RewrittenElement(surrogates[0], mention.span.text, mention, surrogates)
    dots = ["." if part.entity_type == "initial" else "" for part in mention.parts[:-1]]
    return RewrittenElement(
        " ".join(map("".join, zip(surrogates, [*dots, ""], strict=True))), mention.span.text, mention, surrogates
    )


def _make_tag_key(mention: EntityMention) -> tuple[tuple[str, ...], ...]:
    """Return the key of mentions that share a tag.

    A JSON number never shares a tag with the same digits in text.
    """
    return (("json",), *mention.equality_key) if mention.case == JSON_NUMBER_CASE else mention.equality_key


def quote_json_tags(elements: Iterable[RewrittenElement]) -> Iterator[RewrittenElement]:
    """Yield the pieces with valid JSON for each number of JSON that becomes a tag or is dropped.

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
                element = RewrittenElement("null", original)
        if held is not None:
            yield held
        held = element
    if held is not None:
        yield held


def _join_with_tags(elements: Iterable[RewrittenElement]) -> str:
    """Join a text with tags; escape kept text that resembles a tag, which must not be restored."""
    parts, last = list[str](), 0
    for element in elements:
        parts.append(element.output)
        if element.mention is not None and not element.parts and element.output:
            parts[last:-1] = [escape_tags("".join(parts[last:-1]))]
            last = len(parts)
    return "".join([*parts[:last], escape_tags("".join(parts[last:]))])


#: A document, its number of kept words, and its number of replaced unlisted words.
_CountedDocument = tuple[_DocumentDraws, int, int]
#: The texts of a document, its number of kept words, the restorer of its surrogates (or ``None``), its number of
#: randomized words, and its number of replaced unlisted words.
_RewrittenDocument = tuple[list[str], int, Restorer | None, int, int]


class NamesRewriter:
    """Rewriter of the documents of one call.

    Args:
        reader: Reader of texts.
        surrogates: The surrogate pools.
        style: Options for the replacement of slots.
        detector: Detector that hides further parts of the output.
        key: Secret key that links equal strings of all documents, if they are linked.
        word_list: Randomizer of the words of a public list.

    Privacy:
        The object holds the original texts. It must not outlive the call.
    """

    def __init__(
        self,
        reader: NamesReader,
        surrogates: SurrogatePools,
        style: ReplacementStyle,
        *,
        detector: SpanDetector | None = None,
        key: bytes | None = None,
        word_list: WordListRandomizer | None = None,
    ) -> None:
        self._reader, self._surrogates, self._style, self._detector, self._key = (
            reader,
            surrogates,
            style,
            detector,
            key,
        )
        self._word_list = word_list

    def rewrite(self, documents: Sequence[Sequence[str]]) -> Iterator[_RewrittenDocument]:
        """Yield each rewritten document with its counts.

        Privacy:
            This is the release itself. It uses the entropy of the operating system.
        """
        batch: list[_CountedDocument] = []
        characters = 0
        for texts in documents:
            read = self._reader.read_texts(texts)
            if self._style.consistent:
                names = GivenNameLinker()
                read = [text._replace(elements=[*names.link_names(text.elements)]) for text in read]
            document = _DocumentDraws(read, self._style, self._surrogates, self._key)
            batch.append((document, sum(text.kept_count for text in read), sum(text.replaced_words for text in read)))
            characters += sum(map(len, texts))
            if characters > _BATCH_CHARACTERS:
                yield from self._rewrite_batch(batch)
                batch, characters = [], 0
        yield from self._rewrite_batch(batch)

    def _rewrite_batch(self, batch: Sequence[_CountedDocument]) -> Iterator[_RewrittenDocument]:
        bounds = np.array([total for document, *_ in batch for total in document.bounds], dtype=np.int64)
        samples = draw_uniform_below(bounds, entropy.random_uint64).tolist() if len(bounds) else []
        originals = [word for document, *_ in batch for word in document.randomized_words]
        words = iter(
            originals if self._word_list is None else self._word_list.randomize_words(originals, entropy.random_uint64)
        )
        start = 0
        for document, kept_count, replaced_words in batch:
            end = start + len(document.bounds)
            texts, pairs = document.write_texts(samples[start:end], words)
            start = end
            if self._detector is not None:
                texts = [hide_detected_spans(text, self._detector) for text in texts]
            is_restorable = self._style.consistent and self._key is None
            yield (
                texts,
                kept_count,
                Restorer(pairs) if is_restorable else None,
                len(document.randomized_words),
                replaced_words,
            )


def _compute_keyed_number(key: bytes, part: MentionPart) -> int:
    """Return a keyed function of a part, to be reduced modulo the size of its pool.

    It is the first 128 bits of HMAC-SHA256 of type, layout and folded string. The reduction has a bias below 2^-60.
    """
    message = "\0".join((part.entity_type, part.layout, part.folded)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.digest(key, message, "sha256")[:16], "big")
