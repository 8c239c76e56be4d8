"""What one set of options stands for: a rule that says what is drawn, a mechanism that draws it, and the terms."""

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
    """All words that can be printed: symbols of the vocabulary by id, then the outputs of each kind.

    Attributes:
        lower: All words in lower case.
        starts: Where the outputs of each kind begin.
        counts: How many each kind has.
    """

    lower: NDArray[np.object_]
    starts: Integers
    counts: Integers

    @classmethod
    def of(cls, vocabulary: Sequence[str], kinds: Sequence[Kind]) -> "Words":
        """Returns the words of a vocabulary and of the outputs of kinds."""
        counts = np.array([len(kind.outputs) for kind in kinds], dtype=np.int64)
        every = chain(vocabulary, *(kind.outputs for kind in kinds))
        lower = np.fromiter(every, dtype=object, count=len(vocabulary) + int(counts.sum()))
        return cls(lower, len(vocabulary) + np.cumsum(counts) - counts, counts)

    def printed(self, words: Integers, cases: Integers) -> NDArray[np.object_]:
        """Returns words, each in its case. No other spelling is held: most words of a bundle are never printed."""
        found = self.lower[words]
        for case in (TITLE, UPPER):
            places = np.flatnonzero(cases == case)
            found[places] = [apply_case(word, case) for word in found[places].tolist()]
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """How texts are rewritten under one set of options.

    Attributes:
        bundle: Vocabulary.
        rule: What is shown, replaced or drawn.
        mechanism: Draws what is drawn.
        words: What is printed.
        terms: What statements say.
        split: Whether a document above the cap of consistent draws is split, or refused.
    """

    bundle: TextBundle
    rule: Rule
    mechanism: "Mechanism"
    words: Words
    terms: Terms
    split: bool = False

    @property
    def keeps_case(self) -> bool:
        """Whether outputs are written in the case of their tokens."""
        return self.terms.case == "carry" and not self.terms.sanitize_punctuation

    @property
    def keeps_lone_clitics(self) -> bool:
        """Whether a clitic behind a blank is kept. Where punctuation is sanitized, it would show its apostrophe."""
        return self.rule.shows_clitics and not self.terms.sanitize_punctuation

    def symbol(self, token: Token) -> int:
        """Returns the input id of a drawn token."""
        return self.bundle.symbols if token.key is None else self.bundle.ids.get(token.key, self.bundle.symbols)

    def starts_sentence(self, gap: str | None) -> bool:
        """Tells whether a token starts a sentence, by the whole gap before it; ``None`` for the first one of a text.

        Where punctuation is sanitized the first one alone does: what becomes of a word must not tell the marks before.
        """
        return gap is None if self.terms.sanitize_punctuation else sentence_start(gap)

    def distribution(self, word: str) -> "Distribution":
        """Returns the exact output distribution of one word inside a sentence.

        Raises:
            OptionError: It is more than one token or is shown, or the mechanism has no weights (``fbdd``).
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
        """Returns each piece of a text with what becomes of it (``Sanitizer.preview``)."""
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
