"""Align a text with its sanitized output: find which part of the output replaces which original words.

``Sanitizer.preview`` lists the parts of the original that are replaced. This module finds the position of each
replacement in the output. The other parts occur unchanged in the output, so a replacement lies between two unchanged
parts. If several positions are possible, the module chooses the one at which replacement and original are most similar,
for instance in the number of words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from textveil.text.explanation import ExplainedPiece
from textveil.text.marked_html import MarkedPiece

from textveil_cli.changes.word_changes import iterate_word_changes

#: Treatment of a changed part for which the original treatment is unknown.
CHANGED = "changed"
#: Reasons for kept words that a view shows at each word: an option of the user, or a public fact.
_NOTABLE_REASONS = ("facts", "keep", "allow")
_DIGIT = re.compile(r"\d")
_TAG = re.compile(r'"?-?\[[\w -]+\]"?')
#: Maximum number of characters that are aligned.
_MAX_CHARACTERS = 20_000
#: Maximum number of positions that the search follows at a time, and that it tries for one replacement.
_MAX_PLACES, _MAX_TRIES = 12, 12
#: Maximum characters of a replacement, and maximum ratio of its length to that of its original.
_MAX_REPLACEMENT, _MAX_GROWTH = 80, 4


class _AlignedPlace(NamedTuple):
    """Candidate during the search for the replacements of words: where each replacement so far lies in the output.

    Several candidates can end at one position of the output; the search prefers the one with the lowest cost.

    Attributes:
        cost: Sum of the differences between the replacements so far and the words that they replace; see
            ``_compute_difference``.
        ends: Start and end of each replacement so far, as a linked list of tuples with the last replacement first.
    """

    cost: int
    ends: "tuple[int, int, object] | None"


def align_pieces(
    pieces: Sequence[ExplainedPiece], output: str, spans: Sequence[tuple[int, int]] | None = None
) -> list[MarkedPiece]:
    """Split a sanitized text into parts, and pair each part with the original words that it replaces or repeats.

    Args:
        pieces: Tokens of the original text, and gaps (the text between two tokens), each with its treatment, such as
            unchanged or replaced.
        output: The sanitized text.
        spans: Start and end of each replacement in the output, if the caller knows them; ``None`` to search for them.

    Privacy:
        The result contains the original text.
    """
    if spans is None and "".join(piece.text for piece in pieces) == output:
        return [MarkedPiece(output)]  # such as tags that a model wrote, which the gateway sends unchanged
    separate = [*_iterate_groups(pieces, joined=False)]
    if spans is not None and _fit_spans(separate, spans, output):
        return [*_iterate_marked(separate, spans, output)]
    groups = [*_iterate_groups(pieces, joined=True)]
    found = None if len(output) > _MAX_CHARACTERS else _find_replacements(groups, output)
    if found is None:
        return compare_words("".join(piece.text for piece in pieces), output)
    return [*_iterate_marked(groups, found, output)]


def compare_words(original: str, output: str) -> list[MarkedPiece]:
    """Compare a sanitized text with the original word by word, and pair its parts with original words."""
    parts = iterate_word_changes(original, output)
    return [MarkedPiece(new) if is_equal else MarkedPiece(new, CHANGED, old) for old, new, is_equal in parts]


def _is_unchanged(piece: ExplainedPiece) -> bool:
    return piece.state in ("kept", "gap")


def _iterate_groups(pieces: Iterable[ExplainedPiece], *, joined: bool) -> Iterator[list[ExplainedPiece]]:
    """Yield the tokens of a text in groups. Adjacent unchanged tokens form one group.

    If ``joined`` is true, adjacent replaced tokens form one group too. If not, each of them is a group.

    Args:
        pieces: Tokens of the original text, and gaps (the text between two tokens), each with its treatment.
        joined: Whether adjacent replaced tokens form one group.
    """
    for is_unchanged, group in groupby(pieces, _is_unchanged):
        if is_unchanged or joined:
            yield [*group]
        else:
            yield from ([piece] for piece in group)


def _fit_spans(groups: Sequence[Sequence[ExplainedPiece]], spans: Sequence[tuple[int, int]], output: str) -> bool:
    """Return whether the given positions of replacements can be right, that is, fit the unchanged text around them.

    The positions fit if the output between the replacements is exactly the unchanged text.

    Args:
        groups: Groups of tokens of the original text, each unchanged or replaced in the output.
        spans: Start and end of each replacement in the output.
        output: The sanitized text.
    """
    remaining, position = iter(spans), 0
    for group in groups:
        if not _is_unchanged(group[0]):
            start, position = next(remaining, (-1, -1))
            fits = start >= 0
        else:
            text = "".join(piece.text for piece in group)
            fits, position = output.startswith(text, position), position + len(text)
        if not fits:
            return False
    return next(remaining, None) is None and position == len(output)


def _find_replacements(groups: Sequence[Sequence[ExplainedPiece]], output: str) -> list[tuple[int, int]] | None:
    """Find where in the output the replacement of each replaced group starts and ends.

    Args:
        groups: Groups of tokens of the original text, each unchanged or replaced in the output.
        output: The sanitized text.

    Returns:
        Start and end of each replacement in the output; ``None`` if the output does not contain all unchanged groups in
        order.
    """
    places: dict[int, _AlignedPlace] = {0: _AlignedPlace(0, None)}
    texts = ["".join(piece.text for piece in group) for group in groups]
    for number, (group, text) in enumerate(zip(groups, texts, strict=True)):
        if _is_unchanged(group[0]):
            places = {start + len(text): at for start, at in places.items() if output.startswith(text, start)}
        else:
            places = _extend_places(places, text, texts[number + 1] if number + 1 < len(texts) else None, output)
        if not places:
            return None
    if len(output) not in places:
        return None
    spans = list[tuple[int, int]]()
    link: object = places[len(output)].ends
    while isinstance(link, tuple):
        start, end, link = link
        spans.append((start, end))
    return spans[::-1]


def _extend_places(
    places: dict[int, _AlignedPlace], original: str, following: str | None, output: str
) -> dict[int, _AlignedPlace]:
    """Find the positions in the output at which the replacement of a word may end.

    A replacement ends where the next unchanged text begins. If the unchanged text occurs several times in the output,
    there are several possible positions.

    Args:
        places: Positions at which the replacement may begin.
        original: The replaced text.
        following: Unchanged text after the replaced text; ``None`` at the end of the text.
        output: The sanitized text.

    Returns:
        For each position its alignment: the words so far, and the sum of their differences. If there are too many
        positions, only those with the smallest differences.
    """
    extended: dict[int, _AlignedPlace] = {}
    for start, (cost, ends) in places.items():
        for end in _iterate_ends(start, original, following, output):
            new_cost = cost + _compute_difference(original, output[start:end])
            if end not in extended or new_cost < extended[end].cost:
                extended[end] = _AlignedPlace(new_cost, (start, end, ends))
    if len(extended) <= _MAX_PLACES:
        return extended
    return dict(sorted(extended.items(), key=lambda item: (item[1].cost, item[0]))[:_MAX_PLACES])


def _iterate_ends(start: int, original: str, following: str | None, output: str) -> Iterator[int]:
    if following is None:
        yield len(output)
        return
    limit = start + _MAX_REPLACEMENT + _MAX_GROWTH * len(original) + len(following)
    end = output.find(following, start, limit)
    for _ in range(_MAX_TRIES):
        if end < 0:
            return
        yield end
        end = output.find(following, end + 1, limit)


def _compute_difference(original: str, replacement: str) -> int:
    """Return a penalty for the differences between a replacement and an original, e.g. in the number of words."""
    if _TAG.fullmatch(replacement):
        return 0
    words = len(replacement.split())
    has_edge_blank = replacement[:1].isspace() or replacement[-1:].isspace()
    lines = abs(original.count("\n") - replacement.count("\n"))
    return (
        (2 if original.replace(" ", "").isalpha() else 6) * abs(len(original.split()) - words)
        + 3 * has_edge_blank
        + 6 * lines
        + 4 * (replacement.count("[") != replacement.count("]"))
        + 4 * (("@" in original) != ("@" in replacement))
        + 2 * (_DIGIT.search(original) is None and _DIGIT.search(replacement) is not None and words == 1)
        + 2 * (original.isupper() != replacement.isupper())
        + 2 * (original.isalnum() != replacement.isalnum() and words == 1)
    )


def _iterate_marked(
    groups: Iterable[Sequence[ExplainedPiece]], spans: Iterable[tuple[int, int]], output: str
) -> Iterator[MarkedPiece]:
    remaining = iter(spans)
    for group in groups:
        if _is_unchanged(group[0]):
            for reason, kept in groupby(group, _find_notable_reason):
                yield MarkedPiece(output="".join(piece.text for piece in kept), reason=reason)
            continue
        start, end = next(remaining)
        states = dict.fromkeys("randomized" if piece.state == "unknown" else piece.state for piece in group)
        original, reason = "".join(piece.text for piece in group), group[0].reason
        yield MarkedPiece(output=output[start:end], treatment=", ".join(states), original=original, reason=reason)


def _find_notable_reason(piece: ExplainedPiece) -> str:
    return piece.reason if piece.reason.startswith(_NOTABLE_REASONS) else ""
