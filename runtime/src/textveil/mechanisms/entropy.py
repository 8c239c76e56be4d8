"""The only source of randomness: the random generator of the operating system.

This module has no seed, no state and no buffer. So processes and threads never share random numbers, and the memory of
a process contains nothing from which a sample could be repeated or predicted.
"""

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from textveil.errors import EntropyFailed

#: Source of randomness: returns a given number of independent, uniform 64-bit words.
RandomUint64 = Callable[[int], NDArray[np.uint64]]
#: Bytes of one random word.
WORD_BYTES = 8


def random_uint64(count: int) -> NDArray[np.uint64]:
    """Read independent, uniform 64-bit words from the operating system.

    Args:
        count: Number of words, at least 0.

    Returns:
        Shape ``(count,)``. Word ``i`` is bytes ``8 i`` to ``8 i + 7`` of the stream, little endian.

    Raises:
        EntropyFailed: The operating system returns no random bytes, or fewer or more than requested. Then no words are
            returned at all, because too few words would be spread over all samples.

    Example:
        >>> words = random_uint64(3)
        >>> words.shape, words.dtype == np.uint64
        ((3,), True)
    """
    try:
        random_bytes = os.urandom(WORD_BYTES * count)
    except Exception as error:  # every failure must reach the caller as EntropyFailed
        raise EntropyFailed(
            "the operating system returned no random bytes; nothing was released: check /dev/urandom and its "
            "permissions"
        ) from error
    if type(random_bytes) is not bytes or len(random_bytes) != WORD_BYTES * count:
        raise EntropyFailed("the operating system returned too few random bytes; nothing was released: try again")
    return np.frombuffer(random_bytes, dtype="<u8")
