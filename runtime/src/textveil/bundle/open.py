"""Entry point for bundles (data folders): ``open_bundle`` checks and parses a bundle of any type.

The function reads the manifest and checks the caller's requirements before it reads any other file. Each file of the
built-in bundle is read and checked at its first use, so lists of an unused mode are never read.
"""

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from textveil.bundle.defaults import DEFAULT_BUNDLE, DEFAULT_BUNDLE_ID
from textveil.bundle.files import (
    MAX_BUNDLE_BYTES,
    BundleBase,
    BundleFiles,
    ExpectedBundle,
    read_bundle_files,
    read_file,
)
from textveil.bundle.layout import FORMAT, FORMAT_VERSION, MANIFEST
from textveil.bundle.parsers import MAX_JSON_BYTES, parse_json
from textveil.errors import BundleDamaged, BundleNotFound, BundleVersion, ContentHashMismatch, OptionError, WrongBundle
from textveil.formatting import format_path_name

if TYPE_CHECKING:
    from textveil.bundle.label_bundle import LabelBundle
    from textveil.bundle.text_bundle import TextBundle
    from textveil.bundle.vector_bundle import VectorBundle

AnyBundle = TypeVar("AnyBundle", bound=BundleBase)

#: Error messages for callers that need another type of bundle, by the type of the given bundle.
_WRONG_BUNDLE_MESSAGES = {
    "text": "this bundle sanitizes text (textveil sanitize, Sanitizer.load), not vectors or class labels",
    "vectors": "this bundle releases vectors (textveil encode, Encoder.load), not text or class labels",
    "labels": "this bundle releases class labels (textveil encode, TextLabelEncoder.load), not text or vectors",
}

#: Pairs of a file name and a command that rebuilds a bundle of an older format version. The first pair whose file the
#: bundle has applies.
_REBUILD_COMMANDS = (
    ("table.safetensors", "textveil-export table"),
    ("staircase.safetensors", "textveil-export staircase"),
    ("common-words.txt", "textveil-export names"),
    ("codes.safetensors", "textveil-train encoder"),
    ("model.onnx", "textveil-export encoder"),
)
#: Largest version number that an error message repeats.
_MAX_VERSION = 999


@overload
def open_bundle(path: Path, **pins: Unpack[ExpectedBundle]) -> "TextBundle | VectorBundle | LabelBundle": ...
@overload
def open_bundle(path: Path, *wanted: type[AnyBundle], **pins: Unpack[ExpectedBundle]) -> AnyBundle: ...
def open_bundle(path: Path, *wanted: type[BundleBase], **pins: Unpack[ExpectedBundle]) -> BundleBase:
    """Open a bundle (folder with word lists, tables or a model) and check its content.

    Args:
        path: The folder.
        wanted: Accepted classes of bundles, such as ``TextBundle``. Without any, all classes are accepted.
        pins: Requirements on the bundle (``ExpectedBundle``).

    Returns:
        A ``TextBundle``, a ``VectorBundle`` or a ``LabelBundle``.

    Raises:
        OptionError: A requirement is unknown or has the wrong type.
        BundleNotFound: The folder has no bundle.
        BundleVersion: The bundle has another version of the format.
        WrongBundle: The bundle is not of an accepted class.
        BundleDamaged: A file is missing, altered or malformed.
        BundleTooLarge: The files are larger than allowed.
        ContentHashMismatch, WrongSigner: The bundle does not have the expected content hash or signer.
        CryptoUnavailable: A signer is given, and the extra ``crypto`` is not installed.
        ModelRefused: The model contains something that this package does not run.

    Example:
        >>> from textveil.bundle import DEFAULT_BUNDLE
        >>> type(open_bundle(DEFAULT_BUNDLE)).__name__
        'TextBundle'
    """
    if not pins.keys() <= ExpectedBundle.__annotations__.keys():
        raise OptionError(f"unknown requirement on a bundle: supported are {', '.join(ExpectedBundle.__annotations__)}")
    manifest, identity = _read_manifest(path)
    kind = manifest.get("bundle_type")
    if not isinstance(kind, str) or kind not in _WRONG_BUNDLE_MESSAGES:
        raise BundleDamaged(f"{MANIFEST}: bundle_type is not one of {', '.join(_WRONG_BUNDLE_MESSAGES)}")
    if wanted and kind not in {one.KIND for one in wanted}:
        raise WrongBundle(_WRONG_BUNDLE_MESSAGES[kind])
    expect_id, signer = pins.get("expect_id"), pins.get("signer")
    if expect_id is not None:
        _check_content_hash(path, identity, expect_id)
    if signer is not None:
        from textveil.bundle.signer import check_signer

        check_signer(path, identity, signer)
    max_bytes = pins.get("max_bytes", MAX_BUNDLE_BYTES)
    late = path == DEFAULT_BUNDLE and identity == DEFAULT_BUNDLE_ID
    contents = read_bundle_files(path, manifest.get("files"), max_bytes, lazy=late)
    pinned = expect_id is not None or signer is not None
    opened = BundleBase(path=path, content_hash=identity, manifest=manifest, max_bytes=max_bytes, is_expected=pinned)
    bundle = _import_parser(kind)(opened, contents)
    language = pins.get("language")
    return bundle if language is None else _require_language(bundle, language)


