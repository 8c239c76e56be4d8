"""Plans of the staircase mechanism: level, mode and denied words from the options of a call."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.text import TextBundle
from textveil.errors import OptionError, UnknownLevel
from textveil.mechanisms.staircase.slots import SlotStaircase
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel
from textveil.release import round_up
from textveil.text.options import CONSISTENT_CAP, number
from textveil.text.promises import MentionPromise, guess_gain
from textveil.text.rewrite import DrawPlan, Words
from textveil.text.skeleton import Kinds, SkeletonRule, denied_keys, function_words, read_kind
from textveil.text.statement import Terms

_FOREIGN = ("replacement_probability",)


class StaircasePlans:
    """Shared data of all staircase plans of one bundle: lists, rules and printable words.

    Args:
        bundle: A bundle with a staircase mechanism.

    Raises:
        UnknownMechanism: The bundle has no staircase mechanism.
        BundleDamaged: A list of the rule is malformed.
    """

    def __init__(self, bundle: TextBundle) -> None:
        bundle.require("staircase")
        assert bundle.staircase is not None
        assert bundle.skeleton is not None
        self.bundle = bundle
        self._table = bundle.staircase
        self._function_words = function_words(bundle.skeleton.function_words)
        known, kinds = bundle.is_builtin, bundle.skeleton.kinds
        self._kinds = Kinds([read_kind(kind.name, kind.shape, kind.utf_8, checked=known) for kind in kinds])
        self._words = Words.of(bundle.vocabulary, self.rule(protect="all").lists)

    def rule(self, *, protect: str, denied: frozenset[str] = frozenset()) -> SkeletonRule:
        """Return the rule for a mode and denied keys."""
        return SkeletonRule(
            function_words=self._function_words, kinds=self._kinds, visible=protect == "words", denied=denied
        )

    def outputs(self, *, protect: str, lower: bool = False) -> NDArray[np.bool_]:
        """Return for each symbol whether randomized words may become it, shape ``(symbols,)``.

        Args:
            protect: The mode, ``"words"`` or ``"all"``.
            lower: Whether the slot is in lower case only.
        """
        return self._table.outputs(visible=protect == "words", lower=lower)

    def staircase(self, level: StaircaseLevel, *, protect: str, lower: bool = False) -> Staircase:
        """Return the staircase mechanism of a level over the permitted outputs.

        The function checks the certificate of the level.
        """
        return Staircase.of(self._table, level, self.outputs(protect=protect, lower=lower))

    def slots(self, level: StaircaseLevel, *, protect: str) -> SlotStaircase:
        """Return the mechanisms of a level for slots of any case and for slots in lower case."""
        strict = self.staircase(level, protect=protect)
        lower = self.outputs(protect=protect, lower=True)
        if (lower == (strict.base > 0)).all():
            return SlotStaircase(strict, strict)
        return SlotStaircase(strict, Staircase.of(self._table, level, lower))

    def plan(self, given: Mapping[str, Any]) -> DrawPlan:
        """Return the plan for checked options (see ``options.given``).

        Raises:
            UnknownLevel, OptionError: The bundle or the mechanism does not support the value of an option; the message
                lists the supported values.
        """
        foreign = sorted(set(given).intersection(_FOREIGN))
        if foreign:
            raise OptionError(f"the staircase does not take {', '.join(foreign)}")
        protect = given.get("protect", self.bundle.default_protect)
        level = find_staircase_level(self.bundle, given.get("epsilon"))
        consistent, split, cap = _consistent(given)
        bare = given.get("sanitize_punctuation", False)
        mechanism = self.slots(level, protect=protect)
        promise = MentionPromise(
            epsilon=level.epsilon,
            share=str(level.share),
            near=round_up(mechanism.near),
            guess_gain=guess_gain(mechanism.guess_gain),
        )
        terms = Terms(
            mechanism="staircase",
            level=f"{level.epsilon.normalize():f}",
            promise=promise,
            protect=protect,
            consistent=consistent,
            consistent_cap=cap,
            case="drop" if bare else given.get("case", "carry"),
            sanitize_punctuation=bare,
            bundle=self.bundle.identity,
        )
        return DrawPlan(
            bundle=self.bundle,
            rule=self.rule(protect=protect, denied=denied_keys(given.get("deny", ()))),
            mechanism=mechanism,
            words=self._words,
            terms=terms,
            split=split,
        )


def _consistent(given: Mapping[str, Any]) -> tuple[bool, bool, int]:
    """Return whether outputs are consistent, whether long documents are split, and the cap."""
    consistent, split = given.get("consistent", False), given.get("split", False)
    cap = given.get("consistent_cap", CONSISTENT_CAP)
    if consistent == "corpus":
        raise OptionError("equal strings of a corpus become equal with protect names alone")
    if not consistent and ("consistent_cap" in given or split):
        raise OptionError("consistent_cap and split need consistent")
    return consistent, split, cap


def find_staircase_level(bundle: TextBundle, epsilon: float | str | None) -> StaircaseLevel:
    """Return the level with this epsilon; the bundle's default level for ``None``.

    Raises:
        UnknownLevel: No level has this epsilon; the message lists the epsilons of all levels.
        OptionError: ``epsilon`` is not a number.
    """
    if epsilon is None:
        return next(level for level in bundle.staircase_levels if level.name == bundle.default_staircase_level)
    wanted = number(epsilon)
    for level in bundle.staircase_levels:
        if wanted == level.epsilon:
            return level
    there_are = ", ".join(f"{level.epsilon.normalize():f}" for level in bundle.staircase_levels)
    raise UnknownLevel.of(epsilon, f"epsilon is one of {there_are}")
