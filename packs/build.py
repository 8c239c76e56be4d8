"""Build the word lists and rules of a language pack from public sources and from the file ``LANG/words.toml``.

A word is a common word if it is frequent and a dictionary of the language has it in lower case. A name is a common word
only if most of its uses are in lower case. Texts of users are never a source.
"""

import argparse
import json
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from language_sources import LanguageSources, fold, key_phrases, split_entries, strip_accents

HERE = Path(__file__).resolve().parent
ENGLISH_RULES = HERE.parent / "runtime/src/textveil/data/rules.json"
ENGLISH_LISTS = HERE.parent / "artifacts/english-v4"
#: Smallest share of lower-case uses among all uses of a word for four decisions: the word is a common word; a name is a
#: common word; the word is kept in a text without capitals; the word is kept at the start of a sentence.
SHARE, SHARE_NAME, SHARE_STRICT, SHARE_START = 0.15, 0.6, 0.7, 0.75
#: Share of lower-case uses from which a noun counts as an adjective or verb. With a capital, such a word belongs to a
#: name, such as *Vereinigte Staaten*, so it is not kept.
SHARE_ADJECTIVE = 0.9
#: Smallest share of lower-case uses of a common word that is in no dictionary.
SHARE_UNKNOWN = 0.85
#: For languages without counts of capitalized uses: smallest frequency at which a first name or city, and at which a
#: family name, counts as a word in most of its uses.
FREQUENT_NAME, FREQUENT_FAMILY_NAME = 3e-5, 3e-6
#: Smallest frequency of a common word that is also recognized without its accents.
PLAIN_FREQUENCY = 1e-6
#: At the start of a sentence, a word below this frequency is kept only in ALL CAPS.
START_FREQUENCY = 1e-6
#: In capitals, a word of at most this many letters is probably an acronym unless it has at least this frequency.
ACRONYM_LETTERS, EMPHASIS_FREQUENCY = 4, 3e-5
PERSONS, CITIES, WORDS = 300, 240, 200


@cache
def read_english(name: str) -> set[str]:
    """Return the English names of an entity type, such as all cities, without marks such as ``name`` after a word."""
    lines = (ENGLISH_LISTS / f"entity.{name}.txt").read_text("utf-8").splitlines()
    return {line.partition("\t")[0] for line in lines}


def join_parts(first: str, last: str) -> str:
    """Join two parts to a made-up name, such as *Nord* and *|stadt* to *Nordstadt*.

    Usually a blank separates the parts. If ``last`` begins with a bar, there is no blank. A bar inside ``last`` becomes
    a blank.
    """
    return first + last[1:] if last.startswith("|") else f"{first} {last.replace('|', ' ')}"


def list_places(sources: LanguageSources) -> dict[str, set[str]]:
    """Return the cities (key ``city``) and countries (key ``country``) of the sources, in lower case."""
    entity = sources.settings["entity"]
    countries = sources.list_countries()
    cities = {name for name, _ in sources.list_cities()} | set(split_entries(entity["city-more"]))
    cities |= set(sources.settings.get("city_names", ()))
    places = {"country": countries | set(split_entries(entity["country-more"])), "city": cities}
    return {
        kind: {key for name in names for key in key_phrases(name)} | {fold(name) for name in names if " " not in name}
        for kind, names in places.items()
    }


def is_entry(entry: str) -> bool:
    """Return whether a word may be in a word list: it has only lower-case letters, apostrophes and blanks."""
    return (
        bool(entry)
        and entry == fold(entry)
        and all(part.isalpha() for part in entry.replace("'", " ").split(" ") if part)
    )


#: Lists of single words in the order in which they take a word, as for English. A word is on one of them only.
ORDER: tuple[str, ...] = tuple(json.loads((HERE.parent / "artifacts/lists/order.json").read_text("utf-8")))
#: Lists whose words are kept with a capital in languages that capitalize nouns, such as *Zimmer*, *Straße* and *Wald*.
NOUN_LISTS = ("place-word", "street-word", "unit-word")
#: Entity types whose members are hidden also in lower case.
CLOSED = ("weekday", "month", "group")


