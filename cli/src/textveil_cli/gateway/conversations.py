"""Conversation store: assigns requests to conversations, and expires their mappings.

Mappings are in memory, and in files if the operator gives a folder. A header names a conversation; otherwise the
messages of a request identify it, if they continue an earlier request with its reply. Both identify a conversation only
together with the same key of the client.
"""

import asyncio
import contextlib
import os
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil import Conversation
from textveil.conversation import Went

from textveil_cli.gateway.marks import Marks

#: Function that runs a job of a given size.
Run = Callable[..., Awaitable[Any]]
#: The most marks per conversation.
_MOST_MARKS = 2_000
#: The most ids that an upstream gave to several conversations. Beyond it ids identify no conversation.
_MOST_REUSED = 1 << 16
#: The most idle conversations that stay unpacked, and the most bytes of their last requests in total.
_MOST_RESTED, _MOST_BYTES = 64, 1 << 20
#: Estimated bytes of a conversation beside its mapping, and of each mark.
_LEAST, _OF_A_MARK = 1_000, 300
#: Estimated bytes of an unpacked conversation per byte of its last request.
_OF_A_BYTE = 12
#: Number of last messages of a request that are looked up: more than any client adds to a conversation at once.
MOST_LOOKED_UP = 4_096
#: Tolerance for the date of a file in the future, as the clock of another machine may cause.
_CLOCK_SECONDS = 60
_FILE = re.compile(r"[0-9a-f]{64}\.conversation")


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """Retention of mappings.

    Attributes:
        seconds: Time after the last request of a conversation.
        conversations: The most conversations; above it those with the oldest last request are removed first.
        bytes: The most estimated bytes of all conversations, in total; as for ``conversations``.
        folder: Folder for the files of named conversations; ``None`` for memory only.
        key: File with the key of these files.
    """

    seconds: float = 8 * 3600
    conversations: int = 10_000
    bytes: int = 12 << 20
    folder: Path | None = None
    key: Path | None = None


@dataclass(eq=False, repr=False, kw_only=True, slots=True)
class Kept:
    """A conversation with its state in the store.

    Attributes:
        conversation: The conversation; ``None`` before its first request is handled, and while it is packed.
        path: Its file, or ``None``.
        lock: Lock that a request holds while it draws, also while a thread still works on a request whose client left.
            Other requests of the conversation wait for it.
        packed: The packed conversation, in a tenth of the memory.
        requests: Number of active requests; with any it is not packed.
        latest: Bytes of the last request.
        size: Estimated bytes of the conversation: its marks and, if packed, its state.
        unpacked: The estimated part of ``size`` for an idle conversation that could not be packed.
        used: Time of the last request.
        marks: Marks that identify it in ``Conversations``.
        names: Hashes of the ids that the provider gave to its replies.
    """

    conversation: Conversation | None
    path: Path | None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    packed: bytes = b""
    requests: int = 0
    latest: int = 0
    size: int = 0
    unpacked: int = 0
    used: float = 0.0
    marks: dict[bytes, None] = field(default_factory=dict)
    names: dict[bytes, None] = field(default_factory=dict)


