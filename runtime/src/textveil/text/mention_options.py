"""Turns the options of a call into a plan of the staircase: level, visible words, kinds, what is denied."""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.layout import VISIBLE
from textveil.bundle.text import TextBundle
from textveil.errors import OptionError, UnknownLevel
from textveil.mechanisms.staircase.fluent import FluentStaircase
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel
from textveil.release import round_up
from textveil.text import segmentation
from textveil.text.kinds import Kinds, read_kind
from textveil.text.levels import no_such_level, number
from textveil.text.mention_statement import MentionTerms, guess_gain
from textveil.text.mentions import MentionPlan, Words
from textveil.text.options import CASES
from textveil.text.skeleton import Rule, function_words
from textveil.text.slots import Slots

#: The most drawn words, names and numbers of a document whose equal words become equal words.
CONSISTENT_CAP = 2_000
_OPTIONS = {
    "mechanism",
    "epsilon",
    "level",
    "visible",
    "kinds",
    "consistent",
    "consistent_cap",
    "split",
    "fluent",
    "deny",
    "case",
    "sanitize_punctuation",
}


class Mentions:
    """What all plans of one bundle share: its lists, its rules and the words that can be printed.

    Args:
        bundle: A bundle with a staircase.

    Raises:
        UnknownMechanism: The bundle has none.
        BundleDamaged: A list of the skeleton is malformed.
    """

    def __init__(self, bundle: TextBundle) -> None:
        bundle.require("staircase")
        assert bundle.staircase is not None
        assert bundle.skeleton is not None
        self.bundle = bundle
        self._table = bundle.staircase
        self._function_words = function_words(bundle.skeleton.function_words)
        self._kinds = Kinds([read_kind(kind.name, kind.shape, kind.content) for kind in bundle.skeleton.kinds])
        self._words = Words.of(bundle.vocabulary, [kind.outputs for kind in self._kinds.kinds])
        self._outputs: dict[Rule, NDArray[np.bool_]] = {}

    def rule(self, *, visible: str, kinds: bool) -> Rule:
        """Returns the rule of the skeleton."""
        return Rule(self._function_words, self._kinds, visible != "none", kinds)

    def outputs(self, *, visible: str, kinds: bool, lower: bool = False) -> NDArray[np.bool_]:
        """Returns which symbols may come out for drawn words, or for those in lower case, shape ``(symbols,)``."""
        return self._table.outputs(visible=visible != "none", kinds=kinds, lower=lower)

    def staircase(self, level: StaircaseLevel, *, visible: str, kinds: bool, lower: bool = False) -> Staircase:
        """Returns the staircase of a level over the outputs that the rule leaves, and checks its certificate."""
        return Staircase.of(self._table, level, self.outputs(visible=visible, kinds=kinds, lower=lower))

    def slots(self, level: StaircaseLevel, *, visible: str, kinds: bool) -> Slots[Staircase]:
        """Returns the staircases of a level, for slots of any case and for those in lower case."""
        strict = self.staircase(level, visible=visible, kinds=kinds)
        lower = self.outputs(visible=visible, kinds=kinds, lower=True)
        if (lower == (strict.base > 0)).all():
            return Slots(strict, strict)
        return Slots(strict, Staircase.of(self._table, level, lower))

    def fluent(self, slots: Slots[Staircase]) -> Slots[FluentStaircase]:
        """Returns the same staircases with a base that follows the text.

        Raises:
            OptionError: The bundle has no table of contexts.
        """
        context = self.bundle.context
        if context is None:
            raise OptionError("this bundle has no context.safetensors, so its base cannot follow the text (fluent)")
        strict = FluentStaircase(slots.strict, context)
        return Slots(strict, strict if slots.lower is slots.strict else FluentStaircase(slots.lower, context))

    def plan(self, options: Mapping[str, Any]) -> MentionPlan:
        """Resolves ``Options`` for the staircase.

        Raises:
            UnknownLevel, OptionError: An option has a value that the bundle or the staircase does not have; the message
                lists those it has, and does not repeat the value.
        """
        given = {name: value for name, value in options.items() if value is not None}
        foreign = sorted(set(given) - _OPTIONS)
        if foreign:
            raise OptionError(f"the staircase does not take {', '.join(foreign)}")
        case, bare = given.get("case", "carry"), _flag(given, "sanitize_punctuation")
        if case not in CASES:
            raise OptionError(f"case must be one of {', '.join(CASES)}")
        visible, kinds = find_visible(self.bundle, given.get("visible")), _flag(given, "kinds", True)
        level = find_staircase_level(self.bundle, given.get("epsilon"), given.get("level"))
        consistent, cap = _flag(given, "consistent"), given.get("consistent_cap", CONSISTENT_CAP)
        if type(cap) is not int or cap < 1:
            raise OptionError("the cap of consistent draws is a whole number of mentions, at least 1")
        if not consistent and ("consistent_cap" in given or _flag(given, "split")):
            raise OptionError("a cap and a split belong to consistent draws")
        slots = self.slots(level, visible=visible, kinds=kinds)
        fluent = self.fluent(slots) if _flag(given, "fluent") else None
        terms = MentionTerms(
            mechanism="staircase",
            level=level.name,
            epsilon=level.epsilon,
            share=str(level.share),
            near=round_up((fluent or slots).near),
            guess_gain=guess_gain((fluent or slots).guess_gain),
            visible=visible,
            kinds=kinds,
            consistent=consistent,
            consistent_cap=cap,
            fluent=fluent is not None,
            case="drop" if bare else case,
            sanitize_punctuation=bare,
            bundle=self.bundle.identity,
        )
        denied = frozenset(key for entry in given.get("deny", ()) for key in _keys(entry))
        rule = self.rule(visible=visible, kinds=kinds)
        split = _flag(given, "split")
        return MentionPlan(self.bundle, slots, rule, self._words, denied, terms, split, fluent)


