"""What a reply may mention of a text that went out: pairs of what came out and what stood there.

What is too short to be told from a reply's own words counts beside the words that it stood beside: ``7 chairs``.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from textveil.text.forms import Pair, word_before
from textveil.text.names.emoji import KEYCAP
from textveil.text.names.kinds import Mention, Piece
from textveil.text.names.tokens import JSON_NUMBER
from textveil.work_limits import check_work

#: Kinds of which a part is never looked for by itself, and those that need a word beside them.
_NEVER = frozenset(("initial", "letter", "other", "particle"))
_WEAK = frozenset(("title", "number-word", "unit", "office", KEYCAP))
#: Months that are other words too.
_WORDS = frozenset(("march", "may"))
_DATES = frozenset((("day", "month", "year"), ("month", "day", "year"), ("day", "month"), ("month", "day")))
_BEGIN_DATES = frozenset(kinds[0] for kinds in _DATES)
_IN_DATES = frozenset((" ", ", ", ". "))
_WORD_AFTER = re.compile(r"[%\u20ac]|-?\w[\w'\u2019]+| ?[^\W\d_][\w'\u2019]{3,}|\.? [^\W\d_]\w+")
_SIGNS = frozenset("$\u20ac\u00a3\u00a5#")
#: The length of words that tell nothing, and of what is looked at behind a mention.
_SHORT, _NEAR = 3, 40
#: Parts of a text that are looked at together, and how many before and behind one a pair of it may depend on.
_WINDOW, _BEFORE, _AFTER = 1 << 8, 3, 4


def write(pieces: Iterable[Piece]) -> tuple[str, list[Pair]]:
    """Join the parts of a text, and return what may be mentioned of it; of many equal mentions only some.

    Few of the parts are in memory at a time: together they take many times the text.
    """
    written: list[str] = []
    found: list[Pair] = []
    left, window, start = iter(pieces), list[Piece](), 0
    while True:
        more = [*islice(left, _WINDOW)]
        written.append("".join(piece.output for piece in more))
        window += more
        stop = len(window) - _AFTER if len(more) == _WINDOW else len(window)
        found += dict.fromkeys(find_pairs(window, start, stop))
        if len(more) < _WINDOW:
            return "".join(written), found
        window = window[stop - _BEFORE :]
        start = _BEFORE


def find_pairs(pieces: Sequence[Piece], start: int = 0, stop: int | None = None) -> Iterator[Pair]:
    """Yields what may be mentioned of a text.

    Args:
        pieces: Its parts.
        start: The first part whose mention counts; those before it are looked at.
        stop: The one behind the last, the same; ``None`` for the end.
    """
    check_work()
    for place in range(start, len(pieces) if stop is None else stop):
        piece = pieces[place]
        mention = piece.mention
        if mention is None or not piece.output:
            continue
        if not piece.parts:
            yield from _find_tag_pairs(piece.output, mention)
            continue
        if len(piece.parts) > 1:
            yield Pair(piece.output, mention.named)
        date = next(_dates(pieces, place), None) if mention.kind in _BEGIN_DATES else None
        for output, part in zip(piece.parts, mention.parts, strict=True):
            weak = part.kind in _WEAK or (part.kind == "month" and output.lower() in _WORDS)
            if weak or (len(output) == 1 and output.isdigit()):  # 7 March is the date, not a 7 in context
                found = _with_context(pieces, place, output, part.text)
                yield from (pair for pair in found if date is None or pair.output != date.output)
            elif part.kind not in _NEVER:
                yield Pair(output, part.text)
                if part.kind == "year-range":
                    yield from _years(output, part.text)
                elif part.kind == "account":  # a number of JSON has no zeros before it
                    yield Pair(output.lstrip("0"), part.text)
                elif part.kind == "organization":
                    yield from _parts(output.split(), part.text.split())
                elif part.kind == "number" and output.endswith("0") and "." in output:
                    yield Pair(output.rstrip("0").rstrip("."), part.text)
        if date is not None:
            yield date


def _find_tag_pairs(output: str, mention: Mention) -> Iterator[Pair]:
    """Yield the pairs of a tag. A number of JSON is a tag in quotation marks, and comes back without them."""
    yield Pair(output, mention.named)
    if mention.case == JSON_NUMBER:
        yield Pair(output[1:-1], mention.named)
        if output[1] == "-":
            yield Pair(output[2:-1], mention.named[1:])


def _parts(output: Sequence[str], original: Sequence[str]) -> Iterator[Pair]:
    """The first word of a firm, and the last: it may be a person on no list, whom replies call by one of them."""
    if len(output) > 1 and len(original) > 1:
        yield Pair(output[0], original[0])
        if len(output) == len(original):
            yield Pair(output[-1], original[-1])


def _years(output: str, original: str) -> Iterator[Pair]:
    """A range of years with either dash, and each year of it alone."""
    years, originals = re.findall("[0-9]+", output), re.findall("[0-9]+", original)
    yield from (Pair(mark.join(years), mark.join(originals)) for mark in "-\u2013" if mark != output[4])
    yield from map(Pair, years, originals)


def _with_context(pieces: Sequence[Piece], place: int, output: str, original: str) -> Iterator[Pair]:
    before = word_before("".join(piece.output for piece in pieces[max(0, place - 3) : place]))
    after = _WORD_AFTER.match("".join(piece.output for piece in pieces[place + 1 : place + 4])[:_NEAR])
    yield Pair(output, original, 0, True, before if len(before) > _SHORT or before in _SIGNS else "")
    if after is not None:
        for follows in dict.fromkeys((after[0], after[0].lstrip("."))):
            yield Pair(output + follows, original, len(output))


def _dates(pieces: Sequence[Piece], place: int) -> Iterator[Pair]:
    """A date of several mentions that begins here."""
    for length in (5, 3):
        found = pieces[place : place + length]
        kinds = tuple(piece.mention.kind for piece in found[::2] if piece.mention is not None)
        if len(found) == length and kinds in _DATES and all(piece.output in _IN_DATES for piece in found[1::2]):
            yield Pair("".join(piece.output for piece in found), "".join(piece.original for piece in found))
            return
