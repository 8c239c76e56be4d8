"""Build the surrogate pools: surrogates in the spelling of outputs, the best ones first.

No pool depends on a protected text. Organizations and places are invented. The names of persons and cities are the most
frequent ones.
"""

from itertools import product

import common_words as words
import sources as src
import template_lists

GIVEN, FAMILY, CITIES, WORDS, MADE_UP = 300, 400, 240, 200, 240
#: Words that stand for unlisted ones are known to a dictionary of this size, and of this frequency.
WORD_SIZE, LEAST, MOST = 55, 80e-9, 1500e-9
#: So many of the most frequent words of wordfreq stay common.
STAY = 20_000
SENSITIVE = (
    "family",
    "health",
    "identity",
    "justice",
    "money",
    "politics",
    "religion",
    "places",
    "given_names",
    "surnames",
)


def _base_forms(word: str, ending: str) -> list[str]:
    stem = word[: -len(ending)]
    doubled = [stem[:-1]] if len(stem) > 2 and stem[-1] == stem[-2] else []
    return [stem, f"{stem}e", *doubled]


def ending(word: str, known: dict[str, int]) -> str:
    """Return the ending class of a word: ing, ed, ly, s or other; "" if none fits well.

    ``known`` contains the words of a dictionary.
    """
    for end in ("ing", "ed"):
        if word.endswith(end):
            return end if any(base in known for base in _base_forms(word, end)) else ""
    if word.endswith("ly"):
        return "ly" if word[:-2] in known or word[:-3] + "le" in known else ""
    verb = {"s": word[:-1]}.get(word[-1], word)
    bases = (verb, verb[:-1], verb + verb[-1])
    has_verb = any(f"{base}{end}" in known for base in bases for end in ("ing", "ed", "er", "est"))
    if word.endswith("s"):
        return "s" if word[:-1] in known and not word.endswith(("ss", "us", "is")) and not has_verb else ""
    return "other" if f"{word}s" in known and not has_verb and not word.endswith("ic") else ""


def for_words(common: words.Common) -> dict[str, list[str]]:
    """Return the pools for lower-case words that are on no list, one pool for each ending.

    The caller removes these surrogates from the common words.
    """
    alarming = src.sensitive(*SENSITIVE) | set(src.read_handwritten("never-surrogates")[0])
    roots = {word[:5] for word in src.sensitive("health", "justice", "identity") if len(word) >= 6}
    stay = set(list(src.wordfreq_words("en", "large"))[:STAY])
    found: dict[str, list[str]] = {end: [] for end in ("ing", "ed", "ly", "s", "other")}
    for word in sorted(common.words, key=lambda w: (-common.spelled.get(w, 0.0), w)):
        fits = LEAST <= common.spelled.get(word, 0.0) <= MOST and 4 < len(word) <= 12 and word.isascii()
        plain = word.isalpha() and common.scowl.get(word, 99) <= WORD_SIZE and word not in common.listed
        if not (fits and plain) or word in stay or common.share(word) < words.SHARE_START or word[:5] in roots:
            continue
        singular = word[:-1] if word[-1] == "s" else word
        end = ending(word, common.scowl)
        if end and word not in alarming and singular not in alarming and len(found[end]) < WORDS:
            found[end].append(word)
    return {f"word-{end}" if end != "other" else "word": pool for end, pool in found.items()}


def _stems(kind: str) -> list[str]:
    lines = [line.partition(": ") for line in (src.HERE / "by_hand" / "stems.txt").read_text().splitlines()]
    parts = {name: rest.split() for name, _, rest in lines}
    pairs = product(parts[f"{kind}-first"], parts[f"{kind}-last"])
    return [f"{first} {last}" for first, last in pairs]


def _spread(entries: list[str], most: int) -> list[str]:
    """Return `most` entries at regular steps through a list, so that adjacent results have different first words."""
    step = next(step for step in (7, 11, 13, 17) if len(entries) % step)
    return [entries[i * step % len(entries)] for i in range(len(entries))][:most]


def _title(name: str) -> str:
    return (
        name.replace("mc", "Mc", 1).replace("Mc" + name[2:3], "Mc" + name[2:3].upper(), 1)
        if name[:2] == "mc"
        else name.title()
    )


def _persons(kinds: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    given = src.census("dist.female.first", "dist.male.first")
    family = src.census("dist.all.last")

    def most(counts: dict[str, float], kind: str, number: int) -> list[str]:
        held = (name for name in counts if kinds[kind].get(name) == "" and len(name) > 2)
        return [_title(name) for name in sorted(held, key=lambda n: (-counts[n], n))[:number]]

    return {"given": most(given, "given", GIVEN), "family": most(family, "family", FAMILY)}


def _cities(kinds: dict[str, dict[str, str]], spelled: dict[str, float]) -> list[str]:
    outputs = {name for name, marks in template_lists.get_marked_entries("city").items() if not marks}
    held = [name for name in outputs if kinds["city"].get(name) == ""]
    single = [n.title() for n in sorted(held, key=lambda n: (-spelled.get(n.title(), 0.0), n))[:CITIES]]
    two = src.read_handwritten_phrases("city-phrases")[0]
    mixed = [name for pair in zip(single, two, strict=False) for name in pair]
    return mixed + single[len(two) :]


def _list_handwritten_pools(spelled: dict[str, float], kinds: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    lands = [
        name
        for name, marks in template_lists.get_marked_entries("country").items()
        if not marks and kinds["country"].get(name) == ""
    ]
    lands.sort(key=lambda n: (-spelled.get(n.title(), 0.0), n))
    peoples = [
        n
        for n, marks in template_lists.get_marked_entries("nationality").items()
        if not marks and kinds["group"].get(n) == ""
    ]
    peoples += src.read_handwritten("group-surrogates")[0]
    peoples.sort(key=lambda n: (-spelled.get(n.title(), 0.0), n))
    states = [str(state["name"]) for state in src.geonames("us_states.json")]
    kept_numbers = src.read_handwritten("number-words-kept")[0]
    return {
        "country": [name.title() for name in lands] + src.read_handwritten_phrases("country-phrases")[0],
        "the-country": src.read_handwritten_phrases("the-country")[0],
        "state": [name for name in states if src.fold(name) in kinds["state"] and name != "District of Columbia"],
        "group": [name.title() for name in peoples],
        "title": src.read_handwritten("titles")[0],
        "office": str.split("President Governor Mayor Senator Judge Director Chairman Minister Secretary Commissioner"),
        "month": [name.title() for name in src.read_handwritten("month")[0]] + ["March", "May"],
        "weekday": [name.title() for name in src.read_handwritten("weekday")[0]],
        "number-word": [word for word in src.read_handwritten("number-word")[0] if word not in kept_numbers],
        "unit": str.split("room unit suite apartment floor box building office"),
        "particle": ["de", "van", "von", "la"],
    }


def pools(common: words.Common, kinds: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    """Return all pools except those of `for_words`."""
    known = {entry for marks in kinds.values() for entry in marks} | common.words
    bodies, places = ([n for n in _stems(of) if src.fold(n) not in known] for of in ("organization", "place"))
    found = _persons(kinds) | _list_handwritten_pools(common.spelled, kinds)
    found["street"] = [name for name in src.read_handwritten("street")[0] if not common.starts(src.fold(name))]
    found |= {
        "city": _cities(kinds, common.spelled),
        "organization": _spread(bodies, len(bodies)),
        "place": _spread(places, MADE_UP),
        "acronym": [name for name in src.read_handwritten("acronym")[0] if src.fold(name) not in known],
    }
    return {kind: list(dict.fromkeys(pool)) for kind, pool in found.items()}
