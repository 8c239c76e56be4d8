"""Words of a public list that the mode ``names`` randomizes: their bound holds, and nothing else reveals them."""

import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from drawn_words import close_words, strict_words
from names_fiber import Members
from names_soup import law, parts_of, skeleton, soup
from planted import planted
from textveil import Sanitizer
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.plan import NamesPlanFactory
from textveil.text.names.word_list import WordListRandomizer
from textveil.text.segmentation import fold_word

BUNDLE = Sanitizer.load().bundle
#: Words that rules read where they are shown, that common words have in them, and that no vocabulary has.
ODD = """
year years old aged age room suite apt mail shirt book turn new north bank university president doctor captain
alzheimer mg kg pm st based style etc internet tv ok zorbing flimp born let
""".split()
COMMON = BUNDLE.get_names_lists().common_words
LIST = [*dict.fromkeys([*strict_words(BUNDLE, 60), *close_words(BUNDLE, "nurse table river"), *ODD])]
LEVELS = BUNDLE.staircase_levels
BESIDE = parts_of("""
he the of and in at near a I to is was said only it's don't|Anna Novak|Zorblax|New York|O'Brien|van|de|J.|B|AT&T|NATO
iPhone|Times Square|Dr.|Mr|President|The|May|Friday|twelve|GOOD|Hello|Will|zorb|x|s|rose|5|7|12|1999|3.5|5kg|82-year-old
555-123-4567|a@b.com|@novak|#tag|www.x.com|~/b|a.pdf|9:05|7pm|22nd|70s|abc123|x-ray|e-mail|A-zorb|x²|&amp;|&#39;s|quot;
""")
_GAPS = """, |. |-| (|) |: |! |/||'| '|; | "| + |...| #|.|&amp;|  |@|’|'s |’ll |'S|n't |\n| & |&"""
GAPS = [" "] * 14 + _GAPS.split("|")


@pytest.fixture(scope="module")
def plans() -> NamesPlanFactory:
    return NamesPlanFactory(BUNDLE)


