"""Recording of a model's replies, so that the client can send them again as the model wrote them."""

from typing import Any

from textveil.conversation.exchange_state import ConversationState, ExchangeState
from textveil.conversation.message_rewriter import encode_json, is_signed
from textveil.conversation.reply_records import (
    RecordedFields,
    build_message,
    is_response_item,
    iterate_model_fields,
    split_reply,
)
from textveil.conversation.tool_call_counter import ToolCallCounter
from textveil.text.inflections import SurrogatePair


class ReplyRecorder:
    """Records replies as the model wrote them, so that the model later receives its own words again.

    The client gets a reply in which originals take the place of surrogates (replacements), and sends this reply back
    with its next request. Then the device looks up the record, and sends the model its own text with the surrogates.

    Args:
        shared: State of the conversation.
        exchange: State of the current request and its reply.
        calls: Counter of the strings that the model itself wrote into tool calls.
    """

    def __init__(self, shared: ConversationState, exchange: ExchangeState, calls: ToolCallCounter) -> None:
        self._shared, self._exchange, self._calls = shared, exchange, calls

    def store_restored(self, restored: Any, written: Any, pairs: list[SurrogatePair]) -> None:
        """Store which surrogates (replacements) restoring has replaced by originals in a part of the reply.

        The part is a text, a value, or an item with a signature of the provider.

        Args:
            restored: The item, text or value as the client receives it.
            written: The item, text or value as the model wrote it.
            pairs: The surrogates (replacements) that were found, each with its original.
        """
        if is_signed(written):
            self._shared.signed_items[self._shared.hash_value("signed", restored)] = encode_json(written)
        else:
            self._exchange.restored_values.append((encode_json(written), [*pairs]))

    def record_reply(self, written: Any, restored: Any, *, is_part: bool) -> None:
        """Record a reply, and count the guesses (strings that the model itself wrote) in its tool calls.

        Args:
            written: The reply as the model wrote it.
            restored: The reply as the client receives it.
            is_part: Whether ``written`` and ``restored`` are only one text of a reply, such as the text of a stream. If
                not, they are a whole reply. If two whole replies to the same messages differ, neither of them can be
                sent again as the model wrote it.
        """
        exchange, records = self._exchange, self._shared.reply_records
        values, exchange.restored_values = exchange.restored_values, []
        exchange.reply_pairs += [pair for _, pairs in values for pair in pairs]
        for unit, restored_unit in zip(split_reply(written), split_reply(restored), strict=True):
            if is_response_item(unit) and exchange.reply_fields:
                exchange.unit_place, exchange.reply_fields = exchange.next_place, {}
                exchange.reply_pairs = [pair for _, pairs in values for pair in pairs]
            model_fields, restored_fields = [*iterate_model_fields(unit)], [*iterate_model_fields(restored_unit)]
            if len(model_fields) != len(restored_fields):  # only if restoring left a text empty
                continue
            fields: RecordedFields = {}
            for (field_class, text), (_, value) in zip(model_fields, restored_fields, strict=True):
                entry = records.hash_value(field_class, value), encode_json(text)
                fields.setdefault(field_class, []).append(entry)
            is_repeated = not is_part and not fields.keys().isdisjoint(exchange.reply_fields)
            self._calls.count_reply(unit, values)
            if is_repeated and any(fields[name] != exchange.reply_fields.get(name) for name in fields):
                records.close_place(exchange.unit_place)
            if is_repeated or not fields:
                continue
            for field_class, entries in fields.items():
                exchange.reply_fields.setdefault(field_class, []).extend(entries)
            records.add_message(
                exchange.unit_place,
                {**exchange.reply_fields},
                [*exchange.reply_pairs],
                reply_start=exchange.reply_start,
                owner=exchange.reply_owner,
            )
            exchange.next_place = records.advance_place(
                exchange.unit_place, build_message(exchange.reply_fields), by_model=True
            )
