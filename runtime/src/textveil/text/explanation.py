"""Explained previews: for each part of a text its position, its treatment (unchanged or replaced), and the reason."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

#: Reason for a kept word of the list of function words; the only reason in the modes ``words`` and ``all``.
FUNCTION_WORD = "function-word"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPiece:
    """A part of a text in an explained preview: a token (such as a word), or a gap (blanks and marks between tokens).

    >>> from textveil import Sanitizer
    >>> for piece in Sanitizer.load().preview("Call Anna Novak.", explain=True, protect="names"):
    ...     print(piece.start, piece.end, piece.text, piece.state, piece.reason, sep="|")
    0|4|Call|kept|common-word-at-start
    4|5| |gap|
    5|15|Anna Novak|person|list: given, family
    15|16|.|gap|

    Attributes:
        text: The characters of the part.
        state: The treatment of the part, as in ``Sanitizer.preview``.
        start: Index of its first character in the text, in code points.
        end: Index after its last character.
        reason: The list or rule that decides the treatment; empty for gaps. With ``protect="words"`` or
            ``protect="all"``, only function words have a reason.
    """

    text: str
    state: str
    start: int
    end: int
    reason: str


def explain_function_words(pieces: Iterable[tuple[str, str]]) -> Iterator[ExplainedPiece]:
    """Yield the parts of a preview with positions and reasons, for ``protect="words"`` or ``"all"``.

    Args:
        pieces: Pairs of a part of the text and its treatment, in order.

    Yields:
        An ``ExplainedPiece`` for each pair.
    """
    start = 0
    for text, state in pieces:
        end = start + len(text)
        reason = FUNCTION_WORD if state == "kept" else ""
        yield ExplainedPiece(text=text, state=state, start=start, end=end, reason=reason)
        start = end
