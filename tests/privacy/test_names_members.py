"""Every member of a list has the same effect as any other, in every case pattern (docs/proofs/names.md).

Equality is transitive, so each member is compared with one. Both the template and the output of an equal sample are
compared. Outside the fiber are words that are always kept with their capitals, and, where marks of common words
matter, members with a common word.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from names_soup import skeleton, soup
from textveil import Sanitizer
from textveil.bundle.names_files import EMPHASIS, FUNCTION, STRICT
from textveil.bundle.rules import english_rules
from textveil.text.names import rewrite as rewrite_module
from textveil.text.names.plan import NamesPlan, NamesPlanFactory
from textveil.text.segmentation import fold_word, split_clitic

#: Lists of whole names, and of words that are told wherever they stand, in the order in which one names a kind.
WHOLE = ("given", "family", "country", "the-country", "state", "city", "organization", "place")
CLOSED = ("weekday", "number-word", "group", "month", "title", "office")
#: Lists of words that name a run by its end, in their order.
ENDS = ("firm-word", "institution-word", "street-word", "place-word")
#: Where a member stands: in a sentence, after a title, in brackets; at a start, in a headline, in capitals.
MIDDLE = ("he saw {} near the house", "he met Mr. {} near the house", "({}), he said")
HEADLINE = "The Zorb Blax Told of {} Near Vrelk Dranx Klim"
SHOUTED = "HE SAW {} NEAR THE HOUSE"
EDGES = ("he left. {} called the doctor", HEADLINE, SHOUTED)
LOWER = ("he saw {} near the house", "{} called")
#: Words with apostrophes between letters.
_WRITTEN = re.compile(r"(?:[^\W\d_]+(?:'[^\W\d_]+)* )*[^\W\d_]+(?:'[^\W\d_]+)*")


@pytest.fixture(scope="module", params=["small", "shipped"])
def plan(request: pytest.FixtureRequest, names: Path) -> NamesPlan:
    return NamesPlanFactory(Sanitizer.load(*[names][: request.param == "small"]).bundle).make_plan({"facts": "none"})


@pytest.fixture(autouse=True)
def alike_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrite_module, "draw_uniform_below", lambda totals, _: totals // 3)


def title(member: str) -> str:
    """Each word with a capital, as names are written: also behind an apostrophe."""
    return member.title().replace(" Of ", " of ").replace(" The ", " the ")


def members(plan: NamesPlan, kinds: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Each kind with the members that no list before it has; not those that are written otherwise than they are read.

    Of these some letters have no capital, some words are shown in capitals, and a clitic, an apostrophe at the end of a
    word and a sign end a run; where an initial ends it, the skeleton says so.
    """
    told: set[str] = set()
    shown = frozenset(map(fold_word, plan.lists.kept_capitals))
    for kind in kinds:
        found = [
            member
            for member in sorted(plan.lists.members_by_type[kind] - told)
            if fold_word(member.title()) == fold_word(member.upper()) == member
            and _WRITTEN.fullmatch(member)
            and member[-2:-1] != " "
            and not any(word in shown or split_clitic(word) for word in member.split(" "))
        ]
        yield kind, found
        told |= plan.lists.members_by_type[kind]


def are_alike(plan: NamesPlan, frame: str, written: Iterable[str], *, drawn: bool = False) -> bool:
    """Whether all members are read alike in a frame, and drawn; in a headline it has how many words each has."""
    reader, found = plan.make_reader(), dict[int, set[object]]()
    texts = {frame.format(member): 1 + member.count(" ") if frame == HEADLINE else 0 for member in written}
    made = plan.rewriter.rewrite([[text] for text in texts]) if drawn else [([""], 0)] * len(texts)
    for (text, words), (outputs, shown, *_) in zip(texts.items(), made, strict=True):
        found.setdefault(words, set()).add((*outputs, shown, repr(skeleton(reader.read_texts([text])))))
    return all(len(ways) == 1 for ways in found.values())


def names(plan: NamesPlan) -> Iterator[tuple[str, list[str]]]:
    """Return the whole names of each type, without those that have a word with a slot of its own."""
    closed = frozenset(word for kind in CLOSED for word in plan.lists.members_by_type[kind])
    for kind, found in members(plan, WHOLE):
        yield kind, [member for member in found if closed.isdisjoint(member.split(" "))]


def plain(plan: NamesPlan, found: Iterable[str]) -> list[str]:
    """Members whose words are no common words, no particles and of two letters or more."""
    never = plan.lists.members_by_type["particle"].union(plan.lists.common_words)
    return [m for m in found if never.isdisjoint(m.split(" ")) and all(len(w) > 1 for w in m.split(" "))]


