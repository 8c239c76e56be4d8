"""What stands around drawn mentions, for a base that follows the text.

A context is a function of the skeleton and of what was drawn before in the same document, never of a drawn input: the
element two before (as the skeleton shows it), the one before (as it was *released*), and the two after (as the skeleton
shows them). Elements are words, kinds and the first mark of a gap. Nothing is carried from one document to the next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.integer_sampling import Integers
from textveil.mechanisms.protocol import CONTEXT_POSITIONS, Elements, Surroundings
from textveil.text import segmentation
from textveil.text.rewrite.carried import NOTHING, Past
from textveil.text.rewrite.cut import DRAWN, REPLACED
from textveil.text.rewrite.plan import Plan
from textveil.text.rewrite.read import Reading
from textveil.text.segmentation import is_gap

#: In an unbroken run of drawn mentions every so manyth is drawn as if the one before were not known: runs are drawn
#: side by side, so a run without end would take a step for every mention.
RUN = 32


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
    def of(cls, read: Reading, elements: Elements) -> "Layout":
        """Returns the elements of a reading, in order."""
        sizes = np.bincount(read.part_of, minlength=len(read.segments))
        passed = np.flatnonzero(sizes == 0)
        numbers, copies = np.unique(read.segments[passed], return_inverse=True)
        spelled = list(read.known.numbers)
        found = [_passed(read.plan, elements, spelled[number]) for number in numbers.tolist()]
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
        shown[place] = _as_shown(read, elements)
        token[place] = np.arange(len(place))
        document = np.repeat(read.text_of_segments, sizes)
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


def surroundings(read: Reading, elements: Elements) -> Surroundings:
    """Returns what stands around the new draws of a reading that the mechanism makes.

    Where draws are consistent, equal words have one draw, in the context of the first of them.

    Args:
        read: The documents.
        elements: Numbers of elements.
    """
    past, draws = read.carried.past, read.draws
    layout = Layout.of(read, elements).between(past.shown, read.carried.ahead)
    places = _mentions(read, layout)
    tokens = layout.token[places]
    new = np.flatnonzero(read.roles[draws.first] == DRAWN)
    draw_of, place_of = np.zeros((2, len(read.roles)), dtype=np.int64)
    draw_of[draws.tokens], place_of[tokens] = draws.copies, np.arange(len(tokens))
    # Draws of kinds are not counted here.
    made, copies = len(draws.made), draw_of[tokens]
    copies = np.where(copies < made, copies, made + np.searchsorted(new, copies - made))
    first = place_of[draws.first[new]]
    before = draw_before(places, layout.document[places], copies, past)[first]
    return Surroundings(
        layout.around(places[first], elements.edge), before, np.concatenate([[past.output], draws.made])
    )


def past_of(read: Reading, elements: Elements, outputs: Integers) -> Past:
    """Returns what the next chunk of a text may see of a chunk that is drawn.

    Args:
        read: The chunk.
        elements: Numbers of elements.
        outputs: What each of its tokens became.
    """
    past = read.carried.past
    layout = Layout.of(read, elements).between(past.shown, ())
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


def draw_before(places: Integers, documents: Integers, copies: NDArray[np.intp], past: Past = NOTHING.past) -> Integers:
    """Returns the draw right before each mention: 0 for that of the past, others one more than they are numbered.

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


def _passed(plan: Plan, elements: Elements, segment: str) -> list[int]:
    """The elements of a segment that is passed through: visible words, or the first mark of a gap."""
    if not segment or is_gap(segment):
        mark = next((character for character in segment if not character.isspace()), None)
        return [] if mark is None or plan.terms.sanitize_punctuation else [elements.mark(mark)]
    pieces = plan.rule.tokens(segment, starts_sentence=False)
    return [visible_word(plan.bundle.ids, token.key or "", elements) for _, token in pieces]


def visible_word(ids: Mapping[str, int], key: str, elements: Elements) -> int:
    """Returns a visible word as an element."""
    return ids.get(key, elements.other)


def _as_shown(read: Reading, elements: Elements) -> Integers:
    """Every token of a reading as the skeleton shows it."""
    roles, indices = read.roles, read.indices
    shown = np.where(roles == REPLACED, elements.first_kind + indices, elements.drawn)
    visible = np.flatnonzero((roles != REPLACED) & (roles != DRAWN))
    words = map(segmentation.key, map(read.known.shown.__getitem__, indices[visible].tolist()))
    shown[visible] = [visible_word(read.plan.bundle.ids, word, elements) for word in words]
    return shown


def _counted(sizes: Integers) -> Integers:
    """``0, 1, ... size - 1`` for every size."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
