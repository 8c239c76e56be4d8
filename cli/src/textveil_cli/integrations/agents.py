"""Middleware for LangChain agents: the model receives surrogates (replacements) instead of original words.

    agent = create_agent("openai:gpt-5.5", tools, middleware=[ConversationMiddleware(restore_tools={"send_email"})])

The state of the agent, its tools, and consumers of its stream contain the words of the user. Only the messages to the
model, and its replies, contain surrogates.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from functools import partial
from threading import Lock
from typing import Annotated, Any, NotRequired
from uuid import uuid4

from textveil import Conversation, Sanitizer

from textveil_cli.errors import ExtraMissing, TracingRefused

try:
    from langchain.agents.middleware.types import (  # pyright: ignore[reportMissingImports] - not in requirements-dev.txt
        AgentMiddleware,
        AgentState,
        ModelRequest,
        PrivateStateAttr,
    )
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
    from langchain_core.runnables import Runnable, RunnableConfig
    from langchain_core.runnables.config import ensure_config
    from langgraph.constants import TAG_NOSTREAM  # pyright: ignore[reportMissingImports]
except ImportError as error:
    raise ExtraMissing.from_extra("agents", "langchain") from error

from textveil_cli.integrations.configured_sanitizer import load_sanitizer
from textveil_cli.integrations.langchain_messages import (
    ChunkedReplyRestorer,
    find_tool_names,
    restore_reply,
    rewrite_stops,
    sanitize_messages,
)

#: Packages whose callback handlers only forward the stream to the caller, except for the tracer of LangSmith.
_FORWARDING_PACKAGES = ("langgraph.", "langchain_core.")
_SENDING_TRACER = "langchain_core.tracers.langchain"


class _AgentConversationState(AgentState[Any]):
    """State of a LangChain agent, with an additional id of the conversation; the first run creates the id.

    A caller cannot set the id in the input of the agent.
    """

    textveil_conversation: NotRequired[Annotated[str, PrivateStateAttr]]  # pyright: ignore[reportInvalidTypeForm]


class ConversationMiddleware(AgentMiddleware[Any, Any, Any]):
    """Middleware that hides names from an agent's model: it replaces them in requests, and restores them in replies.

    Each thread of the agent is a conversation. Put this middleware last, so that other middleware processes the words
    of the user. If another middleware calls a model of its own, that model receives these words. Give such a middleware
    a ``ConversationRunnable`` in place of its model, or remove it.

    Args:
        sanitizer: The sanitizer; default: the built-in English bundle.
        pass_through: As for ``Conversation``. With ``{"system"}`` your own instructions are sent unchanged.
        restore_tools: Names of tools that are called with the words of the user, and names of schemas of structured
            replies that get these words. All other tools are called with surrogates (replacements).
        restore_places: Parts of replies, besides running text, in which original words are put back: ``code``,
            ``math``, ``json`` (also for structured replies that a provider writes as JSON in the text), or ``all``.
        restore_hosts: Host names. Original words are also put back in links to these hosts.
        traced: Whether callback handlers of the agent may receive the text. LangSmith is such a handler, and receives
            the text with the input of the agent.
        max_conversations: Maximum number of conversations in memory. If a removed conversation continues, its names get
            new surrogates.
        options: Further options of ``Conversation``.

    Raises:
        OptionError: An option is invalid; see ``Conversation``.

    Privacy:
        See ``Conversation``. Descriptions and schemas of tools are sent unchanged. The state of the agent, and a
        checkpointer, contain the words of the user.
    """

    state_schema = _AgentConversationState

    def __init__(
        self,
        sanitizer: Sanitizer | None = None,
        *,
        pass_through: Collection[str] = (),
        restore_tools: Collection[str] = (),
        restore_places: Collection[str] | str = (),
        restore_hosts: Collection[str] = (),
        traced: bool = False,
        max_conversations: int = 1000,
        **options: Any,
    ) -> None:
        super().__init__()
        sanitizer = load_sanitizer(None) if sanitizer is None else sanitizer
        self._make_conversation = partial(
            Conversation,
            sanitizer,
            pass_through=pass_through,
            restore_tools=restore_tools,
            restore_places=restore_places,
            restore_hosts=restore_hosts,
            **options,
        )
        self._make_conversation()  # check options before there is any text
        self._allows_tracing, self._max_conversations, self._lock = traced, max_conversations, Lock()
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Create the id of the conversation when a thread of the agent starts.

        Returns:
            The id under the key ``textveil_conversation``; ``None`` if the thread already has one.

        Raises:
            TracingRefused: A tracer of the agent would receive the raw text.
        """
        handlers = getattr(ensure_config().get("callbacks"), "handlers", ())
        handler_modules = {type(handler).__module__ for handler in handlers}
        if not self._allows_tracing and not all(
            name.startswith(_FORWARDING_PACKAGES) and name != _SENDING_TRACER for name in handler_modules
        ):
            raise TracingRefused("a tracer of the agent receives the raw text: remove it, or allow it with traced=True")
        return None if state.get("textveil_conversation") else {"textveil_conversation": uuid4().hex}

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        """Call the model with surrogates (replacements) of names, and return the reply with the original names.

        Raises:
            InputError: A message has an unknown shape. Nothing is sent in this case.
        """
        return handler(self._wrap_request(request))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Awaitable[Any]]) -> Any:
        """Call the model asynchronously with replacements of names, and return the reply with the original names."""
        return await handler(self._wrap_request(request))

    def _wrap_request(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        name = request.state["textveil_conversation"]
        with self._lock:
            conversation = self._conversations.pop(name, None) or self._make_conversation()
            self._conversations[name] = conversation
            while len(self._conversations) > self._max_conversations:
                self._conversations.popitem(last=False)
        profile = request.model.profile
        return request.override(
            model=_WrappedChatModel(inner=request.model, conversation=conversation.start_exchange(), profile=profile)
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class _WrappedChatModel(BaseChatModel):
    """Chat model for an agent that wraps another model, to replace names in requests and restore them in replies.

    The wrapper does not stream. LangChain never caches its replies, since the cache would contain the words of the
    user.
    """

    inner: Any
    conversation: Any
    cache: Any = False

    @property
    def _llm_type(self) -> str:
        return "textveil"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        """Return a copy of this model with tools bound to the wrapped model."""
        self.conversation.declare_tools(find_tool_names(tools))
        return self.model_copy(update={"inner": self.inner.bind_tools(tools, **kwargs)})

    def _sanitize_messages(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        return sanitize_messages(self.conversation, messages)

    def _with_stops(self, stop: list[str] | None, settings: dict[str, Any]) -> dict[str, Any]:
        bound = getattr(self.inner, "kwargs", None)
        return {**settings, "stop": stop, **rewrite_stops(self.conversation, bound, settings, {"stop": stop})}

    def _make_result(self, reply: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=restore_reply(self.conversation, reply))])

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        sent = self._sanitize_messages(messages)
        return self._make_result(self.inner.invoke(sent, _make_unstreamed_config(), **self._with_stops(stop, kwargs)))

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        sent = self._sanitize_messages(messages)
        return self._make_result(
            await self.inner.ainvoke(sent, _make_unstreamed_config(), **self._with_stops(stop, kwargs))
        )

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Iterator[Any]:
        sent, pieces = self._sanitize_messages(messages), ChunkedReplyRestorer(self.conversation)
        for chunk in self.inner.stream(sent, _make_unstreamed_config(), **self._with_stops(stop, kwargs)):
            yield ChatGenerationChunk(message=pieces.feed(chunk))
        yield ChatGenerationChunk(message=pieces.close())

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        sent, pieces = self._sanitize_messages(messages), ChunkedReplyRestorer(self.conversation)
        async for chunk in self.inner.astream(sent, _make_unstreamed_config(), **self._with_stops(stop, kwargs)):
            yield ChatGenerationChunk(message=pieces.feed(chunk))
        yield ChatGenerationChunk(message=pieces.close())


def _make_unstreamed_config() -> RunnableConfig:
    """Return the configuration with which LangChain calls the wrapped model without streaming.

    With streaming, a program that streams the agent's messages would receive surrogates (replacements) instead of
    original words.
    """
    return {"tags": [TAG_NOSTREAM]}
