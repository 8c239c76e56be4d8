"""The rung ``names``: texts of one skeleton have one law, and members of kinds leave the skeleton as it is.

docs/proofs/names.md has the theorem. Texts here are a soup of shown words, names, strings and marks: what people write
has fewer odd places.
"""

import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from names_fiber import Members, skeleton
from planted import planted
from small_names import write_names
from textveil import Sanitizer
from textveil.text.names import rewrite
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.places import Places
from textveil.text.names.plan import NamesPlans
from textveil.text.names.read import Read
from textveil.text.segmentation import key

SHOWN = (
    "he the of and in at near a I to is was old years aged said works new no st letter it's don't street only".split()
)
NAMES = (
    """
Anna|Novak|Zorblax|Rose|King|Mark|New York|Salt Lake City|O'Brien|Kraków|Élodie|van|de|La|von Berg|Van Dyk|J.|A|B|I
J.R.R|Smith&Jones|AT&T|NATO|USA|iPhone|World Bank|Times Square|Baker Street|Hope Bank|Lake Erie|University of Boston
United States|Texas|CA|Dr.|Mr|President|Captain|Doctor|The|In|May|March|Friday|friday|German|twelve|Twelve|GOOD|HELP
STOP|Good|Hello|Will|zorb|zorbed|flimping|kralls|frobly|x|y|s|漢字|漢|la|el|rose|lake|Senator|Bank|Zorb-lax|Novak-zorb
Brook|Ward|POUND|Novak-based|Novak-able|and/or|Novak/Kim|Novak's|novak's|NOVAK'S|Hallo.There|e.g|suite|room|apt
""".strip()
    .replace("\n", "|")
    .split("|")
)
STRINGS = (
    """
5|7|12|82|1999|102|12345|1234567|3.5|1,250|1,2|12.345|8|3|555-1234|555-123-4567|(555) 123-4567|+49 30 1234567|+1|50%
4111-1111-1111-1111|4111 1111 1111 1111|123-45-6789|a@b.com|@novak|#tag|#1|www.x.com|x.org|/usr/b|~/b|C:\\x|a.pdf|$5
1.2.3.4|00:11:22:33:44:55|9:05|7pm|1/2/2020|2020-02-01|22nd|1960s|70s|75s|5kg|5 km|12mg|abc123|sk_1234567890ABC|★|✈|٣
user=zorb7|Novak,Boston,555-1234|"a":"Novak","n":5|k=v|id=abc123;x=@novak|Zorb|3,a=5
deadbeef01|GB29NWBK60161331926819|82-year-old|5yo|12-13|12–14|12 13|mid-80s|x-5|5-zorb|²|x²|é1|&amp;|&#39;s|&#65;|quot;
""".strip()
    .replace("\n", "|")
    .split("|")
)
GAPS = [" "] * 14 + """, |. |-| (|) |: |! |? | & |—|/||'| '|; | "|" | + | +|...| #|.|&amp;|  | @|’""".split("|")
GAPS += ["\n", "\n\n", "\t", "\u00a0", " | "]