class PackBuilder:
    """Builder of the files of a language pack: word lists and rules, by which software finds names in a text.

    Args:
        settings: Content of ``words.toml``.
        sources: Public sources of the language.
    """

    def __init__(self, settings: Mapping[str, Any], sources: LanguageSources) -> None:
        self.settings, self.sources = settings, sources
        self.capitals = set(settings["words"].get("capitals", "").split())
        words = settings["words"]
        self.function = set(words["function"].split())
        self.openers = set(words["openers"].split())
        self.requests = list(dict.fromkeys(words["requests"].split()))
        self.members = self._list_members()
        self.listed = set().union(
            *(
                self.members[kind]
                for kind in ("given", "family", "city", "country", "state", "place", "group", "organization")
            )
        )
        self.nouns = self._choose_nouns()
        self.common = self._choose_common()
        self.common |= self._list_plain_spellings()
        self.pool_words = self._choose_pool_words()
        self.common -= {word for pool in self.pool_words.values() for word in pool}

    def _list_members(self) -> dict[str, set[str]]:
        entity = self.settings["entity"]
        found = {
            name: {
                key for entry in split_entries(text) for key in (key_phrases(entry) if " " in entry else {fold(entry)})
            }
            for name, text in entity.items()
            if name not in ("month-short", "number-word-kept") and not name.endswith("-more")
        }
        self.month_names = self.sources.list_months()
        found["month"] = {fold(name) for name in self.month_names} | set(entity["month-short"].split())
        found["weekday"] |= self.sources.list_weekdays()
        found |= list_places(self.sources)
        for kind in ("given", "family"):
            names = {name for name in self.sources.list_names(kind) if len(name) > 1 and name.isalpha()}
            found[kind] = names | {plain for name in names for plain in self._write_plainly(name)}
        found["given-abroad"] = read_english("given") | read_english("given-abroad")
        taken: set[str] = set()
        for kind in ORDER:
            entries = {entry for entry in found[kind] if is_entry(entry)} - taken
            taken |= entries
            found[kind] = entries
        found["given-abroad"] -= taken
        found["given-abroad"] = {name for name in found["given-abroad"] if name.isalpha()}
        return found

    def _list_all_names(self) -> set[str]:
        """Return all names: of persons, also of other countries, of places and of organizations."""
        return self.listed | self.members["given-abroad"] | read_english("family")

    def _write_plainly(self, word: str) -> set[str]:
        """Return other spellings of a word: without accents, and with replaced letters such as *ae* for *ä*."""
        plain = word
        for letter, letters in self.settings.get("plain_letters", []):
            plain = plain.replace(letter, letters)
        return {strip_accents(word), plain} - {word}

    def _choose_nouns(self) -> set[str]:
        """Return the nouns that are left unchanged although they have a capital, for a language such as German.

        The result includes the nouns in the settings. Names, inhabitants of places and adjectives are excluded.
        """
        if "nouns" not in self.settings:
            return set()
        by_hand = set(self.settings["nouns"]["kept"].split())
        hidden = set().union(*(entries for kind, entries in self.members.items() if kind not in NOUN_LISTS))
        places = self.members["city"] | self.members["state"] | self.members["country"]
        inhabitants = {place + end for place in places for end in self.settings["nouns"]["inhabitants"].split()}
        adjectives = {word for word in self.sources.list_nouns() if self.sources.get_share(word) >= SHARE_ADJECTIVE}
        adjectives |= set(self.settings["nouns"].get("never", "").split())
        return self.sources.list_nouns() - (hidden | inhabitants | adjectives) | by_hand

    def _choose_common(self) -> set[str]:
        closed = set().union(*(self.members[kind] for kind in CLOSED)) | self.members["number-word"]
        closed -= set(self.settings["entity"]["number-word-kept"].split())
        never = set(self.settings["words"]["not_common"].split())
        least_unknown = self.settings.get("share_unknown", SHARE_UNKNOWN)
        chosen = set()
        for word in self.sources.candidates:
            if len(word) < 2 or not is_entry(word) or word in closed or word in never:
                continue
            share = self.sources.get_share(word)
            known = word in self.sources.dictionary
            if word in self.listed and word not in self.nouns:
                if known and self._is_mostly_word(word, share):
                    chosen.add(word)
            elif word in self.nouns or (share >= (SHARE if known else least_unknown) and (known or self.sources.cased)):
                chosen.add(word)
        by_hand = self.function | self.openers | set(self.requests)
        return (chosen | by_hand) - closed

    def _list_plain_spellings(self) -> set[str]:
        """Return the spellings of frequent common words without accents, as people type them on phones."""
        everyone = self._list_all_names()
        closed = set().union(*self.members.values()) | set(self.settings["words"]["not_common"].split())
        frequent = (word for word in self.common if self.sources.frequencies.get(word, 0.0) >= PLAIN_FREQUENCY)
        self.plain = {plain: word for word in sorted(frequent) for plain in self._write_plainly(word)}
        for plain in set(self.plain) & (self.common | everyone | closed):
            del self.plain[plain]
        return set(self.plain)

    def _is_mostly_word(self, word: str, share: float) -> bool:
        """Return whether a name, such as *Rose*, is an ordinary word in most of its uses.

        If the sources have no counts of capitalized uses, the result is true for a frequent word that is not a country,
        a people or religion (entity type ``group``), or an organization.

        Args:
            word: The name in lower case.
            share: Smallest share of lower-case uses, among all uses of the word, for the result ``True``.
        """
        if self.sources.cased:
            return share >= SHARE_NAME
        if any(word in self.members[kind] for kind in ("country", "group", "organization")):
            return False
        rare = word in self.members["given"] or word in self.members["city"]
        return self.sources.frequencies[word] >= (FREQUENT_NAME if rare else FREQUENT_FAMILY_NAME)

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
        """Return every common word with its marks, such as ``name`` for a word that is also a name (docs/format.md).

        The marks of a word are separated by commas.
        """
        marked = {}
        everyone = self._list_all_names()
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
        no_emphasis = self.listed | set(self.settings["words"].get("no_emphasis", "").split())
        for word in self.common:
            always = word in self.function or word in self.openers
            spelling = self.plain.get(word, word)
            share = self.sources.get_share(spelling)
            known = spelling in self.sources.dictionary
            frequency = self.sources.frequencies.get(spelling, 0.0)
            is_noun = spelling in self.nouns
            strict = always or is_noun or (share >= SHARE_STRICT and word not in self.listed)
            start = always or word in self.requests or (share >= SHARE_START and word not in hidden)
            flags = {
                "census": word in everyone,
                "emphasis": strict and known and word not in no_emphasis and self._is_shouted(word, frequency),
                "function": word in self.function,
                "name": word in self.listed,
                "noun": is_noun or word in self.capitals,
                "opener": always,
                "rare": start and not always and frequency < START_FREQUENCY,
                "start": start,
                "strict": strict,
            }
            marked[word] = ",".join(name for name, holds in flags.items() if holds)
        return marked

    @staticmethod
    def _is_shouted(word: str, frequency: float) -> bool:
        """Return whether a word in capitals, such as *STOP*, is probably an emphasized word and not an acronym."""
        return len(word) > 2 and (len(word) > ACRONYM_LETTERS or frequency >= EMPHASIS_FREQUENCY)

    def list_pools(self) -> dict[str, list[str]]:
        """Return lists of possible surrogates (replacements of names), by the entity type of the names."""
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
            key=lambda c: (-sources.frequencies.get(c, 0.0), c),
        )
        found = {
            "given": given,
            "family": family,
            "city": [
                name
                for name, own in sources.list_cities()
                if own and name.isalpha() and fold(name) in self.members["city"]
            ][:CITIES],
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
        """Return the rules of the language: the English rules with words of this language in place of English words."""
        rules: dict[str, Any] = json.loads(ENGLISH_RULES.read_text("utf-8"))
        english: dict[str, list[str]] = rules["optional"]["facts"]
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
        rules["optional"] = {name: of[name] for name in ("dates", "replies") if name in of}
        rules["surrogates"]["choices"] |= {"ordinal": settings["pools"]["choices-ordinal"]} | of.get("choices", {})
        for name, text in of.get("patterns", {}).items():
            rules["patterns"][name]["text"] = text
        for name, text in of.get("templates", {}).items():
            rules["surrogates"]["templates"][name] = text
        if "facts" in of:
            rules["optional"]["facts"] = self._list_fact_words(english)
        return rules

    def _list_fact_words(self, english: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """Return word lists by which rules recognize numbers that may stay unchanged, such as *km* for ``5 km``.

        The words are those of the settings and words of English, since keys of JSON and source code are English in any
        language. Words before secrets (*password*) and in addresses (*room*) include those of English, except function
        words of the language. These words also have their spellings without accents. A word before secrets, in
        addresses or for a currency is removed from the units and from the words before counts.

        Args:
            english: The English word lists, by name.
        """
        found = {name: {fold(word) for word in text.split()} for name, text in self.settings["rules"]["facts"].items()}
        for name in ("secret_words", "address_words"):
            found[name] |= {plain for word in found[name] for plain in self._write_plainly(word)}
            found[name] |= set(english[name]) - self.function - self.openers
        found["address_words"] |= set(self.settings["entity"]["street-word"].split())
        found["comma_words"] = self.function & self._list_all_names()  # as surnames they would be replaced in *De bank*
        found["identifier_pieces"] = set(english["identifier_pieces"])
        found["units"] |= {unit for unit in english["units"] if _is_sign(unit) and unit not in self.common}
        hidden = found["secret_words"] | found["address_words"] | found["currencies"]
        return {
            name: sorted(words - hidden if name in ("counters", "units") else words)
            for name, words in sorted(found.items())
        }

    def list_files(self) -> dict[str, str]:
        """Return the content of each file of the pack, by file name."""
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


def _is_sign(unit: str) -> bool:
    """Return whether a unit is written in the same way in all languages: an abbreviation or a sign."""
    return len(unit) in (2, 3) or not unit.isalpha()


def format_marked(entries: Mapping[str, str]) -> str:
    """Format a word list as text: one word per line with a tab and its marks, in the order of code points."""
    return "".join(f"{entry}\t{marks}\n" if marks else f"{entry}\n" for entry, marks in sorted(entries.items()))


def main() -> None:
    """Run the command line: write the word lists and rules of one language pack to a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dictionary", type=Path, help="words one a line, or a file .dic of Hunspell")
    options = parser.parse_args()
    settings = tomllib.loads((HERE / options.language / "words.toml").read_text("utf-8"))
    builder = PackBuilder(settings, LanguageSources(settings, options.dictionary))
    options.folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / options.language / "README.md", options.folder)
    for name, text in builder.list_files().items():
        (options.folder / name).write_text(text, "utf-8")
        print(len(text.splitlines()), len(text.encode()), name)


if __name__ == "__main__":
    main()
