"""Server for randomized class labels from devices: parse lines, compute probabilities, and estimate counts.

numpy is the only numerical library that it needs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import (
    FLOAT_TYPES,
    ExpectedBundle,
    LabelBundle,
    layout,
    open_bundle,
    parse_tensors,
    read_hashed_file,
)
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase import LabelStaircase
from textveil.vector import HASH_DIGITS

from textveil_cli.aggregation.classifier import LabelDecision
from textveil_cli.aggregation.counts import AggregateCounts, MechanismHistogram, count_class_labels, count_true_labels
from textveil_cli.errors import ReleaseError


@dataclass(frozen=True)
class ReceivedLabel:
    """A parsed line from a device: the id of the class label, and the mechanism that randomized the label."""

    label_id: int
    staircase: LabelStaircase


class LabelServer:
    r"""Server that evaluates the randomized class labels that ``textveil encode`` computes on devices.

    The server does not need the model of the devices.

    Args:
        bundle: The opened bundle (folder with the model and its settings), which must be the same as on the devices.

    Attributes:
        bundle: The bundle.

    Raises:
        BundleDamaged: The table of label probabilities in the bundle is damaged.

    Example:
        >>> from textveil.bundle import find_artifact
        >>> server = LabelServer.load(find_artifact("ag-static"))
        >>> line = "\t".join(["2", server.bundle.content_hash[:12], "4", "counts"])  # a device released label 2
        >>> server.classify_label(server.parse_line(line, number=1)).label
        'Sports'
    """

    def __init__(self, bundle: LabelBundle) -> None:
        self.bundle = bundle
        self._id_by_sentence = {
            sentence: label_id for label_id, sentences in enumerate(bundle.sentences) for sentence in sentences
        }
        self._probabilities = self._read_probabilities(bundle.path)

    @classmethod
    def load(cls, folder: str | Path, **expected: Unpack[ExpectedBundle]) -> "LabelServer":
        """Open the bundle in a folder, and return a server for the labels that devices with this bundle send.

        Raises:
            BundleError: The folder contains no bundle for randomized class labels, or a damaged one.
        """
        return cls(open_bundle(Path(folder), LabelBundle, **expected))

    def parse_line(self, line: str, number: int) -> ReceivedLabel:
        """Parse one line of the output of ``textveil encode``.

        The line has four fields, separated by tabs: the label id or its public sentence, the first digits of the
        bundle's content hash, epsilon, and the randomizer.

        Args:
            line: The line.
            number: Number of the line, for errors.

        Raises:
            ReleaseError: The line has another format, comes from a device with another bundle, or has a randomizer,
                epsilon or class label that this bundle does not have.
        """
        if not isinstance(line, str):
            raise ReleaseError(f"line {number}: must be a string")
        fields = line.rstrip("\r").split("\t")
        is_id = len(line) <= 60 and fields[0].isascii() and fields[0].isdecimal()
        if len(fields) != 4 or not (is_id or fields[0] in self._id_by_sentence):
            raise ReleaseError(f"line {number}: is not a released class label (textveil encode writes them)")
        released, content_hash, epsilon, randomizer = fields
        if content_hash != self.bundle.content_hash[:HASH_DIGITS]:
            raise ReleaseError(
                f"line {number}: was released with another bundle: pass the bundle of the device that wrote this line "
                "with --bundle"
            )
        for staircase in self.bundle.randomizers.get(randomizer, ()):
            if f"{staircase.level.epsilon:f}" == epsilon:
                break
        else:
            raise ReleaseError(
                f"line {number}: was released with a randomizer or an epsilon that the bundle does not have: pass the "
                "bundle of the devices with --bundle"
            )
        label_id = int(released) if is_id else self._id_by_sentence[released]
        if label_id >= staircase.label_count or not staircase.base[label_id]:
            raise ReleaseError(f"line {number}: has a class label that its randomizer never releases")
        return ReceivedLabel(label_id, staircase)

    def classify_label(self, received: ReceivedLabel) -> LabelDecision:
        """Return the received class label, and the probability of each true label.

        The probabilities are ``P(true label | received label)``, measured on calibration texts when the bundle was
        built. If the bundle has no calibration texts, the received label has the probability 1. The probabilities are
        correct only if the labels are as frequent among the texts of the devices as among the calibration texts.
        """
        staircase, labels = received.staircase, self.bundle.labels
        table = self._probabilities.get(_format_table_name(staircase))
        shares = np.eye(len(labels))[received.label_id] if table is None else table[received.label_id]
        scores = {label: round(float(share), 6) for label, share in zip(labels, shares, strict=True)}
        return LabelDecision(labels[received.label_id], scores)

    def count_texts(self, received: Iterable[ReceivedLabel]) -> AggregateCounts:
        """Estimate the number of texts per class label and per true label.

        The lines may have several epsilons and randomizers. If an estimate is not possible, ``CountEstimates.refusal``
        contains the reason.

        Raises:
            ReleaseError: There is no line.
        """
        histogram_by_name: dict[str, MechanismHistogram] = {}
        for each in received:
            name = _format_table_name(each.staircase)
            if name not in histogram_by_name:
                histogram_by_name[name] = each.staircase, np.zeros(each.staircase.label_count, dtype=np.int64)
            histogram_by_name[name][1][each.label_id] += 1
        if not histogram_by_name:
            raise ReleaseError("there are no lines to count: pass the output of textveil encode")
        histograms = tuple(histogram_by_name.values())
        texts = sum(int(histogram.sum()) for _, histogram in histograms)
        return AggregateCounts(
            texts,
            count_class_labels(self.bundle.labels, histograms),
            count_true_labels(self.bundle.held_out, histograms),
        )

    def _read_probabilities(self, folder: Path) -> dict[str, NDArray[Any]]:
        entry = self.bundle.manifest["files"].get(layout.LABEL_PROBABILITIES)
        if entry is None:
            return {}
        tensors = parse_tensors(
            read_hashed_file(folder / layout.LABEL_PROBABILITIES, entry["sha256"]),
            layout.LABEL_PROBABILITIES,
            FLOAT_TYPES,
        )
        label_count = len(self.bundle.labels)
        for tensor in tensors.values():
            if tensor.shape != (label_count, label_count) or not np.isfinite(tensor).all() or (tensor < 0).any():
                raise BundleDamaged(f"{layout.LABEL_PROBABILITIES}: is not a table of label probabilities")
        return tensors


def _format_table_name(staircase: LabelStaircase) -> str:
    return f"{staircase.level.name}.{staircase.level.epsilon:f}"
