"""``IndexServer``: the server's end. Indices in; labels, probabilities or corrected counts out. numpy alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from math import sqrt
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.files import read_checked
from textveil.bundle.index_bundle import LABELS, IndexBundle, open_index
from textveil.bundle.pins import Pins
from textveil.bundle.safetensors_reader import FLOATS, parse_tensors
from textveil.errors import BundleDamaged, ReleaseError
from textveil.mechanisms.index_staircase import IndexStaircase
from textveil.vector.classifier import Decision
from textveil.vector.index_encoder import IDENTITY_DIGITS

#: Beyond this condition number the corrected counts of a channel would be rounding errors.
_LARGEST_CONDITION = 1e9


@dataclass(frozen=True)
class Received:
    """A released line that was read: the index, and the mechanism that drew it."""

    index: int
    staircase: IndexStaircase


@dataclass(frozen=True)
class Count:
    """How many texts had one code, corrected for the noise. These are decisions of the model, not the truth.

    Attributes:
        label: Name of the code.
        count: Unbiased estimate; may be negative, and no integer.
        standard_error: Of that estimate, for these very texts: what the draws add.
    """

    label: str
    count: float
    standard_error: float

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        return {"label": self.label, "count": self.count, "standard_error": self.standard_error}


class IndexServer:
    """Reads what devices with one bundle release. It needs neither extractor nor model.

    Args:
        folder: The bundle that the devices have.
        pins: What it must be.

    Attributes:
        bundle: The bundle.

    Raises:
        BundleError: There is no such bundle, or it is damaged.
    """

    def __init__(self, folder: Path, **pins: Unpack[Pins]) -> None:
        self.bundle: IndexBundle = open_index(folder, **pins)
        self._probabilities = self._read_probabilities(folder)

    def receive(self, line: str, number: int) -> Received:
        """Reads one line of ``textveil encode``: index, digits of the identity, epsilon, channel.

        Args:
            line: The line.
            number: Its number, for errors.

        Raises:
            ReleaseError: It is no such line, comes from another bundle, or has no level of this one.
        """
        fields = line.rstrip("\r").split("\t")
        if len(fields) != 4 or len(line) > 60 or not (fields[0].isascii() and fields[0].isdecimal()):
            raise ReleaseError(f"line {number}: is no released index (textveil encode writes them)")
        index, identity, epsilon, channel = fields
        if identity != self.bundle.identity[:IDENTITY_DIGITS]:
            raise ReleaseError(f"line {number}: was released by a device with another bundle")
        for staircase in self.bundle.channels.get(channel, ()):
            if f"{staircase.level.epsilon:f}" == epsilon:
                break
        else:
            raise ReleaseError(f"line {number}: was released at a channel or an epsilon that the bundle does not have")
        if int(index) >= staircase.codes or not staircase.base[int(index)]:
            raise ReleaseError(f"line {number}: has an index that its channel never releases")
        return Received(int(index), staircase)

    def classify(self, received: Received) -> Decision:
        """Returns the label of an index, and how likely each label is.

        The label is that of the index itself. Probabilities are ``P(label | index)`` on the texts that the channel was
        fitted on, if the bundle has them: on texts with other shares of the labels they are others.
        """
        staircase, labels = received.staircase, self.bundle.labels
        found = self._probabilities.get(_name(staircase))
        shares = np.eye(len(labels))[received.index] if found is None else found[received.index]
        scores = {label: round(float(share), 6) for label, share in zip(labels, shares, strict=True)}
        return Decision(labels[received.index], scores)

    def counts(self, received: Iterable[Received]) -> list[Count]:
        """Computes how many texts had each code, an estimate: ``n = W' c`` with ``P W = I``.

        The proof is in docs/proofs/index-staircase.md, "Counts". Lines of several levels may be mixed: the estimate of
        each is added. The variance of a level is estimated by ``sum over y of c(y) W(y, i)^2 - n(i)``, without bias.

        Raises:
            ReleaseError: A channel that occurs cannot tell all codes from each other, or there is no line.
        """
        arrived: dict[tuple[str, Decimal], NDArray[np.int64]] = {}
        mechanisms: dict[tuple[str, Decimal], IndexStaircase] = {}
        for one in received:
            key = one.staircase.level.name, one.staircase.level.epsilon
            mechanisms[key] = one.staircase
            arrived.setdefault(key, np.zeros(one.staircase.codes, dtype=np.int64))[one.index] += 1
        if not arrived:
            raise ReleaseError("there is nothing to count")
        counts, variances = np.zeros(len(self.bundle.labels)), np.zeros(len(self.bundle.labels))
        for key, histogram in arrived.items():
            weights = correction(mechanisms[key])
            found = weights.T @ histogram
            counts += found
            variances += np.maximum(0, (weights**2).T @ histogram - found)
        return [
            Count(label, float(count), sqrt(variance))
            for label, count, variance in zip(self.bundle.labels, counts, variances, strict=True)
        ]

    def _read_probabilities(self, folder: Path) -> dict[str, NDArray[Any]]:
        entry = self.bundle.manifest["files"].get(LABELS)
        if entry is None:
            return {}
        tensors = parse_tensors(read_checked(folder / LABELS, entry["sha256"]), LABELS, FLOATS)
        codes = len(self.bundle.labels)
        for tensor in tensors.values():
            if tensor.shape != (codes, codes) or not np.isfinite(tensor).all() or (tensor < 0).any():
                raise BundleDamaged(f"{LABELS}: has something else than probabilities of the labels")
        return tensors


def correction(staircase: IndexStaircase) -> NDArray[np.float64]:
    """Returns ``W`` with ``P W = I``, shape ``(indices, codes)``.

    Raises:
        ReleaseError: The rank of the channel's matrix is smaller than the number of codes, or nearly so.
    """
    matrix = staircase.matrix
    if condition(staircase) > _LARGEST_CONDITION:
        raise ReleaseError(
            f"channel {staircase.level.name} at epsilon {staircase.level.epsilon:f} cannot tell all codes from each "
            "other: counts need a channel of full rank (counts has it)"
        )
    return np.linalg.inv(matrix).astype(np.float64)


def condition(staircase: IndexStaircase) -> float:
    """Returns the condition number of the channel's matrix; infinite without full rank."""
    found = float(np.linalg.cond(staircase.matrix))
    return found if np.isfinite(found) and found < 1e15 else float("inf")


def _name(staircase: IndexStaircase) -> str:
    return f"{staircase.level.name}.{staircase.level.epsilon:f}"
