"""Removal of further spans from a sanitized text: those that a second detector of names finds.

The detector receives the sanitized text, never the original: otherwise its choice of spans could reveal replaced words.
It can only remove words. So the privacy guarantees of the sanitized text still hold (docs/proofs/names.md).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from textveil.errors import DetectorFailed

#: The text that replaces a span that a detector hides.
HIDDEN_MARKER = "[hidden]"
#: Function that returns the start and the end of each span of an output to hide, in any order.
SpanDetector = Callable[[str], Iterable[Sequence[int]]]
#: From the first word of a span to its last.
_WORD_RANGE = re.compile(r"\w(?:.*\w)?", re.DOTALL)


def hide_detected_spans(text: str, detector: SpanDetector, kept_spans: Sequence[tuple[int, int]] = ()) -> str:
    """Replace the spans that a detector finds in a sanitized text by ``[hidden]``.

    Args:
        text: The sanitized text.
        detector: Function that returns the spans to hide.
        kept_spans: Spans that must stay, in order: surrogates (replacements) that are later restored in replies.

    Raises:
        DetectorFailed: The detector raised an error, or its result is not a list of spans of the text. No text is
            returned.
    """
    try:
        spans = sorted((start, end) for start, end in detector(text))
        is_valid = all(type(start) is type(end) is int and 0 <= start <= end <= len(text) for start, end in spans)
    except Exception as error:  # the message of any exception may quote the text
        raise DetectorFailed(f"the external detector raised {type(error).__name__}; nothing was released") from None
    if not is_valid:
        raise DetectorFailed("the external detector returned positions outside the text; nothing was released")
    parts, position = [], 0
    for start, end in chain.from_iterable(_iterate_hidden_parts(text, start, end, kept_spans) for start, end in spans):
        if end > position and end > start:
            if start >= position:
                parts += [text[position:start], HIDDEN_MARKER]
            position = end
    return "".join([*parts, text[position:]])


def _iterate_hidden_parts(
    text: str, start: int, end: int, kept_spans: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the parts to hide of ``text[start:end]``: the whole range, or only its words outside of ``kept_spans``.

    Args:
        text: The sanitized text.
        start: Start of the range.
        end: End of the range.
        kept_spans: Start and end of spans that must stay.
    """
    edges = [place for one in kept_spans if one[0] < end and one[1] > start for place in one]
    if not edges:
        yield start, end
        return
    for first, last in zip([start, *edges[1::2]], [*edges[::2], end], strict=True):
        if match := _WORD_RANGE.search(text, first, last):
            yield match.span()
