"""Draws mentions in the order of the text, each with the base of its context.

A context is a function of the skeleton and of what was drawn before in the same document, never of a drawn input: the
element two before (as the skeleton shows it), the one before (as it was *released*), and the two after (as the skeleton
shows them). Elements are words, kinds and the first mark of a gap. Nothing is carried from one document to the next.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms import entropy
from textveil.mechanisms.context import CONTEXT_POSITIONS, Elements
from textveil.mechanisms.fluent import FluentStaircase
from textveil.mechanisms.integer_sampling import Integers
from textveil.text import segmentation
from textveil.text.mention_segments import DRAWN, KIND
from textveil.text.mention_text import Reading
from textveil.text.slots import Slots, lower_alone
from textveil.text.strings import is_gap

if TYPE_CHECKING:
    from textveil.text.mentions import MentionPlan

#: In an unbroken run of drawn mentions every so manyth is drawn as if the one before were not known: runs are drawn
#: side by side, so a run without end would take a step for every mention.
RUN = 32
#: The position of the one element that may be an output.
_BEFORE = CONTEXT_POSITIONS.index(-1)


@dataclass(frozen=True)
class Layout:
    """The elements of some documents, one after the other.

    Attributes:
        shown: Each element as the skeleton shows it, shape ``(n,)``.
        document: Its document, shape ``(n,)``.
        token: The number of the token that stands there in the arrays of the reading, -1 for a gap or a word that is
            passed through, shape ``(n,)``.
    """

    shown: Integers
    document: Integers
    token: Integers

    @classmethod
    def of(cls, plan: "MentionPlan", read: Reading, elements: Elements) -> "Layout":
        """Returns the elements of a reading, in order."""
        sizes = np.bincount(read.part_of, minlength=len(read.segments))
        passed = np.flatnonzero(sizes == 0)
        numbers, copies = np.unique(read.segments[passed], return_inverse=True)
        spelled = list(read.known.numbers)
        found = [_passed(plan, elements, spelled[number]) for number in numbers.tolist()]
        counts = np.array([len(of_segment) for of_segment in found], dtype=np.int64)[copies]
        sizes[passed] = counts
        begins = np.cumsum(sizes) - sizes
        shown = np.empty(int(sizes.sum()), dtype=np.int64)
        token = np.full(len(shown), -1)
        flat = np.array([element for of_segment in found for element in of_segment], dtype=np.int64)
        starts = np.cumsum([0, *map(len, found)])[:-1][copies]
        inside = _counted(counts)
        shown[np.repeat(begins[passed], counts) + inside] = flat[np.repeat(starts, counts) + inside]
        # Tokens of one segment stand in order, and together.
        change = np.flatnonzero(np.diff(read.part_of, prepend=-1))
        place = begins[read.part_of] + _counted(np.diff(change, append=len(read.part_of)))
        shown[place] = _as_shown(plan, read, elements)
        token[place] = np.arange(len(place))
        document = np.repeat(read.document_of_segments, sizes)
        # A gap may be several segments: its first mark alone is an element.
        mark = (shown >= elements.first_mark) & (shown < elements.edge)
        kept = np.ones(len(shown), dtype=bool)
        kept[1:] = ~(mark[1:] & mark[:-1] & (document[1:] == document[:-1]))
        return cls(shown[kept], document[kept], token[kept])

    def around(self, places: Integers, edge: int) -> Integers:
        """Returns what the skeleton shows around some places, ``edge`` beyond a document, shape ``(n, 4)``."""
        found = np.full((len(places), len(CONTEXT_POSITIONS)), edge)
        for column, offset in enumerate(CONTEXT_POSITIONS):
            there = places + offset
            inside = (there >= 0) & (there < len(self.shown))
            there = np.where(inside, there, places)
            inside &= self.document[there] == self.document[places]
            found[inside, column] = self.shown[there[inside]]
        return found


def draw(plan: "MentionPlan", read: Reading, fluent: Slots[FluentStaircase]) -> tuple[NDArray[np.intp], Integers]:
    """Draws the mentions of some documents, with fresh entropy.

    Args:
        plan: What becomes of tokens.
        read: The documents.
        fluent: Draws mentions in contexts, each by the staircase of its slots.

    Returns:
        The numbers of the drawn tokens, and what each becomes. Where draws are consistent, equal words have one draw,
        in the context of the first of them.

    Raises:
        DocumentTooLong: As ``MentionPlan.rewrite``.

    Privacy:
        Which mentions are drawn together, and in how many steps, depends on the skeleton alone.
    """
    layout = Layout.of(plan, read, fluent.strict.context.elements)
    places = np.flatnonzero(layout.token >= 0)
    places = places[read.roles[layout.token[places]] == DRAWN]
    tokens = layout.token[places]
    first, copies = read.distinct(tokens)  # in the order of the text, so first mentions come first
    lower = lower_alone(read.cases[tokens], copies)
    return tokens, draw_in_order(fluent, layout, places, read.indices[tokens], lower, first, copies)


def draw_in_order(
    fluent: Slots[FluentStaircase],
    layout: Layout,
    places: Integers,
    inputs: Integers,
    lower: NDArray[np.bool_],
    first: NDArray[np.intp],
    copies: NDArray[np.intp],
) -> Integers:
    """Draws mentions in the contexts of a layout, and returns what each becomes, shape ``(n,)``.

    Args:
        fluent: Draws mentions in contexts.
        layout: What stands around them.
        places: Where the mentions stand in it, ascending, shape ``(n,)``.
        inputs: Input ids, shape ``(n,)``.
        lower: Which draws stand in slots of lower case alone, shape ``(draws,)``.
        first: The mentions that are drawn, of equal ones the first, shape ``(draws,)``.
        copies: The draw of each mention, shape ``(n,)``.
    """
    contexts = layout.around(places[first], fluent.strict.context.elements.edge)
    before = _draw_before(places, layout.document[places], copies)[first]
    outputs = np.full(len(first), -1)
    for ready in _steps(before):
        of_step, known = contexts[ready], before[ready] >= 0
        of_step[known, _BEFORE] = outputs[before[ready[known]]]
        outputs[ready] = fluent.draw(lower[ready], entropy.random_uint64, inputs[first[ready]], of_step)
    return outputs[copies]


def _draw_before(places: Integers, documents: Integers, copies: NDArray[np.intp]) -> Integers:
    """The number of the draw right before each mention; -1 where the element before is none, or is not looked at."""
    follows = np.zeros(len(places), dtype=bool)
    follows[1:] = (np.diff(places) == 1) & (np.diff(documents) == 0)
    run_start = np.maximum.accumulate(np.where(follows, 0, np.arange(len(places))))
    looked_at = follows & ((np.arange(len(places)) - run_start) % RUN != 0)
    return np.where(looked_at, np.roll(copies, 1), -1)


def _steps(before: Integers) -> Iterator[NDArray[np.intp]]:
    """Yields draws whose draw before is done, until all are."""
    done = np.zeros(len(before), dtype=bool)
    waiting = np.arange(len(before))
    while len(waiting):
        free = (before[waiting] < 0) | done[before[waiting]]
        yield waiting[free]
        done[waiting[free]] = True
        waiting = waiting[~free]


def _passed(plan: "MentionPlan", elements: Elements, segment: str) -> list[int]:
    """The elements of a segment that is passed through: visible words, or the first mark of a gap."""
    if not segment or is_gap(segment):
        mark = next((character for character in segment if not character.isspace()), None)
        return [] if mark is None or plan.terms.sanitize_punctuation else [elements.mark(mark)]
    pieces = plan.pieces(segment, starts_sentence=False)
    return [visible_word(plan.bundle.ids, token.key or "", elements) for _, token in pieces]


def visible_word(ids: Mapping[str, int], key: str, elements: Elements) -> int:
    """Returns a visible word as an element."""
    return ids.get(key, elements.other)


def _as_shown(plan: "MentionPlan", read: Reading, elements: Elements) -> Integers:
    """Every token of a reading as the skeleton shows it."""
    roles, indices = read.roles, read.indices
    shown = np.where(roles == KIND, elements.first_kind + indices, elements.drawn)
    visible = np.flatnonzero((roles != KIND) & (roles != DRAWN))
    words = map(segmentation.key, map(read.known.shown.__getitem__, indices[visible].tolist()))
    shown[visible] = [visible_word(plan.bundle.ids, word, elements) for word in words]
    return shown


def _counted(sizes: Integers) -> Integers:
    """``0, 1, ... size - 1`` for every size."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
