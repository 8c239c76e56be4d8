"""Label bundles: folders with data for a randomized class label of a text.

docs/encoder-format.md, "A class label", defines the format.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.files import BundleBase
from textveil.bundle.held_out import HeldOutCounts, parse_held_out
from textveil.bundle.layout import (
    CLASS_LABELS,
    CLUSTER_LABELS,
    HELD_OUT,
    LABEL_CLASSIFIER,
    MANIFEST,
    ONNX,
    RANDOMIZERS,
    ROWS,
    SENTENCES,
    STATIC,
    WORDS,
)
from textveil.bundle.parsers import (
    FLOAT_TYPES,
    INTEGER_TYPES,
    parse_array,
    parse_choice,
    parse_distinct_texts,
    parse_integer,
    parse_object,
    parse_record,
    parse_tensors,
    parse_text,
)
from textveil.bundle.vector_bundle import OnnxExtractorData, find_level, parse_onnx_extractor
from textveil.bundle.word_lists import parse_entry_ids
from textveil.errors import BundleDamaged, UnknownLevel
from textveil.mechanisms.staircase.label_staircase import MAX_LABELS, LabelStaircase

_MAX_DIMENSION, _MAX_PAIRS, _MAX_CHARACTERS, _MAX_LEVELS = 4096, 1 << 20, 1_000_000, 32
#: Maximum number of characters of a public sentence.
MAX_SENTENCE = 500
_EPSILON = re.compile(r"[0-9]{1,2}(\.[0-9]{1,9})?")
_RANDOMIZER_NAME = re.compile(r"[a-z]{1,8}")
_EXTRACTOR_KEYS = {
    STATIC: {"extractor_type", "dimension", "pairs", "max_characters"},
    ONNX: {"extractor_type", "dimension", "max_tokens", "lowercase"},
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StaticExtractorData:
    """Data of a static extractor, which computes the vector of a text as the mean of the vectors of its words.

    Attributes:
        words: Index of the row in ``word_rows`` for each listed word. The last two rows belong to numbers and to
            unknown words.
        word_rows: Vectors of words, int8, shape ``(words + 2, dimension)``.
        pair_rows: Vectors of word pairs, int8, shape ``(pairs, dimension)``; ``pairs`` is 0 or a power of two.
        scales: Factors by which the mean of ``word_rows`` and the mean of ``pair_rows`` are multiplied, float32, shape
            ``(2,)``.
        max_characters: Maximum number of characters. The extractor ignores all characters of a text after these.

    Example:
        >>> from textveil.bundle import find_artifact, open_bundle
        >>> extractor = open_bundle(find_artifact("ag-static"), LabelBundle).extractor
        >>> len(extractor.words) + 2 == len(extractor.word_rows)
        True
    """

    words: dict[str, int]
    word_rows: NDArray[np.int8]
    pair_rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    max_characters: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelBundle(BundleBase):
    """An opened label bundle (folder with data for a randomized class label of a text).

    ``parse_label_bundle`` has checked the exact epsilon of every randomizer (rule that replaces a label at random).

    Attributes:
        label_type: ``CLASS_LABELS`` for class labels or ``CLUSTER_LABELS`` for cluster labels.
        labels: Names of the class labels or cluster labels.
        extractor: Data of the extractor, which computes a vector from a text.
        weight: Matrix that maps a vector to the scores of the labels, float32, shape ``(labels, dimension)``.
        bias: Bias of the scores, float32, shape ``(labels,)``.
        randomizers: For the name of each randomizer, its mechanisms in the order of ascending epsilon.
        default_randomizer: Mechanism for calls that pass neither a randomizer nor an epsilon.
        held_out: Counts of the labels that the model assigned to held-out texts (not used in training), for the server;
            ``None`` if the bundle lacks these counts.
        sentences: Public sentences of each label. All labels have the same number of sentences, which may be 0.

    Example:
        >>> from textveil.bundle import find_artifact, open_bundle
        >>> bundle = open_bundle(find_artifact("ag-static"), LabelBundle)
        >>> bundle.labels
        ('Business', 'Sci/Tech', 'Sports', 'World')
        >>> bundle.get_randomizer("counts", 4).label_count
        4
    """

    KIND: ClassVar[str] = "labels"

    label_type: str
    labels: tuple[str, ...]
    extractor: StaticExtractorData | OnnxExtractorData
    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    randomizers: dict[str, tuple[LabelStaircase, ...]]
    default_randomizer: LabelStaircase
    held_out: HeldOutCounts | None = None
    sentences: tuple[tuple[str, ...], ...] = ()

    def get_randomizer(self, randomizer: str | None = None, epsilon: float | str | None = None) -> LabelStaircase:
        """Return the randomizer (rule that replaces a label at random) with the given name and epsilon per text.

        Args:
            randomizer: Name of the randomizer, such as ``counts``; ``None`` selects the bundle's default.
            epsilon: Epsilon per text; ``None`` selects the bundle's default.

        Raises:
            UnknownLevel: The bundle (data folder) lacks the randomizer or the epsilon. The message lists the supported
                ones.
        """
        if randomizer is not None and randomizer not in self.randomizers:
            raise UnknownLevel(f"no such randomizer; this bundle has {', '.join(self.randomizers)}")
        mechanisms = self.randomizers[randomizer or self.default_randomizer.level.name]
        by_epsilon = {f"{staircase.level.epsilon:f}": staircase for staircase in mechanisms}
        return find_level(
            by_epsilon, f"{self.default_randomizer.level.epsilon:f}" if epsilon is None else epsilon, "randomizer"
        )


def parse_label_bundle(opened: BundleBase, contents: Mapping[str, bytes]) -> LabelBundle:
    """Parse a label bundle (data for randomized class labels of texts) from the bytes of its files.

    Args:
        opened: Path, hash and manifest of the bundle.
        contents: Dictionary from each file name of the bundle to the bytes of the file.

    Raises:
        BundleDamaged: A file is malformed.
        BundleTooLarge: A file is larger than allowed.
        ModelRefused: The model contains something that this package does not run.
    """
    keys = {"label_type", "label_count", "extractor", "randomizers", "default"}
    release = parse_record(opened.manifest.get("release"), keys, MANIFEST)
    label_type = parse_choice(release["label_type"], (CLASS_LABELS, CLUSTER_LABELS), MANIFEST)
    label_count = parse_integer(release["label_count"], 2, MAX_LABELS, MANIFEST)
    labels = parse_distinct_texts(opened.manifest.get("labels"), MANIFEST)
    if len(labels) != label_count:
        raise BundleDamaged(f"{MANIFEST}: must have one label for each cluster")
    class_labels = labels if label_type == CLASS_LABELS else None
    held_out = parse_held_out(contents[HELD_OUT], label_count, class_labels) if HELD_OUT in contents else None
    extractor, dimension = _parse_extractor(contents, parse_object(release["extractor"], MANIFEST))
    weight, bias = _parse_classifier(contents[LABEL_CLASSIFIER], label_count, dimension)
    randomizers = _parse_randomizers(contents[RANDOMIZERS], parse_object(release["randomizers"], MANIFEST), label_count)
    return LabelBundle(
        **vars(opened),
        label_type=label_type,
        labels=labels,
        extractor=extractor,
        weight=weight,
        bias=bias,
        randomizers=randomizers,
        default_randomizer=_find_default(randomizers, release["default"]),
        held_out=held_out,
        sentences=_parse_sentences(contents, label_count) if SENTENCES in contents else (),
    )


def _parse_sentences(contents: Mapping[str, bytes], label_count: int) -> tuple[tuple[str, ...], ...]:
    sentences = tuple(parse_entry_ids(contents, SENTENCES))
    per_label, remainder = divmod(len(sentences), label_count)
    if remainder:
        raise BundleDamaged(f"{SENTENCES}: every cluster must have the same number of sentences")
    for sentence in sentences:
        if len(sentence) > MAX_SENTENCE or sentence[0] == "#" or sentence.strip() != sentence or sentence.isdecimal():
            raise BundleDamaged(
                f"{SENTENCES}: a sentence is too long, is a number, or begins or ends with a forbidden punctuation mark"
            )
        if not unicodedata.is_normalized("NFC", sentence):
            raise BundleDamaged(f"{SENTENCES}: a sentence is not in the Unicode normalization form NFC")
    return tuple(sentences[start : start + per_label] for start in range(0, len(sentences), per_label))


def _parse_extractor(
    contents: Mapping[str, bytes], entry: dict[str, Any]
) -> tuple[StaticExtractorData | OnnxExtractorData, int]:
    kind = parse_choice(entry.get("extractor_type"), _EXTRACTOR_KEYS, MANIFEST)
    dimension = parse_integer(
        parse_record(entry, _EXTRACTOR_KEYS[kind], MANIFEST)["dimension"], 1, _MAX_DIMENSION, MANIFEST
    )
    if kind == STATIC:
        return _parse_static_extractor(contents, entry, dimension), dimension
    return parse_onnx_extractor(contents, entry, dimension)[0], dimension


def _parse_static_extractor(
    contents: Mapping[str, bytes], entry: dict[str, Any], dimension: int
) -> StaticExtractorData:
    pairs = parse_integer(entry["pairs"], 0, _MAX_PAIRS, MANIFEST)
    max_characters = parse_integer(entry["max_characters"], 1, _MAX_CHARACTERS, MANIFEST)
    if pairs & (pairs - 1):
        raise BundleDamaged(f"{MANIFEST}: the number of rows for word pairs must be a power of two")
    words = parse_entry_ids(contents, WORDS)
    tensors = parse_tensors(contents[ROWS], ROWS, {"I8": INTEGER_TYPES["I8"], **FLOAT_TYPES})
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
        raise BundleDamaged(f"{ROWS}: an array has a wrong shape or type")
    return StaticExtractorData(
        words=words, word_rows=rows, pair_rows=pair_rows, scales=scales, max_characters=max_characters
    )


def _parse_classifier(
    content: bytes, label_count: int, dimension: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    tensors = parse_tensors(content, LABEL_CLASSIFIER, FLOAT_TYPES)
    weight, bias = tensors["weight"], tensors["bias"]
    if set(tensors) != {"weight", "bias"} or weight.shape != (label_count, dimension) or bias.shape != (label_count,):
        raise BundleDamaged(f"{LABEL_CLASSIFIER}: an array has a wrong shape")
    if not np.isfinite(weight).all() or not np.isfinite(bias).all():
        raise BundleDamaged(f"{LABEL_CLASSIFIER}: a number is infinite or NaN")
    return weight, bias


def _parse_randomizers(
    content: bytes, manifest_entry: dict[str, Any], label_count: int
) -> dict[str, tuple[LabelStaircase, ...]]:
    tensors = parse_tensors(content, RANDOMIZERS, {"I64": INTEGER_TYPES["I64"]})
    epsilons_by_name = {
        parse_text(name, MANIFEST, _RANDOMIZER_NAME): _parse_epsilons(epsilons)
        for name, epsilons in manifest_entry.items()
    }
    array_names = {
        f"{name}.{epsilon}.{part}"
        for name in epsilons_by_name
        for epsilon in epsilons_by_name[name]
        for part in ("base", "budget")
    }
    if set(tensors) != array_names or not epsilons_by_name:
        raise BundleDamaged(f"{RANDOMIZERS}: its randomizers differ from the randomizers in manifest.json")
    randomizers: dict[str, tuple[LabelStaircase, ...]] = {}
    for name, epsilons in epsilons_by_name.items():
        randomizers[name] = tuple(
            LabelStaircase.from_integers(
                name, Decimal(epsilon), tensors[f"{name}.{epsilon}.base"], tensors[f"{name}.{epsilon}.budget"]
            )
            for epsilon in epsilons
        )
        if any(staircase.label_count != label_count for staircase in randomizers[name]):
            raise BundleDamaged(f"{RANDOMIZERS}: a randomizer has a wrong number of rows or columns")
    return randomizers


def _parse_epsilons(value: object) -> list[str]:
    epsilons = [parse_text(epsilon, MANIFEST, _EPSILON) for epsilon in parse_array(value, MANIFEST, _MAX_LEVELS)]
    exact = [Decimal(epsilon) for epsilon in epsilons]
    if not epsilons or exact != sorted(set(exact)):
        raise BundleDamaged(f"{MANIFEST}: the levels of a randomizer must ascend, and there must be at least one")
    return epsilons


def _find_default(randomizers: dict[str, tuple[LabelStaircase, ...]], entry: object) -> LabelStaircase:
    default = parse_record(entry, {"randomizer", "epsilon"}, MANIFEST)
    for staircase in randomizers[parse_choice(default["randomizer"], randomizers, MANIFEST)]:
        if f"{staircase.level.epsilon:f}" == default["epsilon"]:
            return staircase
    raise BundleDamaged(f"{MANIFEST}: the default level must be a level of the default randomizer")
