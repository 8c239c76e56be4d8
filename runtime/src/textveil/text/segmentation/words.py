"""Lookup keys (normalized spellings) of words, clitics such as ``'s``, and case patterns.

The definitions are in docs/format-staircase.md, "Keys and case".
"""

import re
import unicodedata
from collections.abc import Iterable

from textveil.bundle.layout import RULES
from textveil.bundle.word_lists import fold, fold_apostrophes
from textveil.lazy import LazyPattern, load_data
from textveil.text.segmentation.patterns import MAX_WORD_LENGTH


def clitic_pattern(clitics: Iterable[str]) -> str:
    """Return the pattern of a regular expression for words with a clitic (an ending such as ``'s``).

    The pattern matches lookup keys (words in lower case). Its groups are the stem and the clitic.
    """
    return rf"(?s:(.+?)({'|'.join(map(re.escape, sorted(clitics)))}))"


#: Clitics of English: short words that are written together with the word before them, such as ``'s``.
_ENGLISH = load_data(RULES)["clitics"]
CLITICS = frozenset((*_ENGLISH["after"], _ENGLISH["negation"]))
_CLITIC = LazyPattern(re.compile, lambda: clitic_pattern(CLITICS))

#: The clitic that is grammatical only after an auxiliary, and the stems that it follows.
NOT_CLITIC, AUXILIARIES = _ENGLISH["negation"], frozenset(_ENGLISH["negation_stems"])

LOWER, TITLE, UPPER = range(3)

#: Byte order mark. Some editors write it at the beginning of a file, where it would become a part of the first word.
BYTE_ORDER_MARK = "\ufeff"


def fold_word(word: str) -> str:
    r"""Normalize a word for look-ups in lists (its *lookup key*): NFKC, lower case, apostrophes as U+0027.

    A word of more than ``MAX_WORD_LENGTH`` characters is returned unchanged.

    >>> fold_word("Don\u2019t")
    "don't"
    """
    if len(word) > MAX_WORD_LENGTH:
        return word
    folded = word.lower() if word.isascii() else fold(word)
    return word if folded == word else folded  # one string in memory, not two


def is_folded(text: str) -> bool:
    """Return whether every word of a text is normalized already (equal to its ``fold_word``)."""
    return text.lower() == text and fold_apostrophes(text) == text and unicodedata.is_normalized("NFKC", text)


def split_clitic(key: str, pattern: LazyPattern = _CLITIC) -> tuple[str, str] | None:
    """Split a normalized word into its stem and its clitic (an ending such as ``'s``).

    Args:
        key: The result of ``fold_word`` for a word.
        pattern: Regular expression for the clitics of the language (``clitic_pattern``).

    Returns:
        Stem and clitic; ``None`` if the key ends with no clitic.

    >>> split_clitic("john's"), split_clitic("john")
    (('john', "'s"), None)
    >>> split_clitic("don't")
    ('do', "n't")
    """
    match = pattern.fullmatch(key)
    return None if match is None else (match[1], match[2])


def find_case_pattern(word: str) -> int:
    """Return the case pattern of a word: ``UPPER``, ``TITLE`` or ``LOWER``.

    Returns:
        ``UPPER`` if the word has two or more characters and all of its letters are upper case, ``TITLE`` if its first
        letter is upper case, else ``LOWER``.
    """
    if word.islower():
        return LOWER
    if len(word) > 1 and word.isupper():
        return UPPER
    first = word[:1]
    return TITLE if first.isupper() or first.istitle() else LOWER


def apply_case(word: str, pattern: int) -> str:
    """Write a lower-case word in a case pattern: ``LOWER``, ``TITLE`` or ``UPPER``."""
    if pattern == LOWER:
        return word
    return word.upper() if pattern == UPPER else word[:1].upper() + word[1:]
