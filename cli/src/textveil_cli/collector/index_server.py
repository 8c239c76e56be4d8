"""Reader of released indices, for servers: labels, probabilities, corrected counts.

Among numerical libraries it needs numpy alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import FLOATS, IndexBundle, Pins, layout, open_bundle, parse_tensors, read_checked
from textveil.errors import BundleDamaged, ReleaseError
from textveil.mechanisms.staircase import IndexStaircase
from textveil.vector import IDENTITY_DIGITS

from textveil_cli.collector.classifier import Decision
from textveil_cli.collector.counts import Arrived, Counts, count_codes, count_labels


@dataclass(frozen=True)
class Received:
    """One released line: the index, and the mechanism that randomized it."""

    index: int
    staircase: IndexStaircase


class IndexServer:
    """Reader of the indices that devices with one bundle release.

    It needs neither extractor nor model.

    Args:
        bundle: The opened bundle, the same one that the devices have.

    Attributes:
        bundle: The bundle.

    Raises:
        BundleDamaged: The bundle's table of label probabilities is damaged.
    """

    def __init__(self, bundle: IndexBundle) -> None:
        self.bundle = bundle
        self._index = {said: index for index, those in enumerate(bundle.sentences) for said in those}
        self._probabilities = self._read_probabilities(bundle.path)

    @classmethod
    def load(cls, folder: str | Path, **pins: Unpack[Pins]) -> "IndexServer":
        """Open the bundle in a folder.

        Raises:
            BundleError: The folder holds no such bundle, or a damaged one.
        """
        return cls(open_bundle(Path(folder), IndexBundle, **pins))

    def receive(self, line: str, number: int) -> Received:
        """Read one line of ``textveil encode``.

        Its four fields, separated by tabs, are the index or its sentence, the first digits of the bundle's content
        hash, epsilon, and the randomizer.

        Args:
            line: The line.
            number: Its number, for errors.

        Raises:
            ReleaseError: The line is no such line, was released with another bundle, or names a randomizer, epsilon or
                index that this bundle does not have.
        """
        if not isinstance(line, str):
            raise ReleaseError(f"line {number}: is not a string")
        fields = line.rstrip("\r").split("\t")
        is_index = len(line) <= 60 and fields[0].isascii() and fields[0].isdecimal()
        if len(fields) != 4 or not (is_index or fields[0] in self._index):
            raise ReleaseError(f"line {number}: is not a released index (textveil encode writes them)")
        released, identity, epsilon, channel = fields
        if identity != self.bundle.identity[:IDENTITY_DIGITS]:
            raise ReleaseError(f"line {number}: was released by a device with another bundle: name that with --bundle")
        for staircase in self.bundle.channels.get(channel, ()):
            if f"{staircase.level.epsilon:f}" == epsilon:
                break
        else:
            raise ReleaseError(f"line {number}: was released at a channel or an epsilon that the bundle does not have")
        index = int(released) if is_index else self._index[released]
        if index >= staircase.codes or not staircase.base[index]:
            raise ReleaseError(f"line {number}: has an index that its channel never releases")
        return Received(index, staircase)

    def classify(self, received: Received) -> Decision:
        """Return the label of an index, and the probability of each label.

        The label is that of the index itself. The probabilities are ``P(label | index)`` on the texts that fitted the
        randomizer, if the bundle has them; else 1 for the index's own label. On texts with other shares of the labels
        the true probabilities differ.
        """
        staircase, labels = received.staircase, self.bundle.labels
        found = self._probabilities.get(_name(staircase))
        shares = np.eye(len(labels))[received.index] if found is None else found[received.index]
        scores = {label: round(float(share), 6) for label, share in zip(labels, shares, strict=True)}
        return Decision(labels[received.index], scores)

    def counts(self, received: Iterable[Received]) -> Counts:
        """Estimate the number of texts per code and per label.

        Lines of several epsilons and randomizers may be mixed. Where an estimate is not possible, ``refused`` gives the
        reason.

        Raises:
            ReleaseError: There is no line.
        """
        arrived: dict[str, Arrived] = {}
        for one in received:
            name = _name(one.staircase)
            if name not in arrived:
                arrived[name] = one.staircase, np.zeros(one.staircase.codes, dtype=np.int64)
            arrived[name][1][one.index] += 1
        if not arrived:
            raise ReleaseError("there is nothing to count")
        every = tuple(arrived.values())
        texts = sum(int(histogram.sum()) for _, histogram in every)
        return Counts(texts, count_codes(self.bundle.labels, every), count_labels(self.bundle.held_out, every))

    def _read_probabilities(self, folder: Path) -> dict[str, NDArray[Any]]:
        entry = self.bundle.manifest["files"].get(layout.LABELS)
        if entry is None:
            return {}
        tensors = parse_tensors(read_checked(folder / layout.LABELS, entry["sha256"]), layout.LABELS, FLOATS)
        codes = len(self.bundle.labels)
        for tensor in tensors.values():
            if tensor.shape != (codes, codes) or not np.isfinite(tensor).all() or (tensor < 0).any():
                raise BundleDamaged(f"{layout.LABELS}: has something else than probabilities of the labels")
        return tensors


def _name(staircase: IndexStaircase) -> str:
    return f"{staircase.level.name}.{staircase.level.epsilon:f}"
