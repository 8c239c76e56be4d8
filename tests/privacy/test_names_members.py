"""The rung ``names``: every member of a list is as any other of it, in every case pattern (docs/proofs/names.md).

A common word is shown where its own marks say so, and some words in capitals are always shown: members with one of
them are outside the fiber.
"""

import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from names_soup import skeleton, soup
from textveil import Sanitizer
from textveil.text.names.plan import NamesPlan, NamesPlans
from textveil.text.segmentation import key

#: Lists of whole names, and of words that are told wherever they stand, in the order in which one names a kind.
WHOLE = ("given", "family", "country", "the-country", "state", "city", "organization", "place")
CLOSED = ("weekday", "number-word", "group", "month", "title", "office")
#: Where a member stands: in a sentence, after a title, at the start of one, in a headline, in capitals.
HEADLINE = "The Zorb Blax Told of {} Near Vrelk Dranx Klim"
SHOUTED = "HE SAW {} NEAR THE HOUSE"
FRAMES = (
    "he saw {} near the house",
    "he met Mr. {} near the house",
    "he left. {} called the doctor",
    HEADLINE,
    SHOUTED,
    "({}), he said",
)
LOWER = ("he saw {} near the house", "he met {}, and left", "{} called")


@pytest.fixture(scope="module", params=["small", "shipped"])
def plan(request: pytest.FixtureRequest, names: Path) -> NamesPlan:
    if request.param == "shipped":
        return NamesPlans(Sanitizer.load().bundle).plan({})
    return NamesPlans(Sanitizer.load(names).bundle).plan({})


def members(plan: NamesPlan, kinds: Iterable[str], never: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    """Each kind with the members that no list before it has, none of whose words is one of some others."""
    told: set[str] = set()
    for kind in kinds:
        yield (
            kind,
            [
                member
                for member in sorted(plan.lists.kinds[kind] - told)
                if all(word.isalpha() and len(word) > 1 for word in member.split(" "))
                and never.isdisjoint(member.split(" "))
                and key(member.title()) == key(member.upper()) == member  # some letters have no capital
            ],
        )
        told |= plan.lists.kinds[kind]


def are_alike(plan: NamesPlan, frame: str, written: Iterable[str]) -> bool:
    """Whether all members have one skeleton in a frame; in a headline it has how many words each has."""
    reader = plan.reader()
    found: dict[int, set[str]] = {}
    for member in written:
        words = 1 + member.count(" ") if frame == HEADLINE else 0
        found.setdefault(words, set()).add(repr(skeleton(reader.read([frame.format(member)]))))
    return all(len(skeletons) == 1 for skeletons in found.values())


def names(plan: NamesPlan) -> Iterator[tuple[str, list[str]]]:
    """The whole names of each kind, of words that nothing else lists."""
    lists = plan.lists
    listed = (lists.kinds[kind] for kind in (*CLOSED, "particle"))
    return members(plan, WHOLE, frozenset(lists.common).union(map(key, lists.capitals), *listed))


def in_frames(plan: NamesPlan, frames: Iterable[str]) -> list[tuple[str, str]]:
    """The kinds and frames in which names are not alike."""
    return [
        (kind, frame)
        for kind, found in names(plan)
        for frame in frames
        if not are_alike(plan, frame, map(str.upper if frame == SHOUTED else str.title, found))
    ]


def test_every_name_is_as_any_other(plan: NamesPlan) -> None:
    assert in_frames(plan, FRAMES if len(plan.lists.common) < 1000 else FRAMES[:3]) == []


@pytest.mark.full
def test_every_name_is_as_any_other_in_all_frames(plan: NamesPlan) -> None:
    assert in_frames(plan, FRAMES) == []


@pytest.mark.full
def test_every_name_is_as_the_first_of_its_kind_between_random_neighbors(plan: NamesPlan) -> None:
    """Equality is transitive, so any two are alike.

    Words that a name joins to a run of names make another run, and neighbors that are one of the two an equal pair.
    """
    chance, reader = random.Random(7), plan.reader()
    for kind, found in names(plan):
        first = {1 + member.count(" "): member for member in reversed(found)}
        for member in found:
            before, after, case = soup(chance), soup(chance), chance.choice((str.title, str.upper))
            both = member, first[1 + member.count(" ")]
            if set(" ".join(both).split(" ")).isdisjoint(map(key, re.findall(r"\w+", f"{before} {after}"))):
                one, other = (skeleton(reader.read([f"{before} saw {case(name)}, {after}"])) for name in both)
                assert one == other, kind


def test_every_name_in_lower_case_is_as_any_other(plan: NamesPlan) -> None:
    """In a text without a capital a name of one word has the kind of its list."""
    for kind, found in names(plan):
        single = [name for name in found if " " not in name]
        assert all(are_alike(plan, frame, single) for frame in LOWER), kind


def test_every_word_of_a_closed_list_is_as_any_other(plan: NamesPlan) -> None:
    """Weekdays, numbers and groups in every case pattern; months, titles and offices with a capital."""
    lists = plan.lists
    never = lists.kinds["particle"].union(lists.common, map(key, lists.capitals))
    for kind, found in members(plan, CLOSED, never):
        assert all(are_alike(plan, frame, map(str.title, found)) for frame in (FRAMES[0], FRAMES[5])), kind
        assert are_alike(plan, SHOUTED, map(str.upper, found)), kind
        if kind in CLOSED[:3]:
            assert all(are_alike(plan, frame, found) for frame in LOWER), kind
