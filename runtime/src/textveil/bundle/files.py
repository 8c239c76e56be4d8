"""Base class of all kinds of bundles (data folders), and the reader of their files.

A bundle is a folder with a manifest, which lists the size and the hash of each file. The reader uses no content before
it has verified the hash. It opens every file once, accepts only regular files of the folder, and reads each file into
memory under a size limit. It hashes the bytes in memory, so a later change of the folder has no effect.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from textveil.bundle.defaults import DEFAULT_BUNDLE_ID
from textveil.bundle.layout import MANIFEST
from textveil.bundle.parsers import parse_integer, parse_object, parse_record, parse_text
from textveil.errors import BundleDamaged, BundleTooLarge, OptionError

#: Default limit of the bytes of all files of a bundle together.
MAX_BUNDLE_BYTES = 256_000_000


class ExpectedBundle(TypedDict, total=False):
    """Requirements of a caller on a bundle (folder with word lists, tables or a model), all optional.

    A bundle that does not meet the requirements is refused.

    Keys:
        expect_id: The expected content hash (``textveil info`` prints it).
        signer: Public key of the signer who must have signed the bundle, 64 hexadecimal digits. The check needs the
            extra ``crypto``.
        max_bytes: Maximum total size of all files in bytes; by default ``MAX_BUNDLE_BYTES``.
        language: Language of a text bundle, such as ``es``. If the caller passes no folder, the language selects an
            installed language pack (package with a bundle). Several languages, such as ``de+en``, are for mixed texts.

    Example:
        >>> from textveil import Sanitizer
        >>> expected: ExpectedBundle = {"expect_id": DEFAULT_BUNDLE_ID}
        >>> Sanitizer.load(**expected).bundle.is_expected
        True
    """

    expect_id: str | None
    signer: str | None
    max_bytes: int
    language: str | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BundleBase:
    """An opened bundle (folder with word lists, tables or a model), whose hashes and structure have been checked.

    All data that determine its behavior are in memory. The built-in bundle is the exception: it reads and checks each
    file at the first use.

    Attributes:
        path: The folder.
        content_hash: SHA-256 of ``manifest.json``, lower-case hexadecimal. The hash covers the whole bundle, because
            the manifest contains the hash of every other file.
        manifest: The parsed manifest.
        max_bytes: The limit on the total size in bytes with which the bundle was opened.
        is_expected: Whether the caller stated the content hash or the signer. If not, all statements of the bundle
            about itself are unverified claims of its author.
        language: Language that the caller requested; ``None`` without such a request.
    """

    #: Value of ``kind`` in the manifest.
    KIND: ClassVar[str]

    path: Path
    content_hash: str
    manifest: dict[str, Any]
    max_bytes: int
    is_expected: bool
    language: str | None = None

    @property
    def is_builtin(self) -> bool:
        """Return whether this is the English bundle (data folder) that is a part of the package.

        Readers skip some checks of this bundle, because the tests of the package check each entry of its lists.
        """
        return self.content_hash == DEFAULT_BUNDLE_ID

    @property
    def expected_bundle(self) -> ExpectedBundle:
        """Return keyword arguments of ``open_bundle``, so that another process opens this bundle (data folder) only."""
        expected = ExpectedBundle(expect_id=self.content_hash, max_bytes=self.max_bytes)
        return expected if self.language is None else {**expected, "language": self.language}


_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MAX_FILE_BYTES = 1 << 62
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe without a writer does not block
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


def read_file(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a regular file. Symbolic links are not followed.

    Raises:
        BundleDamaged: The file cannot be read, is not a regular file, or changed during the read.
        BundleTooLarge: The file has more than ``max_bytes`` bytes.
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
    """Read all files of a bundle (data folder) that its manifest lists, and check their names, sizes and SHA-256.

    Args:
        path: The folder.
        manifest_files: The manifest's entry ``files``. It has an object with ``sha256`` and ``bytes`` for each file
            name.
        max_bytes: Maximum total size of all files in bytes.
        lazy: Whether to read and check each file only at its first use.

    Returns:
        A mapping from each file name to the bytes of the file.

    Raises:
        BundleDamaged: A file is missing, altered, or outside the bundle. The message contains its name.
        BundleTooLarge: According to the manifest, the files have more than ``max_bytes`` bytes. No file was read.
        OptionError: ``max_bytes`` is not a positive integer.
    """
    if type(max_bytes) is not int or max_bytes < 1:
        raise OptionError("max_bytes must be an integer, at least 1")
    files = parse_object(manifest_files, MANIFEST)
    for name, entry in files.items():
        if not _FILE_NAME.fullmatch(name) or name == MANIFEST:
            raise BundleDamaged(f"{MANIFEST}: lists a file outside the bundle")
        parse_record(entry, {"bytes", "sha256"}, MANIFEST)
        parse_integer(entry["bytes"], 0, _MAX_FILE_BYTES, MANIFEST)
        parse_text(entry["sha256"], MANIFEST, _SHA256)
    if sum(entry["bytes"] for entry in files.values()) > max_bytes:
        raise BundleTooLarge(
            f"the files of this bundle have more than {max_bytes:,} bytes: if you trust the bundle, raise max_bytes"
        )
    contents = BundleFiles(path, files)
    for name in () if lazy else files:
        _ = contents[name]
    return contents


class BundleFiles(Mapping[str, bytes]):
    """Read-only mapping from file names to the bytes of the files in a bundle (data folder).

    The first access to a name reads, checks and caches the file. A name that is not in the manifest raises
    ``BundleDamaged``.

    Args:
        path: The folder.
        files: The checked entry ``files`` of the manifest.
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
        """Return a mapping with only the files ``names``.

        The new mapping already has the bytes of those files that this mapping has read.
        """
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
            raise BundleDamaged(f"{name}: its size differs from the size in manifest.json") from error
        if len(content) != size:
            raise BundleDamaged(f"{name}: its size differs from the size in manifest.json")
        if hashlib.sha256(content).hexdigest() != digest:
            raise BundleDamaged(f"{name}: its hash differs from the hash in manifest.json")
        return content


def read_hashed_file(path: Path, digest: str, max_bytes: int = MAX_BUNDLE_BYTES) -> bytes:
    """Return the bytes of a file after checking their SHA-256.

    Args:
        path: The file.
        digest: The expected SHA-256, lower-case hexadecimal.
        max_bytes: Maximum size of the file in bytes.

    Raises:
        BundleDamaged: The file cannot be read or has another SHA-256.
        BundleTooLarge: The file has more bytes than ``max_bytes``.

    Example:
        >>> _ = Path("list.txt").write_bytes(b"leeds")
        >>> read_hashed_file(Path("list.txt"), hashlib.sha256(b"leeds").hexdigest())
        b'leeds'
        >>> read_hashed_file(Path("list.txt"), 64 * "0")
        Traceback (most recent call last):
        textveil.errors.BundleDamaged: list.txt: its hash differs from the hash in manifest.json
    """
    content = read_file(path, max_bytes)
    if hashlib.sha256(content).hexdigest() != digest:
        raise BundleDamaged(f"{path.name}: its hash differs from the hash in manifest.json")
    return content
