"""Base class of opened bundles, and the requirements (pins) of callers on a bundle.

All functions that open a bundle accept the pins as ``**pins``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from textveil.bundle.defaults import DEFAULT_BUNDLE_ID

#: Default limit of the bytes of all files of a bundle together.
MAX_BUNDLE_BYTES = 256_000_000


class ExpectedBundle(TypedDict, total=False):
    """Requirements on a bundle; a bundle that does not meet them is refused. All are optional.

    Keys:
        expect_id: The expected content hash (``textveil info`` prints it).
        signer: Public key of the signer who must have signed the bundle, 64 hexadecimal digits. The check needs the
            extra ``crypto``.
        max_bytes: Most bytes of all files together; by default ``MAX_BUNDLE_BYTES``.

    Example:
        >>> from textveil import Sanitizer
        >>> expected: ExpectedBundle = {"expect_id": DEFAULT_BUNDLE_ID}
        >>> Sanitizer.load(**expected).bundle.is_expected
        True
    """

    expect_id: str | None
    signer: str | None
    max_bytes: int


@dataclass(frozen=True, kw_only=True, eq=False)
class BundleBase:
    """A bundle with verified hashes and structure.

    All data that determine its behavior are in memory; only the built-in bundle reads and verifies its files at their
    first use.

    Attributes:
        path: The folder.
        content_hash: Content hash: SHA-256 of ``manifest.json``, lower-case hexadecimal. The manifest has the hash of
            every other file.
        manifest: The parsed manifest.
        max_bytes: The size limit at opening.
        is_expected: Whether the caller pinned the content hash or the signer. Otherwise the labels of the bundle are
            unverified claims of its author.
    """

    #: Value of ``kind`` in the manifest.
    KIND: ClassVar[str]

    path: Path
    content_hash: str
    manifest: dict[str, Any]
    max_bytes: int
    is_expected: bool

    @property
    def is_builtin(self) -> bool:
        """Return whether this is the built-in bundle.

        The tests of this package check each entry of its lists.
        """
        return self.content_hash == DEFAULT_BUNDLE_ID

    @property
    def expected_bundle(self) -> ExpectedBundle:
        """Return the pins with which another process opens exactly this bundle."""
        return ExpectedBundle(expect_id=self.content_hash, max_bytes=self.max_bytes)
