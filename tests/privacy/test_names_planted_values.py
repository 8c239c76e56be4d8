"""Values planted in texts and keys are replaced up to a counted rest: spelled numbers and names, plates, logins."""

import random
import re
from collections.abc import Iterator, Sequence

import pytest
from planted import planted
from textveil import Sanitizer
from textveil.conversation.field_names import FieldNames, load_field_words
from textveil.text.names.plan import NamesPlan

DIGITS: Sequence[str] = "zero one two three four five six seven eight nine".split()
FRAMES = ("call me at {} today", "My number is {}.", "{}", "his phone, {}, is off", "dial {}\nand ask for me")


@pytest.fixture(scope="module")
def plan() -> NamesPlan:
    return Sanitizer.load().names_plan(protect="names")


def shown_of(plan: NamesPlan, frame: str, planted: str) -> list[str]:
    """Return the words of a planted value that are kept where a frame has none of them."""
    text = frame.format(planted)
    kept = "".join(entry for entry in plan.make_reader().read_texts([text])[0].elements if isinstance(entry, str))
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
    chance, families = (
        random.Random(2),
        sorted(n for n in plan.lists.members_by_type["family"] if n.isalpha() and len(n) > 2),
    )
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


@pytest.fixture(scope="module")
def fields(plan: NamesPlan) -> FieldNames:
    return FieldNames(
        plan.lists.common_words, plan.lists.members_by_type["given"], plan.lists.members_by_type["family"]
    )


def test_keys_of_login_names(plan: NamesPlan, fields: FieldNames) -> None:
    chance, kinds = random.Random(4), plan.lists.members_by_type
    given, family = (sorted(name for name in kinds[kind] if name.isascii() and name.isalpha()) for kind in kinds_of())
    keys = []
    for number in range(2_000):
        first, last = chance.choice(given), chance.choice(family)
        ways = (f"{first[0]}.{last}", f"{first[0]}{last}", f"{first}{last}", f"user_{first}_{last}", f"{first}.{last}")
        keys += [ways[number % 5], f"{last}{number}"][: 1 + (number > 99)]
    stay = [key for key in keys if fields.find_fields([key])]
    print(f"login names that stay as keys: {len(stay)} of {len(keys):,}: {stay}")
    assert stay == []


def test_keys_that_are_one_first_name(plan: NamesPlan, fields: FieldNames) -> None:
    """A first name that is also a field word stays in lower case if no other key is a name."""
    given, words = plan.lists.members_by_type["given"], load_field_words()
    assert [name for name in given if fields.find_fields([name.title()])] == []
    stay = {name for name in given if fields.find_fields([name])}
    assert stay == {name for name in given if name in words}
    assert len(stay) <= 13
    for name in stay:
        assert fields.find_fields([name, "anna"]) == fields.find_fields([name.title(), "Anna"]) == frozenset()


def test_keys_of_accounts_and_secrets(fields: FieldNames) -> None:
    chance = random.Random(5)
    letters = "abcdefghijklmnopqrstuvwxyz"
    keys = [f"DE{chance.randrange(10**19, 10**20)}" for _ in range(200)]
    keys += ["sk-live_" + "".join(chance.choices(letters + letters.upper() + "0123456789", k=24)) for _ in range(200)]
    keys += [f"{chance.choice(('cust_', 'C-', 'user-', ''))}{chance.randrange(1_000, 10**9)}" for _ in range(200)]
    assert [key for key in keys if fields.find_fields([key])] == []


def kinds_of() -> tuple[str, str]:
    """Return the lists of first and of family names."""
    return "given", "family"


@pytest.mark.parametrize(
    ("method", "old", "new"),
    [
        ("is_field", "self._is_first_name(small[0])", "False"),
        ("is_field", "any(self._is_capital_name(part)", "any(False"),
        ("is_field", "map(self._is_person, small, small[1:])", "()"),
        ("find_fields", "fields - names", "fields"),
        ("_find_capital_names", "return {*words}", "return set()"),
    ],
)
def test_faults_of_the_rules_of_keys_are_found(
    fields: FieldNames, monkeypatch: pytest.MonkeyPatch, method: str, old: str, new: str
) -> None:
    """Each check is needed: without it some key that names a person stays."""
    objects = (["grace"], ["Notes for Stone"], ["user_grace_page"], ["anna", "max"], ["Max"])
    assert [keys for keys in objects if fields.find_fields(keys)] == []
    monkeypatch.setattr(FieldNames, method, planted(getattr(FieldNames, method), (old, new)))
    assert [keys for keys in objects if fields.find_fields(keys)] != []
