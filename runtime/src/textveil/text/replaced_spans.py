"""Positions and entity types of the replaced parts of an output, for views that mark these parts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

#: Treatment of a word that a mechanism or a word list randomizes.
RANDOMIZED_WORD = "randomized"


class ReplacedSpan(NamedTuple):
    """A replaced part of an output.

    Attributes:
        start: Index of its first character in the output.
        end: Index after its last character; equal to ``start`` if the part was removed.
        entity_type: Public name of its entity type, or ``RANDOMIZED_WORD``.
        original: The original text; empty if the call does not store originals.
    """

    start: int
    end: int
    entity_type: str
    original: str = ""


@dataclass(slots=True, eq=False, repr=False)
class SpanOutline:
    """Compact form of the replaced parts of an output, from which ``list_spans`` computes the spans.

    >>> SpanOutline([(1, "city", "Leeds")], [3, 6, 1]).list_spans()
    (ReplacedSpan(start=3, end=9, entity_type='city', original='Leeds'),)

    Attributes:
        entries: For each replaced part: its index among all parts, its public entity type, and its original.
        lengths: The number of characters of each part of the output, kept or replaced.

    Privacy:
        Its ``repr`` has no content, and a pickle has no originals.
    """

    entries: Iterable[tuple[int, str, str]]
    lengths: Sequence[int]

    def list_spans(self) -> tuple[ReplacedSpan, ...]:
        """Return the replaced parts with their positions, in the order of the output."""
        bounds = [0, *accumulate(self.lengths)]
        return tuple(
            [
                ReplacedSpan(start=bounds[index], end=bounds[index + 1], entity_type=entity_type, original=original)
                for index, entity_type, original in self.entries
            ]
        )

    def map_originals(self, convert: Callable[[str], str]) -> "SpanOutline":
        """Return an outline in which ``convert`` was applied to each original.

        >>> outline = SpanOutline([(0, "city", "leeds")], [6])
        >>> outline.map_originals(str.upper).list_spans()[0].original
        'LEEDS'
        """
        return SpanOutline([(index, name, convert(original)) for index, name, original in self.entries], self.lengths)

    def __reduce__(self) -> Any:
        return SpanOutline, ([(index, name, "") for index, name, _ in self.entries], self.lengths)


def outline_elements(
    elements: Iterable[Any], public_names: Mapping[str, str], *, keeps_originals: bool = True
) -> SpanOutline:
    """Return the outline of a rewritten text, with an entry for each part that was replaced.

    Args:
        elements: The parts of the text, kept or replaced, each with its output
            (``names.reply_pairs.RewrittenElement``).
        public_names: Public name of each entity type whose internal name differs from it.
        keeps_originals: Whether the entries have the originals.

    Privacy:
        Whether a part has an entry depends on the template alone, not on whether its output equals its original.
    """
    entries, lengths = list[tuple[int, str, str]](), list[int]()
    for element in elements:
        original = element.original if keeps_originals else ""
        if element.mention is not None:
            entity_type: str = element.mention.entity_type
            entries.append((len(lengths), public_names.get(entity_type, entity_type), original))
        elif element.parts:
            entries.append((len(lengths), RANDOMIZED_WORD, original))
        lengths.append(len(element.output))
    return SpanOutline(entries, lengths)
