"""Counts of unchanged and replaced words, and a hint that a text may be in another language than the word lists."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

#: With fewer words that are neither names nor numbers (a text of 20 words has about 12), do not guess the language.
_MIN_WORDS = 12
_WORD = re.compile(r"[^\W\d_]+")
#: Table for ``str.translate``: ASCII letters in lower case, and a blank for each other ASCII character.
_ASCII_LETTERS = "".join(chr(code).lower() if chr(code).isalpha() else " " for code in range(128))
#: Fewest characters whose words are listed together. The list takes 50 bytes for each word.
_BLOCK_CHARACTERS = 1 << 13


class KeptWords(NamedTuple):
    """Counts of words that sanitizing left unchanged, and of replaced words that are on no list.

    No count includes names, numbers, identifiers and words of the option ``randomize``. The counts depend only on what
    the output reveals anyway, so they reveal nothing more (docs/proofs/names.md).

    >>> KeptWords(5, 25).may_be_foreign
    True
    >>> KeptWords(20, 10, foreign=12).may_be_foreign
    True

    Attributes:
        kept: Number of words left unchanged.
        replaced: Number of replaced words that are on no list.
        foreign: Number of unchanged words that belong to other languages. Unless the option ``facts`` is ``none``,
            frequent words of several languages are left unchanged.
    """

    kept: int = 0
    replaced: int = 0
    foreign: int = 0

    @property
    def share(self) -> float | None:
        """The share ``kept / (kept + replaced)``, rounded to three decimals; ``None`` if both counts are 0."""
        words = self.kept + self.replaced
        return round(self.kept / words, 3) if words else None

    @property
    def may_be_foreign(self) -> bool:
        """Whether the text may be in another language than the word lists.

        The value is true if at least 12 words were counted, and fewer than half of them are unchanged words of the
        lists' own language.
        """
        words = self.kept + self.replaced
        return words >= _MIN_WORDS and 2 * (self.kept - self.foreign) < words

    def describe_language(self, *, is_english: bool, option: str, scope: str = "") -> str:
        """Return a hint that the text may be in another language, for the owner of the device.

        >>> KeptWords(5, 15).describe_language(is_english=True, option="--language")
        '75 % of the words were replaced: the text may not be English (--language for another one)'

        Args:
            is_english: Whether the word lists are the built-in English ones.
            option: Name of the option that selects another language.
            scope: Text for the hint that states the number of texts, such as ``" (12 texts)"``. Empty for a single
                text.
        """
        own = self.kept - self.foreign
        percent = 100 - round(100 * own / max(1, self.kept + self.replaced))
        treated = "were replaced or belong to other languages" if self.foreign else "were replaced"
        language = f"English ({option} for another one)" if is_english else "in the language of the bundle"
        return f"{percent} % of the words {treated}{scope}: the text may not be {language}"


def count_foreign_words(output: str, is_foreign: Callable[[str], bool], find_common: Callable[[str], Any]) -> int:
    """Count the words of a sanitized text that belong to other languages.

    Args:
        output: The sanitized text.
        is_foreign: Function that takes a word in lower case, and returns whether it is a word of another language that
            sanitizing leaves unchanged.
        find_common: Function that takes a word in lower case, and returns ``None`` if the word is not a common word of
            the lists' own language. A common word is not counted.

    Privacy:
        The result depends on the output alone, so it reveals nothing more.

    >>> count_foreign_words("Ich rufe [person 1] an.", {"ich", "rufe"}.__contains__, {"person": 0, "an": 0}.get)
    2
    """
    # A list comprehension calls no Python function for a common word.
    return sum(
        sum([is_foreign(word) for word in words if find_common(word) is None]) for words in _iterate_word_lists(output)
    )


def _iterate_word_lists(text: str) -> Iterator[list[str]]:
    """Yield the words of a text in lower case, in lists of some thousands.

    In ASCII text, blanks replace all marks, so that ``str.split`` finds the words. It is faster than a pattern.
    """
    is_ascii = text.isascii()
    text = text.translate(_ASCII_LETTERS) if is_ascii else text.lower()
    start = 0
    while start < len(text):
        word = _WORD.match(text, end := start + _BLOCK_CHARACTERS)
        end = end if word is None else word.end()  # the last word continues after the block
        yield text[start:end].split() if is_ascii else _WORD.findall(text, start, end)
        start = end
