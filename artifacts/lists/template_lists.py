"""Build the lists of the modes `words` and `all`: function words, words of each entity type, surrogates of strings.

**Common words.** A word is common if it is in english-3, if a spelling dictionary contains it without a capital, and if
it is not in `by_hand/words-mostly-names.txt`, a list of dictionary words that are mostly names. A common word counts as
a member of an entity type only with a capital, and it is never an output. It is on a list of names only if many people
have the name.

**One list.** A string in several sources is on one list only: that of the first entity type in a fixed order. There are
two exceptions. A name is on the list of cities if the city has many inhabitants and few people have the name
(`TemplateBuilder.is_place`). A name is on the list of family names if it is a family name of more people.
"""

import importlib
from collections.abc import Callable, Iterable
from functools import cache

from sources import (
    HERE,
    census,
    companies,
    countries,
    industries,
    names_abroad,
    places,
    read_handwritten,
    read_word_probabilities,
)

FREQUENCIES = HERE.parent / "words" / "english-3-frequencies.tsv"
#: A capital at the start of a sentence does not tell these function words from names.
NAME_LIKE = frozenset(["am", "can", "may", "us", "will"])
#: Of the closed lists, the entries that are members only with a capital.
CAPITALIZED = frozenset(["march", "may", "sat", "second", "sun", "wed"])
GIVEN_OUTPUTS, FAMILY_OUTPUTS, CITY_OUTPUTS = 1_500, 2_500, 1_000
CENSUS_FAMILY_NAMES, GIVEN_NAMES, FAMILY_NAMES, CITIES = 10_000, 8_000, 14_000, 20_500
#: Share of the people of the census, in percent, from which a common word and a company's name are names too.
COMMON_NAME, COMPANY_NAME = 0.02, 0.004
#: Of words that English texts have more often than 90 times in a million words (`800 - 100 log10`, from 10**-8), those
#: are not designations whose capital mostly starts a sentence: less than this share of them has one, or more than so
#: many in a million words. But for these, which addresses are full of.
FREQUENT, LEAST_CAPITALS, MOST_CAPITALS = 395, 0.03, 30e-6
ADDRESS_WORDS = frozenset(["box", "road", "street", "unit"])
#: From as many listed companies on, a word of their names is one that companies are called by.
COMPANIES = 2
#: From as many titles of industries on, a word of them is one that companies are called by.
INDUSTRIES = 3
#: A place's name is a place if nobody in the sources is called so, or by (people who live there, percent called so).
PLACE_RULES = ((400_000, 0.03), (100_000, 0.004))
OUTPUT_POPULATION = 200_000

Marks = dict[str, str]  # entry -> its marks, joined by commas


