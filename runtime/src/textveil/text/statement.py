"""The promise of a release of text, in numbers and words: a function of the output and of public parameters only.

A statement never says how many words were changed, unknown or sensitive: that would be a second, unprotected
release (docs/privacy.md).
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from textveil.release import UNBOUNDED, Charge, Loss, PerDistance, PerToken, Statement, counted

#: Kinds of epsilon. Two kinds are never compared, added or printed as one another.
TEXTBOOK, CERTIFIED, PURE_LDP = "textbook metric DP", "certified metric DP", "pure local DP"
#: What a certified epsilon rests on: a bundle or maker that the caller named, or the word of whoever wrote the bundle.
PINNED, NOT_RECOMPUTED = "of the pinned bundle", "certificate not recomputed"

_ALWAYS_VISIBLE = (
    "the number of tokens, their order and their boundaries",
    "that the text was sanitized, and with what parameters",
)
_GAPS_VISIBLE = "white space and punctuation between the words, passed through unchanged"
_CASE_VISIBLE = "the case pattern of each word: lower, Title or UPPER"
_KEPT_VISIBLE = "common words that were kept: what comes out from outside the sensitive set is the original word"
_UNCHANGED_VISIBLE = (
    "words that came out unchanged: a changed word is practically a random one, so those that fit can be believed"
)
_TIMING_VISIBLE = (
    "to whoever can time the device: something about the words, whose draws take from 1.5 to 12 rounds on average"
)
_FLOATING_POINT = (
    "the noise is floating point: the bound is proven for real numbers, and what rounding adds is not known"
)
_FRESH = "repetition: every call and every mention of a word draws afresh, and is one more release of it"


@dataclass(frozen=True)
class Terms:
    """The parameters under which any number of texts is sanitized.

    Attributes:
        mechanism: Name of the mechanism.
        level: Name of the privacy level, or ``None`` for mechanisms that have none.
        epsilon: Loss per token; per unit of scaled distance for metric DP. ``None`` where nothing is learned.
        epsilon_kind: ``TEXTBOOK``, ``CERTIFIED`` or ``PURE_LDP``.
        rounding_slack: Loss per token that integer rounding may add, whatever the distance. 0 for ``fbdd``, of whose
            floating-point rounding nothing is claimed.
        epsilon_0: Additional loss per token where one of two words is common (SanText+, UMLDP), else 0.
        replacement_probability: SanText+'s ``p``, or ``None``.
        case: ``"carry"`` or ``"drop"``.
        sanitize_punctuation: Whether punctuation and white space were sanitized too.
        bundle: Identity of the bundle.
        pure_level: Loss per token whatever the two words are, rounded up; ``None`` where it is not finite
            (``santext+``) or not proven (``fbdd``).
        pinned: Whether the caller named the bundle's identity or its maker. A certified epsilon is what the bundle
            says of itself otherwise: nothing here computes it again.
    """

    mechanism: str
    level: str | None
    epsilon: float
    epsilon_kind: str
    rounding_slack: float
    epsilon_0: float
    replacement_probability: float | None
    case: str
    sanitize_punctuation: bool
    bundle: str
    pure_level: Decimal | None = None
    pinned: bool = True

    @property
    def certificate(self) -> str | None:
        """What a certified epsilon rests on; ``None`` for other kinds."""
        if self.epsilon_kind != CERTIFIED:
            return None
        return PINNED if self.pinned else NOT_RECOMPUTED

    def statement(self, tokens: int) -> "PrivacyStatement":
        """Returns the promise for a text of so many tokens."""
        return PrivacyStatement(self, tokens)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the release shows in spite of the noise, in plain words."""
        visible: list[str] = list(_ALWAYS_VISIBLE)
        if not self.sanitize_punctuation:
            visible.append(_GAPS_VISIBLE)
        if self.case == "carry":
            visible.append(_CASE_VISIBLE)
        if self.mechanism == "santext+":
            visible.append(_KEPT_VISIBLE)
        if self.mechanism in ("santext", "santext+", "fbdd"):
            visible.append(_UNCHANGED_VISIBLE)
        if self.mechanism == "fbdd":
            visible.append(_FLOATING_POINT)
        if self.mechanism in ("santext", "santext+"):
            visible.append(_TIMING_VISIBLE)
        return (*visible, _FRESH)


