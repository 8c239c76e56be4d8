"""Interface of a rule, which classifies each token as kept, replaced or randomized.

A rule is public and fixed before a text is read. The kept tokens, the gaps, and case and type of the others are the
*template* of a text. The release contains the template unchanged, and every guarantee is between texts of one template.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from textveil.lazy import CHARACTERS, load_data
from textveil.text.skeleton.entity_types import EntityType

_MARKS = load_data(CHARACTERS)["marks"]
_ENDS_SENTENCE = frozenset(_MARKS["sentence_ends"])
#: Pool of surrogates for a punctuation mark, where a rule replaces marks: any of these, whatever the mark is.
PUNCTUATION_TYPE = EntityType("punctuation mark", None, b"", tuple(_MARKS["punctuation"]))


class TokenRole(Enum):
    """Class of a token: kept, replaced by a random surrogate of its type, or randomized.

    >>> TokenRole("drawn")
    <TokenRole.DRAWN: 'drawn'>
    """

    SHOWN = "shown"
    REPLACED = "replaced"
    DRAWN = "drawn"


class ClassifiedToken(NamedTuple):
    """Decision of a rule on one token.

    Attributes:
        role: Whether it is kept, replaced or randomized.
        case: Its case pattern.
        key: Key of a kept word, which is printed in its case, or of a randomized word; ``None`` for replaced tokens and
            for randomized tokens with the row of ``<unk>``.
        type_index: Index of the type of a replaced token.
        is_whole: Whether a randomized token is a word in one piece, or a stem with its clitic; ``False`` for a part of
            a word that the vocabulary lacks, and for a mark.
    """

    role: TokenRole
    case: int
    key: str | None = None
    type_index: int | None = None
    is_whole: bool = True

    @property
    def template_entry(self) -> tuple[object, ...]:
        """Template entry of the token: unless it is kept, its role, case and type only."""
        return (self.role, self.case, self.type_index, self.key if self.role is TokenRole.SHOWN else None)


#: Results of ``TokenRule.classify_plain`` for a word that is randomized by its key, as a whole, and for a word that is
#: kept if its spelling is its key.
RANDOMIZED_BY_KEY, KEPT_AS_KEY = -1, -2
#: Tokens of a segment, each with its spelling.
ClassifiedTokens = Sequence[tuple[str, ClassifiedToken]]


class TokenRule(Protocol):
    """Classification of tokens. Rules are independent of mechanisms, and mechanisms of rules."""

    @property
    def entity_types(self) -> Sequence[EntityType]:
        """Entity types of replaced tokens, by index."""
        ...

    @property
    def keeps_clitics(self) -> bool:
        """Whether clitics are kept, whatever word precedes them."""
        ...

    def classify_plain(self, keys: Sequence[str], cases: Sequence[int]) -> Sequence[int | None]:
        """Return the decisions for words of ASCII letters of at most ``MAX_WORD_LENGTH`` characters.

        This is the fast path for most words.

        Args:
            keys: Their keys.
            cases: Their case patterns.

        Returns:
            For each word the index of its type if it is replaced, ``RANDOMIZED_BY_KEY``, ``KEPT_AS_KEY`` for a word
            that is kept if its spelling is its key, or ``None``. For other words the caller must call
            ``classify_token``.
        """
        ...

    def classify_token(self, segment: str, *, starts_sentence: bool) -> ClassifiedTokens:
        """Return the tokens of one segment that is not a gap: at least one, each with its spelling.

        The start of a sentence may change only tokens that are randomized as ``<unk>`` inside a sentence.
        """
        ...

    def classify_mark(self, mark: str) -> ClassifiedToken:
        """Return the token of a punctuation mark, where punctuation is sanitized."""
        ...

    def join_outputs(self, words: Sequence[str], kept: Sequence[bool], *, apart: bool) -> str:
        """Return the outputs of the tokens of one segment as text.

        Args:
            words: The outputs, as printed.
            kept: For each output whether its token is kept.
            apart: Whether spaces separate all tokens of the text, as where punctuation is sanitized.
        """
        ...

    def classify_alone(self, word: str) -> ClassifiedToken:
        """Return the token of one word inside a sentence, for its output distribution.

        Raises:
            OptionError: The text is not one token.
        """
        ...


def begins_sentence(gap: str | None) -> bool:
    """Return whether a token starts a sentence, given the whole gap before it.

    Args:
        gap: The gap; ``None`` for the first token of a text.
    """
    return gap is None or not _ENDS_SENTENCE.isdisjoint(gap)
