"""What a rule says of each token: whether it is shown, replaced without a look, or drawn.

A rule is public and fixed before a text is seen. What it shows of a text, with the gaps, is the *skeleton*. It is
released as it is, and everything that is promised is promised between texts of one skeleton.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from textveil.text.skeleton.kinds import Kind

_ENDS_SENTENCE = frozenset(".!?\n\r\x0b\x0c\x85\u2028\u2029")
#: What a punctuation mark becomes where a rule replaces it: any of these, without a look at it.
MARKS = Kind("punctuation mark", None, b"", tuple(".,;:!?-()'\""))


class Role(Enum):
    """What becomes of a token: it is shown, replaced by a member of its kind without a look, or drawn."""

    SHOWN = "shown"
    REPLACED = "replaced"
    DRAWN = "drawn"


class Token(NamedTuple):
    """What a rule says of one token.

    Attributes:
        role: Whether it is shown, replaced or drawn.
        case: Its case pattern.
        key: The key of a shown word, which is printed in its case, or of a drawn one; ``None`` for a drawn token that
            takes the row of ``<unk>``, and for replaced ones.
        kind: The index of the kind of a replaced one.
        whole: Whether a drawn one is a word in one piece, or a stem with its clitic: not a part of a word that the
            vocabulary lacks, nor a mark.
    """

    role: Role
    case: int
    key: str | None = None
    kind: int | None = None
    whole: bool = True

    @property
    def entry(self) -> tuple[object, ...]:
        """What the skeleton has of it: a drawn word and a member of a kind leave their case only."""
        return (self.role, self.case, self.kind, self.key if self.role is Role.SHOWN else None)


#: What ``Rule.plain`` says of a word that is drawn by its key, as a whole.
DRAWN_BY_KEY = -1
#: Tokens of a segment, each with its spelling.
Pieces = Sequence[tuple[str, Token]]


class Rule(Protocol):
    """Says what becomes of tokens. Rules know nothing of mechanisms, and mechanisms nothing of rules."""

    @property
    def lists(self) -> Sequence[Kind]:
        """The kinds that replaced tokens are of, by index."""
        ...

    @property
    def shows_clitics(self) -> bool:
        """Whether clitics are shown, whatever word is before them."""
        ...

    def plain(self, keys: Sequence[str], cases: Sequence[int]) -> Sequence[int | None]:
        """Tells what becomes of words of ASCII letters no longer than ``LONGEST_WORD``: of most of all words, quickly.

        Args:
            keys: Their keys.
            cases: Their case patterns.

        Returns:
            Of each the index of its kind where it is replaced, ``DRAWN_BY_KEY``, or ``None`` if ``tokens`` has to be
            asked.
        """
        ...

    def tokens(self, segment: str, *, starts_sentence: bool) -> Pieces:
        """Returns the tokens of one segment that is not a gap, at least one, each with its spelling.

        Only tokens that are drawn as ``<unk>`` inside a sentence may be others at the start of one.
        """
        ...

    def mark(self, mark: str) -> Token:
        """Returns the token of a punctuation mark, where punctuation is sanitized."""
        ...

    def joined(self, words: Sequence[str], shown: Sequence[bool], *, apart: bool) -> str:
        """Writes what the tokens of one segment became.

        Args:
            words: As they are printed.
            shown: Which of them are shown.
            apart: Whether all tokens of the text stand apart, as where punctuation is sanitized.
        """
        ...

    def alone(self, word: str) -> Token:
        """Returns the token of one word inside a sentence, to tell its distribution.

        Raises:
            OptionError: It is not one token.
        """
        ...


def sentence_start(gap: str | None) -> bool:
    """Tells whether a token starts a sentence, by the whole gap before it; ``None`` for the first token of a text."""
    return gap is None or not _ENDS_SENTENCE.isdisjoint(gap)
