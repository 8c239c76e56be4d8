"""Find the level of SanText or SanText+ for the epsilon of a call.

A level is one of the epsilons for which the bundle has a table. Certification gives a level a smaller epsilon; the
epsilons by which it was selected before remain as aliases.
"""

from contextlib import suppress

from textveil.bundle.components import SanTextLevel
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import UnknownLevel
from textveil.text.options import parse_epsilon
from textveil.text.statement import CERTIFIED, TEXTBOOK


def find_epsilon_and_kind(bundle: TextBundle, level: SanTextLevel, mechanism: str) -> tuple[float, str]:
    """Return the epsilon that selects a level, and its kind.

    The epsilon is the certified one if the bundle has a certificate for this level. Otherwise it is the textbook value,
    twice the exponent ``alpha`` of the mechanism.
    """
    certified = bundle.get_certified_epsilon(level, mechanism)
    if certified is not None:
        return certified, CERTIFIED
    return float(2 * level.parameters[mechanism].exponent), TEXTBOOK


def format_epsilon(epsilon: float) -> str:
    """Return an epsilon with all of its digits, as a user must type it to select a level.

    >>> format_epsilon(8.5)
    '8.5'
    """
    return repr(epsilon).removesuffix(".0")


def find_level(bundle: TextBundle, mechanism: str, epsilon: float | str | None) -> SanTextLevel:
    """Return the level that ``epsilon`` selects; the bundle's default level for ``None``.

    The epsilons that ``textveil levels`` lists come first. After them, in this order, a level has two aliases: its
    textbook epsilon, which selects it before certification, and its name, if that is a number. Bundles with epsilons
    per unit of the vectors have these as names.

    Raises:
        UnknownLevel: No level has this epsilon. The message lists the epsilons of all levels.
        OptionError: ``epsilon`` is not a number.
    """
    if epsilon is None:
        return next(level for level in bundle.santext_levels if level.name == bundle.default_level)
    requested = float(parse_epsilon(epsilon))
    for get_epsilon in (
        lambda level: find_epsilon_and_kind(bundle, level, mechanism)[0],
        lambda level: float(2 * level.parameters[mechanism].exponent),
        _parse_name,
    ):
        for level in bundle.santext_levels:
            if requested == get_epsilon(level):
                return level
    available = ", ".join(
        format_epsilon(find_epsilon_and_kind(bundle, level, mechanism)[0]) for level in bundle.santext_levels
    )
    raise UnknownLevel.from_epsilon(epsilon, f"{mechanism} has the levels {available}")


def _parse_name(level: SanTextLevel) -> float | None:
    """Return the number that is the name of a level, or ``None``."""
    with suppress(ValueError):
        return float(level.name)
    return None
