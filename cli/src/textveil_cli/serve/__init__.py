"""The local HTTP service, with which other programs on the device sanitize and encode texts.

This service and the gateway are the only parts that open a socket on a device. The service needs the extra ``serve``
(Starlette and uvicorn). It listens on the loopback address; on other addresses it requires a token and TLS
(docs/serve.md).
"""

from textveil_cli.serve.access import AccessRule
from textveil_cli.serve.app import ServedReleases, make_app
from textveil_cli.serve.limits import RequestLimits
from textveil_cli.serve.server import ServiceAddress, serve

__all__ = ["AccessRule", "RequestLimits", "ServedReleases", "ServiceAddress", "make_app", "serve"]
