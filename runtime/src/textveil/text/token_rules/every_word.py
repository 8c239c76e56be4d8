"""Rule of the mechanisms that randomize every token, such as SanText: no token stays unchanged.

A segment (part of a split text) that is not a gap becomes one or more tokens. The rule searches the vocabulary for the
normalized spelling of a word. A word outside the vocabulary becomes ``<unk>``, so its spelling cannot affect the output
(docs/format-santext.md, "From words to inputs").
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from textveil.errors import OptionError
from textveil.text import segmentation
from textveil.text.segmentation import (
    AUXILIARIES,
    CLITICS,
    LOWER,
    NOT_CLITIC,
    UPPER,
    find_case_pattern,
    is_gap,
    is_string,
)
from textveil.text.token_rules.entity_types import EntityType
from textveil.text.token_rules.rule import RANDOMIZED_BY_KEY, ClassifiedToken, ClassifiedTokens, TokenRole


@dataclass(frozen=True)
class EveryWordRule:
    """Rule that randomizes every word: the word's id is the input of a mechanism (random function to words).

    Attributes:
        ids: Id of each word of the vocabulary, by its spelling.
    """

    ids: Mapping[str, int] = field(repr=False)

    @property
    def entity_types(self) -> Sequence[EntityType]:
        """An empty sequence, since the rule has no entity types: it randomizes names and numbers like other words."""
        return ()

    @property
    def keeps_clitics(self) -> bool:
        """Always ``False``: the rule randomizes endings such as ``'s`` too."""
        return False

    @property
    def joins_lone_clitics(self) -> bool:
        """Always ``True``: the vocabulary has an ending after a blank, as in ``they 're``, with its apostrophe."""
        return True

    def classify_plain(self, keys: Sequence[str], cases: Sequence[int]) -> Sequence[int | None]:
        """Return ``RANDOMIZED_BY_KEY`` for each word, since the rule randomizes every word."""
        return [RANDOMIZED_BY_KEY] * len(keys)

    def keeps_capital(self, key: str, *, starts_sentence: bool) -> bool:
        """Return ``False``: this rule randomizes every word, so no capitalized word stays unchanged."""
        return False

    def classify_token(self, segment: str, *, starts_sentence: bool = False) -> ClassifiedTokens:
        """Split a segment (part of a split text, no gap) into tokens, each with the decision to randomize it.

        A segment is one token, or a word and its ending (``they`` and ``'re``).
        """
        case = find_case_pattern(segment)
        if is_string(segment):
            return [(segment, ClassifiedToken(TokenRole.RANDOMIZED, case, is_whole=False))]
        key = segmentation.fold_word(segment)
        if key in self.ids:
            return [(segment, ClassifiedToken(TokenRole.RANDOMIZED, case, key))]
        parts = segmentation.split_clitic(key)
        if parts is None:
            return [(segment, ClassifiedToken(TokenRole.RANDOMIZED, case, is_whole=False))]
        stem, clitic = parts
        spelled = segment[: len(stem)]
        case = find_case_pattern(spelled)
        of_clitic = UPPER if case == UPPER else LOWER
        return [
            (spelled, ClassifiedToken(TokenRole.RANDOMIZED, case, stem)),
            (segment[len(stem) :], ClassifiedToken(TokenRole.RANDOMIZED, of_clitic, clitic)),
        ]

    def classify_mark(self, mark: str) -> ClassifiedToken:
        """Return the token of a punctuation mark. Like a word, the mark is its own key in the vocabulary."""
        return ClassifiedToken(TokenRole.RANDOMIZED, LOWER, mark, is_whole=False)

    def join_outputs(self, words: Sequence[str], kept: Sequence[bool], *, apart: bool) -> str:
        """Join the outputs of the tokens of one segment, such as ``they`` and ``'re``, to a text.

        A space precedes each word, except clitics (endings such as ``'s``). If ``apart`` is true, spaces separate all
        outputs, clitics too.
        """
        if apart:
            return " ".join(words)
        written = [words[0]]
        for before, word in pairwise(words):
            written.append(_format_after(before, word))
        return "".join(written)

    def classify_alone(self, word: str) -> ClassifiedToken:
        """Classify one word without context, as if it were inside a sentence, and return its token.

        An entry of the vocabulary counts as one word even if it has blanks or is a punctuation mark.

        Raises:
            OptionError: The word is not one token.
        """
        segments = segmentation.split_text(word)
        key = segmentation.fold_word(word)
        if key in self.ids and not any(map(is_string, segments)):
            return ClassifiedToken(TokenRole.RANDOMIZED, LOWER, key, is_whole=not is_gap(word))
        tokens = self._classify_all(segments)
        if len(tokens) != 1:
            raise OptionError(f"expected one word, got {len(tokens)} tokens: write a single word")
        return tokens[0]

    def list_keys(self, entry: str) -> list[str | None]:
        """Return the normalized words of an entry of the option ``deny``.

        An entry is one spelling of the vocabulary, or a text of any number of words. For an unknown word the result has
        ``None``.
        """
        entry = entry.removeprefix(segmentation.BYTE_ORDER_MARK)
        for spelling in (entry, segmentation.fold_word(entry)):
            if spelling in self.ids:
                return [spelling]
        segments = segmentation.split_text(entry, lone_clitics=True)
        return [token.key for token in self._classify_all(filter_words(segments))]

    def _classify_all(self, segments: Sequence[str]) -> list[ClassifiedToken]:
        tokens: list[ClassifiedToken] = []
        for segment in segments:
            if is_gap(segment):
                tokens += [self.classify_mark(mark) for mark in segment if not mark.isspace()]
            else:
                tokens += [token for _, token in self.classify_token(segment)]
        return tokens


def filter_words(segments: Sequence[str]) -> list[str]:
    """Return the segments of a split text that are not gaps (blanks and punctuation)."""
    return [segment for segment in segments if not is_gap(segment)]


def _format_after(before: str, token: str) -> str:
    """Return an output word as it is written after another one, with a space before it if needed.

    A clitic such as ``'s`` gets no space. ``n't`` becomes ``not`` with a space, unless ``before`` is an auxiliary verb.
    """
    spelled = token.lower()
    if spelled not in CLITICS:
        return " " + token
    if spelled == NOT_CLITIC and before.strip().lower() not in AUXILIARIES:
        return " NOT" if token.isupper() else " not"
    return token
