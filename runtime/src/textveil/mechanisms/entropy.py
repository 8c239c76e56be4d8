"""The only source of randomness: the operating system's generator.

There is no seed, no state and no buffer here. Forked or threaded workers therefore never share a stream, and
nothing that a process remembers can be used to repeat or predict a draw.
"""

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from textveil.errors import EntropyFailed

#: A source of that many independent, uniform 64-bit words.
RandomUint64 = Callable[[int], NDArray[np.uint64]]
#: Bytes that make one random word.
WORD_BYTES = 8


def random_uint64(count: int) -> NDArray[np.uint64]:
    """Draws independent, uniform 64-bit words.

    Args:
        count: How many words, at least 0.

    Returns:
        Shape ``(count,)``. Word ``i`` is bytes ``8 i`` to ``8 i + 7`` of the stream, little endian.

    Raises:
        EntropyFailed: The operating system gives no random bytes, or another number than was asked for. Nothing is
            drawn: fewer words would be spread over all draws.
    """
    try:
        drawn = os.urandom(WORD_BYTES * count)
    except Exception as error:  # none of it must come out as anything but this
        raise EntropyFailed("the operating system gives no random bytes: nothing is released") from error
    if type(drawn) is not bytes or len(drawn) != WORD_BYTES * count:
        raise EntropyFailed("the operating system gives another number of random bytes: nothing is released")
    return np.frombuffer(drawn, dtype="<u8")
