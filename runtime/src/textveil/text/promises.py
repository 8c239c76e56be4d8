"""Privacy guarantees per randomized token, and the sentences that state them.

SanText and FBDD give metric DP; the staircase mechanism and randomized response give pure local DP.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from textveil.lazy import STATEMENTS, load_data
from textveil.release import UNBOUNDED, Charge, Loss, PerDistance, PerToken, counted, largest_odds, round_up
from textveil.text.statement import CERTIFIED, PURE_LDP, Terms

#: Basis of a certified epsilon: a bundle or signer that the caller specified, or the unverified certificate.
PINNED, NOT_RECOMPUTED = "of the pinned bundle", "certificate not recomputed"
#: Full name of the privacy notion of the staircase mechanism.
_TEXTS, _PARTS = load_data(STATEMENTS)["words"], load_data(STATEMENTS)["visible"]
NOTION: str = _TEXTS["notion"]
CONSISTENT_NOTION: str = _TEXTS["consistent_notion"]

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
#: Public part of a text whose words and punctuation are all randomized.
_ORDER = _PARTS["order"]
_WHOLE = "The text as a whole is not protected."
_DISTANCE = "; d is the distance of two words"
_FRESH = "repetition: every call and every mention of a word draws afresh, and is one more release of it"


@dataclass(frozen=True, kw_only=True)
class TokenPromise:
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
    def certificate(self) -> str | None:
        """Basis of a certified epsilon; ``None`` for other kinds."""
        if self.epsilon_kind != CERTIFIED:
            return None
        return PINNED if self.pinned else NOT_RECOMPUTED

    @property
    def constant(self) -> float:
        """Additional loss per token at any distance."""
        return self.epsilon_0 + self.rounding_slack

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Losses: ``epsilon`` by its kind, and the constant loss at any distance."""
        if self.epsilon_kind == PURE_LDP:
            return (PerToken(Decimal(self.epsilon)),)
        constant = Decimal(self.epsilon_0) + Decimal(self.rounding_slack)
        return (PerDistance(Decimal(self.epsilon)), *([PerToken(constant)] if constant else []))

    def charge(self, tokens: int) -> Charge:
        """Return the spend: the pure level per token; unbounded for SanText+ and FBDD."""
        return UNBOUNDED if self.pure_level is None else Charge.of(PerToken(self.pure_level), tokens)

    def unit(self, terms: Terms) -> str:
        """Return the privacy unit, for ``Promise.unit``."""
        return "token"

    def facts(self, terms: Terms) -> dict[str, Any]:
        """Return the figures of the guarantee, for ``Promise.facts``."""
        return {
            "epsilon": self.epsilon,
            "epsilon_kind": self.epsilon_kind,
            "certificate": self.certificate,
            "epsilon_0": self.epsilon_0,
            "rounding_slack": self.rounding_slack,
            "replacement_probability": self.replacement_probability,
        }

    def totals(self, tokens: int, drawn: int) -> dict[str, Any]:
        """Return the token count and the summed losses of a document, for ``Promise.totals``."""
        return {
            "tokens": tokens,
            "epsilon_document": tokens * self.epsilon,
            "epsilon_0_document": tokens * self.constant,
        }

    def not_protected(self, terms: Terms) -> tuple[str, ...]:
        """Return the sentences on unprotected information, for ``Promise.not_protected``."""
        visible: list[str] = list(_ALWAYS_VISIBLE)
        if not terms.sanitize_punctuation:
            visible.append(_GAPS_VISIBLE)
        if terms.case == "carry":
            visible.append(_CASE_VISIBLE)
        if terms.mechanism == "santext+":
            visible.append(_KEPT_VISIBLE)
        if terms.mechanism in ("santext", "santext+", "fbdd"):
            visible.append(_UNCHANGED_VISIBLE)
        if terms.mechanism == "fbdd":
            visible.append(_FLOATING_POINT)
        if terms.mechanism in ("santext", "santext+"):
            visible.append(_TIMING_VISIBLE)
        return (*visible, _FRESH)

    def summary(self, terms: Terms, tokens: int, drawn: int = 0) -> str:
        """Return the summary paragraph, for ``Promise.summary``."""
        charged = counted(tokens, "token")
        if self.epsilon == 0:
            return f"{terms.mechanism}: every token is replaced by a uniform draw; {charged}"
        distance, explained = ("", "") if self.epsilon_kind == PURE_LDP else (" d", _DISTANCE)
        document_extra = f" + {_rounded_up(tokens * self.constant, 1)}" if self.constant else ""
        kept = "; common words that are kept reveal themselves" if self.replacement_probability is not None else ""
        return (
            f"{terms.mechanism}: {self._loss} per token "
            f"({self._kind(terms)}{explained}); {charged}: {_figure(tokens * self.epsilon)}{distance}{document_extra} "
            f"in all{kept}. {_WHOLE}"
        )

    def line(self, terms: Terms, tokens: int, drawn: int = 0) -> str:
        """Return the one-line summary, for ``Promise.line``."""
        shown = [] if terms.sanitize_punctuation else ["punctuation"]
        shown += ["common words that a coin keeps"] if self.replacement_probability is not None else []
        tokens_drawn = f"Shown: {', '.join(shown) or _ORDER}. {counted(tokens, 'token')} drawn"
        if self.epsilon == 0:
            return f"{tokens_drawn} uniformly, whatever the text says."
        distance = "" if self.epsilon_kind == PURE_LDP else _DISTANCE
        return f"{tokens_drawn} at {self._loss}{_each(tokens)} ({self._kind(terms)}{distance}). {_WHOLE}"

    @property
    def _loss(self) -> str:
        """Loss of one token as text; ``d`` denotes the scaled distance of two words."""
        distance = "" if self.epsilon_kind == PURE_LDP else " d"
        constant = f" + {_rounded_up(self.constant, 3)}" if self.constant else ""
        return f"epsilon {self.epsilon:g}{distance}{constant}"

    def _kind(self, terms: Terms) -> str:
        kind = self.epsilon_kind + (", floating point" if terms.mechanism == "fbdd" else "")
        return kind + (f", {NOT_RECOMPUTED}" if self.certificate == NOT_RECOMPUTED else "")


