"""An encoder bundle on disk: opened strictly, every byte accounted for (docs/encoder-format.md).

``release.json`` and the two files it names decide what is released and under what noise; the SHA-256 of
``release.json`` is the bundle's *identity*. Nothing here runs the model: that takes ``textveil.vector.encoder``.
"""

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from textveil.bundle.files import (
    MAX_BUNDLE_BYTES,
    VECTORS,
    open_encoder_manifest,
    parse_json,
    read_files,
    require_identity,
)
from textveil.bundle.lists import read_ids
from textveil.bundle.maker import require_maker
from textveil.bundle.onnx.check import Outline, check_model
from textveil.bundle.pins import pin
from textveil.errors import BundleDamaged, OldFormat, OptionError, UnknownLevel
from textveil.mechanisms.noise.parameters import ReleaseParameters

ENCODER_FORMAT_VERSION = VECTORS
RELEASE, MODEL, PIECES = "release.json", "model.onnx", "vocabulary.txt"
CLASSIFIER, CARD = "classifier.safetensors", "README.md"
UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
#: Never pieces of a text; the vocabulary must have the first three.
SPECIAL = (UNKNOWN, FIRST, LAST, "[PAD]", "[MASK]")
MAX_TOKENS = 4096

_NOT_COVERED = (
    "an encoder bundle of format version 1: its identity covers what is released (release.json, the model and its "
    "vocabulary), not the labels, the classifier, the license and where the model comes from"
)
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?(e-[0-9]+)?")
_RELEASE_KEYS = {
    "mode",
    "dimension",
    "grid",
    "max_tokens",
    "lowercase",
    "levels",
    "delta",
    "default_level",
    "files",
}


@dataclass(frozen=True)
class EncoderBundle:
    """An opened encoder bundle: hashes, structure and the model have been checked.

    Attributes:
        path: Its folder.
        identity: SHA-256 of ``release.json``, lower-case hexadecimal.
        manifest: The parsed manifest.
        manifest_sha256: SHA-256 of ``manifest.json``.
        vocabulary: Id by piece.
        lowercase: Whether text is folded before it is cut into pieces.
        max_tokens: Most pieces the model is given, [CLS] and [SEP] included; what is beyond is cut off.
        levels: What a release may promise, in the order of the bundle: one parameter set for each epsilon.
        default_level: The one that is meant where no epsilon is given.
        model: What the model consists of.
    """

    path: Path
    identity: str
    manifest: dict[str, Any]
    manifest_sha256: str
    vocabulary: dict[str, int]
    lowercase: bool
    max_tokens: int
    levels: tuple[ReleaseParameters, ...]
    default_level: ReleaseParameters
    model: Outline

    def level(self, epsilon: float | str | None) -> ReleaseParameters:
        """Returns the level with that whole-text epsilon (6, 6.0 and "6" are the same); the default for ``None``.

        Raises:
            UnknownLevel: There is none. The message lists those there are, and does not repeat the value.
        """
        if epsilon is None:
            return self.default_level
        try:
            wanted = Decimal(str(epsilon))
        except InvalidOperation:
            wanted = Decimal("NaN")
        for level in self.levels:
            if wanted.is_finite() and wanted == Decimal(level.epsilon):
                return level
        there_are = ", ".join(level.epsilon for level in self.levels)
        raise UnknownLevel(f"no such level; this encoder has the levels (epsilon of the whole text) {there_are}")

    def require_identity(self, expected: str) -> None:
        """Raises ``IdentityMismatch`` unless ``expected`` is this bundle's identity."""
        require_identity(self.identity, expected)

    def require_maker(self, key: str) -> None:
        """Raises ``NotTheMaker`` unless the owner of this public key signed the bundle (``textveil.bundle.maker``)."""
        require_maker(self.path, self.manifest_sha256, key)


