"""Choose the lists of public facts: terms, capitals, companies, acronyms, languages, words of other languages.

No entry is a person's name on a list of this folder or in `faker`. A rare name that only the US census lists is allowed
if it is also a word on a list of technology (docker, jira).
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import common_words
import fact_sources
import sources as src

#: Smallest frequency of a word in English texts, by source; without one every word is taken.
FREQUENCY = {"pygments": 1e-9, "brands": 1e-9, "extensions": 1e-9, "python-members": 1e-9, "debian": 10e-9}
FREQUENCY |= {"diagnoses": 1e-9, "drugs": 1e-9, "wordnet": 20e-9, "languages": 100e-9}
#: Fewest letters of a term; of a word of a general dictionary, of medicine and of a package; of a language.
LETTERS, LETTERS_WORD, LETTERS_LANGUAGE = 3, 4, 4
#: Sources about technology: a rare name of the census may be a term of theirs.
TECHNOLOGY = ("by hand", "linguist", "pygments", "python", "python-members", "extensions", "brands", "debian")
#: Sources whose words of places stay terms in lower case.
WITH_PLACES = ("by hand", "linguist", "pygments", "python")
#: A word is name-like if English texts have it in Title case so many times as often as in lower case.
TITLE_RATIO = 2.0
#: Sources that have names of persons and firms among their words.
WITH_NAMES = ("debian", "wordnet", "scowl", "diagnoses", "drugs", "brands", "foreign")
PERSONS = ("given", "family", "given-abroad")
PLACES = ("city", "country", "the-country", "country-part", "state", "place")
CLOSED = (
    *("month", "weekday", "title", "office", "group", "particle", "number-word", "ordinal", "first-word"),
    *("street-word", "unit-word", "institution-word"),
)
#: Words of origins and faiths in other languages begin so.
ORIGIN_LETTERS = 5
_LOWER = re.compile(r"[a-z]+")
_CENSUS_FILES = ("dist.all.last", "dist.female.first", "dist.male.first")
_ACRONYM = re.compile(r"[A-Z]{2,6}")


class FactLists:
    """Choose the entries of all lists of public facts.

    Attributes:
        by_source: For each source of lower-case terms, the chosen words that no earlier source contains; set by
            `choose_terms`.
    """

    def __init__(
        self,
        npm: Path,
        common: Mapping[str, str],
        lists: Mapping[str, Iterable[str]],
        printed: Iterable[str],
        scowl: Iterable[str],
    ) -> None:
        """Read the sources of the lists.

        Args:
            npm: Folder of the npm packages.
            common: Common words with their marks.
            lists: Words of each entity type.
            printed: All surrogates of all pools.
            scowl: Words of English dictionaries.
        """
        fact_sources.check_npm(npm)
        self.common = common
        of = {kind: set(words) for kind, words in lists.items()}
        self.listed = set().union(*(of[kind] for kind in PERSONS))
        self.places = set().union(*(of[kind] for kind in PLACES if kind in of))
        self.closed = set().union(*(of[kind] for kind in CLOSED if kind in of))
        self.groups, self.organizations = of["group"], of["organization"]
        self.printed = {part for name in printed for part in src.fold(name).split()}
        self.never = set(src.read_handwritten("not-facts")[0])
        self.spelled = src.read_word_probabilities()
        self.names, self.aliases = fact_sources.list_linguist(npm)
        self.lexers, self.lexer_aliases = fact_sources.list_pygments()
        self.brands = fact_sources.list_brands(npm)
        self.words = {
            "by hand": src.read_handwritten("facts-term")[0],
            "python": fact_sources.list_frozen("python"),
            "pygments": [*self.lexer_aliases, *self.lexers],
            "linguist": [*self.aliases, *self.names],
            "brands": self.brands,
            "extensions": fact_sources.list_extensions(npm),
            "python-members": fact_sources.list_frozen("python-members"),
            "debian": fact_sources.list_frozen("debian"),
            "diagnoses": fact_sources.list_diagnoses(),
            "drugs": fact_sources.list_drugs(),
            "currencies": fact_sources.list_currencies(),
            "wordnet": fact_sources.list_wordnet(npm),
            "scowl": fact_sources.list_rare_words(scowl, npm),
        }
        self.companies, self.capitals = self._choose_capitals()
        self.by_source: dict[str, set[str]] = {}

    def is_free(self, key: str, *, is_technology: bool) -> bool:
        """Return whether a lookup key is neither a person's name, nor in a closed word class, nor in a pool.

        With `is_technology`, a name that only the US census lists does not count as a person's name.
        """
        if key in self.listed or key in list_names() or key in self.closed or key in self.printed or key in self.never:
            return False
        return is_technology or key not in list_census_names()

    def is_name_like(self, key: str) -> bool:
        """Return whether English texts spell a word mostly in Title case, like a name."""
        return self.spelled.get(key.title(), 0.0) > TITLE_RATIO * max(self.spelled.get(key, 0.0), 1e-9)

    def _choose_capitals(self) -> tuple[set[str], set[str]]:
        """Return the spellings of companies and their products, and those of other capitalized terms."""
        free = set(_LOWER.findall(" ".join(map(src.fold, (*self.names, *self.lexers)))))
        free |= {word for word in self.words["debian"] if word not in self.organizations}
        terms = {*src.read_handwritten("facts-capital")[0]}
        firms = {*src.read_handwritten("facts-company")[0]}
        keys_by_hand = {src.fold(firm) for firm in firms}
        for name in (*self.names, *self.lexers):
            for spelling in fact_sources.split_spellings(name):
                if spelling == name or src.fold(spelling) not in self.common:
                    terms.add(spelling)
        for brand in self.brands:
            for spelling in fact_sources.split_spellings(brand):
                key = src.fold(spelling)
                is_known = src.measure_frequency(key) >= FREQUENCY["brands"]
                if is_known and (spelling == brand or (key not in self.common and key not in self.places)):
                    (terms if key in free and key not in self.organizations else firms).add(spelling)
        terms = {term for term in terms if src.fold(term) not in keys_by_hand}
        return {word for word in firms - terms if self._is_capital(word)}, {w for w in terms if self._is_capital(w)}

    def _is_capital(self, spelling: str) -> bool:
        key = src.fold(spelling)
        named = "name" in self.common.get(key, "").split(",")
        letters = len(re.sub(r"[^A-Za-z]", "", spelling))
        whole = bool(re.search("[A-Z]", spelling)) and (letters >= LETTERS or not spelling.isalpha())
        return whole and not named and key not in self.places and self.is_free(key, is_technology=True)

    def choose_terms(self) -> set[str]:
        """Return the lower-case terms, which are neither common words nor companies."""
        firms = {src.fold(firm) for firm in self.companies} - {src.fold(term) for term in self.capitals}
        left_out = self.common.keys() | firms | self.organizations
        chosen: set[str] = set()
        for source, names in self.words.items():
            if source == "diagnoses":  # what these write with a capital everywhere is named after somebody
                words = {word for name in names for word in re.findall("(?<![A-Za-z])[a-z]+", name)}
            else:
                words = {word for name in names for word in _LOWER.findall(src.fold(name))}
            self.by_source[source] = {word for word in words - chosen - left_out if self._is_term(word, source)}
            chosen |= self.by_source[source]
        return chosen

    def _is_term(self, word: str, source: str) -> bool:
        is_technology = source in TECHNOLOGY
        if source != "by hand":
            least = LETTERS if is_technology and source != "debian" else LETTERS_WORD
            if len(word) < least or src.measure_frequency(word) < FREQUENCY.get(source, 0):
                return False
        if (source not in WITH_PLACES and word in self.places) or (source in WITH_NAMES and self.is_name_like(word)):
            return False
        return self.is_free(word, is_technology=is_technology)

    def choose_acronyms(self) -> set[str]:
        """Return acronyms in capitals: from the names of computer languages, and from a handwritten list."""
        words = {word for name in (*self.names, *self.lexers, *self.capitals) for word in name.split()}
        found = {word for word in words - self.companies if len(word) >= LETTERS}
        found = {name for name in found if self.is_free(src.fold(name), is_technology=False)}
        for name in src.read_handwritten("facts-acronym")[0]:
            if len(name) < LETTERS or self.is_free(src.fold(name), is_technology=True):
                found.add(name)
        left_out = self.places | self.organizations | self.printed
        return {name for name in found if _ACRONYM.fullmatch(name) and src.fold(name) not in left_out}

    def choose_languages(self) -> set[str]:
        """Return the one-word names of languages that are frequent enough in English texts."""
        found = set()
        for name in fact_sources.list_languages():
            key = src.fold(name)
            known = len(key) >= LETTERS_LANGUAGE and src.measure_frequency(key) >= FREQUENCY["languages"]
            if key.isalpha() and known and (key in self.groups or self.is_free(key, is_technology=False)):
                found.add(key)
        return found

    def choose_foreign(self) -> set[str]:
        """Return frequent words of other languages.

        Names, places, companies, and words for origins or faiths are excluded.
        """
        roots = {word[:ORIGIN_LETTERS] for word in src.read_handwritten("facts-origins")[0]}
        chosen: set[str] = set()
        for code in fact_sources.FOREIGN_LANGUAGES:
            public = fact_sources.list_public_groups(code)
            roots |= {word[:ORIGIN_LETTERS] for word in public if len(word) > ORIGIN_LETTERS}
            frequent = fact_sources.list_frequent(code)
            for word in fact_sources.list_foreign(code):
                if word in self.common or word in public or word[:ORIGIN_LETTERS] in roots or word in self.places:
                    continue
                if word in self.organizations or self.is_name_like(word):
                    continue
                if self.is_free(word, is_technology=word in frequent and word not in list_known_census_names()):
                    chosen.add(word)
        by_hand = {word for word in src.read_handwritten("facts-foreign")[0] if word not in self.common}
        return chosen | {word for word in by_hand if self.is_free(word, is_technology=False)}

    def list_all(self) -> dict[str, set[str]]:
        """Return the entries of each list; most entries that belong to two lists are only in one of them."""
        acronyms = self.choose_acronyms()
        terms = self.choose_terms()
        firms = self.companies - acronyms
        return {
            "term": terms,
            "capital": self.capitals - acronyms - firms,
            "company": firms,
            "acronym": acronyms,
            "language": self.choose_languages(),
            "foreign": self.choose_foreign() - terms,
        }


@cache
def list_names() -> frozenset[str]:
    """Return the names of persons in Latin script of all locales of `faker`, with and without accents."""
    given, family = src.names_abroad({})
    return frozenset(given.keys() | family.keys())


@cache
def list_census_names() -> frozenset[str]:
    """Return the names in the US census."""
    return frozenset(src.census(*_CENSUS_FILES))


@cache
def list_known_census_names() -> frozenset[str]:
    """Return the names in the US census without the rarest ones, which do not mark a common word as a name either."""
    return frozenset(name for name, share in src.census(*_CENSUS_FILES).items() if share >= common_words.CENSUS)
