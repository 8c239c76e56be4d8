"""Explained previews: each piece of a text with its position and the reason for its treatment."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

#: Reason for a kept word of the list of function words; the only reason in the modes ``words`` and ``all``.
FUNCTION_WORD = "function-word"


class ExplainedPiece(NamedTuple):
    """A piece of a text in an explained preview.

    >>> from textveil import Sanitizer
    >>> for piece in Sanitizer.load().preview("Call Anna Novak.", explain=True, protect="names"):
    ...     print(piece.start, piece.end, piece.text, piece.state, piece.reason, sep="|")
    0|4|Call|kept|common-word-at-start
    4|5| |gap|
    5|15|Anna Novak|person|list: given, family
    15|16|.|gap|

    Attributes:
        text: The piece.
        state: Its treatment, as in ``Sanitizer.preview``.
        start: Index of its first character in the text, in code points.
        end: Index after its last character.
        reason: The list or rule that decides the treatment. Empty for gaps, and for all but function words in the modes
            ``words`` and ``all``.
    """

    text: str
    state: str
    start: int
    end: int
    reason: str


def explain_function_words(pieces: Iterable[tuple[str, str]]) -> Iterator[ExplainedPiece]:
    """Yield the pieces of a preview of the modes ``words`` and ``all`` with their positions and reasons.

    Args:
        pieces: Each piece with its treatment.
    """
    start = 0
    for text, state in pieces:
        end = start + len(text)
        yield ExplainedPiece(text, state, start, end, FUNCTION_WORD if state == "kept" else "")
        start = end
