"""Every kind of bundle on disk is a folder of files whose sizes and hashes a manifest states.

Nothing is believed before its hash is right. Every file is opened once, must be a plain file of the folder, is read
into memory under a cap, and is hashed and used from those bytes: whoever changes the folder meanwhile changes nothing.
"""

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from textveil.bundle.safetensors_reader import parse_tensors, unique_keys
from textveil.errors import (
    BundleDamaged,
    BundleNotFound,
    BundleTooLarge,
    BundleVersion,
    IdentityMismatch,
    OptionError,
    WrongBundle,
)

MANIFEST = "manifest.json"
#: The format a manifest names, and what to say to somebody who opened that kind of bundle for another purpose.
TEXT_BUNDLE, ENCODER_BUNDLE = "textveil-bundle", "textveil-encoder"
_KINDS = {
    TEXT_BUNDLE: "this is a bundle for text (textveil sanitize, Sanitizer.load), and holds no encoder",
    ENCODER_BUNDLE: "this is an encoder bundle (textveil encode, Encoder.load), and holds no table for text",
}
#: Versions of encoder bundles: what a device releases.
VECTORS, INDICES = 1, 2
#: Most bytes of all files of a bundle together, where the caller names no other number.
MAX_BUNDLE_BYTES = 256_000_000
#: Most bytes of one JSON file, and most values and keys in it: an empty list takes twenty times its bytes once parsed.
MAX_JSON_BYTES, MAX_JSON_VALUES = 2_000_000, 1 << 16

_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
# What a terminal obeys instead of printing: control characters, line separators, marks that turn the direction of
# writing, and halves of characters, which cannot be printed at all.
_UNPRINTABLE = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_OPENING = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody writes to does not keep us waiting
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


def read_file(path: Path, most: int) -> bytes:
    """Reads a file once, if it is a plain one of at most ``most`` bytes; a link is not followed.

    Raises:
        BundleDamaged: It cannot be read, is no plain file, or changed meanwhile.
        BundleTooLarge: It has more bytes.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # opening a device may already do something
            raise BundleDamaged(f"{path.name}: not a plain file (links are not followed)")
        with open(os.open(path, _OPENING), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise BundleDamaged(f"{path.name}: not a plain file (links are not followed)")
            if status.st_size > most:
                raise BundleTooLarge(f"{path.name}: has more than {most:,} bytes")
            content = file.read(status.st_size + 1)
    except (OSError, ValueError) as error:  # a name with a NUL
        raise BundleDamaged(f"{path.name}: cannot be read") from error
    if len(content) != status.st_size:
        raise BundleDamaged(f"{path.name}: changed while it was read")
    return content


def open_manifest(path: Path, wanted: str, versions: Collection[int]) -> tuple[dict[str, Any], str]:
    """Reads the manifest of a bundle, checks that it is of one kind and version, and hashes it.

    Returns:
        The manifest, and the SHA-256 of the bytes that it was read from.

    Raises:
        BundleNotFound: There is no bundle there.
        WrongBundle: It is a bundle of the other kind.
        BundleVersion: It needs another version of this package.
        BundleTooLarge: The manifest is larger than any.
        BundleDamaged: The manifest cannot be read, or is of no kind known here.
    """
    try:
        found = not stat.S_ISDIR(os.lstat(path / MANIFEST).st_mode)
    except (OSError, ValueError):  # a name too long, or with a NUL
        found = False
    if not found:
        raise BundleNotFound("no bundle at the given path (a bundle is a folder with a manifest.json)")
    content = read_file(path / MANIFEST, MAX_JSON_BYTES)
    manifest = parse_json(content, MANIFEST)
    kind = manifest.get("format")
    if kind != wanted:
        if isinstance(kind, str) and kind in _KINDS:
            raise WrongBundle(_KINDS[kind])
        raise BundleDamaged(f"{MANIFEST}: not a {wanted}")
    version = manifest.get("format_version")
    if type(version) is not int or version not in versions:
        raise BundleVersion(f"{MANIFEST}: this package reads format version {' and '.join(map(str, versions))} only")
    return manifest, hashlib.sha256(content).hexdigest()


def kind_of(path: Path) -> str | None:
    """Returns the format that a folder's manifest names, or ``None`` where nothing of the kind can be read."""
    kind = _peek(path).get("format")
    return kind if isinstance(kind, str) else None


def open_encoder_manifest(path: Path, version: int) -> tuple[dict[str, Any], str]:
    """Does what ``open_manifest`` does, for an encoder bundle of one version.

    Raises:
        WrongBundle: It is one of the other version.
    """
    manifest, identity = open_manifest(path, ENCODER_BUNDLE, (VECTORS, INDICES))
    if manifest["format_version"] != version:
        raise WrongBundle(
            "this bundle releases an index (IndexEncoder.load), and no vectors"
            if version == VECTORS
            else "this bundle releases vectors (Encoder.load), and no index"
        )
    return manifest, identity


def encoder_version(path: Path) -> int | None:
    """Returns the format version of an encoder bundle, or ``None`` where there is no manifest of one."""
    manifest = _peek(path)
    version = manifest.get("format_version")
    return version if manifest.get("format") == ENCODER_BUNDLE and type(version) is int else None


def _peek(path: Path) -> dict[str, Any]:
    """A manifest that only says which reader to call: that one reads it again."""
    with suppress(BundleDamaged, BundleTooLarge, ValueError):
        return read_json(path / MANIFEST)
    return {}


