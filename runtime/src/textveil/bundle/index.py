"""Bundles whose devices release a class label (docs/encoder-format.md, "An index")."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.fields import an_array, an_object, different_texts, integer, one_of, record, text
from textveil.bundle.held_out import HeldOut, parse_held_out
from textveil.bundle.layout import (
    CHANNELS,
    CODEBOOK,
    CODES,
    DECISION,
    HELD_OUT,
    MANIFEST,
    ONNX,
    ROWS,
    SENTENCES,
    STATIC,
    WORDS,
)
from textveil.bundle.lists import read_ids
from textveil.bundle.opened import Opened
from textveil.bundle.safetensors import FLOATS, INTEGERS, parse_tensors
from textveil.bundle.vectors import OnnxParts, at_epsilon, read_onnx
from textveil.errors import BundleDamaged, UnknownLevel
from textveil.mechanisms.staircase.index import MAX_CODES, IndexStaircase

_MAX_DIMENSION, _MAX_PAIRS, _MAX_CHARACTERS, _MAX_LEVELS = 4096, 1 << 20, 1_000_000, 32
#: Most characters of a public sentence.
MAX_SENTENCE = 500
_EPSILON = re.compile(r"[0-9]{1,2}(\.[0-9]{1,9})?")
_NAME = re.compile(r"[a-z]{1,8}")
_ENTRY_KEYS = {
    STATIC: {"kind", "dimension", "pairs", "max_characters"},
    ONNX: {"kind", "dimension", "max_tokens", "lowercase"},
}


@dataclass(frozen=True, kw_only=True, eq=False)
class StaticParts:
    """Data of a static extractor.

    Attributes:
        words: Row of each listed word; the two rows after the last are for numbers and for unknown words.
        word_rows: int8, shape ``(words + 2, dimension)``.
        pair_rows: int8, shape ``(pairs, dimension)``; ``pairs`` is 0 or a power of two.
        scales: Factors of ``word_rows`` and ``pair_rows``, float32, shape ``(2,)``.
        max_characters: Most characters of a text; the extractor ignores the rest.
    """

    words: dict[str, int]
    word_rows: NDArray[np.int8]
    pair_rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    max_characters: int


@dataclass(frozen=True, kw_only=True, eq=False)
class IndexBundle(Opened):
    """An opened bundle of an index, with the exact epsilon of every randomizer verified.

    Attributes:
        codes_are: ``DECISION`` for class labels or ``CODEBOOK`` for cluster labels.
        labels: Name of every class label or cluster label.
        extractor: Data of the extractor, which computes a vector from a text.
        weight: Matrix from vectors to scores of the labels, float32, shape ``(codes, dimension)``.
        bias: Bias of the scores, float32, shape ``(codes,)``.
        channels: Mechanisms of every randomizer, by ascending epsilon.
        default: Mechanism of a call without randomizer and epsilon.
        held_out: Counts of decisions on held-out texts, for the server; ``None`` if the bundle has none.
        sentences: Public sentences of each label, the same number per label; empty if the bundle has none.
    """

    KIND: ClassVar[str] = "index"

    codes_are: str
    labels: tuple[str, ...]
    extractor: StaticParts | OnnxParts
    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    channels: dict[str, tuple[IndexStaircase, ...]]
    default: IndexStaircase
    held_out: HeldOut | None = None
    sentences: tuple[tuple[str, ...], ...] = ()

    def level(self, channel: str | None = None, epsilon: float | str | None = None) -> IndexStaircase:
        """Return the mechanism of a randomizer and an epsilon per text.

        Args:
            channel: Name of the randomizer; ``None`` is the bundle's default.
            epsilon: Epsilon per text; ``None`` is the bundle's default.

        Raises:
            UnknownLevel: The bundle lacks the randomizer or the epsilon. The message lists the supported ones.
        """
        if channel is not None and channel not in self.channels:
            raise UnknownLevel(f"no such channel; this bundle has {', '.join(self.channels)}")
        levels = self.channels[channel or self.default.level.name]
        by_epsilon = {f"{staircase.level.epsilon:f}": staircase for staircase in levels}
        return at_epsilon(by_epsilon, f"{self.default.level.epsilon:f}" if epsilon is None else epsilon, "channel")


def read_index(opened: Opened, contents: Mapping[str, bytes]) -> IndexBundle:
    """Parse a bundle of an index from the bytes of its files.

    Raises:
        BundleDamaged: A file is malformed.
        BundleTooLarge: A file is larger than allowed.
        ModelRefused: The model contains something that this package does not run.
    """
    keys = {"kind", "codes", "extractor", "channels", "default"}
    release = record(opened.manifest.get("release"), keys, MANIFEST)
    codes_are = one_of(release["kind"], (DECISION, CODEBOOK), MANIFEST)
    codes = integer(release["codes"], 2, MAX_CODES, MANIFEST)
    labels = different_texts(opened.manifest.get("labels"), MANIFEST)
    if len(labels) != codes:
        raise BundleDamaged(f"{MANIFEST}: labels are not one text for each code")
    classes = labels if codes_are == DECISION else None
    held_out = parse_held_out(contents[HELD_OUT], codes, classes) if HELD_OUT in contents else None
    extractor, dimension = _extractor(contents, an_object(release["extractor"], MANIFEST))
    weight, bias = _codes(contents[CODES], codes, dimension)
    channels = _channels(contents[CHANNELS], an_object(release["channels"], MANIFEST), codes)
    return IndexBundle(
        **vars(opened),
        codes_are=codes_are,
        labels=labels,
        extractor=extractor,
        weight=weight,
        bias=bias,
        channels=channels,
        default=_default(channels, release["default"]),
        held_out=held_out,
        sentences=_sentences(contents, codes) if SENTENCES in contents else (),
    )


def _sentences(contents: Mapping[str, bytes], codes: int) -> tuple[tuple[str, ...], ...]:
    sentences = tuple(read_ids(contents, SENTENCES))
    each, over = divmod(len(sentences), codes)
    if over:
        raise BundleDamaged(f"{SENTENCES}: does not have as many sentences of one code as of another")
    for sentence in sentences:
        if len(sentence) > MAX_SENTENCE or sentence[0] == "#" or sentence.strip() != sentence or sentence.isdecimal():
            raise BundleDamaged(
                f"{SENTENCES}: a sentence is too long, a number, or begins or ends with what it may not"
            )
        if not unicodedata.is_normalized("NFC", sentence):
            raise BundleDamaged(f"{SENTENCES}: a sentence is not in NFC")
    return tuple(sentences[start : start + each] for start in range(0, len(sentences), each))


def _extractor(contents: Mapping[str, bytes], entry: dict[str, Any]) -> tuple[StaticParts | OnnxParts, int]:
    kind = one_of(entry.get("kind"), _ENTRY_KEYS, MANIFEST)
    dimension = integer(record(entry, _ENTRY_KEYS[kind], MANIFEST)["dimension"], 1, _MAX_DIMENSION, MANIFEST)
    if kind == STATIC:
        return _static(contents, entry, dimension), dimension
    return read_onnx(contents, entry, dimension)[0], dimension


def _static(contents: Mapping[str, bytes], entry: dict[str, Any], dimension: int) -> StaticParts:
    pairs = integer(entry["pairs"], 0, _MAX_PAIRS, MANIFEST)
    longest = integer(entry["max_characters"], 1, _MAX_CHARACTERS, MANIFEST)
    if pairs & (pairs - 1):
        raise BundleDamaged(f"{MANIFEST}: the number of pairs is not a power of two")
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
    return StaticParts(words=words, word_rows=rows, pair_rows=pair_rows, scales=scales, max_characters=longest)


def _codes(content: bytes, codes: int, dimension: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    tensors = parse_tensors(content, CODES, FLOATS)
    weight, bias = tensors["weight"], tensors["bias"]
    if set(tensors) != {"weight", "bias"} or weight.shape != (codes, dimension) or bias.shape != (codes,):
        raise BundleDamaged(f"{CODES}: shapes are not those of this format")
    if not np.isfinite(weight).all() or not np.isfinite(bias).all():
        raise BundleDamaged(f"{CODES}: a number is not finite")
    return weight, bias


def _channels(content: bytes, listed: dict[str, Any], codes: int) -> dict[str, tuple[IndexStaircase, ...]]:
    tensors = parse_tensors(content, CHANNELS, {"I64": INTEGERS["I64"]})
    named = {text(name, MANIFEST, _NAME): _epsilons(epsilons) for name, epsilons in listed.items()}
    names = {f"{name}.{epsilon}.{part}" for name in named for epsilon in named[name] for part in ("base", "dealt")}
    if set(tensors) != names or not named:
        raise BundleDamaged(f"{CHANNELS}: does not have the channels that the manifest lists")
    channels: dict[str, tuple[IndexStaircase, ...]] = {}
    for name, epsilons in named.items():
        channels[name] = tuple(
            IndexStaircase.certified(
                name, Decimal(epsilon), tensors[f"{name}.{epsilon}.base"], tensors[f"{name}.{epsilon}.dealt"]
            )
            for epsilon in epsilons
        )
        if any(staircase.codes != codes for staircase in channels[name]):
            raise BundleDamaged(f"{CHANNELS}: a channel has another number of codes")
    return channels


def _epsilons(value: object) -> list[str]:
    epsilons = [text(epsilon, MANIFEST, _EPSILON) for epsilon in an_array(value, MANIFEST, _MAX_LEVELS)]
    exact = [Decimal(epsilon) for epsilon in epsilons]
    if not epsilons or exact != sorted(set(exact)):
        raise BundleDamaged(f"{MANIFEST}: levels of a channel are out of order, or there is none")
    return epsilons


def _default(channels: dict[str, tuple[IndexStaircase, ...]], entry: object) -> IndexStaircase:
    default = record(entry, {"channel", "epsilon"}, MANIFEST)
    for staircase in channels[one_of(default["channel"], channels, MANIFEST)]:
        if f"{staircase.level.epsilon:f}" == default["epsilon"]:
            return staircase
    raise BundleDamaged(f"{MANIFEST}: the default level is not one of its channel")
