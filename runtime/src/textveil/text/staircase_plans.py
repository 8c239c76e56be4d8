"""Plans (checked options with their tables) of the staircase mechanism, a mechanism for local privacy."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.text_bundle import TextBundle
from textveil.errors import OptionError, UnknownLevel
from textveil.mechanisms.staircase.slots import SlotStaircases
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel
from textveil.release import round_up
from textveil.text.guarantees import StaircaseGuarantee, round_guess_gain
from textveil.text.options import CONSISTENT_CAP, parse_epsilon
from textveil.text.rewrite import PrintableWords, RandomizingPlan
from textveil.text.statement import PrivacyTerms
from textveil.text.token_rules import (
    EntityTypes,
    TemplateRule,
    collect_denied_keys,
    parse_entity_type,
    parse_function_words,
)

_UNSUPPORTED_OPTIONS = ("replacement_probability",)


class StaircasePlanFactory:
    """Creates plans (checked options with their tables) of the staircase mechanism for one bundle.

    All plans share the word lists, rules and output words of the bundle.

    Args:
        bundle: A bundle (opened folder of word lists, tables and settings) with a staircase mechanism.

    Raises:
        UnknownMechanism: The bundle has no staircase mechanism.
        BundleDamaged: A list of the bundle is malformed.

    >>> from textveil.text import Sanitizer
    >>> StaircasePlanFactory(Sanitizer.load().bundle).make_plan({"protect": "all"}).terms.protect
    'all'
    """

    def __init__(self, bundle: TextBundle) -> None:
        bundle.check_mechanism("staircase")
        assert bundle.staircase_table is not None
        assert bundle.template is not None
        self.bundle = bundle
        self._table = bundle.staircase_table
        self._function_words = parse_function_words(bundle.template.function_words)
        known, kinds = bundle.is_builtin, bundle.template.entity_types
        self._kinds = EntityTypes(
            [parse_entity_type(kind.name, kind.shape, kind.utf_8, is_checked=known) for kind in kinds]
        )
        self._words = PrintableWords.from_vocabulary(bundle.vocabulary, self.make_rule(protect="all").entity_types)

    def make_rule(self, *, protect: str, denied: frozenset[str] = frozenset()) -> TemplateRule:
        """Create the rule that decides whether a token stays unchanged, is replaced, or is randomized.

        Args:
            protect: The mode, ``"words"`` or ``"all"``.
            denied: Words of the option ``deny``, normalized, which count as unknown words.
        """
        return TemplateRule(
            function_words=self._function_words,
            listed_types=self._kinds,
            keeps_function_words=protect == "words",
            denied=denied,
        )

    def get_output_mask(self, *, protect: str, lower: bool = False) -> NDArray[np.bool_]:
        """Return for each word of the vocabulary whether it is a possible output of randomized words.

        Args:
            protect: The mode, ``"words"`` or ``"all"``.
            lower: Whether the output is written in lower case only, so that more outputs are possible.

        Returns:
            Booleans, shape ``(words of the vocabulary,)``.
        """
        return self._table.get_output_mask(function_words_kept=protect == "words", lower=lower)

    def make_staircase(self, level: StaircaseLevel, *, protect: str, lower: bool = False) -> Staircase:
        """Create the staircase mechanism of a level (an epsilon), and check the epsilon's certificate (proven bound).

        Args:
            level: A level of the bundle.
            protect: The mode, ``"words"`` or ``"all"``.
            lower: Whether outputs are written in lower case only, so that more outputs are possible.
        """
        return Staircase.from_table(self._table, level, self.get_output_mask(protect=protect, lower=lower))

    def make_slot_staircase(self, level: StaircaseLevel, *, protect: str) -> SlotStaircases:
        """Create the two staircase mechanisms of a level (an epsilon): for lower-case outputs, and for any others."""
        strict = self.make_staircase(level, protect=protect)
        lower = self.get_output_mask(protect=protect, lower=True)
        if (lower == (strict.base > 0)).all():
            return SlotStaircases(strict, strict)
        return SlotStaircases(strict, Staircase.from_table(self._table, level, lower))

    def make_plan(self, checked: Mapping[str, Any]) -> RandomizingPlan:
        """Create the plan (options with the lists and tables they select) for options that were checked.

        The caller must have checked them with ``options.check_options``.

        Raises:
            UnknownLevel, OptionError: The bundle or the mechanism does not support the value of an option. The message
                lists the supported values.
        """
        unsupported = sorted(set(checked).intersection(_UNSUPPORTED_OPTIONS))
        if unsupported:
            raise OptionError(f"the staircase does not support {', '.join(unsupported)}: omit it")
        protect = checked.get("protect", self.bundle.default_staircase_mode)
        level = find_staircase_level(self.bundle, checked.get("epsilon"))
        consistent, cap = _parse_consistency(checked)
        mechanism = self.make_slot_staircase(level, protect=protect)
        guarantee = StaircaseGuarantee(
            epsilon=level.epsilon,
            share=str(level.share),
            near=round_up(mechanism.near_probability),
            guess_gain=round_guess_gain(mechanism.guess_gain),
        )
        terms = PrivacyTerms(
            mechanism="staircase",
            level=f"{level.epsilon.normalize():f}",
            promise=guarantee,
            protect=protect,
            consistent=consistent,
            consistent_cap=cap,
            sanitize_punctuation=checked.get("sanitize_punctuation", False),
            bundle=self.bundle.content_hash,
        )
        return RandomizingPlan(
            bundle=self.bundle,
            rule=self.make_rule(protect=protect, denied=collect_denied_keys(checked.get("deny", ()))),
            mechanism=mechanism,
            words=self._words,
            terms=terms,
        )


def _parse_consistency(checked: Mapping[str, Any]) -> tuple[bool, int]:
    """Return the values of the options ``consistent`` and ``consistent_cap``, or their defaults.

    Returns:
        Whether equal words get equal outputs, and the largest number of words that a document may then have.

    Raises:
        OptionError: A value is not supported by the staircase mechanism.
    """
    consistent = checked.get("consistent", False)
    if consistent == "corpus":
        raise OptionError("consistent='corpus' works only with the mode 'names': use protect names")
    if not consistent and "consistent_cap" in checked:
        raise OptionError("consistent_cap works only with consistent: set consistent, or omit consistent_cap")
    return consistent, checked.get("consistent_cap", CONSISTENT_CAP)


def find_staircase_level(bundle: TextBundle, epsilon: float | str | None) -> StaircaseLevel:
    """Return the level (privacy setting) of the staircase mechanism for an epsilon; the default one for ``None``.

    Raises:
        UnknownLevel: No level has this epsilon. The message lists the epsilons of all levels.
        OptionError: ``epsilon`` is not a number.
    """
    if epsilon is None:
        return next(level for level in bundle.staircase_levels if level.name == bundle.default_staircase_level)
    requested = parse_epsilon(epsilon)
    for level in bundle.staircase_levels:
        if requested == level.epsilon:
            return level
    available = ", ".join(f"{level.epsilon.normalize():f}" for level in bundle.staircase_levels)
    raise UnknownLevel.from_epsilon(epsilon, f"epsilon must be one of {available}")
