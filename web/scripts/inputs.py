"""Options and texts on which both languages are compared: real lines, random words, rare characters."""

import itertools
import json
import random
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from textveil.bundle.character_classes import parse_character_classes
from textveil.bundle.text_bundle import TextBundle

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))
import fact_texts  # noqa: E402
import invented_language  # noqa: E402
import marked_texts  # noqa: E402
import names_soup  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
DATA = DATA if DATA.is_dir() else ROOT / "shared" / "data"
FILES = """ag_news/test.tsv sst2/dev.tsv trec/test.txt wikitext2/valid.txt wnut17/dev.jsonl sick/SICK_trial.txt
qnli/dev.tsv""".split()
ODD = Path(__file__).with_name("odd.txt").read_text(encoding="utf-8").removesuffix("\n").split("|")
#: What text files do not hold.
ODD += [
    "\ud800",
    "\udfff",
    "\0",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\u202e",
    "\u200b",
    "x\u0300\u0301",
    "9\ufe0f\u20e3",
]
SMALL = (
    "the a he it of to in and was not very good doctor hospital market money cancer said works small I will May".split()
)
#: Characters of which Unicode 14 and 17 have another case, normal form or order of marks: those are the platform's.
CHANGED = """19b 264 295 10fc a7d3 a7d5 a7f2-a7f4 ab69 1add 1ae6 1aeb 1c89-1c8a a7cb-a7cf a7d2 a7d4 a7da-a7dc a7f1
10d50-10d65 10d70-10d85 10efa-10efb 10efd-10eff 113ce-113d0 11f41-11f42 1612f 16ea0-16eb8 16ebb-16ed3 1ccf0-1ccf9
1df25-1df2a 1e030-1e06d 1e4ec-1e4ee 1e5ef"""
DENIED = ["doctor", "Anna", "EMP12345", "don't", "new york", "O’Brien's", "\ufeffmarket ", "  ", "'s", "good"]
#: Own types: patterns that overlap, that are ambiguous, with few strings, with a blank, and longer than their pool; and
#: persons with spellings of every form.
PATTERNS = {
    "employee": r"EMP[0-9]{5}|emp-\d{2,}",
    "ticket": r"\b(?:[A-Z]{2,4}-)?[0-9]{3,5}[a-c]*\b",
    "shift": "(?:early|late) [0-9]",
    "mark": r"#[a-z]+",
    "token": r"tok_\w{40}",
}
KNOWN = [
    "Daniel Keller, D. Keller, Dan, Dan Keller, Keller, keller@acme.example, DK",
    "# the team",
    "",
    "Dr. Élodie van der Berg | van der Berg | Elodie | É. van der Berg | élodie.berg",
    "Will Stone,will",
    "O’Brien, Rose O'Brien, rose_obrien7, O'Brien Rose, Rose O.",
    "Jean-Luc Mark, Mark, J.-L. Mark",
    "Zorblax, novak",
]
OWN_STRINGS = """EMP12345 EMP1234 emp-77 emp-1234567890 AB-1234 1234 ABCD-999abc early|7 late|3 #abc
tok_0123456789abcdefghijklmnopqrstuvwxyz_ABC EMP12345's EMP12345-EMP54321 (EMP00000) x/EMP12345/y
{"a":|"EMP12345",|"n":|12345} qxzjvk Keller Daniel|Keller DANIEL|KELLER D.|Keller D.Keller d|keller Dan
Keller's keller@acme.example DK Dan|\nKeller Elodie É.|van|der|Berg élodie.berg Will will WILL
Rose|O’Brien O'BRIEN rose_obrien7 Mr.|Keller Keller-led Jean-Luc|Mark J.-L.|Mark Novak Maria|Keller
Keller,|Daniel http://a.example/Keller Keller.txt Keller=5 %Keller #EMP12345 (#Keller) ##Dan's #1234-Dan #Keller/Dan
#qxzjvk-Dan #xKeller daniel|keller DANIEL|KELLER #Keller&amp;Dan <b>#Keller</b>""".split()
OWN_STRINGS = [text.replace("|", " ").replace("\\n", "\n") for text in OWN_STRINGS]
ODD += OWN_STRINGS + OWN_STRINGS
ODD += ["<p>Anna", "</p>", "<br/>", "<h1>", "<zorb>", "Mark King", "Anna Dean", "J. Bishop"]
ALLOWED = ["Zorblax", "novak", "AT&T", "Élodie", "x5"]


def of_words() -> Iterator[dict[str, Any]]:
    """Yield every set of options of the staircase mechanism."""
    flags = (False, True)
    for protect, epsilon, draws, bare, deny in itertools.product(
        ("words", "all"), ("4", "6", "8", "10", "12"), range(3), flags, flags
    ):
        yield {
            "protect": protect,
            "epsilon": epsilon,
            **({}, {"consistent": True}, {"consistent": True, "consistent_cap": 900})[draws],
            **({"sanitize_punctuation": True} if bare else {}),
            **({"deny": DENIED} if deny else {}),
        }  # fmt: skip


