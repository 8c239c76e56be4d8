"""Trains both extractors on one division of a file, measures both on the same texts, and says which to take.

    textveil-train encoder my.csv --text text --label topic --compare -o bundle

The bundle is that of the one to take, and its card has the comparison. MiniLM is worth its size and time where it
decides more texts rightly by more than two standard errors. With ``d`` the difference of right decisions of a text (-1,
0 or 1), the standard error is that of its mean. The accuracy that is released through ``counts`` is a linear function
of the one without noise, so the answer is the same at every level.
"""

import time
from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import OnnxParts, StaticParts
from textveil.vector import Extractor, extractor_of
from textveil_export.index import IndexContents, extractor_bytes
from textveil_export.processor import processor

from textveil_training.encoder.extractors import EXTRACTORS, MINILM, STATIC
from textveil_training.encoder.kept_parts import KeptParts
from textveil_training.encoder.task import Task
from textveil_training.encoder.train import EncoderSettings, contents_of, measured_extractor
from textveil_training.progress import Report

Parts = StaticParts | OnnxParts
#: Standard errors by which MiniLM has to be better.
MIN_ERRORS = 2.0
_TIMED, _ROUNDS = 60, 3


def train_both(
    task: Task, settings: EncoderSettings, wanted: str | None, report: Report, kept: KeptParts
) -> IndexContents:
    """Trains and measures both extractors.

    Args:
        task: The texts.
        settings: What the bundle is to be; its extractor is not looked at.
        wanted: The extractor of the bundle, or None for the one to take.
        report: Told the stage, the steps done and the steps in all.
        kept: Where finished parts are kept; the times are one, so that they are measured once.

    Returns:
        The bundle in memory; ``compared`` of its figures is the comparison.

    Raises:
        TextveilError: See ``train_encoder``.
    """
    found = {kind: measured_extractor(task, settings, kind, report, kept) for kind in EXTRACTORS}
    contents = {kind: contents_of(found[kind], task, settings, report) for kind in EXTRACTORS}
    static, minilm = (found[kind].trained.parts for kind in EXTRACTORS)
    _, times = kept.part("times", lambda: ({}, time_ratio(static, minilm, task.test.texts)))
    told = advice(task.test.classes, found[STATIC].test, found[MINILM].test)
    compared: dict[str, Any] = {
        **told,
        "texts": len(task.test.texts),
        "time": times,
        "extractors": {
            kind: {
                "bytes": extractor_bytes(contents[kind]),
                "clean": contents[kind].measured["clean"]["accuracy"],
                "counts": {
                    epsilon: figures["accuracy"]
                    for epsilon, figures in contents[kind].measured["channels"]["counts"].items()
                },
            }
            for kind in EXTRACTORS
        },
    }
    chosen = contents[wanted or told["take"]]
    chosen.measured["compared"] = compared
    return chosen


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
