"""The page of ``--review-page``, which shows the last requests and replies in a browser.

The page shows each request as the client wrote it and as it was sent, and each reply as it was received and with
original words. All text is escaped, and the page contains no script. The address of the page contains a token. Requests
from other devices are refused, as are requests for another host name.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any

from starlette.responses import Response
from textveil.formatting import format_count
from textveil.text.marked_html import (
    KEPT_TEXT,
    MarkedPiece,
    escape_html,
    get_content_policy,
    iterate_page,
    mark_originals,
    mark_pieces,
)

from textveil_cli.changes.word_changes import iterate_word_changes
from textveil_cli.gateway.exchange_review import MAX_EXCHANGES, ExchangeReview, ReviewedExchange, ReviewedText
from textveil_cli.serve.access import AccessRule, Refusal
from textveil_cli.serve.app import RESPONSE_HEADERS, make_error_response

#: Path of the page, before its token.
_PATH = "/review"
_LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "[::1]"))
#: Seconds after which a page with an incomplete reply is reloaded.
_RELOAD_SECONDS = 2

Aligner = Callable[[str, str], list[MarkedPiece]]
"""Function that returns the parts of an output, each with its original: ``TextExplainer.align``."""


class ReviewPage:
    """The page that shows the last requests and replies.

    Args:
        review: The stored requests and replies.
        align: Function that finds which words of a text were replaced by which parts of the text that was sent.

    Attributes:
        path: Path of the page, with a token that is random for each run of the gateway.
    """

    def __init__(self, review: ExchangeReview, align: Aligner) -> None:
        self._review, self._align = review, align
        self._token = secrets.token_urlsafe(32)
        self._cards: dict[str, str] = {}
        self._rendering = asyncio.Lock()
        self.path = f"{_PATH}/{self._token}"

    def has_path(self, path: str) -> bool:
        """Return whether a path belongs to the page, even if its token is wrong or missing."""
        return path == _PATH or path.startswith(_PATH + "/")

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the page as the response to a request.

        Raises:
            Refusal: The request comes from another device, names another host, lacks the right token, or is not a GET
                request.
        """
        client = scope.get("client")
        if client is None or not ip_address(client[0]).is_loopback:
            raise Refusal(HTTPStatus.FORBIDDEN, "client", "only this device may open the review page")
        own_address = scope.get("server") or ("localhost", None)
        AccessRule(_LOOPBACK_NAMES | {own_address[0]}).check_request(scope)
        token = scope["path"].removeprefix(_PATH).removeprefix("/")
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode()):
            raise Refusal(HTTPStatus.UNAUTHORIZED, "token", "the token of the review page is missing or wrong")
        if scope["method"] != "GET":
            raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "path", "the review page supports only GET")
        async with self._rendering:
            content, is_complete = await asyncio.to_thread(self.render_page)
        headers = {
            **RESPONSE_HEADERS,
            "content-security-policy": f"{get_content_policy()}; frame-ancestors 'none'",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "referrer-policy": "no-referrer",
        }
        if not is_complete:
            headers["refresh"] = str(_RELOAD_SECONDS)
        await Response(content, media_type="text/html", headers=headers)(scope, receive, send)

    def render_page(self) -> tuple[bytes, bool]:
        """Return the page as HTML, and a flag that is true if all replies on the page are complete.

        The part of the page for a complete reply is rendered only once.
        """
        exchanges = self._review.list_exchanges()
        cards = {}
        for exchange in exchanges:
            card = self._cards.get(exchange.request_id)
            cards[exchange.request_id] = "".join(_iterate_card(exchange, self._align)) if card is None else card
        self._cards = {one.request_id: cards[one.request_id] for one in exchanges if one.status is not None}
        content = "".join(iterate_page("What the gateway sent and received", _iterate_sections(cards.values())))
        return content.encode("utf-8", "replace"), all(exchange.status is not None for exchange in exchanges)