class TemplateBuilder:
    """Assign the words of the sources to the lists of entity types (kinds), one type after the other."""

    def __init__(self) -> None:
        """Read the sources."""
        lines = FREQUENCIES.read_text("utf-8").splitlines()
        self.frequent = frozenset(line.partition("\t")[0] for line in lines if line[:2] != "# ")
        buckets = enumerate(importlib.import_module("wordfreq").get_frequency_list("en", "large"))
        self.frequency = {entry: 800 - number for number, bucket in buckets for entry in bucket}
        self.dictionary = importlib.import_module("spylls.hunspell").Dictionary.from_files("en_US")
        self.functions, self.drop, self.names, self.people = (
            frozenset(read_handwritten(name)[0])
            for name in ("function-words", "not-names", "words-mostly-names", "towns-after-persons")
        )
        self.given, self.family = census("dist.female.first", "dist.male.first"), census("dist.all.last")
        self.given_abroad, self.family_abroad = names_abroad(self.frequency)
        self.whole, self.part = places()
        self.spelled = read_word_probabilities()
        self.places = frozenset([*read_handwritten("places-despite-persons")[0], *read_handwritten("regions")[1]])
        self.companies = frozenset(read_handwritten("organization")[0])
        self.words: dict[str, bool] = {}
        self.kinds: dict[str, Marks] = {}

    def is_word(self, entry: str) -> bool:
        """Return whether a dictionary contains the entry without a capital, and it is not mostly a name."""
        if entry not in self.words:
            known = entry not in self.names and self.dictionary.lookup(entry)
            self.words[entry] = entry in self.functions or known
        return self.words[entry]

    def is_common(self, entry: str) -> bool:
        """Return whether the entry is a common word, or a function word."""
        return entry in self.functions or (entry in self.frequent and self.is_word(entry))

    def is_place(self, entry: str) -> bool:
        """Return whether a word in a text is more probably the name of a place than of a person."""
        if entry in self.places:
            return True
        people = 0 if entry in self.people else self.whole.get(entry, 0)
        share = max(self.given.get(entry, 0) / 2, self.family.get(entry, 0))
        called = share > 0 or entry in self.given_abroad or entry in self.family_abroad
        return people > 0 and (not called or any(people >= least and share < most for least, most in PLACE_RULES))

    def is_name(self, entry: str, share: float) -> bool:
        """Return whether a name is on a list of names, given the percentage of persons with that name."""
        if len(entry) == 1 or entry in self.drop or self.is_place(entry):
            return False
        return share >= (COMMON_NAME if self.is_common(entry) else COMPANY_NAME if entry in self.companies else 0)

    def add(
        self, kind: str, outputs: Iterable[str], only: Iterable[str], common: Callable[[str], bool] | None = None
    ) -> None:
        """Add the list of an entity type.

        Entries of earlier types are omitted. Common words count as members only with a capital.
        """
        marks: Marks = {}
        for entries, mark in ((outputs, ""), (only, "member-only")):
            for entry in entries:
                if not any(entry in earlier for earlier in self.kinds.values()):
                    marks.setdefault(entry, "capitalized,member-only" if (common or self.is_common)(entry) else mark)
        self.kinds[kind] = marks

    def free(self, entries: Iterable[str]) -> list[str]:
        """Return the entries that are on no list so far."""
        return [entry for entry in dict.fromkeys(entries) if not any(entry in kind for kind in self.kinds.values())]

    def add_names(self) -> None:
        """Add the given names and the family names, the most frequent ones first."""
        order = sorted(self.given, key=lambda e: (-self.given[e], e))
        order += sorted(self.given_abroad, key=lambda e: (-self.given_abroad[e], e))
        given = [
            entry
            for entry in self.free(order)
            if self.is_name(entry, self.given.get(entry, 0))
            and self.family.get(entry, 0) <= self.given.get(entry, 0) / 2  # shares of women or of men
        ][:GIVEN_NAMES]
        outputs = [e for e in given if e in self.given and len(e) > 2 and not self.is_common(e)]
        self.add("given-name", outputs[:GIVEN_OUTPUTS], [*read_handwritten("given-name")[0], *given])
        order = sorted(self.family, key=lambda e: (-self.family[e], e))[:CENSUS_FAMILY_NAMES]
        order += sorted(self.family_abroad, key=lambda e: (-self.family_abroad[e], e))
        family = [e for e in self.free(order) if self.is_name(e, self.family.get(e, 0))][:FAMILY_NAMES]
        outputs = [e for e in family if e in self.family and len(e) > 2 and not self.is_common(e)]
        self.add("family-name", outputs[:FAMILY_OUTPUTS], [*read_handwritten("family-name")[0], *family])

    def add_places(self) -> None:
        """Add the cities, the largest first; the large ones that are most frequent in English texts are outputs."""
        size = {e: max(self.whole.get(e, 0), self.part.get(e, 0)) for e in {*self.whole, *self.part}}
        order = self.free(sorted(size, key=lambda e: (-size[e], e)))
        cities = [e for e in order if len(e) > (2 if e in self.whole else 3) and not self.is_word(e)]
        cities = [e for e in cities if e not in self.drop and e not in self.companies][:CITIES]
        large = [
            e for e in cities if self.whole.get(e, 0) >= OUTPUT_POPULATION and e.isascii() and e not in self.people
        ]
        outputs = sorted(large, key=lambda e: (-self.frequency.get(e, 0), e))[:CITY_OUTPUTS]
        self.add("city", outputs, [*sorted(self.places), *cities])

    def is_designation(self, entry: str) -> bool:
        """Return whether a capital of an entry usually marks a name or address, not just the start of a sentence.

        Entries of two letters are excluded, since they often have another meaning (DR, CT, CO).
        """
        if len(entry) <= 2 or entry in ADDRESS_WORDS or self.frequency.get(entry, 0) < FREQUENT:
            return len(entry) > 2
        capitals = self.spelled.get(entry.title(), 0) + self.spelled.get(entry.upper(), 0)
        share = capitals / (capitals + self.spelled.get(entry, 0))
        return share >= LEAST_CAPITALS and capitals <= MOST_CAPITALS

    def add_designations(self, kind: str, outputs: Iterable[str], only: Iterable[str]) -> None:
        """Add words that occur in the names of addresses, institutions or companies, such as *street*.

        In lower case they are ordinary words, so they count as members only with a capital. Their outputs are never
        written in lower case either, so an output may be a common word.
        """

        def chosen(entries: Iterable[str]) -> list[str]:
            return self.free(filter(self.is_designation, entries))

        marks = dict.fromkeys(chosen(outputs), "capitalized")
        self.kinds[kind] = marks | dict.fromkeys(set(chosen(only)) - marks.keys(), "capitalized,member-only")

    def build(self) -> dict[str, Marks]:
        """Build the lists of all entity types, and return the entries with their marks by type."""
        for kind in ("weekday", "month", "number-word", "ordinal"):
            outputs, only = read_handwritten(kind)
            self.add(kind, outputs, only, common=CAPITALIZED.__contains__)
        peoples, more_peoples = read_handwritten("nationality")
        single, parts = countries()
        no_country = self.drop.union(read_handwritten("not-countries")[0], peoples, more_peoples)
        parts = [*read_handwritten("country")[1], *(part for part in parts if not self.is_word(part))]
        self.add("country", (e for e in single if e not in no_country), (e for e in parts if e not in no_country))
        self.add("nationality", peoples, more_peoples)
        self.add_names()
        self.add_places()
        known, more = read_handwritten("organization")
        named = companies()
        listed = [e for e in sorted(named) if e not in self.drop and not self.is_word(e)]
        self.add("organization", known, [*more, *listed])
        for kind in ("street-word", "unit-word", "place-word", "institution-word"):
            self.add_designations(kind, *read_handwritten(kind))
        outputs, only = read_handwritten("organization-word")
        no_output = {*read_handwritten("not-organization-words")[0], *self.functions, *only}
        shared = [e for e, n in named.items() if n >= COMPANIES] + [
            e for e, n in industries().items() if n >= INDUSTRIES
        ]
        self.add_designations("organization-word", [*outputs, *sorted(set(shared) - no_output)], only)
        return self.kinds


