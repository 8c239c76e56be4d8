"""Plans (checked options with their tables) for mechanisms that randomize every token.

These are SanText, SanText+, FBDD and randomized response.
"""

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

import numpy as np

from textveil.arguments import suggest_choice
from textveil.bundle.components import SanTextLevel
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import OptionError, UnknownMechanism
from textveil.mechanisms.baselines.fbdd import Fbdd
from textveil.mechanisms.baselines.randomized_response import RandomizedResponse
from textveil.mechanisms.baselines.santext import SanText, bound_rounding_slack
from textveil.mechanisms.baselines.santext_plus import SanTextPlus, compute_mixture_epsilon
from textveil.mechanisms.baselines.table import KEPT_ROLE
from textveil.mechanisms.coin import ReplacementCoin
from textveil.mechanisms.protocol import Mechanism, SlotlessMechanism
from textveil.text.guarantees import TokenGuarantee
from textveil.text.levels import find_epsilon_and_kind, find_level, format_epsilon
from textveil.text.options import parse_epsilon
from textveil.text.rewrite import PrintableWords, RandomizingPlan
from textveil.text.statement import PURE_LDP, TEXTBOOK, PrivacyTerms
from textveil.text.token_rules.every_word import EveryWordRule

_STAIRCASE_OPTIONS = ("protect", "consistent", "consistent_cap")
#: The mechanism, the epsilon that selects its level, and its guarantee.
_MechanismChoice = tuple[Mechanism, str | None, TokenGuarantee]


class TokenPlanFactory:
    """Creates plans (checked options with their tables) for the mechanisms that randomize every token.

    Args:
        bundle: The bundle (opened folder of tables and settings) of the mechanisms.
    """

    def __init__(self, bundle: TextBundle) -> None:
        self.bundle = bundle
        self.rule: EveryWordRule = EveryWordRule(bundle.symbol_ids)
        self._words = PrintableWords.from_vocabulary(bundle.vocabulary, ())
        self._choosers: dict[str, Callable[[Mapping[str, Any]], _MechanismChoice]] = {
            "santext": self._choose_santext,
            "santext+": self._choose_santext_plus,
            "random": self._choose_random,
            "krr": self._choose_krr,
            "fbdd": self._choose_fbdd,
        }

    def make_plan(self, checked: Mapping[str, Any]) -> RandomizingPlan:
        """Create the plan (options with the tables they select) for options that ``options.check_options`` checked.

        Raises:
            UnknownMechanism, UnknownLevel, OptionError: The bundle or the mechanism does not support the value of an
                option. The message lists the supported values.
        """
        mechanism = checked.get("mechanism", self.bundle.default_mechanism)
        self._check_options(mechanism, checked)
        token_mechanism, level, guarantee = self._choosers[mechanism](checked)
        terms = PrivacyTerms(
            mechanism=mechanism,
            level=level,
            promise=guarantee,
            sanitize_punctuation=checked.get("sanitize_punctuation", False),
            bundle=self.bundle.content_hash,
        )
        return RandomizingPlan(
            bundle=self.bundle, rule=self.rule, mechanism=token_mechanism, words=self._words, terms=terms
        )

    def _check_options(self, mechanism: str, checked: Mapping[str, Any]) -> None:
        if not mechanism and "mechanism" not in checked:
            raise UnknownMechanism("this bundle has only the lists of the mode 'names': use protect names")
        if mechanism not in self._choosers:
            names = ("staircase", *self._choosers)
            suggestion = suggest_choice(mechanism, names) or f"choose among {', '.join(names)}"
            raise UnknownMechanism(f"unknown mechanism: {suggestion}")
        self.bundle.check_mechanism(mechanism)
        unsupported = [name for name in _STAIRCASE_OPTIONS if name in checked]
        if unsupported:
            raise OptionError(
                f"{mechanism} does not support {', '.join(unsupported)}: omit it, or use the mechanism staircase"
            )
        if mechanism != "santext+" and ("replacement_probability" in checked or checked.get("deny")):
            raise OptionError("replacement_probability and deny work only with santext+: omit them")

    def _choose_santext(self, checked: Mapping[str, Any]) -> _MechanismChoice:
        santext, level, guarantee_fields = self._make_santext("santext", checked)
        pure_epsilon = compute_pure_epsilon(self.bundle, level, "santext")
        epsilon = format_epsilon(guarantee_fields["epsilon"])
        return (
            SlotlessMechanism(santext, lambda: santext.randomizer),
            epsilon,
            TokenGuarantee(**guarantee_fields, pure_level=pure_epsilon),
        )

    def _choose_santext_plus(self, checked: Mapping[str, Any]) -> _MechanismChoice:
        santext, _, guarantee_fields = self._make_santext("santext+", checked)
        coin = ReplacementCoin.from_probability(
            checked.get("replacement_probability", self.bundle.default_replacement_probability)
        )
        keepable = np.zeros(self.bundle.symbol_count + 1, dtype=bool)
        keepable[:-1] = (self.bundle.table.roles & KEPT_ROLE) != 0
        denied = (key for entry in checked.get("deny", ()) for key in self.rule.list_keys(entry))
        keepable[[self.bundle.symbol_ids[key] for key in denied if key in self.bundle.symbol_ids]] = False
        guarantee = TokenGuarantee(
            **guarantee_fields, epsilon_0=compute_mixture_epsilon(coin), replacement_probability=coin.threshold / 2**64
        )
        return SanTextPlus(santext, coin, keepable), format_epsilon(guarantee_fields["epsilon"]), guarantee

    def _make_santext(self, mechanism: str, checked: Mapping[str, Any]) -> tuple[SanText, SanTextLevel, dict[str, Any]]:
        bundle = self.bundle
        level = find_level(bundle, mechanism, checked.get("epsilon"))
        parameters = level.parameters[mechanism]
        epsilon, kind = find_epsilon_and_kind(bundle, level, mechanism)
        slack = 0.0
        if kind == TEXTBOOK:
            slack = bound_rounding_slack(parameters.exponent, bundle.table.grid, int(parameters.weights[-1]))
        guarantee_fields = {
            "epsilon": epsilon,
            "epsilon_kind": kind,
            "rounding_slack": slack,
            "pinned": bundle.is_expected,
        }
        return SanText.from_table(bundle.table, bundle.metric, mechanism, parameters), level, guarantee_fields

    def _choose_random(self, checked: Mapping[str, Any]) -> _MechanismChoice:
        if "epsilon" in checked:
            raise OptionError("the mechanism random has no epsilon: omit epsilon")
        return self._make_pure_choice(RandomizedResponse.make_uniform(self.bundle.table), Decimal(0))

    def _choose_krr(self, checked: Mapping[str, Any]) -> _MechanismChoice:
        epsilon = parse_epsilon(checked.get("epsilon"))
        return self._make_pure_choice(RandomizedResponse.from_table(self.bundle.table, epsilon), epsilon)

    def _make_pure_choice(self, response: RandomizedResponse, epsilon: Decimal) -> _MechanismChoice:
        guarantee = TokenGuarantee(epsilon=float(epsilon), epsilon_kind=PURE_LDP, pure_level=epsilon)
        return SlotlessMechanism(response, lambda: response.randomizer), None, guarantee

    def _choose_fbdd(self, checked: Mapping[str, Any]) -> _MechanismChoice:
        epsilon = parse_epsilon(checked.get("epsilon"))
        fbdd = Fbdd.from_table(self.bundle.table, self.bundle.metric, epsilon)
        return SlotlessMechanism(fbdd, None), None, TokenGuarantee(epsilon=float(epsilon), epsilon_kind=TEXTBOOK)


