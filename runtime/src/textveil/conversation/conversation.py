"""Conversations with a language model: hide names and numbers in messages, and put them back into replies."""

import warnings
from collections.abc import Callable, Collection, Iterable
from functools import cache, partial
from typing import Any

from textveil.arguments import check_string, suggest_choice
from textveil.conversation.async_methods import AsyncMethods
from textveil.conversation.exchange_state import ConversationState, ExchangeHistory, ExchangeState
from textveil.conversation.message_preparer import MessagePreparer
from textveil.conversation.reply_recorder import ReplyRecorder
from textveil.conversation.reply_restorer import RecordedReplyStream, ReplyRestorer, RestoredReply
from textveil.conversation.reply_roles import claim_reply
from textveil.conversation.reply_view import ReplyView
from textveil.conversation.saved_conversation import SavedConversation
from textveil.conversation.text_rewriter import ConversationTextRewriter
from textveil.conversation.tool_call_counter import ToolCallCounter
from textveil.conversation.tool_guesses import MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION
from textveil.errors import InputError, LanguageWarning, OptionError
from textveil.text.inflections import SurrogatePair
from textveil.text.kept_words import KeptWords
from textveil.text.options import Options
from textveil.text.restore_policy import RestorePolicy
from textveil.text.sanitizer import Sanitizer

_OPTIONS = frozenset("protect consistent consistent_cap style facts keep tag drop allow deny patterns known".split())
_ARGUMENTS = ("pass_through", "restore_tools", "restore_places", "restore_hosts", "rewrite", "tool_guesses")
CONVERSATION_DEFAULTS = {"protect": "names", "style": "tag", "facts": "useful"}  # models copy tags exactly


