"""Reads the tokens of texts into arrays: what becomes of each, and which of them share a draw."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.errors import DocumentTooLong
from textveil.mechanisms.integer_sampling import Integers
from textveil.text.rewrite.cut import DRAWN, END, REPLACED, VISIBLE, Cut, Reader, Segments
from textveil.text.rewrite.plan import Plan
from textveil.text.segmentation import LOWER


@dataclass(frozen=True)
class Open:
    """The part of a document of consistent draws that may go on.

    Attributes:
        counted: Tokens of the document up to here that count toward the cap.
        values: What is known of each draw of that part, by what equal tokens have in common. Private.
    """

    counted: int = 0
    values: dict[tuple[int, object], int] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Carried:
    """What is known of a document outside of what is read: all that the law of its next chunk depends on.

    So a chunk's edge is seen neither in what comes out nor in what is charged: where it falls depends on hidden words.

    Attributes:
        before: The gap before the first segment; ``None`` where the text begins there.
        open: What equal tokens of the chunks before became.
    """

    before: str | None = None
    open: Open = Open()


NOTHING = Carried()


class Draws(NamedTuple):
    """Which tokens are drawn, and which of them share a draw. Draws are numbered in the order of the text.

    Attributes:
        tokens: The tokens that are drawn, members of kinds among them, in the order of the text, shape ``(tokens,)``.
        copies: The draw of each of them, shape ``(tokens,)``. Those that were made before come first.
        first: The first token of each draw that is new, shape ``(draws,)``.
        made: What is known of each draw that was made before.
    """

    tokens: NDArray[np.intp]
    copies: Integers
    first: NDArray[np.intp]
    made: Integers


class Reading:
    """The tokens of some documents, as arrays. Tokens of special segments come after all others.

    Args:
        plan: What becomes of tokens.
        cut: The texts.
        known: The segments that are numbered there.
        carried: What is known of the document outside of what is read, if that is a chunk of one.
        sizes: How many of the texts each document has, in order; one each if left out.

    Attributes:
        plan, known, carried: As given.
        segments: The number of every segment of all texts, one after the other.
        ends: Where each text ends there.
        roles: ``REPLACED``, ``DRAWN`` or ``SHOWN``, shape ``(tokens,)``.
        indices: Input id of a drawn token, index of a kind.
        cases: Case that the output of each token is written in.
        identities: A number that equal tokens have; -1 for what is equal to no other.
        part_of: The place of the segment of every token.
        singles: How many tokens are all of their segment.
        document: The document of every token.
        documents: How many there are.
    """

    def __init__(
        self, plan: Plan, cut: Cut, known: Segments, carried: Carried = NOTHING, sizes: Sequence[int] | None = None
    ) -> None:
        self.plan: Plan = plan
        self.known: Segments = known
        self.carried: Carried = carried
        self.segments: Integers = cut[0]
        self.ends: Integers = cut[1]
        self._entries = np.array(known.entries)[self.segments]
        single = np.flatnonzero(self._entries > VISIBLE)
        several, rows = self._special()
        self.singles: int = len(single)
        self.part_of: Integers = np.concatenate([single, several])
        self._rows = np.concatenate([self._entries[single], rows])
        columns: list[Integers] = [column[self._rows] for column in known.rows.T[:-1]]
        self.roles: Integers
        self.indices: Integers
        self.identities: Integers
        self.roles, self.indices, cases, self.identities = columns
        self.cases: Integers = cases if plan.keeps_case else np.full_like(cases, LOWER)
        self.document: Integers = self.text_of_segments[self.part_of]
        self.documents: int = len(self.ends)
        if sizes is not None:
            self.document = np.repeat(np.arange(len(sizes)), sizes)[self.document]
            self.documents = len(sizes)

    def _special(self) -> tuple[Integers, Integers]:
        """The part and the row of every token of special segments, in order."""
        parts = np.flatnonzero(self._entries < 0)
        if not len(parts):  # most short texts have none
            return parts, parts
        special = -1 - self._entries[parts]
        ranges = np.array(self.known.ranges, dtype=np.int64).reshape(-1, 2)
        first, end = ranges[2 * special + self._starts_sentence(parts)].T
        counts = end - first
        token = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)  # its number in its part
        return np.repeat(parts, counts), np.repeat(first, counts) + token

    def _starts_sentence(self, parts: Integers) -> NDArray[np.bool_]:
        """Tells whether some special parts start a sentence, by the whole gap before each one."""
        is_token = self._entries > END
        is_token[parts] = ~np.array(self.known.gaps, dtype=bool)[-1 - self._entries[parts]]
        token_before = _last_before(parts, np.flatnonzero(is_token))
        end_before = _last_before(parts, np.flatnonzero(self._entries == END))
        document_start = np.concatenate([[0], self.ends])[np.searchsorted(self.ends, parts, side="right")]
        is_first = token_before < document_start
        ended = (end_before >= document_start) & (end_before > token_before)
        return ended | (is_first & self.plan.starts_sentence(self.carried.before))

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """Whether each token is a word in one piece."""
        return self.known.rows[self._rows, -1] != 0

    @cached_property
    def in_text_order(self) -> NDArray[np.intp]:
        """The numbers of all tokens, in the order of the text: the order in which they are drawn."""
        return np.argsort(self.part_of, kind="stable")

    @property
    def text_of_segments(self) -> Integers:
        """The text of every segment: a document, or one of those that it has."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))

    @cached_property
    def draws(self) -> Draws:
        """Which tokens are drawn, and which of them share a draw.

        Raises:
            DocumentTooLong: Draws are consistent, and a document has more words, names and numbers than the cap.
        """
        order = self.in_text_order
        tokens = order[(self.roles[order] == DRAWN) | (self.roles[order] == REPLACED)]
        if not self.plan.terms.consistent:
            return Draws(tokens, np.arange(len(tokens)), tokens, np.empty(0, dtype=np.int64))
        identity, documents = self.identities[tokens], self._parts(tokens)
        alone = np.flatnonzero(identity < 0)  # a mark of punctuation is equal to no other
        identity[alone] = len(self.known.identities) + np.arange(len(alone))
        most = len(self.known.identities) + len(alone)
        made = self.carried.open
        numbers = defaultdict(count(len(made.values)).__next__)
        for number, equal in enumerate(made.values):
            if equal in self.known.identities:
                here = made.counted // self.plan.terms.consistent_cap
                numbers[here * most + self.known.identities[equal]] = number
        keys = (documents * most + identity).tolist()
        copies = np.fromiter(map(numbers.__getitem__, keys), dtype=np.int64, count=len(keys))
        met = np.maximum.accumulate(np.concatenate([[len(made.values) - 1], copies]))
        first = tokens[np.diff(met) > 0]
        return Draws(tokens, copies, first, np.fromiter(made.values.values(), dtype=np.int64, count=len(made.values)))

    def _parts(self, tokens: NDArray[np.intp]) -> Integers:
        """The part of a document that some tokens, in the order of the text, are in: a number that no other part has.

        Each part of a document but its last has as many tokens as the cap. What is equal to no other does not count.
        """
        cap, counts = self.plan.terms.consistent_cap, self.identities[tokens] >= 0
        documents, before = self.document[tokens], np.cumsum(counts) - counts
        before += self.carried.open.counted - before[np.searchsorted(documents, documents)]
        parts = before // cap
        if not self.plan.split and parts[counts].max(initial=0):
            raise DocumentTooLong(
                f"a document has more drawn words, names and numbers than {cap:,}: consistent draws need it split, or "
                "a higher cap"
            )
        return documents * (int(parts.max(initial=0)) + 1) + parts

    def open_part(self, values: Integers) -> Open:
        """Returns what the next chunk of a document of consistent draws has to know of this one.

        Args:
            values: What is known of the draw of each of ``draws.tokens``.
        """
        cap, made = self.plan.terms.consistent_cap, self.carried.open
        identity = self.identities[self.draws.tokens]
        counts = np.flatnonzero(identity >= 0)
        counted = made.counted + len(counts)
        in_part = counted % cap
        kept = dict(made.values) if made.counted > counted - in_part else {}
        last = counts[max(0, len(counts) - in_part) :]
        equal = list(self.known.identities)
        kept.update(zip([equal[number] for number in identity[last].tolist()], values[last].tolist(), strict=True))
        return Open(counted, kept if in_part else {})


def _last_before(parts: Integers, places: Integers) -> Integers:
    """The last of the places, ascending, before each part; -1 where there is none."""
    return np.concatenate([[-1], places])[np.searchsorted(places, parts)]


def read_segments(plan: Plan, segments: Iterable[str], carried: Carried = NOTHING) -> Reading:
    """Reads a text that is cut already, or a chunk of one; nothing is drawn.

    Args:
        plan: What becomes of tokens.
        segments: Its segments.
        carried: What is known of the document outside of these.
    """
    reader = Reader(plan)
    return Reading(plan, reader.read_segments([segments]), reader.segments, carried)
