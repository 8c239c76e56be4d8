"""Own types of the mode names: an output depends on the places, types and forms of matches, never on their strings.

docs/proofs/names.md, "Own types". Matches are exchanged for others of one layout, and persons for other persons, in
texts of random words and marks, also inside longer strings and JSON.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from names_soup import law, skeleton, soup
from planted import planted
from textveil import Sanitizer
from textveil.text.names import known_persons, own_patterns, own_types
from textveil.text.names.facts import FactRules
from textveil.text.names.known_persons import KnownCandidates
from textveil.text.names.own_patterns import PatternMatcher
from textveil.text.names.own_types import OwnTypes, PlaceholderText

PATTERNS = {
    "employee": "EMP[0-9]{5}|emp-[a-z]{3}",
    "ticket": "[A-Z]{3}-[0-9]{1,3}",
    "shift": "(?:early|later) [0-9]{4}",
}
#: Persons with the same forms in the same order; their names are common words, listed names, and on no list.
PERSONS = [
    "Window Kitchen, W. Kitchen, Window, window@acme.example, window_k1, WK",
    "Philippa Zorbquax, P. Zorbquax, Philippa, pip@zorb.example, pip.zorbquax7, PZ",
    "Quilmo Garden, Q. Garden, Quilmo, q@garden.example, quilmo_77, QG",
    "Grace Hopkinson, G. Hopkinson, Grace, grace@navy.example, grace/h, GH",
]
LAYOUTS = ["EMP[0-9]{5}", "emp-[a-z]{3}", "[A-Z]{3}-[0-9]{2}", "[A-Z]{3}-[0-9]{3}", "early [0-9]{4}", "later [0-9]{4}"]
#: More persons, each with two addresses of its own.
OF_TWO = ["Vela Umbrak, v@one.example, v@two.example", "Orsan Teld, o@one.example, o@two.example"]
#: What stands around a match.
AROUND = (
    "{}|({})|{}'s|{}\u2019s|a-{}|{}-led|\u201c{}\u201d|{}.|{}, |{}: |www.{}.com|x@{}.org|/srv/{}/notes.txt|{}=5|user={}"
    "|%{}|#{}|{}/{}|[{},{}]|<{}>|the {} of|Mr. {}|Dear {},|{}\n|\n{}|{}\n\n{}|&{};|{}()|x.{}.add("
    '|{"who": "{}", "n": 5}|{}, {}'
).split("|")


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def make_plan(sanitizer: Sanitizer, **options: Any) -> Any:
    """Return a plan with the patterns and the persons."""
    all_options: dict[str, Any] = {"patterns": PATTERNS, "known": PERSONS, **options}
    return sanitizer.names_plan(**all_options)


def draw_member(chance: random.Random, layout: str) -> str:
    """Return a random string of a layout."""
    size = own_patterns.count_layout_surrogates(layout)
    return own_patterns.spell_layout_surrogate(layout, chance.randrange(size))


def write_pair(chance: random.Random) -> tuple[str, str]:
    """Return two texts whose matches differ, equal ones in equal places, and nothing else."""
    texts = ["", ""]
    persons = [chance.sample(range(len(PERSONS)), len(PERSONS)) for _ in range(2)]
    values: list[dict[tuple[str, int], str]] = [{}, {}]
    for _ in range(chance.randint(1, 5)):
        before, after = AROUND[chance.randrange(len(AROUND))].split("{}", 1)
        before, after = soup(chance) + chance.choice((" ", "  ", "\n")) + before, after + " "
        person, form, layout, number = (chance.randrange(size) for size in (len(PERSONS), 6, len(LAYOUTS), 3))
        is_person, is_upper = chance.random() < 0.5, chance.random() < 0.2 and form < 3
        for at in range(2):
            if is_person:
                spelling = PERSONS[persons[at][person]].split(", ")[form]
                spelling = spelling.upper() if is_upper else spelling
            else:
                spelling = _draw_value(chance, values[at], layout, number)
            texts[at] += before + spelling + after.replace("{}", spelling)
    return texts[0], texts[1]


def _draw_value(chance: random.Random, values: dict[tuple[str, int], str], layout: int, number: int) -> str:
    """Return the string of a layout with a number: different numbers have different strings."""
    key = LAYOUTS[layout], number
    while key not in values:
        member = draw_member(chance, key[0])
        if member not in values.values():
            values[key] = member
    return values[key]


def list_templates(plan: Any, seed: int, count: int) -> Iterator[tuple[str, str, bool]]:
    """Yield pairs of texts, and whether they have one template."""
    chance = random.Random(seed)
    for _ in range(count):
        one, other = write_pair(chance)
        first, second = (plan.make_reader().read_texts([text]) for text in (one, other))
        yield one, other, skeleton(first) == skeleton(second)


def is_exchange_broken(plan: Any) -> bool:
    """Whether an exchange of matches changes a template."""
    return any(not is_same for _, _, is_same in list_templates(plan, 3, 200))


@pytest.mark.parametrize("options", [{}, {"facts": "public"}, {"style": "tag", "facts": "useful"}, {"keep": ["url"]}])
def test_an_exchange_of_matches_leaves_the_template(sanitizer: Sanitizer, options: dict[str, Any]) -> None:
    plan = make_plan(sanitizer, **options)
    for one, other, is_same in list_templates(plan, len(options), 120):
        assert is_same, (one, other)


@pytest.mark.parametrize("style", ["surrogate", "tag"])
def test_an_exchange_of_matches_leaves_the_output(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    """Under one stream of entropy both texts have one output."""
    plan, chance = make_plan(sanitizer, style=style), random.Random(8)
    for _ in range(60):
        one, other = write_pair(chance)
        assert law(plan, [[one]], monkeypatch) == law(plan, [[other]], monkeypatch)


def test_which_addresses_of_a_person_are_equal_is_all_that_tags_reveal(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exchanged addresses, and those of exchanged persons, leave the output; equal ones have equal tags."""
    plan = make_plan(sanitizer, style="tag", known=OF_TWO)
    texts = [
        f"{a} met {c}, {a} or {b} and {d}"
        for (a, b), (c, d) in (
            (("v@one.example", "v@two.example"), ("o@one.example", "o@two.example")),
            (("v@two.example", "v@one.example"), ("o@one.example", "o@two.example")),
            (("o@one.example", "o@two.example"), ("v@two.example", "v@one.example")),
        )
    ]
    outputs = {str(law(plan, [[text]], monkeypatch)) for text in texts}
    assert len(outputs) == 1
    assert "[email 1] met [email 2], [email 1] or [email 3] and [email 4]" in outputs.pop()


