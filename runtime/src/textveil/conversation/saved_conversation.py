"""Saving and loading of a conversation: as an encrypted file, or compressed in memory."""

import os
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from textveil.conversation import encrypted_file
from textveil.conversation.async_methods import run_in_thread
from textveil.conversation.exchange_state import ConversationState, ExchangeState, check_stored_options
from textveil.errors import ContentHashMismatch
from textveil.text.options import DEFAULT_STYLE
from textveil.text.sanitizer import Sanitizer
from textveil.work_steps import decode_json


class SavedConversation:
    """Base class with the methods of ``Conversation`` that save and load the conversation."""

    _shared: ConversationState
    _exchange: ExchangeState

    if TYPE_CHECKING:  # the constructor of ``Conversation``

        def __init__(self, sanitizer: Sanitizer | None = None, **options: Any) -> None: ...

    def save(self, path: str | Path, key_file: str | Path) -> None:
        """Write the conversation to an encrypted file (AES-256-GCM) that only its owner can read.

        Args:
            path: The file. Deleting it deletes the conversation.
            key_file: The key file, which is created if it is missing. It must be outside the folder of ``path``.

        Raises:
            CryptoUnavailable: The package ``cryptography`` is not installed.
            KeyFileError: The key file is invalid or in the wrong folder, or other users can read it.
            OutputError: The file cannot be written.
            ConversationChanged: The file contains another conversation, or another process has saved the file since
                this conversation read or wrote it. Nothing is written, and the file is unchanged.
        """
        with self._shared.lock:
            real_path, stamps = os.path.realpath(path), self._shared.file_stamps
            stamps[real_path] = encrypted_file.write_conversation(
                Path(path), key_file, self._encode_content(), stamps.get(real_path)
            )

    @classmethod
    def load(
        cls,
        path: str | Path,
        key_file: str | Path,
        sanitizer: Sanitizer | None = None,
        *,
        pass_through: Collection[str] = (),
        restore_tools: Collection[str] = (),
        restore_places: Collection[str] | str = (),
        restore_hosts: Collection[str] = (),
        rewrite: Callable[[str], str] | None = None,
        facts: str | None = None,
        patterns: Mapping[str, str] | None = None,
        known: Collection[str] | None = None,
    ) -> Self:
        """Load a saved conversation, so that it can be continued with the options of its creation.

        Args:
            path: The file.
            key_file: The key file.
            sanitizer: Sanitizer with the bundle (folder with tables and settings) of the conversation; by default, with
                the built-in English bundle.
            pass_through: Items that are sent unchanged. This argument and the next four are those of ``Conversation``.
                Their values are not in the file.
            restore_tools: Names of tools. Originals are restored in the arguments of these tools.
            restore_places: Parts of replies, besides running text, in which originals are restored.
            restore_hosts: Names of hosts. Originals are also restored in links to these hosts.
            rewrite: Function that rewrites each text independently, in place of the mode ``names``.
            facts: Expected value of this option at the creation of the conversation; ``None`` skips the check.
            patterns: Expected patterns of the user's entity types at the creation; ``None`` skips the check.
            known: Expected list of known persons at the creation; ``None`` skips the check.

        Raises:
            OptionError: ``facts``, ``patterns`` or ``known`` differs from the value in the saved conversation.
            InputError: The file is missing or unreadable, or is not a conversation of this version.
            KeyFileError: The file was written with another key, or was changed.
            ContentHashMismatch: The conversation was created with another bundle.
            CryptoUnavailable: The package ``cryptography`` is not installed.
        """
        options: dict[str, Any] = {
            "pass_through": pass_through,
            "restore_tools": restore_tools,
            "restore_places": restore_places,
            "restore_hosts": restore_hosts,
            "rewrite": rewrite,
            "facts": facts,
            "patterns": patterns,
            "known": known,
        }
        content, stamp = encrypted_file.read_conversation(Path(path), key_file)
        conversation = cls._from_content(content, sanitizer, options)
        conversation._shared.file_stamps[os.path.realpath(path)] = stamp
        return conversation

    async def asave(self, path: str | Path, key_file: str | Path) -> None:
        """Write the conversation to an encrypted file in a thread; see ``save`` and ``aoutgoing``."""
        await run_in_thread(self.save, path, key_file)

    @classmethod
    async def aload(
        cls, path: str | Path, key_file: str | Path, sanitizer: Sanitizer | None = None, **options: Any
    ) -> Self:
        """Load a saved conversation in a thread, with the arguments of ``load``."""
        return await run_in_thread(cls.load, path, key_file, sanitizer, **options)

    def pack(self) -> bytes:
        """Compress the conversation to about a tenth of its size, as bytes for ``unpack``.

        Privacy:
            The bytes are not encrypted.
        """
        with self._shared.lock:
            stamps = {real_path: stamp.hex() for real_path, stamp in self._shared.file_stamps.items()}
            return zlib.compress(self._encode_content(file_stamps=stamps), 1)

    @classmethod
    def unpack(cls, packed: bytes, sanitizer: Sanitizer | None = None, **options: Any) -> Self:
        """Return the conversation that ``pack`` compressed, to continue it.

        Args:
            packed: The result of ``pack``. It must come from a trusted source.
            sanitizer: Sanitizer with the bundle (data folder) of the conversation (see ``load``).
            options: Other keyword arguments of ``load``.
        """
        return cls._from_content(zlib.decompress(packed), sanitizer, options)

    @classmethod
    def _from_content(cls, encoded: bytes, sanitizer: Sanitizer | None, options: Mapping[str, Any]) -> Self:
        content = decode_json(encoded.decode("ascii"))
        stored = {"style": DEFAULT_STYLE, **content["options"]}  # the default style of a file that has none
        conversation = cls(sanitizer, **{**check_stored_options(options, stored), **stored})
        shared = conversation._shared
        if shared.sanitizer.bundle.content_hash != content["bundle"]:
            raise ContentHashMismatch(
                "the conversation was started with another bundle: load that bundle, or start a new conversation"
            )
        shared.restore_state(content)
        conversation._exchange.restore_state(content)
        stamps = content.get("file_stamps", {})
        shared.file_stamps.update((path, bytes.fromhex(stamp)) for path, stamp in stamps.items())
        return conversation

    def _encode_content(self, **more: Any) -> bytes:
        shared = self._shared
        content = {**shared.export_state(), **self._exchange.export_state(), **more}
        return encrypted_file.encode_content(content, shared.estimate_size())
