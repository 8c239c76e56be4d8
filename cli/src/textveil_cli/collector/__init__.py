"""Server side of the encoders: classify vectors, read indices, count their labels."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_cli.collector.classifier import Decision, VectorClassifier, label_scores, layers_of
    from textveil_cli.collector.counts import Count, Counts, Estimate, condition, correction, count_codes, count_labels
    from textveil_cli.collector.index_server import IndexServer

__all__ = [
    "Count",
    "Counts",
    "Decision",
    "Estimate",
    "IndexServer",
    "VectorClassifier",
    "condition",
    "correction",
    "count_codes",
    "count_labels",
    "label_scores",
    "layers_of",
]

__getattr__ = lazy_names(__name__, __all__, "classifier", "counts", "index_server")