def list_shape_pools() -> dict[str, list[str]]:
    """Return the outputs of entity types that are recognized by form, such as email addresses and dates.

    All outputs are reserved for examples and fiction, or have no meaning.
    """
    names = (
        "anna ben carla david emma felix greta hugo ida jonas karen leo mia nina oscar paula ruth simon tina".split()
    )
    things = "archive books garden guide help history index letters library maps music news notes photos plans".split()
    local_parts = [*names, *(f"{name}.{thing}" for name in names for thing in things[:4])]
    days = [f"{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    thousands = [f"{a},{b}00" for a in range(1, 100, 7) for b in "0258"]
    decimals = [f"{a}.{b}" for a in range(1, 40) for b in (2, 5, 7)]
    letters = "bcdfghjkmnpqrtvwxz"
    endings = {1: "st", 2: "nd", 3: "rd"}
    return {
        "email": [f"{part}@example.{end}" for part in local_parts for end in ("com", "net", "org")],
        "url": [f"https://example.org/{thing}/{page}" for thing in things for page in range(1, 21)],
        "handle": [f"@{name}{n}" for name in names for n in range(10, 100, 7)],
        "path": [f"/srv/{thing}/{name}.txt" for thing in things for name in names],
        "date": [f"{year}-{day}" for year in (2019, 2021) for day in days],
        "time": [f"{hour}:{minute:02}" for hour in range(1, 13) for minute in range(0, 60, 5)],
        "phone": [f"{area}-555-{line:04}" for area in (202, 303, 404) for line in range(100, 200)],
        "year": [str(year) for year in range(1900, 2031)],
        "number": [*(str(n) for n in range(2, 1000)), *thousands, *decimals],
        "ordinal-number": [f"{n}{'th' if n in (11, 12, 13) else endings.get(n % 10, 'th')}" for n in range(2, 102)],
        "other": [f"{a}{d}-{b}" for i, a in enumerate(letters) for d in range(2, 10) for b in letters[i % 3 :: 3]],
    }


@cache
def get_builder() -> TemplateBuilder:
    """Return a builder whose lists are complete."""
    builder = TemplateBuilder()
    builder.build()
    return builder


def get_marked_entries(kind: str) -> Marks:
    """Return the entries of an entity type, each with its marks."""
    return get_builder().kinds[kind]


def list_function_words() -> Marks:
    """Return the function words, each with its mark."""
    return {entry: "name-like" if entry in NAME_LIKE else "" for entry in read_handwritten("function-words")[0]}
