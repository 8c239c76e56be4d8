"""Plan of a call: rule, mechanism, printable words and privacy terms."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.text import TextBundle
from textveil.mechanisms.integer_sampling import Integers
from textveil.text import segmentation
from textveil.text.segmentation import LOWER, TITLE, UPPER, apply_case, is_gap
from textveil.text.skeleton import Kind, Role, Rule, Token, sentence_start
from textveil.text.statement import Terms

if TYPE_CHECKING:
    from textveil.mechanisms.distribution import Distribution
    from textveil.mechanisms.protocol import Mechanism


class Words(NamedTuple):
    """All printable words: symbols of the vocabulary by id, then the surrogates of each type.

    Attributes:
        lower: All words in lower case.
        starts: Index of the first surrogate of each type.
        counts: Number of surrogates of each type.
    """

    lower: NDArray[np.object_]
    starts: Integers
    counts: Integers

    @classmethod
    def of(cls, vocabulary: Sequence[str], kinds: Sequence[Kind]) -> "Words":
        """Return the words of a vocabulary and the surrogates of entity types."""
        counts = np.array([len(kind.outputs) for kind in kinds], dtype=np.int64)
        every = chain(vocabulary, *(kind.outputs for kind in kinds))
        lower = np.fromiter(every, dtype=object, count=len(vocabulary) + int(counts.sum()))
        return cls(lower, len(vocabulary) + np.cumsum(counts) - counts, counts)

    def printed(self, words: Integers, cases: Integers) -> NDArray[np.object_]:
        """Return words, each in its case.

        The object stores no other spelling than lower case: most words of a bundle are never printed.
        """
        found = self.lower[words]
        for case in (TITLE, UPPER):
            places = np.flatnonzero(cases == case)
            found[places] = [apply_case(word, case) for word in found[places].tolist()]
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """Plan for all texts under one set of options.

    Attributes:
        bundle: The bundle, with its vocabulary.
        rule: Classifies tokens as kept, replaced or randomized.
        mechanism: Samples the outputs of randomized tokens.
        words: The printable words.
        terms: Privacy terms, for statements.
        split: Whether a document above the cap of consistent outputs is split; otherwise it is an error.
    """

    bundle: TextBundle
    rule: Rule
    mechanism: "Mechanism"
    words: Words
    terms: Terms
    split: bool = False

    @property
    def keeps_case(self) -> bool:
        """Whether outputs get the case of their tokens."""
        return self.terms.case == "carry" and not self.terms.sanitize_punctuation

    @property
    def keeps_lone_clitics(self) -> bool:
        """Whether a clitic after a blank is kept: never where punctuation is sanitized.

        There a kept clitic would reveal its apostrophe.
        """
        return self.rule.shows_clitics and not self.terms.sanitize_punctuation

    def symbol(self, token: Token) -> int:
        """Return the input id of a randomized token."""
        return self.bundle.symbols if token.key is None else self.bundle.ids.get(token.key, self.bundle.symbols)

    def starts_sentence(self, gap: str | None) -> bool:
        """Return whether a token starts a sentence, given the whole gap before it.

        Where punctuation is sanitized only the first token does: the treatment of a word must not reveal the marks
        before it.

        Args:
            gap: The gap; ``None`` for the first token of a text.
        """
        return gap is None if self.terms.sanitize_punctuation else sentence_start(gap)

    def distribution(self, word: str) -> "Distribution":
        """Return the exact output distribution of one word inside a sentence.

        Raises:
            OptionError: The text is more than one token, the rule keeps it, or the mechanism has no weights (``fbdd``).
        """
        from textveil.mechanisms.distribution import Distribution

        token = self.rule.alone(word)
        if token.kind is not None:
            kind = self.rule.lists[token.kind]
            return Distribution(kind.outputs, (1,) * len(kind.outputs), f"<{kind.name}>")
        lower = token.case == LOWER or not self.keeps_case
        channel = self.mechanism.channel_at(lower=lower, whole=token.whole)
        return Distribution.of(self.bundle.vocabulary, channel, self.symbol(token))

    def preview(self, text: str) -> list[tuple[str, str]]:
        """Return each token and gap of a text with its treatment (see ``Sanitizer.preview``)."""
        found: list[tuple[str, str]] = []
        gap: str | None = None
        for segment in segmentation.segments(text, lone_clitics=self.keeps_lone_clitics):
            if is_gap(segment):
                bare = self.terms.sanitize_punctuation and not segment.isspace()
                found.append((segment, "punctuation mark" if bare else "gap"))
                gap = gap if gap is None else gap + segment
                continue
            pieces = self.rule.tokens(segment, starts_sentence=self.starts_sentence(gap))
            found += [(spelled, self._becomes(token)) for spelled, token in pieces]
            gap = ""
        return found

    def _becomes(self, token: Token) -> str:
        if token.role is Role.SHOWN:
            return "visible"
        if token.kind is not None:
            return self.rule.lists[token.kind].name
        return "drawn" if self.symbol(token) < self.bundle.symbols else "unknown"
