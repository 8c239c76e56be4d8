"""The only source of randomness, the random generator of the operating system, and uniform integers from its words.

A *random word* is a uniform 64-bit integer. ``draw_uniform_below`` is a pure function of random words.
This module has no seed, no state and no buffer. Processes and threads therefore never share random numbers, and an
attacker cannot repeat or predict samples from the memory of a process.
"""

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from textveil.errors import EntropyFailed
from textveil.mechanisms.arrays import Integers

#: Function that returns a given number of independent, uniform 64-bit words.
RandomUint64 = Callable[[int], NDArray[np.uint64]]
#: Bytes of one random word.
WORD_BYTES = 8
#: Maximum number of random words for one integer. The probability that all of them are rejected is below 2**-256.
MAX_WORDS = 128
#: Message for words that are not random.
NOT_RANDOM_MESSAGE = "the operating system's bytes are not random: nothing is released until its generator is repaired"


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


def draw_uniform_below(totals: Integers, random_uint64: RandomUint64, *, bits: int = 64) -> Integers:
    """Sample, for each ``total`` in ``totals``, one integer uniformly from ``[0, total)``.

    The result is a random word modulo ``total``. The function rejects a word that is not below the largest multiple of
    ``total`` up to ``2**bits``, and reads new words for the rejected positions only, in order. So each remainder is the
    result of equally many words, and every returned integer is exactly uniform.

    A broken source that returns only rejected words, such as words with all bits set, causes an error after
    ``MAX_WORDS`` words. With independent words, the probability of this error is below ``4**-MAX_WORDS = 2**-256`` for
    each integer.

    Args:
        totals: Integers in ``[1, 2**62]`` and at most ``2**bits``, shape ``(n,)``.
        random_uint64: Function that returns a given number of independent uniform words below ``2**bits``.
        bits: Number of bits of a word; 64 in production, small in exhaustive tests.

    Returns:
        The sampled integers, shape ``(n,)``.

    Raises:
        EntropyFailed: ``MAX_WORDS`` words for one integer were rejected.

    Privacy:
        The number of used words depends on ``totals`` and on chance. The probability that a word is rejected is below
        ``total / 2**bits``.

    Example:
        >>> drawn = draw_uniform_below(np.array([1, 6, 6]), random_uint64)
        >>> int(drawn[0]), bool((drawn[1:] < 6).all())
        (0, True)
    """
    modulus = totals.astype(np.uint64)
    largest_word = np.uint64((1 << bits) - 1)
    one = np.uint64(1)
    last_accepted = largest_word - (largest_word % modulus + one) % modulus
    words = random_uint64(len(modulus))
    rejected = np.flatnonzero(words > last_accepted)
    if len(rejected):
        words = words.copy()
    for _ in range(MAX_WORDS - 1):
        if not len(rejected):
            break
        words[rejected] = random_uint64(len(rejected))
        rejected = rejected[words[rejected] > last_accepted[rejected]]
    if len(rejected):
        raise EntropyFailed(NOT_RANDOM_MESSAGE)
    return (words % modulus).astype(np.int64)
