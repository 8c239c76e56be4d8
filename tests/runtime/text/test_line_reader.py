"""The check of lines for commands and directives examines each character of a reply a limited number of times."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from textveil.text import directive_reader, line_reader
from textveil.text.directive_reader import DirectiveReader
from textveil.text.line_reader import LineReader

#: Characters of a reply that may be examined or copied for each of its characters.
MOST_PER_CHARACTER = 12


class Work:
    """Number of characters that were copied or searched."""

    count = 0


class CountedText(str):
    """A text that counts the characters of its copies and searches."""

    work: Work

    @classmethod
    def make(cls, text: str, work: Work) -> "CountedText":
        """Return a text whose copies and searches count toward ``work``."""
        counted = cls(text)
        counted.work = work
        return counted

    def _copy(self, text: str) -> "CountedText":
        self.work.count += len(text)
        return self.make(text, self.work)

    def __getitem__(self, key: Any) -> "CountedText":
        return self._copy(str(self)[key])

    def __add__(self, other: str) -> "CountedText":
        return self._copy(str.__add__(self, other))

    def __radd__(self, other: str) -> "CountedText":
        return self._copy(str.__add__(other, self))

    def __str__(self) -> str:
        return str.__str__(self)

    def find(self, *arguments: Any) -> int:  # type: ignore[override]
        found = str.find(self, *arguments)
        self.work.count += (len(self) if found < 0 else found + 1) - arguments[1]
        return found


class CountedPattern:
    """A pattern that counts the characters that its searches pass."""

    def __init__(self, pattern: Any, work: Work) -> None:
        self._pattern, self._work = pattern, work

    def search(self, text: str, start: int = 0) -> Any:
        """Search a text from a position on."""
        match = self._pattern.search(text, start)
        self._work.count += (len(text) if match is None else match.end()) - start
        return match


def assert_linear_time(
    reader: Callable[[], Any], module: ModuleType, pattern: str, unit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that a reader copies and searches at most ``most`` characters for each character of a long text."""
    work = Work()
    monkeypatch.setattr(module, pattern, CountedPattern(getattr(module, pattern), work))
    for repetitions in (100, 3_000):
        text, work.count = unit * repetitions, 0
        reader().read_text(CountedText.make(text, work))
        assert 0 < work.count <= most * len(text)


@pytest.mark.parametrize("unit", ['"//" ', "'//' ", '"//', "\"//'//", '" ', "\"www.a' ", '"mailto: ', "a(b) '//"])
def test_quoted_addresses_take_linear_time(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_linear_time(LineReader, line_reader, "_QUOTED_ADDRESS", unit, MOST_PER_CHARACTER, monkeypatch)


@pytest.mark.parametrize("unit", ["&lt;b&gt; ", "&lt;", "[img]x ", "[img]", "[img] [a", "[url=//", "=3c", "a::", ":a"])
def test_directives_take_linear_time(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_linear_time(DirectiveReader, directive_reader, "_ENCODED_TAG", unit, 3 * MOST_PER_CHARACTER, monkeypatch)
