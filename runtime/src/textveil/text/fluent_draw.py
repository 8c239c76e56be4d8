"""Draws mentions in the order of the text, each with the base of its context.

A context is a function of the skeleton and of what was drawn before in the same document, never of a drawn input: the
element two before (as the skeleton shows it), the one before (as it was *released*), and the two after (as the skeleton
shows them). Elements are words, kinds and the first mark of a gap. Nothing is carried from one document to the next.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms import entropy
from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.staircase.context import CONTEXT_POSITIONS, Elements
from textveil.mechanisms.staircase.fluent import FluentStaircase
from textveil.text import segmentation
from textveil.text.carried import NOTHING, Past
from textveil.text.mention_segments import DRAWN, KIND
from textveil.text.mention_text import Reading
from textveil.text.slots import Slots
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

    def between(self, before: Sequence[int], after: Sequence[int]) -> "Layout":
        """Returns the elements of one document with some that stand before and after them."""
        shown = np.concatenate([before, self.shown, after]).astype(np.int64)
        if len(shown) == len(self.shown):
            return self
        token = np.full(len(shown), -1)
        token[len(before) : len(before) + len(self.token)] = self.token
        return Layout(shown, np.zeros_like(shown), token)

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


def draw(plan: "MentionPlan", read: Reading, fluent: Slots[FluentStaircase], lower: NDArray[np.bool_]) -> Integers:
    """Draws the mentions of some documents, with fresh entropy, and returns what each new draw becomes.

    Args:
        plan: What becomes of tokens.
        read: The documents. Where draws are consistent, equal words have one draw, in the context of the first of them.
        fluent: Draws mentions in contexts, each by the staircase of its slots.
        lower: Which new draws of mentions stand in slots of lower case alone.

    Privacy:
        Which mentions are drawn together, and in how many steps, depends on the skeleton alone.
    """
    past, draws = read.carried.past, read.draws
    layout = Layout.of(plan, read, fluent.strict.context.elements).between(past.shown, read.carried.ahead)
    places = _mentions(read, layout)
    tokens = layout.token[places]
    new = np.flatnonzero(read.roles[draws.first] == DRAWN)
    draw_of, place_of = np.zeros((2, len(read.roles)), dtype=np.int64)
    draw_of[draws.tokens], place_of[tokens] = draws.copies, np.arange(len(tokens))
    # Draws of kinds are not counted here.
    made, copies = len(draws.made), draw_of[tokens]
    copies = np.where(copies < made, copies, made + np.searchsorted(new, copies - made))
    first = place_of[draws.first[new]]
    return draw_in_order(fluent, layout, places, read.indices[tokens], lower, first, copies, past, draws.made)


def past_of(plan: "MentionPlan", read: Reading, fluent: Slots[FluentStaircase], outputs: Integers) -> Past:
    """Returns what the next chunk of a text may see of a chunk that is drawn.

    Args:
        plan: What becomes of tokens.
        read: The chunk.
        fluent: What it was drawn by.
        outputs: What each of its tokens became.
    """
    past = read.carried.past
    layout = Layout.of(plan, read, fluent.strict.context.elements).between(past.shown, ())
    if len(layout.shown) == len(past.shown):
        return past
    places, shown = _mentions(read, layout), tuple(layout.shown[-2:].tolist())
    if not len(places) or places[-1] != len(layout.shown) - 1:
        return Past(shown)
    breaks = np.flatnonzero(np.diff(places) != 1)
    first = int(breaks[-1]) + 1 if len(breaks) else 0
    goes_on = past.run if places[first] == len(past.shown) else 0
    return Past(shown, len(places) - first + goes_on, int(outputs[layout.token[places[-1]]]))


def _mentions(read: Reading, layout: Layout) -> Integers:
    """Where drawn mentions stand."""
    places = np.flatnonzero(layout.token >= 0)
    return places[read.roles[layout.token[places]] == DRAWN]


def draw_in_order(
    fluent: Slots[FluentStaircase],
    layout: Layout,
    places: Integers,
    inputs: Integers,
    lower: NDArray[np.bool_],
    first: NDArray[np.intp],
    copies: NDArray[np.intp],
    past: Past = NOTHING.past,
    made: Sequence[int] | Integers = (),
) -> Integers:
    """Draws mentions in the contexts of a layout, and returns what each new draw becomes, shape ``(draws,)``.

    Args:
        fluent: Draws mentions in contexts.
        layout: What stands around them.
        places: Where the mentions stand in it, ascending, shape ``(n,)``.
        inputs: Input ids, shape ``(n,)``.
        lower: Which new draws stand in slots of lower case alone, shape ``(draws,)``.
        first: The mentions that are drawn, of equal ones the first, shape ``(draws,)``.
        copies: The draw of each mention, those that were made before first, shape ``(n,)``.
        past: What stands before the layout, its first elements among it.
        made: What each draw that was made before became.
    """
    contexts = layout.around(places[first], fluent.strict.context.elements.edge)
    before = _draw_before(places, layout.document[places], copies, past)[first]
    outputs = np.concatenate([[past.output], made, np.full(len(first), -1)]).astype(np.int64)
    known = len(outputs) - len(first)
    for ready in _steps(before, known):
        of_step, told = contexts[ready], before[ready] >= 0
        of_step[told, _BEFORE] = outputs[before[ready[told]]]
        outputs[known + ready] = fluent.draw(lower[ready], entropy.random_uint64, inputs[first[ready]], of_step)
    return outputs[known:]


def _draw_before(
    places: Integers, documents: Integers, copies: NDArray[np.intp], past: Past = NOTHING.past
) -> Integers:
    """The draw right before each mention: 0 for that of the past, others one more than they are numbered.

    It is -1 where the element before is none, or is not looked at.
    """
    follows = np.zeros(len(places), dtype=bool)
    follows[1:] = (np.diff(places) == 1) & (np.diff(documents) == 0)
    follows[:1] = (past.run > 0) & (places[:1] == len(past.shown))
    each = np.arange(len(places))
    run_start = np.maximum.accumulate(np.where(follows, 0, each))
    in_run = each - run_start
    if follows[:1].any():
        in_run[run_start == 0] += past.run
    looked_at = follows & (in_run % RUN != 0)
    return np.where(looked_at, np.concatenate([[0], copies + 1])[:-1], -1)


def _steps(before: Integers, known: int) -> Iterator[NDArray[np.intp]]:
    """Yields draws whose draw before is done, until all are; so many are done from the start."""
    done = np.arange(known + len(before)) < known
    waiting = np.arange(len(before))
    while len(waiting):
        free = (before[waiting] < 0) | done[before[waiting]]
        yield waiting[free]
        done[known + waiting[free]] = True
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