def read_files(
    path: Path, files: dict[str, Any], required: Collection[str], max_bytes: int = MAX_BUNDLE_BYTES
) -> dict[str, bytes]:
    """Reads every file that a manifest lists, each once, and checks its name, its size and its SHA-256.

    Args:
        path: The folder.
        files: The manifest's entry of each file by name: ``sha256`` and ``bytes``.
        required: Names that must be among them.
        max_bytes: Most bytes of all files together.

    Returns:
        The bytes that were hashed, by name.

    Raises:
        BundleDamaged: A file is not listed, missing, altered, or outside the bundle. It is named.
        BundleTooLarge: The files have more bytes than ``max_bytes``; none was read.
        OptionError: ``max_bytes`` is no number of bytes.
    """
    if type(max_bytes) is not int or max_bytes < 1:
        raise OptionError("max_bytes is a whole number of bytes, at least 1")
    for name in required:
        if name not in files:
            raise BundleDamaged(f"{MANIFEST}: does not list {name}")
    for name, entry in files.items():
        if not _FILE_NAME.fullmatch(name) or name == MANIFEST:
            raise BundleDamaged(f"{MANIFEST}: lists a file outside the bundle")
        if type(entry["bytes"]) is not int or entry["bytes"] < 0:
            raise BundleDamaged(f"{MANIFEST}: the size of a file is none")
    if sum(entry["bytes"] for entry in files.values()) > max_bytes:
        raise BundleTooLarge(f"the files of this bundle have more than {max_bytes:,} bytes (max_bytes allows more)")
    found = {}
    for name, entry in files.items():
        try:
            found[name] = content = read_file(path / name, entry["bytes"])
        except BundleTooLarge as error:
            raise BundleDamaged(f"{name}: has another size than the manifest says") from error
        if len(content) != entry["bytes"]:
            raise BundleDamaged(f"{name}: has another size than the manifest says")
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise BundleDamaged(f"{name}: does not match its hash")
    return found


def read_checked(path: Path, digest: str, max_bytes: int = MAX_BUNDLE_BYTES) -> bytes:
    """Reads a file once and hashes it: what is used is what was checked.

    Raises:
        BundleDamaged: The file cannot be read or does not have that SHA-256.
        BundleTooLarge: It has more bytes than ``max_bytes``.
    """
    content = read_file(path, max_bytes)
    if hashlib.sha256(content).hexdigest() != digest:
        raise BundleDamaged(f"{path.name}: does not match its hash")
    return content


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object from a file, as ``parse_json`` does from bytes."""
    return parse_json(read_file(path, MAX_JSON_BYTES), path.name)


def open_tensors(path: Path, max_bytes: int = MAX_BUNDLE_BYTES) -> dict[str, NDArray[Any]]:
    """Reads the integer arrays of a safetensors file, as ``parse_tensors`` does from bytes."""
    return parse_tensors(read_file(path, max_bytes), path.name)


def parse_json(
    content: bytes,
    name: str,
    *,
    most: int = MAX_JSON_BYTES,
    values: int = MAX_JSON_VALUES,
    printable: bool = True,
) -> dict[str, Any]:
    """Reads a JSON object from bytes.

    Args:
        content: The whole file.
        name: What errors call it.
        most: Most bytes it may have.
        values: Most values and keys, counted before they are made: by the signs that stand before each of them.
        printable: Whether control characters are refused, which a terminal would obey.

    Raises:
        BundleDamaged: It is something else; a key is repeated; a number is NaN or not finite; or a text holds control
            characters.
        BundleTooLarge: It has more bytes than ``most``, or more values than ``values``.
    """
    if len(content) > most:
        raise BundleTooLarge(f"{name}: has more than {most:,} bytes")
    if sum(map(content.count, (b"[", b"{", b",", b":"))) > values:
        raise BundleTooLarge(f"{name}: has more than {values:,} values")
    try:
        parsed = json.loads(
            content.decode("utf-8"), object_pairs_hook=unique_keys, parse_constant=_refuse, parse_float=_finite
        )
        if printable:
            _check_printable(parsed, name)
    except (ValueError, RecursionError) as error:
        raise BundleDamaged(f"{name}: is not readable JSON") from error
    if not isinstance(parsed, dict):
        raise BundleDamaged(f"{name}: is not a JSON object")
    return parsed


def is_printable(text: str) -> bool:
    """Tells whether a terminal prints a text as it is: no control characters, none that turn the writing around."""
    return text.isprintable() or _UNPRINTABLE.search(text) is None  # what Python prints has none of these


def require_identity(identity: str, expected: str) -> None:
    """Raises ``IdentityMismatch`` unless ``expected`` is the identity of the bundle that was opened."""
    if not isinstance(expected, str):
        raise OptionError("an expected identity is text: 64 hexadecimal digits")
    if expected.strip().lower() != identity:
        raise IdentityMismatch(f"the bundle has another identity: {identity}")


def _check_printable(value: Any, name: str) -> None:
    if isinstance(value, str):
        if not is_printable(value):
            raise BundleDamaged(f"{name}: holds control characters")
    elif isinstance(value, dict):
        for key, entry in value.items():
            _check_printable(key, name)
            _check_printable(entry, name)
    elif isinstance(value, list):
        for entry in value:
            _check_printable(entry, name)


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError("a number is beyond all floating-point numbers")
    return value


def _refuse(constant: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")
