"""Classify the noisy vectors that devices send to a server; numpy is the only dependency.

The classifier is a file of the bundle (folder with the model and its settings). The server needs the same bundle as the
devices.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import (
    FLOAT_TYPES,
    ExpectedBundle,
    VectorBundle,
    layout,
    make_unique_dict,
    open_bundle,
    parse_tensors,
    read_hashed_file,
)
from textveil.errors import BundleDamaged

from textveil_cli.errors import ReleaseError

Floats = NDArray[np.float32]

#: Largest allowed absolute value of a received number. Devices clamp to smaller ones; larger ones could overflow.
_MAX_VALUE = 1e9


Layers = Sequence[tuple[Floats, Floats]]
"""Weight ``(out, in)`` and bias ``(out,)`` of each layer, the first layer first."""


def extract_layers(tensors: Mapping[str, NDArray[Any]]) -> Layers:
    """Return the layers of a neural classifier as pairs of weight matrix and bias vector, in float32.

    The layer ``hidden``, which is optional, comes first; the layer ``out`` comes last.

    Example:
        >>> tensors = {"out.weight": np.ones((2, 3)), "out.bias": np.zeros(2)}
        >>> [(weight.shape, bias.shape) for weight, bias in extract_layers(tensors)]
        [((2, 3), (2,))]
    """
    names = [name for name in ("hidden", "out") if f"{name}.weight" in tensors]
    return [
        (tensors[f"{name}.weight"].astype(np.float32), tensors[f"{name}.bias"].astype(np.float32)) for name in names
    ]


def compute_label_scores(layers: Layers, vectors: Floats, log_epsilons: Floats) -> Floats:
    """Compute the score of every label for noisy vectors: ``softmax(out(relu(hidden([vector, ln epsilon]))))``.

    A server chooses the label with the highest score.

    Args:
        layers: Result of ``extract_layers``.
        vectors: Noisy vectors from devices, shape ``(n, k)``.
        log_epsilons: Natural logarithm of the epsilon of each text, shape ``(n, 1)``; shape ``(1, 1)`` if all texts
            have the same epsilon.

    Returns:
        Scores of shape ``(n, labels)``; each row sums to 1.

    Example:
        >>> layers = [(np.array([[1, 0], [-1, 0]], np.float32), np.zeros(2, np.float32))]  # one coordinate, two labels
        >>> scores = compute_label_scores(layers, np.array([[-1.0], [1.0]], np.float32), np.log([[4.0]]))
        >>> scores.argmax(axis=1).tolist()
        [1, 0]
    """
    log_epsilons = np.broadcast_to(np.asarray(log_epsilons, dtype=np.float32), (len(vectors), 1))
    values = np.concatenate([vectors, log_epsilons], axis=1)
    for number, (weight, bias) in enumerate(layers, 1):
        values = values @ weight.T + bias
        if number < len(layers):
            values = np.maximum(values, 0)
    values = np.exp(values - values.max(axis=1, keepdims=True))
    return values / values.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class LabelDecision:
    """Class that the server assigns to one noisy vector or randomized class label from a device.

    Attributes:
        label: For a vector, the label with the highest score; for a class label, the received label.
        scores: Score of every label; the scores sum to 1. For a vector, they rank the labels but are not probabilities:
            the training makes them close to 0 or 1, which claims far more certainty than the epsilon allows.

    Example:
        >>> decision = LabelDecision("Sports", {"Business": 0.25, "Sports": 0.75})
        >>> decision.label, decision.scores["Sports"]
        ('Sports', 0.75)
    """

    label: str
    scores: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as a dictionary for JSON with the keys ``label`` and ``scores``."""
        return {"label": self.label, "scores": self.scores}


