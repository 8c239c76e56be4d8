"""Learn codebooks (clusters of texts) without labels, and decode cluster labels as a server does.

- ``static``, ``taught``: the codebooks of ``textveil-train encoder --clusters`` in int8, without a teacher and with
  MiniLM as the teacher.
- ``minilm``: a codebook from the same k-means on the main directions of MiniLM's vectors.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil_training.encoder import (
    DECAY,
    DIRECTIONS,
    NO_TEACHER,
    PAIR_WEIGHT,
    PUBLIC_NUMBERS,
    RARE_NUMBERS,
    RESTARTS,
    STEPS,
    LabeledPart,
    LabeledTexts,
    MinilmSettings,
    StaticSettings,
    choose_teacher_texts,
    count_needed_texts,
    deduplicate_texts,
    find_centers,
    find_main_space,
    normalize_vectors,
    train_static_codebook,
)
from textveil_training.errors import InvalidClasses
from vectors.extractors import Extractors
from vectors.releases import Codes

Floats, Ids = NDArray[np.float64], NDArray[np.int64]
KINDS = ("static", "taught", "minilm")
#: Settings that determine a codebook, for the hash of a record's inputs.
SETTINGS = {
    "static": [RARE_NUMBERS, RESTARTS, STEPS],
    "taught": [PUBLIC_NUMBERS, DIRECTIONS, DECAY, PAIR_WEIGHT, RESTARTS, STEPS],
    "minilm": [DIRECTIONS, RESTARTS, STEPS],
}


def measure(extractors: Extractors, kind: str, codes: int, seed: int) -> Codes | None:
    """Learn a codebook, and count texts by class and cluster label; return ``None`` for too few texts.

    Args:
        extractors: The vectors.
        kind: One of ``KINDS``.
        codes: Number of cluster labels.
        seed: Seed of the division, of the texts and of k-means.
    """
    task = extractors.task(seed)
    try:
        different = deduplicate_texts(task.train.texts, codes)
    except InvalidClasses:
        return None
    chosen = np.random.default_rng(seed).choice(len(different), count_needed_texts(codes), replace=False)
    seen = [different[at] for at in chosen]
    learn = of_minilm if kind == "minilm" else learn_codebook_as_shipped
    code = learn(extractors, kind, seen, codes, seed)
    known, test = code(task.train.texts), code(task.test.texts)
    count = 1 + int(max(known.max(), test.max()))
    return count_texts(extractors, task, (known, task.train), (test, task.test), count)


def count_texts(
    extractors: Extractors,
    task: LabeledTexts,
    known: tuple[Ids, LabeledPart],
    test: tuple[Ids, LabeledPart],
    codes: int,
) -> Codes:
    """Count texts by class and cluster label, and by attribute and cluster label if there are attributes.

    Args:
        extractors: Source of the attributes.
        task: The task.
        known: Texts that a server and an attacker learn from, with their cluster labels.
        test: Test texts with their cluster labels.
        codes: Number of cluster labels.
    """

    def counts(names: Ids, at: Ids, rows: int) -> Floats:
        return np.bincount(names * codes + at, minlength=rows * codes).reshape(rows, codes).astype(float)

    found = [counts(part.classes, at, len(task.labels)) for at, part in (known, test)]
    if not extractors.corpus.attributes:
        return Codes(*found)
    of = extractors.corpus.attributes_of
    present = [np.stack([counts(bits.astype(int), at, 2) for bits in of(part).T], axis=1) for at, part in (known, test)]
    return Codes(*found, *present)


class Known:
    """MiniLM's vectors of a teacher's texts, with the interface of a folder of stored vectors."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = vectors

    def part(self, name: str, make: Callable[[], object]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the vectors; the name of the part is ignored."""
        return {"vectors": self._vectors}, {}


def learn_codebook_as_shipped(
    extractors: Extractors, kind: str, seen: list[str], codes: int, seed: int
) -> Callable[[tuple[str, ...]], Ids]:
    """Learn a codebook as for a bundle. Each label needs 20 texts, so the codebook may have fewer labels."""
    known: Any = None
    if kind == "taught":
        known = Known(extractors.vectors("minilm", [seen[at] for at in choose_teacher_texts(len(seen))]))
    minilm = MinilmSettings() if kind == "taught" else MinilmSettings(encoder=NO_TEACHER)
    trained = train_static_codebook(seen, codes, StaticSettings(seed=seed), minilm, known, lambda *_: None)
    return lambda texts: trained.compute_labels(texts, lambda *_: None)


def of_minilm(
    extractors: Extractors, kind: str, seen: list[str], codes: int, seed: int
) -> Callable[[tuple[str, ...]], Ids]:
    """Learn a codebook over the main directions of MiniLM's vectors, as for a bundle.

    In contrast to a bundle, the vectors are not int8, and labels with few texts are kept.
    """

    def vectors(texts: tuple[str, ...] | list[str]) -> Floats:
        return extractors.vectors(kind, texts).astype(np.float64)

    mean, main = find_main_space(vectors(seen), DIRECTIONS)
    centers = find_centers(normalize_vectors((vectors(seen) - mean) @ main), codes, seed)
    return lambda texts: (normalize_vectors((vectors(texts) - mean) @ main) @ centers.T).argmax(axis=1)
