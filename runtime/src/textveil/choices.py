"""Checks of the names of options, and of options with a few values; errors suggest the one that the user meant."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from textveil.errors import OptionError


def refuse_unknown_options(options: Collection[str], choices: Collection[str]) -> None:
    """Raise ``OptionError`` if the name of an option is not one of ``choices``.

    The message suggests the most similar choice that the call does not use, or lists all choices if none is similar. It
    does not repeat the unknown name.

    >>> refuse_unknown_options({"fact": "useful"}, ["style", "facts"])
    Traceback (most recent call last):
    textveil.errors.OptionError: unknown option: did you mean facts?
    """
    for name in options:
        if name not in choices:
            suggestion = suggest_choice(name, [choice for choice in choices if choice not in options])
            raise OptionError(f"unknown option: {suggestion or 'choose among ' + ', '.join(choices)}")


def suggest_choice(typed: object, choices: Iterable[str]) -> str:
    """Return the choice with the most similar spelling as a question, such as ``did you mean facts?``.

    The result is empty if no choice is similar. It contains no part of ``typed``, which may be private.

    >>> suggest_choice("usefu", ["plain", "useful"]), suggest_choice("everything", ["plain", "useful"])
    ('did you mean useful?', '')
    """
    return "".join(f"did you mean {choice}?" for choice in get_close_matches(str(typed), choices, 1))


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ``OptionError`` if the value of an option is not one of ``choices``. The message suggests a similar one."""
    if value not in choices:
        suggestion = suggest_choice(value, choices)
        raise OptionError(f"{name} must be one of {', '.join(choices)}{suggestion and '; ' + suggestion}")