def find_visible(bundle: TextBundle, visible: Collection[str] | str | None) -> str:
    """Returns the name of what stays visible; the bundle's default for ``None``.

    Raises:
        OptionError: There is no such choice.
    """
    if visible is None:
        return bundle.default_visible
    if isinstance(visible, Collection) and not isinstance(visible, str):
        names = list(visible)
        visible = names[0] if len(names) == 1 else "none" if not names else ""
    if not isinstance(visible, str) or visible not in VISIBLE:
        raise OptionError(f"visible must be one of {', '.join(VISIBLE)}")
    return visible


def find_staircase_level(bundle: TextBundle, epsilon: float | str | None, name: str | None) -> StaircaseLevel:
    """Returns the level with that epsilon and that name; the bundle's default if both are ``None``.

    Raises:
        UnknownLevel: There is none; the message lists those there are.
    """
    if epsilon is None and name is None:
        name = bundle.default_staircase_level
    wanted = None if epsilon is None else number(epsilon)
    for level in bundle.staircase_levels:
        if name in (None, level.name) and wanted in (None, level.epsilon):
            return level
    there_are = ", ".join(f"{level.name} ({_plain(level.epsilon)})" for level in bundle.staircase_levels)
    raise UnknownLevel(f"{no_such_level(name)}; the staircase has the levels (epsilon) {there_are}")


def _flag(options: Mapping[str, Any], name: str, default: bool = False) -> bool:
    value = options.get(name, default)
    if not isinstance(value, bool):
        raise OptionError(f"{name} is true or false")
    return value


def _keys(entry: str) -> list[str]:
    """The keys of a denied entry: the whole of it, or of every word in it."""
    entry = entry.removeprefix(segmentation.BYTE_ORDER_MARK).strip()
    words = [segment for segment in segmentation.segments(entry) if not segmentation.is_gap(segment)]
    return [segmentation.key(entry), *map(segmentation.key, words)] if words else []


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
