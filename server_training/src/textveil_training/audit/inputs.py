"""Choose the inputs of an audit: pairs for comparing outputs, and sets for guessing the input of an output.

The mechanism under audit could log its inputs, so use public texts. ``list_sample_texts`` returns invented sentences,
enough for every test.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from textveil_training.data.rows import read_lines
from textveil_training.errors import DataError, EmptyData, FileLocation, SettingError

Neighbors = Literal["text", "word"]
#: Largest number of inputs in the identification test.
MAX_INPUTS = 1000
_SENTENCES = (
    "please book a table for two in {place} on {day}",
    "my {relative} flew from {place} to meet us on {day}",
    "the doctor in {place} thinks that it is {illness}",
    "since {day} my {relative} has {illness} and stays in bed",
    "send the invoice for the {thing} to the office in {place}",
    "i lost my {thing} on the train to {place}",
    "the {thing} that my {relative} bought on {day} is broken",
    "how much is a {thing} in {place}",
)
_WORDS = {
    "place": "Aachen Lisbon Szeged Kyoto Quito Tartu Bergen Oaxaca Dakar Perth Ghent Lucknow Cusco Izmir Lviv".split(),
    "day": "monday tuesday thursday sunday".split(),
    "relative": "sister uncle grandmother nephew stepfather".split(),
    "illness": "asthma measles shingles vertigo gout anemia".split(),
    "thing": "clarinet kettle scooter telescope saddle backpack laptop".split(),
}


@dataclass(frozen=True)
class InputPair:
    """Two inputs whose outputs must be hard to distinguish if the claim is true (neighbors).

    Attributes:
        inputs: The two inputs.
        distance: Their distance, by which an epsilon is divided; 1 unless the claim is per unit of distance.
        origin: Method that found the pair, for the report.
    """

    inputs: tuple[Any, Any]
    distance: float = 1.0
    origin: str = "given"


@dataclass(frozen=True)
class InputSet:
    """Inputs for the identification test, which guesses the input of each output.

    Any two of the inputs are neighbors: their outputs must be hard to distinguish if the claim is true.

    Attributes:
        inputs: At least two different inputs.
        distance: The largest distance of two of them; 1 unless the claim is per unit of distance.
    """

    inputs: tuple[Any, ...]
    distance: float = 1.0


def list_sample_texts() -> list[str]:
    """Return public texts as inputs of an audit: more than 1,000 invented sentences, each with one or two rare words.

    Example:
        >>> list_sample_texts()[0]
        'please book a table for two in Aachen on monday'
    """
    found = []
    for sentence in _SENTENCES:
        slots = [name for name in _WORDS if f"{{{name}}}" in sentence]
        found += [
            sentence.format(**dict(zip(slots, words, strict=True)))
            for words in product(*(_WORDS[name] for name in slots))
        ]
    return found


def read_texts(path: Path) -> list[str]:
    """Read texts from a file, one per line; blank lines and repeated texts are omitted.

    Raises:
        DataError: The file cannot be read, is not UTF-8, or has fewer than two different texts.
    """
    texts = list(dict.fromkeys(line.strip() for _, line in read_lines(path) if line.strip()))
    if len(texts) < 2:
        raise EmptyData("an audit needs at least two different texts, one per line: pass another file")
    return texts


def read_pairs(path: Path, *, with_distances: bool) -> list[InputPair]:
    """Read pairs of texts from a file, one pair per line, separated by a tab.

    Args:
        path: The file.
        with_distances: Whether each line has a third column with the distance of the pair.

    Raises:
        DataError: The file cannot be read, or a row has another number of columns, two equal texts, a distance that is
            not positive, or the texts of an earlier row with another distance.
    """
    columns = 3 if with_distances else 2
    found: list[InputPair] = []
    distances: dict[frozenset[str], float] = {}
    for location, line in read_lines(path):
        if not line.strip():
            continue
        parts = line.split("\t")
        if len(parts) != columns or parts[0] == parts[1] or not parts[0] or not parts[1]:
            what = "two different texts and a distance" if with_distances else "two different texts"
            raise DataError(f"the row needs {what}, separated by tabs", location)
        distance = _parse_distance(parts[2], location) if with_distances else 1.0
        if distances.setdefault(frozenset(parts[:2]), distance) != distance:
            raise DataError("an earlier row has another distance of these two texts: correct one of them", location)
        found.append(InputPair((parts[0], parts[1]), distance))
    if not found:
        raise EmptyData("the file has no pair of texts: write two texts per line, with a tab between")
    return found


def _parse_distance(text: str, location: FileLocation) -> float:
    try:
        distance = float(text)
    except ValueError:
        distance = 0.0
    if not 0 < distance < float("inf"):
        raise DataError("the third column is not a positive distance: write a number above 0", location)
    return distance


def propose_pairs(texts: Sequence[str], neighbors: Neighbors, generator: np.random.Generator) -> list[InputPair]:
    """Choose pairs of texts whose output distributions are likely to differ most.

    Args:
        texts: Different texts.
        neighbors: Which inputs must be hard to distinguish (*neighbors*): ``text`` for any two texts; ``word`` for
            texts that differ in one word.
        generator: Random generator of the choices.

    Returns:
        Up to eight pairs.
    """
    counts = Counter(word for text in texts for word in set(text.split()))
    rarest = sorted(counts, key=lambda word: (counts[word], word))
    found: list[InputPair] = []
    if neighbors == "text":
        by_rarity = sorted(texts, key=lambda text: (min((counts[word] for word in text.split()), default=0), text))
        by_length = sorted(texts, key=lambda text: (len(text.split()), text))
        found.append(InputPair((by_rarity[0], by_rarity[-1]), origin="rarest and most common words"))
        found.append(InputPair((by_length[0], by_length[-1]), origin="shortest and longest text"))
        for _ in range(2):
            first, second = generator.choice(len(texts), 2, replace=False)
            found.append(InputPair((texts[first], texts[second]), origin="two texts at random"))
    while len(found) < 8:
        words = texts[int(generator.integers(len(texts)))].split()
        place = int(generator.integers(len(words)))
        other = rarest[int(generator.integers(max(2, len(rarest) // 4)))]
        if other == words[place]:
            other = next(word for word in reversed(rarest) if word != words[place])
        swapped = " ".join([*words[:place], other, *words[place + 1 :]])
        found.append(InputPair((" ".join(words), swapped), origin="one word swapped"))
    return [pair for pair in found if pair.inputs[0] != pair.inputs[1]]


def propose_sets(texts: Sequence[str], neighbors: Neighbors, generator: np.random.Generator) -> list[InputSet]:
    """Choose sets of inputs for the identification test (guessing the input of an output), of up to 1,000 inputs.

    Args:
        texts: Different texts.
        neighbors: Which inputs must be hard to distinguish: ``text`` for any two texts; ``word`` for versions of one
            text that differ in one word. The inputs of a set are of this kind.
        generator: Random generator of the choices.
    """
    if neighbors == "text":
        order = [texts[place] for place in generator.permutation(len(texts))[:MAX_INPUTS]]
        return [InputSet(tuple(order[:size])) for size in sorted({2, 10, 100, len(order)}) if 2 <= size <= len(order)]
    words = list(dict.fromkeys(word for text in texts for word in text.split()))
    chosen = [words[place] for place in generator.permutation(len(words))[:MAX_INPUTS]]
    shortest = min(texts, key=lambda text: (len(text.split()), text)).split()
    versions = list(dict.fromkeys(" ".join([*shortest[:-1], word]) for word in chosen))
    return [
        InputSet(tuple(versions[:size])) for size in sorted({2, 10, 100, len(versions)}) if 2 <= size <= len(versions)
    ]


def collect_metric_set(pairs: Sequence[InputPair]) -> list[InputSet]:
    """Select inputs from pairs so that any two of the selected inputs are a given pair with a known distance.

    The identification test of a claim per unit of distance needs the distances of all its inputs.

    Returns:
        A list with one set of three inputs or more, or an empty list.
    """
    distances: dict[frozenset[Any], float] = {frozenset(pair.inputs): pair.distance for pair in pairs}
    chosen: list[Any] = []
    for one in dict.fromkeys(text for pair in pairs for text in pair.inputs):
        if len(chosen) < MAX_INPUTS and all(frozenset((one, other)) in distances for other in chosen):
            chosen.append(one)
    if len(chosen) < 3:
        return []
    within = max(distances[frozenset((one, other))] for one, other in product(chosen, chosen) if one != other)
    return [InputSet(tuple(chosen), within)]


def propose_vector_pairs(dimension: int, norm: float) -> list[InputPair]:
    """Choose pairs of vectors that are far apart, for a mechanism that clips vectors at a Euclidean norm.

    The first pair are opposite dense vectors, the second opposite vectors with one coordinate that is not 0. The third
    pair is the zero vector and a dense vector.

    Args:
        dimension: Number of coordinates.
        norm: The norm at which the mechanism clips.

    Example:
        >>> [pair.origin for pair in propose_vector_pairs(2, 1.0)]
        ['opposite dense vectors', 'opposite coordinates', 'zero and the clipping norm']
    """
    if dimension < 1 or norm <= 0:
        raise SettingError("vectors need a dimension of at least 1 and a positive norm")
    dense = np.full(dimension, norm / np.sqrt(dimension))
    sparse = np.zeros(dimension)
    sparse[0] = norm
    return [
        InputPair((dense, -dense), origin="opposite dense vectors"),
        InputPair((sparse, -sparse), origin="opposite coordinates"),
        InputPair((np.zeros(dimension), dense), origin="zero and the clipping norm"),
    ]
