"""The gateway: between apps and a language model, names replaced on the way out and put back on the way in.

It needs the extra ``gateway`` (Starlette, uvicorn and httpcore2), and nothing else imports it. It listens as ``serve``
does, and opens connections to its upstream alone (docs/gateway.md).
"""

from textveil.errors import ExtraMissing

try:  # before the parts that it shares with serve, which would name the other extra
    import h11  # noqa: F401
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise ExtraMissing.of("gateway", "starlette, uvicorn and h11") from error

from textveil_cli.gateway.app import make_app
from textveil_cli.gateway.calls import Gateway, ReplyLimits
from textveil_cli.gateway.conversations import Conversations, Keeping
from textveil_cli.gateway.upstream import Upstream

__all__ = ["Conversations", "Gateway", "Keeping", "ReplyLimits", "Upstream", "make_app"]
