"""Hides what an outside detector finds in one drawn output: post-processing, so nothing that is promised changes.

A detector that read the original could tell hidden words by which shown ones it hides. So it gets the output, in which
surrogates stand, and may only take words away (docs/proofs/names.md).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from textveil.errors import DetectorFailed

#: What stands where only a detector hides something.
HIDDEN = "[hidden]"
#: Reads an output, and returns start and end of each part to hide, in any order.
Detector = Callable[[str], Iterable[Sequence[int]]]
#: A text from its first word to its last.
_WORDS = re.compile(r"\w(?:.*\w)?", re.DOTALL)


def hide(text: str, detector: Detector, kept: Sequence[tuple[int, int]] = ()) -> str:
    """Returns an output without what a detector finds in it.

    Args:
        text: One drawn output.
        detector: Finds more to hide.
        kept: What stays, in order: surrogates that are to come back.

    Raises:
        DetectorFailed: It raised an error, or returned anything but places in the text. Nothing is released.
    """
    try:
        spans = sorted((start, end) for start, end in detector(text))
        sound = all(type(start) is type(end) is int and 0 <= start <= end <= len(text) for start, end in spans)
    except Exception as error:  # whatever it raises may quote the text
        raise DetectorFailed(f"the outside detector failed ({type(error).__name__}): nothing is released") from None
    if not sound:
        raise DetectorFailed("the outside detector returned places that the text does not have: nothing is released")
    parts, position = [], 0
    for start, end in chain.from_iterable(_less(text, start, end, kept) for start, end in spans):
        if end > position and end > start:
            if start >= position:
                parts += [text[position:start], HIDDEN]
            position = end
    return "".join([*parts, text[position:]])


def _less(text: str, start: int, end: int, kept: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The words of a part that are in nothing that stays; all of it if that is nowhere in it."""
    edges = [place for one in kept if one[0] < end and one[1] > start for place in one]
    if not edges:
        yield start, end
        return
    for first, last in zip([start, *edges[1::2]], [*edges[::2], end], strict=True):
        if found := _WORDS.search(text, first, last):
            yield found.span()
