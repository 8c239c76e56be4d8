"""Import the files in which earlier versions stored replaced words, one per conversation, into the database."""

import contextlib
import re
import time
from collections.abc import Callable
from pathlib import Path

from textveil import Conversation
from textveil.errors import ConversationChanged, TextveilError

from textveil_cli.gateway.mapping_database import MappingDatabase

_FILE_NAME = re.compile(r"([0-9a-f]{64})\.conversation")


def import_mapping_files(
    folder: Path, database: MappingDatabase, load: Callable[[Path], Conversation], seconds: float
) -> int:
    """Move the mappings (pairs of a replacement and its original) of files into the database.

    Imported and expired files are deleted.

    Args:
        folder: Folder of the mapping files.
        database: Database to write to.
        load: Function that loads a conversation from a file.
        seconds: Time after its last change at which a file expires.

    Returns:
        The number of files that cannot be loaded, because they have another key, version or bundle. These files remain
        until they expire.

    Raises:
        OutputError: The database cannot be written.
    """
    unreadable = 0
    with contextlib.suppress(OSError):
        for path in sorted(folder.iterdir()):
            match = _FILE_NAME.fullmatch(path.name)
            if match is None or not path.is_file():
                continue
            if time.time() - path.stat().st_mtime <= seconds:
                try:
                    content = load(path).pack()
                except TextveilError:
                    unreadable += 1
                    continue
                with contextlib.suppress(ConversationChanged):  # the database has a newer one
                    database.write_mapping(bytes.fromhex(match[1]), content, None)
            path.unlink(missing_ok=True)
    return unreadable
