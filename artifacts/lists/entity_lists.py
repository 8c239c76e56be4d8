"""Build a list of words for each entity type, and the word classes that the rules of the mode `names` read."""

import importlib
import json
import unicodedata
from collections.abc import Iterable

import regex
import sources as src
import template_lists

Marks = dict[str, str]  # entry -> its marks

#: Places of several words are listed if so many people live there; in the USA all of 15,000 are.
PHRASE_PEOPLE = 100_000
#: Lists of single words in the order in which they take a word, for all languages. A word is on one of them only.
ORDER: tuple[str, ...] = tuple(json.loads((src.HERE / "order.json").read_text("utf-8")))
#: Kinds whose members are hidden in any case: they are not common words, but for those marked `capitalized`.
ANY_CASE = ("weekday", "month", "group")
#: Of these, words whose main use in lower case is another one.
ORDINARY = frozenset(
    ["march", "may", "sat", "sun", "wed", "mar", "polish", "pole", "poles", "turkey", "lap", "dane", "roma"]
)
#: Cities that are states or countries too.
CITIES_FIRST = frozenset(["hong kong", "new york"])
#: Legal forms at the end of the name of a firm.
_FORMS = (
    "inc incorporated corp corporation co ltd limited plc ag se sa nv n.v s.a spa s.p.a asa ab oyj a/s kgaa reit p.l.c"
    " holding holdings group the company adr"
).split()
#: A form that stands without a name is that of a firm.
_ALONE = ("inc", "ltd", "corp", "llc", "llp", "plc", "gmbh")
#: Firms that are as likely persons: `&` is not a part of a key.
_AS_PERSONS = frozenset(["alexander & baldwin"])
_FORM = regex.compile(rf"[ ,]+(?:{'|'.join(map(regex.escape, _FORMS))}|class [abc])\.?$")
_PLAIN = regex.compile(r"\p{Ll}+(?:'\p{Ll}+)*")
_PHRASE = regex.compile(r"[\p{Ll}']+(?: [\p{Ll}']+)+")


def phrase(name: str) -> str:
    """Return the lookup key of a name of several words: folded, with single blanks, without dots, accents and &."""
    plain = src.fold(name).replace(".", "").replace("-", " ").replace("&", " ").translate(src.STROKES)
    plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return " ".join(plain.split())


def _several(names: Iterable[str]) -> set[str]:
    return {key for key in map(phrase, names) if _PHRASE.fullmatch(key)}


def _city_phrases() -> set[str]:
    cities = src.geonames("cities15000.json")
    large = [c for c in cities if c["countrycode"] == "US" or int(str(c["population"])) >= PHRASE_PEOPLE]
    return _several(str(city["name"]) for city in large) | _several(src.read_handwritten_phrases("city-phrases")[0])


def _firm_phrases() -> set[str]:
    stocks = importlib.import_module("pytickersymbols").PyTickerSymbols().get_all_stocks()
    names = set()
    for stock in stocks:
        name = src.fold(stock["name"])
        while (short := _FORM.sub("", name)) != name:
            name = short
        if name not in _AS_PERSONS:
            names.add(name)
    return _several(names)


def _states() -> tuple[set[str], set[str]]:
    names = [str(state["name"]) for state in src.geonames("us_states.json")]
    names += src.read_handwritten_phrases("state")[0]
    single = {src.fold(name) for name in names if _PLAIN.fullmatch(src.fold(name))} - {"washington"}
    single |= set(src.read_handwritten("state-code")[0])
    return single, _several(names) - CITIES_FIRST


def _countries() -> tuple[set[str], set[str], set[str]]:
    names, more = src.read_handwritten_phrases("the-country")
    the = {phrase(name) for name in (*names, *more)}
    two = {phrase(name) for pair in src.read_handwritten_phrases("country-phrases") for name in pair}
    others = _several(str(country["name"]) for country in src.geonames("countries.json"))
    single = set(template_lists.get_marked_entries("country")) - the - src.LANDS_OF_SEVERAL_WORDS
    return single, (two | others) - the - CITIES_FIRST, the


def by_list(common: set[str]) -> dict[str, Marks]:
    """Return the words of each entity type that has a list.

    A common word gets the mark `capitalized`: it counts as a member of the type only with a capital.
    """
    states, state_phrases = _states()
    lands, land_phrases, the = _countries()
    groups, ordinary = src.read_handwritten("group")
    regions = set(src.read_handwritten("regions")[1])
    found: dict[str, set[str]] = {
        "weekday": set(template_lists.get_marked_entries("weekday")),
        "month": set(template_lists.get_marked_entries("month")),
        "country": lands | land_phrases,
        "the-country": the,
        "state": states | state_phrases,
        "group": {*template_lists.get_marked_entries("nationality"), *groups, *ordinary},
        "place": regions | _several(src.read_handwritten_phrases("place-phrases")[0]),
        "given": set(template_lists.get_marked_entries("given-name")),
        "family": set(template_lists.get_marked_entries("family-name")),
        "city": set(template_lists.get_marked_entries("city")) | _city_phrases(),
        "organization": {*template_lists.get_marked_entries("organization"), *_ALONE}
        | _firm_phrases()
        | _several(src.read_handwritten_phrases("organization-phrases")[0]),
    }
    found["state"] -= set(src.read_handwritten("state-code")[0]) & common
    taken: set[str] = set()
    kinds: dict[str, Marks] = {}
    for kind in ORDER:
        entries = {entry for entry in found[kind] if _PLAIN.fullmatch(entry) or " " in entry} - taken
        taken |= entries
        kinds[kind] = {entry: "capitalized" if entry in common else "" for entry in entries}
    return kinds


def any_case() -> set[str]:
    """Return the words that are replaced even in lower case, so that they cannot be common words."""
    groups, ordinary = src.read_handwritten("group")
    named = {
        entry: marks
        for kind in ("weekday", "month", "nationality")
        for entry, marks in template_lists.get_marked_entries(kind).items()
    }
    found = {entry for entry, marks in named.items() if "capitalized" not in marks} | set(groups)
    titles = {src.fold(title) for title in src.read_handwritten("titles")[0]} - {"miss"}
    numbers = set(template_lists.get_marked_entries("number-word")) - set(src.read_handwritten("number-words-kept")[0])
    return (found | titles | numbers) - ORDINARY - set(ordinary) - {"second", "us"}


def classes(common: set[str]) -> dict[str, Marks]:
    """Return the word classes that the rules for adjacent names, ages and addresses read, such as titles."""
    existing = {name: {w for part in src.read_handwritten(name) for w in part} for name in src.DESIGNATIONS}
    titles = {src.fold(word) for part in src.read_handwritten("titles") for word in part}
    numbers = set(template_lists.get_marked_entries("number-word")) | set(src.read_handwritten("number-words-kept")[0])
    found = existing | {
        "firm-word": set(src.read_handwritten("firm-word")[0]),
        "office": set(src.read_handwritten("office")[0]),
        "title": titles,
        "particle": set(src.read_handwritten("connector")[0]) - common - {"&"},
        "first-word": set(src.read_handwritten("first-word")[0]),
        "number-word": numbers,
    }
    return {
        kind: {entry: "capitalized" if entry in common else "" for entry in entries if src.KEY.fullmatch(entry)}
        for kind, entries in found.items()
    }
