"""Pairs of surrogate and original, by which a reply to a rewritten text is restored.

A surrogate that is too short to be distinguished from the own words of a reply counts only beside its neighbors (``7
chairs``), or where the reply repeats the text before and after it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from textveil.bundle.rules import english_rules
from textveil.text.forms import Pair, word_before
from textveil.text.names.emoji import KEYCAP
from textveil.text.names.kinds import Mention, Piece
from textveil.text.names.tokens import JSON_NUMBER
from textveil.text.surroundings import cut_after, cut_before, join_after, join_before, stands_alone
from textveil.work_limits import check_work

#: Types that only their surroundings distinguish from words of the reply, types that need an adjacent word, and types
#: that are never restored.
_QUOTED = frozenset(("initial", "letter", "symbol", "other"))
_WEAK = frozenset(("title", "number-word", "unit", "office", KEYCAP))
_NEVER = frozenset(("particle",))
#: Types with so few surrogates that long texts reuse them for other originals.
_REPEATED = frozenset("weekday month state the-country day age ordinal decade year time".split())
#: Months that are also other words.
_WORDS = english_rules().month_words
_DATES = frozenset((("day", "month", "year"), ("month", "day", "year"), ("day", "month"), ("month", "day")))
_BEGIN_DATES = frozenset(kinds[0] for kinds in _DATES)
_IN_DATES = frozenset((" ", ", ", ". "))
_WORD_AFTER = re.compile(r"[%\u20ac]|-?\w[\w'\u2019]+| ?[^\W\d_][\w'\u2019]{3,}|\.? [^\W\d_]\w+")
_BLANK = frozenset(("", " ", "\n"))
_SIGNS = frozenset("$\u20ac\u00a3\u00a5#")
#: The length up to which words are no context, and the number of characters that are read after a mention.
_SHORT, _NEAR = 3, 40
#: Number of pieces per step, and how many before and after a piece its pairs may depend on.
_WINDOW, _BEFORE, _AFTER = 1 << 8, 24, 16
#: The most pairs with surroundings per text, and the most surrogates whose first spelling is stored. Each needs some
#: hundred bytes.
_MOST_QUOTED, _MOST_SPELLED = 1 << 9, 1 << 10


def write(pieces: Iterable[Piece]) -> tuple[str, list[Pair]]:
    """Join the parts of a text, and return the pairs that restore replies to it.

    Of many equal mentions only some count. Few parts are in memory at a time: together they need many times the memory
    of the text.
    """
    written: list[str] = []
    found: list[Pair] = []
    seen, spelled, quoted = set[Pair](), dict[str, str](), 0
    left, window, start, is_start, is_end = iter(pieces), list[Piece](), 0, True, False
    while not is_end:
        more = [*islice(left, _WINDOW)]
        written.append("".join(piece.output for piece in more))
        window += more
        is_end = len(more) < _WINDOW
        stop = len(window) if is_end else max(start, len(window) - _AFTER)
        for pair in dict.fromkeys(find_pairs(window, start, stop, is_start=is_start, is_end=is_end, spelled=spelled)):
            if pair.after is not None or (pair.weak and not pair.before):
                if pair in seen or (pair.after is not None and quoted >= _MOST_QUOTED):
                    continue
                seen.add(pair)
                quoted += pair.after is not None
            found.append(pair)
        past = max(0, stop - _BEFORE)
        window, start, is_start = window[past:], stop - past, is_start and not past
    return "".join(written), found


def find_pairs(
    pieces: Sequence[Piece],
    start: int = 0,
    stop: int | None = None,
    *,
    is_start: bool = True,
    is_end: bool = True,
    spelled: dict[str, str] | None = None,
) -> Iterator[Pair]:
    """Yield the pairs of the mentions in a range of pieces.

    Args:
        pieces: Parts of the text.
        start: The first part whose mention counts. Earlier parts are context.
        stop: The index after the last such part; ``None`` for the end. Later parts are context.
        is_start: Whether the text begins with the first of the parts.
        is_end: Whether the text ends with the last of the parts.
        spelled: Spelling of the original at the first occurrence of each surrogate. The function adds those of this
            text.
    """
    check_work()
    spelled = {} if spelled is None else spelled
    for place in range(start, len(pieces) if stop is None else stop):
        piece = pieces[place]
        mention = piece.mention
        if mention is None or not piece.output:
            continue
        if not piece.parts:
            yield from _find_tag_pairs(piece.output, mention)
            if _is_spelled_otherwise(piece, spelled) or mention.named != mention.slot.text:
                yield _quoted(pieces, place, is_start=is_start, is_end=is_end)
            continue
        if len(piece.parts) > 1:
            yield Pair(piece.output, mention.named)
        date = next(_dates(pieces, place), None) if mention.kind in _BEGIN_DATES else None
        is_weak = False
        is_other = _is_spelled_otherwise(piece, spelled) or mention.named != mention.slot.text
        for output, part in zip(piece.parts, mention.parts, strict=True):
            weak = part.kind in _WEAK or (part.kind == "month" and output.lower() in _WORDS)
            if weak or (len(output) == 1 and output.isdigit()):  # 7 March is the date, not a 7 in context
                found = _with_context(pieces, place, output, part.text)
                yield from (pair for pair in found if date is None or pair.output != date.output)
                is_weak = len(piece.parts) == 1
            elif part.kind in _QUOTED:
                if len(piece.parts) == 1:
                    yield Pair(output, part.text, weak=True)
                    is_weak = True
            elif part.kind not in _NEVER:
                yield Pair(output, part.text)
                if part.kind == "year-range":
                    yield from _years(output, part.text)
                elif part.kind == "season":
                    yield from _seasons(output, part.text)
                elif part.kind == "account":  # a JSON number has no leading zeros
                    yield Pair(output.lstrip("0"), part.text)
                elif part.kind == "organization":
                    yield from _parts(output.split(), part.text.split())
                elif part.kind == "number" and output.endswith("0") and "." in output:
                    yield Pair(output.rstrip("0").rstrip("."), part.text)
        if date is not None:
            yield date
        is_quoted = is_weak or is_other or mention.kind in _REPEATED or _is_joined(pieces, place)
        if is_quoted and not (len(pieces) == 1 and mention.case == JSON_NUMBER):  # JSON values are restored as a whole
            yield _quoted(pieces, place, is_start=is_start, is_end=is_end, weak=not is_other)


def _is_spelled_otherwise(piece: Piece, spelled: dict[str, str]) -> bool:
    """Return whether the surrogate alone may restore a spelling from another occurrence."""
    output, original = piece.output, piece.original
    of_all = output.lower()
    first = spelled.get(of_all, original)
    if len(spelled) < _MOST_SPELLED:
        spelled.setdefault(of_all, original)
    shows_no_case = output[0] == "[" or any(map(str.isdigit, output))
    return first != original or (shows_no_case and original.isupper())  # a later occurrence without capitals counts


def _is_joined(pieces: Sequence[Piece], place: int) -> bool:
    """Return whether a surrogate is a part of a longer word or number."""
    before = "".join([piece.output for piece in pieces[max(0, place - 2) : place]])[-3:]
    after = "".join([piece.output for piece in pieces[place + 1 : place + 3]])[:2]
    if before[-1:] in _BLANK and after[:1] in _BLANK:  # the usual case
        return False
    output = pieces[place].output
    return not stands_alone(before + output + after, len(before), len(before) + len(output))


def _quoted(pieces: Sequence[Piece], place: int, *, is_start: bool, is_end: bool, weak: bool = False) -> Pair:
    """Return the pair of a whole mention with the text before and after it."""
    first, last = max(0, place - _BEFORE), place + 1 + _AFTER
    before = join_before([piece.output for piece in pieces[first:place]])
    after = join_after([piece.output for piece in pieces[place + 1 : last]])
    piece = pieces[place]
    return Pair(
        piece.output,
        piece.original,
        weak=weak,
        before=cut_before(before, is_start=is_start and first == 0),
        after=cut_after(after, is_end=is_end and last >= len(pieces)),
    )


def _find_tag_pairs(output: str, mention: Mention) -> Iterator[Pair]:
    """Yield the pairs of a tag.

    A JSON number becomes a tag in quotation marks; a reply may repeat it with or without them.
    """
    yield Pair(output, mention.named)
    if mention.case == JSON_NUMBER:
        yield Pair(output[1:-1], mention.named)
        if output[1] == "-":
            yield Pair(output[2:-1], mention.named[1:])


def _parts(output: Sequence[str], original: Sequence[str]) -> Iterator[Pair]:
    """Yield pairs of the first and the last words of an organization.

    An unlisted person may have this type, and replies may use one of the names.
    """
    if len(output) > 1 and len(original) > 1:
        yield Pair(output[0], original[0])
        if len(output) == len(original):
            yield Pair(output[-1], original[-1])


def _years(output: str, original: str) -> Iterator[Pair]:
    """Yield a range of years with the other dash, and each year alone."""
    years, originals = re.findall("[0-9]+", output), re.findall("[0-9]+", original)
    yield from (Pair(mark.join(years), mark.join(originals)) for mark in "-\u2013" if mark != output[4])
    yield from map(Pair, years, originals)


def _seasons(output: str, original: str) -> Iterator[Pair]:
    """Yield a season with the other marks, and the year in which it begins."""
    yield from (Pair(f"{output[:4]}{mark}{output[5:]}", original) for mark in "/-\u2013" if mark != output[4])
    yield Pair(output[:4], original[:4])


def _with_context(pieces: Sequence[Piece], place: int, output: str, original: str) -> Iterator[Pair]:
    before = word_before("".join(piece.output for piece in pieces[max(0, place - 3) : place]))
    after = _WORD_AFTER.match("".join(piece.output for piece in pieces[place + 1 : place + 4])[:_NEAR])
    yield Pair(output, original, 0, True, before if len(before) > _SHORT or before in _SIGNS else "")
    if after is not None:
        for follows in dict.fromkeys((after[0], after[0].lstrip("."))):
            yield Pair(output + follows, original, len(output))


def _dates(pieces: Sequence[Piece], place: int) -> Iterator[Pair]:
    """Yield the date of several mentions that begins at an index, if there is one."""
    for length in (5, 3):
        found = pieces[place : place + length]
        kinds = tuple(piece.mention.kind for piece in found[::2] if piece.mention is not None)
        if len(found) == length and kinds in _DATES and all(piece.output in _IN_DATES for piece in found[1::2]):
            yield Pair("".join(piece.output for piece in found), "".join(piece.original for piece in found))
            return
