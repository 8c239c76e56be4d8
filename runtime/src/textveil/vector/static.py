"""What a static extractor looks at: the words of a public list in a text, and which two of them stand side by side.

Standard library and numpy alone. Training cuts texts with these very functions (docs/encoder-format.md, "Words").
"""

import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]|_")
_CLITIC = re.compile(r"(.+?)(n't|'(?:s|m|d|re|ve|ll))")


def words_of(text: str, words: dict[str, int]) -> NDArray[np.int64]:
    """Returns the rows of a text's words, in order.

    The text in NFKC and lower case, with ``'`` for U+2019, is cut into runs of letters with apostrophes inside, runs of
    digits, and single other characters but white space. A word of the list has its row. Another one is cut into stem
    and clitic; a number has row ``len(words)``, anything else ``len(words) + 1``.

    Args:
        text: Any string.
        words: Row by word.
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


def pair_buckets(ids: NDArray[np.int64], buckets: int) -> NDArray[np.int64]:
    """Returns the bucket of every two neighbors ``i, j``: the first bits of ``(2654435761 i + 2246822519 j) mod 2^32``.

    Args:
        ids: Rows of the words, shape ``(n,)``.
        buckets: How many there are: a power of two, at most ``2^32``.

    Returns:
        Shape ``(max(0, n - 1),)``.
    """
    mixed = (ids[:-1] * 2654435761 + ids[1:] * 2246822519) & 0xFFFFFFFF
    return mixed >> (33 - buckets.bit_length())
