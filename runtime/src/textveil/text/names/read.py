"""Reads a text on the rung ``names``: pass 1 chunk by chunk, pass 2 line by line, pass 3 slot by slot."""

from collections.abc import Sequence
from dataclasses import dataclass

import regex
from textveil.text.names.chunks import Chunks
from textveil.text.names.kinds import Kinds, Mention
from textveil.text.names.places import Places
from textveil.text.names.tokens import GAP, Token
from textveil.text.segmentation import LOWER

_PARTS = regex.compile(r"\p{White_Space}++|\P{White_Space}++")
#: Pieces between single blanks that a call remembers.
_MOST_PIECES = 1 << 17
_Piece = tuple[list[Token], list[str], str]


@dataclass(frozen=True)
class Read:
    """A text that was read.

    Attributes:
        entries: What is shown, and mentions, in order.
        shown: How many words are shown.
    """

    entries: list[str | Mention]
    shown: int

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
        capitals = any(token.case != LOWER for words, _ in cut for token in words)
        return [self._read(words, gaps, capitals) for words, gaps in cut]

    def _tokens(self, text: str) -> tuple[list[Token], list[str]]:
        words: list[Token] = []
        gaps: list[str] = []
        gap, known = "", self._known
        if len(known) > _MOST_PIECES:
            known.clear()
        for piece in text.split(" "):
            found = known.get(piece)
            if found is None:
                found = known[piece] = self._piece(piece)
            first, before, tail = found
            if first:
                gaps.append(gap + before[0])
                words.append(first[0])
                if len(first) > 1:
                    gaps += before[1:]
                    words += first[1:]
                gap = tail
            else:
                gap += tail
        gaps.append(gap[:-1])
        return words, gaps

    def _piece(self, piece: str) -> "_Piece":
        """The tokens of what stands between two single blanks, the gap before each, and what follows with a blank."""
        words: list[Token] = []
        gaps: list[str] = []
        gap = ""
        for part in _PARTS.findall(piece):
            for token in [Token(GAP, part, part)] if part.isspace() else self._chunks.read(part):
                if token.cls == GAP:
                    gap += token.text
                else:
                    words.append(token)
                    gaps.append(gap)
                    gap = ""
        return words, gaps, gap + " "

    def _read(self, words: list[Token], gaps: list[str], capitals: bool) -> Read:
        places = Places(words, gaps, capitals=capitals)
        mention = self._kinds.mention
        entries = [entry if isinstance(entry, str) else mention(entry) for entry in places.entries()]
        return Read(entries, places.shown)
