"""Turns the options of a call into a plan: mechanism, coin, sensitive words, terms of the statement."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.layout import TABLE_MECHANISMS
from textveil.bundle.text import TextBundle
from textveil.errors import OptionError, UnknownMechanism
from textveil.mechanisms import entropy
from textveil.mechanisms.baselines.fbdd import Fbdd
from textveil.mechanisms.baselines.randomized_response import RandomizedResponse
from textveil.mechanisms.baselines.santext import SanText, rounding_slack
from textveil.mechanisms.baselines.santext_plus import mixture_epsilon
from textveil.mechanisms.baselines.table import KEPT
from textveil.mechanisms.channel import Channel, ScoreChannel
from textveil.mechanisms.coin import ReplacementCoin
from textveil.mechanisms.protocol import MECHANISMS, Mechanism, WeightedMechanism
from textveil.text.levels import find_level, label, number
from textveil.text.lexicon import Lexicon
from textveil.text.option_types import check_types
from textveil.text.pure_level import pure_level
from textveil.text.statement import PURE_LDP, TEXTBOOK, Terms

CASES = ("carry", "drop")


class Options(TypedDict, total=False):
    """The options of every call that draws or describes a draw. All may be left out.

    Keys:
        mechanism: ``staircase``, ``santext+``, ``santext``, ``fbdd``, ``krr`` or ``random``; the bundle's default if
            left out.
        epsilon: The label of a level, exactly as the bundle has it; any number in (0, 30] for ``krr``, in (0, 100000]
            for ``fbdd``, and required for both.
        visible: ``("function-words",)`` or ``()`` (also ``"function-words"`` and ``"none"``): which words the staircase
            leaves as they are; the bundle's default if left out.
        kinds: Whether names, places, numbers and the like become others of their kind (``staircase``; the default).
        consistent: Whether equal words of a document become equal words (``staircase``).
        consistent_cap: The most drawn words, names and numbers of a document with ``consistent``, equal ones counted;
            2,000 if left out.
        split: With ``consistent``: a document above the cap is released in parts, each as a document of its own,
            where it is refused otherwise.
        fluent: Whether the base follows the text (``staircase``): words are drawn to fit the visible words around them
            and what was drawn before, for the same nats. The bundle needs a table of contexts.
        level: The name of a level, instead of ``epsilon``; the bundle's default if both are left out.
        replacement_probability: SanText+'s ``p`` in (0, 1]: how often a common word is replaced.
        deny: Words that are sensitive in this call even if they are common (``santext+``), or unknown words even if
            they would be visible or in the vocabulary (``staircase``). There is no allow list: nothing that depends on
            the text beyond its skeleton is kept for certain.
        case: ``"carry"`` the case pattern of each word over (the default), or ``"drop"`` it.
        sanitize_punctuation: Punctuation is sanitized as tokens, case dropped, and white space becomes single blanks.
    """

    mechanism: str | None
    epsilon: float | str | None
    level: str | None
    replacement_probability: float | str | None
    visible: Collection[str] | str | None
    kinds: bool
    consistent: bool
    consistent_cap: int
    split: bool
    fluent: bool
    deny: Collection[str]
    case: str
    sanitize_punctuation: bool


@dataclass(frozen=True)
class Plan:
    """The mechanism, coin and terms that one set of options stands for.

    Attributes:
        mechanism: Draws what comes out for every input.
        coin: The coin of common words, or ``None`` where every word is drawn.
        keepable: Which inputs the coin may keep, ``<unk>`` last, shape ``(symbols + 1,)``.
        terms: What statements say.
    """

    mechanism: Mechanism
    coin: ReplacementCoin | None
    keepable: NDArray[np.bool_]
    terms: Terms

    @cached_property
    def channel(self) -> Channel:
        """The output distribution of every input, the coin of common words included.

        Raises:
            OptionError: The mechanism has no integer weights (``fbdd``).
        """
        if not isinstance(self.mechanism, WeightedMechanism):
            raise OptionError(
                f"{self.terms.mechanism} has no table of weights: its distribution is known from draws only"
            )
        channel = self.mechanism.channel
        if self.coin is None:
            return channel
        assert isinstance(channel, ScoreChannel)  # coins belong to SanText+
        return replace(channel, keepable=self.keepable, kept_of_2_64=2**64 - self.coin.threshold)

    def draw(self, inputs: NDArray[np.int64], whole: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Draws one output for every token: coins of common words first, then replaced tokens, in order.

        Args:
            inputs: Input ids, ``<unk>`` last, shape ``(n,)``.
            whole: Whether each is a word in one piece, which alone the coin may keep, shape ``(n,)``.

        Returns:
            Output ids, shape ``(n,)``.

        Privacy:
            The release itself, with the operating system's entropy; every call is charged by ``terms``.
        """
        replaced = np.ones(len(inputs), dtype=bool)
        if self.coin is not None:
            common = np.flatnonzero(self.keepable[inputs] & whole)
            replaced[common] = self.coin.replaced(entropy.random_uint64(len(common)))
        drawn = np.flatnonzero(replaced)
        outputs = inputs.copy()
        outputs[drawn] = self.mechanism.draw(inputs[drawn], entropy.random_uint64)
        return outputs


