"""Each character of a text has one region, for any division of the text, and the work is linear."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textveil.text.region_state import JsonRole, Region
from textveil.text.regions import RegionScanner

LETTERS = {
    Region.CODE: "C",
    Region.MATH: "M",
    Region.JSON: "J",
    Region.LINK: "L",
    Region.MARKUP: "X",
    Region.PROSE: ".",
}


def regions(text: str) -> str:
    scanner = RegionScanner()
    found = ""
    for place, character in enumerate(text):
        found += LETTERS[scanner.read_character(character)]
        if text[: place + 1].endswith("[person 1]"):
            scanner.mark_tag()
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `b` c ``d ` e`` f", "..CCC...CCCCCCCCC.."),
        ("x\n```py\n$ {\n```\nb", "..CCCCCCCCCCCCCC."),
        ("> ```\n> a\n> ```\n> b\n", "..CCCCCCCCCCCCCC...."),
        ("> ```\n> a\nb", "..CCCCCCCCC"),
        ("- ```\n  a\n  ```\n- b", "..CCCCCCCCCCCCCC..."),
        ("``` a ``` b\nc", "CCCCCCCCC...."),
        ("a\n~~~\nb\n~~~~\nc", ".....CCCCCCCCC"),
        ("a `b\n\nc", "..CCCC."),
        ("a $x$ $5 $ d $$ e $$ f", "...MM.........MMMMMM.."),
        ("\\(a\\) \\[ c \\] d", ".MMMM..MMMMMM.."),
        ("\\begin{x} a \\end{x} b", "......MMMMMMMMMMMMM.."),
        ("\\href{x} \\text{y} b", ".....LLL......MMM.."),
        ('a {"x": "}"} [1] ["a"] e', "...JJJJJJJJJ......JJJJ.."),
        ('[a](b "c)" d) e', "...LLLLLLLLLLLL"),
        ("](<a b) c>) d", ".LLLLLLLLLLLL"),
        ("[x]: a b\nc", "...LLLL..."),
        ("[x]:\n a b\nc", "...LLLLLLL."),
        ("[person 1]: a", "............."),
        ("a <b>b</b> <br /> c", "...XX..XXX..XXXXX.."),
        ("<https://a.b/?c=d> e", ".XXXXXLLLLLLLLLLLL.."),
        ("<img src=x> g\n\nh", ".XXXXXXXXXXXXXXX"),
        ("$a <img$ b", ".MMMMXXXXX"),
        ("a `b\n~~~\nc` d\n~~~\ne", "..CCCCCCCCCCCCCCCC."),
        ("a <%= b %> c", "...XXXXXX..."),
        ("`<% a` b %> c", "CCCCCCXXXX..."),
    ],
)
def test_each_character_has_a_region(text: str, expected: str) -> None:
    assert regions(text) == expected


PIECES = [
    '```', '~~~', '`', '``', '$', '$$', '\\(', '\\)', '\\[', '\\]', '\\href{', '\\text{', '}', '{', '{"', '"', '[',
    ']', '](', ')', ']:', '[x]:', '<', '<b>', '</b>', '<img ', '<https://a.b/', '>', '\n', '\n\n', '> ', '- ',
    '    ', ' ', '1. ', '\\', '\\n', '\\u0060', 'a', 'Don', '[person 1]', ':', '(', "'", '5', '\\begin{x}',
    '\\end{x}', '%', '*', '@', 'é', '\r', '\r\n', '\ufeff', '//', '{', ': ', '<%', '%>',
]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(parts=st.lists(st.sampled_from(PIECES), max_size=25), cuts=st.lists(st.integers(0, 120), max_size=12))
def test_no_cut_changes_a_region(parts: list[str], cuts: list[int]) -> None:
    """Reading several characters at once gives the same as one by one."""
    text = "".join(parts)
    by_character, by_part = RegionScanner(), RegionScanner()
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    for start, end in itertools.pairwise(places):
        for character in text[start:end]:
            by_character.read_character(character)
        by_part.feed(text[start:end])
        assert (by_character.region, by_character.destination) == (by_part.region, by_part.destination)


def read_after_tag(before: str, after: str, is_replaced: bool | None, *, in_one_step: bool) -> list[tuple] | None:
    """Return what the scanner reports of each character after a tag; ``None`` if it cannot read the tag that way."""
    scanner = RegionScanner()
    scanner.feed(before)
    if scanner.enclosure is not None:
        return None
    scanner.lines.begin_surrogate()
    if in_one_step:
        if not scanner.read_tag("[person 1]"):
            return None
    else:
        scanner.begin_tag()
        for character in "[person 1]":
            scanner.read_character(character)
    scanner.mark_surrogate()
    scanner.mark_tag()
    if is_replaced is not None:
        scanner.settle_tag(is_replaced=is_replaced)
    found = []
    for character in after:
        scanner.feed(character)
        found.append((scanner.region, scanner.role, scanner.destination, scanner.enclosure, scanner.is_sealed))
    return found


@pytest.mark.parametrize("is_replaced", [None, False, True])
def test_a_tag_read_in_one_step_is_read_as_its_characters(is_replaced: bool | None) -> None:
    marks = 'a !*_([])`<{$\\\n:#|~-="'
    afters = ["(//h/a b) c", ": //h\n\nz", "[a](b)", "{.a b}", "\n[b]: //h\n", "`x` y", "> c\n    d", '="x" b', "$x$"]
    read = 0
    for before in ("".join(some) for length in range(3) for some in itertools.product(marks, repeat=length)):
        for after in afters:
            found = read_after_tag(before, after, is_replaced, in_one_step=True)
            if found is not None:
                read += 1
                assert found == read_after_tag(before, after, is_replaced, in_one_step=False), (before, after)
    assert read > 500


def test_the_roles_of_json() -> None:
    scanner = RegionScanner()
    text = '{"a": "b\\n\\"c\\u0041", "d": 5}'
    roles = []
    for character in text:
        scanner.read_character(character)
        roles.append(scanner.role)
    found = {role: "".join(c for c, r in zip(text, roles, strict=True) if r is role) for role in JsonRole}
    assert found.pop(JsonRole.TEXT) == "{a bc d 5"
    assert found == {JsonRole.SEPARATOR: '"":"n","":}', JsonRole.IGNORED: '\\\\"\\', JsonRole.SPOILER: "u0041"}


class Counting(RegionScanner):
    """Counts the characters that are read one by one."""

    steps = 0

    def read_character(self, character: str) -> Region:
        self.steps += 1
        return super().read_character(character)


@pytest.mark.parametrize(
    "piece",
    ["`", "$", '{"', "[", "](", "<", "<b", "\\", "\\a{", "```\n", "[x]:", "> ", "- ", "$$", '{"a": "', "a", "\n", "~"],
    ids=repr,
)
def test_each_character_is_read_once_and_little_is_kept(piece: str) -> None:
    scanner = Counting()
    text = piece * 5_000
    scanner.feed(text)
    assert scanner.steps <= len(text)
    kept = len(scanner.name) + sum(len(frame.destination) for frame in scanner.frames[-3:])
    assert kept <= 2 * 64 + 3 * 2049
