"""Tokens of texts as arrays: their classes, and which of them share a draw."""

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
from textveil.text.rewrite.cut import (
    KEPT_ENTRY,
    RANDOMIZED,
    REPLACED,
    ROW_LENGTH,
    SENTENCE_END_ENTRY,
    NumberedSegments,
    SegmentReader,
    SegmentTable,
)
from textveil.text.rewrite.plan import SanitizingPlan
from textveil.text.segmentation import LOWER


@dataclass(frozen=True)
class OpenPart:
    """State of the unfinished part of a document with consistent outputs.

    Attributes:
        counted: Number of tokens of the document so far that count toward the cap.
        values: Value of each draw of that part, by the identity of its tokens. Private.
    """

    counted: int = 0
    values: dict[tuple[int, object], int] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class CarriedState:
    """State of a document outside of the tokens that are read.

    It is all that the output distribution of the next chunk depends on. With it a chunk's edge, which depends on hidden
    words, affects neither the output nor the spend.

    Attributes:
        before: Gap before the first segment; ``None`` at the start of a text.
        open: Outputs of equal tokens in earlier chunks.
    """

    before: str | None = None
    open: OpenPart = OpenPart()


NO_CARRIED_STATE = CarriedState()


class DrawIndex(NamedTuple):
    """Randomized and replaced tokens, and which of them share a draw, numbered in text order.

    Attributes:
        tokens: The randomized and the replaced tokens, in the order of the text, shape ``(tokens,)``.
        copies: Draw of each of them, shape ``(tokens,)``. Earlier draws have the lower numbers.
        first: First token of each new draw, shape ``(draws,)``.
        earlier_values: Value of each earlier draw.
    """

    tokens: NDArray[np.intp]
    copies: Integers
    first: NDArray[np.intp]
    earlier_values: Integers