class Conversation(SavedConversation, AsyncMethods):
    """A conversation with a language model in which names and numbers are hidden before messages leave the device.

    Each hidden string is replaced by a surrogate, such as ``[person 1]``. In all messages of the conversation, equal
    strings get equal surrogates. In replies of the model, the surrogates are replaced by the hidden strings again.
    Several threads may use the conversation, each with an exchange (one request and its reply) of its own
    (``start_exchange``). Methods that begin with *a*, such as ``aoutgoing``, are for ``asyncio``. The ``repr`` of a
    conversation contains no text. A conversation cannot be pickled.

    >>> from textveil import Conversation
    >>> conversation = Conversation()
    >>> sent = conversation.outgoing([{"role": "user", "content": "Please call Anna Novak about order 88213."}])
    >>> any(word in sent[0]["content"] for word in ("Anna", "Novak", "88213"))
    False
    >>> answer = sent[0]["content"].replace("Please call", "I called")  # here the model quotes its message
    >>> conversation.incoming(answer).reply
    'I called Anna Novak about order 88213.'

    Args:
        sanitizer: Rewrites texts; the built-in English bundle (data folder) by default.
        pass_through: Items that are sent unchanged and unprotected: types of message parts, such as ``image_url``;
            roles, such as ``system``; and ``keys``, for all JSON keys (otherwise only keys such as ``order_id``, whose
            words are all common, are sent unchanged).
        restore_tools: Names of tools. In replies, originals are restored in the arguments of these tools. The arguments
            of other tools keep their surrogates, so that the model cannot make a tool send an original somewhere.
        restore_places: Parts of replies, besides running text, in which originals are restored: any of ``code``,
            ``json`` and ``math``; or ``all``, for replies that no client displays or fetches.
        restore_hosts: Names of hosts. Originals are also restored in links to these hosts.
        rewrite: Function that rewrites each text independently, in place of the mode ``names``; for example one that
            spends epsilon from a ledger. With this argument, nothing is restored, and ``options`` have no effect on the
            function. A message is sent again in its earlier form only if it follows the same messages in the exchange
            as before. For all other texts, the function is called again, even if they equal an earlier text.
        tool_guesses: Limits on guesses, as two integers. A guess is a string that the model itself writes into the
            arguments of a tool call; if the result repeats the guess, the model can test whether the guess equals a
            hidden string. The first limit is for one call, the second for all calls of the conversation. Results of
            calls above a limit, and of unknown calls, get new surrogates that are never restored. There is no error.
        options: Options of ``Sanitizer.sanitize`` for the mode ``names``: ``style`` (``"tag"`` by default), ``facts``
            (``"useful"`` by default), ``keep``, ``tag``, ``drop``, ``allow``, ``deny``, ``patterns``, ``known`` and
            ``consistent_cap``, which limits the number of hidden strings of the whole conversation. With
            ``consistent=False``, equal strings get equal surrogates only within a message, a message that is sent again
            stays equal only at the same position, and ``tool_guesses`` are 0.

    Raises:
        OptionError: An option or its value is not supported, such as another mode.

    Privacy:
        For the privacy guarantee, all messages of a conversation are one document. The model's provider learns the
        parts of the messages that are not hidden, the types of the hidden strings, and which of these strings are equal
        (docs/proofs/names.md). The object contains all data that undo the protection.

        A model can test guesses: if a guess gets into a message of the user, or into a tool result, the provider learns
        whether the guess equals one of the hidden strings. Messages with the role of the model never reveal this. Tool
        results allow as many tests as ``tool_guesses`` permits.
    """

    def __init__(
        self,
        sanitizer: Sanitizer | None = None,
        *,
        pass_through: Collection[str] = (),
        restore_tools: Collection[str] = (),
        restore_places: Collection[str] | str = (),
        restore_hosts: Collection[str] = (),
        rewrite: Callable[[str], str] | None = None,
        tool_guesses: tuple[int, int] = (MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION),
        **options: Any,
    ) -> None:
        for value, name in ((pass_through, "pass_through"), (restore_tools, "restore_tools")):
            if isinstance(value, str) or not all(isinstance(entry, str) for entry in value):
                raise OptionError(f"{name} must be a collection of names, such as a list")
        options = CONVERSATION_DEFAULTS | {name: value for name, value in options.items() if value is not None}
        for name in options.keys() - Options.__annotations__.keys():
            if suggestion := suggest_choice(name, (*sorted(_OPTIONS), *_ARGUMENTS)):
                raise OptionError(f"unknown option: {suggestion}")
        is_names_mode = options["protect"] == "names" and options.get("consistent", True) in (True, False)
        if not is_names_mode or not set(options) <= _OPTIONS:
            raise OptionError(
                f'a conversation supports only protect="names" and the options {", ".join(sorted(_OPTIONS))}; for the '
                "modes words and all, and for other options, rewrite each message separately with Sanitizer or Ledger"
            )
        self._set_state(
            ConversationState(
                Sanitizer.load() if sanitizer is None else sanitizer,
                options,
                pass_through=pass_through,
                restore_tools=restore_tools,
                restore_policy=RestorePolicy.parse(restore_places, restore_hosts),
                custom_rewrite=rewrite,
                tool_guesses=tool_guesses,
            )
        )

    def _set_state(self, shared: ConversationState, exchange: ExchangeState | None = None) -> None:
        """Set the state of the conversation, and of one exchange (a request and its reply).

        Args:
            shared: State of the conversation.
            exchange: State of the exchange. By default, a new state for all messages of the conversation.
        """
        exchange = ExchangeState(None, None, shared.restore_tools) if exchange is None else exchange
        self._shared, self._exchange = shared, exchange
        self._texts = ConversationTextRewriter(shared, exchange)
        self._calls = ToolCallCounter(shared, exchange)
        self._messages = MessagePreparer(shared, exchange, self._texts, self._calls)
        self._recorder = ReplyRecorder(shared, exchange, self._calls)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce__(self) -> Any:
        raise TypeError("a conversation cannot be pickled: use save, which encrypts it")

    def is_field_name(self, key: str) -> bool:
        """Return whether a JSON key consists of common words or words of published APIs, such as ``order_id``.

        A key for which the result is true is not private: it is sent unchanged, and error messages may contain it.
        """
        return bool(self._shared.field_names.find_fields([key]))

    def start_exchange(self, after: "ExchangeHistory | None" = None) -> "Conversation":
        """Return a view of this conversation for one exchange (one request to the model and its reply).

        Messages that are sent through the view contain surrogates (replacements of hidden strings). In the reply, the
        view puts the hidden strings back only for these surrogates, not for other surrogates of the conversation.

        Args:
            after: ``history`` of an earlier exchange. Pass it if the new request continues the earlier exchange without
                sending its messages again, because the provider stores them.
        """
        with self._shared.lock:
            exchange = object.__new__(type(self))
            exchange._set_state(self._shared, ExchangeState.continue_history(after, self._exchange.tool_names))
            return exchange

    def free_memory(self) -> None:
        """Free the memory of this object, a conversation or one exchange (``start_exchange``), in small steps.

        Without this call, Python frees a large conversation in one step, during which no other thread runs. A server
        may call this method in a thread. The object cannot be used afterward.

        >>> from textveil import Conversation
        >>> conversation = Conversation()
        >>> exchange = conversation.start_exchange()
        >>> sent = exchange.outgoing_text("Anna Novak called.")
        >>> exchange.free_memory()
        >>> conversation.incoming(sent).reply  # an exchange frees no state of its conversation
        'Anna Novak called.'
        """
        self._exchange.free_memory()  # without the lock, for which other exchanges may wait
        if self._exchange.tags is None:
            self._shared.free_memory()

    @property
    def sanitizer(self) -> Sanitizer:
        """Sanitizer that rewrites the texts of the conversation. Its word lists determine the language."""
        return self._shared.sanitizer

    @property
    def facts(self) -> str:
        """Value of the option ``facts`` of the conversation: which numbers and dates are sent unchanged."""
        return self._shared.plan.facts_level

    @property
    def kept_words(self) -> KeptWords:
        """Counts of unchanged and of replaced words in the sent texts. Names and numbers do not count.

        There are three counts: words that were left unchanged, replaced words that are on no word list, and unchanged
        words of other languages.

        An exchange (see ``start_exchange``) counts only texts that no earlier exchange sent. The counts depend only on
        the sent texts.
        """
        return self._exchange.kept_words

    @property
    def language_words(self) -> KeptWords:
        """Counts of words (see ``kept_words``) that show whether texts may be in another language than the word lists.

        Each message of the user and each text is checked separately. The counts include only messages and texts that
        may be in another language, so a long system prompt in English does not outweigh them. If no message or text may
        be in another language, the result is ``kept_words``.

        >>> from textveil import Conversation
        >>> Conversation().language_words.may_be_foreign
        False
        """
        return self._exchange.foreign_words if any(self._exchange.foreign_words) else self.kept_words

    @property
    def unshared_results(self) -> int:
        """Number of tool results whose surrogates (replacements of hidden words) are new and are never restored.

        A tool result gets such surrogates if its call exceeded the limits ``tool_guesses``, or if the guesses in the
        call are unknown.
        """
        return self._exchange.unshared_results

    @property
    def history(self) -> "ExchangeHistory":
        """Record of the messages of this exchange (request and reply), or of all messages of the conversation.

        If this object is an exchange (``start_exchange``), the record includes the earlier exchange that it continues.
        Pass the record to ``start_exchange``.
        """
        with self._shared.lock:
            return self._exchange.make_history(self._shared)

    def outgoing(self, messages: list[Any]) -> list[Any]:
        """Rewrite messages before they are sent to the model.

        The messages have the format of OpenAI's chat or responses API, or of Anthropic's messages API. Every text of a
        person or a tool is rewritten. JSON in the arguments and results of tools is rewritten value by value: a number
        becomes another number of the same type, or a string such as ``"[number 1]"``, which is restored as a number.
        Names of fields, roles, identifiers, names of tools, true, false and null are sent unchanged.

        A message of the model is sent as the model wrote it, byte for byte, if the messages before it are the same as
        when the message arrived. In any other message with the role of the model, each hidden word gets a new surrogate
        (replacement), which is never restored. A message that was sent before is sent again in its earlier rewritten
        form (except with the option ``rewrite``).

        Args:
            messages: The messages, as dictionaries: all messages so far, or only the new ones.

        Returns:
            The messages to send, in the same format.

        Raises:
            InputError: A message has an unknown format, field or type, or cannot be rewritten. Nothing was rewritten.
        """
        with self._shared.lock:
            prepared = self._messages.prepare_messages(messages)
        self._warn_about_language()
        return prepared

    def outgoing_text(self, text: str, entity_type: str | None = None) -> str:
        """Rewrite a text before it is sent to the model; equal texts give equal results.

        With the options ``rewrite`` or ``consistent=False``, equal texts can give different results: each call then
        samples new surrogates (replacements).

        >>> from textveil import Conversation
        >>> conversation = Conversation()
        >>> text = conversation.outgoing_text("Anna Novak called.")
        >>> text == conversation.outgoing_text("Anna Novak called.")
        True

        Args:
            text: The text.
            entity_type: Entity type of the whole text, for callers with their own detector of names: ``person``,
                ``city``, ``organization``, ``group`` or ``word``. The whole text is then replaced as one entity, even
                if the text would otherwise be sent unchanged.

        Raises:
            InputError: The text is not a string.
            OptionError: The entity type is not supported.
        """
        check_string(text)
        with self._shared.lock:
            prepared = self._messages.prepare_text(text, entity_type)
        self._warn_about_language()
        return prepared

    def _warn_about_language(self) -> None:
        """Issue a ``LanguageWarning``, once for the conversation, if its texts may be in another language."""
        shared, words = self._shared, self.language_words
        if words.may_be_foreign and not shared.has_warned_about_language:
            shared.has_warned_about_language = True
            option = "Sanitizer.load(language=...)"
            hint = words.describe_language(is_english=shared.sanitizer.bundle.is_builtin, option=option)
            warnings.warn(f"textveil: {hint}", LanguageWarning, stacklevel=3)

    def outgoing_unlinked(self, text: str) -> str:
        """Rewrite a text that the model wrote and someone changed, such as a file, before it is sent.

        All numbers and words are hidden, except common words in lower case. The option ``keep`` has no effect. Each
        hidden word gets a new surrogate (replacement), even if two words are equal. These surrogates are never
        restored. With the option ``rewrite``, the function of this option rewrites the text instead.

        Raises:
            InputError: The text is not a string.
        """
        check_string(text)
        with self._shared.lock:
            if self._shared.custom_rewrite:
                return self._shared.custom_rewrite(text)
            return self._texts.rewrite_unlinked(text, self._shared.plan.make_reader())

    def prepare_reply(self) -> None:
        """Build the index that finds surrogates (replacements of hidden strings) in the next reply.

        Call this while waiting for the reply, to save time. Without this call, ``incoming`` or ``stream`` builds the
        index when the first reply arrives.

        >>> from textveil import Conversation
        >>> conversation = Conversation()
        >>> sent = conversation.outgoing_text("Anna Novak called.")
        >>> conversation.prepare_reply()
        >>> conversation.incoming(sent).reply
        'Anna Novak called.'
        """
        with self._shared.lock:
            _ = self._exchange.get_restorer(self._shared).index

    def incoming(self, reply: Any, *, record: bool = True, other_parts: Any = None) -> RestoredReply:
        """Return a reply of the model in which original strings replace their surrogates (replacements) again.

        Args:
            reply: A text; a message, as a dictionary; or a list of parts or items. Unknown fields are not changed.
            record: Whether ``reply`` is the whole reply to the last messages. If not, call ``record_reply`` with the
                whole reply. Only a recorded reply can be sent again as the model wrote it. If two different replies to
                the same messages are recorded, neither of them can be sent again as the model wrote it.
            other_parts: Other parts of the reply that a client may display before ``reply``. These parts are not
                changed. If they may begin a link that ``reply`` continues, nothing is restored in that link.

        Raises:
            InputError: The reply has an unknown format.

        Privacy:
            This method sends nothing. In the arguments of tools that are not in ``restore_tools``, surrogates are not
            replaced.
        """
        with self._shared.lock:
            try:
                reply = self.claim_reply(reply)
                shared, exchange = self._shared, self._exchange
                restorer = ReplyRestorer(
                    exchange.get_restorer(shared),
                    self._recorder.store_restored,
                    shared.restore_tools,
                    shared.restore_policy,
                    cache(partial(exchange.find_sent_numbers, shared)),
                )
                result = restorer.restore(reply, other_parts)
            except RecursionError:
                raise InputError("the reply is nested too deeply") from None
            if record:
                self.record_reply(reply, result.reply)
            return result

    def stream(self, *, record: bool = True) -> RecordedReplyStream:
        """Return an object that puts originals back into one text of a reply while the text arrives in parts.

        Args:
            record: Whether the text is a part of the reply to the last messages; see ``incoming``.

        See ``RecordedReplyStream`` for an example.
        """
        shared, exchange = self._shared, self._exchange

        def record_text(restored: Any, written: Any, pairs: list[SurrogatePair]) -> None:
            with shared.lock:
                self._recorder.store_restored(restored, written, pairs)
                if record:
                    self._recorder.record_reply(written, restored, is_part=True)

        with shared.lock:
            return RecordedReplyStream(
                exchange.get_restorer(shared).index,
                record_text,
                shared.restore_policy,
                cache(partial(exchange.find_sent_numbers, shared)),
            )

    def make_reply_view(self) -> ReplyView:
        """Return an object that tracks which texts of one reply a client may display together.

        Markup in one text, such as an unfinished link, can affect the next text (see ``ReplyView``).
        """
        return ReplyView(self._shared.restore_policy)

    def record_reply(self, written: Any, restored: Any) -> None:
        """Record a reply to the last messages, so that it can be sent again as the model wrote it.

        If several different replies to the same messages are recorded, such as alternative answers, none of them can be
        sent again as the model wrote it. The hidden words of such a reply then get new surrogates (replacements).

        Args:
            written: The reply as the model wrote it.
            restored: The reply as the client gets it.
        """
        with self._shared.lock:
            self._recorder.record_reply(written, restored, is_part=False)

    def count_call(self, call: str, arguments: Any) -> None:
        """Count the strings that the model itself wrote into a tool call, if ``record_reply`` did not get the call.

        Each such string is a guess with which the model may test whether the string is private. The option
        ``tool_guesses`` limits the number of guesses.

        Args:
            call: The identifier of the call.
            arguments: The arguments as the model wrote them: a value, or the JSON text of a value.
        """
        with self._shared.lock:
            self._calls.count_call(call, arguments)

    def count_call_name(self, call: str, name: str) -> None:
        """Count the strings that the model wrote as the tool's name in a call, unless the tool was declared.

        Each such string is a guess with which the model may test whether the string is private (option
        ``tool_guesses``). ``declare_tools`` declares tools.

        Args:
            call: The identifier of the call.
            name: The name, as the model wrote it.
        """
        with self._shared.lock:
            self._calls.count_call_name(call, name)

    def declare_tools(self, names: Iterable[str]) -> None:
        """Declare the tools that exist, so that their names in calls do not count as guesses.

        Any other tool name in a call counts against ``tool_guesses``, like the arguments of calls: a client may answer
        "no tool X", and this answer could reveal to the model whether X is a private string. A declaration in an
        exchange (``start_exchange``) is valid only for the reply of that exchange.
        """
        with self._shared.lock:
            self._exchange.tool_names = self._exchange.tool_names.union(names)

    def are_equal_arguments(self, one: Any, other: Any) -> bool:
        """Return whether two arguments of a tool call have the same value.

        Each argument is a value, or the JSON text of a value.
        """
        records = self._shared.reply_records
        return records.hash_value("call", one) == records.hash_value("call", other)

    def claim_reply(self, reply: Any) -> Any:
        """Return a copy of a reply, or of one event of a streamed reply, in which every role is the model's.

        Without this change of roles, the model's provider could return messages that look like messages of the user. If
        the reply contains the result of a tool call, the model wrote that result itself. Later results of the same call
        are then rewritten with new surrogates (replacements), which are never restored.

        Raises:
            InputError: The reply has an item of an unknown type.
        """
        with self._shared.lock:
            shared = self._shared
            replacers = () if shared.custom_rewrite else (shared.call_ids.replace,)
            return claim_reply(
                reply, lambda call: shared.tool_guesses.exclude_result(shared.hash_strings("call", call)), *replacers
            )

    def exclude_tool_results(self) -> None:
        """Rewrite all later tool results with new surrogates (replacements of hidden words), which are never restored.

        Call this method if ``count_call`` could not be called for a tool call.
        """
        with self._shared.lock:
            self._shared.tool_guesses.exclude_all_results()