def find_leak(sanitizer: Sanitizer) -> bool:
    """Whether an output has a match, or a name of a listed person."""
    plan, chance = make_plan(sanitizer, facts="public", keep=["url", "path"]), random.Random(5)
    for _ in range(250):
        text = write_pair(chance)[0]
        (((output,), *_),) = plan.rewriter.rewrite([[text]])
        if re.search(r"zorbquax|quilmo|hopkinson|kitchen(?!er)|garden\.example", output, re.IGNORECASE):
            return True
    return False


def test_no_output_has_a_word_of_a_listed_person(sanitizer: Sanitizer) -> None:
    assert not find_leak(sanitizer)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["[ab]{4}[0-9]{2}", pytest.param("x[0-9a-f]{3}", marks=pytest.mark.full)])
def test_a_surrogate_is_uniform_among_the_strings_of_its_layout(sanitizer: Sanitizer, layout: str) -> None:
    """Chi-square, 1e-9: the smallest layout has 1,600 strings, which are counted in 16 groups."""
    plan = sanitizer.names_plan(patterns={"own": layout})
    size, count = own_patterns.count_layout_surrogates(layout), 8_000
    members = {own_patterns.spell_layout_surrogate(layout, index): index * 16 // size for index in range(size)}
    text = draw_member(random.Random(1), layout)
    outputs = [texts[0] for texts, *_ in plan.rewriter.rewrite([[text]] * count)]
    groups = Counter(members[output] for output in outputs)
    expected = Counter(members.values())
    statistic = sum((groups[g] - count * n / size) ** 2 / (count * n / size) for g, n in expected.items())
    assert statistic < 78, statistic  # 15 degrees of freedom


@pytest.mark.slow
def test_the_original_is_its_own_surrogate_as_often_as_any_other(sanitizer: Sanitizer) -> None:
    """200 strings, 10,000 draws: 50 are expected, and fewer than 12 or more than 110 are a fault."""
    plan = sanitizer.names_plan(patterns={"own": "[ab]x[0-9]{2}"})
    outputs = [texts[0] for texts, *_ in plan.rewriter.rewrite([["ax77"]] * 10_000)]
    assert 12 < outputs.count("ax77") < 110


Fault = tuple[Any, str, tuple[str, str], Callable[[Sanitizer], bool]]


def is_broken(sanitizer: Sanitizer) -> bool:
    """Whether an exchange changes a template, under facts."""
    return is_exchange_broken(make_plan(sanitizer, facts="public"))


def is_person_split(sanitizer: Sanitizer) -> bool:
    """Whether two spellings of one person get two surrogates."""
    output = sanitizer.sanitize("Grace and Grace Hopkinson", protect="names", known=PERSONS, style="tag").text
    return output != "[person 1] and [person 1]"


def is_address_joined(sanitizer: Sanitizer) -> bool:
    """Whether two addresses of one person get one tag, from which one of them would come back as the other."""
    known = ["Grace Hopkinson, grace@navy.example, grace@home.example"]
    output = sanitizer.sanitize("grace@navy.example or grace@home.example", protect="names", known=known, style="tag")
    return output.text != "[email 1] or [email 2]"


def is_small_layout_sampled(sanitizer: Sanitizer) -> bool:
    """Whether a layout with few strings gets surrogates."""
    return "level" not in sanitizer.sanitize("at L3", protect="names", patterns={"level": "L[1-5]"}).text


FAULTS: dict[str, Fault] = {
    "the rules read a match itself": (
        PlaceholderText,
        "__init__",
        ("pieces.append(PLACEHOLDER)", "pieces.append(text[match.start : match.end])"),
        is_broken,
    ),
    "a layout has a character of the match": (
        PatternMatcher,
        "_describe",
        ("[self._classes[place] for place in path]", "[*[self._classes[place] for place in path][:-1], text[end - 1]]"),
        is_broken,
    ),
    "a string decides whether it is a match": (
        PatternMatcher,
        "_find_end",
        ("return end", 'return 0 if text[start:end].endswith("7") else end'),
        is_broken,
    ),
    "what precedes a match is not read": (
        PatternMatcher,
        "find_next",
        ("if begin and is_part_of_word", "if False and is_part_of_word"),
        lambda sanitizer: PatternMatcher(PATTERNS).find_next("xEMP12345", 0) is not None,
    ),
    "a person is another one in each spelling": (
        known_persons,
        "make_known_mention",
        ("word.folded for word in _iterate_words(person)", "word.folded for word in _iterate_words(span.text)"),
        is_person_split,
    ),
    "addresses of a person are one": (
        known_persons,
        "describe_known_tag",
        ("word.gap + word.folded", '""'),
        is_address_joined,
    ),
    "the case of a name is that of its first letter": (
        known_persons,
        "make_known_token",
        ("_find_name_case(text)", 'int(text[0] < "R")'),
        is_broken,
    ),
    "a common word is no name": (
        KnownCandidates,
        "_find_longest",
        ("if not spelling.needs_capital or", "if not spelling.needs_capital and"),
        is_broken,
    ),
    "facts keep a part of a string with a match": (
        FactRules,
        "_may_keep",
        ("not flags & HOLDS_OWN and ", ""),
        lambda sanitizer: "order" in sanitizer.sanitize(
            "see order.total.now there", protect="names", known=["Order, order"], facts="public").text,
    ),
    "a layout with few strings is sampled from": (
        own_types.OwnSurrogatePools,
        "needs_tag",
        ("< MIN_CONSISTENT_POOL", "< 2"),
        is_small_layout_sampled,
    ),
    "a surrogate depends on its own length alone": (
        own_patterns,
        "spell_layout_surrogate",
        ("if place >= free:", "if place >= free and place % 2:"),
        lambda sanitizer: len({
            sanitizer.sanitize("EMP12345", protect="names", patterns=PATTERNS).text[4] for _ in range(40)}) < 3,
    ),
    "a word of the text behind a hash is taken for a match": (
        PlaceholderText,
        "_fill_tokens",
        (" and self._masked[self._used][1]", ""),
        lambda sanitizer: "#" in sanitizer.sanitize(
            "see #qxzjvk and EMP12345", protect="names", patterns=PATTERNS, style="tag").text,
    ),
    "a second match is not searched": (OwnTypes, "mask_text", ("position = match.end", "break"), find_leak),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if is_caught in (is_broken, find_leak) else ())
        for name, (*_, is_caught) in FAULTS.items()
    ],
)
def test_a_planted_fault_is_detected(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    holder, function, change, is_caught = FAULTS[name]
    assert not is_caught(Sanitizer(sanitizer.bundle))
    faulty = planted(getattr(holder, function), change)
    if isinstance(getattr(holder, function), staticmethod):
        faulty = staticmethod(faulty)
    for module in (holder, own_types):
        if hasattr(module, function):
            monkeypatch.setattr(module, function, faulty)
    assert is_caught(Sanitizer(sanitizer.bundle)), name
