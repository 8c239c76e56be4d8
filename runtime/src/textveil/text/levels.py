"""Finds the level and the epsilon that a call asks for, by name or by label."""

from decimal import Decimal, InvalidOperation

from textveil.bundle.santext_files import Level
from textveil.bundle.text import TextBundle
from textveil.errors import OptionError, UnknownLevel
from textveil.text.statement import CERTIFIED, TEXTBOOK

#: What the levels of SanText were called before they said how strong they are.
FORMER_LEVELS = {
    "noise": "strongest",
    "strict": "stronger",
    "firm": "strong",
    "balanced": "moderate",
    "light": "weak",
    "veil": "weakest",
}


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
    raise UnknownLevel(f"{no_such_level(name)}; {mechanism} has the levels (epsilon) {there_are}")


def no_such_level(name: str | None) -> str:
    """Returns how an error begins for a level that is not there: with the new name of a former one of SanText."""
    if name not in FORMER_LEVELS:
        return "no such level"
    return f"the level {name} of santext and santext+ is now called {FORMER_LEVELS[name]}"


def number(epsilon: float | str | None) -> Decimal:
    """Reads an epsilon; ``OptionError`` if it is none."""
    try:
        value = Decimal(str(epsilon))
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise OptionError("epsilon is missing or not a number")
    return value
