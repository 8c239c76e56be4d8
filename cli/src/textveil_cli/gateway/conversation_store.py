"""Store of conversations: find the conversation that a request continues, and delete old conversations.

Each conversation has a mapping from original words to surrogates (replacements), in memory. If the operator gives a
folder, the mappings of named conversations are also in a database. A client can name a conversation in a header.
Otherwise the messages of a request identify the conversation, if they continue an earlier request and its reply.
Neither way finds a conversation of another client.
"""

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from textveil import Conversation
from textveil.conversation import ExchangeHistory
from textveil.errors import TextveilError

from textveil_cli.gateway.conversation_ids import ConversationHasher
from textveil_cli.gateway.conversation_locks import ConversationLocks
from textveil_cli.gateway.mapping_database import MappingDatabase

#: Function that runs a job in a worker thread; see ``WorkerPool.run_job``.
RunJob = Callable[..., Awaitable[Any]]
#: Maximum number of hashes per conversation.
_MAX_HASHES = 2_000
#: Maximum number of stored ids that an upstream gave to several conversations. Above it, ids are no longer used.
_MAX_REUSED_IDS = 1 << 16
#: Maximum number of idle conversations that are not packed, and maximum total size of their last requests.
_MAX_IDLE, _MAX_IDLE_BYTES = 64, 1 << 20
#: Estimated bytes of a conversation beside its mapping, and of each hash.
_BASE_BYTES, _HASH_BYTES = 1_000, 300
#: Estimated bytes of an unpacked conversation per byte of its last request.
_UNPACKED_BYTES_PER_BYTE = 12
#: Number of last messages of a request whose hashes are looked up. No client adds more messages at once.
MAX_LOOKED_UP = 4_096


@dataclass(frozen=True, kw_only=True)
class RetentionSettings:
    """Settings that limit for how long conversations are stored, how many, and in how much memory.

    Attributes:
        seconds: Time after the last request of a conversation at which the conversation is deleted.
        max_conversations: Maximum number of conversations. Above it, the least recently used ones are deleted first.
        max_bytes: Maximum estimated memory of all conversations. Above it, the least recently used ones are deleted
            first.
    """

    seconds: float = 8 * 3600
    max_conversations: int = 10_000
    max_bytes: int = 12 << 20


@dataclass(eq=False, repr=False, kw_only=True, slots=True)
class StoredConversation:
    """A conversation, with the data by which ``ConversationStore`` finds and deletes it.

    To *pack* an idle conversation means to serialize and compress it in memory; it then needs about a tenth of the
    memory.

    Attributes:
        conversation: The conversation; ``None`` before its first request is handled, and while it is packed.
        name_hash: Hash of its name in the database; ``None`` for a conversation in memory only.
        version: Version of the conversation in the database that this process has read or written last.
        lock: Lock of the request whose names are being replaced. Other requests of the conversation wait for this lock.
        packed: The packed conversation.
        active_requests: Number of active requests. A conversation with an active request is not packed.
        latest_bytes: Bytes of the last request.
        estimated_bytes: Estimated memory of the hashes and, if the conversation is packed, of the packed form.
        unpacked_bytes: Estimated memory of an idle conversation that could not be packed; a part of
            ``estimated_bytes``.
        last_used: Time of the last request.
        hashes: Hashes by which ``ConversationStore`` finds the conversation.
        reply_id_hashes: Hashes of the ids that the provider gave to its replies.
    """

    conversation: Conversation | None
    name_hash: bytes | None
    version: bytes | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    packed: bytes = b""
    active_requests: int = 0
    latest_bytes: int = 0
    estimated_bytes: int = 0
    unpacked_bytes: int = 0
    last_used: float = 0.0
    hashes: dict[bytes, None] = field(default_factory=dict)
    reply_id_hashes: dict[bytes, None] = field(default_factory=dict)


