"""Plans that randomize every token: SanText, SanText+, FBDD and randomized response."""

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

import numpy as np

from textveil.bundle.parts import Level
from textveil.bundle.text import TextBundle
from textveil.errors import OptionError, UnknownMechanism
from textveil.mechanisms.baselines.fbdd import Fbdd
from textveil.mechanisms.baselines.randomized_response import RandomizedResponse
from textveil.mechanisms.baselines.santext import SanText, rounding_slack
from textveil.mechanisms.baselines.santext_plus import SanTextPlus, mixture_epsilon
from textveil.mechanisms.baselines.table import KEPT
from textveil.mechanisms.coin import ReplacementCoin
from textveil.mechanisms.protocol import Everywhere, Mechanism
from textveil.text.levels import epsilon_text, find_level, label
from textveil.text.options import number
from textveil.text.promises import TokenPromise
from textveil.text.rewrite import DrawPlan, Words
from textveil.text.skeleton.everything import EveryPieceRule, EverythingRule
from textveil.text.statement import PURE_LDP, TEXTBOOK, Terms

_OF_STAIRCASE = ("protect", "consistent", "consistent_cap", "split")
#: The mechanism, the epsilon that selects its level, and its guarantee.
_Chosen = tuple[Mechanism, str | None, TokenPromise]


class TokenPlans:
    """Factory of all plans of one bundle that randomize every token.

    Args:
        bundle: The bundle.
    """

    def __init__(self, bundle: TextBundle) -> None:
        self.bundle = bundle
        printed = bundle.vocabulary
        self.rule: EverythingRule | EveryPieceRule = EverythingRule(bundle.ids)
        if bundle.tokens == "wordpiece":
            self.rule = EveryPieceRule.of(bundle.vocabulary, bundle.ids)
            printed = [symbol.removeprefix("##") for symbol in printed]
        self._words = Words.of(printed, ())
        self._makers: dict[str, Callable[[Mapping[str, Any]], _Chosen]] = {
            "santext": self._santext,
            "santext+": self._santext_plus,
            "random": self._random,
            "krr": self._krr,
            "fbdd": self._fbdd,
        }

    def plan(self, given: Mapping[str, Any]) -> DrawPlan:
        """Return the plan for checked options (see ``options.given``).

        Raises:
            UnknownMechanism, UnknownLevel, OptionError: The bundle or the mechanism does not support the value of an
                option; the message lists the supported values.
        """
        mechanism = given.get("mechanism", self.bundle.default_mechanism)
        self._check(mechanism, given)
        drawn_by, level, promise = self._makers[mechanism](given)
        bare = given.get("sanitize_punctuation", False)
        terms = Terms(
            mechanism=mechanism,
            level=level,
            promise=promise,
            case="drop" if bare else given.get("case", "carry"),
            sanitize_punctuation=bare,
            bundle=self.bundle.identity,
        )
        return DrawPlan(bundle=self.bundle, rule=self.rule, mechanism=drawn_by, words=self._words, terms=terms)

    def _check(self, mechanism: str, given: Mapping[str, Any]) -> None:
        if not mechanism and "mechanism" not in given:
            raise UnknownMechanism("this bundle has lists of the rung names alone: say protect names")
        if mechanism not in self._makers:
            raise UnknownMechanism(f"unknown mechanism; there are staircase, {', '.join(self._makers)}")
        self.bundle.require(mechanism)
        foreign = [name for name in _OF_STAIRCASE if name in given]
        if foreign:
            raise OptionError(f"{mechanism} does not take {', '.join(foreign)}: that is for the staircase")
        if mechanism != "santext+" and ("replacement_probability" in given or given.get("deny")):
            raise OptionError("a replacement probability and denied words belong to santext+ alone")

    def _santext(self, given: Mapping[str, Any]) -> _Chosen:
        law, level, promised = self._level("santext", given)
        pure = pure_level(self.bundle, level, "santext")
        chosen = epsilon_text(promised["epsilon"])
        return Everywhere(law, lambda: law.channel), chosen, TokenPromise(**promised, pure_level=pure)

    def _santext_plus(self, given: Mapping[str, Any]) -> _Chosen:
        law, _, promised = self._level("santext+", given)
        coin = ReplacementCoin.of(given.get("replacement_probability", self.bundle.default_replacement_probability))
        keepable = np.zeros(self.bundle.symbols + 1, dtype=bool)
        keepable[:-1] = (self.bundle.table.roles & KEPT) != 0
        denied = (key for entry in given.get("deny", ()) for key in self.rule.keys_of(entry))
        keepable[[self.bundle.ids[key] for key in denied if key in self.bundle.ids]] = False
        promise = TokenPromise(
            **promised, epsilon_0=mixture_epsilon(coin), replacement_probability=coin.threshold / 2**64
        )
        return SanTextPlus(law, coin, keepable), epsilon_text(promised["epsilon"]), promise

    def _level(self, mechanism: str, given: Mapping[str, Any]) -> tuple[SanText, Level, dict[str, Any]]:
        bundle = self.bundle
        level = find_level(bundle, mechanism, given.get("epsilon"))
        parameters = level.parameters[mechanism]
        epsilon, kind = label(bundle, level, mechanism)
        slack = 0.0
        if kind == TEXTBOOK:
            slack = rounding_slack(parameters.exponent, bundle.table.grid, int(parameters.weights[-1]))
        promised = {"epsilon": epsilon, "epsilon_kind": kind, "rounding_slack": slack, "pinned": bundle.pinned}
        return SanText.of(bundle.table, bundle.metric, mechanism, parameters), level, promised

    def _random(self, given: Mapping[str, Any]) -> _Chosen:
        if "epsilon" in given:
            raise OptionError("random takes no epsilon: nothing is learned from it")
        return self._pure(RandomizedResponse.uniform(self.bundle.table), Decimal(0))

    def _krr(self, given: Mapping[str, Any]) -> _Chosen:
        exact = number(given.get("epsilon"))
        return self._pure(RandomizedResponse.of(self.bundle.table, exact), exact)

    def _pure(self, law: RandomizedResponse, level: Decimal) -> _Chosen:
        promise = TokenPromise(epsilon=float(level), epsilon_kind=PURE_LDP, pure_level=level)
        return Everywhere(law, lambda: law.channel), None, promise

    def _fbdd(self, given: Mapping[str, Any]) -> _Chosen:
        exact = number(given.get("epsilon"))
        law = Fbdd.of(self.bundle.table, self.bundle.metric, exact)
        return Everywhere(law, None), None, TokenPromise(epsilon=float(exact), epsilon_kind=TEXTBOOK)


