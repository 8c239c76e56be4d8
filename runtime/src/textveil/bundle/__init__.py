"""Bundles on disk: opened strictly, every byte accounted for."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil.bundle.atomic import atomic_bytes, atomic_folder, atomic_output
    from textveil.bundle.defaults import DEFAULT_BUNDLE, DEFAULT_ENCODER, default_encoder
    from textveil.bundle.encoder_bundle import (
        CARD,
        CLASSIFIER,
        ENCODER_FORMAT_VERSION,
        MODEL,
        PIECES,
        RELEASE,
        EncoderBundle,
        open_encoder,
    )
    from textveil.bundle.files import (
        ENCODER_BUNDLE,
        MANIFEST,
        MAX_BUNDLE_BYTES,
        TEXT_BUNDLE,
        encoder_version,
        is_printable,
        kind_of,
        open_tensors,
        read_checked,
        read_json,
    )
    from textveil.bundle.held_out import HELD_OUT, HeldOut, parse_held_out
    from textveil.bundle.index_bundle import (
        CHANNELS,
        CODEBOOK,
        CODES,
        DECISION,
        INDEX_FORMAT_VERSION,
        LABELS,
        ONNX,
        ROWS,
        STATIC,
        WORDS,
        IndexBundle,
        OnnxParts,
        StaticParts,
        open_index,
    )
    from textveil.bundle.maker import SIGNATURE, signed_message
    from textveil.bundle.pins import Pins
    from textveil.bundle.safetensors_reader import unique_keys
    from textveil.bundle.santext_files import EMBEDDINGS, TABLE, TABLE_MECHANISMS, TAILS, Level
    from textveil.bundle.staircase_files import CONTEXT, LAW, STAIRCASE, KindFile, SkeletonFiles
    from textveil.bundle.text_bundle import (
        CERTIFICATE,
        CERTIFICATE_FORMAT,
        CERTIFICATE_VERSION,
        STATISTICS,
        STATISTICS_FORMAT,
        STATISTICS_VERSION,
        TEXT_FORMAT_VERSION,
        VISIBLE,
        VOCABULARY,
        Bundle,
    )

__all__ = [
    "CARD",
    "CERTIFICATE",
    "CERTIFICATE_FORMAT",
    "CERTIFICATE_VERSION",
    "CHANNELS",
    "CLASSIFIER",
    "CODEBOOK",
    "CODES",
    "CONTEXT",
    "DECISION",
    "DEFAULT_BUNDLE",
    "DEFAULT_ENCODER",
    "EMBEDDINGS",
    "ENCODER_BUNDLE",
    "ENCODER_FORMAT_VERSION",
    "HELD_OUT",
    "INDEX_FORMAT_VERSION",
    "LABELS",
    "LAW",
    "MANIFEST",
    "MAX_BUNDLE_BYTES",
    "MODEL",
    "ONNX",
    "PIECES",
    "RELEASE",
    "ROWS",
    "SIGNATURE",
    "STAIRCASE",
    "STATIC",
    "STATISTICS",
    "STATISTICS_FORMAT",
    "STATISTICS_VERSION",
    "TABLE",
    "TABLE_MECHANISMS",
    "TAILS",
    "TEXT_BUNDLE",
    "TEXT_FORMAT_VERSION",
    "VISIBLE",
    "VOCABULARY",
    "WORDS",
    "Bundle",
    "EncoderBundle",
    "HeldOut",
    "IndexBundle",
    "KindFile",
    "Level",
    "OnnxParts",
    "Pins",
    "SkeletonFiles",
    "StaticParts",
    "atomic_bytes",
    "atomic_folder",
    "atomic_output",
    "default_encoder",
    "encoder_version",
    "is_printable",
    "kind_of",
    "open_encoder",
    "open_index",
    "open_tensors",
    "parse_held_out",
    "read_checked",
    "read_json",
    "signed_message",
    "unique_keys",
]

# Those that need the least stand first: a name is looked for in them in this order.
__getattr__ = lazy_names(
    __name__,
    __all__,
    "pins",
    "files",
    "defaults",
    "maker",
    "safetensors_reader",
    "santext_files",
    "staircase_files",
    "text_bundle",
    "atomic",
    "held_out",
    "index_bundle",
    "encoder_bundle",
)
