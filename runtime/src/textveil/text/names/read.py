"""Reads a text on the rung ``names``: pass 1 chunk by chunk, pass 2 line by line, pass 3 slot by slot."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import regex

from textveil.text.names.chunks import Chunks, gap
from textveil.text.names.kinds import Kinds, Mention
from textveil.text.names.places import Places
from textveil.text.names.tokens import DRAWN, GAP, Token, is_plain
from textveil.text.segmentation import LOWER

_LINE_BREAK = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")
_BLANK = regex.compile(r"\p{White_Space}")
_PARTS = regex.compile(r"\p{White_Space}++|\P{White_Space}++")
#: Pieces between single blanks that a call remembers.
_MOST_PIECES = 1 << 17
#: The words of a piece, the gap before the first, what else is spelled, which are not plainly shown, the last gap. Of a
#: piece that is one plainly shown word the word alone, and of any other word no list of one: fewer objects to collect.
_Piece = Token | tuple[Token | Sequence[Token], str, tuple[str, ...], tuple[int, ...], str]


class Read(NamedTuple):
    """A text that was read.

    Attributes:
        entries: What is shown, and mentions, in order.
        shown: How many words are shown.
    """

    entries: Sequence[str | Mention]
    shown: int

    @property
    def replaced_words(self) -> int:
        """Return how many words on no list are replaced; the kinds and layouts of slots tell it."""
        return sum(
            1
            for entry in self.entries
            if not isinstance(entry, str) and entry.kind == "word" and entry.parts[0].layout != DRAWN
        )

    def skeleton(self) -> list[object]:
        """Returns what is shown and, of every mention, all that the output may depend on but which are equal."""
        return [entry if isinstance(entry, str) else entry.shown for entry in self.entries]


class TextReader:
    """Reads texts into what is shown and mentions.

    Args:
        chunks: Reads chunks.
        kinds: Names kinds.
    """

    def __init__(self, chunks: Chunks, kinds: Kinds) -> None:
        self._chunks, self._kinds = chunks, kinds
        self._known: dict[str, _Piece] = {}

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Reads the texts of a document: words that may be names are shown where any of them has a capital."""
        cut = [self._tokens(text) for text in texts]
        capitals = any(words[place].case != LOWER for words, _, special in cut for place in special)
        return [self._read(text, *of_text, capitals) for text, of_text in zip(texts, cut, strict=True)]

    def _tokens(self, text: str) -> tuple[list[Token], list[str], list[int]]:
        """The words of a text; the gap before each with its text, and the last gap; which are not plainly shown."""
        words, spelled, special = list[Token](), list[str](), list[int]()
        before, known = "", self._known
        if len(known) > _MOST_PIECES:
            known.clear()
        pieces, plain = text.split(" "), self._chunks.plain
        for piece, found in zip(pieces, map(known.get, pieces), strict=True):
            if found is None:
                found = known[piece] = plain(piece) or self._piece(piece)
            if type(found) is Token:
                words.append(found)
                spelled.append(before)
                spelled.append(piece)
                before = " "
                continue
            tokens, lead, rest, odd, tail = found
            if not tokens:
                before += tail
                continue
            for place in odd:
                special.append(len(words) + place)
            if type(tokens) is Token:
                words.append(tokens)
            else:
                words += tokens
            spelled.append(before + lead)
            spelled += rest
            before = tail
        spelled.append(before[:-1])
        return words, spelled, special

    def _piece(self, piece: str) -> "_Piece":
        """The same of what stands between two single blanks; the last gap has a blank behind it."""
        lead, tokens, tail = self._chunks.word(piece) or ("", self._parts(piece), "")
        if len(tokens) == 1 and tokens[0].cls != GAP:
            return tokens[0], lead, (tokens[0].text,), () if is_plain(tokens[0]) else (0,), f"{tail} "
        words, spelled = list[Token](), [lead]
        for token in tokens:
            if token.cls == GAP:
                spelled[-1] += token.text
            else:
                words.append(token)
                spelled += (token.text, "")
        tail = f"{spelled.pop()}{tail} "
        odd = tuple([place for place, token in enumerate(words) if not is_plain(token)])
        return tuple(words), spelled[0] if words else "", tuple(spelled[1:]), odd, tail

    def _parts(self, piece: str) -> Sequence[Token]:
        """The tokens of a piece, in which there may be blanks but the common one."""
        if piece.split() == [piece]:
            return self._chunks.read(piece)
        parts = _PARTS.findall(piece)
        return [token for part in parts for token in ((gap(part),) if _BLANK.match(part) else self._chunks.read(part))]

    def _read(self, text: str, words: list[Token], spelled: list[str], special: list[int], capitals: bool) -> Read:
        breaks = not text.isprintable() and _LINE_BREAK.search(text) is not None  # no line break is printable
        places = Places(words, spelled, special, breaks=breaks, capitals=capitals)
        mention = self._kinds.mention
        entries = [entry if isinstance(entry, str) else mention(entry, capitals) for entry in places.entries()]
        return Read(self._kinds.kept(entries), places.shown)
