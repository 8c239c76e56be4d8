"""Which extractor to take for a file: both measured on the same test texts, in one run.

MiniLM is worth its size and time where it decides more texts rightly by more than two standard errors. With ``d`` the
difference of right decisions of a text (-1, 0 or 1), the standard error is that of its mean. The accuracy that is
released through ``counts`` is a linear function of the one without noise, so the answer is the same at every level.
"""

import time
from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import OnnxParts, StaticParts
from textveil.vector import Extractor, extractor_of
from textveil_export.processor import processor

from textveil_training.encoder.extractors import MINILM, STATIC

Parts = StaticParts | OnnxParts
#: Standard errors by which MiniLM has to be better.
MIN_ERRORS = 2.0
_TIMED, _ROUNDS = 60, 3


def advice(classes: NDArray[np.int64], static: NDArray[np.int64], minilm: NDArray[np.int64]) -> dict[str, Any]:
    """Tells which extractor to take.

    Args:
        classes: Class of each test text, shape ``(texts,)``.
        static: Decision of the static extractor on each.
        minilm: That of MiniLM.

    Returns:
        ``take``: the extractor; ``difference``: by how much MiniLM's accuracy is larger; ``standard_error`` of that.
    """
    gains = (minilm == classes).astype(float) - (static == classes)
    difference = float(gains.mean())
    error = float(gains.std() / sqrt(len(gains)))
    return {
        "take": MINILM if difference > MIN_ERRORS * error else STATIC,
        "difference": round(difference, 6),
        "standard_error": round(error, 6),
    }


def time_ratio(static: Parts, minilm: Parts, texts: tuple[str, ...]) -> dict[str, Any]:
    """Measures how many times as long MiniLM takes as the static extractor, the extractors alone, in turns.

    Args:
        static: The static extractor.
        minilm: MiniLM.
        texts: Texts to be timed on; some of them are taken.

    Returns:
        ``ratio``: median over texts of the ratio of the best of some rounds; ``processor``: what it was measured on.
    """
    extractors: Mapping[str, Extractor] = {STATIC: extractor_of(static), MINILM: extractor_of(minilm)}
    spread = np.unique(np.linspace(0, len(texts) - 1, min(_TIMED, len(texts))).astype(int))
    best = {name: np.full(len(spread), np.inf) for name in extractors}
    for _ in range(_ROUNDS):
        for place, number in enumerate(spread):
            for name, extractor in extractors.items():
                start = time.perf_counter()
                extractor.extract(texts[number])
                best[name][place] = min(best[name][place], time.perf_counter() - start)
    ratio = float(np.median(best[MINILM] / best[STATIC]))
    return {"ratio": round(ratio, 1), "processor": processor()}