def of_names() -> Iterator[dict[str, Any]]:
    """Yield every set of options of the mode names."""
    kinds = (
        {},
        {"keep": ["city", "number", "organization"]},
        {"keep": ["country", "word", "person", "url"], "tag": ["city"]},
        {"tag": ["person", "organization"]},
        {"drop": ["email", "year", "country"]},
    )
    own = {"patterns": PATTERNS, "known": KNOWN}
    lists = {}, {"deny": DENIED}, {"allow": ALLOWED}, {"allow": ALLOWED, "deny": DENIED, **own}, own
    kinds_of_own = ({}, {"keep": ["ticket", "employee"], "tag": ["shift"], "drop": ["mark"]})
    for of_kinds, style in itertools.product(kinds_of_own, ("surrogate", "tag")):
        yield {"protect": "names", "style": style, **own, **of_kinds, "deny": DENIED}
    for style, consistent, cap, of_kinds, of_lists in itertools.product(
        ("surrogate", "tag"), (True, False), (2000, 3), kinds, lists
    ):
        more = {} if cap == 2000 else {"consistent_cap": cap}
        yield {"protect": "names", "style": style, "consistent": consistent, **more, **of_kinds, **of_lists}


def real_lines() -> list[str]:
    """Return lines of ``../shared/data`` if it exists, else lines of the documentation."""
    found = [path for path in (DATA / name for name in FILES) if path.is_file()]
    found = found or [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/examples/*")]
    lines: list[str] = []
    for path in sorted(found):
        lines += path.read_text(encoding="utf-8").split("\n")[:20_000]
    return [line[:600] for line in lines if line.strip()]


def real_prompts() -> list[str]:
    """Return the prompts of ``../shared/data`` if it exists."""
    entries = (
        json.loads(line)
        for path in sorted(DATA.glob("prompts/*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    return [entry["text"][:2000] for entry in entries if "text" in entry]


def of_language(language: str) -> list[str]:
    """Return texts of a language: those of the tests, and those of ``../shared/data/languages`` if it exists.

    A language without texts has those of the invented one.
    """
    if language == "en":
        return real_lines()
    more = DATA / "languages" / f"{language}.jsonl"
    found = [json.loads(line)["text"] for line in more.read_text("utf-8").splitlines()] if more.is_file() else []
    if (marked_texts.FOLDER / f"{language}-mail.txt").is_file():
        found += [read.text for read in marked_texts.read_texts(language)]
    return found or [invented_language.spell(text) for texts in invented_language.DOCUMENTS for text in texts]


def characters(bundle: TextBundle) -> list[str]:
    """Return all characters that the bundle classifies or this Python defines, without those of `CHANGED`."""
    changed = set[int]()
    for span in CHANGED.split():
        first, _, last = span.partition("-")
        changed.update(range(int(first, 16), int(last or first, 16) + 1))
    known = {place for place in range(0x20000) if unicodedata.category(chr(place)) != "Cn"}
    for ranges in parse_character_classes(bundle.characters_json).values():
        for first, last in zip(ranges[::2], ranges[1::2], strict=True):
            known.update(range(first, last + 1))
    return [chr(place) for place in sorted(known - changed)]


def odd(chance: random.Random, any_of: Sequence[str]) -> str:
    """Return a random text of rare characters, names, small words, and characters of `any_of`."""
    parts = []
    for _ in range(chance.randint(1, 14)):
        kind = chance.random()
        if kind < 0.4:
            parts.append(chance.choice(ODD))
        elif kind < 0.7:
            word = chance.choice(SMALL)
            parts.append(chance.choice((word, word, word.title(), word.upper())))
        elif kind < 0.8:
            parts.append("".join(chance.choices(any_of, k=chance.randint(1, 4))))
        elif kind < 0.9:
            parts.append("".join(chance.choices("'’.,-:;()[]@/\\_&#%+0123456789aeTs \n", k=chance.randint(1, 8))))
        else:
            parts.append(chance.choice(names_soup.NAMES))
        parts.append(chance.choice(("", " ", " ", " ", " ", " ", ". ", "\n", ", ", "-")))
    # What JavaScript would read as one character must be one here.
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def texts(chance: random.Random, lines: Sequence[str], any_of: Sequence[str]) -> Iterator[str]:
    """Yield random texts of all sorts without end."""
    prompts = real_prompts() or lines
    while True:
        kind = chance.random()
        if kind < 0.4:
            line = chance.choice(lines if kind < 0.25 else prompts)
            yield chance.choices((line, line.lower(), line.upper(), line.title()), (7, 1, 1, 1))[0]
        elif kind < 0.6:
            yield fact_texts.make_prompt(chance)
        else:
            yield names_soup.soup(chance) if kind < 0.75 else odd(chance, any_of)