@pytest.fixture(scope="module", params=["small", "shipped"])
def plans(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NamesPlans:
    if request.param == "shipped":
        return NamesPlans(Sanitizer.load().bundle)
    return NamesPlans(Sanitizer.load(write_names(tmp_path_factory.mktemp("names") / "bundle")).bundle)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_names(tmp_path_factory.mktemp("names") / "bundle")


def soup(chance: random.Random) -> str:
    """A text of anything beside anything."""
    parts = [chance.choice(GAPS)] if chance.random() < 0.3 else []
    for _ in range(chance.randint(1, 12)):
        parts += [chance.choice(chance.choices((SHOWN, NAMES, STRINGS), (4, 4, 2))[0]), chance.choice(GAPS)]
    text = "".join(parts)
    return chance.choices((text, text.lower(), text.upper(), text.title()), (7, 1, 1, 1))[0]


def pairs(plan: Any, seed: int, slots: int) -> Iterator[tuple[list[str], list[str]]]:
    """Documents, each with one that has other members in all of its slots; about so many slots in all."""
    chance = random.Random(seed)
    own = plan.allowed | plan.denied | set(map(key, plan.lists.capitals))
    members, reader = Members(plan.lists.kinds, plan.lists.common, chance, own), plan.reader()
    while slots > 0:
        texts = [soup(chance) for _ in range(chance.randint(1, 3))]
        read = reader.read(texts)
        slots -= sum(not isinstance(entry, str) for text in read for entry in text.entries)
        yield texts, members.replaced(read)


def broken(plan: Any, seed: int, slots: int) -> int:
    """In how many documents the skeleton is another one."""
    reader = plan.reader()
    return sum(
        skeleton(reader.read(texts)) != skeleton(reader.read(others)) for texts, others in pairs(plan, seed, slots)
    )


def test_members_in_all_slots_leave_the_skeleton(plans: NamesPlans) -> None:
    assert broken(plans.plan({}), 1, 8_000) == 0


@pytest.mark.parametrize("options", [{"deny": ["said", "boston", "van"]}, {"allow": ["anna"]}], ids=str)
def test_the_same_with_lists_of_the_users_own(plans: NamesPlans, options: dict[str, Any]) -> None:
    assert broken(plans.plan(options), 2, 1_500) == 0


@pytest.mark.full
def test_a_million_members(plans: NamesPlans) -> None:
    assert broken(plans.plan({}), 3, 500_000) == 0


OPTIONS: list[dict[str, Any]] = [
    {**style, **more}
    for style in ({}, {"style": "tag"}, {"consistent": False}, {"consistent_cap": 2})
    for more in ({}, {"tag": ["city", "number"], "drop": ["person", "month"]}, {"drop": ["word"]})
]


def law(plan: Any, documents: Sequence[Sequence[str]], monkeypatch: pytest.MonkeyPatch, seed: int = 7) -> Any:
    """What comes out under one stream of entropy, and how many words are shown."""
    chance = random.Random(seed)
    monkeypatch.setattr(os, "urandom", chance.randbytes)
    try:
        return [(texts, shown) for texts, shown, _ in plan.rewriter().rewrite(documents)]
    finally:
        monkeypatch.undo()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_one_skeleton_one_law(plans: NamesPlans, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plans.plan(options)
    for texts, others in pairs(plan, 4, 250):
        assert law(plan, [texts], monkeypatch) == law(plan, [others], monkeypatch)


def test_nothing_of_what_is_replaced_comes_out(plans: NamesPlans) -> None:
    """Written in an alphabet of its own, no character of it is printed."""
    plan, chance = plans.plan({}), random.Random(5)
    letters = [chr(code) for code in range(0x0905, 0x0939)]
    for _ in range(300):
        words = ["".join(chance.choices(letters, k=chance.randint(1, 9))) for _ in range(3)]
        odd = chance.choice(["{}", "{}1", "@{}", "#{}", "www.{}.com", "{}'s", "({})", "a-{}", "{}-b", "~/{}", "{}.pdf"])
        text = soup(chance) + " ".join(odd.format(word) for word in words) + " " + soup(chance)
        ((out,),) = [texts for texts, _, _ in plan.rewriter().rewrite([[text]])]
        assert not set(letters) & set(out)


#: Where a member of a list stands: in a sentence, after a title, at the start of one, in a headline, in capitals.
FRAMES = (
    "he saw {} near the house",
    "he met Mr. {} near the house",
    "he left. {} called the doctor",
    "The Zorb Blax Told Frob {} Near Vrelk Dranx Klim",
    "HE SAW {} NEAR THE HOUSE",
    "({}), he said",
)


def test_every_member_of_every_list_is_as_any_other(plans: NamesPlans) -> None:
    """In each frame a list has one skeleton, but for members with a word that is a common one too.

    A common word is shown where its own marks say so: those members are outside the fiber (docs/proofs/names.md).
    """
    plan = plans.plan({})
    lists, reader = plan.lists, plan.reader()
    frames = FRAMES if len(lists.common) < 1000 else FRAMES[:3]
    told: set[str] = set()
    never = frozenset(lists.common).union(*(lists.kinds[kind] for kind in ("weekday", "number-word", "group", "month")))
    never |= lists.kinds["title"] | lists.kinds["office"] | lists.kinds["particle"]
    for kind in ("given", "family", "country", "the-country", "state", "city", "organization", "place"):
        members = [
            member
            for member in sorted(lists.kinds[kind] - told)
            if all(word.isalpha() and len(word) > 1 for word in member.split(" "))
            and never.isdisjoint(member.split(" "))
            and key(member.title()) == member  # some letters have no capital
        ]
        told |= lists.kinds[kind]
        for frame in frames:
            found: dict[int, set[str]] = {}
            for member in members:
                written = member.upper() if frame.isupper() or "HE SAW" in frame else member.title()
                read = reader.read([frame.format(written)])
                words = 1 + member.count(" ") if frame == FRAMES[3] else 0
                found.setdefault(words, set()).add(repr(skeleton(read)))
            assert all(len(skeletons) == 1 for skeletons in found.values()), (kind, frame)


def around(texts: Sequence[Read]) -> list[str]:
    """What is shown, between slots of whatever kind."""
    return [entry if isinstance(entry, str) else "" for text in texts for entry in text.entries]


#: Texts and others that show the same around as many slots: each pair was a break.
BREAKS = [
    ("Captain van Dyk sailed", "Captain Novak sailed"),
    ("HELP van Dyk said he", "HELP Novak said he"),
    ("Good van Dyk said he", "Good Novak said he"),
    ("he saw Novak-zorb HELP me", "he saw Novak HELP me"),
    ("he saw Novak-a. Good came", "he saw Novak. Good came"),
    ("he is Novak-aged 5 now", "he is Novak 5 now"),
    ("new la is", "new zorb is"),
    ("call 911 +49 30 123456 now", "call 911 +555-123-4567 now"),
    ("he has 8) and", "he has 7) and"),
    ("he is Garc&#237;a now", "he is Bern&#65;x now"),
]


@pytest.mark.parametrize(("text", "other"), BREAKS)
def test_breaks_that_were_found(plans: NamesPlans, text: str, other: str) -> None:
    reader = plans.plan({}).reader()
    assert around(reader.read([text])) == around(reader.read([other]))


def test_no_letter_is_spelled_beside_its_listed_form(plans: NamesPlans) -> None:
    """A clitic, a whole word or a mark by number that is written with other code points is not a word of a list."""
    plan = plans.plan({})
    for text in ("he saw Novak'𝓼 house", "he has an e-boo\u212a now", "he is &#74;&#111;hn now"):
        shown = "".join(entry for entry in plan.reader().read([text])[0].entries if isinstance(entry, str))
        assert not {"𝓼", "\u212a", "7"} & set(shown)


def is_caught(bundle: Path) -> bool:
    """Whether a pair of texts of one skeleton has two."""
    plan = NamesPlans(Sanitizer.load(bundle).bundle).plan({})
    reader = NamesPlans(Sanitizer.load().bundle).plan({}).reader()
    told = any(around(reader.read([text])) != around(reader.read([other])) for text, other in BREAKS)
    return told or broken(plan, 6, 4_000) > 0


#: Faults of the reader: what is changed, and how.
READ_FAULTS: dict[str, tuple[Any, str, tuple[tuple[str, str], ...]]] = {
    "a shown word before a slot is read though it is hidden": (
        Places,
        "_starts_sentence",
        (("not self._hidden[place - 1] and (", "("),),
    ),
    "a particle is not a part of what stands together": (Places, "_capitals_of", (("after < end and", "False and"),)),
    "a hyphenated word ends what stands together": (
        Places,
        "_joined",
        (("self._member_end(place, end) == after", "place + 1 == after"),),
    ),
    "a replaced string decides whether a line is a headline": (
        Places,
        "_hide",
        (("_is_title(words[place]) for", "_is_title(words[place]) and words[place].key < 'm' for"),),
    ),
    "a list of names decides what is shown": (
        Lexicon,
        "_capital",
        (
            ("plain and folded not in _NAME_LIKE", 'plain and folded not in self._capitalized and folded[0] != "z"'),
            (
                "return Token(CAPITAL, word, folded, case, bits=bits)",
                "return Token(CAPITAL if folded[0] < 'n' else ALONE, word, folded, case, 'word', bits=bits)",
            ),
        ),
    ),
    "the length of a word decides its class": (
        Lexicon,
        "_lower",
        (
            (
                "return unknown(word, folded, LOWER) if kind is None",
                "return Token(SHOWN if len(word) == 7 else ALONE, word, folded, kind='word') if kind is None",
            ),
        ),
    ),
    "digits beside each other are told by their values": (
        Places,
        "_digits",
        (("if self._beside_month(last, start, end):", "if self._words[last].text > '5':"),),
    ),
}


@pytest.mark.parametrize("fault", READ_FAULTS)
def test_planted_faults_of_the_reader(small: Path, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, changes = READ_FAULTS[fault]
    monkeypatch.setattr(owner, name, planted(getattr(owner, name), *changes))
    assert is_caught(small)


#: Faults of the draw.
DRAW_FAULTS: dict[str, tuple[Any, str, tuple[tuple[str, str], ...]]] = {
    "a member that depends on what it replaces": (
        rewrite._Document,
        "_spelled",
        (("members[draw] if draw >= 0", "max(0, members[draw] - len(part.text) % 2) if draw >= 0"),),
    ),
    "a deck that skips the original": (
        rewrite._Document,
        "_draw",
        (
            ("deck.free == 0", "deck.free == len(part.folded) % 2"),
            (
                "self._new(deck.free, deck)",
                "self._new(deck.free - len(part.text) % 2, deck)",
            ),
        ),
    ),
    "the size of a pool depends on the length": (
        rewrite._Document,
        "_draw",
        (("self._surrogates.size(kind, layout)", "self._surrogates.size(kind, layout) - (len(part.text) > 6)"),),
    ),
    "a tag is numbered by its string": (
        rewrite._Document,
        "_tag",
        (("self._counts.get(called, 0) + 1", "len(folded)"),),
    ),
}


@pytest.mark.parametrize("fault", DRAW_FAULTS)
def test_planted_faults_of_the_draw(small: Path, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, changes = DRAW_FAULTS[fault]
    wrong = planted(getattr(owner, name), *changes)
    plan = NamesPlans(Sanitizer.load(small).bundle).plan({"style": "tag"} if name == "_tag" else {})
    found = False
    for texts, others in pairs(plan, 8, 1_500):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, wrong)
            first = law(plan, [texts], pytest.MonkeyPatch())
            found |= first != law(plan, [others], pytest.MonkeyPatch())
    assert found


def test_a_number_of_digits_that_leaks(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from textveil.text.names import strings

    wrong = planted(strings._of_number, ('return "account", ""', 'return "account", str(digits)'))
    monkeypatch.setattr(strings, "_of_number", wrong)
    assert is_caught(small)