class TokenArrays:
    """Tokens of some documents as arrays. Tokens of special segments follow all others.

    Args:
        plan: The plan.
        cut: The texts.
        segment_table: The numbered segments of ``cut``.
        carried: State of the document outside of these texts, if they are a chunk of one.
        sizes: Number of texts of each document, in order; one each if omitted.

    Attributes:
        plan, known, carried: The arguments.
        segments: Number of every segment of all texts, one text after the other.
        ends: End of each text in ``segments``.
        roles: ``REPLACED``, ``RANDOMIZED`` or ``KEPT``, shape ``(tokens,)``.
        indices: Input id of a randomized token, type of a replaced one, index in ``segment_table.shown`` of a kept one.
        cases: Case of the output of each token.
        identities: A number that is common to equal tokens; -1 for a token that is equal to no other.
        part_of: Position of the segment of every token.
        singles: Number of tokens that are the only token of their segment.
        document: Document of every token.
        documents: Number of documents.
    """

    def __init__(
        self,
        plan: SanitizingPlan,
        cut: NumberedSegments,
        known: SegmentTable,
        carried: CarriedState = NO_CARRIED_STATE,
        sizes: Sequence[int] | None = None,
    ) -> None:
        self.plan: SanitizingPlan = plan
        self.segment_table: SegmentTable = known
        self.carried: CarriedState = carried
        self.segments: Integers = cut[0]
        self.ends: Integers = cut[1]
        self._entries = np.array(known.entries)[self.segments]
        single = np.flatnonzero(self._entries > KEPT_ENTRY)
        several, rows = self._find_special_tokens()
        self.singles: int = len(single)
        self.part_of: Integers = np.concatenate([single, several])
        self._rows = np.concatenate([self._entries[single], rows])
        self._table_rows: Integers = np.array(known.rows).reshape(-1, ROW_LENGTH)
        columns: list[Integers] = [column[self._rows] for column in self._table_rows.T[:-1]]
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

    def _find_special_tokens(self) -> tuple[Integers, Integers]:
        """Return position and row of every token of special segments, in order."""
        parts = np.flatnonzero(self._entries < 0)
        if not len(parts):  # most short texts have none
            return parts, parts
        special = -1 - self._entries[parts]
        ranges = np.array(self.segment_table.ranges, dtype=np.int64).reshape(-1, 2)
        first, end = ranges[2 * special + self._find_sentence_starts(parts)].T
        counts = end - first
        token = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)  # its index in its segment
        return np.repeat(parts, counts), np.repeat(first, counts) + token

    def _find_sentence_starts(self, parts: Integers) -> NDArray[np.bool_]:
        """Return whether special segments start a sentence, given the whole gap before each."""
        is_token = self._entries > SENTENCE_END_ENTRY
        is_token[parts] = ~np.array(self.segment_table.gaps, dtype=bool)[-1 - self._entries[parts]]
        token_before = _find_last_before(parts, np.flatnonzero(is_token))
        end_before = _find_last_before(parts, np.flatnonzero(self._entries == SENTENCE_END_ENTRY))
        document_start = np.concatenate([[0], self.ends])[np.searchsorted(self.ends, parts, side="right")]
        is_first = token_before < document_start
        ended = (end_before >= document_start) & (end_before > token_before)
        return ended | (is_first & self.plan.is_sentence_start(self.carried.before))

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """Whether each token is a word in one piece."""
        return self._table_rows[self._rows, -1] != 0

    @cached_property
    def in_text_order(self) -> NDArray[np.intp]:
        """Indices of all tokens in text order, which is the order of sampling."""
        return np.argsort(self.part_of, kind="stable")

    @property
    def text_of_segments(self) -> Integers:
        """Text of every segment: a document, or one text of a document."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))

    @cached_property
    def draws(self) -> DrawIndex:
        """Randomized and replaced tokens, and which of them share a draw.

        Raises:
            DocumentTooLong: Outputs are consistent, and a document has more words, names and numbers than the cap.
        """
        order = self.in_text_order
        tokens = order[(self.roles[order] == RANDOMIZED) | (self.roles[order] == REPLACED)]
        if not self.plan.terms.consistent:
            return DrawIndex(tokens, np.arange(len(tokens)), tokens, np.empty(0, dtype=np.int64))
        identity, documents = self.identities[tokens], self._find_document_parts(tokens)
        unequal = np.flatnonzero(identity < 0)  # a punctuation mark is equal to no other token
        identity[unequal] = len(self.segment_table.identities) + np.arange(len(unequal))
        identity_count = len(self.segment_table.identities) + len(unequal)
        open_part = self.carried.open
        numbers = defaultdict(count(len(open_part.values)).__next__)
        for number, equal in enumerate(open_part.values):
            if equal in self.segment_table.identities:
                here = open_part.counted // self.plan.terms.consistent_cap
                numbers[here * identity_count + self.segment_table.identities[equal]] = number
        keys = (documents * identity_count + identity).tolist()
        copies = np.fromiter(map(numbers.__getitem__, keys), dtype=np.int64, count=len(keys))
        highest_draw = np.maximum.accumulate(np.concatenate([[len(open_part.values) - 1], copies]))
        first = tokens[np.diff(highest_draw) > 0]
        return DrawIndex(
            tokens, copies, first, np.fromiter(open_part.values.values(), dtype=np.int64, count=len(open_part.values))
        )

    def _find_document_parts(self, tokens: NDArray[np.intp]) -> Integers:
        """Return the part of a document that contains each token, as a number unique to the part.

        Each part of a document but its last has as many counted tokens as the cap. A token that is equal to no other
        does not count.

        Args:
            tokens: Tokens in text order.

        Raises:
            DocumentTooLong: A document has more than one part, and the plan does not split.
        """
        cap, counts = self.plan.terms.consistent_cap, self.identities[tokens] >= 0
        documents, before = self.document[tokens], np.cumsum(counts) - counts
        before += self.carried.open.counted - before[np.searchsorted(documents, documents)]
        parts = before // cap
        if not self.plan.split and parts[counts].max(initial=0):
            raise DocumentTooLong(
                f"a document has more randomized words, names and numbers than {cap:,}: split it, or raise "
                "the cap of consistent outputs"
            )
        return documents * (int(parts.max(initial=0)) + 1) + parts

    def get_open_part(self, values: Integers) -> OpenPart:
        """Return the state that the next chunk of a document with consistent outputs needs.

        Args:
            values: Value of the draw of each of ``draws.tokens``.
        """
        cap, previous = self.plan.terms.consistent_cap, self.carried.open
        identity = self.identities[self.draws.tokens]
        counted_positions = np.flatnonzero(identity >= 0)
        counted = previous.counted + len(counted_positions)
        in_part = counted % cap
        open_values = dict(previous.values) if previous.counted > counted - in_part else {}
        last = counted_positions[max(0, len(counted_positions) - in_part) :]
        identity_keys = list(self.segment_table.identities)
        open_values.update(
            zip([identity_keys[number] for number in identity[last].tolist()], values[last].tolist(), strict=True)
        )
        return OpenPart(counted, open_values if in_part else {})


def _find_last_before(parts: Integers, places: Integers) -> Integers:
    """Return the last of the ascending ``places`` before each part; -1 where there is none."""
    return np.concatenate([[-1], places])[np.searchsorted(places, parts)]


def read_segments(
    plan: SanitizingPlan, segments: Iterable[str], carried: CarriedState = NO_CARRIED_STATE
) -> TokenArrays:
    """Return the tokens of a segmented text, or of a chunk of one, without sampling.

    Args:
        plan: The plan.
        segments: Segments of the text or chunk.
        carried: State of the document outside of these segments.
    """
    reader = SegmentReader(plan)
    return TokenArrays(plan, reader.read_segments([segments]), reader.segments, carried)
