"""Read noisy vectors from the output of ``textveil encode --json``, which a real attacker sees."""

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from textveil_training.data.rows import FilePath, format_file_name, read_lines
from textveil_training.errors import FileLocation, InvalidJson, WrongColumnCount


def read_released_vectors(path: FilePath, texts: int) -> tuple[NDArray[np.float64], float]:
    """Read noisy vectors from a file with one line for each text, in the order of the texts.

    Args:
        path: Lines of ``textveil encode --json``.
        texts: Required number of lines.

    Returns:
        Vectors, shape (texts, k), and the epsilon per text that all lines state.

    Raises:
        InvalidJson: A line is not an object of ``textveil encode``, or its dimension or epsilon differs from the first
            line's.
        WrongColumnCount: The file has more or fewer lines than ``texts``.
        DataError: The file cannot be read or is empty.
    """
    vectors: list[list[float]] = []
    epsilons: set[float] = set()
    for location, line in read_lines(path):
        vector, epsilon = _parse_line(line)
        if vector is None or epsilon is None:
            raise InvalidJson(
                "the line is not a released vector with its statement: use the output of textveil encode --json",
                location,
            )
        vectors.append(vector)
        epsilons.add(epsilon)
        if len(vector) != len(vectors[0]) or len(epsilons) > 1:
            raise InvalidJson(
                "the line differs in dimension or epsilon from the first line: pass releases of one bundle at one "
                "epsilon",
                location,
            )
    if len(vectors) != texts:
        raise WrongColumnCount(
            f"the number of released vectors ({len(vectors)}) differs from the number of texts ({texts})",
            FileLocation(format_file_name(Path(path))),
        )
    return np.array(vectors), epsilons.pop()


def _parse_line(line: str) -> tuple[list[float] | None, float | None]:
    """Return the vector and the epsilon of a line; ``None`` in place of a missing value.

    The function raises no error, since an exception could contain the private line.
    """
    try:
        row = json.loads(line)
        vector, epsilon = row["vector"], row["statement"]["epsilon_text"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, None
    numbers = cast(list[Any], vector) if isinstance(vector, list) else []
    finite = numbers and all(type(x) in (int, float) and np.isfinite(x) for x in numbers)
    stated = type(epsilon) in (int, float) and epsilon > 0
    return ([float(x) for x in numbers] if finite else None), (float(epsilon) if stated else None)
