"""Locks between gateways that share a database: only one process at a time handles a conversation.

The operating system releases the locks of a process that ends, even if it is killed.
"""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from textveil.errors import OutputError

from textveil_cli.gateway.workers import make_busy_refusal

LOCK_NAME = "mappings.lock"
#: Time between two attempts to get a lock.
_RETRY_SECONDS = 0.02


class _SharedLock:
    """Lock that all requests of one conversation in this process share."""

    def __init__(self) -> None:
        self.users, self.is_held, self.waiting = 0, False, asyncio.Lock()


class ConversationLocks:
    """Locks of conversations against other processes.

    Each lock is one byte of a lock file. Its offset is computed from the hash of the conversation's name. If two names
    get the same offset, a request of one conversation may wait for a request of the other; nothing else happens.

    Args:
        folder: An existing folder for the lock file.
        seconds: Maximum time to wait for a lock.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self._path, self._seconds = folder / LOCK_NAME, seconds
        self._descriptor: int | None = None
        self._locks: dict[bytes, _SharedLock] = {}

    @contextlib.asynccontextmanager
    async def hold_lock(self, name_hash: bytes) -> AsyncIterator[None]:
        """Lock a conversation against other gateways inside the ``async with`` block.

        Args:
            name_hash: Hash of the name of the conversation.

        Raises:
            Refusal: Another process did not release the lock in time.
            OutputError: The lock file cannot be opened, or its file system does not support locks.
        """
        lock = self._locks.setdefault(name_hash, _SharedLock())
        lock.users += 1
        try:
            async with lock.waiting:
                await self._acquire_lock(name_hash, lock)
            yield
        finally:
            lock.users -= 1
            if not lock.users:
                del self._locks[name_hash]
                if lock.is_held:
                    self._set_lock(name_hash, is_locked=False)

    async def _acquire_lock(self, name_hash: bytes, lock: _SharedLock) -> None:
        end = time.monotonic() + self._seconds
        while not lock.is_held:
            lock.is_held = self._set_lock(name_hash, is_locked=True)
            if not lock.is_held:
                if time.monotonic() > end:
                    raise make_busy_refusal("another gateway handles a request of this conversation: retry later")
                await asyncio.sleep(_RETRY_SECONDS)

    def _set_lock(self, name_hash: bytes, *, is_locked: bool) -> bool:
        """Lock or unlock a conversation (one byte of the lock file); return whether this succeeded."""
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
            return _set_byte_lock(self._descriptor, int.from_bytes(name_hash[:7], "big") & ~(1 << 55), is_locked)
        except OSError:
            raise OutputError(f"{LOCK_NAME} cannot be locked: choose a folder on a local disk") from None


def _set_byte_lock(descriptor: int, offset: int, is_locked: bool) -> bool:
    """Lock or unlock one byte of a file, which may be beyond its end; return whether this succeeded."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, offset & 0x7FFFFFFF, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK if is_locked else msvcrt.LK_UNLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.lockf(descriptor, (fcntl.LOCK_EX | fcntl.LOCK_NB) if is_locked else fcntl.LOCK_UN, 1, offset)
    except (BlockingIOError, PermissionError):  # which of the two depends on the system
        return False
    return True
