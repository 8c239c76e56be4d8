"""Select the level (one of the available epsilons) of SanText or SanText+ for the epsilon of a call.

A level is one of the epsilons for which the bundle (a folder of tables and settings) has a table. If the bundle has a
certificate for the level, the certificate states a smaller epsilon than the published formula. Both epsilons select the
level.
"""

from contextlib import suppress

from textveil.bundle.components import SanTextLevel
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import UnknownLevel
from textveil.text.options import parse_epsilon
from textveil.text.statement import CERTIFIED, TEXTBOOK


def find_epsilon_and_kind(bundle: TextBundle, level: SanTextLevel, mechanism: str) -> tuple[float, str]:
    """Return the epsilon of a level (an available table), and whether it is ``CERTIFIED`` or ``TEXTBOOK``.

    The epsilon is the certified one if the bundle (the folder with the tables) has a certificate for this level.
    Otherwise it is the epsilon by the published formula: twice the exponent ``alpha`` of the mechanism.
    """
    certified = bundle.get_certified_epsilon(level, mechanism)
    if certified is not None:
        return certified, CERTIFIED
    return float(2 * level.parameters[mechanism].exponent), TEXTBOOK


def format_epsilon(epsilon: float) -> str:
    """Return an epsilon as text with all of its digits, as a user types it to select this privacy level.

    >>> format_epsilon(8.5)
    '8.5'
    """
    return repr(epsilon).removesuffix(".0")


def find_level(bundle: TextBundle, mechanism: str, epsilon: float | str | None) -> SanTextLevel:
    """Return the level (an available table of the mechanism) that an epsilon selects.

    First the function compares ``epsilon`` with the epsilons that ``textveil levels`` lists. Then it compares the
    epsilons by the published formula. Last it compares the names of the levels, if they are numbers: in some bundles
    the name of a level is the epsilon per unit of the original word vectors.

    Args:
        bundle: The bundle (opened folder of tables and settings).
        mechanism: ``santext`` or ``santext+``.
        epsilon: The epsilon, as typed. ``None`` selects the bundle's default level.

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
    """Return the name of a level (an available epsilon) as a number; ``None`` if the name is not a number."""
    with suppress(ValueError):
        return float(level.name)
    return None
