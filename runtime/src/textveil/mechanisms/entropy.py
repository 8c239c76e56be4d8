"""The only source of randomness: the random generator of the operating system.

This module has no seed, no state and no buffer. Processes and threads therefore never share random numbers, and an
attacker cannot repeat or predict samples from the memory of a process.
"""

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from textveil.errors import EntropyFailed

#: Function that returns a given number of independent, uniform 64-bit words.
RandomUint64 = Callable[[int], NDArray[np.uint64]]
#: Bytes of one random word.
WORD_BYTES = 8


def random_uint64(count: int) -> NDArray[np.uint64]:
    """Read independent, uniform 64-bit words from the operating system.

    Args:
        count: Number of words, at least 0.

    Returns:
        The words, shape ``(count,)``. Word ``i`` consists of the random bytes ``8 i`` to ``8 i + 7``, little endian.

    Raises:
        EntropyFailed: The operating system returns no random bytes, or not as many as requested.

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
