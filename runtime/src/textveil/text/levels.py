"""Finds the level of a mechanism over SanText's table that a call asks for, by name or by label."""

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


def find_level(bundle: TextBundle, mechanism: str, epsilon: float | str | None, name: str | None) -> Level:
    """Returns the level with that label and that name; the bundle's default if both are ``None``.

    Raises:
        UnknownLevel: There is none; the message lists those there are.
    """
    if epsilon is None and name is None:
        name = bundle.default_level
    wanted = None if epsilon is None else float(number(epsilon))
    for level in bundle.levels:
        if name in (None, level.name) and wanted in (None, label(bundle, level, mechanism)[0]):
            return level
    labels = [(lv.name, epsilon_text(label(bundle, lv, mechanism)[0])) for lv in bundle.levels]
    there_are = ", ".join(f"{level} ({value})" for level, value in labels)
    raise UnknownLevel(f"no such level; {mechanism} has the levels (epsilon) {there_are}")
