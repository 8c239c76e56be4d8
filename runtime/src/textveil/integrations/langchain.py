"""A runnable for LangChain that goes first: ``SanitizeFirst() | prompt | model``.

Whoever traces a chain is given the input of every run in it. So ``SanitizeFirst`` is no run: it sanitizes, and starts
what follows with the sanitized text. Handlers, tracers and LangSmith see that text only. Inside a run that is traced
the raw text has been seen already: there it refuses, and says so.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NoReturn, Unpack

from textveil.bundle.files import MAX_BUNDLE_BYTES
from textveil.errors import ExtraMissing, InputError, TracingRefused
from textveil.integrations.rewriter import Rewriter
from textveil.text.options import Options

try:
    from langchain_core.callbacks import BaseCallbackManager
    from langchain_core.runnables import Runnable, RunnableConfig
    from langchain_core.runnables.base import coerce_to_runnable
    from langchain_core.runnables.config import ensure_config
except ImportError as error:
    raise ExtraMissing.of("langchain", "langchain-core") from error


class SanitizeFirst(Runnable[str, Any]):
    """Sanitizes a text, then runs what follows with it.

    Args:
        bundle: Folder of a bundle; the built-in English one if left out.
        expect_id: The identity the bundle must have.
        maker: Public key of the maker who must have signed it.
        max_bytes: Most bytes of all its files together.
        options: As in ``Sanitizer.sanitize``.

    Raises:
        BundleError, OptionError: As ``Rewriter``.

    Privacy:
        The text is one document: see ``Sanitizer.sanitize``. A retry of the whole draws anew and is another release;
        put ``with_retry`` on what follows.
    """

    def __init__(
        self,
        bundle: str | Path | None = None,
        *,
        expect_id: str | None = None,
        maker: str | None = None,
        max_bytes: int = MAX_BUNDLE_BYTES,
        **options: Unpack[Options],
    ) -> None:
        self.rewriter = Rewriter(bundle, expect_id=expect_id, maker=maker, max_bytes=max_bytes, **options)
        self.next: Runnable[Any, Any] | None = None

    def __or__(self, other: Any) -> "SanitizeFirst":  # pyright: ignore[reportIncompatibleMethodOverride]
        """Returns the same with one more step: no sequence, which would be a run with the raw text as its input."""
        longer = object.__new__(type(self))
        longer.rewriter = self.rewriter
        step = coerce_to_runnable(other)
        longer.next = step if self.next is None else self.next | step
        return longer

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Returns what the last step makes of the sanitized text; the text itself if there is no step.

        Raises:
            TracingRefused: A run around this one is traced.
            InputError: ``input`` is not a string.
        """
        text = self._sanitized(input, config)
        return text if self.next is None else self.next.invoke(text, config, **kwargs)

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Does what ``invoke`` does."""
        text = self._sanitized(input, config)
        return text if self.next is None else await self.next.ainvoke(text, config, **kwargs)

    def stream(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Yields the pieces of what the last step makes."""
        text = self._sanitized(input, config)
        if self.next is None:
            yield text
        else:
            yield from self.next.stream(text, config, **kwargs)

    async def astream(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yields the pieces of what the last step makes."""
        text = self._sanitized(input, config)
        if self.next is None:
            yield text
        else:
            async for piece in self.next.astream(text, config, **kwargs):
                yield piece

    def astream_events(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuses events: the first one would have the raw text in it.

        Raises:
            TracingRefused: Always.
        """
        raise TracingRefused("events would show the text: sanitize first, then stream the events of what follows")

    astream_log = astream_events

    def _sanitized(self, text: str, config: RunnableConfig | None) -> str:
        if not isinstance(text, str):
            raise InputError("the input is not a string")
        around = ensure_config(config).get("callbacks")
        if isinstance(around, BaseCallbackManager) and around.parent_run_id is not None and around.handlers:
            raise TracingRefused("a traced run around this one has the text already: put SanitizeFirst first")
        return self.rewriter(text)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.rewriter!r}>"