def _require_language(bundle: BundleBase, language: str) -> BundleBase:
    """Check that a text bundle (data folder) is for a language, and return a copy that has ``language`` set.

    Raises:
        OptionError: The bundle is not a text bundle, or is for another language.
    """
    from textveil.bundle.languages import check_language
    from textveil.bundle.text_bundle import TextBundle

    if not isinstance(bundle, TextBundle):
        raise OptionError("language: this bundle is not for text, so it has no language: omit this option")
    check_language(bundle, language)
    return replace(bundle, language=language)


def _import_parser(bundle_type: str) -> Callable[[BundleBase, BundleFiles], BundleBase]:
    """Return the function that parses a type of bundle (data folder), and import only its module.

    The function takes the opened bundle and the content of its files, and returns the parsed bundle.
    """
    match bundle_type:
        case "text":
            from textveil.bundle.text_bundle import parse_text_bundle as read
        case "vectors":
            from textveil.bundle.vector_bundle import parse_vector_bundle as read
        case _:
            from textveil.bundle.label_bundle import parse_label_bundle as read
    return read


def _read_manifest(path: Path) -> tuple[dict[str, Any], str]:
    """Return the parsed manifest of a bundle (data folder), and the SHA-256 of the manifest's bytes."""
    try:
        is_file = not stat.S_ISDIR(os.lstat(path / MANIFEST).st_mode)
    except (OSError, ValueError):  # a name that is too long or contains NUL
        is_file = False
    if not is_file:
        if path == DEFAULT_BUNDLE:
            raise BundleNotFound("the built-in bundle is missing: install textveil again")
        is_there, name = os.path.exists(path), format_path_name(path) or "of that name"
        reason = f"{path.name!r} is not a bundle" if is_there else f"there is no folder {name}"
        raise BundleNotFound(f"{reason}: a bundle is a folder with a manifest.json")
    content = read_file(path / MANIFEST, MAX_JSON_BYTES)
    manifest = parse_json(content, MANIFEST)
    name, version = manifest.get("format"), manifest.get("format_version")
    if not isinstance(name, str) or not name.startswith("textveil-"):
        raise BundleDamaged(f"{MANIFEST}: this file is not the manifest of a bundle")
    if name != FORMAT or type(version) is not int or version != FORMAT_VERSION:
        raise BundleVersion(f"{MANIFEST}: {_explain_version(manifest)}")
    return manifest, hashlib.sha256(content).hexdigest()


def _explain_version(manifest: dict[str, Any]) -> str:
    """Return the error message for a bundle (data folder) whose manifest has another format version than this package.

    For an older bundle, the message contains the command that rebuilds the bundle.
    """
    version, files = manifest.get("format_version"), manifest.get("files")
    if manifest.get("format") != FORMAT or type(version) is not int or not 1 <= version <= _MAX_VERSION:
        return f"this release reads bundles of format version {FORMAT_VERSION} only"
    reason = f"format version {version}, but this release reads version {FORMAT_VERSION}"
    if version > FORMAT_VERSION:
        return f"{reason}: update textveil"
    names = files if isinstance(files, dict) else {}
    commands = (command for name, command in _REBUILD_COMMANDS if name in names)
    return f"{reason}: rebuild the bundle with {next(commands, 'textveil-export')}"


def _check_content_hash(path: Path, content_hash: str, expected: object) -> None:
    if not isinstance(expected, str):
        raise OptionError("expect_id must be a string of 64 hexadecimal digits (textveil info prints the content hash)")
    if expected.strip().lower() != content_hash:
        if path == DEFAULT_BUNDLE and expected == DEFAULT_BUNDLE_ID:  # the caller required nothing
            raise ContentHashMismatch("the built-in bundle was altered after its installation: install textveil again")
        raise ContentHashMismatch(
            f"the bundle has the content hash {content_hash}, not the expected one: get the expected bundle, or "
            "correct --expect-id"
        )
