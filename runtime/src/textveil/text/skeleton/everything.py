"""The rule that draws everything, as SanText does: no word is shown, none is replaced by its kind.

A segment that is not a gap becomes one or more tokens. Words are looked up by their key; what is not in the vocabulary
is ``<unk>``, and no path leads from its spelling to the output (docs/format-santext.md, "From words to inputs").
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from textveil.errors import OptionError
from textveil.text import segmentation
from textveil.text.segmentation import AUXILIARIES, CLITICS, LOWER, NOT, UPPER, case_pattern, is_gap, is_string
from textveil.text.skeleton.kinds import Kind
from textveil.text.skeleton.rule import DRAWN_BY_KEY, Pieces, Role, Token
from textveil.text.wordpiece import WordPiece


@dataclass(frozen=True)
class EverythingRule:
    """Draws every word by its spelling in a vocabulary of words.

    Attributes:
        ids: Id by spelling.
    """

    ids: Mapping[str, int] = field(repr=False)

    @property
    def lists(self) -> Sequence[Kind]:
        """There are no kinds."""
        return ()

    @property
    def shows_clitics(self) -> bool:
        """Implements ``Rule.shows_clitics``: nothing is shown."""
        return False

    def plain(self, keys: Sequence[str], cases: Sequence[int]) -> Sequence[int | None]:
        """Implements ``Rule.plain``."""
        return [DRAWN_BY_KEY] * len(keys)

    def tokens(self, segment: str, *, starts_sentence: bool = False) -> Pieces:
        """Implements ``Rule.tokens``: a word, or a stem and its clitic."""
        case = case_pattern(segment)
        if is_string(segment):
            return [(segment, Token(Role.DRAWN, case, whole=False))]
        key = segmentation.key(segment)
        if key in self.ids:
            return [(segment, Token(Role.DRAWN, case, key))]
        parts = segmentation.split_clitic(key)
        if parts is None:
            return [(segment, Token(Role.DRAWN, case, whole=False))]
        stem, clitic = parts
        spelled = segment[: len(stem)]
        case = case_pattern(spelled)
        of_clitic = UPPER if case == UPPER else LOWER
        return [(spelled, Token(Role.DRAWN, case, stem)), (segment[len(stem) :], Token(Role.DRAWN, of_clitic, clitic))]

    def mark(self, mark: str) -> Token:
        """Implements ``Rule.mark``: a mark is looked up as it is."""
        return Token(Role.DRAWN, LOWER, mark, whole=False)

    def joined(self, words: Sequence[str], shown: Sequence[bool], *, apart: bool) -> str:
        """Implements ``Rule.joined``: a blank between two outputs, unless the second one is a clitic."""
        if apart:
            return " ".join(words)
        written = [words[0]]
        for before, word in pairwise(words):
            written.append(_after(before, word))
        return "".join(written)

    def alone(self, word: str) -> Token:
        """Implements ``Rule.alone``; a spelling of the vocabulary may be several words, or a mark."""
        segments = segmentation.segments(word)
        key = segmentation.key(word)
        if key in self.ids and not any(map(is_string, segments)):
            return Token(Role.DRAWN, LOWER, key, whole=not is_gap(word))
        found = self._all_tokens(segments)
        if len(found) != 1:
            raise OptionError(f"one word is needed, and this is {len(found)} tokens")
        return found[0]

    def keys_of(self, entry: str) -> list[str | None]:
        """Returns the keys of a denied entry: one spelling, or a text of any number of words."""
        entry = entry.removeprefix(segmentation.BYTE_ORDER_MARK)
        for spelling in (entry, segmentation.key(entry)):
            if spelling in self.ids:
                return [spelling]
        return [token.key for token in self._all_tokens(filter_words(segmentation.segments(entry)))]

    def _all_tokens(self, segments: Sequence[str]) -> list[Token]:
        found: list[Token] = []
        for segment in segments:
            if is_gap(segment):
                found += [self.mark(mark) for mark in segment if not mark.isspace()]
            else:
                found += [token for _, token in self.tokens(segment)]
        return found


@dataclass(frozen=True)
class EveryPieceRule(EverythingRule):
    """Draws the WordPieces of every word.

    Attributes:
        vocabulary: Pieces by id.
        tokenizer: Cuts words into pieces of the vocabulary.
    """

    vocabulary: Sequence[str] = field(repr=False)
    tokenizer: WordPiece = field(repr=False)

    @classmethod
    def of(cls, vocabulary: Sequence[str], ids: Mapping[str, int]) -> "EveryPieceRule":
        """Returns the rule of a vocabulary."""
        return cls(ids, vocabulary, WordPiece(ids, lowercase=True))

    @property
    def shows_clitics(self) -> bool:
        """Implements ``Rule.shows_clitics``: nothing is shown."""
        return False

    def plain(self, keys: Sequence[str], cases: Sequence[int]) -> Sequence[int | None]:
        """Implements ``Rule.plain``: any word may be several pieces."""
        return [None] * len(keys)

    def tokens(self, segment: str, *, starts_sentence: bool = False) -> Pieces:
        """Implements ``Rule.tokens``: the pieces of a word, of which only a word in one piece is whole."""
        case = case_pattern(segment)
        keys: list[str | None] = []
        if not is_string(segment):
            for word in self.tokenizer.basic_tokens(segment):
                keys += [self.vocabulary[piece] for piece in self.tokenizer.pieces(word) or ()] or [None]
        # BERT drops control characters; here they are unknown tokens like everything that is not a gap.
        first, *others = keys or [None]
        later = UPPER if case == UPPER else LOWER
        return [
            (segment, Token(Role.DRAWN, case, first, whole=not others)),
            *(("", Token(Role.DRAWN, later, key, whole=False)) for key in others),
        ]

    def joined(self, words: Sequence[str], shown: Sequence[bool], *, apart: bool) -> str:
        """Implements ``Rule.joined``: the pieces of a word have nothing between them."""
        return "".join(words)


def filter_words(segments: Sequence[str]) -> list[str]:
    """Returns the segments that are not gaps."""
    return [segment for segment in segments if not is_gap(segment)]


def _after(before: str, token: str) -> str:
    """A printed output right after another one, with the blank that stands between them, if any."""
    spelled = token.lower()
    if spelled not in CLITICS:
        return " " + token
    if spelled == NOT and before.strip().lower() not in AUXILIARIES:
        return " NOT" if token.isupper() else " not"
    return token
