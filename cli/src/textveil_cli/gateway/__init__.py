"""Gateway (HTTP proxy) between apps and a language model, which hides names from the model.

The gateway replaces names in requests, and puts the original names back into replies; docs/gateway.md describes its
use. The gateway needs the extra ``gateway`` (Starlette, uvicorn and httpcore2). It listens for clients in the same way
as ``serve``, and opens connections only to the upstream, which is the server of the language model.
"""

from textveil_cli.errors import ExtraMissing

try:  # before modules shared with ``serve``, whose error names the other extra
    import httpcore2  # noqa: F401
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise ExtraMissing.from_extra("gateway", "starlette, uvicorn and httpcore2") from error

from textveil_cli.gateway.app import make_app
from textveil_cli.gateway.conversation_locks import ConversationLocks
from textveil_cli.gateway.conversation_store import ConversationStore, RetentionSettings
from textveil_cli.gateway.exchange_review import ExchangeReview
from textveil_cli.gateway.gateway_state import Gateway
from textveil_cli.gateway.interpreter import tune_interpreter
from textveil_cli.gateway.mapping_database import MappingDatabase, read_mapping_key
from textveil_cli.gateway.mapping_files import import_mapping_files
from textveil_cli.gateway.review_page import ReviewPage
from textveil_cli.gateway.telemetry import RequestCounters, load_meter
from textveil_cli.gateway.upstream import ReplyLimits, UpstreamClient

__all__ = [
    "ConversationLocks",
    "ConversationStore",
    "ExchangeReview",
    "Gateway",
    "MappingDatabase",
    "ReplyLimits",
    "RequestCounters",
    "RetentionSettings",
    "ReviewPage",
    "UpstreamClient",
    "import_mapping_files",
    "load_meter",
    "make_app",
    "read_mapping_key",
    "tune_interpreter",
]
