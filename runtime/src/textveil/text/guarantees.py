"""Privacy guarantees of the mechanisms, per randomized token, in figures and sentences.

SanText and FBDD give metric differential privacy. The staircase mechanism and randomized response give pure local
differential privacy (LDP). The sentences are in ``data/statements.json``.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from textveil.formatting import format_count
from textveil.lazy import STATEMENTS, load_data
from textveil.release import UNBOUNDED_SPEND, PerDistance, PerToken, PrivacyLoss, Spend, compute_largest_odds, round_up
from textveil.text.statement import CERTIFIED, PURE_LDP, PrivacyTerms

#: Notes on a certified epsilon: the caller specified the bundle or its signer; or the epsilon is only a claim.
EXPECTED_BUNDLE, NOT_RECOMPUTED = "of the expected bundle", "certificate not recomputed"
_TEXTS, _TOKEN_TEXTS = load_data(STATEMENTS)["words"], load_data(STATEMENTS)["tokens"]
_ORDER_PHRASE: str = load_data(STATEMENTS)["revealed_parts"]["order"]
#: Full name of the privacy notion of the staircase mechanism.
NOTION: str = _TEXTS["guarantee"]
CONSISTENT_NOTION: str = _TEXTS["guarantee_consistent"]


@dataclass(frozen=True, kw_only=True)
class TokenGuarantee:
    """Guarantee of SanText, SanText+, FBDD and randomized response for each token.

    For any two input tokens, the probabilities of the same output differ at most by a factor. For metric differential
    privacy the factor is ``exp(epsilon * d + epsilon_0 + rounding_slack)`` at the scaled distance ``d``. For pure LDP
    it is ``exp(epsilon)``. SanText+ has an exception: an output word that is not on its list of sensitive words reveals
    its input by design.

    Attributes:
        epsilon: Privacy loss per token. For metric differential privacy, the loss per unit of scaled distance between
            two words.
        epsilon_kind: ``TEXTBOOK``, ``CERTIFIED`` or ``PURE_LDP``.
        rounding_slack: Additional loss per token, at any distance, from rounding to integers. 0 for ``fbdd``, for whose
            floating-point rounding no bound is claimed.
        epsilon_0: For SanText+, the additional loss per token if one of the two words is not on the list of sensitive
            words; else 0.
        replacement_probability: The parameter ``p`` of SanText+: the probability that a common word is replaced; else
            ``None``.
        pure_level: Loss per token for any two words, rounded up. ``None`` if the loss is infinite (``santext+``) or not
            proven (``fbdd``).
        pinned: Whether the caller specified the content hash or the signer of the bundle (the folder with the tables).
            If not, a certified epsilon is only the bundle's own claim, because this module does not recompute it.
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
        """Reason to trust, or not to trust, a certified epsilon; ``None`` for epsilons without a certificate.

        ``EXPECTED_BUNDLE``: the certificate comes from a bundle (folder of tables) whose hash or signer the caller
        specified. ``NOT_RECOMPUTED``: nobody verified the certificate.
        """
        if self.epsilon_kind != CERTIFIED:
            return None
        return EXPECTED_BUNDLE if self.pinned else NOT_RECOMPUTED

    @property
    def constant_loss(self) -> float:
        """Privacy loss per token that does not depend on the distance of the words: ``epsilon_0 + rounding_slack``."""
        return self.epsilon_0 + self.rounding_slack

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """The privacy losses of one token: ``epsilon`` (per unit of distance), and the loss at any distance."""
        if self.epsilon_kind == PURE_LDP:
            return (PerToken(Decimal(self.epsilon)),)
        constant = Decimal(self.epsilon_0) + Decimal(self.rounding_slack)
        return (PerDistance(Decimal(self.epsilon)), *([PerToken(constant)] if constant else []))

    def compute_spend(self, tokens: int) -> Spend:
        """Return the privacy loss to record in the privacy ledger for ``tokens`` tokens.

        The loss is unbounded for SanText+ and FBDD.
        """
        return UNBOUNDED_SPEND if self.pure_level is None else Spend.from_loss(PerToken(self.pure_level), tokens)

    def name_privacy_unit(self, terms: PrivacyTerms) -> str:
        """Return ``token``: the epsilon in a privacy statement is the privacy loss of one token."""
        return "token"

    def list_figures(self, terms: PrivacyTerms) -> dict[str, Any]:
        """Return the entries of a JSON privacy statement that are equal for all texts, such as the ``epsilon``."""
        return {
            "epsilon": self.epsilon,
            "epsilon_notion": self.epsilon_kind,
            "certificate": self.certificate_basis,
            "epsilon_0": self.epsilon_0,
            "rounding_slack": self.rounding_slack,
            "replacement_probability": self.replacement_probability,
        }

    def list_totals(self, tokens: int, randomized_words: int) -> dict[str, Any]:
        """Return the entries of a JSON privacy statement that depend on the document.

        They are ``tokens`` (the number of tokens), and the sums of their losses: ``epsilon_text`` and
        ``epsilon_0_text``.
        """
        return {
            "tokens": tokens,
            "epsilon_text": tokens * self.epsilon,
            "epsilon_0_text": tokens * self.constant_loss,
        }

    def list_unprotected(self, terms: PrivacyTerms) -> tuple[str, ...]:
        """Return English sentences about the information that the output reveals in spite of the noise."""
        revealed: list[str] = list(_TOKEN_TEXTS["not_protected"])
        if not terms.sanitize_punctuation:
            revealed += _TOKEN_TEXTS["not_protected_gaps"]
        if terms.mechanism == "santext+":
            revealed.append(_TOKEN_TEXTS["not_protected_kept"])
        if terms.mechanism in ("santext", "santext+", "fbdd"):
            revealed.append(_TOKEN_TEXTS["not_protected_unchanged"])
        if terms.mechanism == "fbdd":
            revealed.append(_TOKEN_TEXTS["not_protected_rounding"])
        if terms.mechanism in ("santext", "santext+"):
            revealed.append(_TOKEN_TEXTS["not_protected_time"])
        return (*revealed, _TOKEN_TEXTS["not_protected_end"])

    def summary(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return one English paragraph for the privacy statement: the loss per token and in total."""
        count = format_count(tokens, "token")
        if self.epsilon == 0:
            return _TOKEN_TEXTS["summary_uniform"].format(mechanism=terms.mechanism, count=count)
        distance = "" if self.epsilon_kind == PURE_LDP else " d"
        constant = f" + {_format_rounded_up(tokens * self.constant_loss, 1)}" if self.constant_loss else ""
        return _TOKEN_TEXTS["summary"].format(
            mechanism=terms.mechanism,
            loss=self._loss_text,
            kind=self._format_epsilon_kind(terms),
            count=count,
            total=f"{_format_figure(tokens * self.epsilon)}{distance}{constant}",
            kept="" if self.replacement_probability is None else _TOKEN_TEXTS["summary_kept"],
            note=_TOKEN_TEXTS["text_note"],
        )

    def format_line(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return one English line for the privacy statement: the unchanged parts, and the loss per token."""
        kept = [] if terms.sanitize_punctuation else [_TOKEN_TEXTS["line_kept_punctuation"]]
        kept += [] if self.replacement_probability is None else [_TOKEN_TEXTS["line_kept_common"]]
        opening, parts = ("line_kept", ", ".join(kept)) if kept else ("line_revealed", _ORDER_PHRASE)
        return _TOKEN_TEXTS["line_uniform" if self.epsilon == 0 else "line"].format(
            kept=_TOKEN_TEXTS[opening].format(parts=parts),
            count=format_count(tokens, "token"),
            loss=self._loss_text,
            kind=self._format_epsilon_kind(terms),
            note=_TOKEN_TEXTS["text_note"],
        )

    @property
    def _loss_text(self) -> str:
        """The privacy loss of one token as text. In the text, ``d`` is the scaled distance of two words."""
        distance = "" if self.epsilon_kind == PURE_LDP else " d"
        constant = f" + {_format_rounded_up(self.constant_loss, 3)}" if self.constant_loss else ""
        return f"epsilon {self.epsilon:g}{distance}{constant}"

    def _format_epsilon_kind(self, terms: PrivacyTerms) -> str:
        kind = self.epsilon_kind + (", floating point" if terms.mechanism == "fbdd" else "")
        kind += f", {NOT_RECOMPUTED}" if self.certificate_basis == NOT_RECOMPUTED else ""
        return kind + ("" if self.epsilon_kind == PURE_LDP else _TOKEN_TEXTS["distance_note"])


@dataclass(frozen=True, kw_only=True)
class StaircaseGuarantee:
    """Guarantee of the staircase mechanism per word, between texts with the same template.

    The template is the part of a text that the output may reveal: unchanged words, gaps, case, and types of entities.

    The staircase mechanism is the extremal mechanism for LDP of Kairouz, Oh and Viswanath (2014). For each randomized
    word that differs, the probabilities of an output differ at most by the factor ``exp(epsilon)``. If equal words get
    equal outputs (option ``consistent``), each distinct word counts once. If two texts differ only in entities of the
    same type, or only in unknown words, the loss is 0 (docs/proofs/staircase.md).

    Attributes:
        epsilon: Epsilon per randomized word (``L`` in the proof).
        share: Fraction of the outputs, by base weight, that get the higher of two probabilities, as stored in the
            bundle (the folder with the tables); ``h`` in the proof.
        near: Probability that the output is one of the nearest words of the input, rounded up (``p_near``). A bundle
            may have other outputs for words in lower case than for words with capitals. ``near`` and ``guess_gain`` are
            then the larger of the two values.
        guess_gain: Factor by which the output makes a correct guess of the word more probable, rounded up (``C``). It
            is an average over the outputs, for the attacker's prior knowledge with the largest average.
    """

    epsilon: Decimal
    share: str
    near: float
    guess_gain: float

    @property
    def epsilon_kind(self) -> str:
        """``PURE_LDP``: epsilon follows the definition of pure local differential privacy."""
        return PURE_LDP

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """The privacy loss of one randomized word, as a tuple with a single entry."""
        return (PerToken(self.epsilon),)

    @property
    def largest_odds(self) -> int:
        """``exp(epsilon)``, rounded up: the largest ratio of an output's probabilities under two different words."""
        return compute_largest_odds(self.epsilon)

    def compute_spend(self, tokens: int) -> Spend:
        """Return the privacy loss to record in the privacy ledger for ``tokens`` words.

        If equal words get equal outputs, the caller counts each distinct word once.
        """
        return Spend.from_loss(PerToken(self.epsilon), tokens)

    def name_privacy_unit(self, terms: PrivacyTerms) -> str:
        """Return the unit to which the epsilon applies: ``randomized word`` or ``distinct randomized word``."""
        return _TEXTS["unit_consistent" if terms.consistent else "unit"]

    def list_figures(self, terms: PrivacyTerms) -> dict[str, Any]:
        """Return the entries of a JSON privacy statement that are equal for all texts, such as ``epsilon_per_word``."""
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
        """Return the entries of a JSON privacy statement that depend on the document.

        They are ``randomized_words`` (the number of randomized words) and ``epsilon_text``, the sum of their epsilons.
        """
        return {"randomized_words": tokens, "epsilon_text": float(tokens * self.epsilon)}

    def list_unprotected(self, terms: PrivacyTerms) -> tuple[str, ...]:
        """Return English sentences about the information that the output reveals in spite of the noise."""
        revealed = ", ".join(terms.revealed_parts)
        *items, last = (item.format(revealed=revealed) for item in _TEXTS["not_protected"])
        if terms.protect == "words":
            items.append(_TEXTS["not_protected_style"])
        if terms.consistent:
            items.append(_TEXTS["not_protected_equal"])
        return (*items, last)

    def summary(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return one English paragraph for the privacy statement: epsilon per word and in total."""
        return _TEXTS["summary"].format(
            epsilon=_format_decimal(self.epsilon),
            unit=terms.privacy_unit,
            odds=f"{self.largest_odds:,}",
            revealed=", ".join(terms.revealed_parts),
            count=format_count(tokens, terms.privacy_unit),
            total=_format_decimal(tokens * self.epsilon),
        )

    def format_line(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return one English line for the privacy statement: the treatment of words, and epsilon per word."""
        line = _TEXTS["lines"][f"{terms.protect}_with_punctuation" if terms.sanitize_punctuation else terms.protect]
        suffix = "_consistent" if terms.consistent else ""
        count = format_count(tokens, _TEXTS[f"line_count{suffix}"])
        return line.format(count=count, epsilon=_format_decimal(self.epsilon), unit=_TEXTS[f"line_unit{suffix}"])


def round_guess_gain(exact: float) -> float:
    """Round up to one decimal the factor by which an output makes an attacker's guess more likely."""
    return round_up(exact * (1 + 1e-12), 1)


def _format_rounded_up(value: float, decimals: int) -> str:
    scale = 10**decimals
    return f"{math.ceil(value * scale - 1e-9) / scale:,.{decimals}f}"


def _format_figure(value: float) -> str:
    return f"{math.ceil(value - 1e-6):,}" if value >= 1000 else f"{value:g}"


def _format_decimal(value: Decimal) -> str:
    return f"{value.normalize():,f}" if value else "0"
