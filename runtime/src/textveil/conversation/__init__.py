"""Rewriting of a conversation with a model under one mapping, and restoring of its replies.

Both run on the device.
"""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.conversation.conversation import Conversation
    from textveil.conversation.encrypted_file import conversation_matches_key
    from textveil.conversation.exchange_state import ExchangeHistory
    from textveil.conversation.message_rewriter import SETTINGS_TYPE, list_tool_names
    from textveil.conversation.reply_restorer import RecordedReplyStream, RestoredReply
    from textveil.conversation.reply_view import ReplyView, find_displayed_texts
    from textveil.conversation.stop_sequences import rewrite_stop_sequences
    from textveil.conversation.tool_guesses import MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION

__all__ = [
    "MAX_GUESSES_PER_CALL",
    "MAX_GUESSES_PER_CONVERSATION",
    "SETTINGS_TYPE",
    "Conversation",
    "ExchangeHistory",
    "RecordedReplyStream",
    "ReplyView",
    "RestoredReply",
    "conversation_matches_key",
    "find_displayed_texts",
    "list_tool_names",
    "rewrite_stop_sequences",
]  # fmt: skip

__getattr__: AttributeGetter = make_lazy_getattr(
    __name__,
    __all__,
    "reply_restorer",
    "conversation",
    "encrypted_file",
    "exchange_state",
    "reply_view",
    "message_rewriter",
    "stop_sequences",
    "tool_guesses",
)
