"""Tokenizer for word vectors in a table: it finds the table rows of the words and word pairs of a text.

The module needs only numpy and the standard library. Training uses the same functions (docs/encoder-format.md,
"From a text to ids").
"""

import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]|_")
_CLITIC = re.compile(r"(.+?)(n't|'(?:s|m|d|re|ve|ll))")


def find_word_rows(text: str, words: dict[str, int]) -> NDArray[np.int64]:
    """Split a text into tokens, and return for each token the index of its row in a table of word vectors.

    The text is converted to NFKC and lower case, with ``'`` for U+2019. The tokens are: words (sequences of letters,
    which may contain apostrophes), numbers (sequences of digits), and all other single characters except white space.
    If a word with a contraction is not listed, it is split: ``don't`` becomes ``do`` and ``n't``.

    Args:
        text: Any string.
        words: Index of the row of each listed word.

    Returns:
        Indices of rows in the order of the tokens, int64, shape ``(tokens,)``. The index is ``len(words)`` for numbers,
        and ``len(words) + 1`` for all other tokens that are not listed.

    Example:
        >>> find_word_rows("Good, not 42!", {"good": 0, "not": 1}).tolist()
        [0, 3, 1, 2, 3]
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    number, unknown = len(words), len(words) + 1
    ids: list[int] = []
    for token in _TOKEN.findall(text.lower()):
        row = words.get(token)
        if row is not None:
            ids.append(row)
        elif token[0].isdecimal():
            ids.append(number)
        elif (match := _CLITIC.fullmatch(token)) is not None:
            ids += [words.get(match[1], unknown), words.get(match[2], unknown)]
        else:
            ids.append(unknown)
    return np.array(ids, dtype=np.int64)


def compute_pair_buckets(ids: NDArray[np.int64], buckets: int) -> NDArray[np.int64]:
    """Return the hash bucket of each pair of adjacent words. It is the pair's row in the table of pairs.

    The bucket of two words with rows ``i`` and ``j`` is the first ``log2(buckets)`` bits of the 32-bit number
    ``(2654435761 i + 2246822519 j) mod 2^32``.

    Args:
        ids: Indices of the rows of the words, shape ``(words,)``.
        buckets: Number of buckets: a power of two, at most ``2^32``.

    Returns:
        Indices of the buckets, int64, shape ``(max(0, words - 1),)``.

    Example:
        >>> compute_pair_buckets(np.array([0, 3, 1, 2]), buckets=8).tolist()
        [4, 3, 5]
    """
    mixed = (ids[:-1] * 2654435761 + ids[1:] * 2246822519) & 0xFFFFFFFF
    return mixed >> (33 - buckets.bit_length())
