"""Positions of the replaced parts of an output, for views that mark them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

#: Treatment of a word that a mechanism or a word list randomizes.
RANDOMIZED_WORD = "randomized"


class ReplacedSpan(NamedTuple):
    """A replaced part of an output.

    Attributes:
        start: Index of its first character in the output.
        end: Index after its last character; equal to ``start`` if the part was removed.
        entity_type: Public name of its entity type, or ``RANDOMIZED_WORD``.
        original: The original text; empty where no original may outlive the call.
    """

    start: int
    end: int
    entity_type: str
    original: str = ""


def record_spans(elements: Iterable[Any], spans: list[ReplacedSpan], public_names: dict[str, str]) -> Iterator[Any]:
    """Yield the elements of a text, and add a span for each one that is not kept.

    Args:
        elements: The elements, with their outputs: ``names.reply_pairs.RewrittenElement``.
        spans: Receives the spans.
        public_names: Public name of each entity type that has another one.

    Privacy:
        Whether an element has a span depends on the template alone, not on whether its output equals its original.
    """
    start = 0
    for element in elements:
        end = start + len(element.output)
        mention = element.mention
        if mention is not None:
            entity_type: str = mention.entity_type
            name = public_names.get(entity_type, entity_type)
            spans.append(ReplacedSpan(start=start, end=end, entity_type=name, original=element.original))
        elif element.parts:
            original = element.original
            spans.append(ReplacedSpan(start=start, end=end, entity_type=RANDOMIZED_WORD, original=original))
        start = end
        yield element


def map_span_originals(
    spans: Sequence[ReplacedSpan] | None, convert: Callable[[str], str]
) -> tuple[ReplacedSpan, ...] | None:
    """Return spans with converted originals; ``None`` for unknown spans.

    >>> spans = [ReplacedSpan(start=0, end=6, entity_type="city", original="leeds")]
    >>> map_span_originals(spans, str.upper)
    (ReplacedSpan(start=0, end=6, entity_type='city', original='LEEDS'),)
    """
    return None if spans is None else tuple([span._replace(original=convert(span.original)) for span in spans])


def remove_originals(spans: Sequence[ReplacedSpan] | None) -> tuple[ReplacedSpan, ...] | None:
    """Return spans without their originals; ``None`` for unknown spans."""
    return map_span_originals(spans, lambda original: "")
