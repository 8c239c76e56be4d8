"""The options of a call, and what is checked of them whatever the mechanism is."""

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal, InvalidOperation
from numbers import Real
from typing import TypedDict

from textveil.errors import OptionError

CASES = ("carry", "drop")
_SETS = ("deny", "keep", "tag", "drop", "allow", "draw")
#: The rungs of the ladder, from the most readable to the most private.
RUNGS = ("names", "words", "all")


class Options(TypedDict, total=False):
    """The options of every call that draws or describes a draw. All may be left out.

    Keys:
        mechanism: ``staircase``, ``santext+``, ``santext``, ``fbdd``, ``krr`` or ``random``; the bundle's default if
            left out.
        epsilon: Which level, by its epsilon, exactly as the bundle has it: the bundle's default if left out. Any number
            in (0, 30] for ``krr``, in (0, 100000] for ``fbdd``, and required for both.
        protect: The rung of the staircase's ladder: ``"words"`` shows function words, replaces names, places, numbers
            and the like by others of their kind, and draws all other words; ``"all"`` draws function words too. The
            bundle's default if left out. ``"names"`` shows the words of a public list, and replaces all others by
            members of their kinds.
        consistent: Whether equal words of a document become equal words (``staircase``); the default of ``names``,
            which takes ``"corpus"`` too: equal strings of all documents become equal under a key.
        key: At least 16 secret bytes, for ``consistent="corpus"``.
        consistent_cap: The most drawn words, names and numbers of a document with ``consistent``, equal ones counted;
            2,000 if left out.
        split: With ``consistent``: a document above the cap is released in parts, each as a document of its own,
            where it is refused otherwise.
        replacement_probability: SanText+'s ``p`` in (0, 1]: how often a common word is replaced.
        deny: Words that are sensitive in this call even if they are common (``santext+``), or unknown words even if
            they would be visible or in the vocabulary (``staircase``, ``names``).
        style: ``"surrogate"`` or ``"tag"`` (``names``): whether others of a kind or tags, ``[city 1]``, come out.
        keep, tag, drop: Kinds that are shown, become tags, or of which nothing is left (``names``).
        allow: Words that are shown wherever they stand (``names``). The list is public: who knows it learns more.
        draw: Words that are drawn where they stand in lower case, over all of them, at ``epsilon`` (``names``): at
            least 100 with a row of the bundle's staircase. The list is public.
        case: ``"carry"`` the case pattern of each word over (the default), or ``"drop"`` it.
        sanitize_punctuation: Punctuation is sanitized as tokens, case dropped, and white space becomes single blanks.
    """

    mechanism: str | None
    epsilon: float | str | None
    replacement_probability: float | str | None
    protect: str | None
    consistent: bool | str
    key: bytes
    consistent_cap: int
    split: bool
    deny: Collection[str]
    style: str
    keep: Collection[str]
    tag: Collection[str]
    drop: Collection[str]
    allow: Collection[str]
    draw: Collection[str]
    case: str
    sanitize_punctuation: bool


#: The most different words, names and numbers of a document whose equal strings become equal.
CONSISTENT_CAP = 2_000
#: Options of the rung names alone.
OF_NAMES = frozenset(("style", "keep", "tag", "drop", "allow", "draw", "key"))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, str | Real | Decimal) and not isinstance(value, bool)


def _are_words(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str) and all(isinstance(word, str) for word in value)


#: Python checks no types, and ``sanitize_punctuation="no"`` must not be true.
_TYPES: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(("mechanism", "protect", "style", "case"), (_is_text, "{} is text")),
    **dict.fromkeys(("epsilon", "replacement_probability"), (_is_number, "{} is a number, or its digits as text")),
    "consistent": (lambda value: _is_flag(value) or value == "corpus", "{} is true, false or corpus"),
    "key": (lambda value: isinstance(value, bytes), "{} is bytes"),
    "consistent_cap": (
        lambda value: type(value) is int and value > 0,
        "the cap of consistent draws is a whole number of mentions, at least 1",
    ),
    **dict.fromkeys(("split", "sanitize_punctuation"), (_is_flag, "{} is true or false")),
    **dict.fromkeys(_SETS, (_are_words, "{} takes a collection of words")),
}


def given(options: Mapping[str, object]) -> dict[str, object]:
    """Returns the options that are given: all but those that are ``None``.

    Raises:
        OptionError: There is no option of that name, or a value has another type or none of its values; the message
            does not repeat the value.
    """
    if not set(options) <= set(Options.__annotations__):
        raise OptionError(f"unknown option; there are {', '.join(Options.__annotations__)}")
    found = {name: value for name, value in options.items() if value is not None}
    for name, value in found.items():
        if name in _TYPES and not _TYPES[name][0](value):
            raise OptionError(_TYPES[name][1].format(name))
    if found.get("case", "carry") not in CASES:
        raise OptionError(f"case must be one of {', '.join(CASES)}")
    if found.get("protect", "words") not in RUNGS:
        raise OptionError(f"protect must be one of {', '.join(RUNGS)}")
    return found


def cache_key(options: Options) -> tuple[object, ...]:
    """Returns a key that two sets of options share only if they mean the same.

    Raises:
        OptionError: As ``given``.
    """
    found = given(options)
    sets = {name: frozenset(value) for name, value in found.items() if isinstance(value, Collection) and name in _SETS}
    others = {name: repr(value) for name, value in found.items() if name not in sets}
    return tuple(sorted(others.items())), frozenset(sets.items())


def number(epsilon: float | str | None) -> Decimal:
    """Reads an epsilon; ``OptionError`` if it is none."""
    try:
        value = Decimal(str(epsilon))
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise OptionError("epsilon is a number, such as 10")
    return value