class ConversationStore:
    """Store of all conversations of a gateway.

    Args:
        make: Function that creates a conversation.
        unpack: Function that recreates a conversation from its packed (compressed) form.
        retention: How long, and how many, conversations are stored.
        database: Database of named conversations; ``None`` for memory only.
        locks: Locks against other gateways that use the database; ``None`` without a database.
        key: Key of the hashes.
        options: Options for replacing words. A named conversation cannot continue with other options.
        clock: Monotonic clock in seconds.

    Attributes:
        hasher: Computes the hashes that identify conversations.
    """

    def __init__(
        self,
        make: Callable[[], Conversation],
        unpack: Callable[[bytes], Conversation],
        retention: RetentionSettings,
        *,
        database: MappingDatabase | None = None,
        locks: ConversationLocks | None = None,
        key: bytes,
        options: Mapping[str, Any],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make, self._unpack = make, unpack
        self._database, self._locks = database, locks
        self._retention, self._clock = retention, clock
        self.hasher = ConversationHasher(key, options)
        self._entry_by_hash: dict[bytes, tuple[StoredConversation, ExchangeHistory | None]] = {}
        #: Conversation of each reply id, by a hash that does not depend on the client; ids of several conversations;
        #: and the last ids of removed conversations.
        self._owner_by_reply_id: dict[bytes, StoredConversation] = {}
        self._reused_ids: set[bytes] = set()
        self._forgotten_ids: OrderedDict[bytes, None] = OrderedDict()
        self._stored: OrderedDict[int, StoredConversation] = OrderedDict()
        self._idle: dict[StoredConversation, None] = {}
        #: Conversations with active requests by name, including those that were removed from memory in the meantime.
        self._active_by_name: dict[bytes, set[StoredConversation]] = {}
        self._total_bytes = 0

    def __len__(self) -> int:
        return len(self._stored)

    def find_conversation(
        self,
        client: bytes,
        name: str | None,
        message_hashes: Sequence[bytes],
        reply_ids: Iterable[str],
        request_bytes: int,
    ) -> tuple[StoredConversation, ExchangeHistory | None]:
        """Find the conversation of a request, or create a new one.

        Args:
            client: Hash of the client.
            name: Name of the conversation from a header; ``None`` without the header.
            message_hashes: Hashes of the messages of the request.
            reply_ids: The provider's ids of earlier replies that the request contains. All are ignored if the provider
                gave one of them in several conversations, or if they belong to different conversations.
            request_bytes: Bytes of the request.

        Returns:
            The conversation, and its earlier messages. A request with ``reply_ids`` does not repeat these messages,
            since the provider stores them. Without known ids the second value is ``None``.
        """
        self.expire_conversations()
        earlier = self._find_by_reply_ids(client, [*reply_ids])
        name_hash = None
        if name is not None:
            name_hash = self.hasher.hash_name(client, name)
            conversation_entry = self._entry_by_hash.get(
                name_hash,
                (StoredConversation(conversation=None, name_hash=None if self._database is None else name_hash), None),
            )
        else:
            known_entries = [self._entry_by_hash.get(known_hash) for known_hash in message_hashes[-MAX_LOOKED_UP:]]
            conversation_entry = (
                earlier
                or next((entry for entry in reversed(known_entries) if entry is not None), None)
                or (StoredConversation(conversation=None, name_hash=None), None)
            )
        stored = conversation_entry[0]
        self._stored[id(stored)] = stored
        self._stored.move_to_end(id(stored))
        stored.last_used, stored.latest_bytes = self._clock(), request_bytes
        self._add_bytes(stored, 0 if stored.estimated_bytes else _BASE_BYTES)
        if name_hash is not None:
            self._store_hash(conversation_entry, name_hash)
        self.expire_conversations(stored)
        return stored, earlier[1] if earlier is not None and earlier[0] is stored else None

    def open_conversation(self, stored: StoredConversation) -> Conversation:
        """Return the conversation of an entry of the store, after unpacking it or reading it from the database.

        The caller must hold the lock of the conversation. If another gateway has changed or deleted the conversation in
        the database, the copy in memory is discarded.

        Raises:
            OutputError: The database cannot be opened, is damaged or has another version.
            KeyFileError: The conversation was written with another key.
            ContentHashMismatch: The words of the conversation were replaced with another bundle (folder with word lists
                and settings).
        """
        if self._database is not None and stored.name_hash is not None:
            version = self._database.read_version(stored.name_hash)
            if version != stored.version:
                stored.conversation = None
                mapping = self._database.read_mapping(stored.name_hash)
                stored.conversation = self._make() if mapping is None else self._unpack(mapping[0])
                stored.version = None if mapping is None else mapping[1]
        if stored.conversation is None:
            stored.conversation = self._unpack(stored.packed) if stored.packed else self._make()
        return stored.conversation

    def save_conversation(self, stored: StoredConversation) -> None:
        """Write a conversation to the database; do nothing for a conversation that is stored in memory only.

        The caller must hold the lock of the conversation.
        """
        if self._database is not None and stored.name_hash is not None and stored.conversation is not None:
            stored.version = self._database.write_mapping(stored.name_hash, stored.conversation.pack(), stored.version)

    def store_reply_ids(
        self, stored: StoredConversation, exchange: Conversation, *, client: bytes,
        reply_hashes: Iterable[bytes], reply_ids: Iterable[str],
    ) -> None:  # fmt: skip
        """Store the hashes and reply ids with which the next request can continue the conversation.

        Args:
            stored: The conversation.
            exchange: The conversation after the reply.
            client: Hash of the client.
            reply_hashes: Hashes of all messages up to and including the reply.
            reply_ids: The provider's ids of the reply.
        """
        if id(stored) not in self._stored:
            return  # it was removed in the meantime
        for reply_hash in reply_hashes:
            self._store_hash((stored, None), reply_hash)
        for reply_id in reply_ids:
            self._store_reply_id(stored, exchange, client, reply_id)

    def _find_by_reply_ids(
        self, client: bytes, reply_ids: Sequence[str]
    ) -> tuple[StoredConversation, ExchangeHistory | None] | None:
        """Find the conversation in which the model's provider gave the given ids to its replies.

        Returns:
            The conversation, and the messages before the first known id. ``None`` if no id is known, if an id belongs
            to several conversations, or if the ids belong to different conversations.
        """
        if any(self.hasher.hash_reply_id_of_any_client(name) in self._reused_ids for name in reply_ids):
            return None
        replies = [self._entry_by_hash.get(self.hasher.hash_reply_id(client, name)) for name in reply_ids]
        entries = [entry for entry in replies if entry is not None]
        return entries[0] if len({id(entry[0]) for entry in entries}) == 1 else None

    def _forget_reply_id(self, stored: StoredConversation, id_hash: bytes) -> None:
        """Remove the id of a reply from a conversation, so that the id does not find this conversation anymore.

        As long as the id is among the most recently removed ones, it is not assigned to another conversation.
        """
        del stored.reply_id_hashes[id_hash]
        if self._owner_by_reply_id.pop(id_hash, None) is not None:
            self._forgotten_ids[id_hash] = None
            if len(self._forgotten_ids) > _MAX_REUSED_IDS:
                self._forgotten_ids.popitem(last=False)

    def _store_reply_id(self, stored: StoredConversation, exchange: Conversation, client: bytes, reply_id: str) -> None:
        """Store the id that the provider gave to a reply, so that a later request with this id finds the conversation.

        If another conversation has the same id, the id is no longer used to find either of them.
        """
        id_hash = self.hasher.hash_reply_id_of_any_client(reply_id)
        owner = self._owner_by_reply_id.get(id_hash)
        if id_hash in self._forgotten_ids or (owner is not None and owner is not stored):
            self._owner_by_reply_id.pop(id_hash, None)
            self._reused_ids.add(id_hash)
        if id_hash not in self._reused_ids and len(self._reused_ids) < _MAX_REUSED_IDS:
            self._owner_by_reply_id[id_hash] = stored
            stored.reply_id_hashes.pop(id_hash, None)
            stored.reply_id_hashes[id_hash] = None
            if len(stored.reply_id_hashes) > _MAX_HASHES:
                self._forget_reply_id(stored, next(iter(stored.reply_id_hashes)))
            self._store_hash((stored, exchange.history), self.hasher.hash_reply_id(client, reply_id))

    @contextlib.asynccontextmanager
    async def track_request(self, stored: StoredConversation, run: RunJob) -> AsyncIterator[None]:
        """Mark a request as active during the ``async with`` block; then compress idle conversations.

        While the request is active, no other gateway can handle a request of this conversation. So two gateways cannot
        overwrite each other's count of the original words that the model tried to guess. Some idle conversations stay
        uncompressed, so that their next requests need not wait.

        Args:
            stored: The conversation.
            run: Function that runs a job in a worker thread; it is used for compression.

        Raises:
            Refusal: Another gateway handles a request of the conversation for too long.
        """
        async with contextlib.AsyncExitStack() as stack:
            if self._locks is not None and stored.name_hash is not None:
                await stack.enter_async_context(self._locks.hold_lock(stored.name_hash))
            await stack.enter_async_context(self._count_request(stored, run))
            yield

    @contextlib.asynccontextmanager
    async def _count_request(self, stored: StoredConversation, run: RunJob) -> AsyncIterator[None]:
        stored.active_requests += 1
        self._idle.pop(stored, None)
        self._count_unpacked(stored, 0)
        if stored.name_hash is not None:
            self._active_by_name.setdefault(stored.name_hash, set()).add(stored)
        try:
            yield
        finally:
            stored.active_requests -= 1
            if not stored.active_requests:
                self._remove_active(stored)
                if id(stored) in self._stored:
                    self._idle[stored] = None
                    if self._exceeds_idle_limits():  # packing continues even if the client disconnects
                        await asyncio.shield(asyncio.ensure_future(self._pack_idle(run)))

    def _remove_active(self, stored: StoredConversation) -> None:
        for name_hash in [name for name, conversations in self._active_by_name.items() if stored in conversations]:
            active = self._active_by_name[name_hash]
            active.discard(stored)
            if not active:
                del self._active_by_name[name_hash]

    def _exceeds_idle_limits(self) -> bool:
        """Return whether too many idle conversations are uncompressed, by their number or total size."""
        return len(self._idle) > _MAX_IDLE or sum(one.latest_bytes for one in self._idle) > _MAX_IDLE_BYTES

    async def _pack_idle(self, run: RunJob) -> None:
        """Compress idle conversations in memory until the uncompressed ones are within the limits.

        Conversations with a large last request are compressed first, then those that are idle longest. If compression
        fails, the estimated uncompressed size of all idle conversations counts toward the memory limit.
        """
        while self._exceeds_idle_limits():
            large = (one for one in self._idle if one.latest_bytes > _MAX_IDLE_BYTES)
            stored = next(large, next(iter(self._idle)))
            del self._idle[stored]
            earlier_bytes = len(stored.packed)
            try:
                async with stored.lock:  # the next request of the conversation may arrive at this time
                    await run(_pack_conversation, stored, size=stored.latest_bytes)
            except BaseException as error:
                if not stored.active_requests and id(stored) in self._stored:
                    self._idle[stored] = None
                    for one in self._idle:
                        self._count_unpacked(one, _UNPACKED_BYTES_PER_BYTE * one.latest_bytes)
                    self.expire_conversations()
                if isinstance(error, Exception):
                    return  # the end of the next request repeats the attempt
                raise
            self._add_bytes(stored, len(stored.packed) - earlier_bytes)
            if not stored.conversation:
                self._count_unpacked(stored, 0)

    def _count_unpacked(self, stored: StoredConversation, size: int) -> None:
        self._add_bytes(stored, size - stored.unpacked_bytes)
        stored.unpacked_bytes = size

    def _add_bytes(self, stored: StoredConversation, more: int) -> None:
        if id(stored) in self._stored:  # otherwise it was removed in the meantime
            stored.estimated_bytes += more
            self._total_bytes += more

    async def delete_conversation(self, client: bytes, name: str, run: RunJob) -> bool:
        """Delete a conversation from memory and from the database, and return whether the conversation existed.

        The method first waits for active requests of the conversation, since they could write the conversation again.

        Args:
            client: Hash of the client.
            name: Name of the conversation.
            run: Function that runs a job in a worker thread; it is used for the deletion in the database.

        Raises:
            Refusal: Another gateway handles a request of the conversation for too long.
        """
        stored, _ = self.find_conversation(client, name, (), (), 0)
        name_hash = stored.name_hash
        same_name = {stored, *(self._active_by_name.get(name_hash, ()) if name_hash is not None else ())}
        async with contextlib.AsyncExitStack() as stack:
            if self._locks is not None and name_hash is not None:
                await stack.enter_async_context(self._locks.hold_lock(name_hash))
            for one in same_name:
                await stack.enter_async_context(one.lock)
            existed = bool(stored.conversation or stored.packed)
            if self._database is not None and name_hash is not None:
                # before ``forget_conversation``: new requests wait for the lock
                existed = await run(self._database.delete_mapping, name_hash)
            for one in same_name:
                one.name_hash, one.conversation, one.version = None, None, None
                self._add_bytes(one, -len(one.packed))
                one.packed = b""
                self.forget_conversation(one)
        return existed

    def forget_conversation(self, stored: StoredConversation) -> None:
        """Remove a conversation from memory, but not from the database."""
        for known_hash in stored.hashes:
            self._remove_hash(stored, known_hash)
        for known_hash in [*stored.reply_id_hashes]:
            self._forget_reply_id(stored, known_hash)
        self._idle.pop(stored, None)
        if self._stored.pop(id(stored), None) is not None:
            self._total_bytes -= stored.estimated_bytes

    def expire_conversations(self, excluded: StoredConversation | None = None) -> None:
        """Remove conversations from memory that were idle too long.

        If the store is still above its limits, the least recently used conversations are removed too.

        Args:
            excluded: A conversation that must stay; ``None`` for none.
        """
        while self._stored:
            oldest = next(iter(self._stored.values()))
            is_over_limit = (
                len(self._stored) > self._retention.max_conversations or self._total_bytes > self._retention.max_bytes
            )
            if oldest is excluded or not (is_over_limit or self._clock() - oldest.last_used > self._retention.seconds):
                return
            self.forget_conversation(oldest)

    def delete_expired_mappings(self) -> None:
        """Delete all conversations of the database that were idle too long.

        Any thread may call this method: it changes nothing in memory.
        """
        if self._database is not None:
            with contextlib.suppress(TextveilError):  # a failure must not prevent later deletions
                self._database.delete_expired()

    def _store_hash(self, entry: tuple[StoredConversation, ExchangeHistory | None], known_hash: bytes) -> None:
        self._entry_by_hash[known_hash] = entry
        stored, hashes = entry[0], entry[0].hashes
        self._add_bytes(stored, 0 if known_hash in hashes else _HASH_BYTES)
        hashes.pop(known_hash, None)
        hashes[known_hash] = None
        if len(hashes) > _MAX_HASHES:
            oldest = next(iter(hashes))
            del hashes[oldest]
            self._remove_hash(stored, oldest)
            self._add_bytes(stored, -_HASH_BYTES)

    def _remove_hash(self, stored: StoredConversation, known_hash: bytes) -> None:
        if (
            known_hash in self._entry_by_hash and self._entry_by_hash[known_hash][0] is stored
        ):  # otherwise the hash identifies another conversation
            del self._entry_by_hash[known_hash]


def _pack_conversation(stored: StoredConversation) -> None:
    if not stored.active_requests and stored.conversation is not None:
        conversation = stored.conversation
        stored.packed, stored.conversation = conversation.pack(), None
        conversation.free_memory()
