"""What a caller demands of a bundle, and what every opened bundle has, of whatever kind.

Demands are declared once: whatever opens a bundle takes ``**pins``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from textveil.bundle.defaults import DEFAULT_BUNDLE_ID

#: Most bytes of all files of a bundle together, where the caller names no other number.
MAX_BUNDLE_BYTES = 256_000_000


class Pins(TypedDict, total=False):
    """What a bundle must be, or it is refused. What is left out is not demanded.

    Keys:
        expect_id: The identity it must have (``textveil info`` prints it).
        maker: Public key of the maker who must have signed it, 64 hexadecimal digits. Checking it needs the extra
            ``crypto``.
        max_bytes: Most bytes of all its files together; ``MAX_BUNDLE_BYTES`` if left out.
    """

    expect_id: str | None
    maker: str | None
    max_bytes: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Opened:
    """A bundle whose hashes and structure have been checked; all that decides what it does is in memory.

    Attributes:
        path: Its folder.
        identity: SHA-256 of ``manifest.json``, lower-case hexadecimal. The manifest has the hash of every other file.
        manifest: The parsed manifest.
        max_bytes: The cap that it was opened with.
        pinned: Whether the caller named this identity or its maker: only then are its labels more than a claim of
            whoever wrote the folder.
    """

    #: The kind that the manifest names.
    KIND: ClassVar[str]

    path: Path
    identity: str
    manifest: dict[str, Any]
    max_bytes: int
    pinned: bool

    @property
    def is_builtin(self) -> bool:
        """Whether it is the built-in bundle: the tests of this package have looked at each entry of its lists."""
        return self.identity == DEFAULT_BUNDLE_ID

    @property
    def same(self) -> Pins:
        """What another process demands, so that it opens this very bundle and no other."""
        return Pins(expect_id=self.identity, max_bytes=self.max_bytes)