@dataclass(frozen=True)
class PrivacyStatement(Statement):
    """The promise of one release. Safe to publish beside the output.

    The promise (docs/privacy.md): for any two texts with the same gaps, token boundaries and case patterns, the
    probabilities of any output differ by a factor of at most ``exp`` of the sum over tokens of
    ``epsilon * d + epsilon_0 + rounding_slack``, with ``d`` the scaled distance between the two tokens in that place
    (``epsilon`` alone, without ``d``, for pure local DP). An output word from outside the sensitive set is excepted:
    it reveals its input by design.

    Attributes:
        terms: Mechanism, epsilons and options.
        tokens: Number of tokens of the document; all of them are charged.
    """

    terms: Terms
    tokens: int

    @property
    def identity(self) -> str:
        """Identity of the bundle."""
        return self.terms.bundle

    @property
    def mechanism(self) -> str:
        """Name of the mechanism."""
        return self.terms.mechanism

    @property
    def charge(self) -> Charge:
        """The pure level for every token; none is finite for SanText+ and FBDD."""
        level = self.terms.pure_level
        return UNBOUNDED if level is None else Charge.of(PerToken(level), self.tokens)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The loss of one token: ``epsilon`` by its kind, and what is added whatever the distance."""
        terms = self.terms
        if terms.epsilon_kind == PURE_LDP:
            return (PerToken(Decimal(terms.epsilon)),)
        constant = Decimal(terms.epsilon_0) + Decimal(terms.rounding_slack)
        return (PerDistance(Decimal(terms.epsilon)), *([PerToken(constant)] if constant else []))

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the release shows in spite of the noise, in plain words."""
        return self.terms.not_protected

    @property
    def epsilon_document(self) -> float:
        """Sum of ``epsilon`` over all tokens: two texts that differ in every token by one unit of distance."""
        return self.tokens * self.terms.epsilon

    @property
    def epsilon_0_document(self) -> float:
        """Sum of ``epsilon_0`` and the rounding slack over all tokens."""
        return self.tokens * (self.terms.epsilon_0 + self.terms.rounding_slack)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        terms = self.terms
        return {
            "mechanism": terms.mechanism,
            "level": terms.level,
            "epsilon": terms.epsilon,
            "epsilon_kind": terms.epsilon_kind,
            "certificate": terms.certificate,
            "epsilon_0": terms.epsilon_0,
            "rounding_slack": terms.rounding_slack,
            "replacement_probability": terms.replacement_probability,
            "tokens": self.tokens,
            "epsilon_document": self.epsilon_document,
            "epsilon_0_document": self.epsilon_0_document,
            "case": terms.case,
            "sanitize_punctuation": terms.sanitize_punctuation,
            "bundle": terms.bundle,
            "not_protected": list(terms.not_protected),
        }

    def summary(self) -> str:
        """Returns one line for a terminal; ``d`` stands for the scaled distance of two words."""
        terms = self.terms
        tokens = counted(self.tokens, "token")
        if terms.epsilon == 0:
            return f"{terms.mechanism}: every token is replaced by a uniform draw; {tokens}"
        level = f", level {terms.level}" if terms.level else ""
        distance = "" if terms.epsilon_kind == PURE_LDP else " d"
        kind = terms.epsilon_kind + (", floating point" if terms.mechanism == "fbdd" else "")
        kind += f", {NOT_RECOMPUTED}" if terms.certificate == NOT_RECOMPUTED else ""
        constant = terms.epsilon_0 + terms.rounding_slack
        token_extra = f" + {_rounded_up(constant, 3)}" if constant else ""
        document_extra = f" + {_rounded_up(self.epsilon_0_document, 1)}" if constant else ""
        kept = "; common words that are kept reveal themselves" if terms.replacement_probability is not None else ""
        return (
            f"{terms.mechanism}{level}: epsilon {terms.epsilon:g}{distance}{token_extra} per token "
            f"({kind}); {tokens}: {_figure(self.epsilon_document)}{distance}{document_extra} in all{kept}"
        )


def _rounded_up(value: float, decimals: int) -> str:
    scale = 10**decimals
    return f"{math.ceil(value * scale - 1e-9) / scale:,.{decimals}f}"


def _figure(value: float) -> str:
    return f"{math.ceil(value - 1e-6):,}" if value >= 1000 else f"{value:g}"