def cache_key(options: Options) -> tuple[object, ...]:
    """Returns a key that two sets of options share only if they mean the same.

    Raises:
        OptionError: There is no option of that name, a value has another type, or ``deny`` is not a collection of
            strings.
    """
    if "strict" in options:
        raise OptionError("strict is now sanitize_punctuation")
    if not set(options) <= set(Options.__annotations__):
        raise OptionError(_unknown_option())
    check_types(options)
    deny = options.get("deny", ())
    if isinstance(deny, str) or not isinstance(deny, Collection) or not all(isinstance(word, str) for word in deny):
        raise OptionError("deny takes a collection of words")
    others = sorted((name, repr(value)) for name, value in options.items() if name != "deny")
    return frozenset(deny), *others


def make_plan(
    bundle: TextBundle,
    lexicon: Lexicon,
    *,
    mechanism: str | None = None,
    epsilon: float | str | None = None,
    level: str | None = None,
    replacement_probability: float | str | None = None,
    deny: Collection[str] = (),
    case: str = "carry",
    sanitize_punctuation: bool = False,
    **of_staircase: Any,
) -> Plan:
    """Resolves ``Options`` against a bundle, for mechanisms of SanText, FBDD and randomized response.

    Raises:
        UnknownMechanism, UnknownLevel, OptionError: An option has a value that the bundle or the mechanism does
            not have; the message lists those it has, and does not repeat the value.
    """
    if not set(of_staircase) <= set(Options.__annotations__):
        raise OptionError(_unknown_option())
    mechanism = bundle.default_mechanism if mechanism is None else mechanism
    if mechanism == "staircase":
        raise OptionError("the staircase rewrites mentions of a skeleton: it has no plan token by token")
    if mechanism not in MECHANISMS:
        raise UnknownMechanism(f"unknown mechanism; there are staircase, {', '.join(MECHANISMS)}")
    bundle.require(mechanism)
    if case not in CASES:
        raise OptionError(f"case must be one of {', '.join(CASES)}")
    foreign = [name for name, value in of_staircase.items() if value is not None]
    if foreign:
        raise OptionError(f"{mechanism} does not take {', '.join(foreign)}: that is for the staircase")
    if mechanism != "santext+" and (replacement_probability is not None or deny):
        raise OptionError("a replacement probability and denied words belong to santext+ alone")
    if mechanism not in TABLE_MECHANISMS and level is not None:
        raise OptionError(f"{mechanism} has no levels")
    keepable = np.zeros(bundle.table.symbols + 1, dtype=bool)
    coin: ReplacementCoin | None = None
    slack = epsilon_0 = 0.0
    kind = PURE_LDP
    pure: Decimal | None = None
    if mechanism in TABLE_MECHANISMS:
        chosen = find_level(bundle, mechanism, epsilon, level)
        parameters = chosen.parameters[mechanism]
        drawn_by: Mechanism = SanText.of(bundle.table, bundle.metric, mechanism, parameters)
        level, value, kind = chosen.name, *label(bundle, chosen, mechanism)
        if mechanism == "santext":
            pure = pure_level(bundle, chosen, mechanism)
        if kind == TEXTBOOK:
            slack = rounding_slack(parameters.exponent, bundle.table.grid, int(parameters.weights[-1]))
        if mechanism == "santext+":
            probability = replacement_probability
            coin = ReplacementCoin.of(bundle.default_replacement_probability if probability is None else probability)
            epsilon_0 = mixture_epsilon(coin)
            keepable[:-1] = (bundle.table.roles & KEPT) != 0
            keepable[[token for entry in deny for token in lexicon.denied(entry)]] = False
    elif mechanism == "fbdd":
        exact = number(epsilon)
        drawn_by, value, kind = Fbdd.of(bundle.table, bundle.metric, exact), float(exact), TEXTBOOK
    elif mechanism == "krr":
        exact = number(epsilon)
        drawn_by, value, pure = RandomizedResponse.of(bundle.table, exact), float(exact), exact
    else:
        if epsilon is not None:
            raise OptionError("random takes no epsilon: nothing is learned from it")
        drawn_by, value, pure = RandomizedResponse.uniform(bundle.table), 0.0, Decimal(0)
    terms = Terms(
        mechanism=mechanism,
        level=level,
        epsilon=value,
        epsilon_kind=kind,
        rounding_slack=slack,
        epsilon_0=epsilon_0,
        replacement_probability=None if coin is None else coin.threshold / 2**64,
        case="drop" if sanitize_punctuation else case,
        sanitize_punctuation=sanitize_punctuation,
        bundle=bundle.identity,
        pure_level=pure,
        pinned=bundle.pinned,
    )
    return Plan(drawn_by, coin, keepable, terms)


def _unknown_option() -> str:
    return f"unknown option; there are {', '.join(Options.__annotations__)}"
