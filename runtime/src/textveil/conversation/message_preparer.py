"""Rewriting of messages to a model before they are sent, depending on the sender and position of each message.

A message that was sent before is sent again unchanged. A message with the role of the model is sent as the model wrote
it if an equal reply was recorded at its position in the conversation; otherwise its hidden words get new surrogates
(replacements), which are never restored. A tool result gets the surrogates of the conversation only if its tool call
has few guesses (strings that the model itself wrote).
"""

from collections.abc import Callable, Mapping
from typing import Any

from textveil.conversation.exchange_state import ConversationState, ExchangeState
from textveil.conversation.masks import OriginalMasks
from textveil.conversation.message_rewriter import (
    MessageRewriter,
    classify_sender,
    encode_json,
    encode_sorted_json,
    list_result_call_ids,
)
from textveil.conversation.reply_records import ConversationPlace, iterate_calls, iterate_model_fields
from textveil.conversation.text_rewriter import ConversationTextRewriter
from textveil.conversation.tool_call_counter import ToolCallCounter
from textveil.errors import InputError, OptionError
from textveil.text.names.entity_types import ASSIGNABLE_TYPES
from textveil.text.names.read import NamesReader
from textveil.work_steps import decode_json


class MessagePreparer:
    """Component that rewrites the messages and texts of an exchange (a request and its reply) before they are sent.

    Args:
        shared: State of the conversation.
        exchange: State of the exchange.
        texts: Component that rewrites texts.
        calls: Counter of the strings that the model wrote into calls.
    """

    def __init__(
        self,
        shared: ConversationState,
        exchange: ExchangeState,
        texts: ConversationTextRewriter,
        calls: ToolCallCounter,
    ) -> None:
        self._shared, self._exchange, self._texts, self._calls = shared, exchange, texts, calls

    def prepare_messages(self, messages: list[Any]) -> list[Any]:
        """Rewrite messages before they are sent; see ``Conversation.outgoing``.

        Raises:
            InputError: A message cannot be rewritten. Nothing was rewritten.
        """
        tags = self._check_messages(messages)
        shared = self._shared
        reader = NamesReader(shared.plan.reading_rules)  # for one call: its cache is larger than the text
        senders = [classify_sender(message, shared.pass_through) for message in messages]
        place, prepared, is_run = self._find_start(messages, senders, tags, reader), [], False
        runs, other_count = _measure_model_runs(messages, senders), 0
        for message, sender, message_tag, run in zip(messages, senders, tags, runs, strict=True):
            if sender == "model":
                is_run = shared.reply_records.covers_whole_replies(place, run) if run else is_run
                sent = self._prepare_model_message(message, place, message_tag, reader, is_compared=is_run)
            elif sender == "tool" and not shared.custom_rewrite:
                files = reader.without_corrections()  # a tool that edits a file needs the file's own spelling
                sent = self._prepare_tool_results(message, place, self._make_resend_tag(place, message_tag), files)
            else:
                other_count += sender == "other"
                resend_tag = self._make_resend_tag(place, message_tag, other_count * (sender == "other"))
                sent = self._prepare_other_message(message, resend_tag, reader)
            prepared.append(sent)
            if sender != "other":
                other_count = 0
                place = shared.reply_records.advance_place(place, sent, by_model=sender == "model")
        self._exchange.expect_reply(place)
        return prepared

    def prepare_text(self, text: str, entity_type: str | None) -> str:
        """Rewrite a text before it is sent; see ``Conversation.outgoing_text``.

        Raises:
            OptionError: The entity type is not supported.
        """
        shared = self._shared
        if shared.custom_rewrite and entity_type is None:
            return shared.custom_rewrite(text)
        # With consistent=False, even equal texts get independent surrogates.
        number = 0 if shared.plan.style.consistent else len(shared.sent_messages) + 1
        if entity_type is None or not text.strip():
            message_tag = shared.hash_value("message", [number, text] if number else text)
            words = self._exchange.kept_words
            written = self._rewrite_once(message_tag, text, self._texts.make_linked_function())
            self._texts.note_foreign_words(words)
            return decode_json(written)
        if entity_type not in ASSIGNABLE_TYPES:
            raise OptionError(f"entity_type must be one of {', '.join(sorted(ASSIGNABLE_TYPES))}")
        message_tag = shared.hash_value("message", [entity_type, text, *([number] * bool(number))])
        written = self._rewrite_once(message_tag, text, lambda text: self._texts.rewrite_entity(entity_type, text))
        return decode_json(written)

    def _check_messages(self, messages: list[Any]) -> list[str]:
        """Check the format of all messages without rewriting them, and return a tag (keyed hash) of each message."""
        if not isinstance(messages, list):
            raise InputError("messages must be a list of dictionaries")
        shared = self._shared
        checker = self._texts.make_rewriter(lambda text: text, find_model_value=self._accept_restored_arguments)
        tags: list[str] = []
        # With a custom function, samples must not depend on whether texts are equal.
        previous: Any = [*(self._exchange.tags or ())]
        for number, message in enumerate(messages, 1):
            try:
                previous = shared.hash_value("message", [previous, message] if shared.custom_rewrite else message)
                tags.append(previous)
                if previous not in shared.sent_messages:  # otherwise the message has passed the check before
                    checker.rewrite_item(message)
            except (InputError, RecursionError) as error:
                reason = error if isinstance(error, InputError) else "it is nested too deeply"
                raise InputError(f"message {number} of {len(messages)}: {reason}") from None
        return tags

    def _accept_restored_arguments(self, field_class: str, value: Any) -> Any:
        """Return the arguments of a tool call if restoring a reply produced exactly these arguments, else ``None``.

        The caller need not check the format of such arguments, because the client only sends back what it received. The
        result must have no other effect: whether the arguments are sent with surrogates (replacements) depends only on
        the position of the message.
        """
        return value if field_class == "call" and self._shared.reply_records.has_call(value) else None

    def _find_start(
        self, messages: list[Any], senders: list[str], tags: list[str], reader: NamesReader
    ) -> ConversationPlace:
        """Return the position in the conversation at which a list of messages begins.

        For an exchange (``start_exchange``), the position was determined at its start. For all messages of a
        conversation, the first case that applies gives the position:

        1. Nothing was sent yet, or the first message of a user is the one with which the conversation began: the start
           of the conversation.
        2. The list begins with a message of the model: the start of the last reply.
        3. All other lists: the end of the conversation.
        """
        shared, exchange = self._shared, self._exchange
        if exchange.tags is not None:
            return exchange.origin
        first = next((number for number, sender in enumerate(senders) if sender in ("user", "tool")), None)
        begin_hash = None
        if first is not None and senders[first] == "user":
            resend_tag = self._make_resend_tag(ConversationPlace(), tags[first])
            sent = self._prepare_other_message(messages[first], resend_tag, reader)
            encoded = encode_json([senders[:first].count("model"), sent], encode_sorted_json)
            begin_hash = shared.hash_strings("begin", encoded)
        is_model_first = next((sender for sender in senders if sender != "other"), "") == "model"
        is_first = not shared.begin_hashes
        if is_first:
            shared.begin_hashes.add(begin_hash or "")
        if is_first or begin_hash in shared.begin_hashes:
            return ConversationPlace()
        return exchange.reply_start if is_model_first else exchange.next_place

    def _make_resend_tag(self, place: ConversationPlace, message_tag: str, number: int = 0) -> str:
        """Return the tag (keyed hash) under which a sent message is stored, so that it can be sent again unchanged.

        With the option ``consistent=False``, the tag also depends on ``place`` and ``number``.

        Args:
            place: Position of the message in the conversation.
            message_tag: Keyed hash of the message.
            number: For a message to which the model does not reply, such as a system message: number of such messages
                since ``place``. 0 for all other messages.
        """
        if self._shared.custom_rewrite or self._shared.plan.style.consistent:
            return message_tag
        return self._shared.hash_strings("alone", place.chain, message_tag, f"{number}")

    def _prepare_other_message(self, message: Any, message_tag: str, reader: NamesReader) -> Any:
        rewriter = self._texts.make_linked_rewriter(reader, model_rewriter=self._texts.make_unlinked_rewriter(reader))
        words = self._exchange.kept_words
        written = self._rewrite_once(message_tag, message, rewriter.rewrite_item)
        if classify_sender(message, self._shared.pass_through) == "user":
            self._texts.note_foreign_words(words)
        return decode_json(written)

    def _prepare_model_message(
        self, message: Any, place: ConversationPlace, message_tag: str, reader: NamesReader, *, is_compared: bool
    ) -> Any:
        """Return the form in which a message with the role of the model is sent.

        If a recorded reply of the model at this position matches the message, return the reply as the model wrote it.
        Otherwise return the message with new surrogates (replacements of hidden words), which are never restored.

        Args:
            message: The message.
            place: Position of the message in the conversation.
            message_tag: Tag (keyed hash) of the message.
            reader: Finder of the words to hide in texts.
            is_compared: Whether to compare the message with a recorded reply.
        """
        shared = self._shared
        record = shared.reply_records.find_reply(place, message, is_compared=is_compared)
        if not shared.custom_rewrite and "call" not in record.model_values:
            for call_id, name, value in iterate_calls(message):
                self._calls.count_resent_call(call_id, name, value, reader)
        queues = {field_class: iter(values) for field_class, values in record.model_values.items()}

        def take_model_value(field_class: str, value: Any) -> Any:
            if isinstance(value, str) and field_class != "call" and not value.strip():
                return value
            return next(queues.get(field_class, iter(())), None)

        rewriter = self._texts.make_unlinked_rewriter(reader, find_model_value=take_model_value)
        if self._exchange.tags is not None and record.model_values:
            self._exchange.tags[record.key] = None
        if record.is_whole and not (isinstance(message, Mapping) and message.get("name")):
            return decode_json(encode_json(rewriter.rewrite_item(message)))
        if shared.custom_rewrite:
            return decode_json(self._rewrite_once(message_tag, message, rewriter.rewrite_item))
        resend_tag = shared.hash_value("own", [record.key, sorted(record.model_values), message])
        if not record.is_open or resend_tag not in shared.unlinked_messages:
            written = encode_json(rewriter.rewrite_item(message))
            if not record.is_open:
                return decode_json(written)
            shared.store_unlinked(resend_tag, written)
        return decode_json(shared.unlinked_messages[resend_tag])

    def _prepare_tool_results(
        self, message: Any, place: ConversationPlace, message_tag: str, reader: NamesReader
    ) -> Any:
        """Rewrite a message that contains tool results.

        A guess is a string that the model itself wrote into the tool call. If the number of guesses in the call does
        not exceed the limit, the result gets the surrogates (replacements) of the conversation. Otherwise the result
        gets new surrogates, which are never restored.
        """
        shared, exchange, guesses = self._shared, self._exchange, self._shared.tool_guesses
        calls = [shared.hash_strings("call", call_id) for call_id in list_result_call_ids(message)]
        result_tag = shared.hash_strings("result", place.chain, message_tag)
        if result_tag not in shared.shared_results:
            shared.shared_results[result_tag] = guesses.may_share_mapping(calls)
        is_shared = shared.shared_results[result_tag]
        if not is_shared:
            exchange.unshared_results += 1
            if result_tag in shared.unlinked_messages:
                return decode_json(shared.unlinked_messages[result_tag])

        def make_result_rewriter(call_id: str) -> MessageRewriter:
            call = shared.hash_strings("call", call_id)
            pairs = guesses.list_restored_pairs([call])
            if is_shared or guesses.may_share_mapping([call]):
                return self._texts.make_linked_rewriter(reader, OriginalMasks(pairs, shared.plan))
            model_words = guesses.list_model_words([call]) if guesses.hides_model_words([call]) else []
            masks = OriginalMasks(pairs, shared.plan, model_words, is_linked=False)
            return self._texts.make_unlinked_rewriter(reader, masks)

        rewriter = self._texts.make_linked_rewriter(
            reader,
            model_rewriter=self._texts.make_unlinked_rewriter(reader),
            make_result_rewriter=make_result_rewriter,
        )
        if is_shared:
            restored = OriginalMasks(guesses.list_restored_pairs(calls), shared.plan).originals
            message_tag = shared.hash_strings("masked", message_tag, *restored) if restored else message_tag
            return decode_json(self._rewrite_once(message_tag, message, rewriter.rewrite_item))
        if result_tag not in shared.sent_messages:
            self._begin_message()
            written = encode_json(rewriter.rewrite_item(message))
            if not exchange.message_pairs:
                shared.store_unlinked(result_tag, written)
                return decode_json(written)
            shared.sent_messages[result_tag] = written, exchange.message_pairs
        return decode_json(self._rewrite_once(result_tag, message, rewriter.rewrite_item))

    def _rewrite_once(self, message_tag: str, message: Any, rewrite: Callable[[Any], Any]) -> str:
        """Return the rewritten JSON of a message.

        The first call for a message rewrites it with the function ``rewrite`` and stores the JSON. Later calls with the
        same ``message_tag`` (keyed hash of the message) return the stored JSON.
        """
        shared, exchange = self._shared, self._exchange
        if message_tag not in shared.sent_messages:
            self._begin_message()
            shared.sent_messages[message_tag] = encode_json(rewrite(message)), exchange.message_pairs
        if exchange.tags is not None:
            exchange.tags[message_tag] = None
        return shared.sent_messages[message_tag][0]

    def _begin_message(self) -> None:
        self._exchange.message_pairs = []
        if not self._shared.plan.style.consistent:
            self._shared.surrogate_state.forget_strings()


def _measure_model_runs(messages: list[Any], senders: list[str]) -> list[int]:
    """Count the messages of the model that no message of the user or of a tool interrupts.

    Returns:
        For the first message of each such sequence, the length of the sequence; 0 for all other messages.
    """
    runs, first = [0] * len(messages), None
    for number, (message, sender) in enumerate(zip(messages, senders, strict=True)):
        if sender == "model" and next(iterate_model_fields(message), None) is not None:
            first = number if first is None else first
            runs[first] += 1
        elif sender in ("user", "tool"):
            first = None
    return runs
