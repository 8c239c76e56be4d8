"""HTML of texts in which replaced parts are marked: fragments for notebooks, and whole pages.

All content is escaped text, and there is no script. The content policy of a page forbids scripts, images and
connections.
"""

import html
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

#: First line of every file and page that contains original text.
PRIVATE_NOTICE = "contains your original text: do not send"
#: Treatment of unchanged text; other treatments are ``"randomized"`` or the name of an entity type.
KEPT_TEXT = "kept"
#: Largest number of characters of one text on a page.
_MAX_CHARACTERS = 20_000

#: Marks differ by underline and label too, not only by color. Translucent colors fit light and dark notebooks.
_MARKS_CSS = """\
.tv-text{white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.9}
.tv-text mark{color:inherit;background:rgba(64,132,214,.2);border-bottom:2px solid #4084d6;border-radius:3px 3px 0 0;
padding:1px 3px}
.tv-text mark[data-kind=randomized]{background:rgba(200,130,20,.2);border-bottom:2px dashed #c88214}
.tv-text mark small{font-size:.68em;opacity:.8;margin-left:.35em;white-space:nowrap;font-family:system-ui,sans-serif}
.tv-text del{opacity:.75;text-decoration-thickness:1px}
.tv-text mark del{margin-right:.3em}
.tv-text .tv-why{border-bottom:1px dotted currentColor;cursor:help}
.tv-line{opacity:.8;font-size:.9em;margin:.5em 0 0}
"""
_PAGE_CSS = """\
:root{color-scheme:light dark;--back:#fbfbfa;--card:#fff;--ink:#1d2329;--soft:#5b6570;--rule:#dfe3e7;--warn:#8a4b00;
--warn-back:#fff4e0;--stop:#9d1c1c;--stop-back:#fdecec}
@media(prefers-color-scheme:dark){:root{--back:#14181c;--card:#1c2126;--ink:#e6e9ec;--soft:#a3adb7;--rule:#343c44;
--warn:#ffc56b;--warn-back:#33270f;--stop:#ff9d9d;--stop-back:#3a1a1a}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.2rem;max-width:72rem;font:16px/1.55 system-ui,sans-serif;color:var(--ink);
background:var(--back)}
h1{font-size:1.5rem;line-height:1.25;margin:.9rem 0 .3rem}
h2{font-size:1.12rem;margin:1.9rem 0 .6rem}
p{margin:.4rem 0;max-width:48rem}
.notice{background:var(--stop-back);color:var(--stop);border:1px solid;border-radius:8px;padding:.5rem .9rem;
font-weight:600;max-width:none}
.warning{background:var(--warn-back);color:var(--warn);border:1px solid;border-radius:8px;padding:.5rem .9rem}
.soft{color:var(--soft);font-size:.92rem}
.card{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:.8rem 1rem;margin:.7rem 0}
.card h3{font-size:.82rem;margin:0 0 .3rem;color:var(--soft);font-weight:600}
.card h4{font-size:.78rem;margin:.2rem 0 0;color:var(--soft);font-weight:400;display:none}
.card h4.always{display:block}
.card>.pair,.card>details{margin:.5rem 0}
summary{cursor:pointer}
code{white-space:nowrap}
td:last-child{min-width:11rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.94rem;min-width:20rem}
th,td{text-align:left;vertical-align:top;padding:.3rem 1.2rem .3rem 0;border-bottom:1px solid var(--rule)}
th{color:var(--soft);font-weight:600;font-size:.85rem}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem}
@media(max-width:44rem){body{padding:.8rem}
th,td{padding-right:.7rem}td:first-child,td:last-child{min-width:8rem}
.pair{grid-template-columns:1fr;gap:.4rem}.card h4{display:block}h1{font-size:1.3rem}}
"""
_STYLE = _PAGE_CSS + _MARKS_CSS


class MarkedPiece(NamedTuple):
    """A part of a sanitized text with its treatment: unchanged, randomized or replaced.

    >>> MarkedPiece("Vienna", "city", original="Leeds").reason
    ''

    Attributes:
        output: The part as it is in the output.
        treatment: ``KEPT_TEXT``, ``"randomized"``, or the name of an entity type. Empty for a part that is marked
            without a label.
        original: The original text of a replaced part. Empty if unknown.
        reason: The list or rule that decides the treatment; empty if unknown.
    """

    output: str
    treatment: str = KEPT_TEXT
    original: str = ""
    reason: str = ""


