"""Vector bundles: folders with a model and parameters for noisy vectors of texts (docs/encoder-format.md).

This module parses and checks the model, but does not run it (``textveil.vector.encoder``).
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, TypeVar

from textveil.bundle.files import BundleBase
from textveil.bundle.layout import MANIFEST, MODEL, PIECES
from textveil.bundle.onnx.model_check import ModelCounts, check_model
from textveil.bundle.parsers import parse_array, parse_boolean, parse_integer, parse_record, parse_text
from textveil.bundle.word_lists import parse_entry_ids
from textveil.errors import BundleDamaged, OptionError, UnknownLevel
from textveil.mechanisms.noise.parameters import ReleaseParameters

_Level = TypeVar("_Level")

UNKNOWN_TOKEN, START_TOKEN, END_TOKEN = "[UNK]", "[CLS]", "[SEP]"
#: Special tokens of WordPiece. Splitting a text never gives one of these. The vocabulary must have the first three.
SPECIAL_TOKENS = (UNKNOWN_TOKEN, START_TOKEN, END_TOKEN, "[PAD]", "[MASK]")
MAX_TOKENS = 4096

_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?(e-[0-9]+)?")
_RELEASE_KEYS = {"noise_mode", "dimension", "grid", "max_tokens", "lowercase", "epsilons", "delta", "default_epsilon"}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OnnxExtractorData:
    """Data of an ONNX extractor, which computes the vector of a text with an ONNX model.

    Attributes:
        model: The bytes of the checked model.
        vocabulary: Id of each WordPiece token.
        lowercase: Whether the tokenizer first converts a text to lower case.
        max_tokens: Maximum number of tokens of the model's input, including [CLS] and [SEP]. The tokenizer omits
            further tokens.
        dimension: Length of a vector.

    Example:
        >>> from pathlib import Path
        >>> from textveil.bundle import open_bundle
        >>> extractor = open_bundle(Path("my-encoder"), VectorBundle).extractor
        >>> extractor.vocabulary["doctor"], extractor.max_tokens, extractor.dimension
        (8, 16, 4)
    """

    model: bytes = field(repr=False)
    vocabulary: dict[str, int]
    lowercase: bool
    max_tokens: int
    dimension: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VectorBundle(BundleBase):
    """An opened vector bundle: data folder with a checked model and with parameters for noisy vectors of texts.

    Attributes:
        extractor: The model and the settings of its tokenizer.
        model_counts: Counts of the model's operators and tensors.
        levels: Parameters of each supported epsilon, in the order of the bundle.
        default_level: Parameters for calls without an epsilon.

    Example:
        >>> from pathlib import Path
        >>> from textveil.bundle import open_bundle
        >>> bundle = open_bundle(Path("my-encoder"), VectorBundle)
        >>> [level.epsilon for level in bundle.levels], bundle.get_level(None).epsilon
        (['1', '4', '8'], '4')
    """

    KIND: ClassVar[str] = "vectors"

    extractor: OnnxExtractorData
    model_counts: ModelCounts
    levels: tuple[ReleaseParameters, ...]
    default_level: ReleaseParameters

    def get_level(self, epsilon: float | str | None) -> ReleaseParameters:
        """Return the parameters of the noise for an epsilon per text; for ``None``, the default parameters.

        Epsilons are compared as exact numbers: 6, 6.0 and "6" are equal.

        Raises:
            UnknownLevel: The bundle lacks this epsilon. The message lists the supported ones.
        """
        if epsilon is None:
            return self.default_level
        return find_level({level.epsilon: level for level in self.levels}, epsilon, "encoder")


def find_level(levels: Mapping[str, _Level], epsilon: float | str, owner: str) -> _Level:
    """Return the parameters (level) for an epsilon. Epsilons are compared as exact decimal numbers.

    Args:
        levels: Parameters by their epsilon, in the spelling of the bundle.
        epsilon: Epsilon per text.
        owner: Description, for the error message, of the object that has the levels, such as ``bundle``.

    Raises:
        UnknownLevel: No level has this epsilon.
    """
    with suppress(InvalidOperation):  # ``epsilon`` is not a number
        exact = Decimal(str(epsilon))
        for spelled, level in levels.items():
            if Decimal(spelled) == exact:
                return level
    raise UnknownLevel.from_epsilon(
        epsilon, f"this {owner} has the levels (epsilon of the whole text) {', '.join(levels)}"
    )


def parse_vector_bundle(opened: BundleBase, contents: Mapping[str, bytes]) -> VectorBundle:
    """Parse a vector bundle (model and parameters for noisy vectors of texts) from the bytes of its files.

    Args:
        opened: Path, hash and manifest of the bundle.
        contents: Dictionary from each file name of the bundle to the bytes of the file.

    Raises:
        BundleDamaged: A file is malformed.
        BundleTooLarge: A file is larger than allowed.
        ModelRefused: The model contains something that this package does not run.
    """
    release = parse_record(opened.manifest.get("release"), _RELEASE_KEYS, MANIFEST)
    levels = _parse_levels(release)
    default = next((level for level in levels if level.epsilon == release["default_epsilon"]), None)
    if default is None:
        raise BundleDamaged(f"{MANIFEST}: the default level is not one of the levels")
    extractor, outline = parse_onnx_extractor(contents, release, default.dimension)
    return VectorBundle(**vars(opened), extractor=extractor, model_counts=outline, levels=levels, default_level=default)


def parse_onnx_extractor(
    contents: Mapping[str, bytes], entry: dict[str, Any], dimension: int
) -> tuple[OnnxExtractorData, ModelCounts]:
    """Parse and check an ONNX model, which computes the vector of a text, and its vocabulary.

    Args:
        contents: The bytes of the bundle's files.
        entry: The manifest's entry with the settings of the tokenizer.
        dimension: Length of a vector.

    Returns:
        Data of the extractor, and counts of the model's operators and tensors.

    Raises:
        BundleDamaged: A token is empty or occurs twice, a special token is missing, or a value is out of range.
        BundleTooLarge: The vocabulary is too large.
        ModelRefused: The model contains something that this package does not run.
    """
    max_tokens = parse_integer(entry["max_tokens"], 3, MAX_TOKENS, MANIFEST)
    lowercase = parse_boolean(entry["lowercase"], MANIFEST)
    vocabulary = parse_entry_ids(contents, PIECES)
    if any(symbol not in vocabulary for symbol in (UNKNOWN_TOKEN, START_TOKEN, END_TOKEN)):
        raise BundleDamaged(f"{PIECES}: {UNKNOWN_TOKEN}, {START_TOKEN} or {END_TOKEN} is missing")
    outline = check_model(contents[MODEL], dimension, MODEL)
    parts = OnnxExtractorData(
        model=contents[MODEL], vocabulary=vocabulary, lowercase=lowercase, max_tokens=max_tokens, dimension=dimension
    )
    return parts, outline


def _parse_levels(release: dict[str, Any]) -> tuple[ReleaseParameters, ...]:
    mode, delta = parse_text(release["noise_mode"], MANIFEST), release["delta"]
    if delta is not None:
        parse_text(delta, MANIFEST, _DECIMAL)
    dimension, grid = (parse_integer(release[key], 1, 1 << 62, MANIFEST) for key in ("dimension", "grid"))
    epsilons = [parse_text(epsilon, MANIFEST, _DECIMAL) for epsilon in parse_array(release["epsilons"], MANIFEST)]
    try:
        levels = tuple(
            ReleaseParameters(mode=mode, dimension=dimension, grid=grid, epsilon=epsilon, delta=delta)
            for epsilon in epsilons
        )
    except OptionError as error:
        raise BundleDamaged(f"{MANIFEST}: {error}") from error
    if not levels or len({level.exact_epsilon for level in levels}) != len(levels):
        raise BundleDamaged(f"{MANIFEST}: there are no levels, or a level occurs twice")
    return levels
