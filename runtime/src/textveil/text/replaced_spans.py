"""Positions and entity types of the replaced parts of a sanitized text, for views that mark these parts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

#: Entity type in a ``ReplacedSpan`` for a word that a mechanism randomizes.
RANDOMIZED_WORD = "randomized"


class ReplacedSpan(NamedTuple):
    """A replaced part of a sanitized text.

    Attributes:
        start: Index of its first character in the sanitized text.
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
    """Compact form of the replaced parts of a sanitized text, from which ``list_spans`` computes the spans.

    >>> SpanOutline([(1, "city", "Leeds")], [3, 6, 1]).list_spans()
    (ReplacedSpan(start=3, end=9, entity_type='city', original='Leeds'),)

    Attributes:
        entries: For each replaced part: its index among all parts, its public entity type, and its original.
        lengths: The number of characters of each part of the sanitized text, unchanged or replaced.

    Privacy:
        The ``repr`` has no content, and a pickle has no originals.
    """

    entries: Iterable[tuple[int, str, str]]
    lengths: Sequence[int]

    def list_spans(self) -> tuple[ReplacedSpan, ...]:
        """Return the replaced parts with their positions, in the order of the text."""
        bounds = [0, *accumulate(self.lengths)]
        return tuple(
            [
                ReplacedSpan(start=bounds[index], end=bounds[index + 1], entity_type=entity_type, original=original)
                for index, entity_type, original in self.entries
            ]
        )

    def map_originals(self, convert: Callable[[str], str]) -> "SpanOutline":
        """Return a copy of these positions in which ``convert`` was applied to each original text.

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
    """Return the positions, types and originals of the replaced parts of a sanitized text, in compact form.

    Args:
        elements: The parts of the text, unchanged or replaced, each with its output
            (``names.reply_pairs.RewrittenElement``).
        public_names: Dictionary from an internal entity type to its public name, for types whose two names differ.
        keeps_originals: Whether the result has the original texts.

    Privacy:
        A replaced part has an entry even if its replacement happens to equal the original. So the entries reveal
        nothing about the original.
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
