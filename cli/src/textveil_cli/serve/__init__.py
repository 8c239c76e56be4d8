"""The local service: the sanitizer and an encoder over HTTP, for other programs.

Only this service and the gateway open a socket on a device. It needs the extra ``serve`` (Starlette and uvicorn). It
listens on the loopback address, elsewhere only with a token and TLS (docs/serve.md).
"""

from textveil_cli.serve.access import AccessRule
from textveil_cli.serve.app import ServedReleases, make_app
from textveil_cli.serve.limits import RequestLimits
from textveil_cli.serve.server import ServiceAddress, serve

__all__ = ["AccessRule", "RequestLimits", "ServedReleases", "ServiceAddress", "make_app", "serve"]
