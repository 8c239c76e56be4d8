"""The local service: the sanitizer and an encoder over HTTP, for other programs.

Only this service and the gateway open a socket on a device. It needs the extra ``serve`` (Starlette and uvicorn). It
listens on the loopback address, elsewhere only with a token and TLS (docs/serve.md).
"""

from textveil_cli.serve.access import Access
from textveil_cli.serve.app import Releases, make_app
from textveil_cli.serve.limits import Limits
from textveil_cli.serve.run import Address, serve

__all__ = ["Access", "Address", "Limits", "Releases", "make_app", "serve"]
