"""A bundle whose devices release an index, on disk: opened strictly (docs/encoder-format.md, "Version 2").

The *identity* is the SHA-256 of ``manifest.json``: extractor, channels, labels, certificate and figures are all bound.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.encoder_bundle import MODEL, PIECES, read_pieces
from textveil.bundle.files import (
    INDICES,
    MAX_BUNDLE_BYTES,
    open_encoder_manifest,
    read_files,
    require_identity,
)
from textveil.bundle.held_out import HELD_OUT, HeldOut, parse_held_out
from textveil.bundle.lists import read_ids
from textveil.bundle.maker import require_maker
from textveil.bundle.onnx.check import check_model
from textveil.bundle.pins import pin
from textveil.bundle.safetensors_reader import FLOATS, INTEGERS, parse_tensors
from textveil.errors import BundleDamaged, UnknownLevel
from textveil.mechanisms.staircase.index import MAX_CODES, IndexStaircase

INDEX_FORMAT_VERSION = INDICES
WORDS, ROWS, CODES, CHANNELS = "words.txt", "rows.safetensors", "codes.safetensors", "channels.safetensors"
#: What a server reads beside the manifest: ``P(label | index)`` of every channel.
LABELS = "labels.safetensors"
STATIC, ONNX = "static", "onnx"
#: Codes are classes, or words of a codebook that was learned without labels.
DECISION, CODEBOOK = "decision", "codebook"
KINDS = (DECISION, CODEBOOK)

_MAX_DIMENSION, _MAX_PAIRS, _MAX_CHARACTERS, _MAX_LEVELS, _MAX_TOKENS = 4096, 1 << 20, 1_000_000, 32, 4096
_EPSILON = re.compile(r"[0-9]{1,2}(\.[0-9]{1,9})?")
_NAME = re.compile(r"[a-z]{1,8}")


@dataclass(frozen=True, eq=False)
class StaticParts:
    """What a static extractor consists of.

    Attributes:
        words: Row by word; numbers and unknown words have the two rows after the last.
        word_rows: int8, shape ``(words + 2, dimension)``.
        pair_rows: int8, shape ``(pairs, dimension)``, ``pairs`` 0 or a power of two.
        scales: What a unit of word rows and of pair rows is worth, float32, shape ``(2,)``.
        max_characters: What is beyond is cut off.
    """

    words: dict[str, int]
    word_rows: NDArray[np.int8]
    pair_rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    max_characters: int


@dataclass(frozen=True, eq=False)
class OnnxParts:
    """What an ONNX extractor consists of: checked bytes, pieces by id, and how text is cut."""

    model: bytes
    vocabulary: dict[str, int]
    lowercase: bool
    max_tokens: int
    dimension: int


@dataclass(frozen=True, eq=False)
class IndexBundle:
    """An opened bundle. Hashes, structure and every channel have been checked.

    Attributes:
        path: Its folder.
        identity: SHA-256 of ``manifest.json``, lower-case hexadecimal.
        manifest: The parsed manifest.
        kind: ``DECISION`` or ``CODEBOOK``.
        labels: Name of every code.
        extractor: From text to vector.
        weight: From vector to scores of the codes, float32, shape ``(codes, dimension)``.
        bias: Added to them, float32, shape ``(codes,)``.
        channels: The levels of every channel, epsilon ascending.
        default: The channel and level that are meant where none is given.
        held_out: What the model decided on texts it never saw, for the server; None if the bundle does not say.
    """

    path: Path
    identity: str
    manifest: dict[str, Any]
    kind: str
    labels: tuple[str, ...]
    extractor: StaticParts | OnnxParts
    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    channels: dict[str, tuple[IndexStaircase, ...]]
    default: IndexStaircase
    held_out: HeldOut | None = None

    def level(self, channel: str | None = None, epsilon: float | str | None = None) -> IndexStaircase:
        """Returns the mechanism of a channel and a whole-text epsilon; the bundle's default for what is ``None``.

        Raises:
            UnknownLevel: There is none. The message lists those there are, and does not repeat the value.
        """
        if channel is not None and channel not in self.channels:
            raise UnknownLevel(f"no such channel; this bundle has {', '.join(self.channels)}")
        levels = self.channels[channel or self.default.level.name]
        try:
            wanted = self.default.level.epsilon if epsilon is None else Decimal(str(epsilon))
        except InvalidOperation:
            wanted = Decimal("NaN")
        for staircase in levels:
            if wanted.is_finite() and wanted == staircase.level.epsilon:
                return staircase
        there_are = ", ".join(f"{staircase.level.epsilon:f}" for staircase in levels)
        raise UnknownLevel(f"no such level; this channel has the levels (epsilon of the whole text) {there_are}")

    def require_identity(self, expected: str) -> None:
        """Raises ``IdentityMismatch`` unless ``expected`` is this bundle's identity."""
        require_identity(self.identity, expected)

    def require_maker(self, key: str) -> None:
        """Raises ``NotTheMaker`` unless the owner of this public key signed the bundle (``textveil.bundle.maker``)."""
        require_maker(self.path, self.identity, key)


