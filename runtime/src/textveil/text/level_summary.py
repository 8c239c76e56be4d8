"""The levels of SanText in numbers: what each promises, and what it does to words by the bundle's statistics.

Nothing is drawn and no text is looked at here: a level is a public choice.
"""

from dataclasses import dataclass
from typing import Any

from textveil.bundle.layout import TABLE_MECHANISMS
from textveil.bundle.parts import Level
from textveil.bundle.statistics import Measures, measures
from textveil.bundle.text import TextBundle
from textveil.errors import UnknownMechanism
from textveil.text.levels import epsilon_text, label


@dataclass(frozen=True, kw_only=True)
class LevelSummary:
    """One mechanism of one level: what is promised, and what it does.

    Attributes:
        mechanism: Name of the mechanism.
        default: Whether it is meant where no epsilon is given.
        epsilon: The epsilon that the level is called by; loss per token and unit of scaled distance.
        epsilon_kind: ``CERTIFIED`` or ``TEXTBOOK`` of ``textveil.text.statement``.
        epsilon_textbook: ``2 alpha``.
        epsilon_pure_ldp: Largest loss whatever the distance; ``None`` without a certificate.
        measures: What it does to words; ``None`` for a bundle without statistics.
    """

    mechanism: str
    default: bool
    epsilon: float
    epsilon_kind: str
    epsilon_textbook: float
    epsilon_pure_ldp: float | None
    measures: Measures | None

    @property
    def options(self) -> str:
        """The options of the command line that choose it."""
        return f"--mechanism {self.mechanism} --epsilon {epsilon_text(self.epsilon)}"


def summary(bundle: TextBundle, level: Level, mechanism: str) -> LevelSummary:
    """Returns what is known about one mechanism of one level.

    Raises:
        BundleDamaged: The statistics of the bundle lack a number.
    """
    epsilon, kind = label(bundle, level, mechanism)
    pure: Any = (bundle.certificate or {}).get("levels")
    for key in (level.name, mechanism, "epsilon_pure_ldp"):
        pure = pure.get(key) if isinstance(pure, dict) else None
    return LevelSummary(
        mechanism=mechanism,
        default=level.name == bundle.default_level,
        epsilon=epsilon,
        epsilon_kind=kind,
        epsilon_textbook=float(2 * level.parameters[mechanism].exponent),
        epsilon_pure_ldp=float(pure) if type(pure) in (int, float) else None,
        measures=None if bundle.statistics is None else measures(bundle.statistics, level.name, mechanism),
    )


def summaries(bundle: TextBundle, mechanism: str | None = None) -> list[LevelSummary]:
    """Returns the levels of a bundle for one mechanism (the bundle's default if left out), strictest first.

    Raises:
        UnknownMechanism: The mechanism is unknown or has no levels.
        BundleDamaged: The statistics of the bundle lack a number.
    """
    mechanism = bundle.default_table_mechanism if mechanism is None else mechanism
    if mechanism not in TABLE_MECHANISMS:
        raise UnknownMechanism(f"levels belong to the mechanisms {' and '.join(TABLE_MECHANISMS)}")
    return [summary(bundle, level, mechanism) for level in bundle.levels]
