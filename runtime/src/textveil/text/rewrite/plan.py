"""``SanitizingPlan``: the checked options of a call, with the rule, mechanism and words that they select."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.text_bundle import TextBundle
from textveil.mechanisms.arrays import Integers
from textveil.text import segmentation
from textveil.text.segmentation import LOWER, TITLE, UPPER, apply_case, begins_sentence, is_gap
from textveil.text.statement import PrivacyTerms
from textveil.text.token_rules import ClassifiedToken, EntityType, TokenRole, TokenRule

if TYPE_CHECKING:
    from textveil.mechanisms.distribution import OutputDistribution
    from textveil.mechanisms.protocol import Mechanism


class PrintableWords(NamedTuple):
    """All words that an output may contain: the vocabulary's words, then the replacements of each entity type.

    Attributes:
        lower: All words in lower case. The index of a vocabulary word is its id.
        starts: Index of the first replacement of each type.
        counts: Number of replacements of each type.
    """

    lower: NDArray[np.object_]
    starts: Integers
    counts: Integers

    @classmethod
    def from_vocabulary(cls, vocabulary: Sequence[str], entity_types: Sequence[EntityType]) -> "PrintableWords":
        """Collect the words of a vocabulary and the possible replacements of entity types."""
        counts = np.array([len(kind.surrogates) for kind in entity_types], dtype=np.int64)
        all_words = chain(vocabulary, *(kind.surrogates for kind in entity_types))
        lower = np.fromiter(all_words, dtype=object, count=len(vocabulary) + int(counts.sum()))
        return cls(lower, len(vocabulary) + np.cumsum(counts) - counts, counts)

    def print_words(self, words: Integers, cases: Integers) -> NDArray[np.object_]:
        """Return words in a given case, such as Title case, for output.

        Args:
            words: Indices of the words in ``lower``, shape ``(n,)``.
            cases: Case of each word: ``LOWER``, ``TITLE`` or ``UPPER``.
        """
        printed_words = self.lower[words]
        for case in (TITLE, UPPER):
            places = np.flatnonzero(cases == case)
            if len(places):
                printed_words[places] = [apply_case(word, case) for word in printed_words[places].tolist()]
        return printed_words


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SanitizingPlan:
    """The data and rules that sanitize texts under some options. Calls with equal options share them.

    Attributes:
        bundle: The bundle (opened folder of lists and tables), with its vocabulary.
        rule: Classifies tokens as unchanged (*kept*), replaced or randomized.
        mechanism: Samples the outputs of randomized tokens.
        words: The words that an output may contain.
        terms: Mechanism, guarantee and options, as privacy statements describe them.

    >>> from textveil.text import Sanitizer, make_plan
    >>> make_plan(Sanitizer.load().bundle, protect="words").preview("the doctor")
    [('the', 'kept'), (' ', 'gap'), ('doctor', 'randomized')]
    """

    bundle: TextBundle
    rule: TokenRule
    mechanism: "Mechanism"
    words: PrintableWords
    terms: PrivacyTerms

    @cached_property
    def keeps_case(self) -> bool:
        """Whether each output has the case of its original; false if punctuation is sanitized."""
        return not self.terms.sanitize_punctuation

    @cached_property
    def symbol_count(self) -> int:
        """Number of words of the vocabulary, and also the id of ``<unk>``, which represents all unknown words."""
        return self.bundle.symbol_count

    @cached_property
    def joins_lone_clitics(self) -> bool:
        """Whether an ending after a blank, such as ``'re`` in ``they 're``, is one token with its apostrophe.

        If punctuation is sanitized, the value is false, because then each mark is a token of its own.
        """
        return self.rule.joins_lone_clitics and not self.terms.sanitize_punctuation

    def find_symbol_id(self, token: ClassifiedToken) -> int:
        """Return the id by which the mechanism (random function) identifies a randomized token."""
        return self.symbol_count if token.key is None else self.bundle.symbol_ids.get(token.key, self.symbol_count)

    def is_sentence_start(self, gap: str | None) -> bool:
        """Return whether the token after a gap (blanks and marks) starts a sentence.

        If punctuation is sanitized, only the first token of a text starts a sentence, so that the treatment of a word
        does not reveal the punctuation before the word.

        Args:
            gap: The whole gap before the token; ``None`` for the first token of a text.
        """
        return gap is None if self.terms.sanitize_punctuation else begins_sentence(gap)

    def distribution(self, word: str) -> "OutputDistribution":
        """Return the exact output distribution of a word inside a sentence.

        Raises:
            OptionError: ``word`` is more than one token, the rule leaves the word unchanged, or the mechanism has no
                exact weights (``fbdd``).
        """
        from textveil.mechanisms.distribution import OutputDistribution

        token = self.rule.classify_alone(word)
        if token.type_index is not None:
            entity_type = self.rule.entity_types[token.type_index]
            return OutputDistribution(
                entity_type.surrogates, (1,) * len(entity_type.surrogates), f"<{entity_type.name}>"
            )
        lower = token.case == LOWER or not self.keeps_case
        randomizer = self.mechanism.get_randomizer(lower=lower, whole=token.is_whole)
        return OutputDistribution.from_randomizer(self.bundle.vocabulary, randomizer, self.find_symbol_id(token))

    def preview(self, text: str) -> list[tuple[str, str]]:
        """Return each token and gap of a text with its treatment (see ``Sanitizer.preview``)."""
        treated_parts: list[tuple[str, str]] = []
        gap: str | None = None
        for segment in segmentation.split_text(text, lone_clitics=self.joins_lone_clitics):
            if is_gap(segment):
                is_mark = self.terms.sanitize_punctuation and not segment.isspace()
                treated_parts.append((segment, "punctuation mark" if is_mark else "gap"))
                gap = gap if gap is None else gap + segment
                continue
            tokens = self.rule.classify_token(segment, starts_sentence=self.is_sentence_start(gap))
            treated_parts += [(spelled, self._name_treatment(token)) for spelled, token in tokens]
            gap = ""
        return treated_parts

    def _name_treatment(self, token: ClassifiedToken) -> str:
        if token.role is TokenRole.KEPT:
            return "kept"
        if token.type_index is not None:
            return self.rule.entity_types[token.type_index].name
        return "randomized" if self.find_symbol_id(token) < self.symbol_count else "unknown"