class HtmlFragment(str):
    """HTML that notebooks display. Fragments can be joined like strings. The ``repr`` states only the length.

    >>> HtmlFragment("<b>Vienna</b>")
    <HtmlFragment of 13 characters>
    >>> str(HtmlFragment("<b>Vienna</b>"))
    '<b>Vienna</b>'
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self):,} characters>"


def escape_controls(text: str) -> str:
    """Return a text whose control characters and direction marks are visible, for a terminal or a page.

    Tabs and line feeds stay.

    >>> escape_controls("a\x1b[31mb")
    'a␛[31mb'
    """
    return text.translate(_VISIBLE)


def escape_html(text: str) -> str:
    """Escape a text for HTML content and quoted attributes, so that its exact characters are displayed.

    >>> escape_html('<script>"')
    '&lt;script&gt;&quot;'
    """
    return html.escape(escape_controls(text))


_CONTROLS = {**{code: 0x2400 + code for code in range(32) if code not in (9, 10)}, 127: 0x2421}
_DIRECTIONS = dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
_VISIBLE = {**_CONTROLS, **_DIRECTIONS, **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)}


def mark_pieces(pieces: Iterable[MarkedPiece], *, show_originals: bool = False) -> str:
    """Return the HTML of a sanitized text in which replaced parts are marked with their entity type.

    Args:
        pieces: The parts of the text, in order.
        show_originals: Whether each replaced part has its original before it, crossed out.

    Privacy:
        Without ``show_originals`` the result contains only the sanitized text and the types of its replaced parts, and
        no original or reason.

    >>> mark_pieces([MarkedPiece("in "), MarkedPiece("Vienna", "city", "Leeds")])
    '<div class="tv-text">in <mark data-kind="replaced">Vienna<small>city</small></mark></div>'
    """
    return _join_limited((piece.output, _mark_piece(piece, show_originals=show_originals)) for piece in pieces)


def mark_originals(pieces: Iterable[MarkedPiece]) -> str:
    """Return the HTML of an original text, with the parts crossed out that sanitizing replaced.

    Args:
        pieces: The parts of the text, in order.

    >>> mark_originals([MarkedPiece("in "), MarkedPiece("Vienna", "city", "Leeds")])
    '<div class="tv-text">in <del>Leeds</del></div>'
    """
    return _join_limited(map(_mark_original, pieces))


def _join_limited(parts: Iterable[tuple[str, str]]) -> str:
    """Join the HTML of consecutive parts, and stop after 20,000 characters of text.

    Args:
        parts: Pairs of the plain text of a part and its HTML.
    """
    joined, size, left_out = list[str](), 0, 0
    for text, marked in parts:
        if size >= _MAX_CHARACTERS:
            left_out += len(text)
            continue
        rest = _MAX_CHARACTERS - size
        joined.append(marked if len(text) <= rest else escape_html(text[:rest]))
        left_out += max(0, len(text) - rest)
        size += len(text)
    if left_out:
        joined.append(f'<span class="tv-line"> … {left_out:,} more characters</span>')
    return f'<div class="tv-text">{"".join(joined)}</div>'


def _mark_original(piece: MarkedPiece) -> tuple[str, str]:
    """Return the original text of a part twice: as plain text, and as HTML.

    In the HTML, a replaced original is marked as deleted, and an unchanged word has the reason as its tooltip.
    """
    if piece.treatment != KEPT_TEXT:
        return piece.original, f"<del>{escape_html(piece.original)}</del>" if piece.original else ""
    escaped = escape_html(piece.output)
    why = f'<span class="tv-why" title="{escape_html(piece.reason)}">{escaped}</span>'
    return piece.output, why if piece.reason else escaped


def _mark_piece(piece: MarkedPiece, *, show_originals: bool) -> str:
    output = escape_html(piece.output)
    if piece.treatment == KEPT_TEXT:
        return output
    label = f"<small>{escape_html(piece.treatment)}</small>" if piece.treatment else ""
    kind = "randomized" if piece.treatment == "randomized" else "replaced"
    original = f"<del>{escape_html(piece.original)}</del>" if show_originals and piece.original else ""
    shown = output or '<span aria-label="removed">∅</span>'
    return f'<mark data-kind="{kind}">{original}{shown}{label}</mark>'


def make_fragment(pieces: Iterable[MarkedPiece], line: str, *, show_originals: bool) -> str:
    """Return the HTML of a text for a notebook, with style sheet and privacy statement.

    A fragment with originals begins with ``PRIVATE_NOTICE``.

    Args:
        pieces: The parts of the text, in order.
        line: The privacy statement: a line below the text.
        show_originals: Whether the fragment contains the originals.
    """
    notice = f"<!-- {PRIVATE_NOTICE} -->\n<p><strong>{PRIVATE_NOTICE}</strong></p>" if show_originals else ""
    marked = mark_pieces(pieces, show_originals=show_originals)
    return f'{notice}<div><style>{_MARKS_CSS}</style>{marked}<p class="tv-line">{escape_html(line)}</p></div>'


def get_content_policy() -> str:
    """Return the content security policy (CSP) of the HTML pages of ``iterate_page``.

    The policy permits the style sheet of the page, and no scripts, images, frames, forms or connections.

    >>> get_content_policy().startswith("default-src 'none'; style-src 'sha256-")
    True
    """
    digest = b64encode(sha256(_STYLE.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def iterate_page(title: str, sections: Iterable[str], notice: str = PRIVATE_NOTICE) -> Iterator[str]:
    r"""Yield an HTML page, part by part. The first line is a comment with a privacy notice.

    Args:
        title: Title of the page, plain text.
        sections: HTML of the content, in parts.
        notice: Privacy notice, without characters of markup; by default the notice of a page with original text.

    >>> next(iterate_page("Changes", []))
    '<!-- contains your original text: do not send -->\n<!doctype html>\n'
    """
    escaped = escape_html(title)
    yield f"<!-- {notice} -->\n<!doctype html>\n"
    yield '<html lang="en"><head><meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{get_content_policy()}">\n'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
    yield '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">\n'
    yield f"<title>{escaped}</title><style>{_STYLE}</style></head><body>\n"
    yield f'<p class="notice" role="note">{notice}</p>\n<h1>{escaped}</h1>\n'
    yield from sections
    yield "</body></html>\n"
