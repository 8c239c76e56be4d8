"""Components for LangChain: ``SanitizeFirst() | prompt | model``, and ``SanitizeDocuments``.

A tracer of a chain receives the input of every step (*run*) in the chain. ``SanitizeFirst`` is therefore not a run
itself: it sanitizes the text, and then starts the next steps with the sanitized text. Callback handlers, tracers and
LangSmith receive only the sanitized text. If ``SanitizeFirst`` is inside another traced run, the tracer already has the
raw text, so ``SanitizeFirst`` raises ``TracingRefused``.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Unpack

from textveil import Conversation
from textveil.arguments import list_items
from textveil.errors import InputError

from textveil_cli.columns import describe_column_option, list_columns, suggest_column
from textveil_cli.errors import ColumnError, ExtraMissing, TracingRefused
from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer, SanitizerSettings

try:
    from langchain_core.callbacks import BaseCallbackManager
    from langchain_core.documents import BaseDocumentTransformer, Document
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_core.runnables import Runnable, RunnableConfig
    from langchain_core.runnables.base import coerce_to_runnable
    from langchain_core.runnables.config import ensure_config
except ImportError as error:
    raise ExtraMissing.from_extra("langchain", "langchain-core") from error

from textveil_cli.integrations.langchain_messages import (
    ChunkedReplyRestorer,
    find_tool_names,
    restore_reply,
    rewrite_stops,
    sanitize_messages,
)


class SanitizeFirst(Runnable[Any, Any]):
    """Runnable that sanitizes a text, or texts in a dictionary, and runs the next steps of a chain with the result.

    >>> from langchain_core.runnables import RunnableLambda
    >>> from textveil_cli.integrations.langchain import SanitizeFirst
    >>> chain = SanitizeFirst(protect="names", style="tag") | RunnableLambda(str.upper)
    >>> chain.invoke("Please call Anna Novak.")
    'PLEASE CALL [PERSON 1].'

    Args:
        keys: Keys of the input dictionary whose values are texts to sanitize, such as ``["note"]``. Other values stay
            unchanged. Without keys, the input must be a text.
        bundle: Folder of a bundle (word lists and settings); default: the built-in English bundle.
        settings: Requirements on the bundle (see ``SanitizerSettings``), and options of ``Sanitizer.sanitize``.

    Raises:
        BundleError, OptionError: See ``ConfiguredSanitizer``.

    Privacy:
        Each text is one document; see ``Sanitizer.sanitize``. A retry of the whole chain would sample new replacements,
        and two outputs of one text reveal more than one; use ``with_retry`` on the next steps instead.
    """

    def __init__(
        self, bundle: str | Path | None = None, *, keys: Sequence[str] = (), **settings: Unpack[SanitizerSettings]
    ) -> None:
        self.sanitizer = ConfiguredSanitizer(bundle, **settings)
        self.keys = tuple(list_items(keys, "keys"))
        self.next_step: Runnable[Any, Any] | None = None

    def __or__(self, other: Any) -> "SanitizeFirst":  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return a copy of this chain with one more step.

        The copy is a ``SanitizeFirst``, not a ``RunnableSequence``, since a sequence would be a run with the raw text
        as its input.
        """
        longer = object.__new__(type(self))
        longer.sanitizer, longer.keys = self.sanitizer, self.keys
        step = coerce_to_runnable(other)
        longer.next_step = step if self.next_step is None else self.next_step | step
        return longer

    def pipe(self, *others: Any, name: str | None = None) -> "SanitizeFirst":  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return a copy of this chain with more steps at its end, as the operator ``|`` does."""
        longer = self
        for other in others:
            longer = longer | other
        return longer

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Sanitize the input, run the next steps with it, and return the output of the last step.

        If the chain has no next step, the sanitized input is returned.

        Raises:
            TracingRefused: An enclosing run is traced.
            InputError: ``input`` is not a string or, if ``keys`` was given, not a dictionary.
            ColumnError: The dictionary has no string for one of the ``keys``.
        """
        text = self._sanitize_input(input, config)
        return text if self.next_step is None else self.next_step.invoke(text, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Sanitize the input and run the next steps asynchronously, with the arguments of ``invoke``."""
        text = self._sanitize_input(input, config)
        return text if self.next_step is None else await self.next_step.ainvoke(text, config, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Sanitize the input, run the next steps with it, and yield the parts of the output of the last step."""
        text = self._sanitize_input(input, config)
        if self.next_step is None:
            yield text
        else:
            yield from self.next_step.stream(text, config, **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Sanitize the input, run the next steps, and yield parts of the output asynchronously."""
        text = self._sanitize_input(input, config)
        if self.next_step is None:
            yield text
        else:
            async for piece in self.next_step.astream(text, config, **kwargs):
                yield piece

    def batch(self, inputs: list[Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Sanitize several inputs, run the next steps for each input (``invoke``), and return the outputs.

        Raises:
            InputError: ``inputs`` is a dictionary or one string; each character of a string would count as a text.
        """
        return super().batch([*list_items(inputs, "inputs")], *args, **kwargs)

    async def abatch(self, inputs: list[Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Sanitize several inputs asynchronously, run the next steps for each (``invoke``), and return the outputs."""
        return await super().abatch([*list_items(inputs, "inputs")], *args, **kwargs)

    def batch_as_completed(self, inputs: Sequence[Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Call ``invoke`` for each input, and yield pairs (index of the input, output) as soon as they are complete."""
        return super().batch_as_completed(list_items(inputs, "inputs"), *args, **kwargs)

    def abatch_as_completed(self, inputs: Sequence[Any], *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield, asynchronously, pairs (index of the input, output) as soon as each is complete."""
        return super().abatch_as_completed(list_items(inputs, "inputs"), *args, **kwargs)

    def astream_events(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise ``TracingRefused``, since the first event would contain the raw text.

        Raises:
            TracingRefused: Always.
        """
        raise TracingRefused("events contain the raw text: sanitize first, then stream the events of the next steps")

    astream_log = astream_events

    def map(self) -> NoReturn:
        """Raise ``TracingRefused``, since tracers of the mapped runnable would receive the raw texts.

        Raises:
            TracingRefused: Always.
        """
        raise TracingRefused("map would send the raw texts to tracers: use batch")

    def _sanitize_input(self, value: Any, config: RunnableConfig | None) -> Any:
        _refuse_traced(config)
        if not self.keys and isinstance(value, str):
            return self.sanitizer(value)
        if not self.keys or not isinstance(value, Mapping):
            raise InputError(
                'the input must be a text, or with keys=["note"] a dictionary, not a prompt, message or document: '
                "put SanitizeFirst before the prompt"
            )
        for number, key in enumerate(self.keys, 1):
            if not isinstance(value.get(key), str):
                names = [*map(str, value)]
                hint = f" ({listed}){suggest_column(str(key), names)}" if (listed := list_columns(names)) else ""
                option = describe_column_option("key", str(key), number, len(self.keys))
                raise ColumnError(f"{option} has no text in the input{hint}")
        return {**value, **{key: self.sanitizer(value[key]) for key in self.keys}}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.sanitizer!r}>"


class ConversationRunnable(Runnable[Any, Any]):
    """Runnable for a conversation with a model, from which it hides names.

    Names in messages are replaced by surrogates (invented names or tags), and put back into the replies. A name gets
    the same surrogate in all messages.

    >>> from langchain_core.messages import AIMessage
    >>> from langchain_core.runnables import RunnableLambda
    >>> from textveil import Conversation
    >>> from textveil_cli.integrations.langchain import ConversationRunnable
    >>> model = RunnableLambda(lambda messages: AIMessage(messages[-1].content))  # it repeats its message
    >>> ConversationRunnable(model, Conversation()).invoke("Please call Anna Novak.").content
    'Please call Anna Novak.'

    Args:
        model: Runnable from messages to one message, such as a chat model with its tools bound.
        conversation: Object that replaces and restores names, with options such as ``restore_places``. The object
            stores the surrogate of each name across calls.

    Privacy:
        The model, and any tracer of its runs, receives only the result of ``Conversation.outgoing``. This object itself
        is not a run, so tracers do not receive its input.
    """

    def __init__(self, model: Runnable[Any, Any], conversation: Conversation) -> None:
        self.model, self.conversation = model, conversation

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        """Send messages without original names to the model, and return the reply with original names.

        ``response_metadata["textveil"]`` of the reply lists the surrogates (replacements) that remain in the reply,
        with the reasons.

        Args:
            input: A text, or messages in any form that LangChain supports: the whole conversation, or only new
                messages.
            config: Configuration of the run, passed to the model.
            kwargs: Further arguments, passed to the model.

        Raises:
            TracingRefused: An enclosing run is traced.
            InputError: A message or the reply has an unknown shape.
        """
        return restore_reply(
            self.conversation,
            self.model.invoke(self._sanitize_messages(input, config), config, **self._with_stops(kwargs)),
        )

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        """Send messages to the model, and return the reply with original names, asynchronously."""
        return restore_reply(
            self.conversation,
            await self.model.ainvoke(self._sanitize_messages(input, config), config, **self._with_stops(kwargs)),
        )

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[AIMessageChunk]:
        """Send messages to the model, and yield parts of the reply with original names.

        The last part has the tool calls.
        """
        sent, pieces = self._sanitize_messages(input, config), ChunkedReplyRestorer(self.conversation)
        for chunk in self.model.stream(sent, config, **self._with_stops(kwargs)):
            yield pieces.feed(chunk)
        yield pieces.close()

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessageChunk]:
        """Send messages to the model, and yield, asynchronously, parts of the reply with original names."""
        sent, pieces = self._sanitize_messages(input, config), ChunkedReplyRestorer(self.conversation)
        async for chunk in self.model.astream(sent, config, **self._with_stops(kwargs)):
            yield pieces.feed(chunk)
        yield pieces.close()

    def _with_stops(self, settings: dict[str, Any]) -> dict[str, Any]:
        bound = getattr(self.model, "kwargs", None)
        return {**settings, **rewrite_stops(self.conversation, bound, settings)}

    def _sanitize_messages(self, value: Any, config: RunnableConfig | None) -> list[Any]:
        _refuse_traced(config)
        bound_options = getattr(self.model, "kwargs", None)
        self.conversation.declare_tools(
            find_tool_names(bound_options.get("tools") if isinstance(bound_options, Mapping) else None)
        )
        messages = value.to_messages() if hasattr(value, "to_messages") else value
        return sanitize_messages(
            self.conversation, [messages] if isinstance(messages, str) else list_items(messages, "messages")
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def _refuse_traced(config: RunnableConfig | None) -> None:
    callbacks = ensure_config(config).get("callbacks")
    if isinstance(callbacks, BaseCallbackManager) and callbacks.parent_run_id is not None and callbacks.handlers:
        raise TracingRefused("an enclosing traced run already has the raw text: put this step first in the chain")


class SanitizeDocuments(BaseDocumentTransformer):
    """LangChain document transformer that sanitizes documents before they are embedded or stored.

    >>> from langchain_core.documents import Document
    >>> from textveil_cli.integrations.langchain import SanitizeDocuments
    >>> documents = [Document("Anna Novak called.", metadata={"page": 1})]
    >>> (sanitized,) = SanitizeDocuments(protect="names", style="tag").transform_documents(documents)
    >>> sanitized.page_content, sanitized.metadata
    ('[person 1] called.', {'page': 1})

    Args:
        bundle: Folder of a bundle (word lists and settings); default: the built-in English bundle.
        settings: Requirements on the bundle (see ``SanitizerSettings``), and options of ``Sanitizer.sanitize``.

    Raises:
        BundleError, OptionError: See ``ConfiguredSanitizer``.

    Privacy:
        The text of each document is sanitized separately; see ``Sanitizer.sanitize``. Ids and metadata stay unchanged.
        They often contain a path, a title or a name: remove those that must not be sent.
    """

    def __init__(self, bundle: str | Path | None = None, **settings: Unpack[SanitizerSettings]) -> None:
        self.sanitizer = ConfiguredSanitizer(bundle, **settings)

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> list[Document]:
        """Return documents with sanitized text.

        Raises:
            InputError: An entry is not a document.
        """
        documents = list_items(documents, "documents")
        for number, document in enumerate(documents, 1):
            if not isinstance(document, Document):
                raise InputError(f"document {number} of {len(documents)} is not a Document of LangChain")
        results = self.sanitizer.sanitize_texts([document.page_content for document in documents])
        return [
            document.model_copy(update={"page_content": result.text, "metadata": dict(document.metadata)})
            for document, result in zip(documents, results, strict=True)
        ]