class ReviewPageMiddleware:
    """ASGI middleware that answers requests for the review page, and passes all other requests to the application."""

    def __init__(self, app: Any, page: ReviewPage, report: Callable[[str], None]) -> None:
        self.app, self.page, self.report = app, page, report

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request for the review page, or pass any other request to the application.

        The log line of a refused request contains neither its path nor its token.
        """
        if scope["type"] != "http" or not self.page.has_path(scope["path"]):
            await self.app(scope, receive, send)
            return
        try:
            await self.page.answer(scope, receive, send)
        except Refusal as refusal:
            self.report(f"refused: the review page {refusal.code} {refusal.status.value}")
            await make_error_response(refusal)(scope, receive, send)


def _iterate_sections(cards: Iterable[str]) -> Iterator[str]:
    yield (
        f'<p class="soft">The last {MAX_EXCHANGES} requests, the newest first, in the memory of the gateway until it '
        "ends. Reload the page for newer ones; while a reply arrives, it reloads itself.</p>\n"
    )
    written = "".join(cards)
    yield written or "<p>No request yet: send one through the gateway, and reload this page.</p>\n"


def _iterate_card(exchange: ReviewedExchange, align: Aligner) -> Iterator[str]:
    at = time.strftime("%H:%M:%S", time.localtime(exchange.seconds))
    yield f'<section class="card"><h3>{at} {escape_html(exchange.path)}: {_describe_status(exchange)}</h3>\n'
    earlier = [text for text in exchange.sent if text.is_earlier]
    if earlier or exchange.left_out:
        more = f", and {exchange.left_out:,} characters more" if exchange.left_out else ""
        counted = format_count(len(earlier), "text")
        yield f'<details><summary class="soft">{counted} of earlier requests{more}</summary>\n'
        for text in earlier:
            yield from _iterate_pair(text, _align_changes(text, align), ("your text", "sent"))
        yield "</details>\n"
    for text in exchange.sent:
        if not text.is_earlier:
            yield from _iterate_pair(text, _align_changes(text, align), ("your text", "sent"))
    for text in exchange.received.values():
        parts = iterate_word_changes(text.before, text.after)
        pieces = [MarkedPiece(new, KEPT_TEXT if equal else "", old) for old, new, equal in parts]
        yield from _iterate_pair(text, pieces, ("received", "restored"))
    if exchange.left_out_of_reply:
        yield f'<p class="soft">{exchange.left_out_of_reply:,} more characters of the reply</p>'
    yield f'<p class="soft">request {escape_html(exchange.request_id)}</p></section>\n'


def _align_changes(text: ReviewedText, align: Aligner) -> list[MarkedPiece]:
    """Pair the parts of a sent text with their originals; parts that are equal to their original count as kept.

    Such a part is, for instance, the number in a tag that the model wrote. ``align`` would replace this number, but the
    gateway sends it unchanged.
    """
    pieces = align(text.before, text.after)
    return [MarkedPiece(piece.output) if piece.output == piece.original else piece for piece in pieces]


def _describe_status(exchange: ReviewedExchange) -> str:
    if exchange.status is None:
        return "the reply arrives"
    return "the client disconnected" if exchange.status == 0 else f"status {exchange.status}"


def _iterate_pair(text: ReviewedText, pieces: list[MarkedPiece], titles: tuple[str, str]) -> Iterator[str]:
    place = f"{text.role}, {text.place}" if text.role else text.place
    heads = [f'<h4 class="always">{title}, {escape_html(place)}</h4>' for title in titles]
    if all(piece.treatment == KEPT_TEXT for piece in pieces):
        yield f'<div><h4 class="always">{" and ".join(titles)} (unchanged), {escape_html(place)}</h4>'
        yield f"{mark_originals(pieces)}</div>\n"
    else:
        yield f'<div class="pair"><div>{heads[0]}{mark_originals(pieces)}</div>'
        yield f"<div>{heads[1]}{mark_pieces(pieces)}</div></div>\n"
