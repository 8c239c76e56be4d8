"""Counter of the strings that a model writes into tool calls.

A model can guess a hidden word, write it into a tool call, and compare the result. Each such string may be a guess.
"""

from collections.abc import Collection, Iterable
from typing import Any

from textveil.conversation.exchange_state import ConversationState, ExchangeState
from textveil.conversation.masks import is_function_word
from textveil.conversation.message_rewriter import encode_json
from textveil.conversation.model_strings import find_hidden_strings, find_name_strings, list_model_words
from textveil.conversation.reply_records import iterate_calls
from textveil.text.inflections import SurrogatePair
from textveil.text.names.read import NamesReader
from textveil.work_steps import check_work


class ToolCallCounter:
    """Counter of the guesses (strings that the model itself wrote) in the tool calls of a request and its reply.

    A model may test whether a guess is a hidden string, if the tool's result repeats the guess (``ToolGuesses``).
    ``ToolGuesses`` stores the counts and the limits. If a custom function rewrites the texts, this object counts
    nothing, because equal strings then do not get equal surrogates (replacements).

    Args:
        shared: State of the conversation.
        exchange: State of the exchange.
    """

    def __init__(self, shared: ConversationState, exchange: ExchangeState) -> None:
        self._shared, self._exchange = shared, exchange

    def count_reply(self, message: Any, restored_values: list[tuple[str, list[SurrogatePair]]]) -> None:
        """Count the guesses (strings that the model itself wrote) in the tool calls of a message of a reply.

        Surrogates that the device replaced by originals are not guesses.

        Args:
            message: The message as the model wrote it.
            restored_values: The parts of the message in which originals were restored: the JSON of each part as the
                model wrote it, and the surrogates (replacements) in the part, each with its original.
        """
        shared = self._shared
        if shared.custom_rewrite:
            return
        reader, pairs_by_value = shared.plan.make_reader(), dict[str, list[SurrogatePair]]()
        for encoded, pairs in restored_values:
            pairs_by_value.setdefault(encoded, []).extend(pairs)
        for call_id, name, value in iterate_calls(message):
            check_work()
            self._exchange.counted_calls.add(self._hash_call(call_id, value))
            restored = list(dict.fromkeys(pairs_by_value.get(encode_json(value), ())))
            hidden = [*self._find_hidden_strings(value, reader, restored), *self._find_name_strings(name)]
            model_words = [] if not restored else list_model_words(value, restored)
            model_words = [word for word in model_words if not is_function_word(word, shared.plan)]
            call = shared.hash_strings("call", call_id)
            shared.tool_guesses.add_strings(call, self._hash_all(hidden), restored, model_words)

    def count_call(self, call_id: str, arguments: Any) -> None:
        """Count the strings in the arguments of a tool call that may be guesses of hidden words.

        ``find_hidden_strings`` defines which strings of the model count. A call that this exchange (request and reply)
        has already counted adds nothing. Nothing counts in a conversation with a custom function that rewrites the
        texts.

        Args:
            call_id: The identifier of the call, as the model's provider sent it.
            arguments: The arguments, as a value or as JSON text.
        """
        shared = self._shared
        call_id = str(shared.call_ids.replace(call_id))
        call_hash = self._hash_call(call_id, arguments)
        if shared.custom_rewrite is None and call_hash not in self._exchange.counted_calls:
            self._exchange.counted_calls.add(call_hash)
            strings = self._find_hidden_strings(arguments, shared.plan.make_reader(), ())
            shared.tool_guesses.add_strings(shared.hash_strings("call", call_id), self._hash_all(strings))

    def count_call_name(self, call_id: str, name: str) -> None:
        """Count the guesses in the tool name of a call, unless the user declared a tool of this name.

        A guess is a string that the model itself wrote into the call.
        """
        shared = self._shared
        if shared.custom_rewrite is None and name not in self._exchange.tool_names:
            call = shared.hash_strings("call", str(shared.call_ids.replace(call_id)))
            shared.tool_guesses.add_name_strings(call, self._hash_all(self._find_name_strings(name)))

    def count_resent_call(self, call_id: str, name: str, value: Any, reader: NamesReader) -> None:
        """Count the guesses in a call of a message that the client sends again, if no recorded reply has this message.

        A guess is a string that the model itself wrote into the call.

        Args:
            call_id: The identifier of the call.
            name: The name of the tool.
            value: The arguments of the call.
            reader: Finder of the words to hide in texts.
        """
        shared = self._shared
        call, text = shared.hash_strings("call", call_id), encode_json([name, value])
        count = len(self._find_hidden_strings(value, reader, ())) + len(self._find_name_strings(name))
        strings = (shared.hash_strings("own", call, text, f"{number}") for number in range(count))
        shared.tool_guesses.add_strings(call, strings)

    def _find_hidden_strings(self, value: Any, reader: NamesReader, restored: Collection[SurrogatePair]) -> list[str]:
        shared = self._shared
        max_count = shared.tool_guesses.limits[1] + 1
        return find_hidden_strings(value, reader, shared.plan, restored, shared.field_names.is_field, max_count)

    def _find_name_strings(self, name: str) -> list[str]:
        if name in self._exchange.tool_names:
            return []
        plan = self._shared.plan
        return find_name_strings(name, plan.make_reader(), plan, self._shared.field_names.is_field)

    def _hash_call(self, call_id: str, arguments: Any) -> str:
        return self._shared.hash_strings("counted", call_id, self._shared.reply_records.hash_value("call", arguments))

    def _hash_all(self, strings: Iterable[str]) -> Iterable[str]:
        return (self._shared.hash_strings("string", text) for text in strings)
