"""Options of a sanitizing call, and the checks of options that do not depend on the mechanism."""

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal, InvalidOperation
from numbers import Real
from typing import TypedDict

from textveil.arguments import check_choice, refuse_unknown_options
from textveil.bundle.layout import NAMES_MODE, STAIRCASE_MODES
from textveil.errors import OptionError

_SET_OPTIONS = ("deny", "keep", "tag", "drop", "allow", "randomize", "known")
#: The protection modes, from the most readable to the most private.
MODES = (NAMES_MODE, *STAIRCASE_MODES)
#: Values of the option ``facts``. Each value keeps all that the value before it keeps, and more.
FACTS = ("none", "plain", "useful", "public")
NO_FACTS, PLAIN_FACTS = FACTS[:2]
DEFAULT_FACTS = PLAIN_FACTS
#: Default of ``style``.
DEFAULT_STYLE = "surrogate"


class Options(TypedDict, total=False):
    """Options of every call that sanitizes a text or describes a mechanism. All are optional.

    Keys:
        mechanism: ``staircase``, ``santext+``, ``santext``, ``fbdd``, ``krr`` or ``random``; if omitted, the default of
            the bundle (the folder with word lists, tables and settings).
        epsilon: The privacy loss per word: one of the values that ``textveil levels`` lists; the bundle's default if
            omitted. For ``krr`` any number in (0, 30], for ``fbdd`` any in (0, 100000]; both require it. The staircase
            also requires ``protect``, since the default mode has no epsilon.
        protect: Protection mode. ``"words"`` leaves function words unchanged, replaces names, places, numbers and
            similar entities by others of the same type (*surrogates*), and randomizes all other words. ``"all"``
            randomizes function words too. ``"names"`` leaves the words of a public list unchanged, and replaces all
            others by surrogates. The default is ``"names"``. If the bundle has no lists for it, or the call has a
            ``mechanism``, the default is the mode of the bundle's mechanism.
        consistent: Whether equal words of a document get equal outputs (``staircase``, ``names``). The default is true
            for ``names`` and false for other modes. ``names`` also accepts ``"corpus"``: equal strings of all documents
            get equal outputs, derived from a key.
        key: At least 16 secret bytes, for ``consistent="corpus"``.
        consistent_cap: Limit for a document with ``consistent``; 2,000 if omitted. ``staircase`` counts all randomized
            words, names and numbers, repetitions included. A longer document is an error. ``names`` counts the distinct
            names, numbers and words with surrogates. Further ones become tags.
        replacement_probability: The parameter ``p`` of SanText+, in (0, 1]: the probability that a common word is
            replaced.
        deny: Private words. ``santext+`` treats them as sensitive even if they are common. ``staircase`` and ``names``
            treat them like words on no list, so they are always replaced or randomized.
        style: ``"surrogate"`` or ``"tag"`` (``names``): whether the output has surrogates or tags such as ``[city 1]``.
            ``"surrogate"`` if omitted.
        keep, tag, drop: Entity types, such as ``"city"``, that stay unchanged, become tags, or are removed (``names``).
        facts: Which public facts ``names`` leaves unchanged, besides common words: ``"none"``, ``"plain"`` (technical
            and medical terms, and numbers with a unit), ``"useful"`` (headings, languages, ages below 90, years,
            amounts and products in use too) or ``"public"`` (countries, firms and all their products too). ``"plain"``
            if omitted.
        allow: Words that stay unchanged at every position (``names``). The list is public: a reader who has the list
            learns more from the output.
        randomize: Words that become random words of this list wherever they are in lower case (``names``). The option
            ``epsilon`` states their privacy loss. At least 100 of them must be in the vocabulary of the bundle's
            staircase mechanism. The list is public.
        patterns: Entity types of your own, each with a pattern: ``{"employee": "EMP[0-9]{5}"}`` (``names``). A pattern
            is a subset of regular expressions without backtracking, and matches whole words. A match becomes a random
            string of the same character classes, or a tag such as ``[employee 1]``.
        known: Persons whose names are replaced wherever they occur. Each string lists the spellings of one person:
            ``"Daniel Keller, D. Keller, Dan"`` (``names``). All spellings of one person get one surrogate person. The
            list is private.
        sanitize_punctuation: Whether punctuation is randomized as tokens. Then the output loses the case of words, and
            each white space becomes one blank.

    >>> options: Options = {"protect": "words", "epsilon": 10}
    >>> check_options(options)
    {'protect': 'words', 'epsilon': 10}
    """

    mechanism: str | None
    epsilon: float | str | None
    replacement_probability: float | str | None
    protect: str | None
    consistent: bool | str
    key: bytes
    consistent_cap: int
    deny: Collection[str]
    style: str
    keep: Collection[str]
    tag: Collection[str]
    drop: Collection[str]
    facts: str
    allow: Collection[str]
    randomize: Collection[str]
    patterns: Mapping[str, str]
    known: Collection[str]
    sanitize_punctuation: bool


