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
from textveil.mechanisms.integer_sampling import uniform_below
from textveil.text.forms import Pair
from textveil.text.names.also import Detector, hide
from textveil.text.names.drawn import DrawnWords
from textveil.text.names.kinds import CALLED, FirstNames, Mention, Part, Piece
from textveil.text.names.read import Read, TextReader
from textveil.text.names.reply_pairs import write
from textveil.text.names.surrogates import Surrogates
from textveil.text.names.tokens import DRAWN, JSON_NUMBER
from textveil.text.options import CONSISTENT_CAP
from textveil.text.restore import Restorer, not_a_tag

#: Number of characters up to which documents share one call of the random generator.
_BATCH = 1 << 15
#: Size of the largest pool that is dealt without replacement although its equal strings do not become equal. In larger
#: pools repeated surrogates are rare.
_LARGEST_DEALT = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Style:
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
    def limit(self) -> int | None:
        """The cap if one applies, else ``None``."""
        return self.cap if self.consistent and not (self.linked or self.tags) else None


class _Deck:
    """Unused surrogates of one type in a document: a partial Fisher-Yates shuffle."""

    __slots__ = ("_left", "_moved", "free")

    def __init__(self, size: int) -> None:
        #: Number of surrogates without a planned draw; ``_left`` counts those that were not dealt.
        self.free, self._left = size, size
        self._moved: dict[int, int] = {}

    def deal(self, index: int) -> int:
        """Remove and return the surrogate at an index of the remaining ones."""
        self._left = left = self._left - 1
        found = self._moved.get(index, index)
        self._moved[index] = self._moved.get(left, left)
        return found


