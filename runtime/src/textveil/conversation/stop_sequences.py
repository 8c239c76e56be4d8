"""Replacing of private strings in stop sequences by the surrogates (replacements) of a conversation.

A stop sequence is a string at which a model ends its reply. A model that receives surrogates never writes an original,
so a stop sequence with an original would have no effect, and would reveal the original to the model's provider.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textveil.conversation.conversation import Conversation

#: Special tokens of models that applications use as stop sequences. They are kept.
STOP_TOKENS = frozenset(
    "</s> <s> <|im_end|> <|im_start|> <|eot_id|> <|eom_id|> <|end_of_text|> <|endoftext|> <|end|> <|user|> "
    "<|assistant|> <end_of_turn> <start_of_turn> [INST] [/INST]".split()
)


def rewrite_stop_sequences(conversation: "Conversation", sequences: Iterable[str]) -> list[str]:
    """Replace private strings in stop sequences as in messages. Special tokens such as ``</s>`` are left unchanged.

    >>> from textveil import Conversation
    >>> from textveil.conversation import rewrite_stop_sequences
    >>> conversation = Conversation()
    >>> stops = rewrite_stop_sequences(conversation, ["</s>", "Novak:"])
    >>> stops[0], stops[1] == conversation.outgoing_text("Novak:")
    ('</s>', True)
    """
    return [text if text in STOP_TOKENS else conversation.outgoing_text(text) for text in sequences]