def pure_level(bundle: TextBundle, level: Level, mechanism: str) -> Decimal:
    """Return the pure LDP level of a mechanism at a level.

    The certificate of a pinned bundle has it; otherwise the result is a bound:
    ``ln Pr[M(x) = y] - ln Pr[M(x') = y] <= 2 ln (max W / min W)``: with ``Pr[M(x) = y] = q(y) W[c] / Z(x)`` both the
    weight of the output and the total ``Z`` change by that factor at most (docs/proofs/ledger.md). The certificate of a
    bundle that is not pinned is a claim of its author, and no privacy ledger relies on it.

    Args:
        bundle: The bundle.
        level: One of its levels.
        mechanism: ``"santext"``.

    Returns:
        The level per token; a bound is rounded up.
    """
    proven: Any = (bundle.certificate or {}).get("levels") if bundle.pinned else None
    for key in (level.name, mechanism, "epsilon_pure_ldp"):
        proven = proven.get(key) if isinstance(proven, dict) else None
    if type(proven) in (int, float) and math.isfinite(proven) and proven >= 0:
        return Decimal(proven)
    weights = level.parameters[mechanism].weights
    with localcontext(prec=50, rounding=ROUND_CEILING):
        ratio = Decimal(int(weights.max())) / int(weights.min())
        return 2 * (ratio.ln() + Decimal("1e-40"))  # more than the error of the logarithm
