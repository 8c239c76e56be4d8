"""Search a reply for numbers that are neither surrogates (replacements) nor in the sanitized text.

A model may have computed such numbers from surrogates. Restoring cannot correct them, so the report lists them.
"""

import re
from collections.abc import Callable, Collection

#: A tag; a list mark at the start of a line; or a number, a date or a time in digits.
_NUMBER = re.compile(r"\[[a-z-]{1,40} [0-9]{1,9}\]|\n[ \t]*\d{1,3}[.)](?=\s|\Z)|(?<![\w.])(\d+(?:[.,:/-]\d+)*)(?!\w)")
_PART = re.compile(r"\d+(?:[.,]\d+)*")
_TAG, _OPEN_TAG = re.compile(r"\[[a-z-]{1,40} [0-9]{1,9}\]"), re.compile(r"\[[a-z-]{1,40} \Z")
_MAX_OPEN_TAG = 42  #: length of the longest match of ``_OPEN_TAG``
_DIGIT = re.compile(r"\d")
#: Longer sequences of non-blank characters, and longer indentations, are shortened to this many characters: they
#: contain no number. The result does not depend on how the text is split.
_MAX_RUN_CHARACTERS = 256
_LONG_RUN = re.compile(rf"(?<!\S)\S{{{_MAX_RUN_CHARACTERS + 1},}}")
_LONG_INDENT = re.compile(rf"\n[ \t]{{{_MAX_RUN_CHARACTERS + 1},}}")


def find_numbers(text: str) -> set[str]:
    """Return the numbers in a text as strings, without commas. Numbers of tags such as ``[city 1]`` are ignored."""
    return {part.replace(",", "") for part in _PART.findall(_TAG.sub(" ", text))}


class NumberFinder:
    """Collects the numbers of a reply that arrives in parts, except numbers that are surrogates (replacements).

    Args:
        find_known: Function that returns the numbers of the sanitized text. It is called only if the reply has numbers.
    """

    def __init__(self, find_known: Callable[[], Collection[str]] = frozenset) -> None:
        self._find_known, self._open = find_known, "\n"
        self._found: list[str] = []

    def feed(self, text: str) -> None:
        """Add the next part of the reply. The part must contain no surrogate (replacement)."""
        self._open += text
        if len(self._open) > _MAX_RUN_CHARACTERS:  # most texts between two surrogates are shorter
            self._open = _LONG_RUN.sub("x" * (_MAX_RUN_CHARACTERS + 1), self._open)
            self._open = _LONG_INDENT.sub("\n" + " " * (_MAX_RUN_CHARACTERS + 1), self._open)
            self._scan_closed()

    def _scan_closed(self) -> None:
        """Collect the numbers that no later text can continue."""
        cut = _find_open_end(self._open)
        self._scan(self._open[:cut])
        self._open = self._open[cut:]

    def end_text(self) -> None:
        """Collect the number at the end of the reply so far, which no further digit continues.

        Call this before each surrogate (replacement of a hidden word) and after the last text.
        """
        self._scan(self._open)
        self._open = ""

    def _scan(self, text: str) -> None:
        if _DIGIT.search(text) is not None:
            self._found += (match[1] for match in _NUMBER.finditer(text) if match[1])

    def find_unknown(self) -> tuple[str, ...]:
        """Return the numbers of the reply so far that the sent text does not contain, each once, in order."""
        self._scan_closed()
        if not self._found:
            return ()
        known = frozenset(self._find_known())
        return tuple(number for number in dict.fromkeys(self._found) if not find_numbers(number) <= known)


def _find_open_end(text: str) -> int:
    """Return the index from which a text may be the start of a number that later text completes.

    This is the start of the last word, or of the line end and indentation before that word. If a tag such as
    ``[city 1]`` is open at the end, the index is the start of the tag.
    """
    start = len(text) if not text or text[-1].isspace() else len(text) - len(text.rsplit(None, 1)[-1])
    indent = text[max(0, start - _MAX_RUN_CHARACTERS - 2) : start]
    line_end = indent.rstrip(" \t")
    tag = _OPEN_TAG.search(text[max(0, start - _MAX_OPEN_TAG) : start])
    if tag is not None:  # the last blank may be inside of a tag
        return max(0, start - _MAX_OPEN_TAG) + tag.start()
    return start - len(indent) + len(line_end) - 1 if line_end.endswith("\n") else start
