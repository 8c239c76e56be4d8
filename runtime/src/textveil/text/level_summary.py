"""Summaries of the levels of SanText: the privacy bound of each, and its measured effect on words.

A level is one of the epsilons for which the bundle (a folder of tables and settings) has a table. The effect comes from
the statistics in the bundle.

Privacy:
    The functions read no text and draw no random numbers. The choice of a level is public.
"""

from dataclasses import dataclass
from typing import Any

from textveil.bundle.components import SanTextLevel
from textveil.bundle.layout import TABLE_MECHANISMS
from textveil.bundle.statistics import MeasuredEffects, parse_measured_effects
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import UnknownMechanism
from textveil.text.levels import find_epsilon_and_kind, format_epsilon


@dataclass(frozen=True, kw_only=True)
class LevelSummary:
    """Privacy bound and measured effect of one mechanism at one level (one of its available epsilons).

    Attributes:
        mechanism: Name of the mechanism.
        default: Whether a call without an epsilon uses this level.
        epsilon: Epsilon that selects the level: privacy loss per token and per unit of scaled distance.
        epsilon_kind: ``CERTIFIED`` or ``TEXTBOOK`` of ``textveil.text.statement``.
        epsilon_textbook: Epsilon by the published formula: twice the exponent ``alpha`` of the mechanism.
        epsilon_vectors: ``epsilon_textbook`` per unit of distance of the original word vectors, as papers state it;
            ``None`` if the bundle (folder of tables) does not state the median distance.
        epsilon_pure_ldp: Largest loss per token at any distance; ``None`` without a certificate.
        measures: Measured effect on words; ``None`` for a bundle without statistics.

    >>> level = LevelSummary(
    ...     mechanism="santext", default=True, epsilon=20.0, epsilon_kind="textbook metric DP",
    ...     epsilon_textbook=20.0, epsilon_vectors=None, epsilon_pure_ldp=None, measures=None,
    ... )
    >>> level.epsilon_textbook
    20.0
    """

    mechanism: str
    default: bool
    epsilon: float
    epsilon_kind: str
    epsilon_textbook: float
    epsilon_vectors: float | None
    epsilon_pure_ldp: float | None
    measures: MeasuredEffects | None

    @property
    def options(self) -> str:
        """The command-line options that select this level (epsilon), as one string."""
        return f"--mechanism {self.mechanism} --epsilon {format_epsilon(self.epsilon)}"


def summary(bundle: TextBundle, level: SanTextLevel, mechanism: str) -> LevelSummary:
    """Return the privacy bound and the measured effect of one mechanism at one level (an available epsilon).

    Raises:
        BundleDamaged: The statistics of the bundle (folder of tables) lack a number.
    """
    epsilon, kind = find_epsilon_and_kind(bundle, level, mechanism)
    textbook = float(2 * level.parameters[mechanism].exponent)
    pure_epsilon: Any = (bundle.certificate or {}).get("levels")
    for key in (level.name, mechanism, "epsilon_pure_ldp"):
        pure_epsilon = pure_epsilon.get(key) if isinstance(pure_epsilon, dict) else None
    return LevelSummary(
        mechanism=mechanism,
        default=level.name == bundle.default_level,
        epsilon=epsilon,
        epsilon_kind=kind,
        epsilon_textbook=textbook,
        epsilon_vectors=None if bundle.median_distance is None else textbook / bundle.median_distance,
        epsilon_pure_ldp=float(pure_epsilon) if type(pure_epsilon) in (int, float) else None,
        measures=None
        if bundle.statistics is None
        else parse_measured_effects(bundle.statistics, level.name, mechanism),
    )


def summarize_levels(bundle: TextBundle, mechanism: str | None = None) -> list[LevelSummary]:
    """Return the summaries of all levels (available epsilons) of a bundle for one mechanism, strictest first.

    Args:
        bundle: The bundle (opened folder of tables and settings).
        mechanism: ``santext`` or ``santext+``; ``None`` for the bundle's default one of the two.

    Raises:
        UnknownMechanism: The mechanism is unknown or has no levels.
        BundleDamaged: The statistics of the bundle lack a number.

    >>> from textveil.text import Sanitizer
    >>> summarize_levels(Sanitizer.load().bundle)
    Traceback (most recent call last):
    ...
    textveil.errors.UnknownMechanism: only these mechanisms have levels: santext and santext+
    """
    mechanism = bundle.default_table_mechanism if mechanism is None else mechanism
    if mechanism not in TABLE_MECHANISMS:
        raise UnknownMechanism(f"only these mechanisms have levels: {' and '.join(TABLE_MECHANISMS)}")
    return [summary(bundle, level, mechanism) for level in bundle.santext_levels]
