"""Tokenizer of static extractors: table rows of words, and hash buckets of word pairs.

It needs only numpy and the standard library. Training uses the same functions (docs/encoder-format.md,
"From a text to ids").
"""

import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]|_")
_CLITIC = re.compile(r"(.+?)(n't|'(?:s|m|d|re|ve|ll))")


def find_word_rows(text: str, words: dict[str, int]) -> NDArray[np.int64]:
    """Return the table row of each token of a text, in order.

    The text is put in NFKC and lower case, with ``'`` for U+2019. It is split into runs of letters, which may have
    apostrophes inside, runs of digits, and single other characters except white space. A listed word has its own row.
    An unlisted word that ends in a contraction is split (``don't`` into ``do`` and ``n't``). A number has row
    ``len(words)``, any other token ``len(words) + 1``.

    Args:
        text: Any string.
        words: Table row of each listed word.

    Returns:
        int64, shape ``(number of tokens,)``.

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
    """Return the hash bucket of each pair of adjacent words.

    The bucket of two words with rows ``i`` and ``j`` is the first ``log2(buckets)`` bits of the 32-bit number
    ``(2654435761 i + 2246822519 j) mod 2^32``.

    Args:
        ids: Rows of the words, shape ``(words,)``.
        buckets: Number of buckets: a power of two, at most ``2^32``.

    Returns:
        int64, shape ``(max(0, words - 1),)``.

    Example:
        >>> compute_pair_buckets(np.array([0, 3, 1, 2]), buckets=8).tolist()
        [4, 3, 5]
    """
    mixed = (ids[:-1] * 2654435761 + ids[1:] * 2246822519) & 0xFFFFFFFF
    return mixed >> (33 - buckets.bit_length())