def open_encoder(
    path: Path, *, expect_id: str | None = None, maker: str | None = None, max_bytes: int = MAX_BUNDLE_BYTES
) -> tuple[EncoderBundle, bytes]:
    """Opens the encoder bundle in a folder.

    Args:
        path: The folder.
        expect_id: The identity it must have.
        maker: Public key of the maker who must have signed it, 64 hexadecimal digits.
        max_bytes: Most bytes of all its files together.

    Returns:
        The bundle, and the bytes of its model: those that were hashed and checked.

    Raises:
        BundleNotFound: There is no bundle there.
        WrongBundle: It is a bundle for text.
        BundleVersion: It needs another version of this package.
        BundleDamaged: A file is missing, altered or malformed.
        BundleTooLarge: The files are larger than allowed.
        IdentityMismatch, NotTheMaker: It is not the one expected.
        ModelRefused: The model holds something that this package does not run.

    Warns:
        OldFormat: Always, with what the identity does not cover.
    """
    manifest, manifest_sha256 = open_encoder_manifest(path, ENCODER_FORMAT_VERSION)
    try:
        files = manifest["files"]
        contents = read_files(path, files, (RELEASE, MODEL, PIECES), max_bytes)
        identity = str(files[RELEASE]["sha256"])
        release = parse_json(contents[RELEASE], RELEASE)
        if set(release) != _RELEASE_KEYS:
            raise BundleDamaged(f"{RELEASE}: unknown or missing keys")
        if release["files"] != {name: files[name]["sha256"] for name in (MODEL, PIECES)}:
            raise BundleDamaged(f"{RELEASE}: does not belong to the files beside it")
        levels = _levels(release)
        default = next((level for level in levels if level.epsilon == release["default_level"]), None)
        if default is None:
            raise BundleDamaged(f"{RELEASE}: the default level is not one of the levels")
        if type(release["lowercase"]) is not bool or type(release["max_tokens"]) is not int:
            raise BundleDamaged(f"{RELEASE}: a value has another type")
        if not 3 <= release["max_tokens"] <= MAX_TOKENS:
            raise BundleDamaged(f"{RELEASE}: max_tokens must be from 3 to {MAX_TOKENS}")
        vocabulary = read_pieces(contents)
        model = contents[MODEL]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BundleDamaged(f"a key of the manifest or of {RELEASE} is missing or malformed") from error
    bundle = EncoderBundle(
        path=path,
        identity=identity,
        manifest=manifest,
        manifest_sha256=manifest_sha256,
        vocabulary=vocabulary,
        lowercase=release["lowercase"],
        max_tokens=release["max_tokens"],
        levels=levels,
        default_level=default,
        model=check_model(model, default.dimension, MODEL),
    )
    warnings.warn(_NOT_COVERED, OldFormat, stacklevel=3)
    pin(bundle, expect_id, maker)
    return bundle, model


def _levels(release: dict[str, Any]) -> tuple[ReleaseParameters, ...]:
    numbers, texts, delta = (release["dimension"], release["grid"]), release["levels"], release["delta"]
    if any(type(number) is not int for number in numbers) or type(release["mode"]) is not str:
        raise BundleDamaged(f"{RELEASE}: a value has another type")
    if type(texts) is not list or not all(type(text) is str and _DECIMAL.fullmatch(text) for text in texts):
        raise BundleDamaged(f"{RELEASE}: the levels are not a list of decimals")
    if delta is not None and not (type(delta) is str and _DECIMAL.fullmatch(delta)):
        raise BundleDamaged(f"{RELEASE}: delta is neither null nor a decimal")
    try:
        levels = tuple(
            ReleaseParameters(
                mode=release["mode"], dimension=release["dimension"], grid=release["grid"], epsilon=epsilon, delta=delta
            )
            for epsilon in texts
        )
    except OptionError as error:
        raise BundleDamaged(f"{RELEASE}: {error}") from error
    if not levels or len({level.exact_epsilon for level in levels}) != len(levels):
        raise BundleDamaged(f"{RELEASE}: there are no levels, or one occurs twice")
    return levels


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