def open_index(
    path: Path, *, expect_id: str | None = None, maker: str | None = None, max_bytes: int = MAX_BUNDLE_BYTES
) -> IndexBundle:
    """Opens a bundle: every listed file is checked, every channel certified.

    Args:
        path: Its folder.
        expect_id: The identity it must have.
        maker: Public key of the maker who must have signed it, 64 hexadecimal digits.
        max_bytes: Most bytes of all its files together.

    Raises:
        BundleNotFound, WrongBundle, BundleVersion, BundleDamaged, BundleTooLarge, ModelRefused: It cannot be used.
        IdentityMismatch, NotTheMaker: It is not the one expected.
    """
    manifest, identity = open_encoder_manifest(path, INDEX_FORMAT_VERSION)
    try:
        release, files = manifest["release"], manifest["files"]
        _exactly(release, {"kind", "codes", "extractor", "channels", "default"})
        contents = read_files(path, files, {CODES, CHANNELS, *_files_of(release["extractor"])}, max_bytes)
        labels, codes = manifest["labels"], release["codes"]
        if release["kind"] not in KINDS or not _integer(codes, 2, MAX_CODES):
            raise BundleDamaged("manifest.json: of a kind, or with a number of codes, that is not supported")
        if type(labels) is not list or len(labels) != codes or not all(type(label) is str for label in labels):
            raise BundleDamaged("manifest.json: labels are not one text for each code")
        if len(set(labels)) != codes:
            raise BundleDamaged("manifest.json: a label occurs twice")
        classes = labels if release["kind"] == DECISION else None
        held_out = parse_held_out(contents[HELD_OUT], codes, classes) if HELD_OUT in contents else None
        extractor, dimension = _extractor(contents, release["extractor"])
        weight, bias = _codes(contents[CODES], codes, dimension)
        channels = _channels(contents[CHANNELS], release["channels"], codes)
        _exactly(release["default"], {"channel", "epsilon"})
        default = channels[release["default"]["channel"]]
        default = next(one for one in default if f"{one.level.epsilon:f}" == release["default"]["epsilon"])
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise BundleDamaged("manifest.json: a key is missing or malformed") from error
    kind = release["kind"]
    bundle = IndexBundle(
        path, identity, manifest, kind, tuple(labels), extractor, weight, bias, channels, default, held_out
    )
    pin(bundle, expect_id, maker)
    return bundle


def _files_of(extractor: dict[str, Any]) -> Collection[str]:
    return {STATIC: (WORDS, ROWS), ONNX: (MODEL, PIECES)}[extractor["kind"]]


