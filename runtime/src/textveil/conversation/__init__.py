"""Rewriting of a conversation with a model under one mapping, and restoring of its replies.

Both run on the device.
"""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names

if TYPE_CHECKING:
    from textveil.conversation.conversation import Conversation, Went
    from textveil.conversation.file import opens_with
    from textveil.conversation.incoming import Incoming, ReplyStream
    from textveil.conversation.reply_view import ReplyView, find_shown_texts
    from textveil.conversation.shapes import SETTINGS, list_tool_names
    from textveil.conversation.stop_sequences import rewrite_stop_sequences
    from textveil.conversation.tool_guesses import MOST_A_CALL, MOST_IN_ALL

__all__ = [
    "MOST_A_CALL", "MOST_IN_ALL", "SETTINGS", "Conversation", "Incoming", "ReplyStream", "ReplyView", "Went",
    "find_shown_texts", "list_tool_names", "opens_with", "rewrite_stop_sequences",
]  # fmt: skip

__getattr__: Find = lazy_names(
    __name__, __all__, "incoming", "conversation", "file", "reply_view", "shapes", "stop_sequences", "tool_guesses"
)
