"""Server side of ``textveil encode``: evaluate the noisy vectors and randomized class labels that devices send.

The server assigns a class to each vector or label, and estimates how many texts belong to each class.
"""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_cli.aggregation.classifier import (
        LabelDecision,
        VectorClassifier,
        compute_label_scores,
        extract_layers,
    )
    from textveil_cli.aggregation.counts import (
        AggregateCounts,
        CountEstimate,
        CountEstimates,
        compute_condition_number,
        compute_correction,
        count_class_labels,
        count_true_labels,
    )
    from textveil_cli.aggregation.label_server import LabelServer

__all__ = [
    "AggregateCounts",
    "CountEstimate",
    "CountEstimates",
    "LabelDecision",
    "LabelServer",
    "VectorClassifier",
    "compute_condition_number",
    "compute_correction",
    "compute_label_scores",
    "count_class_labels",
    "count_true_labels",
    "extract_layers",
]

__getattr__ = make_lazy_getattr(__name__, __all__, "classifier", "counts", "label_server")
