"""Shares of a data set that stay the same on every machine and every run.

The share of an example is a function of its key and a seed alone: integer arithmetic on a SHA-256 digest, no
random generator, no float, no order. So examples with equal keys are never torn apart, and a row that is
added or removed moves no other row. The price is that the sizes are close to the wanted proportions, not
equal to them.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping

from textveil_training.data.examples import Example
from textveil_training.errors import DataOptionError, MissingSplit


def text_key(example: Example) -> str:
    """Returns the default key: all texts of the example, so that duplicates fall into one share."""
    return "\t".join(example.texts)


def share_of(key: str, shares: Mapping[str, int], seed: int = 0) -> str:
    """Returns the name of the share that a key falls into.

    With weights ``w_1 .. w_n`` of the names in ascending order and ``h = SHA-256(seed, key)`` read as an
    integer, it is the first ``i`` with ``floor(h * sum(w) / 2**256) < w_1 + .. + w_i``.

    Args:
        key: What decides.
        shares: Weight of each share by name, positive integers (``{"train": 80, "dev": 10, "test": 10}``).
            The order of the mapping does not matter.
        seed: Another seed gives another, independent division.

    Raises:
        DataOptionError: There is no share, or a weight is not a positive integer.
    """
    if not shares or any(type(weight) is not int or weight < 1 for weight in shares.values()):
        raise DataOptionError("the weight of every share must be a positive integer, and one share is needed")
    digest = hashlib.sha256(f"{seed}\n{key}".encode("utf-8", "surrogatepass")).digest()
    point = int.from_bytes(digest, "big") * sum(shares.values()) >> 256
    names = iter(sorted(shares))
    name = next(names)
    upper = shares[name]
    while point >= upper:
        name = next(names)
        upper += shares[name]
    return name


def split(
    examples: Iterable[Example],
    shares: Mapping[str, int],
    *,
    seed: int = 0,
    key: Callable[[Example], str] = text_key,
) -> dict[str, list[Example]]:
    """Divides examples into named shares, each in the order of the examples.

    Args:
        examples: What to divide.
        shares: Weight of each share by name, positive integers.
        seed: Another seed gives another division.
        key: What keeps examples together; all texts by default. ``lambda pair: pair.texts[0]`` keeps the rows of
            one QNLI question together.

    Returns:
        The examples of each share, by name, in the order of ``shares``.

    Raises:
        DataOptionError: As ``share_of``.
        MissingSplit: A share got no example.
    """
    divided: dict[str, list[Example]] = {name: [] for name in shares}
    for example in examples:
        divided[share_of(key(example), shares, seed)].append(example)
    for number, share in enumerate(divided.values(), start=1):
        if not share:
            raise MissingSplit(f"share {number} of {len(divided)} got no example")
    return divided
