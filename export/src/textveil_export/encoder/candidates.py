"""Measures every int8 recipe on real text, for the record: a fixed order and the gates decide which one ships."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from textveil_export.encoder.checkpoint import Arrays
from textveil_export.encoder.evaluation import Texts, Vector, classify, vectors
from textveil_export.encoder.footprint import one_thread
from textveil_export.encoder.int8 import RECIPES, Int8Recipe, graph_name, quantize
from textveil_export.encoder.session import Session
from textveil_export.progress import Progress, no_progress

_TIMED, _ROUNDS = 11, 4

#: Texts that recipes are measured on, at least, where there are so many.
MIN_SAMPLE = 1000

#: A candidate: how it is made, and whether the session key ``session.x64quantprecision`` is on.
Key = tuple[Int8Recipe, bool]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A candidate and what it does on real texts, without noise, against the float32 graph.

    Attributes:
        recipe: How it was made.
        precise: Whether the session key ``session.x64quantprecision`` was on.
        model_bytes: Size of the graph.
        deviation_mean: Mean over texts of |f_int8(x) - f(x)|_1, where |f(x)|_1 is at most the radius (``l1``).
        deviation_p99: 99th percentile of it.
        accuracy: Share of texts classified correctly without noise.
        agreement: Share of texts that get the same label as in float32.
        speed: How many times as fast as torch in float32 it is on a text of median length, in turns on one core.
    """

    recipe: Int8Recipe
    precise: bool
    model_bytes: int
    deviation_mean: float
    deviation_p99: float
    accuracy: float
    agreement: float
    speed: float

    def as_json(self) -> dict[str, Any]:
        """Returns the figures with a name, for the manifest."""
        return {
            "recipe": self.recipe.name,
            "x64quantprecision": self.precise,
            "model_bytes": self.model_bytes,
            "deviation_l1_mean": round(self.deviation_mean, 5),
            "deviation_l1_p99": round(self.deviation_p99, 5),
            "accuracy": round(self.accuracy, 4),
            "agreement": round(self.agreement, 4),
            "times_as_fast_as_torch": round(self.speed, 2),
        }


def measure(
    source: Path,
    texts: Texts,
    classifier: Arrays,
    epsilon: float,
    folder: Path,
    reference: Vector,
    *,
    recipes: Sequence[Int8Recipe] = RECIPES,
    progress: Progress = no_progress,
) -> dict[Key, Measured]:
    """Makes and measures candidates.

    Args:
        source: The float32 graph.
        texts: Real texts; ``MIN_SAMPLE`` of them are meant.
        classifier: The server's classifier.
        epsilon: The whole-text epsilon that the classifier is told: the largest level, since no noise is added.
        folder: Where the graphs go, by ``graph_name``.
        reference: The same function by torch: times are ratios to it.
        recipes: The candidates.
        progress: Called after every candidate.

    Returns:
        By recipe and by the session key; the key is switched off for candidates with s8 weights of 8 bits only.
    """
    expected = vectors(Session(source), texts)
    decided = classify(classifier, expected, epsilon)
    found: dict[Key, Measured] = {}
    sessions: dict[Key, Session] = {}
    for number, recipe in enumerate(recipes, 1):
        path = folder / graph_name(recipe)
        quantize(source, recipe, path)
        may_saturate = recipe.weights == "s8" and not recipe.reduce_range and recipe.tool == "onnxruntime"
        for precise in (True, False) if may_saturate else (True,):
            session = sessions[recipe, precise] = Session(path, precise=precise)
            got = vectors(session, texts)
            labels = classify(classifier, got, epsilon)
            deviation = np.abs(got - expected).sum(axis=1)
            found[recipe, precise] = Measured(
                recipe=recipe,
                precise=precise,
                model_bytes=path.stat().st_size,
                deviation_mean=float(deviation.mean()),
                deviation_p99=float(np.quantile(deviation, 0.99)),
                accuracy=float(np.mean(labels == texts.labels)),
                agreement=float(np.mean(labels == decided)),
                speed=float("nan"),
            )
        progress("measuring int8 recipes", number, len(recipes))
    return {
        key: replace(found[key], speed=speed) for key, speed in _speeds(sessions, reference, texts.take(_TIMED)).items()
    }


def by_preference(measured: dict[Key, Measured], room: int) -> list[Measured]:
    """Returns the candidates that fit, in the order in which the gates try them: the one of the recipes (``RECIPES``).

    Figures decide nothing here. The first candidate that the accuracy gate lets pass ships. The choice depends neither
    on time nor on chance, and on the processor only where the accuracy of one recipe does. Candidates with quantized
    attention products are there for comparison only.

    Args:
        measured: What ``measure`` returned, the preferred recipe first; the session key is as devices set it.
        room: Bytes that the graph may take.
    """
    return [m for m in measured.values() if m.precise and not m.recipe.attention and m.model_bytes <= room]


@one_thread()
def _speeds(sessions: dict[Key, Session], reference: Vector, texts: Texts) -> dict[Key, float]:
    """Returns how many times as fast as torch each candidate is: median over texts of the best of some rounds.

    Candidates and torch take turns, so that whatever else the machine does hits them alike.
    """
    runs: dict[Key | None, Vector] = {None: reference, **sessions}
    best = {key: np.full(len(texts.ids), np.inf) for key in runs}
    for _ in range(_ROUNDS):
        for number, ids in enumerate(texts.ids):
            for key, run in runs.items():
                start = time.perf_counter()
                run(ids)
                best[key][number] = min(best[key][number], time.perf_counter() - start)
    return {key: float(np.median(best[None] / best[key])) for key in sessions}
