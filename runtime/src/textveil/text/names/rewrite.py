"""Rewrites documents on the rung ``names``: what is shown as it is, and for every slot a member of its kind.

A member is drawn without a look at what it replaces: of a slot only its kinds, its layout, its case and which slots are
equal decide how (docs/proofs/names.md).
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

#: Documents are drawn together up to so many characters.
_BATCH = 1 << 15
#: The largest pool that is dealt without replacement though equal strings do not become equal. Of larger ones hardly
#: a surrogate comes twice.
_LARGEST_DEALT = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Style:
    """How slots are written.

    Attributes:
        tags: Whether all kinds are written as tags, ``[city 1]``.
        consistent: Whether equal strings of a document become equal.
        keep: Kinds that are shown where a list has the string, or its shape tells the kind.
        tag: Kinds that are written as tags, whatever the others are.
        drop: Kinds of which nothing is written.
        cap: The most distinct strings of a document that have surrogates of their own; tags stand for others.
        linked: Whether equal strings of all documents under one key become equal.
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
        """The cap, where there is one."""
        return self.cap if self.consistent and not (self.linked or self.tags) else None


class _Deck:
    """The members of one kind that no other string of the document has yet: a shuffle, as far as it was dealt."""

    __slots__ = ("_left", "_moved", "free")

    def __init__(self, size: int) -> None:
        #: How many members no draw is for yet, and how many were not dealt.
        self.free, self._left = size, size
        self._moved: dict[int, int] = {}

    def deal(self, index: int) -> int:
        """Returns the member at a place of those that are left, and takes it out."""
        self._left = left = self._left - 1
        found = self._moved.get(index, index)
        self._moved[index] = self._moved.get(left, left)
        return found


class _Document:
    """The draws of one document: what is drawn, and which of its mentions share a draw.

    Args:
        read: Its texts.
        style: How slots are written.
        surrogates: The members of kinds.
        key: What links equal strings of all documents.
    """

    def __init__(self, read: Sequence[Read], style: Style, surrogates: Surrogates, key: bytes | None) -> None:
        self._read, self._style, self._surrogates, self._key = read, style, surrogates, key
        self._decks: dict[tuple[str, str], _Deck] = {}
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._tags: dict[tuple[str, tuple[tuple[str, ...], ...]], str] = {}
        self._counts: dict[str, int] = {}
        #: How many members each draw is from, and its deck, if it is from one.
        self.totals: list[int] = []
        self._from: list[_Deck | None] = []
        #: Words of the list that is drawn from, in order; each is a draw of its own.
        self.words: list[str] = []
        self._draws = [[self._mention(entry) for entry in text.entries if not isinstance(entry, str)] for text in read]

    def _mention(self, mention: Mention) -> str | list[int] | None:
        """A text that nothing is drawn for, or the number of the draw of each part; ``None`` for a drawn word."""
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
        """The number of the draw of a part; ``None`` if no member is left, or the document has too many strings.

        Under a key the member is a function of the string: below 0, one less than minus its number.
        """
        size, consistent = self._surrogates.of(part.kind, part.layout)
        if not self._style.consistent or (self._key is not None and not consistent):
            return self._new(size, None)
        if self._key is not None:
            return -1 - _keyed(self._key, part) % size
        equal = part[:3]
        if not consistent:  # a surrogate that comes twice for two originals cannot be restored
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
        """The number of the draw of a member that no other draw of the document has; ``None`` if none is left."""
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
        """Returns the texts with what was drawn, and what replies may mention of them.

        Args:
            drawn: A number below each of ``totals``.
            words: What came out for each of ``words``; more may follow.
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
        """Yield the parts of a text; words of a list that is drawn from are in no mapping."""
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
    """Return the piece of a mention from the surrogates of its parts; a dot follows an initial before the last."""
    if len(parts) == 1:  # most of all
        return Piece(parts[0], mention.slot.text, mention, parts)
    dots = ["." if part.kind == "initial" else "" for part in mention.parts[:-1]]
    return Piece(" ".join(map("".join, zip(parts, [*dots, ""], strict=True))), mention.slot.text, mention, parts)


def _equal_tags(mention: Mention) -> tuple[tuple[str, ...], ...]:
    """Return what mentions with one tag have in common: a number of JSON has another than the same digits in a text."""
    return (("json",), *mention.equal) if mention.case == JSON_NUMBER else mention.equal


def quote_tags_of_json(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield pieces with a string of JSON for each tag of a number of JSON, and ``null`` for a dropped one.

    A sign that is shown before the number goes into the string.
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
    """Join a text with tags; what else looks like a tag is somebody else's, and must not be restored."""
    parts, last = list[str](), 0
    for piece in pieces:
        parts.append(piece.output)
        if piece.mention is not None and not piece.parts and piece.output:
            parts[last:-1] = [not_a_tag("".join(parts[last:-1]))]
            last = len(parts)
    return "".join([*parts[:last], not_a_tag("".join(parts[last:]))])


#: A document, how many words are shown, and how many on no list are replaced.
_Counted = tuple[_Document, int, int]
#: The texts of a document, how many words are shown, what restores the others, how many are drawn, how many replaced.
_Rewritten = tuple[list[str], int, Restorer | None, int, int]


class NamesRewriter:
    """Rewrites the documents of one call.

    Args:
        reader: Reads texts.
        surrogates: The members of kinds.
        style: How slots are written.
        also: Hides more of what came out.
        key: What equal strings of all documents have in common, where they are linked.
        words: What draws the words of a public list.

    Privacy:
        It holds what the user wrote, and ends with the call.
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
        """Yields each document, rewritten, with its counts.

        Privacy:
            The release itself, with the operating system's entropy.
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
    """A keyed function of a string and its kind: a member below any size is chosen with a bias below 2^-60."""
    said = "\0".join((part.kind, part.layout, part.folded)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.digest(key, said, "sha256")[:16], "big")