class _Document:
    """Draws of one document: their bounds, and which mentions share a draw.

    Args:
        read: The texts of the document, as read.
        style: Options for the replacement of slots.
        surrogates: The surrogate pools.
        key: Secret key that links equal strings of all documents.
    """

    def __init__(self, read: Sequence[Read], style: Style, surrogates: Surrogates, key: bytes | None) -> None:
        self._read, self._style, self._surrogates, self._key = read, style, surrogates, key
        self._decks: dict[tuple[str, str], _Deck] = {}
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._tags: dict[tuple[str, tuple[tuple[str, ...], ...]], str] = {}
        self._counts: dict[str, int] = {}
        #: Upper bound (exclusive) of each draw; ``_from`` has the deck of each draw, or ``None``.
        self.totals: list[int] = []
        self._from: list[_Deck | None] = []
        #: Words of the randomized list, in order of the text. Each is randomized independently.
        self.words: list[str] = []
        self._draws = [[self._mention(entry) for entry in text.entries if not isinstance(entry, str)] for text in read]

    def _mention(self, mention: Mention) -> str | list[int] | None:
        """Return the output for a mention that needs no draw, or the draw number of each part.

        A tag or an empty string needs no draw. The result is ``None`` for a randomized word.
        """
        if mention.parts[0].layout == DRAWN:
            self.words.append(mention.parts[0].folded)
            return None
        called = CALLED.get(mention.kind, mention.kind)
        style = self._style
        if called in style.drop:
            return ""
        if style.tags or called in style.tag:
            return self._tag(called, _equal_tags(mention))
        draws = [*map(self._draw, mention.parts)]
        return self._tag(called, _equal_tags(mention)) if None in draws else cast("list[int]", draws)

    def _tag(self, called: str, equal: tuple[tuple[str, ...], ...]) -> str:
        found = self._tags.get((called, equal))
        if found is None:
            self._counts[called] = self._counts.get(called, 0) + 1
            found = self._tags[called, equal] = f"[{called} {self._counts[called]}]"
        return found

    def _draw(self, part: Part) -> int | None:
        """Return the draw number of a part; ``None`` if its pool is used up or the cap is reached.

        Under a key the surrogate is a function of the string: the result is then negative, ``-1 - index``.
        """
        size, consistent = self._surrogates.of(part.kind, part.layout)
        if not self._style.consistent or (self._key is not None and not consistent):
            return self._new(size, None)
        if self._key is not None:
            return -1 - _keyed(self._key, part) % size
        equal = part[:3]
        if not consistent:  # a surrogate with two originals cannot be restored
            number = self._deal(equal[:2], size) if size <= _LARGEST_DEALT else None
            return self._new(size, None) if number is None else number
        number = self._numbers.get(equal)
        if number is None:
            if len(self._numbers) >= self._style.cap:
                return None
            number = self._deal(equal[:2], size)
            if number is not None:
                self._numbers[equal] = number
        return number

    def _deal(self, pool: tuple[str, str], size: int) -> int | None:
        """Return the number of a new draw without replacement; ``None`` if the pool is used up.

        No other draw of the document has the same surrogate.
        """
        deck = self._decks.get(pool)
        if deck is None:
            deck = self._decks[pool] = _Deck(size)
        if deck.free == 0:
            return None
        number = self._new(deck.free, deck)
        deck.free -= 1
        return number

    def _new(self, total: int, deck: _Deck | None) -> int:
        self.totals.append(total)
        self._from.append(deck)
        return len(self.totals) - 1

    def written(self, drawn: Sequence[int], words: Iterator[str]) -> tuple[list[str], Iterable[Pair]]:
        """Return the texts with their surrogates, and the pairs that restore replies.

        Args:
            drawn: A number below each of ``totals``.
            words: The randomized output of each of ``words``; more may follow.
        """
        members = [index if deck is None else deck.deal(index) for index, deck in zip(drawn, self._from, strict=True)]
        pairs: dict[Pair, None] = {}
        texts = []
        for text, draws in zip(self._read, self._draws, strict=True):
            pieces = quote_tags_of_json(self._pieces(text, draws, members, words))
            if not any(isinstance(draw, str) and draw.startswith("[") for draw in draws):
                written, found = write(pieces)
            else:
                known = [*pieces]
                _, found = write(known)
                written = _write_tags(known)
            pairs |= dict.fromkeys(found)
            texts.append(written)
        return texts, pairs

    def _pieces(
        self, text: Read, draws: Sequence[str | list[int] | None], members: Sequence[int], words: Iterator[str]
    ) -> Iterator[Piece]:
        """Yield the parts of a text; randomized words belong to no mapping."""
        rest = iter(draws)
        for entry in text.entries:
            if isinstance(entry, str):
                yield Piece(entry, entry)
                continue
            draw, original = next(rest), entry.slot.text
            if draw is None:
                yield Piece(next(words), original)
            elif isinstance(draw, str):
                yield Piece(draw, original, entry)
            else:
                yield join_parts(entry, self._spell_parts(entry, draw, members))

    def _spell_parts(self, mention: Mention, draws: Sequence[int], members: Sequence[int]) -> tuple[str, ...]:
        return tuple(
            self._surrogates.spelled(part.kind, part.layout, members[draw] if draw >= 0 else -1 - draw, mention.case)
            for part, draw in zip(mention.parts, draws, strict=True)
        )


def join_parts(mention: Mention, parts: tuple[str, ...]) -> Piece:
    """Return the piece of a mention from the surrogates of its parts.

    A dot follows each initial but a final one.
    """
    if len(parts) == 1:  # the most frequent case
        return Piece(parts[0], mention.slot.text, mention, parts)
    dots = ["." if part.kind == "initial" else "" for part in mention.parts[:-1]]
    return Piece(" ".join(map("".join, zip(parts, [*dots, ""], strict=True))), mention.slot.text, mention, parts)


def _equal_tags(mention: Mention) -> tuple[tuple[str, ...], ...]:
    """Return the key of mentions that share a tag.

    A JSON number never shares a tag with the same digits in text.
    """
    return (("json",), *mention.equal) if mention.case == JSON_NUMBER else mention.equal