class VectorClassifier:
    """Classifier of the noisy vectors that ``textveil encode`` computes on devices.

    The server needs neither the model of the devices nor a training library.

    Args:
        bundle: The opened bundle (folder with the model and its settings); the same as on the devices.

    Attributes:
        bundle: The opened bundle.
        labels: Names of the classes, in the order of the scores.

    Raises:
        BundleDamaged: The classifier in the bundle is damaged.
        ReleaseError: The bundle has no classifier.

    Example:
        >>> classifier = VectorClassifier.load("my-encoder")
        >>> vectors = np.array([[-0.5, 0, 0, 0], [0.5, 0, 0, 0]], np.float32)
        >>> scores = classifier.compute_scores(vectors, epsilons=[4, 4])
        >>> [classifier.labels[best] for best in scores.argmax(axis=1)]
        ['first', 'second']
    """

    def __init__(self, bundle: VectorBundle) -> None:
        self.bundle = bundle
        folder, manifest = bundle.path, bundle.manifest
        entry = manifest["files"].get(layout.CLASSIFIER)
        if entry is None:
            raise ReleaseError("the bundle has no classifier: build it again with textveil-export encoder")
        content = read_hashed_file(folder / layout.CLASSIFIER, entry["sha256"])
        tensors = parse_tensors(content, layout.CLASSIFIER, FLOAT_TYPES)
        labels = manifest.get("labels")
        if not isinstance(labels, list):
            raise BundleDamaged(f"{layout.CLASSIFIER}: is not a classifier of this format")
        self.labels = tuple(map(str, labels))
        self._layers = extract_layers(tensors)
        for weight, bias in self._layers:
            is_finite = np.isfinite(weight).all() and np.isfinite(bias).all()
            if weight.ndim != 2 or bias.shape != weight.shape[:1] or not is_finite:
                raise BundleDamaged(f"{layout.CLASSIFIER}: is not a classifier of this format")
        shapes = [weight.shape for weight, _ in self._layers]
        width = self.bundle.default_level.dimension + 1
        is_chained = [shape[1] for shape in shapes] == [width, *(shape[0] for shape in shapes[:-1])]
        if not shapes or not is_chained or shapes[-1][0] != len(self.labels):
            raise BundleDamaged(f"{layout.CLASSIFIER}: does not fit the bundle's vectors and labels")

    @classmethod
    def load(cls, folder: str | Path, **expected: Unpack[ExpectedBundle]) -> "VectorClassifier":
        """Open the bundle in a folder, and return the classifier that it contains.

        Raises:
            BundleError: The folder contains no bundle for noisy vectors, or a damaged one.
            ReleaseError: The bundle has no classifier.
        """
        return cls(open_bundle(Path(folder), VectorBundle, **expected))

    def compute_scores(self, vectors: Floats, epsilons: Sequence[float]) -> Floats:
        """Compute the score of every label for each vector, with softmax.

        Args:
            vectors: Noisy vectors from devices, shape ``(n, k)``.
            epsilons: Epsilon with which the device sampled the noise of each vector, ``n`` numbers.

        Returns:
            Scores of shape ``(n, labels)``; each row sums to 1.

        Raises:
            ReleaseError: An argument has another shape, for instance one vector without the row axis.
        """
        count = len(epsilons) if np.ndim(epsilons) == 1 else -1
        dimension = self.bundle.default_level.dimension
        if np.shape(vectors) != (count, dimension):
            raise ReleaseError(
                f"compute_scores needs rows of {dimension} numbers, and a sequence with one epsilon for each row"
            )
        log_epsilons = np.log(np.asarray(epsilons, dtype=np.float32))[:, None]
        return compute_label_scores(self._layers, np.asarray(vectors, dtype=np.float32), log_epsilons)

    def classify_line(self, line: str, number: int) -> LabelDecision:
        """Classify one line of the output of ``textveil encode --json``.

        Args:
            line: A JSON object with ``vector`` and ``statement``.
            number: Number of the line, for errors.

        Raises:
            ReleaseError: The line has another format, comes from a device with another bundle, or has an epsilon that
                this bundle does not have.
        """
        try:
            record = json.loads(line, object_pairs_hook=make_unique_dict)
            vector = record["vector"]
            statement = record["statement"]
            bundle, epsilon = statement["bundle"], Decimal(str(statement["epsilon_text"]))
        except (ValueError, KeyError, TypeError, RecursionError, InvalidOperation):
            raise ReleaseError(
                f"line {number}: is not a released vector (textveil encode --json writes them)"
            ) from None
        if bundle != self.bundle.content_hash:
            raise ReleaseError(
                f"line {number}: was released with another bundle: pass the bundle of the device that wrote this line "
                "with --bundle"
            )
        if not epsilon.is_finite() or all(Decimal(level.epsilon) != epsilon for level in self.bundle.levels):
            raise ReleaseError(
                f"line {number}: was released at an epsilon that the bundle does not have: "
                "pass the bundle of the devices"
            )
        dimension = self.bundle.default_level.dimension
        is_numeric = isinstance(vector, list) and all(type(item) in (int, float) for item in vector)
        # Python integers have no upper limit: compare before the conversion to float32 can overflow.
        if not is_numeric or len(vector) != dimension or not all(abs(item) <= _MAX_VALUE for item in vector):
            raise ReleaseError(f"line {number}: the vector is not {dimension} finite numbers")
        row = self.compute_scores(np.array([vector], dtype=np.float32), [float(epsilon)])[0]
        scores = {label: round(float(share), 6) for label, share in zip(self.labels, row, strict=True)}
        return LabelDecision(self.labels[int(row.argmax())], scores)
