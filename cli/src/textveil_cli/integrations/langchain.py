"""For LangChain: a runnable that goes first, ``SanitizeFirst() | prompt | model``, and ``SanitizeDocuments``.

Whoever traces a chain is given the input of every run in it. So ``SanitizeFirst`` is not a run: it sanitizes, and
starts what follows with the sanitized text. Handlers, tracers and LangSmith see that text only. Inside a traced run
the raw text has been seen already: there it refuses, and says so.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Unpack

from textveil import Conversation
from textveil.errors import ColumnError, ExtraMissing, InputError, TracingRefused
from textveil.sequences import in_order

from textveil_cli.integrations.rewriter import Rewriter, Settings

try:
    from langchain_core.callbacks import BaseCallbackManager
    from langchain_core.documents import BaseDocumentTransformer, Document
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_core.runnables import Runnable, RunnableConfig
    from langchain_core.runnables.base import coerce_to_runnable
    from langchain_core.runnables.config import ensure_config
except ImportError as error:
    raise ExtraMissing.of("langchain", "langchain-core") from error

from textveil_cli.integrations.langchain_messages import Pieces, find_tool_names, outgoing, restored


class SanitizeFirst(Runnable[Any, Any]):
    """Sanitizes a text, or texts of a dictionary, then runs what follows with it.

    Args:
        keys: What has a text in the dictionary that is given, such as ``["note"]``. The rest of it stays as it is. If
            left out, a text is given and no dictionary.
        bundle: Folder of a bundle; the built-in English one if left out.
        settings: What the bundle must be, and options as in ``Sanitizer.sanitize``: see ``Settings``.

    Raises:
        BundleError, OptionError: As ``Rewriter``.

    Privacy:
        A text is one document: see ``Sanitizer.sanitize``. A retry of the whole draws anew and is another release;
        put ``with_retry`` on what follows.
    """

    def __init__(
        self, bundle: str | Path | None = None, *, keys: Sequence[str] = (), **settings: Unpack[Settings]
    ) -> None:
        self.rewriter = Rewriter(bundle, **settings)
        self.keys = tuple(in_order(keys, "keys"))
        self.next: Runnable[Any, Any] | None = None

    def __or__(self, other: Any) -> "SanitizeFirst":  # pyright: ignore[reportIncompatibleMethodOverride]
        """Returns the same with one more step: no sequence, which would be a run with the raw text as its input."""
        longer = object.__new__(type(self))
        longer.rewriter, longer.keys = self.rewriter, self.keys
        step = coerce_to_runnable(other)
        longer.next = step if self.next is None else self.next | step
        return longer

    def pipe(self, *others: Any, name: str | None = None) -> "SanitizeFirst":  # pyright: ignore[reportIncompatibleMethodOverride]
        """Returns the same with more steps, as ``|`` does."""
        longer = self
        for other in others:
            longer = longer | other
        return longer

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Returns what the last step makes of the sanitized text; the text itself if there is no step.

        Raises:
            TracingRefused: A run around this one is traced.
            InputError: ``input`` is not a string; with ``keys``, not a dictionary that has a string for each.
        """
        text = self._sanitized(input, config)
        return text if self.next is None else self.next.invoke(text, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Does what ``invoke`` does."""
        text = self._sanitized(input, config)
        return text if self.next is None else await self.next.ainvoke(text, config, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Yields the pieces of what the last step makes."""
        text = self._sanitized(input, config)
        if self.next is None:
            yield text
        else:
            yield from self.next.stream(text, config, **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yields the pieces of what the last step makes."""
        text = self._sanitized(input, config)
        if self.next is None:
            yield text
        else:
            async for piece in self.next.astream(text, config, **kwargs):
                yield piece

    def batch(self, inputs: list[Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Does what ``invoke`` does for each of several.

        Raises:
            InputError: ``inputs`` is one string, whose characters would be taken for texts, or a dictionary.
        """
        return super().batch([*in_order(inputs, "inputs")], *args, **kwargs)

    async def abatch(self, inputs: list[Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Does what ``batch`` does."""
        return await super().abatch([*in_order(inputs, "inputs")], *args, **kwargs)

    def batch_as_completed(self, inputs: Sequence[Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Yields what ``batch`` returns as it comes, each with its number."""
        return super().batch_as_completed(in_order(inputs, "inputs"), *args, **kwargs)

    def abatch_as_completed(self, inputs: Sequence[Any], *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Does what ``batch_as_completed`` does."""
        return super().abatch_as_completed(in_order(inputs, "inputs"), *args, **kwargs)

    def astream_events(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuses events: the first one would have the raw text in it.

        Raises:
            TracingRefused: Always.
        """
        raise TracingRefused("events would show the text: sanitize first, then stream the events of what follows")

    astream_log = astream_events

    def map(self) -> NoReturn:
        """Refuses to be mapped: that would be a run, with raw texts as its input.

        Raises:
            TracingRefused: Always.
        """
        raise TracingRefused("map would show the texts to a tracer: use batch")

    def _sanitized(self, given: Any, config: RunnableConfig | None) -> Any:
        _refuse_traced(config)
        if not self.keys and isinstance(given, str):
            return self.rewriter(given)
        if not self.keys or not isinstance(given, Mapping):
            raise InputError(
                'a text is wanted, or a dictionary with keys=["note"], and no prompt, message or document: '
                "SanitizeFirst goes before the prompt"
            )
        for number, key in enumerate(self.keys, 1):
            if not isinstance(given.get(key), str):
                raise ColumnError(f"key {number} of {len(self.keys)} has no text in the input")
        return {**given, **{key: self.rewriter(given[key]) for key in self.keys}}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.rewriter!r}>"


class Converse(Runnable[Any, Any]):
    """Talks with a model: messages go out under one mapping, and its replies come back with the user's words.

    Args:
        model: What takes messages and gives one: a chat model, with its tools bound.
        conversation: What rewrites and restores, with its ``restore_places`` and the like. It keeps the mapping from
            call to call.

    Privacy:
        The model, and whoever traces its runs, gets what ``Conversation.outgoing`` returns. This is not a run itself.
    """

    def __init__(self, model: Runnable[Any, Any], conversation: Conversation) -> None:
        self.model, self.conversation = model, conversation

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        """Returns the reply, restored; its ``response_metadata["textveil"]`` lists what stayed, and why.

        Args:
            input: A text, or messages in any form that LangChain takes: all so far, or the new ones alone.
            config: As for the model.
            kwargs: As for the model.

        Raises:
            TracingRefused: A run around this one is traced.
            InputError: Messages or the reply have a shape that is not known.
        """
        return restored(self.conversation, self.model.invoke(self._outgoing(input, config), config, **kwargs))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        """Does what ``invoke`` does."""
        return restored(self.conversation, await self.model.ainvoke(self._outgoing(input, config), config, **kwargs))

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[AIMessageChunk]:
        """Yields pieces of the reply, restored; the last one has the calls of tools."""
        sent, pieces = self._outgoing(input, config), Pieces(self.conversation)
        for chunk in self.model.stream(sent, config, **kwargs):
            yield pieces.feed(chunk)
        yield pieces.close()

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessageChunk]:
        """Does what ``stream`` does."""
        sent, pieces = self._outgoing(input, config), Pieces(self.conversation)
        async for chunk in self.model.astream(sent, config, **kwargs):
            yield pieces.feed(chunk)
        yield pieces.close()

    def _outgoing(self, given: Any, config: RunnableConfig | None) -> list[Any]:
        _refuse_traced(config)
        bound = getattr(self.model, "kwargs", None)
        self.conversation.declare_tools(find_tool_names(bound.get("tools") if isinstance(bound, Mapping) else None))
        messages = given.to_messages() if hasattr(given, "to_messages") else given
        return outgoing(self.conversation, [messages] if isinstance(messages, str) else in_order(messages, "messages"))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def _refuse_traced(config: RunnableConfig | None) -> None:
    around = ensure_config(config).get("callbacks")
    if isinstance(around, BaseCallbackManager) and around.parent_run_id is not None and around.handlers:
        raise TracingRefused("a traced run around this one has the text already: put this one first")


class SanitizeDocuments(BaseDocumentTransformer):
    """Sanitizes the text of documents, before they are embedded or sent to a store of vectors.

    Args:
        bundle: Folder of a bundle; the built-in English one if left out.
        settings: What the bundle must be, and options as in ``Sanitizer.sanitize``: see ``Settings``.

    Raises:
        BundleError, OptionError: As ``Rewriter``.

    Privacy:
        The text of each is a document of its own: see ``Sanitizer.sanitize``. Identities and metadata stay as they are,
        and often have a path, a title or a name: drop what must not be sent.
    """

    def __init__(self, bundle: str | Path | None = None, **settings: Unpack[Settings]) -> None:
        self.rewriter = Rewriter(bundle, **settings)

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> list[Document]:
        """Returns documents with sanitized text.

        Raises:
            InputError: One of them is not a document.
        """
        documents = in_order(documents, "documents")
        for number, document in enumerate(documents, 1):
            if not isinstance(document, Document):
                raise InputError(f"document {number} of {len(documents)} is not a Document of LangChain")
        results = self.rewriter.results([document.page_content for document in documents])
        return [
            document.model_copy(update={"page_content": result.text, "metadata": dict(document.metadata)})
            for document, result in zip(documents, results, strict=True)
        ]
