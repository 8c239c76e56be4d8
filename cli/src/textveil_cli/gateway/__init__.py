"""The gateway: between apps and a language model, names replaced on the way out and put back on the way in.

It needs the extra ``gateway`` (Starlette, uvicorn and h11), and nothing else imports it. It listens as ``serve`` does,
and opens connections to its upstream alone (docs/gateway.md).
"""

from textveil_cli.gateway.app import make_app
from textveil_cli.gateway.calls import Gateway, ReplyLimits
from textveil_cli.gateway.conversations import Conversations, Keeping
from textveil_cli.gateway.upstream import Upstream

__all__ = ["Conversations", "Gateway", "Keeping", "ReplyLimits", "Upstream", "make_app"]
