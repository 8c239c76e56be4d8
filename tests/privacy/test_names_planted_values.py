"""Values planted in texts and keys: phones in words, spelled names, plates and login names. What stays is counted."""

import random
import re
from collections.abc import Iterator, Sequence

import pytest
from textveil import Sanitizer
from textveil.conversation.field_names import FieldNames
from textveil.text.names.plan import NamesPlan

DIGITS: Sequence[str] = "zero one two three four five six seven eight nine".split()
FRAMES = ("call me at {} today", "My number is {}.", "{}", "his phone, {}, is off", "dial {}\nand ask for me")


@pytest.fixture(scope="module")
def plan() -> NamesPlan:
    return Sanitizer.load().names_plan(protect="names")


def shown_of(plan: NamesPlan, frame: str, planted: str) -> list[str]:
    """Return the words of a planted value that are kept where a frame has none of them."""
    text = frame.format(planted)
    kept = "".join(entry for entry in plan.reader().read([text])[0].entries if isinstance(entry, str))
    own = set(re.findall(r"\w+", frame.replace("{}", "").lower()))
    return [word for word in re.findall(r"\w+", kept.lower()) if word not in own]


def phones(chance: random.Random, count: int) -> Iterator[str]:
    """Yield phone numbers in words, as people write and dictate them."""
    for _ in range(count):
        words = [chance.choice(DIGITS) for _ in range(chance.randint(7, 11))]
        style = chance.randrange(6)
        if style == 1:
            words = ["oh" if word == "zero" else word for word in words]
        elif style == 2:
            words[2:4] = [chance.choice(("double", "triple")), words[2]]
        elif style == 3:
            at = chance.randrange(1, len(words) - 1)
            words[at] = str(DIGITS.index(words[at]))
        joined = "".join(word + chance.choice((" ", " ", " ", "-", ", ")) for word in words)[:-1].rstrip(",")
        yield chance.choice((joined, joined, joined.title(), joined.upper()))


def test_phones_in_words(plan: NamesPlan) -> None:
    chance = random.Random(1)
    stay = [phone for phone in phones(chance, 2_000) if shown_of(plan, chance.choice(FRAMES), phone)]
    print(f"phones in words of which a word stays: {len(stay)} of 2,000")
    assert stay == []


def test_names_that_are_spelled(plan: NamesPlan) -> None:
    chance, families = random.Random(2), sorted(n for n in plan.lists.kinds["family"] if n.isalpha() and len(n) > 2)
    names = [chance.choice((str, str.upper))(chance.choice(families)) for _ in range(500)]
    spelled = [chance.choice(("-", " ", ", ", ". ")).join(name) for name in names]
    stay = [name for name in spelled if shown_of(plan, "it is written {} here", name)]
    print(f"spelled names of which a letter stays: {len(stay)} of 500")
    assert stay == []


def test_plates(plan: NamesPlan) -> None:
    chance = random.Random(3)
    shown = "HA OK TV PC IN OR GO HE IT DO AM HOPE CAR GOOD STOP PIN".split()
    plates = [
        "-".join((chance.choice([*shown, "OQ", "ZK"]), str(chance.randint(1, 9999)), chance.choice([*shown, "XW"])))
        for _ in range(200)
    ]
    stay = [plate for plate in plates if shown_of(plan, "the plate {} was seen", plate)]
    print(f"plates of which a part stays: {len(stay)} of 200")
    assert stay == []


def test_keys_of_login_names(plan: NamesPlan) -> None:
    """A name of two words of everyday is like any two: those that stay are counted."""
    chance, kinds = random.Random(4), plan.lists.kinds
    given, family = (sorted(name for name in kinds[kind] if name.isascii() and name.isalpha()) for kind in kinds_of())
    fields = FieldNames(plan.lists.common, kinds["given"], kinds["family"])
    keys = []
    for number in range(200):
        first, last = chance.choice(given), chance.choice(family)
        keys.append(
            (f"{first[0]}.{last}", f"{first[0]}{last}", f"{first}{last}", f"user_{first}_{last}", f"{last}{number}")[
                number % 5
            ]
        )
    stay = [key for key in keys if fields.is_field(key)]
    print(f"login names that stay as keys: {len(stay)} of 200: {stay}")
    assert len(stay) <= 2  # last names alone that are common words


def kinds_of() -> tuple[str, str]:
    """Return the lists of first and of family names."""
    return "given", "family"
