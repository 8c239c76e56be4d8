"""Measures every int8 recipe on real text, for the record: a fixed order and the gates decide which one ships."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from textveil_export.encoder.checkpoint import Arrays
from textveil_export.encoder.evaluation import Texts, classify, vectors
from textveil_export.encoder.int8 import RECIPES, Int8Recipe, graph_name, quantize
from textveil_export.encoder.session import Session
from textveil_export.progress import Progress, no_progress

_TIMED, _ROUNDS = 11, 4

#: A candidate: how it is made, and whether the session key ``session.x64quantprecision`` is on.
Key = tuple[Int8Recipe, bool]


@dataclass(frozen=True)
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
        latency_ms: Time of a text of median length, on one core.
    """

    recipe: Int8Recipe
    precise: bool
    model_bytes: int
    deviation_mean: float
    deviation_p99: float
    accuracy: float
    agreement: float
    latency_ms: float

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
            "latency_ms_median": round(self.latency_ms, 2),
        }


def measure(
    source: Path,
    texts: Texts,
    classifier: Arrays,
    epsilon: float,
    folder: Path,
    *,
    recipes: Sequence[Int8Recipe] = RECIPES,
    progress: Progress = no_progress,
) -> dict[Key, Measured]:
    """Makes and measures candidates.

    Args:
        source: The float32 graph.
        texts: Real texts; a few hundred are enough.
        classifier: The server's classifier.
        epsilon: The whole-text epsilon that the classifier is told: the largest level, since no noise is added.
        folder: Where the graphs go, by ``graph_name``.
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
                recipe,
                precise,
                path.stat().st_size,
                float(deviation.mean()),
                float(np.quantile(deviation, 0.99)),
                float(np.mean(labels == texts.labels)),
                float(np.mean(labels == decided)),
                float("nan"),
            )
        progress("measuring int8 recipes", number, len(recipes))
    return {
        key: replace(found[key], latency_ms=latency)
        for key, latency in _latencies(sessions, texts.take(_TIMED)).items()
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


def _latencies(sessions: dict[Key, Session], texts: Texts) -> dict[Key, float]:
    """Returns milliseconds by candidate: median over texts of the best of some rounds.

    Candidates take turns, so that whatever else the machine does hits them alike.
    """
    best = {key: np.full(len(texts.ids), np.inf) for key in sessions}
    for _ in range(_ROUNDS):
        for number, ids in enumerate(texts.ids):
            for key, session in sessions.items():
                start = time.perf_counter()
                session(ids)
                best[key][number] = min(best[key][number], time.perf_counter() - start)
    return {key: 1000 * float(np.median(times)) for key, times in best.items()}
