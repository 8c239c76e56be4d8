"""Hiding of private strings in messages to a language model, and restoring of these strings in the model's replies.

Names, numbers and other private strings of a message (*originals*) are replaced by *surrogates*, such as other names,
before the message leaves the device. In the reply, the surrogates are replaced by the originals again.

Terms of this package:

- *mapping*: dictionary from each original of the conversation to its surrogate. *Linked* text is rewritten with this
  dictionary, so equal strings get equal surrogates. *Unlinked* text gets new surrogates, which are never restored.
- *exchange*: one request to the model and its reply.
- *upstream*: the model and its provider, from which originals are hidden.
- *guess*: a string that the model itself writes, in the hope that a later message repeats it. If a linked message
  repeats the guess, the upstream receives a surrogate in its place. If the upstream received the same surrogate before,
  the upstream learns that the guess is one of the originals.
- *place*: a position in the conversation, identified by all messages before it.
- *pair*: a surrogate and its original.
"""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.conversation.conversation import CONVERSATION_DEFAULTS, Conversation
    from textveil.conversation.encrypted_file import conversation_matches_key
    from textveil.conversation.exchange_state import ExchangeHistory
    from textveil.conversation.field_names import FieldNames
    from textveil.conversation.message_rewriter import SETTINGS_TYPE, list_tool_names
    from textveil.conversation.reply_restorer import RecordedReplyStream, RestoredReply
    from textveil.conversation.reply_view import ReplyView, find_displayed_texts
    from textveil.conversation.stop_sequences import rewrite_stop_sequences
    from textveil.conversation.tool_guesses import MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION

__all__ = [
    "CONVERSATION_DEFAULTS",
    "MAX_GUESSES_PER_CALL",
    "MAX_GUESSES_PER_CONVERSATION",
    "SETTINGS_TYPE",
    "Conversation",
    "ExchangeHistory",
    "FieldNames",
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
    "field_names",
    "reply_view",
    "message_rewriter",
    "stop_sequences",
    "tool_guesses",
)
