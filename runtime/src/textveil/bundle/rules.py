"""Rules of a language for hiding names (mode ``names``): words, patterns and surrogates (replacements).

docs/format-rules.md defines the format. The rules of English are a data file of this package. A bundle (data folder)
may have its own file ``rules.json``, which replaces all rules of English.
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
from textveil.bundle.reply_rules import NO_REPLY_RULES, REPLY_MODEL, ReplyRules, make_reply_rules
from textveil.bundle.word_lists import fold
from textveil.errors import BundleDamaged, BundleTooLarge
from textveil.lazy import LazyPattern, load_data

#: Limits of a rules file: bytes, words of one list, and characters of one string.
MAX_RULES_BYTES, MAX_RULE_WORDS, MAX_RULE_TEXT = 65_536, 1024, 512
#: One-letter class of the words of spelled-out numbers (*hundred*), by the key in the rules file.
NUMBER_CLASSES = {"and": "a", "digits": "d", "multipliers": "x", "point": "p", "scales": "s"}
#: Names of the surrogate pools (lists of replacements) that a template may use besides the lists of ``choices``; and
#: the maximum number of surrogates that a template generates, if the entries of these pools do not count.
POOLS_OF_TEMPLATES, MAX_SURROGATES = ("given", "family"), 1 << 40
#: Maximum number of surrogates of one word of a spelled-out number. Its twelfth power is an exact number in JavaScript.
MAX_ELEMENTS = 21
#: Required number of capturing groups in the patterns whose groups the code uses.
_GROUPS = {"number": 3, "number_with_unit": 2, "season": 3, "year_range": 1}
_LANGUAGE = LazyPattern(re.compile, r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_NAME = LazyPattern(re.compile, r"[a-z]+(?:_[a-z]+)*")
#: The regular expressions that Python's ``re`` and JavaScript match in the same way: no character class depends on
#: Unicode, and no quantifier is possessive. The first line below has the symbols that no quantifier may follow.
_PATTERN = LazyPattern(
    re.compile,
    r"""(?:\((?:\?[:=!])?|\||
    (?:\)|\.|\[\^?(?:(?!&&|--|~~|\|\|)[^\\\[\]^]|\\[\\/.()\[\]{}*+?|^$-])+\]
    |\\[1-9](?![0-9])|\\[\\/.()\[\]{}*+?|^$]|\{[a-z_]+\}|[^\\()\[\]{}*+?|^$.\n])
    (?:(?:[*+?]|\{[0-9]{1,3}(?:,(?:[0-9]{1,3})?)?\})\??)?)*""",
    re.VERBOSE,
)
_REFERENCE, _GROUP = re.compile(r"\{([a-z_]+)\}"), LazyPattern(re.compile, r"\((?!\?)")
_FIELD = re.compile(
    r"\{(?:(?P<name>[a-z]+)|(?P<low>[A-Za-z])-(?P<high>[A-Za-z])|0x(?P<hex>[0-9a-f]{1,10})-0x(?P<to>[0-9a-f]{1,10})"
    r"|(?P<first>[0-9]{1,12})-(?P<last>[0-9]{1,12})(?:/(?P<step>[1-9][0-9]?))?)\}"
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Clitics:
    """Short words that a language joins to another word, such as ``'s``, ``n't`` and French ``l'``.

    Attributes:
        before: Clitics that may precede any word, each with its apostrophe.
        after: Clitics that may follow any word, each with its apostrophe.
        negation: Clitic that may follow only a few words, for example ``n't``; empty if the language has none.
        negation_stems: The words that ``negation`` may follow.
    """

    before: frozenset[str]
    after: frozenset[str]
    negation: str
    negation_stems: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """All clitics (short words such as ``'s``) that a language appends to a word: ``after`` and ``negation``."""
        return self.after | {self.negation} if self.negation else self.after

    @property
    def pieces(self) -> frozenset[str]:
        """Letters after the apostrophe of each clitic (a shortened word such as ``'s`` or ``'ll``): ``s``, ``ll``."""
        return frozenset(clitic.partition("'")[2] for clitic in self.all)


class DateWords(NamedTuple):
    """Notations of dates in a language, in addition to ``5 March`` and ``March 5``.

    Attributes:
        links: Words between a day, a month and a year, such as ``de`` in Spanish ``5 de marzo de 2024``.
        lower_months: Whether the language writes months in lower case. If so, a listed month is also recognized in
            lower case.
        day_stop: Whether the language writes a full stop between a day and a month, as in German ``5. März``.
    """

    links: frozenset[str] = frozenset()
    lower_months: bool = False
    day_stop: bool = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Field:
    """One part of a template that generates surrogates (replacements), such as phone numbers.

    The part is fixed text, a random entry of a list, or a random value of a range.

    Attributes:
        text: The fixed text; empty for a list and a range.
        name: Name of the list; empty for fixed text and a range.
        first, step, count: First value, step and number of values of a range of integers. For letters, the integers
            are code points. For fixed text, ``count`` is 1.
        format: Format specification of Python for a value of a range: ``c`` for letters, such as ``03d`` for numbers.
    """

    text: str = ""
    name: str = ""
    first: int = 0
    step: int = 1
    count: int = 1
    format: str = ""


def parse_template(template: str) -> list[Field]:
    """Parse a template that generates surrogates (replacements) into its parts, in order.

    For example, ``555-{0100-0199}`` generates phone numbers from fixed text and a number.

    Text in braces is a field: the name of a list, or a range of letters (``A-Z``), of hexadecimal numbers
    (``0x00-0xff``) or of decimal numbers with an optional step (``1930-2000/10``). Numbers are padded with zeros to the
    number of digits of the first number. A malformed field is returned as fixed text, with its braces.
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Patterns:
    """Regular expressions for tokens that are not plain words, such as numbers, dates and email addresses.

    An expression applies only if it matches the whole token.
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Rules:
    """Rules of a language for the mode ``names``, which hides names and numbers.

    Words are lookup keys (``fold``: lower case, one kind of apostrophe), except in ``no_legal_forms``, ``choices`` and
    the surrogates (replacements), which have their printed spelling.

    Attributes:
        language: Language tag.
        ages_before, ages_behind, ages_short, age_units: Words that make digits an age: ``ages_before`` as in
            ``aged 7``, ``age_units`` and ``ages_behind`` as in ``7 years old``, ``ages_short`` as in ``7 yo``.
        clitics: Clitics such as ``'s`` and ``l'``.
        dates: Notations of dates with the name of a month.
        domains: Top-level domains. The mode ``names`` treats a dotted name with one of these as a URL.
        endings: Endings, such as a plural ending. The surrogate of a word with such an ending has the same ending.
        no_endings: Exceptions to ``endings``: the surrogate of a word that ends with one of these has no such ending.
        kept_whole: Expressions with a sign or a digit that are left unchanged, such as ``t-shirt`` and ``24/7``.
        months: Names of the twelve months.
        short_months: Abbreviations of months other than their first three letters.
        month_words: Names of months that are also other words, such as ``may``.
        also_persons: Places, groups and firms that are also common names of persons.
        connectors: Words inside a name, such as ``of`` in ``Bank of America``.
        first_short_forms: Abbreviations at the beginning of a name, such as ``St.`` in ``St. Louis``.
        name_like: Function words that, if capitalized, may be names even at the start of a sentence, such as ``Will``.
        legal_forms: Legal forms of firms, such as ``ltd``.
        no_legal_forms: Spellings that have another meaning although they look like a legal form, such as ``CO``
            (Colorado).
        place_prepositions: Prepositions before a place.
        suffixes: Words after a hyphen that are not part of a name, such as ``based`` in ``London-based``.
        title_layouts: Name of a group for each title that reveals the sex of a person, such as ``mrs``. Titles that
            reveal the same sex have the same group.
        titles: Surrogate of the titles of each group.
        number_words: Class (``NUMBER_CLASSES``) of each word of spelled-out numbers, except connectors.
        number_connectors: Class of each word that joins number words, such as ``and`` in ``two hundred and five``.
        number_letters: Letters that are read as a digit, such as ``o`` for 0.
        weak_numbers: Words that are part of a number only beside other number words, such as ``oh`` and ``double``.
        spelled: Surrogates for the words of a spelled-out number, by class.
        patterns: Regular expressions for strings that are not plain words.
        abbreviations: Abbreviations whose full stop does not end a sentence.
        headline_words: Words that headlines write in lower case.
        requests: Words that begin requests and notes. They are left unchanged before a name.
        verbs: Common words that are verbs if they follow a name; includes ``requests``.
        choices: Lists of words for templates, by the name of the list.
        templates: Template for surrogates (``parse_template``) of each entity type that has one.
        facts: Words that identify public facts, such as the number in ``5 km``, which may be left unchanged. All sets
            are empty if the rules file lacks them.
        replies: Rules for the inflected and elided forms of surrogates in replies.
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
    """Return the words, patterns and replacements of English for hiding names. The first call reads the data file."""
    return _build(load_data(RULES))


def read_rules(content: bytes) -> Rules:
    """Parse and check a file ``rules.json``: words, patterns and replacements of a language for hiding names.

    The file must have exactly the keys of the rules of English, and values of the same types. Only the objects
    ``titles``, ``short`` and ``choices`` may have any keys. The file may also have the object ``optional``. This
    version reads its keys ``facts``, ``dates`` and ``replies``, and ignores all others.

    Raises:
        BundleDamaged: The content is not a JSON object, repeats a key, or has a wrong key or type; a word differs from
            its lookup key (``fold``); Python and JavaScript may match a pattern differently; or a template for
            replacements is malformed.
        BundleTooLarge: The file, a list or a string is too large.
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
    """Build the rules by which a model's reply may inflect a surrogate (replacement), such as German ``Kellers``."""
    replies = found.get("optional", {}).get("replies", {})
    data = {"clitics": found["clitics"]["before"], **{key: replies[key] for key in REPLY_MODEL if key in replies}}
    try:
        return make_reply_rules(data) if any(data.values()) else NO_REPLY_RULES
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
    """Return a regular expression in which the expression itself takes the place of each reference.

    A reference is the name of another pattern in braces, such as ``{other}``.

    Args:
        patterns: All patterns of a rules file by name. Each has a ``text``, in which ``{other}`` refers to the pattern
            ``other``.
        name: Name of the pattern.
    """
    return _REFERENCE.sub(lambda match: f"(?:{patterns[match[1]]['text']})", patterns[name]["text"])


#: Objects that may have any keys; and lists whose words are printed spellings instead of lookup keys.
_OPEN = frozenset((
    ("names", "titles"), ("months", "short"), ("surrogates", "choices"),
    *(("optional", "replies", key) for key, model in REPLY_MODEL.items() if isinstance(model, dict)),
))  # fmt: skip
_AS_PRINTED = frozenset((("months", "names"), ("names", "no_legal_forms")))


def _check_shape(value: Any, like: Any, path: tuple[str, ...]) -> None:
    """Check that a value of a rules file has the same keys and types as ``like``, its counterpart for English."""
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
    """Check that a regular expression matches alike in Python and JavaScript, and has the required groups."""
    written = patterns[name]["text"]
    damaged = BundleDamaged(f"{RULES}: patterns.{name}: uses syntax that is not supported (docs/format-rules.md)")
    if not _PATTERN.fullmatch(written):
        raise damaged
    for reference in _REFERENCE.findall(written):
        named = patterns.get(reference, {}).get("text", "(")
        if _GROUP.search(named) or _REFERENCE.search(named):
            raise damaged  # a group inside would renumber later groups, and a cycle would never end
    try:
        groups = re.compile(expand_pattern(patterns, name)).groups
    except (re.error, RecursionError, OverflowError) as error:
        raise damaged from error
    if _GROUPS.get(name, groups) != groups:
        raise BundleDamaged(f"{RULES}: patterns.{name}: needs {_GROUPS[name]} groups")


def _check_words(found: Mapping[str, Any]) -> None:
    """Check the language tag, the clitics (such as ``'s``), the titles and the months of a rules file."""
    if not _LANGUAGE.fullmatch(found["language"]):
        raise BundleDamaged(f"{RULES}: language: is not a language tag such as en")
    clitics, titles, months = found["clitics"], found["names"]["titles"], found["months"]["names"]
    negation = clitics["negation"]
    if not all(re.fullmatch(r"[a-z]+'", clitic) for clitic in clitics["before"]):
        raise BundleDamaged(f"{RULES}: clitics.before: each clitic must be letters a to z followed by an apostrophe")
    if not all(re.fullmatch(r"'[^\W\d_]+", clitic) for clitic in clitics["after"]) or not re.fullmatch(
        r"(?:[^\W\d_]*'[^\W\d_]+)?", negation
    ):
        raise BundleDamaged(f"{RULES}: clitics: each clitic after a word must be an apostrophe followed by letters")
    words = [word for entry in titles.values() for word in entry["words"]]
    if len(set(words)) < len(words) or any(fold(of["surrogate"]) not in of["words"] for of in titles.values()):
        raise BundleDamaged(
            f"{RULES}: names.titles: a title is in two groups, or the surrogate of a group is not one of its titles"
        )
    if len(months) != len(set(months)) or len(months) != 12:
        raise BundleDamaged(f"{RULES}: months.names: must have twelve different entries")


def _check_surrogates(found: Mapping[str, Any]) -> None:
    """Check the templates from which replacements are generated: their form, and the lists that they name."""
    choices, templates = found["surrogates"]["choices"], found["surrogates"]["templates"]
    number_words = [found["numbers"][key]["surrogates"] for key in NUMBER_CLASSES]
    lists = [*choices.values(), *number_words]
    if not all(lists) or "letter" not in choices or not choices.keys().isdisjoint(POOLS_OF_TEMPLATES):
        raise BundleDamaged(f"{RULES}: surrogates: a list is empty or missing, or has the name of a pool")
    if max(map(len, [choices["letter"], *number_words])) > MAX_ELEMENTS:
        raise BundleTooLarge(f"{RULES}: surrogates: a number word or letter has more than {MAX_ELEMENTS} surrogates")
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
