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
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from textveil.bundle.fields import an_object, integer, record, text
from textveil.bundle.layout import MANIFEST
from textveil.bundle.opened import MAX_BUNDLE_BYTES
from textveil.errors import BundleDamaged, BundleTooLarge, OptionError
from textveil.lazy import LatePattern

#: Most bytes of one JSON file, and most values and keys in it: an empty list takes twenty times its bytes once parsed.
MAX_JSON_BYTES, MAX_JSON_VALUES = 2_000_000, 1 << 16

_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LARGEST = 1 << 62
# What a terminal obeys instead of printing: control characters, line separators, marks that turn the direction of
# writing, and halves of characters, which cannot be printed at all.
_UNPRINTABLE = LatePattern(re.compile, "[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
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
        BundleDamaged: It cannot be read, is not a plain file, or changed meanwhile.
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


def read_files(path: Path, listed: object, max_bytes: int = MAX_BUNDLE_BYTES, *, late: bool = False) -> "Contents":
    """Reads every file that a manifest lists, each once, and checks its name, its size and its SHA-256.

    Args:
        path: The folder.
        listed: The manifest's ``files``: for each name its ``sha256`` and ``bytes``.
        max_bytes: Most bytes of all files together.
        late: Whether each is read and checked where it is first asked for, and not before.

    Raises:
        BundleDamaged: A file is missing, altered, or outside the bundle. It is named.
        BundleTooLarge: The files have more bytes than ``max_bytes``; none was read.
        OptionError: ``max_bytes`` is not a number of bytes.
    """
    if type(max_bytes) is not int or max_bytes < 1:
        raise OptionError("max_bytes is a whole number of bytes, at least 1")
    files = an_object(listed, MANIFEST)
    for name, entry in files.items():
        if not _FILE_NAME.fullmatch(name) or name == MANIFEST:
            raise BundleDamaged(f"{MANIFEST}: lists a file outside the bundle")
        record(entry, {"bytes", "sha256"}, MANIFEST)
        integer(entry["bytes"], 0, _LARGEST, MANIFEST)
        text(entry["sha256"], MANIFEST, _SHA256)
    if sum(entry["bytes"] for entry in files.values()) > max_bytes:
        raise BundleTooLarge(f"the files of this bundle have more than {max_bytes:,} bytes (max_bytes allows more)")
    found = Contents(path, files)
    for name in () if late else files:
        _ = found[name]
    return found


class Contents(Mapping[str, bytes]):
    """The bytes of a bundle's files by name, each read once: those that were hashed, whatever the folder holds later.

    Args:
        path: The folder.
        files: The manifest's ``files``, checked. What is not among them is missing: to ask for it is an error that
            names it.
    """

    def __init__(self, path: Path, files: Mapping[str, Any]) -> None:
        self._path, self._files = path, files
        self._read: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self._read:
            self._read[name] = self._checked(name)
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def only(self, names: Iterable[str]) -> "Contents":
        """Returns some of the files, of which those that were read stay read."""
        part = Contents(self._path, {name: self._files[name] for name in names})
        part._read = {name: self._read[name] for name in part if name in self._read}
        return part

    def _checked(self, name: str) -> bytes:
        if name not in self._files:
            raise BundleDamaged(f"{MANIFEST}: does not list {name!a}")
        size, digest = self._files[name]["bytes"], self._files[name]["sha256"]
        try:
            content = read_file(self._path / name, size)
        except BundleTooLarge as error:
            raise BundleDamaged(f"{name}: has another size than the manifest says") from error
        if len(content) != size:
            raise BundleDamaged(f"{name}: has another size than the manifest says")
        if hashlib.sha256(content).hexdigest() != digest:
            raise BundleDamaged(f"{name}: does not match its hash")
        return content


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


def parse_json(
    content: bytes, name: str, *, most: int = MAX_JSON_BYTES, values: int = MAX_JSON_VALUES, printable: bool = True
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


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses an object with a repeated key, which readers would take differently. For ``json.loads``."""
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a name occurs twice")
    return entries


def is_printable(text: str) -> bool:
    """Tells whether a terminal prints a text as it is: no control characters, none that turn the writing around."""
    return text.isprintable() or _UNPRINTABLE.search(text) is None  # what Python prints has none of these


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