def quote_tags_of_json(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces with valid JSON for each number of JSON that becomes a tag or is dropped.

    A tag becomes a JSON string, and a dropped number becomes ``null``. A kept sign before the number moves into the
    string.
    """
    held: Piece | None = None
    for piece in pieces:
        if piece.mention is not None and piece.mention.case == JSON_NUMBER and not piece.parts:
            sign = ""
            if held is not None and held.mention is None and held.output.endswith("-"):
                sign, held = "-", Piece(held.output[:-1], held.original[:-1])
            original = sign + piece.original
            if piece.output:
                mention = piece.mention._replace(named=sign + piece.mention.named)
                piece = Piece(f'"{sign}{piece.output}"', original, mention)
            else:
                piece = Piece("null", original)
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


def _write_tags(pieces: Iterable[Piece]) -> str:
    """Join a text with tags; escape kept text that resembles a tag, which must not be restored."""
    parts, last = list[str](), 0
    for piece in pieces:
        parts.append(piece.output)
        if piece.mention is not None and not piece.parts and piece.output:
            parts[last:-1] = [not_a_tag("".join(parts[last:-1]))]
            last = len(parts)
    return "".join([*parts[:last], not_a_tag("".join(parts[last:]))])


#: A document, its number of kept words, and its number of replaced unlisted words.
_Counted = tuple[_Document, int, int]
#: The texts of a document, its number of kept words, the restorer of its surrogates (or ``None``), its number of
#: randomized words, and its number of replaced unlisted words.
_Rewritten = tuple[list[str], int, Restorer | None, int, int]


class NamesRewriter:
    """Rewriter of the documents of one call.

    Args:
        reader: Reader of texts.
        surrogates: The surrogate pools.
        style: Options for the replacement of slots.
        also: Detector that hides further parts of the output.
        key: Secret key that links equal strings of all documents, if they are linked.
        words: Randomizer of the words of a public list.

    Privacy:
        The object holds the original texts. It must not outlive the call.
    """

    def __init__(
        self,
        reader: TextReader,
        surrogates: Surrogates,
        style: Style,
        *,
        also: Detector | None = None,
        key: bytes | None = None,
        words: DrawnWords | None = None,
    ) -> None:
        self._reader, self._surrogates, self._style, self._also, self._key = reader, surrogates, style, also, key
        self._words = words

    def rewrite(self, documents: Sequence[Sequence[str]]) -> Iterator[_Rewritten]:
        """Yield each rewritten document with its counts.

        Privacy:
            This is the release itself. It uses the entropy of the operating system.
        """
        batch: list[_Counted] = []
        characters = 0
        for texts in documents:
            read = self._reader.read(texts)
            if self._style.consistent:
                names = FirstNames()
                read = [text._replace(entries=[*names.link(text.entries)]) for text in read]
            document = _Document(read, self._style, self._surrogates, self._key)
            batch.append((document, sum(text.shown for text in read), sum(text.replaced_words for text in read)))
            characters += sum(map(len, texts))
            if characters > _BATCH:
                yield from self._drawn(batch)
                batch, characters = [], 0
        yield from self._drawn(batch)

    def _drawn(self, batch: Sequence[_Counted]) -> Iterator[_Rewritten]:
        totals = np.array([total for document, *_ in batch for total in document.totals], dtype=np.int64)
        drawn = uniform_below(totals, entropy.random_uint64).tolist() if len(totals) else []
        given = [word for document, *_ in batch for word in document.words]
        words = iter(given if self._words is None else self._words.draw(given, entropy.random_uint64))
        start = 0
        for document, shown, replaced in batch:
            end = start + len(document.totals)
            texts, pairs = document.written(drawn[start:end], words)
            start = end
            if self._also is not None:
                texts = [hide(text, self._also) for text in texts]
            restores = self._style.consistent and self._key is None
            yield texts, shown, Restorer(pairs) if restores else None, len(document.words), replaced


def _keyed(key: bytes, part: Part) -> int:
    """Return a keyed function of a part, to be reduced modulo the size of its pool.

    It is the first 128 bits of HMAC-SHA256 of type, layout and folded string. The reduction has a bias below 2^-60.
    """
    said = "\0".join((part.kind, part.layout, part.folded)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.digest(key, said, "sha256")[:16], "big")
