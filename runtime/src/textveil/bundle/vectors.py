"""Bundles whose devices release vectors (docs/encoder-format.md).

This module does not run the model; ``textveil.vector.encoder`` does.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, TypeVar

from textveil.bundle.fields import an_array, boolean, integer, record, text
from textveil.bundle.layout import MANIFEST, MODEL, PIECES
from textveil.bundle.lists import read_ids
from textveil.bundle.onnx.check import Outline, check_model
from textveil.bundle.opened import Opened
from textveil.errors import BundleDamaged, OptionError, UnknownLevel
from textveil.mechanisms.noise.parameters import ReleaseParameters

_Level = TypeVar("_Level")

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
#: Special tokens, which text never contains as tokens; the vocabulary must have the first three.
SPECIAL = (UNKNOWN, FIRST, LAST, "[PAD]", "[MASK]")
MAX_TOKENS = 4096

_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?(e-[0-9]+)?")
_RELEASE_KEYS = {"mode", "dimension", "grid", "max_tokens", "lowercase", "levels", "delta", "default_level"}


@dataclass(frozen=True, kw_only=True, eq=False)
class OnnxParts:
    """Data of an ONNX extractor.

    Attributes:
        model: The verified bytes of the model.
        vocabulary: Id of each WordPiece token.
        lowercase: Whether the tokenizer folds text first.
        max_tokens: Most tokens of the model's input, with [CLS] and [SEP]; further tokens are cut off.
        dimension: Length of a vector.
    """

    model: bytes = field(repr=False)
    vocabulary: dict[str, int]
    lowercase: bool
    max_tokens: int
    dimension: int


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorBundle(Opened):
    """An opened bundle of vectors with a checked model.

    Attributes:
        extractor: The model and the settings of its tokenizer.
        outline: Counts of the model's operators and tensors.
        levels: Parameters of each supported epsilon, in the order of the bundle.
        default_level: Parameters of a call without epsilon.
    """

    KIND: ClassVar[str] = "vectors"

    extractor: OnnxParts
    outline: Outline
    levels: tuple[ReleaseParameters, ...]
    default_level: ReleaseParameters

    def level(self, epsilon: float | str | None) -> ReleaseParameters:
        """Return the parameters for an epsilon per text; the default for ``None``.

        The comparison is numeric and exact: 6, 6.0 and "6" are equal.

        Raises:
            UnknownLevel: The bundle lacks this epsilon. The message lists the supported ones.
        """
        if epsilon is None:
            return self.default_level
        return at_epsilon({level.epsilon: level for level in self.levels}, epsilon, "encoder")


def at_epsilon(levels: Mapping[str, _Level], epsilon: float | str, owner: str) -> _Level:
    """Return the level of an epsilon; the comparison of decimal numbers is exact.

    Args:
        levels: Levels by spelled epsilon.
        epsilon: Epsilon per text.
        owner: Name of the owner of the levels in the error message.

    Raises:
        UnknownLevel: No level has this epsilon.
    """
    with suppress(InvalidOperation):  # ``epsilon`` is not a number
        wanted = Decimal(str(epsilon))
        for spelled, level in levels.items():
            if Decimal(spelled) == wanted:
                return level
    raise UnknownLevel.of(epsilon, f"this {owner} has the levels (epsilon of the whole text) {', '.join(levels)}")


def read_vectors(opened: Opened, contents: Mapping[str, bytes]) -> VectorBundle:
    """Parse a bundle of vectors from the bytes of its files.

    Raises:
        BundleDamaged: A file is malformed.
        BundleTooLarge: A file is larger than allowed.
        ModelRefused: The model contains something that this package does not run.
    """
    release = record(opened.manifest.get("release"), _RELEASE_KEYS, MANIFEST)
    levels = _levels(release)
    default = next((level for level in levels if level.epsilon == release["default_level"]), None)
    if default is None:
        raise BundleDamaged(f"{MANIFEST}: the default level is not one of the levels")
    extractor, outline = read_onnx(contents, release, default.dimension)
    return VectorBundle(**vars(opened), extractor=extractor, outline=outline, levels=levels, default_level=default)


def read_onnx(contents: Mapping[str, bytes], entry: dict[str, Any], dimension: int) -> tuple[OnnxParts, Outline]:
    """Parse and check a model and ``vocabulary.txt``.

    Args:
        contents: The bytes of the bundle's files.
        entry: The manifest's entry for both.
        dimension: Length of a vector.

    Returns:
        Data of the extractor, and counts of the model's operators and tensors.

    Raises:
        BundleDamaged: A token is empty or occurs twice, a special token is missing, or a value is out of range.
        BundleTooLarge: The vocabulary has more tokens than a bundle may have.
        ModelRefused: The model contains something that this package does not run.
    """
    max_tokens = integer(entry["max_tokens"], 3, MAX_TOKENS, MANIFEST)
    lowercase = boolean(entry["lowercase"], MANIFEST)
    vocabulary = read_ids(contents, PIECES)
    if any(symbol not in vocabulary for symbol in (UNKNOWN, FIRST, LAST)):
        raise BundleDamaged(f"{PIECES}: {UNKNOWN}, {FIRST} or {LAST} is missing")
    outline = check_model(contents[MODEL], dimension, MODEL)
    parts = OnnxParts(
        model=contents[MODEL], vocabulary=vocabulary, lowercase=lowercase, max_tokens=max_tokens, dimension=dimension
    )
    return parts, outline


def _levels(release: dict[str, Any]) -> tuple[ReleaseParameters, ...]:
    mode, delta = text(release["mode"], MANIFEST), release["delta"]
    if delta is not None:
        text(delta, MANIFEST, _DECIMAL)
    dimension, grid = (integer(release[key], 1, 1 << 62, MANIFEST) for key in ("dimension", "grid"))
    texts = [text(epsilon, MANIFEST, _DECIMAL) for epsilon in an_array(release["levels"], MANIFEST)]
    try:
        levels = tuple(
            ReleaseParameters(mode=mode, dimension=dimension, grid=grid, epsilon=epsilon, delta=delta)
            for epsilon in texts
        )
    except OptionError as error:
        raise BundleDamaged(f"{MANIFEST}: {error}") from error
    if not levels or len({level.exact_epsilon for level in levels}) != len(levels):
        raise BundleDamaged(f"{MANIFEST}: there are no levels, or one occurs twice")
    return levels