class Conversations:
    """Store of all conversations.

    Args:
        make: Function that creates a conversation.
        load: Function that loads a conversation from a file with a key file.
        unpack: Function that restores a packed conversation.
        keeping: Retention of mappings.
        key: Key of the marks.
        options: Options of rewriting. The same name under other options is another conversation.
        clock: Monotonic clock in seconds.

    Attributes:
        marks: Factory of the marks that identify conversations.
    """

    def __init__(
        self,
        make: Callable[[], Conversation],
        load: Callable[[Path, Path], Conversation],
        unpack: Callable[[bytes], Conversation],
        keeping: Keeping,
        *,
        key: bytes,
        options: Mapping[str, Any],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make, self._load, self._unpack = make, load, unpack
        self._keeping, self._clock = keeping, clock
        self.marks = Marks(key, options)
        self._known: dict[bytes, tuple[Kept, Went | None]] = {}
        #: Owner of each reply id, by a hash that is the same for all clients; ids with several owners; and the last ids
        #: of forgotten conversations.
        self._owners: dict[bytes, Kept] = {}
        self._reused: set[bytes] = set()
        self._forgotten: OrderedDict[bytes, None] = OrderedDict()
        self._kept: OrderedDict[int, Kept] = OrderedDict()
        self._rested: dict[Kept, None] = {}
        #: Conversations with active requests by file, also those that were forgotten in the meantime.
        self._asked: dict[Path, set[Kept]] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(
        self, client: bytes, named: str | None, marks: Sequence[bytes], after: Iterable[str], size: int
    ) -> tuple[Kept, Went | None]:
        """Return the conversation of a request, and the earlier messages that its provider has.

        Args:
            client: Key of the client.
            named: Name of the conversation from a header, or ``None``.
            marks: Marks of the messages of the request.
            after: Reply ids of the provider that the request refers to. An id with several conversations identifies
                none, and ids of different conversations in one request identify none either.
            size: Bytes of the request.
        """
        self.expire()
        earlier = self._named_by(client, [*after])
        mark = None
        if named is not None:
            mark = self.marks.named(client, named)
            found = self._known.get(mark, (Kept(conversation=None, path=self._path_of(mark)), None))
        else:
            begun = [self._known.get(mark) for mark in marks[-MOST_LOOKED_UP:]]
            found = (
                earlier
                or next((entry for entry in reversed(begun) if entry is not None), None)
                or (Kept(conversation=None, path=None), None)
            )
        kept = found[0]
        self._kept[id(kept)] = kept
        self._kept.move_to_end(id(kept))
        kept.used, kept.latest = self._clock(), size
        self._resize(kept, 0 if kept.size else _LEAST)
        if mark is not None:
            self._mark(found, mark)
        self.expire(kept)
        return kept, earlier[1] if earlier is not None and earlier[0] is kept else None

    def _path_of(self, mark: bytes) -> Path | None:
        """Return the file of a conversation that a header names, or ``None`` without a folder."""
        folder = self._keeping.folder
        return None if folder is None else folder / f"{mark.hex()}.conversation"

    def opened(self, kept: Kept) -> Conversation:
        """Return the conversation, unpacked or loaded from its file. The caller holds its lock.

        Raises:
            InputError: The file has another version or is no conversation.
            KeyFileError: The key file does not open it.
            IdentityMismatch: It belongs to another bundle.
            CryptoUnavailable: The package ``cryptography`` is missing.
        """
        if kept.conversation is None:
            if kept.packed:
                kept.conversation = self._unpack(kept.packed)
            elif kept.path is not None and self._keeping.key is not None and self._is_young(kept.path):
                kept.conversation = self._load(kept.path, self._keeping.key)
            else:
                kept.conversation = self._make()
        return kept.conversation

    def save(self, kept: Kept) -> None:
        """Write the file of a conversation, if it has one. The caller holds its lock."""
        if kept.path is not None and self._keeping.key is not None and kept.conversation is not None:
            kept.conversation.save(kept.path, self._keeping.key)

    def remember(
        self, kept: Kept, exchange: Conversation, *, client: bytes,
        ends: Iterable[bytes], names: Iterable[str],
    ) -> None:  # fmt: skip
        """Record the marks and the reply ids by which the next request of a conversation is found."""
        if id(kept) not in self._kept:
            return  # forgotten in the meantime
        for mark in ends:
            self._mark((kept, None), mark)
        for name in names:
            self._name(kept, exchange, client, name)

    def _named_by(self, client: bytes, names: Sequence[str]) -> tuple[Kept, Went | None] | None:
        """Return the conversation of reply ids, and the messages before the first known id.

        The result is ``None`` if no id is known, if an id belongs to several conversations, or if the ids belong to
        different ones.
        """
        if any(self.marks.of_any_client(name) in self._reused for name in names):
            return None
        replies = [self._known.get(self.marks.reply(client, name)) for name in names]
        found = [entry for entry in replies if entry is not None]
        return found[0] if len({id(entry[0]) for entry in found}) == 1 else None

    def _forget_name(self, kept: Kept, mark: bytes) -> None:
        """Remove a reply id from a conversation.

        The id is not assigned again while it is among the last forgotten ones.
        """
        del kept.names[mark]
        if self._owners.pop(mark, None) is not None:
            self._forgotten[mark] = None
            if len(self._forgotten) > _MOST_REUSED:
                self._forgotten.popitem(last=False)

    def _name(self, kept: Kept, exchange: Conversation, client: bytes, name: str) -> None:
        """Record a reply id of the provider, unless the id already belongs to another conversation."""
        mark = self.marks.of_any_client(name)
        owner = self._owners.get(mark)
        if mark in self._forgotten or (owner is not None and owner is not kept):
            self._owners.pop(mark, None)
            self._reused.add(mark)
        if mark not in self._reused and len(self._reused) < _MOST_REUSED:
            self._owners[mark] = kept
            kept.names.pop(mark, None)
            kept.names[mark] = None
            if len(kept.names) > _MOST_MARKS:
                self._forget_name(kept, next(iter(kept.names)))
            self._mark((kept, exchange.went), self.marks.reply(client, name))

    @contextlib.asynccontextmanager
    async def request(self, kept: Kept, run: Run) -> AsyncIterator[None]:
        """Mark a request of a conversation as active; afterwards pack conversations that are idle.

        Some idle conversations stay unpacked, so that an immediate next request does not wait.

        Args:
            kept: The conversation.
            run: Function that runs the packing.
        """
        kept.requests += 1
        self._rested.pop(kept, None)
        self._count_unpacked(kept, 0)
        if kept.path is not None:
            self._asked.setdefault(kept.path, set()).add(kept)
        try:
            yield
        finally:
            kept.requests -= 1
            if not kept.requests:
                self._end_asking(kept)
                if id(kept) in self._kept:
                    self._rested[kept] = None
                    if self._is_above():  # the client may leave: the packing continues
                        await asyncio.shield(asyncio.ensure_future(self._pack_rested(run)))

    def _end_asking(self, kept: Kept) -> None:
        for path in (
            [path for path, asked in self._asked.items() if kept in asked] if kept.path is None else [kept.path]
        ):
            asked = self._asked.get(path, set())
            asked.discard(kept)
            if not asked:
                self._asked.pop(path, None)

    def _is_above(self) -> bool:
        """Return whether too many idle conversations are unpacked."""
        return len(self._rested) > _MOST_RESTED or sum(one.latest for one in self._rested) > _MOST_BYTES

    async def _pack_rested(self, run: Run) -> None:
        """Pack the longest idle conversations, or a large one first; count those that fail."""
        while self._is_above():
            large = (one for one in self._rested if one.latest > _MOST_BYTES)
            tired = next(large, next(iter(self._rested)))
            del self._rested[tired]
            before = len(tired.packed)
            try:
                async with tired.lock:  # the next request of the conversation may arrive at this time
                    await run(_pack, tired, size=tired.latest)
            except BaseException as error:
                if not tired.requests and id(tired) in self._kept:
                    self._rested[tired] = None
                    for one in self._rested:
                        self._count_unpacked(one, _OF_A_BYTE * one.latest)
                    self.expire()
                if isinstance(error, Exception):
                    return  # the end of the next request repeats the attempt
                raise
            self._resize(tired, len(tired.packed) - before)
            if not tired.conversation:
                self._count_unpacked(tired, 0)

    def _count_unpacked(self, kept: Kept, size: int) -> None:
        self._resize(kept, size - kept.unpacked)
        kept.unpacked = size

    def _resize(self, kept: Kept, more: int) -> None:
        if id(kept) in self._kept:  # otherwise forgotten in the meantime
            kept.size += more
            self._size += more

    async def delete(self, client: bytes, named: str, run: Run) -> bool:
        """Delete a conversation and its file; return whether it existed.

        The method waits for a request of the conversation that draws or writes the file, so no later write restores it.

        Args:
            client: Key of the client.
            named: Name of the conversation.
            run: Function that runs the deletion of the file.
        """
        kept, _ = self.find(client, named, (), (), 0)
        path = self._path_of(self.marks.named(client, named))
        others = {kept, *(self._asked.get(path, ()) if path is not None else ())}
        async with contextlib.AsyncExitStack() as stack:
            for one in others:
                await stack.enter_async_context(one.lock)
            was_there = bool(kept.conversation or kept.packed)
            if path is not None:  # before ``forget``: new requests wait for the lock
                was_there = await run(_unlink, path) or was_there
            for one in others:
                one.path, one.conversation = None, None
                self._resize(one, -len(one.packed))
                one.packed = b""
                self.forget(one)
        return was_there

    def forget(self, kept: Kept) -> None:
        """Remove a conversation from memory."""
        for mark in kept.marks:
            self._unmark(kept, mark)
        for mark in [*kept.names]:
            self._forget_name(kept, mark)
        self._rested.pop(kept, None)
        if self._kept.pop(id(kept), None) is not None:
            self._size -= kept.size

    def expire(self, but: Kept | None = None) -> None:
        """Forget conversations that were idle too long, and the oldest ones above the limits."""
        while self._kept:
            oldest = next(iter(self._kept.values()))
            above = len(self._kept) > self._keeping.conversations or self._size > self._keeping.bytes
            if oldest is but or not (above or self._clock() - oldest.used > self._keeping.seconds):
                return
            self.forget(oldest)

    def delete_expired(self) -> None:
        """Delete the files of conversations that were idle too long.

        The method changes no other state, so any thread may run it.
        """
        if self._keeping.folder is not None:
            with contextlib.suppress(OSError):  # a failure must not end later sweeps
                for path in self._keeping.folder.iterdir():
                    if _FILE.fullmatch(path.name):
                        self._is_young(path)

    def _is_young(self, path: Path) -> bool:
        """Return whether a file exists and has not expired; delete an expired file."""
        try:
            age = time.time() - os.stat(path).st_mtime
            if age < -_CLOCK_SECONDS:  # wrong clock: without a new date the file would never expire
                os.utime(path)
        except OSError:
            return False
        if age > self._keeping.seconds:
            with contextlib.suppress(OSError):
                path.unlink()
        return age <= self._keeping.seconds

    def _mark(self, found: tuple[Kept, Went | None], mark: bytes) -> None:
        self._known[mark] = found
        kept, marks = found[0], found[0].marks
        self._resize(kept, 0 if mark in marks else _OF_A_MARK)
        marks.pop(mark, None)
        marks[mark] = None
        if len(marks) > _MOST_MARKS:
            oldest = next(iter(marks))
            del marks[oldest]
            self._unmark(kept, oldest)
            self._resize(kept, -_OF_A_MARK)

    def _unmark(self, kept: Kept, mark: bytes) -> None:
        if mark in self._known and self._known[mark][0] is kept:  # otherwise the mark identifies another conversation
            del self._known[mark]


def _unlink(path: Path) -> bool:
    """Delete a file; return whether it existed."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _pack(kept: Kept) -> None:
    if not kept.requests and kept.conversation is not None:
        kept.packed, kept.conversation = kept.conversation.packed(), None