def _extractor(contents: Mapping[str, bytes], entry: dict[str, Any]) -> tuple[StaticParts | OnnxParts, int]:
    dimension = entry["dimension"]
    if not _integer(dimension, 1, _MAX_DIMENSION):
        raise BundleDamaged("manifest.json: the dimension is out of range")
    if entry["kind"] == ONNX:
        _exactly(entry, {"kind", "dimension", "max_tokens", "lowercase"})
        if not _integer(entry["max_tokens"], 3, _MAX_TOKENS) or type(entry["lowercase"]) is not bool:
            raise BundleDamaged("manifest.json: a constant of the extractor is out of range")
        model, vocabulary = contents[MODEL], read_pieces(contents)
        check_model(model, dimension, MODEL)
        return OnnxParts(model, vocabulary, entry["lowercase"], entry["max_tokens"], dimension), dimension
    _exactly(entry, {"kind", "dimension", "pairs", "max_characters"})
    pairs, longest = entry["pairs"], entry["max_characters"]
    if not _integer(pairs, 0, _MAX_PAIRS) or pairs & (pairs - 1) or not _integer(longest, 1, _MAX_CHARACTERS):
        raise BundleDamaged("manifest.json: a constant of the extractor is out of range")
    words = read_ids(contents, WORDS)
    tensors = parse_tensors(contents[ROWS], ROWS, {"I8": INTEGERS["I8"], **FLOATS})
    rows, pair_rows, scales = tensors["words"], tensors["pairs"], tensors["scales"]
    if (
        set(tensors) != {"words", "pairs", "scales"}
        or rows.shape != (len(words) + 2, dimension)
        or pair_rows.shape != (pairs, dimension)
        or {rows.dtype, pair_rows.dtype} != {np.dtype(np.int8)}
        or scales.shape != (2,)
        or scales.dtype != np.float32
        or not np.isfinite(scales).all()
    ):
        raise BundleDamaged(f"{ROWS}: shapes or types are not those of this format")
    return StaticParts(words, rows, pair_rows, scales, longest), dimension


def _codes(content: bytes, codes: int, dimension: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    tensors = parse_tensors(content, CODES, FLOATS)
    weight, bias = tensors["weight"], tensors["bias"]
    if set(tensors) != {"weight", "bias"} or weight.shape != (codes, dimension) or bias.shape != (codes,):
        raise BundleDamaged(f"{CODES}: shapes are not those of this format")
    if not np.isfinite(weight).all() or not np.isfinite(bias).all():
        raise BundleDamaged(f"{CODES}: a number is not finite")
    return weight, bias


def _channels(content: bytes, named: dict[str, Any], codes: int) -> dict[str, tuple[IndexStaircase, ...]]:
    tensors = parse_tensors(content, CHANNELS, {"I64": INTEGERS["I64"]})
    names = {f"{name}.{epsilon}.{part}" for name in named for epsilon in named[name] for part in ("base", "dealt")}
    if set(tensors) != names or not named:
        raise BundleDamaged(f"{CHANNELS}: does not have the channels that the manifest lists")
    channels: dict[str, tuple[IndexStaircase, ...]] = {}
    for name, epsilons in named.items():
        exact = [Decimal(epsilon) for epsilon in epsilons if _EPSILON.fullmatch(epsilon)]
        if (
            type(epsilons) is not list
            or not _NAME.fullmatch(name)
            or not 1 <= len(exact) == len(epsilons) <= _MAX_LEVELS
        ):
            raise BundleDamaged("manifest.json: a channel has a name or a level that is none")
        if exact != sorted(set(exact)):
            raise BundleDamaged("manifest.json: levels of a channel are out of order")
        found = [
            IndexStaircase.certified(name, level, tensors[f"{name}.{text}.base"], tensors[f"{name}.{text}.dealt"])
            for level, text in zip(exact, epsilons, strict=True)
        ]
        if any(staircase.codes != codes for staircase in found):
            raise BundleDamaged(f"{CHANNELS}: a channel has another number of codes")
        channels[name] = tuple(found)
    return channels


def _exactly(entry: dict[str, Any], keys: set[str]) -> None:
    if set(entry) != keys:
        raise BundleDamaged("manifest.json: unknown or missing keys")


def _integer(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most