#: Default of ``consistent_cap``: the most words, names and numbers of a document with consistent outputs.
CONSISTENT_CAP = 2_000
#: Options of the mode ``names`` alone.
NAMES_OPTIONS = frozenset(("style", "facts", "keep", "tag", "drop", "allow", "randomize", "key", "patterns", "known"))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, str | Real | Decimal) and not isinstance(value, bool)


def _are_words(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str) and all(isinstance(word, str) for word in value)


def _are_patterns(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for pair in value.items() for text in pair)


#: Python enforces no types at run time, and ``sanitize_punctuation="no"`` must not count as true.
_TYPES: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(("mechanism", "protect", "style", "facts"), (_is_text, "{} must be a string")),
    **dict.fromkeys(
        ("epsilon", "replacement_probability"), (_is_number, "{} must be a number, or its digits as a string")
    ),
    "consistent": (lambda value: _is_flag(value) or value == "corpus", "{} must be true, false or corpus"),
    "key": (lambda value: isinstance(value, bytes), "{} must be bytes"),
    "consistent_cap": (
        lambda value: type(value) is int and value > 0,
        "consistent_cap must be an integer, at least 1",
    ),
    "sanitize_punctuation": (_is_flag, "{} must be true or false"),
    "patterns": (_are_patterns, "{} must be a mapping of names of types to patterns"),
    **dict.fromkeys(("deny", "allow", "randomize"), (_are_words, '{} must be a list of words, such as ["doctor"]')),
    **dict.fromkeys(("keep", "tag", "drop"), (_are_words, '{} must be a list, such as ["city"]')),
    "known": (_are_words, '{} must be a list, such as ["Daniel Keller, Dan"]'),
}


def check_options(options: Mapping[str, object]) -> dict[str, object]:
    """Check the names and types of options, and return all options whose values are not ``None``.

    Raises:
        OptionError: An option has an unknown name, a value of a wrong type, or a value outside its choices. The message
            does not repeat the value.
    """
    refuse_unknown_options(options, Options.__annotations__)
    checked = {name: value for name, value in options.items() if value is not None}
    for name, value in checked.items():
        if name in _TYPES and not _TYPES[name][0](value):
            raise OptionError(_TYPES[name][1].format(name))
    check_choice("protect", checked.get("protect", NAMES_MODE), MODES)
    return checked


def make_cache_key(options: Options) -> tuple[object, ...]:
    """Return a hashable key for a cache: two calls have the same key only if their options mean the same.

    Raises:
        OptionError: See ``check_options``.
    """
    checked = check_options(options)
    sets = {
        name: frozenset(value)
        for name, value in checked.items()
        if isinstance(value, Collection) and name in _SET_OPTIONS
    }
    others = {name: repr(value) for name, value in checked.items() if name not in sets}
    return tuple(sorted(others.items())), frozenset(sets.items())


def parse_epsilon(epsilon: float | str | None) -> Decimal:
    """Parse an epsilon as a decimal number.

    Raises:
        OptionError: The value is not a finite number.
    """
    try:
        value = Decimal(str(epsilon))
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise OptionError("epsilon must be a number, such as 10")
    return value