def loud(plan: NamesPlan, member: str) -> bool:
    """Whether all words of a member may be in capitals for emphasis."""
    return all(plan.lists.common_words.get(word, 0) & EMPHASIS for word in member.split(" "))


def in_frames(plan: NamesPlan, frames: Iterable[str]) -> list[tuple[str, str]]:
    """Return the types and contexts in which names have different templates."""
    return [
        (kind, frame)
        for kind, found in names(plan)
        for frame in frames
        if not are_alike(plan, frame, map(str.upper if frame == SHOUTED else title, plain(plan, found)))
    ]


@pytest.mark.full
@pytest.mark.parametrize("case", [title, str.upper], ids=["Title", "UPPER"])
def test_every_name_in_a_sentence_is_as_any_other(plan: NamesPlan, case: Callable[[str], str]) -> None:
    """This includes common words, and names with an apostrophe or an initial."""
    for kind, found in names(plan):
        if case is str.upper:
            found = [member for member in found if not loud(plan, member)]
        assert are_alike(plan, MIDDLE[0], map(case, found), drawn=case is title), kind


@pytest.mark.slow
def test_every_name_is_as_any_other(plan: NamesPlan) -> None:
    assert in_frames(plan, (*MIDDLE, *EDGES) if len(plan.lists.common_words) < 1000 else EDGES[:1]) == []


@pytest.mark.full
def test_every_name_is_as_any_other_in_all_frames(plan: NamesPlan) -> None:
    assert in_frames(plan, (*MIDDLE, *EDGES)) == []


@pytest.mark.full
def test_every_name_is_as_the_first_of_its_kind_between_random_neighbors(plan: NamesPlan) -> None:
    """Words that a name joins to a run make another run, and neighbors that equal one of the two make an equal pair."""
    chance, reader = random.Random(7), plan.make_reader()
    for kind, every in names(plan):
        found = plain(plan, every)
        first = {1 + member.count(" "): member for member in reversed(found)}
        for member in found:
            before, after, case = soup(chance), soup(chance), chance.choice((str.title, str.upper))
            both = member, first[1 + member.count(" ")]
            if set(" ".join(both).split(" ")).isdisjoint(map(fold_word, re.findall(r"\w+", f"{before} {after}"))):
                one, other = (skeleton(reader.read_texts([f"{before} saw {case(name)}, {after}"])) for name in both)
                assert one == other, kind


@pytest.mark.full
def test_every_name_in_lower_case_is_as_any_other(plan: NamesPlan) -> None:
    """In a text without a capital a name of one word has the type of its list."""
    for kind, found in names(plan):
        single = [name for name in plain(plan, found) if name.isalpha()]
        assert all(are_alike(plan, frame, single) for frame in LOWER), kind


def layout_of(kind: str, word: str) -> str:
    """Return the layout of a word of a closed list: for some titles whether it is that of a woman or a man."""
    return english_rules().title_layouts.get(word, "") if kind == "title" else ""


def test_every_word_of_a_closed_list_is_as_any_other(plan: NamesPlan) -> None:
    """Weekdays, numbers and groups in every case pattern; months, titles and offices with a capital."""
    for kind, found in members(plan, CLOSED):
        by_layout = [[word for word in found if layout_of(kind, word) == layout] for layout in ("", "ms", "mr")]
        for alike in by_layout:
            assert all(are_alike(plan, MIDDLE[0], map(case, alike), drawn=True) for case in (title, str.upper)), kind
        if kind in CLOSED[:3]:
            assert all(are_alike(plan, frame, plain(plan, found)) for frame in LOWER), kind


def test_every_word_that_ends_a_name_is_as_any_other(plan: NamesPlan) -> None:
    closed = frozenset(word for kind in CLOSED for word in plan.lists.members_by_type[kind])
    for kind, found in members(plan, ENDS):
        for case in (title, str.upper):
            written = [case(f"zorblax {member}") for member in found if member not in closed]
            assert are_alike(plan, MIDDLE[0], written, drawn=True), kind


def test_every_word_that_leads_to_others_is_as_any_other(plan: NamesPlan) -> None:
    """Particles before a name; in lower case parts of a building before its number, and first words of places."""
    lists, common = plan.lists.members_by_type, plan.lists.common_words
    assert are_alike(plan, "he saw {} Zorblax near the house", sorted(lists["particle"] - common.keys()))
    shown = {word for word, marks in common.items() if marks & (STRICT | FUNCTION)}
    assert are_alike(plan, "he lives in {} 7 now", sorted(lists["unit-word"] & shown))
    assert are_alike(plan, "he saw {} zorblax", sorted((lists["first-word"] & shown) - lists["unit-word"]))
