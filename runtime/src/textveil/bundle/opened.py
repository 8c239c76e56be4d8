"""What every opened bundle has, of whatever kind."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from textveil.bundle.pins import Pins


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
    def same(self) -> Pins:
        """What another process demands, so that it opens this very bundle and no other."""
        return Pins(expect_id=self.identity, max_bytes=self.max_bytes)
