"""Every kind of bundle on disk is a folder of files whose sizes and hashes a manifest states.

Nothing is believed before its hash is right, and a file that decides something is hashed and used from the same bytes.
"""

import hashlib
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from textveil.bundle.safetensors_reader import unique_keys
from textveil.errors import BundleDamaged, BundleNotFound, BundleVersion, IdentityMismatch, WrongBundle

MANIFEST = "manifest.json"
#: The format a manifest names, and what to say to somebody who opened that kind of bundle for another purpose.
TEXT_BUNDLE, ENCODER_BUNDLE = "textveil-bundle", "textveil-encoder"
_KINDS = {
    TEXT_BUNDLE: "this is a bundle for text (textveil sanitize, Sanitizer.load), and holds no encoder",
    ENCODER_BUNDLE: "this is an encoder bundle (textveil encode, Encoder.load), and holds no table for text",
}
#: Versions of encoder bundles: what a device releases.
VECTORS, INDICES = 1, 2
_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


def open_manifest(path: Path, wanted: str, versions: Collection[int]) -> tuple[dict[str, Any], str]:
    """Reads the manifest of a bundle, checks that it is of one kind and version, and hashes it.

    Returns:
        The manifest, and the SHA-256 of the bytes that it was read from.

    Raises:
        BundleNotFound: There is no bundle there.
        WrongBundle: It is a bundle of the other kind.
        BundleVersion: It needs another version of this package.
        BundleDamaged: The manifest cannot be read, or is of no kind known here.
    """
    try:
        found = (path / MANIFEST).is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL
        found = False
    if not found:
        raise BundleNotFound("no bundle at the given path (a bundle is a folder with a manifest.json)")
    try:
        content = (path / MANIFEST).read_bytes()
    except OSError as error:
        raise BundleDamaged(f"{MANIFEST}: is not readable JSON") from error
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
    try:
        kind = read_json(path / MANIFEST).get("format")
    except (BundleDamaged, ValueError):
        return None
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
    try:
        manifest = read_json(path / MANIFEST)
    except (BundleDamaged, ValueError):
        return None
    version = manifest.get("format_version")
    return version if manifest.get("format") == ENCODER_BUNDLE and type(version) is int else None


def check_files(path: Path, files: dict[str, Any], required: Collection[str]) -> None:
    """Checks the name, the size and the SHA-256 of every file that a manifest lists.

    Args:
        path: The folder.
        files: The manifest's entry of each file by name: ``sha256`` and ``bytes``.
        required: Names that must be among them.

    Raises:
        BundleDamaged: A file is not listed, missing, altered, or outside the bundle. It is named.
    """
    for name in required:
        if name not in files:
            raise BundleDamaged(f"{MANIFEST}: does not list {name}")
    for name, entry in files.items():
        if not _FILE_NAME.fullmatch(name) or name == MANIFEST:
            raise BundleDamaged(f"{MANIFEST}: lists a file outside the bundle")
        try:
            if (path / name).stat().st_size != entry["bytes"]:
                raise BundleDamaged(f"{name}: has another size than the manifest says")
            with (path / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise BundleDamaged(f"{name}: cannot be read") from error
        if digest != entry["sha256"]:
            raise BundleDamaged(f"{name}: does not match its hash")


def read_checked(path: Path, digest: str) -> bytes:
    """Reads a file once and hashes it: what is used is what was checked.

    Raises:
        BundleDamaged: The file cannot be read or does not have that SHA-256.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BundleDamaged(f"{path.name}: cannot be read") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise BundleDamaged(f"{path.name}: does not match its hash")
    return content


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object from a file; a repeated key, NaN and Infinity are refused.

    Raises:
        BundleDamaged: It cannot be read, or is something else.
    """
    try:
        return parse_json(path.read_bytes(), path.name)
    except OSError as error:
        raise BundleDamaged(f"{path.name}: is not readable JSON") from error


def parse_json(content: bytes, name: str) -> dict[str, Any]:
    """Reads a JSON object from bytes, as ``read_json`` does; ``name`` is what errors call them."""
    try:
        parsed = json.loads(content.decode("utf-8"), object_pairs_hook=unique_keys, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BundleDamaged(f"{name}: is not readable JSON") from error
    if not isinstance(parsed, dict):
        raise BundleDamaged(f"{name}: is not a JSON object")
    return parsed


def require_identity(identity: str, expected: str) -> None:
    """Raises ``IdentityMismatch`` unless ``expected`` is the identity of the bundle that was opened."""
    if expected.strip().lower() != identity:
        raise IdentityMismatch(f"the bundle has another identity: {identity}")


def _refuse(constant: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")
