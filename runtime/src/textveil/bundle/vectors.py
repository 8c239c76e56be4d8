"""A bundle whose devices release vectors (docs/encoder-format.md).

Nothing here runs the model: that takes ``textveil.vector.encoder``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

from textveil.bundle.fields import an_array, boolean, integer, record, text
from textveil.bundle.layout import MANIFEST, MODEL, PIECES
from textveil.bundle.lists import read_ids
from textveil.bundle.onnx.check import Outline, check_model
from textveil.bundle.opened import Opened
from textveil.errors import BundleDamaged, OptionError, UnknownLevel
from textveil.mechanisms.noise.parameters import ReleaseParameters

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
#: Never pieces of a text; the vocabulary must have the first three.
SPECIAL = (UNKNOWN, FIRST, LAST, "[PAD]", "[MASK]")
MAX_TOKENS = 4096

_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?(e-[0-9]+)?")
_RELEASE_KEYS = {"mode", "dimension", "grid", "max_tokens", "lowercase", "levels", "delta", "default_level"}


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorBundle(Opened):
    """An opened bundle of vectors; the model has been checked too.

    Attributes:
        vocabulary: Id by piece.
        lowercase: Whether text is folded before it is cut into pieces.
        max_tokens: Most pieces the model is given, [CLS] and [SEP] included; what is beyond is cut off.
        levels: What a release may promise, in the order of the bundle: one parameter set for each epsilon.
        default_level: The one that is meant where no epsilon is given.
        model: What the model consists of.
        model_bytes: The model: the bytes that were hashed and checked.
    """

    KIND: ClassVar = "vectors"

    vocabulary: dict[str, int]
    lowercase: bool
    max_tokens: int
    levels: tuple[ReleaseParameters, ...]
    default_level: ReleaseParameters
    model: Outline
    model_bytes: bytes = field(repr=False)

    def level(self, epsilon: float | str | None) -> ReleaseParameters:
        """Returns the level with that whole-text epsilon (6, 6.0 and "6" are the same); the default for ``None``.

        Raises:
            UnknownLevel: There is none. The message lists those there are, and does not repeat the value.
        """
        if epsilon is None:
            return self.default_level
        wanted = exact_epsilon(epsilon)
        for level in self.levels:
            if wanted == Decimal(level.epsilon):
                return level
        there_are = ", ".join(level.epsilon for level in self.levels)
        raise UnknownLevel(f"no such level; this encoder has the levels (epsilon of the whole text) {there_are}")


def exact_epsilon(epsilon: float | str) -> Decimal | None:
    """Returns an epsilon as it was typed, exactly; ``None`` if it is no finite number."""
    try:
        exact = Decimal(str(epsilon))
    except InvalidOperation:
        return None
    return exact if exact.is_finite() else None


def read_vectors(opened: Opened, contents: Mapping[str, bytes]) -> VectorBundle:
    """Reads a bundle of vectors from the bytes of its files; ``BundleDamaged`` where it is malformed."""
    release = record(opened.manifest.get("release"), _RELEASE_KEYS, MANIFEST)
    levels = _levels(release)
    default = next((level for level in levels if level.epsilon == release["default_level"]), None)
    if default is None:
        raise BundleDamaged(f"{MANIFEST}: the default level is not one of the levels")
    max_tokens = integer(release["max_tokens"], 3, MAX_TOKENS, MANIFEST)
    return VectorBundle(
        **vars(opened),
        vocabulary=read_pieces(contents),
        lowercase=boolean(release["lowercase"], MANIFEST),
        max_tokens=max_tokens,
        levels=levels,
        default_level=default,
        model=check_model(contents[MODEL], default.dimension, MODEL),
        model_bytes=contents[MODEL],
    )


def read_pieces(contents: Mapping[str, bytes]) -> dict[str, int]:
    """Reads ``vocabulary.txt``: id by piece.

    Raises:
        BundleDamaged: A piece is empty or occurs twice, or a symbol is missing.
        BundleTooLarge: There are more pieces than a bundle may have.
    """
    vocabulary = read_ids(contents, PIECES)
    if any(symbol not in vocabulary for symbol in (UNKNOWN, FIRST, LAST)):
        raise BundleDamaged(f"{PIECES}: {UNKNOWN}, {FIRST} or {LAST} is missing")
    return vocabulary


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
