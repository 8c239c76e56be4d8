"""Readers of a bundle's files: a folder whose manifest lists the size and hash of each file.

No content is used before its hash is verified. Every file is opened once, must be a regular file of the folder, and is
read into memory under a size limit. The same bytes are hashed and used, so changes of the folder in the meantime have
no effect.
"""

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from textveil.bundle.base import MAX_BUNDLE_BYTES
from textveil.bundle.json_checks import parse_integer, parse_object, parse_record, parse_text
from textveil.bundle.layout import MANIFEST
from textveil.errors import BundleDamaged, BundleTooLarge, OptionError
from textveil.lazy import LazyPattern

#: Most bytes, and most values and keys, of one JSON file. A parsed empty list takes twenty times its bytes of memory.
MAX_JSON_BYTES, MAX_JSON_VALUES = 2_000_000, 1 << 16

_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MAX_FILE_BYTES = 1 << 62
# Characters that a terminal executes or cannot print: control characters, line separators, marks that change the
# direction of text, and surrogate code points.
_UNPRINTABLE = LazyPattern(re.compile, "[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe without a writer does not block
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


def read_file(path: Path, max_bytes: int) -> bytes:
    """Read a regular file of at most ``max_bytes`` bytes once; symbolic links are not followed.

    Raises:
        BundleDamaged: The file cannot be read, is not a regular file, or changed while it was read.
        BundleTooLarge: The file has more bytes.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # opening a device may have side effects
            raise BundleDamaged(f"{path.name}: not a plain file (links are not followed)")
        with open(os.open(path, _OPEN_FLAGS), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise BundleDamaged(f"{path.name}: not a plain file (links are not followed)")
            if status.st_size > max_bytes:
                raise BundleTooLarge(f"{path.name}: has more than {max_bytes:,} bytes")
            content = file.read(status.st_size + 1)
    except (OSError, ValueError) as error:  # a name with a NUL
        raise BundleDamaged(f"{path.name}: cannot be read") from error
    if len(content) != status.st_size:
        raise BundleDamaged(f"{path.name}: changed while it was read")
    return content


def read_bundle_files(
    path: Path, manifest_files: object, max_bytes: int = MAX_BUNDLE_BYTES, *, lazy: bool = False
) -> "BundleFiles":
    """Read all files that a manifest lists, and check their names, sizes and SHA-256.

    Args:
        path: The folder.
        manifest_files: The manifest's ``files``: ``sha256`` and ``bytes`` by name.
        max_bytes: Most bytes of all files together.
        lazy: Whether to read and check each file at its first use.

    Raises:
        BundleDamaged: A file is missing, altered, or outside the bundle; the message has its name.
        BundleTooLarge: The files have more bytes than ``max_bytes``; none was read.
        OptionError: ``max_bytes`` is not a positive integer.
    """
    if type(max_bytes) is not int or max_bytes < 1:
        raise OptionError("max_bytes is a whole number of bytes, at least 1")
    files = parse_object(manifest_files, MANIFEST)
    for name, entry in files.items():
        if not _FILE_NAME.fullmatch(name) or name == MANIFEST:
            raise BundleDamaged(f"{MANIFEST}: lists a file outside the bundle")
        parse_record(entry, {"bytes", "sha256"}, MANIFEST)
        parse_integer(entry["bytes"], 0, _MAX_FILE_BYTES, MANIFEST)
        parse_text(entry["sha256"], MANIFEST, _SHA256)
    if sum(entry["bytes"] for entry in files.values()) > max_bytes:
        raise BundleTooLarge(f"the files of this bundle have more than {max_bytes:,} bytes (max_bytes allows more)")
    contents = BundleFiles(path, files)
    for name in () if lazy else files:
        _ = contents[name]
    return contents


class BundleFiles(Mapping[str, bytes]):
    """Bytes of a bundle's files by name, each read, hashed and cached at the first access.

    Args:
        path: The folder.
        files: The manifest's ``files``, checked. AccessRule to another name raises ``BundleDamaged`` with that name.
    """

    def __init__(self, path: Path, files: Mapping[str, Any]) -> None:
        self._path, self._files = path, files
        self._cache: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self._cache:
            self._cache[name] = self._read_checked(name)
        return self._cache[name]

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def select_files(self, names: Iterable[str]) -> "BundleFiles":
        """Return a subset of the files; files that were read need not be read again."""
        part = BundleFiles(self._path, {name: self._files[name] for name in names})
        part._cache = {name: self._cache[name] for name in part if name in self._cache}
        return part

    def _read_checked(self, name: str) -> bytes:
        if name not in self._files:
            raise BundleDamaged(f"{MANIFEST}: does not list {name!a}")
        size, digest = self._files[name]["bytes"], self._files[name]["sha256"]
        try:
            content = read_file(self._path / name, size)
        except BundleTooLarge as error:
            raise BundleDamaged(f"{name}: has another size than in the manifest") from error
        if len(content) != size:
            raise BundleDamaged(f"{name}: has another size than in the manifest")
        if hashlib.sha256(content).hexdigest() != digest:
            raise BundleDamaged(f"{name}: does not match its hash")
        return content


def read_hashed_file(path: Path, digest: str, max_bytes: int = MAX_BUNDLE_BYTES) -> bytes:
    """Read a file once and check its SHA-256 on the returned bytes.

    Raises:
        BundleDamaged: The file cannot be read or has another SHA-256.
        BundleTooLarge: The file has more bytes than ``max_bytes``.

    Example:
        >>> _ = Path("list.txt").write_bytes(b"leeds")
        >>> read_hashed_file(Path("list.txt"), hashlib.sha256(b"leeds").hexdigest())
        b'leeds'
        >>> read_hashed_file(Path("list.txt"), 64 * "0")
        Traceback (most recent call last):
        textveil.errors.BundleDamaged: list.txt: does not match its hash
    """
    content = read_file(path, max_bytes)
    if hashlib.sha256(content).hexdigest() != digest:
        raise BundleDamaged(f"{path.name}: does not match its hash")
    return content


def parse_json(
    content: bytes,
    name: str,
    *,
    max_bytes: int = MAX_JSON_BYTES,
    max_values: int = MAX_JSON_VALUES,
    printable: bool = True,
) -> dict[str, Any]:
    """Parse a JSON object from bytes, with limits on size and content.

    Args:
        content: The whole file.
        name: Name of the file in error messages.
        max_bytes: Most bytes.
        max_values: Most values and keys. The limit applies before parsing, to the number of ``[``, ``{``, ``,`` and
            ``:``.
        printable: Whether to reject control characters, which a terminal would execute.

    Raises:
        BundleDamaged: The content is not a JSON object, repeats a key, or has a number that is NaN or infinite; or a
            string has control characters.
        BundleTooLarge: The content has more than ``max_bytes`` bytes or ``max_values`` values.
    """
    if len(content) > max_bytes:
        raise BundleTooLarge(f"{name}: has more than {max_bytes:,} bytes")
    if sum(map(content.count, (b"[", b"{", b",", b":"))) > max_values:
        raise BundleTooLarge(f"{name}: has more than {max_values:,} values")
    try:
        parsed = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=make_unique_dict,
            parse_constant=_reject_constant,
            parse_float=_parse_finite,
        )
        if printable:
            _check_printable(parsed, name)
    except (ValueError, RecursionError) as error:
        raise BundleDamaged(f"{name}: is not readable JSON") from error
    if not isinstance(parsed, dict):
        raise BundleDamaged(f"{name}: is not a JSON object")
    return parsed


def make_unique_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a dictionary and reject repeated keys; a hook for ``json.loads``.

    JSON readers resolve repeated keys differently.

    Raises:
        ValueError: A key occurs twice.

    Example:
        >>> json.loads('{"epsilon": 8, "epsilon": 10}', object_pairs_hook=make_unique_dict)
        Traceback (most recent call last):
        ValueError: a name occurs twice
    """
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a name occurs twice")
    return entries


def is_printable(text: str) -> bool:
    """Return whether a text has no control characters and no marks that change its direction."""
    return text.isprintable() or _UNPRINTABLE.search(text) is None  # faster; implies the absence of these


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


def _parse_finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError("a number is beyond all floating-point numbers")
    return value


def _reject_constant(constant: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")
