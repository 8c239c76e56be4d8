"""A bundle whose devices release vectors (docs/encoder-format.md).

Nothing here runs the model: that takes ``textveil.vector.encoder``.
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
#: Never pieces of a text; the vocabulary must have the first three.
SPECIAL = (UNKNOWN, FIRST, LAST, "[PAD]", "[MASK]")
MAX_TOKENS = 4096

_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?(e-[0-9]+)?")
_RELEASE_KEYS = {"mode", "dimension", "grid", "max_tokens", "lowercase", "levels", "delta", "default_level"}


@dataclass(frozen=True, kw_only=True, eq=False)
class OnnxParts:
    """What an ONNX extractor consists of.

    Attributes:
        model: The bytes that were hashed and checked.
        vocabulary: Id by piece.
        lowercase: Whether text is folded before it is cut into pieces.
        max_tokens: Most pieces the model is given, [CLS] and [SEP] included; what is beyond is cut off.
        dimension: Length of a vector.
    """

    model: bytes = field(repr=False)
    vocabulary: dict[str, int]
    lowercase: bool
    max_tokens: int
    dimension: int


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorBundle(Opened):
    """An opened bundle of vectors; the model has been checked too.

    Attributes:
        extractor: The model, and how text is cut for it.
        outline: The parts of the model.
        levels: What a release may promise, in the order of the bundle: one parameter set for each epsilon.
        default_level: The one that is meant where no epsilon is given.
    """

    KIND: ClassVar[str] = "vectors"

    extractor: OnnxParts
    outline: Outline
    levels: tuple[ReleaseParameters, ...]
    default_level: ReleaseParameters

    def level(self, epsilon: float | str | None) -> ReleaseParameters:
        """Returns the level with that whole-text epsilon (6, 6.0 and "6" are the same); the default for ``None``.

        Raises:
            UnknownLevel: There is none. The message lists those there are.
        """
        if epsilon is None:
            return self.default_level
        return at_epsilon({level.epsilon: level for level in self.levels}, epsilon, "encoder")


def at_epsilon(levels: Mapping[str, _Level], epsilon: float | str, owner: str) -> _Level:
    """Returns the level of an epsilon, as it was typed, exactly; ``UnknownLevel`` if there is none."""
    with suppress(InvalidOperation):  # no number
        wanted = Decimal(str(epsilon))
        for spelled, level in levels.items():
            if Decimal(spelled) == wanted:
                return level
    raise UnknownLevel.of(epsilon, f"this {owner} has the levels (epsilon of the whole text) {', '.join(levels)}")


def read_vectors(opened: Opened, contents: Mapping[str, bytes]) -> VectorBundle:
    """Reads a bundle of vectors from the bytes of its files; ``BundleDamaged`` where it is malformed."""
    release = record(opened.manifest.get("release"), _RELEASE_KEYS, MANIFEST)
    levels = _levels(release)
    default = next((level for level in levels if level.epsilon == release["default_level"]), None)
    if default is None:
        raise BundleDamaged(f"{MANIFEST}: the default level is not one of the levels")
    extractor, outline = read_onnx(contents, release, default.dimension)
    return VectorBundle(**vars(opened), extractor=extractor, outline=outline, levels=levels, default_level=default)


def read_onnx(contents: Mapping[str, bytes], entry: dict[str, Any], dimension: int) -> tuple[OnnxParts, Outline]:
    """Reads and checks a model and ``vocabulary.txt``.

    Args:
        contents: The bytes of the bundle's files.
        entry: What the manifest says of both.
        dimension: Length of a vector.

    Raises:
        BundleDamaged: A piece is empty or occurs twice, a symbol is missing, or a value is out of range.
        BundleTooLarge: There are more pieces than a bundle may have.
        ModelRefused: The model holds something that this package does not run.
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
