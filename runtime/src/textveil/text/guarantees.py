"""Privacy guarantees per randomized token, and the sentences that state them.

SanText and FBDD give metric DP; the staircase mechanism and randomized response give pure local DP.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from textveil.lazy import STATEMENTS, load_data
from textveil.release import (
    UNBOUNDED_SPEND,
    PerDistance,
    PerToken,
    PrivacyLoss,
    Spend,
    compute_largest_odds,
    format_count,
    round_up,
)
from textveil.text.statement import CERTIFIED, PURE_LDP, PrivacyTerms

#: Basis of a certified epsilon: a bundle or signer that the caller specified, or the unverified certificate.
EXPECTED_BUNDLE, NOT_RECOMPUTED = "of the pinned bundle", "certificate not recomputed"
#: Full name of the privacy notion of the staircase mechanism.
_TEXTS, _PARTS = load_data(STATEMENTS)["words"], load_data(STATEMENTS)["visible"]
NOTION: str = _TEXTS["notion"]
CONSISTENT_NOTION: str = _TEXTS["consistent_notion"]

_ALWAYS_REVEALED = (
    "the number of tokens, their order and their boundaries",
    "that the text was sanitized, and with what parameters",
)
_GAPS_REVEALED = "white space and punctuation between the words, passed through unchanged"
_CASE_REVEALED = "the case pattern of each word: lower, Title or UPPER"
_KEPT_REVEALED = "common words that were kept: what comes out from outside the sensitive set is the original word"
_UNCHANGED_REVEALED = (
    "words that came out unchanged: a changed word is practically a random one, so those that fit can be believed"
)
_TIMING_REVEALED = (
    "to whoever can time the device: something about the words, whose draws take from 1.5 to 12 rounds on average"
)
_FLOATING_POINT = (
    "the noise is floating point: the bound is proven for real numbers, and what rounding adds is not known"
)
#: Public part of a text whose words and punctuation are all randomized.
_WORD_ORDER_PHRASE = _PARTS["order"]
_WHOLE_TEXT_NOTE = "The text as a whole is not protected."
_DISTANCE_NOTE = "; d is the distance of two words"
_REPETITION_NOTE = "repetition: every call and every mention of a word draws afresh, and is one more release of it"


@dataclass(frozen=True, kw_only=True)
class TokenGuarantee:
    """Guarantee of SanText, SanText+, FBDD and randomized response for each token.

    For two tokens at the scaled distance ``d`` the odds of any output differ by a factor of at most ``exp`` of
    ``epsilon * d + epsilon_0 + rounding_slack`` (``epsilon`` alone for pure local DP). An output word outside
    SanText+'s sensitive set is an exception: it reveals its input by design.

    Attributes:
        epsilon: Loss per token; per unit of scaled distance for metric DP.
        epsilon_kind: ``TEXTBOOK``, ``CERTIFIED`` or ``PURE_LDP``.
        rounding_slack: Additional loss per token, at any distance, from integer rounding. 0 for ``fbdd``, for whose
            floating-point rounding no bound is claimed.
        epsilon_0: Additional loss per token where one of two words is common (SanText+, UMLDP), else 0.
        replacement_probability: SanText+'s ``p``, or ``None``.
        pure_level: Loss per token for any two words, rounded up; ``None`` where it is infinite (``santext+``) or not
            proven (``fbdd``).
        pinned: Whether the caller specified the bundle's content hash or its signer. Otherwise a certified epsilon is
            the bundle's own claim: this module does not recompute it.
    """

    epsilon: float
    epsilon_kind: str
    rounding_slack: float = 0.0
    epsilon_0: float = 0.0
    replacement_probability: float | None = None
    pure_level: Decimal | None = None
    pinned: bool = True

    @property
    def certificate_basis(self) -> str | None:
        """Basis of a certified epsilon; ``None`` for other kinds."""
        if self.epsilon_kind != CERTIFIED:
            return None
        return EXPECTED_BUNDLE if self.pinned else NOT_RECOMPUTED

    @property
    def constant_loss(self) -> float:
        """Additional loss per token at any distance."""
        return self.epsilon_0 + self.rounding_slack

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """Losses: ``epsilon`` by its kind, and the constant loss at any distance."""
        if self.epsilon_kind == PURE_LDP:
            return (PerToken(Decimal(self.epsilon)),)
        constant = Decimal(self.epsilon_0) + Decimal(self.rounding_slack)
        return (PerDistance(Decimal(self.epsilon)), *([PerToken(constant)] if constant else []))

    def compute_spend(self, tokens: int) -> Spend:
        """Return the spend: the pure level per token; unbounded for SanText+ and FBDD."""
        return UNBOUNDED_SPEND if self.pure_level is None else Spend.from_loss(PerToken(self.pure_level), tokens)

    def name_privacy_unit(self, terms: PrivacyTerms) -> str:
        """Return the privacy unit, for ``PrivacyGuarantee.name_privacy_unit``."""
        return "token"

    def list_figures(self, terms: PrivacyTerms) -> dict[str, Any]:
        """Return the figures of the guarantee, for ``PrivacyGuarantee.list_figures``."""
        return {
            "epsilon": self.epsilon,
            "epsilon_notion": self.epsilon_kind,
            "certificate": self.certificate_basis,
            "epsilon_0": self.epsilon_0,
            "rounding_slack": self.rounding_slack,
            "replacement_probability": self.replacement_probability,
        }

    def list_totals(self, tokens: int, randomized_words: int) -> dict[str, Any]:
        """Return the token count and the summed losses of a document, for ``PrivacyGuarantee.list_totals``."""
        return {
            "tokens": tokens,
            "epsilon_text": tokens * self.epsilon,
            "epsilon_0_text": tokens * self.constant_loss,
        }

    def list_unprotected(self, terms: PrivacyTerms) -> tuple[str, ...]:
        """Return the sentences on unprotected information, for ``PrivacyGuarantee.list_unprotected``."""
        revealed: list[str] = list(_ALWAYS_REVEALED)
        if not terms.sanitize_punctuation:
            revealed += [_GAPS_REVEALED, _CASE_REVEALED]
        if terms.mechanism == "santext+":
            revealed.append(_KEPT_REVEALED)
        if terms.mechanism in ("santext", "santext+", "fbdd"):
            revealed.append(_UNCHANGED_REVEALED)
        if terms.mechanism == "fbdd":
            revealed.append(_FLOATING_POINT)
        if terms.mechanism in ("santext", "santext+"):
            revealed.append(_TIMING_REVEALED)
        return (*revealed, _REPETITION_NOTE)

    def summary(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return the summary paragraph, for ``PrivacyGuarantee.summary``."""
        token_count = format_count(tokens, "token")
        if self.epsilon == 0:
            return f"{terms.mechanism}: every token is replaced by a uniform draw; {token_count}"
        distance, distance_note = ("", "") if self.epsilon_kind == PURE_LDP else (" d", _DISTANCE_NOTE)
        document_extra = f" + {_format_rounded_up(tokens * self.constant_loss, 1)}" if self.constant_loss else ""
        kept_note = "; common words that are kept reveal themselves" if self.replacement_probability is not None else ""
        return (
            f"{terms.mechanism}: {self._loss_text} per token "
            f"({self._format_epsilon_kind(terms)}{distance_note}); {token_count}: "
            f"{_format_figure(tokens * self.epsilon)}{distance}{document_extra} "
            f"in all{kept_note}. {_WHOLE_TEXT_NOTE}"
        )

    def format_line(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return the one-line summary, for ``PrivacyGuarantee.format_line``."""
        kept = [] if terms.sanitize_punctuation else ["punctuation"]
        kept += ["common words that a coin keeps"] if self.replacement_probability is not None else []
        opening = f"Shown: {', '.join(kept) or _WORD_ORDER_PHRASE}. {format_count(tokens, 'token')} drawn"
        if self.epsilon == 0:
            return f"{opening} uniformly, whatever the text says."
        distance = "" if self.epsilon_kind == PURE_LDP else _DISTANCE_NOTE
        loss = f"{self._loss_text}{_format_each(tokens)}"
        return f"{opening} at {loss} ({self._format_epsilon_kind(terms)}{distance}). {_WHOLE_TEXT_NOTE}"

    @property
    def _loss_text(self) -> str:
        """Loss of one token as text; ``d`` denotes the scaled distance of two words."""
        distance = "" if self.epsilon_kind == PURE_LDP else " d"
        constant = f" + {_format_rounded_up(self.constant_loss, 3)}" if self.constant_loss else ""
        return f"epsilon {self.epsilon:g}{distance}{constant}"

    def _format_epsilon_kind(self, terms: PrivacyTerms) -> str:
        kind = self.epsilon_kind + (", floating point" if terms.mechanism == "fbdd" else "")
        return kind + (f", {NOT_RECOMPUTED}" if self.certificate_basis == NOT_RECOMPUTED else "")


@dataclass(frozen=True, kw_only=True)
class StaircaseGuarantee:
    """Guarantee of the staircase mechanism per word, between texts of the same template.

    The staircase mechanism is the extremal mechanism for local DP of Kairouz, Oh and Viswanath (2014). The odds of any
    output differ by a factor of at most ``exp(L)`` for each randomized word that differs (with ``consistent``: each
    distinct randomized word). A change between two surrogates of one pool, or between two unknown words, adds no loss
    (docs/proofs/staircase.md).

    Attributes:
        epsilon: ``L``: epsilon per randomized word.
        share: ``h``: the budget as a fraction of the base, as stored in the bundle.
        near: ``p_near``: probability that the output is in the word's neighborhood, rounded up. Where outputs depend on
            the case of their slot, the larger of two values; the same holds for ``guess_gain``.
        guess_gain: ``C``: largest average growth of the probability of a correct guess, rounded up.
    """

    epsilon: Decimal
    share: str
    near: float
    guess_gain: float

    @property
    def epsilon_kind(self) -> str:
        """Kind of the epsilon, for ``PrivacyGuarantee.epsilon_kind``."""
        return PURE_LDP

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """Losses, for ``PrivacyGuarantee.losses``."""
        return (PerToken(self.epsilon),)

    @property
    def largest_odds(self) -> int:
        """``e**L``, rounded up: the largest factor between the odds of an output for two words."""
        return compute_largest_odds(self.epsilon)

    def compute_spend(self, tokens: int) -> Spend:
        """Return the spend: ``L`` per word (with ``consistent``: per distinct word)."""
        return Spend.from_loss(PerToken(self.epsilon), tokens)

    def name_privacy_unit(self, terms: PrivacyTerms) -> str:
        """Return the privacy unit, for ``PrivacyGuarantee.name_privacy_unit``."""
        return _TEXTS["consistent_unit" if terms.consistent else "unit"]

    def list_figures(self, terms: PrivacyTerms) -> dict[str, Any]:
        """Return the figures of the guarantee, for ``PrivacyGuarantee.list_figures``."""
        return {
            "epsilon_per_word": float(self.epsilon),
            "epsilon_notion": PURE_LDP,
            "guarantee": CONSISTENT_NOTION if terms.consistent else NOTION,
            "share": self.share,
            "neighborhood_probability": self.near,
            "guess_gain": self.guess_gain,
            "max_odds_ratio": self.largest_odds,
            "protect": terms.protect,
            "revealed_parts": list(terms.revealed_parts),
            "consistent": terms.consistent,
        }

    def list_totals(self, tokens: int, randomized_words: int) -> dict[str, Any]:
        """Return the word count and the summed epsilon of a document, for ``PrivacyGuarantee.list_totals``."""
        return {"randomized_words": tokens, "epsilon_text": float(tokens * self.epsilon)}

    def list_unprotected(self, terms: PrivacyTerms) -> tuple[str, ...]:
        """Return the sentences on unprotected information, for ``PrivacyGuarantee.list_unprotected``."""
        visible = ", ".join(terms.revealed_parts)
        *items, last = (item.format(visible=visible) for item in _TEXTS["not_protected"])
        if terms.protect == "words":
            items.append(_TEXTS["habits"])
        if terms.consistent:
            items.append(_TEXTS["cipher"])
        return (*items, last)

    def summary(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return the summary paragraph, for ``PrivacyGuarantee.summary``."""
        return _TEXTS["summary"].format(
            epsilon=_with_unit(self.epsilon),
            unit=terms.privacy_unit,
            odds=f"{self.largest_odds:,}",
            visible=", ".join(terms.revealed_parts),
            mentions=format_count(tokens, terms.privacy_unit),
            document=_with_unit(tokens * self.epsilon),
        )

    def format_line(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return the one-line summary, for ``PrivacyGuarantee.format_line``."""
        line = _TEXTS["lines"][f"{terms.protect}_bare" if terms.sanitize_punctuation else terms.protect]
        words = format_count(tokens, _TEXTS["other_distinct" if terms.consistent else "other"])
        return line.format(words=words, epsilon=_with_unit(self.epsilon), each=_format_each(tokens))


def round_guess_gain(exact: float) -> float:
    """Return ``C`` rounded up to one decimal."""
    return round_up(exact * (1 + 1e-12), 1)


def _format_rounded_up(value: float, decimals: int) -> str:
    scale = 10**decimals
    return f"{math.ceil(value * scale - 1e-9) / scale:,.{decimals}f}"


def _format_figure(value: float) -> str:
    return f"{math.ceil(value - 1e-6):,}" if value >= 1000 else f"{value:g}"


def _format_each(count: int) -> str:
    return "" if count == 1 else " each"


def _with_unit(value: Decimal) -> str:
    return f"{_format_decimal(value)} {'nat' if value == 1 else 'nats'}"


def _format_decimal(value: Decimal) -> str:
    return f"{value.normalize():,f}" if value else "0"
