"""Bundles on disk: opened strictly, every byte accounted for."""

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
from textveil.bundle.files import ENCODER_BUNDLE, MANIFEST, TEXT_BUNDLE, read_checked, read_json
from textveil.bundle.safetensors_reader import open_tensors, unique_keys
from textveil.bundle.santext_files import EMBEDDINGS, TABLE, TABLE_MECHANISMS, TAILS, Level
from textveil.bundle.staircase_files import LAW, KindFile, SkeletonFiles
from textveil.bundle.text_bundle import (
    CERTIFICATE,
    CERTIFICATE_FORMAT,
    CERTIFICATE_VERSION,
    STAIRCASE,
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
    "CLASSIFIER",
    "DEFAULT_BUNDLE",
    "DEFAULT_ENCODER",
    "EMBEDDINGS",
    "ENCODER_BUNDLE",
    "ENCODER_FORMAT_VERSION",
    "LAW",
    "MANIFEST",
    "MODEL",
    "PIECES",
    "RELEASE",
    "STAIRCASE",
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
    "Bundle",
    "EncoderBundle",
    "KindFile",
    "Level",
    "SkeletonFiles",
    "atomic_bytes",
    "atomic_folder",
    "atomic_output",
    "default_encoder",
    "open_encoder",
    "open_tensors",
    "read_checked",
    "read_json",
    "unique_keys",
]
