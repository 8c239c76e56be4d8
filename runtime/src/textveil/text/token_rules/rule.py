"""``TokenRule``, the interface of rules that classify each token as unchanged, replaced or randomized.

A rule is public, and fixed before a text is read. The *template* of a text consists of the unchanged (*kept*) tokens,
the gaps, and the case and type of the other tokens. The output contains the template, and every guarantee is between
texts with the same template.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from textveil.lazy import CHARACTERS, load_data
from textveil.text.token_rules.entity_types import EntityType

#: Surrogates (replacements) of punctuation marks, for rules that replace marks. Every mark has the same surrogates.
PUNCTUATION_TYPE = EntityType("punctuation mark", None, b"", tuple(load_data(CHARACTERS)["marks"]["punctuation"]))


class TokenRole(Enum):
    """Treatment of a token: it is unchanged, replaced by an entry of a list, or randomized by a mechanism.

    >>> TokenRole("randomized")
    <TokenRole.RANDOMIZED: 'randomized'>
    """

    KEPT = "kept"
    REPLACED = "replaced"
    RANDOMIZED = "randomized"


class ClassifiedToken(NamedTuple):
    """Decision on one token: unchanged (*kept*), replaced by its type's list, or randomized by the mechanism.

    Attributes:
        role: Whether the token is kept, replaced or randomized.
        case: Its case pattern: ``LOWER``, ``TITLE`` or ``UPPER``.
        key: Normalized spelling of a kept or randomized word. ``None`` for replaced tokens, and for randomized tokens
            that the mechanism treats as ``<unk>``.
        type_index: Index of the entity type of a replaced token.
        is_whole: ``True`` for a randomized word, stem or clitic. ``False`` for a randomized punctuation mark, and under
            ``EveryWordRule`` for a word or string outside the vocabulary.
    """

    role: TokenRole
    case: int
    key: str | None = None
    type_index: int | None = None
    is_whole: bool = True

    @property
    def template_entry(self) -> tuple[object, ...]:
        """Public part of the token, which the output reveals: role, case and type; the word only if it is unchanged."""
        return (self.role, self.case, self.type_index, self.key if self.role is TokenRole.KEPT else None)


#: Results of ``TokenRule.classify_plain``: randomize the whole word by its key; keep the word if it is spelled like its
#: key.
RANDOMIZED_BY_KEY, KEPT_AS_KEY = -1, -2
#: Tokens of a segment, each with its spelling.
ClassifiedTokens = Sequence[tuple[str, ClassifiedToken]]


class TokenRule(Protocol):
    """Interface of a rule that decides for each token: it stays unchanged, is replaced, or is randomized.

    A *replaced* token becomes a random entry of the list of its entity type, whatever its text is. A *randomized* token
    becomes a random word that a mechanism chooses, with a bounded privacy loss.
    """

    @property
    def entity_types(self) -> Sequence[EntityType]:
        """The entity types. The attribute ``ClassifiedToken.type_index`` is an index of this sequence."""
        ...

    @property
    def keeps_clitics(self) -> bool:
        """Whether clitics such as ``'s`` stay unchanged even after a word that is replaced or randomized."""
        ...

    def keeps_capital(self, key: str, *, starts_sentence: bool) -> bool:
        """Return whether a function word with a capital, such as *The* or *Will*, stays unchanged.

        Args:
            key: Its normalized spelling, for which ``classify_plain`` returns ``KEPT_AS_KEY``.
            starts_sentence: Whether the word starts a sentence.
        """
        ...

    @property
    def joins_lone_clitics(self) -> bool:
        """Whether an ending after a blank, such as ``'re`` in ``they 're``, is one token with its apostrophe."""
        ...

    def classify_plain(self, keys: Sequence[str], cases: Sequence[int]) -> Sequence[int | None]:
        """Classify many plain words in one fast pass. Most words of a text are plain.

        A plain word has only ASCII letters, and at most ``MAX_WORD_LENGTH`` of them.

        Args:
            keys: Normalized spellings of the words.
            cases: Case patterns of the words, each ``LOWER``, ``TITLE`` or ``UPPER``.

        Returns:
            For each word one of four values. The index of its entity type: the word is replaced. ``RANDOMIZED_BY_KEY``:
            the word is randomized. ``KEPT_AS_KEY``: the word stays unchanged if it is spelled like its key. ``None``:
            the caller must call ``classify_token``.
        """
        ...

    def classify_token(self, segment: str, *, starts_sentence: bool) -> ClassifiedTokens:
        """Split a segment (a word, a number or an address of a text) into tokens, and return each with its treatment.

        The treatment is the same at the start of a sentence and inside one, with one exception: a token that is
        randomized as an unknown word (``<unk>``) inside a sentence, such as a capitalized name, may have another
        treatment at the start.
        """
        ...

    def classify_mark(self, mark: str) -> ClassifiedToken:
        """Classify a punctuation mark, and return its token. The method is called only if punctuation is sanitized."""
        ...

    def join_outputs(self, words: Sequence[str], kept: Sequence[bool], *, apart: bool) -> str:
        """Join the output words of the tokens of one segment, such as ``they`` and ``'re``, to a text.

        Args:
            words: The output words, in their final case.
            kept: For each output, whether its token stays unchanged.
            apart: Whether a space must separate all outputs. The value is true if punctuation is sanitized.
        """
        ...

    def classify_alone(self, word: str) -> ClassifiedToken:
        """Classify one word without context, as if it were inside a sentence, and return its token.

        Raises:
            OptionError: The text is not one token.
        """
        ...
