"""Rule of the SanText family, which randomizes every token: it keeps and replaces none.

A segment that is not a gap becomes one or more tokens. The rule looks words up by their key. A word outside the
vocabulary becomes ``<unk>``, and no path leads from its spelling to the output (docs/format-santext.md, "From words to
inputs").
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
    """Rule that randomizes every word by its spelling in a vocabulary of words.

    Attributes:
        ids: Input id by spelling.
    """

    ids: Mapping[str, int] = field(repr=False)

    @property
    def lists(self) -> Sequence[Kind]:
        """Entity types of ``Rule.lists``: none."""
        return ()

    @property
    def shows_clitics(self) -> bool:
        """Whether clitics are kept (``Rule.shows_clitics``): never."""
        return False

    def plain(self, keys: Sequence[str], cases: Sequence[int]) -> Sequence[int | None]:
        """Return the decision for each plain word, as ``Rule.plain``: randomize all of them by key."""
        return [DRAWN_BY_KEY] * len(keys)

    def tokens(self, segment: str, *, starts_sentence: bool = False) -> Pieces:
        """Return the tokens of a segment, as ``Rule.tokens``: one word, or a stem and its clitic."""
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
        """Return the token of a mark, as ``Rule.mark``: the key is the mark itself."""
        return Token(Role.DRAWN, LOWER, mark, whole=False)

    def joined(self, words: Sequence[str], shown: Sequence[bool], *, apart: bool) -> str:
        """Join outputs, as ``Rule.joined``, with a space between two unless the second is a clitic."""
        if apart:
            return " ".join(words)
        written = [words[0]]
        for before, word in pairwise(words):
            written.append(_after(before, word))
        return "".join(written)

    def alone(self, word: str) -> Token:
        """Return the token of one word, as ``Rule.alone``.

        An entry of the vocabulary may be several words, or a mark.

        Raises:
            OptionError: The word is not one token.
        """
        segments = segmentation.segments(word)
        key = segmentation.key(word)
        if key in self.ids and not any(map(is_string, segments)):
            return Token(Role.DRAWN, LOWER, key, whole=not is_gap(word))
        found = self._all_tokens(segments)
        if len(found) != 1:
            raise OptionError(f"one word is needed, and this is {len(found)} tokens")
        return found[0]

    def keys_of(self, entry: str) -> list[str | None]:
        """Return the keys of a denied entry: one spelling, or a text of any number of words."""
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
    """Rule that randomizes every WordPiece of every word.

    Attributes:
        vocabulary: Pieces by id.
        tokenizer: Tokenizer that splits words into pieces of the vocabulary.
    """

    vocabulary: Sequence[str] = field(repr=False)
    tokenizer: WordPiece = field(repr=False)

    @classmethod
    def of(cls, vocabulary: Sequence[str], ids: Mapping[str, int]) -> "EveryPieceRule":
        """Return the rule for a vocabulary."""
        return cls(ids, vocabulary, WordPiece(ids, lowercase=True))

    @property
    def shows_clitics(self) -> bool:
        """Whether clitics are kept (``Rule.shows_clitics``): never."""
        return False

    def plain(self, keys: Sequence[str], cases: Sequence[int]) -> Sequence[int | None]:
        """Return ``None`` for each word, as ``Rule.plain``: any word may have several pieces."""
        return [None] * len(keys)

    def tokens(self, segment: str, *, starts_sentence: bool = False) -> Pieces:
        """Return the pieces of a word, as ``Rule.tokens``.

        Only the piece of a one-piece word is whole.
        """
        case = case_pattern(segment)
        keys: list[str | None] = []
        if not is_string(segment):
            for word in self.tokenizer.basic_tokens(segment):
                keys += [self.vocabulary[piece] for piece in self.tokenizer.pieces(word) or ()] or [None]
        # BERT removes control characters. Here they become unknown tokens, as everything that is not a gap.
        first, *others = keys or [None]
        later = UPPER if case == UPPER else LOWER
        return [
            (segment, Token(Role.DRAWN, case, first, whole=not others)),
            *(("", Token(Role.DRAWN, later, key, whole=False)) for key in others),
        ]

    def joined(self, words: Sequence[str], shown: Sequence[bool], *, apart: bool) -> str:
        """Join the pieces of a word, as ``Rule.joined``, without anything between them."""
        return "".join(words)


def filter_words(segments: Sequence[str]) -> list[str]:
    """Return the segments that are not gaps."""
    return [segment for segment in segments if not is_gap(segment)]


def _after(before: str, token: str) -> str:
    """Return an output as printed after another one, with a space before it where one is due.

    ``n't`` becomes ``not`` unless an auxiliary precedes it.
    """
    spelled = token.lower()
    if spelled not in CLITICS:
        return " " + token
    if spelled == NOT and before.strip().lower() not in AUXILIARIES:
        return " NOT" if token.isupper() else " not"
    return token
