"""Every Python gives the same segments, and no pattern has a construct that some Pythons misread.

In CPython 3.11.0 to 3.11.4, ``re`` misreads a group that is repeated possessively, such as ``(?:ab?c)*+``.
"""

import ast
import hashlib
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from textveil import Sanitizer
from textveil.errors import EngineFailed
from textveil.text import segmentation
from textveil.text.segmentation import patterns

ROOT = Path(__file__).parents[4]
SOURCES = sorted(
    path for wheel in ("runtime", "export", "server_training") for path in (ROOT / wheel / "src").rglob("*.py")
)
POSSESSIVE = re.compile(r"(?:[*+?]|\{\d*,?\d*\})\+")
#: What stands in a literal for a part that is not in it.
UNKNOWN = "\0"

PARTS = (
    *"aBcDw1290.,:;'’\"“”@ ()[]{}<>/_-—%\\!?$#*+&=\n",
    *("www.", ".com", ".co.uk", "a.b", "don't", "O'Neil", ": )", ":-)", ":D", "://", "n't", "(at)", '"q r"@x', "() "),
    *("e\u0301", "é", "ß", "ж", "中", "カ", "א", "\u00a0", "\u200d", "·", "€", "½", "😀", "\ufeff", "\u2028"),
)
ASCII_PARTS = tuple(filter(str.isascii, PARTS))
STRINGS = 100_000
SEGMENTS = "0773622b53b10c8f0be00699e7e8202f9cd5087118a8ce780ba024ec16d32c3a"


def made_up() -> Iterator[str]:
    """Return the same strings in every Python, every second one in ASCII, which has a separate engine."""
    generator = random.Random(25)
    for number in range(STRINGS):
        parts = ASCII_PARTS if number % 2 else PARTS
        yield "".join(generator.choices(parts, k=1 + number % 16))


@pytest.mark.slow
def test_every_python_cuts_the_same_segments() -> None:
    found = hashlib.sha256()
    for text in made_up():
        found.update("\x1f".join([*segmentation.split_text(text), "\x1e"]).encode())
    assert found.hexdigest() == SEGMENTS


def possessive_groups(pattern: str) -> int:
    """Count the groups of a pattern that are repeated possessively; an unknown part may be a group."""
    count, at, in_class, group = 0, 0, False, False
    while at < len(pattern):
        sign = pattern[at]
        possessive = POSSESSIVE.match(pattern, at)
        if possessive is not None and group and not in_class:
            count += 1
        if sign == "\\":
            at += 1
        elif in_class:
            in_class = sign != "]" or pattern[at - 1] == "["
        else:
            in_class = sign == "["
        group = not in_class and sign in (")", UNKNOWN)
        at += 1
    return count


def literals(source: str) -> Iterator[str]:
    """All texts that a module spells out, with a sign for each part that it does not."""
    tree = ast.parse(source)
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else UNKNOWN for part in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in inside:
            yield node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)


@pytest.mark.slow
def test_no_pattern_repeats_a_group_possessively() -> None:
    spelled = {path: literals(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert SOURCES
    assert not [(path, text) for path, texts in spelled.items() for text in texts if possessive_groups(text)]


@pytest.mark.parametrize(
    "pattern",
    ["(?:ab?c)*+", "(a)++", "(?:a)?+", "(?:a){2,}+", r"[(](a[)])*+", f"x{UNKNOWN}*+", r"\\(?:a)*+", "[]a](a)*+"],
)
def test_such_a_pattern_is_seen(pattern: str) -> None:
    assert possessive_groups(pattern) == 1


@pytest.mark.parametrize("pattern", ["[a)]*+", r"\)*+", "(?>(?:a)*)", f"[{UNKNOWN}]*+", "a++", "(a)* +", "(a) *+"])
def test_other_patterns_are_not(pattern: str) -> None:
    assert not possessive_groups(pattern)


class WrongEngine:
    """Reads one feature of patterns as another."""

    DOTALL = re.DOTALL

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def compile(self, pattern: str, flags: int = 0) -> "re.Pattern[str]":
        return re.compile(pattern.replace(self._old, self._new), flags)


@pytest.fixture
def anew() -> Iterator[None]:
    """Patterns are made anew, and again after the test."""
    made: tuple[cache, ...] = (patterns.compile_ascii, patterns.compile_unicode)  # type: ignore[type-arg]
    for compiled in made:
        compiled.cache_clear()
    yield
    for compiled in made:
        compiled.cache_clear()


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize(
    ("old", "new"), [("]*?", "]*"), ("(?<=", "(?<!"), ("]*+", "]*?"), ("(?!", "(?="), ("(?<!", "(?<="), ("]++", "]")]
)
def test_a_wrong_engine_is_refused_before_anything_is_read(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "re", WrongEngine(old, new))
    with pytest.raises(EngineFailed, match=r"^[^\n]+$"):
        Sanitizer.load().sanitize("a text", protect="words")
