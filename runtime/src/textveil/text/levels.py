"""Finds the level of a mechanism over SanText's table that a call asks for, by its label."""

from textveil.bundle.parts import Level
from textveil.bundle.text import TextBundle
from textveil.errors import UnknownLevel
from textveil.text.options import number
from textveil.text.statement import CERTIFIED, TEXTBOOK


def label(bundle: TextBundle, level: Level, mechanism: str) -> tuple[float, str]:
    """Returns the epsilon by which a level is called, and its kind: certified where there is one, else textbook."""
    certified = bundle.certified_epsilon(level, mechanism)
    if certified is not None:
        return certified, CERTIFIED
    return float(2 * level.parameters[mechanism].exponent), TEXTBOOK


def epsilon_text(epsilon: float) -> str:
    """Returns an epsilon with all of its digits, as it must be typed to name a level."""
    return repr(epsilon).removesuffix(".0")


def find_level(bundle: TextBundle, mechanism: str, epsilon: float | str | None) -> Level:
    """Returns the level with that label; the bundle's default if it is ``None``.

    Raises:
        UnknownLevel: There is none; the message lists those there are.
    """
    if epsilon is None:
        return next(level for level in bundle.levels if level.name == bundle.default_level)
    wanted = float(number(epsilon))
    for level in bundle.levels:
        if wanted == label(bundle, level, mechanism)[0]:
            return level
    there_are = ", ".join(epsilon_text(label(bundle, level, mechanism)[0]) for level in bundle.levels)
    raise UnknownLevel.of(epsilon, f"{mechanism} has the epsilons {there_are}")
