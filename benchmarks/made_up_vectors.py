"""Writes vectors of made-up words as text, for tables larger than any vocabulary at hand.

    python benchmarks/made_up_vectors.py 400000 made-up.txt [DIMENSION]

Words are letters and say nothing. Groups of some fifty words share a center, as related words do. The same numbers on
every machine: seeded, and in integers. This is about time and memory; what such a table does to texts means nothing.
"""

import sys
from itertools import islice, product
from string import ascii_lowercase

import numpy as np

GROUP = 50
_AT_ONCE = 10_000


def write(count: int, path: str, dimension: int = 300) -> None:
    """Writes ``count`` lines: a word and ``dimension`` integers between -127 and 127."""
    random = np.random.default_rng(16)
    written = [str(number) for number in range(-127, 128)]
    words = ("".join(letters) for letters in product(ascii_lowercase, repeat=6))
    with open(path, "w", encoding="ascii") as file:
        for start in range(0, count, _AT_ONCE):
            size = min(_AT_ONCE, count - start)
            centers = random.integers(-40, 41, (1 + size // GROUP, dimension))
            rows = random.integers(-60, 61, (size, dimension)) + centers[random.integers(0, len(centers), size)]
            for word, row in zip(islice(words, size), (rows + 127).tolist(), strict=True):
                file.write(f"{word} {' '.join([written[number] for number in row])}\n")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    write(int(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
