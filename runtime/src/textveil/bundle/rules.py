"""Rules of a language for the mode ``names``: words, patterns and surrogates.

docs/format-rules.md defines the format. The rules of English are package data. A bundle may have its own file
``rules.json``, which replaces all of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

from textveil.bundle.fact_words import FACT_WORD_KEYS, FactWords
from textveil.bundle.layout import RULES
from textveil.bundle.parsers import (
    parse_array,
    parse_boolean,
    parse_integer,
    parse_json,
    parse_object,
    parse_record,
    parse_text,
)
from textveil.bundle.reply_rules import NO_REPLY_RULES, REPLY_MODEL, ReplyRules
from textveil.bundle.word_lists import fold
from textveil.errors import BundleDamaged, BundleTooLarge
from textveil.lazy import LazyPattern, load_data

#: Limits of a file of rules.
MAX_RULES_BYTES, MAX_RULE_WORDS, MAX_RULE_TEXT = 65_536, 1024, 512
#: Classes of elements of numbers in words, by key in the file.
NUMBER_CLASSES = {"and": "a", "digits": "d", "multipliers": "x", "point": "p", "scales": "s"}
#: Pools that a template may name beside its choices; most surrogates of a template without these pools.
POOLS_OF_TEMPLATES, MAX_SURROGATES = ("given", "family"), 1 << 40
#: Most surrogates of one element of spelled numbers and letters: the twelfth power is an exact number in JavaScript.
MAX_ELEMENTS = 21
#: Groups of patterns whose parts the reader uses.
_GROUPS = {"number": 3, "number_with_unit": 2, "season": 3, "year_range": 1}
_LANGUAGE = LazyPattern(re.compile, r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_NAME = LazyPattern(re.compile, r"[a-z]+(?:_[a-z]+)*")
#: Patterns that Python's ``re`` and JavaScript match alike: no class of characters depends on Unicode, no quantifier
#: is possessive. Pieces that may have a quantifier follow the marks that may not.
_PATTERN = LazyPattern(
    re.compile,
    r"""(?:\((?:\?[:=!])?|\||
    (?:\)|\.|\[\^?(?:(?!&&|--|~~|\|\|)[^\\\[\]^]|\\[\\/.()\[\]{}*+?|^$-])+\]
    |\\[1-9](?![0-9])|\\[\\/.()\[\]{}*+?|^$]|\{[a-z_]+\}|[^\\()\[\]{}*+?|^$.\n])
    (?:(?:[*+?]|\{[0-9]{1,3}(?:,(?:[0-9]{1,3})?)?\})\??)?)*""",
    re.VERBOSE,
)
_REFERENCE = re.compile(r"\{([a-z_]+)\}")
_GROUP = LazyPattern(re.compile, r"\((?!\?)")
_FIELD = re.compile(
    r"\{(?:(?P<name>[a-z]+)|(?P<low>[A-Za-z])-(?P<high>[A-Za-z])|0x(?P<hex>[0-9a-f]{1,10})-0x(?P<to>[0-9a-f]{1,10})"
    r"|(?P<first>[0-9]{1,12})-(?P<last>[0-9]{1,12})(?:/(?P<step>[1-9][0-9]?))?)\}"
)


@dataclass(frozen=True, kw_only=True)
class Clitics:
    """Short words that are written together with a word, such as ``'s``, ``n't`` and French ``l'``.

    Attributes:
        before: Clitics that may precede any word, each with its apostrophe.
        after: Clitics that may follow any word, each with its apostrophe.
        negation: Clitic that only a few words may have, for example ``n't``; may be empty.
        negation_stems: The words that may have ``negation``.
    """

    before: frozenset[str]
    after: frozenset[str]
    negation: str
    negation_stems: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """All clitics that follow a word."""
        return self.after | {self.negation} if self.negation else self.after

    @property
    def pieces(self) -> frozenset[str]:
        """Letters of each clitic of ``all`` after its apostrophe."""
        return frozenset(clitic.partition("'")[2] for clitic in self.all)


class DateWords(NamedTuple):
    """Notations of dates in a language, in addition to ``5 March`` and ``March 5``.

    Attributes:
        links: Words between a day, a month and a year, as in Spanish ``5 de marzo de 2024``.
        lower_months: Whether the language writes months in lower case. Then a listed month counts as a month in lower
            case too.
        day_stop: Whether a full stop follows a day before a month, as in German ``5. März``.
    """

    links: frozenset[str] = frozenset()
    lower_months: bool = False
    day_stop: bool = False


@dataclass(frozen=True, kw_only=True)
class Field:
    """One part of a template of surrogates: fixed text, or a field with many values.

    The values of a field come from a list (``name``) or are a range of numbers or letters.

    Attributes:
        text: The fixed text; empty for a field.
        name: Name of the list; empty for fixed text and for a range.
        first, step, count: First value, step and number of values of a range. A fixed text has count 1.
        format: Python format of a value of a range: ``c`` for letters, otherwise with a number of digits.
    """

    text: str = ""
    name: str = ""
    first: int = 0
    step: int = 1
    count: int = 1
    format: str = ""


def parse_template(template: str) -> list[Field]:
    """Return the parts of a template, in order.

    A field is in braces: the name of a list, or a range of letters (``A-Z``), of hexadecimal numbers (``0x00-0xff``) or
    of decimal numbers with an optional step (``1930-2000/10``). Values have at least as many digits as the first
    number. A malformed field is returned as fixed text, with its braces.
    """
    found, position = list[Field](), 0
    for match in _FIELD.finditer(template):
        found.append(Field(text=template[position : match.start()]))
        position = match.end()
        name, low, high, hex, to, first, last, step = match.groups()
        if name:
            found.append(Field(name=name))
        elif low:
            found.append(Field(first=ord(low), count=max(0, ord(high) - ord(low) + 1), format="c"))
        elif hex:
            count = max(0, int(to, 16) - int(hex, 16) + 1)
            found.append(Field(first=int(hex, 16), count=count, format=f"0{len(hex)}x"))
        else:
            count = max(0, (int(last) - int(first)) // int(step or 1) + 1)
            found.append(Field(first=int(first), step=int(step or 1), count=count, format=f"0{len(first)}d"))
    return [*found, Field(text=template[position:])]


@dataclass(frozen=True, kw_only=True, eq=False)
class Patterns:
    """Regular expressions for everything that is not a plain word.

    A string matches an expression only as a whole.
    """

    dash: LazyPattern
    date: LazyPattern
    decade: LazyPattern
    digit_groups: LazyPattern
    email: LazyPattern
    file: LazyPattern
    hash: LazyPattern
    iban: LazyPattern
    ip: LazyPattern
    mac: LazyPattern
    number: LazyPattern
    number_with_unit: LazyPattern
    ordinal: LazyPattern
    path: LazyPattern
    plain_number: LazyPattern
    postcode_end: LazyPattern
    postcode_start: LazyPattern
    season: LazyPattern
    ssn: LazyPattern
    time: LazyPattern
    time_range: LazyPattern
    uuid: LazyPattern
    year: LazyPattern
    year_range: LazyPattern
    url: LazyPattern


@dataclass(frozen=True, kw_only=True, eq=False)
class Rules:
    """Rules of a language. Words are lookup keys (``fold``), unless they are printed.

    Attributes:
        language: Language tag.
        ages_before, ages_behind, ages_short, age_units: Words that show that digits are an age: ``aged 7`` (before),
            ``7 years old`` (unit and behind), ``7 yo`` (short).
        clitics: Clitics such as ``'s`` and ``l'``.
        dates: Notations of dates with the name of a month.
        domains: Domains that make a dotted name a URL in the mode ``names``.
        endings: Endings of a word that its surrogate keeps. A word with an ending in ``no_endings`` has none of them.
        kept_whole: Kept expressions with a sign or a digit inside, such as ``t-shirt`` and ``24/7``.
        months: Names of the twelve months. ``short_months`` has abbreviations other than the first three letters, and
            ``month_words`` the months that are also other words.
        also_persons: Entries of the lists of places, groups and firms that are also common names of persons.
        connectors: Words inside a name, as in ``Bank of America``.
        first_short_forms: Short forms at the beginning of a name, as in ``St. Louis``.
        name_like: Function words that may be names when they are capitalized (``Will``). They are not kept just because
            they begin a sentence.
        legal_forms: Legal forms of firms. ``no_legal_forms`` has spellings, as printed, with another meaning.
        place_prepositions: Words before a place.
        suffixes: Words that are joined to a name by a hyphen, but are no part of it (``London-based``).
        title_layouts: For each title that reveals the sex of a person, the name of its group.
        titles: For each group of titles, the title that its surrogates have.
        number_words: Class (``NUMBER_CLASSES``) of each word of a number in words, without the connectors.
        number_connectors: Class of each word that joins two words of a number, as in ``two hundred and five``.
        number_letters: Letters that are spoken for a digit.
        weak_numbers: Number words that make no number by themselves, such as ``oh`` and ``double``.
        spelled: Surrogates of the words of a number, by class.
        patterns: Regular expressions for strings that are no plain words.
        abbreviations: Abbreviations whose full stop ends no sentence.
        headline_words: Words that headlines write in lower case.
        requests: Words that begin requests and notes. They are kept before a name.
        verbs: Common words that are verbs after a name; includes ``requests``.
        choices: Lists of words from which a template may take one, by name.
        templates: Template of the surrogates, by entity type.
        facts: Words of the rules for public facts; all sets are empty if the file lacks them.
        replies: How replies write a surrogate in other forms.
    """

    language: str
    ages_before: frozenset[str]
    ages_behind: frozenset[str]
    ages_short: frozenset[str]
    age_units: frozenset[str]
    clitics: Clitics
    dates: DateWords
    domains: tuple[str, ...]
    endings: tuple[str, ...]
    no_endings: tuple[str, ...]
    kept_whole: frozenset[str]
    months: tuple[str, ...]
    short_months: Mapping[str, int]
    month_words: frozenset[str]
    also_persons: frozenset[str]
    connectors: frozenset[str]
    first_short_forms: frozenset[str]
    name_like: frozenset[str]
    legal_forms: frozenset[str]
    no_legal_forms: frozenset[str]
    place_prepositions: frozenset[str]
    suffixes: frozenset[str]
    title_layouts: Mapping[str, str]
    titles: Mapping[str, str]
    number_words: Mapping[str, str]
    number_connectors: Mapping[str, str]
    number_letters: frozenset[str]
    weak_numbers: frozenset[str]
    spelled: Mapping[str, tuple[str, ...]]
    patterns: Patterns
    abbreviations: frozenset[str]
    headline_words: frozenset[str]
    requests: frozenset[str]
    verbs: frozenset[str]
    choices: Mapping[str, tuple[str, ...]]
    templates: Mapping[str, str]
    facts: FactWords
    replies: ReplyRules = NO_REPLY_RULES


@cache
def english_rules() -> Rules:
    """Return the rules of English. The tests of this package check them."""
    return _build(load_data(RULES))


def read_rules(content: bytes) -> Rules:
    """Parse and check a file of rules.

    The file must have exactly the keys of the rules of English, and values of the same types. Only ``titles``,
    ``short`` and ``choices`` may have other keys. The object ``optional`` may be added; this release reads its object
    ``facts`` and ignores all else in it.

    Raises:
        BundleDamaged: The file is no JSON object, repeats a key, or has other keys or types; or a word is not its own
            lookup key, a pattern has a construct that not all readers treat alike, or a template is malformed.
        BundleTooLarge: The file, a list or a text is too large.
    """
    found = parse_json(content, RULES, max_bytes=MAX_RULES_BYTES)
    optional = parse_object(found.pop("optional", {}), RULES)  # without these rules fewer words are kept
    facts, dates, replies = (parse_object(optional.get(name, {}), RULES) for name in ("facts", "dates", "replies"))
    _check_shape(found, {key: entry for key, entry in load_data(RULES).items() if key != "optional"}, ())
    for key in FACT_WORD_KEYS:
        _check_shape(facts.get(key, []), [], ("optional", "facts", key))
    for key, default in DateWords()._asdict().items():
        model = default if isinstance(default, bool) else []
        _check_shape(dates.get(key, model), model, ("optional", "dates", key))
    for key, model in REPLY_MODEL.items():
        _check_shape(replies.get(key, {} if isinstance(model, dict) else []), model, ("optional", "replies", key))
    for name in found["patterns"]:
        _check_pattern(found["patterns"], name)
    _check_words(found)
    _check_surrogates(found)
    return _build({**found, "optional": {"facts": facts, "dates": dates, "replies": replies}})


def _build(found: Mapping[str, Any]) -> Rules:
    ages, clitics, months, names = found["ages"], found["clitics"], found["months"], found["names"]
    numbers, sentences, surrogates = found["numbers"], found["sentences"], found["surrogates"]
    classes = {numbers_class: numbers[key] for key, numbers_class in NUMBER_CLASSES.items()}
    words = {word: of for of, entry in classes.items() for word in entry["words"]}
    connectors = {word: of for word, of in words.items() if of in ("a", "p")}
    titles = names["titles"]
    requests = frozenset(sentences["requests"])
    facts = found.get("optional", {}).get("facts", {})  # other keys are ignored
    dates = found.get("optional", {}).get("dates", {})
    return Rules(
        language=found["language"],
        ages_before=frozenset(ages["before"]),
        ages_behind=frozenset(ages["behind"]),
        ages_short=frozenset(ages["short"]),
        age_units=frozenset(ages["units"]),
        clitics=Clitics(
            before=frozenset(clitics["before"]),
            after=frozenset(clitics["after"]),
            negation=clitics["negation"],
            negation_stems=frozenset(clitics["negation_stems"]),
        ),
        dates=DateWords(
            frozenset(dates.get("links", ())), dates.get("lower_months", False), dates.get("day_stop", False)
        ),
        domains=(*found["domains"]["all"], *found["domains"]["names"]),
        endings=tuple(found["endings"]["kept"]),
        no_endings=tuple(found["endings"]["except"]),
        kept_whole=frozenset(found["kept_whole"]),
        months=tuple(months["names"]),
        short_months=MappingProxyType(months["short"]),
        month_words=frozenset(months["also_words"]),
        also_persons=frozenset(names["also_persons"]),
        connectors=frozenset(names["connectors"]),
        first_short_forms=frozenset(names["first_short_forms"]),
        name_like=frozenset(names["function_words"]),
        legal_forms=frozenset(names["legal_forms"]),
        no_legal_forms=frozenset(names["no_legal_forms"]),
        place_prepositions=frozenset(names["place_prepositions"]),
        suffixes=frozenset(names["suffixes"]),
        title_layouts={word: layout for layout, entry in titles.items() for word in entry["words"]},
        titles={layout: entry["surrogate"] for layout, entry in titles.items()},
        number_words={word: of for word, of in words.items() if word not in connectors},
        number_connectors=connectors,
        number_letters=frozenset(numbers["letters"]),
        weak_numbers=frozenset(numbers["weak"]),
        spelled={of: tuple(entry["surrogates"]) for of, entry in classes.items()},
        patterns=_compile(found["patterns"], found["domains"]["all"] + found["domains"]["names"]),
        abbreviations=frozenset(sentences["abbreviations"]),
        headline_words=frozenset(sentences["headline_words"]),
        requests=requests,
        verbs=requests.union(sentences["verbs"]),
        choices={name: tuple(entries) for name, entries in surrogates["choices"].items()},
        templates=surrogates["templates"],
        facts=FactWords(**{key: frozenset(facts[key]) for key in FACT_WORD_KEYS if key in facts}),
        replies=_build_reply_rules(found),
    )


def _build_reply_rules(found: Mapping[str, Any]) -> ReplyRules:
    """Return the rules for replies: those of ``optional.replies`` with the clitics that precede a word."""
    replies = found.get("optional", {}).get("replies", {})
    data = {"clitics": found["clitics"]["before"], **{key: replies[key] for key in REPLY_MODEL if key in replies}}
    try:
        return ReplyRules(data) if any(data.values()) else NO_REPLY_RULES
    except ValueError as error:
        raise BundleDamaged(f"{RULES}: optional.replies.{error}") from error


def _compile(patterns: Mapping[str, Mapping[str, Any]], domains: "list[str]") -> Patterns:
    found = {
        name: LazyPattern(re.compile, expand_pattern(patterns, name), re.DOTALL | (re.IGNORECASE * entry["any_case"]))
        for name, entry in patterns.items()
    }
    url = (
        rf".*://.*|(?:mailto|tel):.*|www\..+|(?:[\w-]+\.)+(?:{'|'.join(map(re.escape, domains))})(?:[/:?#].*)?"
        r"|(?:[\w-]+\.)+[a-z]{2,24}[/?#].*"
    )
    return Patterns(**found, url=LazyPattern(re.compile, url, re.IGNORECASE | re.DOTALL))


def expand_pattern(patterns: Mapping[str, Mapping[str, Any]], name: str) -> str:
    """Return a pattern in which each name of another pattern, in braces, is replaced by it."""
    return _REFERENCE.sub(lambda match: f"(?:{patterns[match[1]]['text']})", patterns[name]["text"])


#: Objects whose keys are names of their own, and lists whose words are spelled as printed.
_OPEN = frozenset((
    ("names", "titles"), ("months", "short"), ("surrogates", "choices"),
    *(("optional", "replies", key) for key, model in REPLY_MODEL.items() if isinstance(model, dict)),
))  # fmt: skip
_AS_PRINTED = frozenset((("months", "names"), ("names", "no_legal_forms")))


def _check_shape(value: Any, like: Any, path: tuple[str, ...]) -> None:
    """Check that a value has the keys and types of a model, which are the rules of English.

    Args:
        value: The value to check, at any depth of the file.
        like: The corresponding value of the model.
        path: Keys that lead to the value.
    """
    if isinstance(like, dict):
        is_open = path in _OPEN
        entries = parse_object(value, RULES) if is_open else parse_record(value, like, RULES)
        for key, entry in entries.items():
            if is_open and not _NAME.fullmatch(key):
                raise BundleDamaged(
                    f"{RULES}: {'.'.join(path)}: a key must consist of lower-case letters, digits and underscores"
                )
            _check_shape(entry, next(iter(like.values())) if is_open else like[key], (*path, key))
    elif isinstance(like, list):
        words = [parse_text(word, RULES) for word in parse_array(value, RULES, MAX_RULE_WORDS)]
        is_folded = path not in _AS_PRINTED and "surrogates" not in path
        fit = all(
            0 < len(word) <= MAX_RULE_TEXT and word == (fold(word) if is_folded else word).strip() for word in words
        )
        if not fit or len(set(words)) < len(words):
            raise BundleDamaged(
                f"{RULES}: {'.'.join(path)}: a word is empty, too long, not in lower case, or occurs twice"
            )
    elif isinstance(like, bool):
        parse_boolean(value, RULES)
    elif isinstance(like, int):
        parse_integer(value, 1, 12, RULES)
    elif len(parse_text(value, RULES)) > MAX_RULE_TEXT:
        raise BundleTooLarge(f"{RULES}: {'.'.join(path)}: too long")


def _check_pattern(patterns: Mapping[str, Any], name: str) -> None:
    """Check that a pattern has only constructs that all readers treat alike."""
    written = patterns[name]["text"]
    damaged = BundleDamaged(f"{RULES}: patterns.{name}: not of the supported subset")
    if not _PATTERN.fullmatch(written):
        raise damaged
    for reference in _REFERENCE.findall(written):
        named = patterns.get(reference, {}).get("text", "(")
        if _GROUP.search(named) or _REFERENCE.search(named):
            raise damaged  # a group would have another number, and no pattern may name itself
    try:
        groups = re.compile(expand_pattern(patterns, name)).groups
    except (re.error, RecursionError, OverflowError) as error:
        raise damaged from error
    if _GROUPS.get(name, groups) != groups:
        raise BundleDamaged(f"{RULES}: patterns.{name}: needs {_GROUPS[name]} groups")


def _check_words(found: Mapping[str, Any]) -> None:
    """Check words that depend on each other: clitics, titles and months."""
    if not _LANGUAGE.fullmatch(found["language"]):
        raise BundleDamaged(f"{RULES}: language: is not a language tag such as en")
    clitics, titles, months = found["clitics"], found["names"]["titles"], found["months"]["names"]
    negation = clitics["negation"]
    if not all(re.fullmatch(r"[a-z]+'", clitic) for clitic in clitics["before"]):
        raise BundleDamaged(f"{RULES}: clitics.before: each must be letters a to z followed by an apostrophe")
    if not all(re.fullmatch(r"'[^\W\d_]+", clitic) for clitic in clitics["after"]) or not re.fullmatch(
        r"(?:[^\W\d_]*'[^\W\d_]+)?", negation
    ):
        raise BundleDamaged(f"{RULES}: clitics: each must be an apostrophe followed by letters")
    words = [word for entry in titles.values() for word in entry["words"]]
    if len(set(words)) < len(words) or any(fold(of["surrogate"]) not in of["words"] for of in titles.values()):
        raise BundleDamaged(
            f"{RULES}: names.titles: a title has two layouts, or a surrogate is not a title of the list"
        )
    if len(months) != len(set(months)) or len(months) != 12:
        raise BundleDamaged(f"{RULES}: months.names: must have twelve entries")


def _check_surrogates(found: Mapping[str, Any]) -> None:
    """Check that each template has at least one surrogate, and names only lists that exist."""
    choices, templates = found["surrogates"]["choices"], found["surrogates"]["templates"]
    lists = [*choices.values(), *(found["numbers"][key]["surrogates"] for key in NUMBER_CLASSES)]
    if not all(lists) or "letter" not in choices or not choices.keys().isdisjoint(POOLS_OF_TEMPLATES):
        raise BundleDamaged(f"{RULES}: surrogates: a list is empty or missing, or has the name of a pool")
    if (
        max(map(len, [choices["letter"], *(found["numbers"][key]["surrogates"] for key in NUMBER_CLASSES)]))
        > MAX_ELEMENTS
    ):
        raise BundleTooLarge(f"{RULES}: surrogates: a spelled element has more surrogates than {MAX_ELEMENTS}")
    pools = dict.fromkeys(POOLS_OF_TEMPLATES, ("",))
    for kind, template in templates.items():
        fields = parse_template(template)
        names = [field.name for field in fields if field.name]
        sizes = [field.count for field in fields if not field.name]
        written = "".join(field.text for field in fields)
        if "{" in written or "}" in written or set(names) - choices.keys() - pools.keys() or 0 in sizes:
            raise BundleDamaged(f"{RULES}: surrogates.templates.{kind}: malformed, or uses an undefined field")
        if prod((*sizes, *(len(choices.get(name, pools.get(name, ()))) for name in names))) > MAX_SURROGATES:
            raise BundleTooLarge(f"{RULES}: surrogates.templates.{kind}: too many surrogates")
