"""Which conversation a request belongs to, and how long its mapping is kept: in memory, and in a file if asked.

A header names a conversation, or the messages of a request do: those of an earlier one with the reply that it got. Both
count under the same key of the client alone.
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

#: Does some work of a size.
Run = Callable[..., Awaitable[Any]]
#: Beginnings that are remembered of one conversation.
_MOST_MARKS = 2_000
#: Identifiers that an upstream gave to several conversations; where there are more, no identifier names anything.
_MOST_REUSED = 1 << 16
#: Conversations that rest unpacked, and bytes of their last requests, together.
_MOST_RESTED, _MOST_BYTES = 64, 1 << 20
#: About what a conversation takes beside its mapping, and what each beginning takes, in bytes.
_LEAST, _OF_A_MARK = 1_000, 300
#: About what a conversation takes for a byte of its last request while it is not packed.
_OF_A_BYTE = 12
#: Of the messages of a request so many last ones are looked up: more than any client adds to a conversation at once.
MOST_LOOKED_UP = 4_096
#: So far ahead of this clock the date of a file may be, as of another machine's.
_CLOCK_SECONDS = 60
_FILE = re.compile(r"[0-9a-f]{64}\.conversation")


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """How long mappings are kept.

    Attributes:
        seconds: After the last request of a conversation.
        conversations: The most at a time; those that rested longest go first.
        bytes: Of all that rest, together; the same.
        folder: Where conversations that a header names are kept in files; ``None`` for memory alone.
        key: File of the key of those.
    """

    seconds: float = 8 * 3600
    conversations: int = 10_000
    bytes: int = 12 << 20
    folder: Path | None = None
    key: Path | None = None


@dataclass(eq=False, repr=False, kw_only=True, slots=True)
class Kept:
    """A conversation.

    Attributes:
        conversation: It; ``None`` until its first request is looked at, and while it is packed.
        path: Its file.
        lock: A request has this while it draws, also while a thread still works on what its client gave up; others of
            the conversation wait.
        packed: It, in a tenth of the memory.
        requests: How many are under way; it is not packed meanwhile.
        latest: Bytes of the last one.
        size: Bytes that it takes: those of what tells it, and of it where it is packed.
        unpacked: Those of them that are an estimate, while it rests and could not be packed.
        used: When the last request came.
        marks: What tells it in ``Conversations``.
        names: Hashes of the names that the provider gave to its replies.
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
    """All conversations.

    Args:
        make: Makes a new one.
        load: Goes on with one from its file, under its key.
        unpack: Goes on with one that was packed.
        keeping: How long they are kept.
        key: Key of the marks.
        options: What rewrites them.
        clock: Seconds that only rise.

    Attributes:
        marks: What tells them.
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
        #: Of each identifier of a reply the conversation that it names, by a hash that is the same for all clients;
        #: those that named several, and some of those whose conversation was forgotten.
        self._owners: dict[bytes, Kept] = {}
        self._reused: set[bytes] = set()
        self._forgotten: OrderedDict[bytes, None] = OrderedDict()
        self._kept: OrderedDict[int, Kept] = OrderedDict()
        self._rested: dict[Kept, None] = {}
        #: Those of a file that are asked, also if they were forgotten meanwhile.
        self._asked: dict[Path, set[Kept]] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(
        self, client: bytes, named: str | None, marks: Sequence[bytes], after: Iterable[str], size: int
    ) -> tuple[Kept, Went | None]:
        """Returns the conversation of a request, and what went out before that its provider remembers.

        Args:
            client: Who asks.
            named: The name of the conversation, if it has one.
            marks: Those of the messages of the request.
            after: Names that the provider gave to earlier replies which the request goes on with. One that it gave to
                several conversations names none of them, and names of several conversations in one request neither.
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
        """Return the file of a conversation that a header names."""
        folder = self._keeping.folder
        return None if folder is None else folder / f"{mark.hex()}.conversation"

    def opened(self, kept: Kept) -> Conversation:
        """Returns the conversation, unpacked, or from its file if it has one. Its lock is held meanwhile.

        Raises:
            InputError: The file is of another version, or no conversation.
            KeyFileError, IdentityMismatch, CryptoUnavailable: It cannot be read with this key or bundle.
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
        """Writes the file of a conversation, if it has one. Its lock is held meanwhile."""
        if kept.path is not None and self._keeping.key is not None and kept.conversation is not None:
            kept.conversation.save(kept.path, self._keeping.key)

    def remember(
        self, kept: Kept, exchange: Conversation, *, client: bytes,
        ends: Iterable[bytes], names: Iterable[str],
    ) -> None:  # fmt: skip
        """Remembers what tells the next request of a conversation: its messages so far and a reply; or its name."""
        if id(kept) not in self._kept:
            return  # forgotten meanwhile
        for mark in ends:
            self._mark((kept, None), mark)
        for name in names:
            self._name(kept, exchange, client, name)

    def _named_by(self, client: bytes, names: Sequence[str]) -> tuple[Kept, Went | None] | None:
        """Find the conversation of reply ids, and the messages sent before the first known one.

        ``None`` if no id is known, if an id belongs to several conversations, or if the ids belong to different ones.
        """
        if any(self.marks.of_any_client(name) in self._reused for name in names):
            return None
        replies = [self._known.get(self.marks.reply(client, name)) for name in names]
        found = [entry for entry in replies if entry is not None]
        return found[0] if len({id(entry[0]) for entry in found}) == 1 else None

    def _forget_name(self, kept: Kept, mark: bytes) -> None:
        """Take a name from a conversation; it names no other one, while it is among the last that were forgotten."""
        del kept.names[mark]
        if self._owners.pop(mark, None) is not None:
            self._forgotten[mark] = None
            if len(self._forgotten) > _MOST_REUSED:
                self._forgotten.popitem(last=False)

    def _name(self, kept: Kept, exchange: Conversation, client: bytes, name: str) -> None:
        """Record a reply id of the provider for a conversation, unless the id already belongs to another one."""
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
        """Says that a request of a conversation is under way. Then it rests, and those that rested longer are packed.

        Some rest as they are: who goes on at once does not wait.

        Args:
            kept: The conversation.
            run: Packs.
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
                    if self._is_above():  # whoever asked may go: it is packed all the same
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
        """Return whether too many conversations rest unpacked."""
        return len(self._rested) > _MOST_RESTED or sum(one.latest for one in self._rested) > _MOST_BYTES

    async def _pack_rested(self, run: Run) -> None:
        """Pack those that rested longest, or a large one at once. Those that cannot be packed are counted."""
        while self._is_above():
            large = (one for one in self._rested if one.latest > _MOST_BYTES)
            tired = next(large, next(iter(self._rested)))
            del self._rested[tired]
            before = len(tired.packed)
            try:
                async with tired.lock:  # its next request may come meanwhile
                    await run(_pack, tired, size=tired.latest)
            except BaseException as error:
                if not tired.requests and id(tired) in self._kept:
                    self._rested[tired] = None
                    for one in self._rested:
                        self._count_unpacked(one, _OF_A_BYTE * one.latest)
                    self.expire()
                if isinstance(error, Exception):
                    return  # the next request that ends tries again
                raise
            self._resize(tired, len(tired.packed) - before)
            if not tired.conversation:
                self._count_unpacked(tired, 0)

    def _count_unpacked(self, kept: Kept, size: int) -> None:
        self._resize(kept, size - kept.unpacked)
        kept.unpacked = size

    def _resize(self, kept: Kept, more: int) -> None:
        if id(kept) in self._kept:  # else it was forgotten meanwhile
            kept.size += more
            self._size += more

    async def delete(self, client: bytes, named: str, run: Run) -> bool:
        """Delete a conversation and its file; return whether there was one.

        A request of it that draws or writes its file is waited for, so nothing is written behind this.

        Args:
            client: Who asks.
            named: The name of the conversation.
            run: Deletes the file.
        """
        kept, _ = self.find(client, named, (), (), 0)
        path = self._path_of(self.marks.named(client, named))
        others = {kept, *(self._asked.get(path, ()) if path is not None else ())}
        async with contextlib.AsyncExitStack() as stack:
            for one in others:
                await stack.enter_async_context(one.lock)
            was_there = bool(kept.conversation or kept.packed)
            if path is not None:  # before it is forgotten: whoever asks for it meanwhile waits for the lock
                was_there = await run(_unlink, path) or was_there
            for one in others:
                one.path, one.conversation = None, None
                self._resize(one, -len(one.packed))
                one.packed = b""
                self.forget(one)
        return was_there

    def forget(self, kept: Kept) -> None:
        """Takes a conversation out of the memory."""
        for mark in kept.marks:
            self._unmark(kept, mark)
        for mark in [*kept.names]:
            self._forget_name(kept, mark)
        self._rested.pop(kept, None)
        if self._kept.pop(id(kept), None) is not None:
            self._size -= kept.size

    def expire(self, but: Kept | None = None) -> None:
        """Forgets conversations that rested too long, and those above the limits."""
        while self._kept:
            oldest = next(iter(self._kept.values()))
            above = len(self._kept) > self._keeping.conversations or self._size > self._keeping.bytes
            if oldest is but or not (above or self._clock() - oldest.used > self._keeping.seconds):
                return
            self.forget(oldest)

    def delete_expired(self) -> None:
        """Delete the files of conversations that rested too long. It changes nothing else, so any thread may do it."""
        if self._keeping.folder is not None:
            with contextlib.suppress(OSError):  # else one fault would end all sweeping
                for path in self._keeping.folder.iterdir():
                    if _FILE.fullmatch(path.name):
                        self._is_young(path)

    def _is_young(self, path: Path) -> bool:
        """Whether there is a file that has not expired; one that has is deleted."""
        try:
            age = time.time() - os.stat(path).st_mtime
            if age < -_CLOCK_SECONDS:  # a clock was wrong: it expires from now on, else it never would
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
        if mark in self._known and self._known[mark][0] is kept:  # else it tells another one by now
            del self._known[mark]


def _unlink(path: Path) -> bool:
    """Delete a file; return whether there was one."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _pack(kept: Kept) -> None:
    if not kept.requests and kept.conversation is not None:
        kept.packed, kept.conversation = kept.conversation.packed(), None