@dataclass(frozen=True, kw_only=True)
class MentionPromise:
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
        """Kind of the epsilon, for ``Promise.epsilon_kind``."""
        return PURE_LDP

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Losses, for ``Promise.losses``."""
        return (PerToken(self.epsilon),)

    @property
    def largest_odds(self) -> int:
        """``e**L``, rounded up: the largest factor between the odds of an output for two words."""
        return largest_odds(self.epsilon)

    def charge(self, tokens: int) -> Charge:
        """Return the spend: ``L`` per word (with ``consistent``: per distinct word)."""
        return Charge.of(PerToken(self.epsilon), tokens)

    def unit(self, terms: Terms) -> str:
        """Return the privacy unit, for ``Promise.unit``."""
        return _TEXTS["consistent_unit" if terms.consistent else "unit"]

    def facts(self, terms: Terms) -> dict[str, Any]:
        """Return the figures of the guarantee, for ``Promise.facts``."""
        return {
            "epsilon": float(self.epsilon),
            "epsilon_kind": PURE_LDP,
            "notion": CONSISTENT_NOTION if terms.consistent else NOTION,
            "share": self.share,
            "near": self.near,
            "guess_gain": self.guess_gain,
            "largest_odds": self.largest_odds,
            "protect": terms.protect,
            "visible": list(terms.visible_parts),
            "consistent": terms.consistent,
        }

    def totals(self, tokens: int, drawn: int) -> dict[str, Any]:
        """Return the word count and the summed epsilon of a document, for ``Promise.totals``."""
        return {"mentions": tokens, "epsilon_document": float(tokens * self.epsilon)}

    def not_protected(self, terms: Terms) -> tuple[str, ...]:
        """Return the sentences on unprotected information, for ``Promise.not_protected``."""
        visible = ", ".join(terms.visible_parts)
        *items, last = (item.format(visible=visible) for item in _TEXTS["not_protected"])
        if terms.protect == "words":
            items.append(_TEXTS["habits"])
        if terms.consistent:
            items.append(_TEXTS["cipher"])
        return (*items, last)

    def summary(self, terms: Terms, tokens: int, drawn: int = 0) -> str:
        """Return the summary paragraph, for ``Promise.summary``."""
        return _TEXTS["summary"].format(
            epsilon=_with_unit(self.epsilon),
            unit=terms.unit,
            odds=f"{self.largest_odds:,}",
            visible=", ".join(terms.visible_parts),
            mentions=counted(tokens, terms.unit),
            document=_with_unit(tokens * self.epsilon),
        )

    def line(self, terms: Terms, tokens: int, drawn: int = 0) -> str:
        """Return the one-line summary, for ``Promise.line``."""
        line = _TEXTS["lines"][f"{terms.protect}_bare" if terms.sanitize_punctuation else terms.protect]
        words = counted(tokens, _TEXTS["other_distinct" if terms.consistent else "other"])
        return line.format(words=words, epsilon=_with_unit(self.epsilon), each=_each(tokens))


def guess_gain(exact: float) -> float:
    """Return ``C`` rounded up to one decimal."""
    return round_up(exact * (1 + 1e-12), 1)


def _rounded_up(value: float, decimals: int) -> str:
    scale = 10**decimals
    return f"{math.ceil(value * scale - 1e-9) / scale:,.{decimals}f}"


def _figure(value: float) -> str:
    return f"{math.ceil(value - 1e-6):,}" if value >= 1000 else f"{value:g}"


def _each(count: int) -> str:
    return "" if count == 1 else " each"


def _with_unit(value: Decimal) -> str:
    return f"{_plain(value)} {'nat' if value == 1 else 'nats'}"


def _plain(value: Decimal) -> str:
    return f"{value.normalize():,f}" if value else "0"