def compute_pure_epsilon(bundle: TextBundle, level: SanTextLevel, mechanism: str) -> Decimal:
    """Return the largest privacy loss of SanText per token over any two words, as an epsilon of pure local DP.

    If the caller specified the bundle (the folder with the tables) or its signer, the result is the value in the
    bundle's certificate. The certificate of any other bundle is only a claim of its author, and the privacy ledger must
    not rely on it. Then the result is a proven bound, rounded up:

        ln Pr[M(x) = y] - ln Pr[M(x') = y] <= 2 ln (max W / min W),    Pr[M(x) = y] = q(y) W[c] / Z(x).

    Here ``c`` is the rounded distance of the input ``x`` and the output ``y``, and ``W[c]`` is its weight. The factor
    ``q(y)`` depends only on the output, and ``Z(x)`` is the sum over all outputs. For two inputs, the weights differ by
    at most the factor ``max W / min W``, and so do the sums (docs/proofs/ledger.md).

    Args:
        bundle: The bundle.
        level: One of the bundle's levels (available epsilons).
        mechanism: ``"santext"``.

    Returns:
        The loss per token.
    """
    proven: Any = (bundle.certificate or {}).get("levels") if bundle.is_expected else None
    for key in (level.name, mechanism, "epsilon_pure_ldp"):
        proven = proven.get(key) if isinstance(proven, dict) else None
    if type(proven) in (int, float) and math.isfinite(proven) and proven >= 0:
        return Decimal(proven)
    weights = level.parameters[mechanism].weights
    with localcontext(prec=50, rounding=ROUND_CEILING):
        ratio = Decimal(int(weights.max())) / int(weights.min())
        return 2 * (ratio.ln() + Decimal("1e-40"))  # more than the error of the logarithm
