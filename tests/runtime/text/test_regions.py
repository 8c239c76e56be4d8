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