def pairs(plan: Any, seed: int, slots: int, words: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Documents, each with one that has other members in all slots; drawn words too, if there are words for them."""
    chance = random.Random(seed)
    own = plan.allowed | plan.denied | set(map(fold_word, plan.lists.kept_capitals)) | set(LIST)
    members, reader = (
        Members(plan.lists.members_by_type, plan.lists.common_words, chance, own, words),
        plan.make_reader(),
    )
    while slots > 0:
        texts = [soup(chance, (LIST, ODD, BESIDE), (4, 3, 4), GAPS) for _ in range(chance.randint(1, 2))]
        read = reader.read_texts(texts)
        slots -= sum(not isinstance(entry, str) for text in read for entry in text.elements)
        yield texts, members.replaced(read)


@pytest.mark.full
@pytest.mark.parametrize("options", [{}, {"deny": ["said", LIST[3]], "allow": [LIST[4], "anna"]}], ids=["", "own"])
def test_any_words_of_the_list_in_all_slots_leave_the_skeleton(
    plans: NamesPlanFactory, options: dict[str, Any]
) -> None:
    plan = plans.make_plan({"randomize": LIST, **options})
    words = [word for word in LIST if word not in plan.denied]
    reader = plan.make_reader()
    for texts, others in pairs(plan, 4, 8_000, words):
        assert skeleton(reader.read_texts(texts)) == skeleton(reader.read_texts(others)), (texts, others)


@pytest.mark.full
@pytest.mark.parametrize("options", [{}, {"style": "tag"}, {"consistent": False}, {"drop": ["word"]}], ids=str)
def test_one_skeleton_and_the_same_drawn_words_have_one_law(
    plans: NamesPlanFactory, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plans.make_plan({"randomize": LIST, **options})
    for texts, others in pairs(plan, 2, 400, []):
        assert law(plan, [texts], monkeypatch) == law(plan, [others], monkeypatch)


def losses(words: WordListRandomizer) -> tuple[bool, Fraction]:
    """Whether every word of the list may become the same ones, all of the list; the largest odds of any two words."""
    rows = [words.staircase.compute_exact_row(id) for id in words.ids.values()]
    sizes = [sum(row) for row in rows]
    outputs = [{id for id, weight in enumerate(row) if weight} for row in rows]
    same = all(found == outputs[0] for found in outputs) and {words.vocabulary[id] for id in outputs[0]} <= {*words.ids}
    columns = [[Fraction(row[id], size) for row, size in zip(rows, sizes, strict=True)] for id in set().union(*outputs)]
    return same, max(max(column) / min(column) if min(column) else Fraction(10**30) for column in columns)


def restricted(level: StaircaseLevel) -> WordListRandomizer:
    return WordListRandomizer.from_bundle(BUNDLE, LIST, (), level)


@pytest.mark.full
@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_all_pairs_of_words_keep_to_the_bound(level: StaircaseLevel) -> None:
    same, odds = losses(restricted(level))
    assert same
    assert odds > 0.9 * float(level.epsilon.exp())
    assert Decimal(odds.numerator) <= level.epsilon.exp() * (1 + Decimal(10) ** -20) * odds.denominator


def test_what_comes_out_is_what_the_staircase_draws(plans: NamesPlanFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mention is one input, in order, and its output replaces it."""
    plan = plans.make_plan({"randomize": LIST})
    given: list[list[int]] = []

    def backwards(self: Staircase, inputs: Any, random_uint64: Any) -> Any:
        given.append(inputs.tolist())
        return np.flatnonzero(self.base)[: len(inputs)][::-1]

    monkeypatch.setattr(Staircase, "draw_symbols", backwards)
    first, second = LIST[7], LIST[9]
    documents = [[f"he saw {first}, {second}", f"({first})'s zorblax"], [f"no {second} {first.title()}"]]
    out = [texts for texts, *_ in plan.rewriter.rewrite(documents)]
    ids = plan.randomizer.ids
    assert given == [[ids[word] for word in (first, second, first, second)]]
    rows = [BUNDLE.vocabulary[id] for id in np.flatnonzero(plan.randomizer.staircase.base)[:4][::-1]]
    assert out[0][0] == f"he saw {rows[0]}, {rows[1]}"
    assert out[0][1].startswith(f"({rows[2]})'s ")
    assert out[1][0].startswith(f"no {rows[3]} ")


def test_equal_words_are_drawn_apart(plans: NamesPlanFactory) -> None:
    """The template does not contain which randomized words are equal, so the outputs do not depend on that."""
    plan = plans.make_plan({"randomize": LIST, "epsilon": 4})
    word = LIST[7]
    out = [texts[0].split() for texts, *_ in plan.rewriter.rewrite([[f"{word} {word}"]] * 40)]
    assert any(first != second for first, second in out)


#: Where a word of the list stands: beside what reads words that are shown, joins them or begins with them.
FRAMES = parts_of("""
he said {0} today|the {0}'s house|the {0}’S {0}|an x-{0} and t-{0}|7 {0} old|82-{0}-old|{0} 7|{0} of Boston|new {0} is
{0}-Anna left|Mr. {0} left|two {0}; {0}&amp;{0}; &{0}; {0}|'{0} and {0}'|{0}. He left|he left. {0}: he
May {0}, {0} May|Anna of {0}|de {0}, {0} de Boston|@{0} (~{0}) #{0}|{0}/{0}/he {0}/he|[{0} 1] {0}...{0}
open {0}_total.py|Use {0} 12 px|translate into {0}
""")
CAPITALS = [
    "{0} left.",
    "He left. {0} came",
    "THE {1} LEFT",
    "{0} {1}",
    "the {0} left",
    "{1}!\n{0}: he",
    "Hello {0}, {1}",
]


def differing(plan: Any) -> list[str]:
    """Return the contexts in which words of the list have different templates, or are kept with a capital."""
    read = plan.make_reader().read_texts
    found = [frame for frame in FRAMES if len({repr(skeleton(read([frame.format(word)]))) for word in LIST}) != 1]
    for frame in CAPITALS:
        for word in LIST:
            entries = read([frame.format(word.title(), word.upper())])[0].elements
            found += [frame for entry in entries if isinstance(entry, str) and word in entry.lower().split()]
    return found


@pytest.mark.parametrize("facts", ["none", "plain", "useful", "public"])
def test_no_place_tells_words_of_the_list_apart(plans: NamesPlanFactory, facts: str) -> None:
    assert differing(plans.make_plan({"randomize": LIST, "facts": facts})) == []


#: Faults of the reader: which function, what is changed, and how.
READ_FAULTS: dict[str, tuple[Any, str, tuple[str, str]]] = {
    "a common word with a clitic is shown, though its stem is of the list": (
        Lexicon,
        "classify_word",
        (" and (parts is None or parts[0] not in self._randomized)", ""),
    ),
    "common words of a list are looked up first": (
        Lexicon,
        "classify_stem",
        (
            "if folded in self._randomized and case == LOWER:",
            "if folded in self._randomized and case == LOWER and folded > 'm':",
        ),
    ),
    "a word of the list with a capital has the marks of its own": (
        Lexicon,
        "classify_stem",
        ("self._is_denied_word(folded) or folded in self._randomized\n", "folded in self._denied\n"),
    ),
    "a whole that is shown has a word of the list in it": (
        Lexicon,
        "is_denied",
        (" or not self._listed_by_user.isdisjoint(_PART_MARK.split(folded))", ""),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", READ_FAULTS)
def test_planted_faults_of_the_reader(plans: NamesPlanFactory, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, change = READ_FAULTS[fault]
    plan = plans.make_plan({"randomize": LIST})
    monkeypatch.setattr(owner, name, planted(getattr(owner, name), change))
    assert differing(plan)


@pytest.mark.slow
def test_planted_faults_of_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    level = LEVELS[0]
    bound = float(level.epsilon.exp())
    words = restricted(level)
    exact = Staircase.compute_exact_row
    with monkeypatch.context() as patch:  # a word never becomes itself: condition 1, the base is that of all inputs
        patch.setattr(
            Staircase,
            "compute_exact_row",
            lambda self, token: [0 if id == token else weight for id, weight in enumerate(exact(self, token))],
        )
        assert losses(words)[0] is False
    with monkeypatch.context() as patch:  # condition 3
        patch.setattr(Staircase, "factor", property(lambda self: 3 * self.unit * int(bound)))
        assert losses(words)[1] > bound * 1.5
    with monkeypatch.context() as patch:  # more than its base, for itself
        patch.setattr(
            Staircase,
            "compute_exact_row",
            lambda self, token: [weight * (1 + (id == token)) for id, weight in enumerate(exact(self, token))],
        )
        assert losses(words)[1] > bound * 1.2
