"""Reads the tokens of texts into arrays, and writes what was drawn for them back into the gaps."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import count, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.errors import DocumentTooLong
from textveil.mechanisms.integer_sampling import Integers
from textveil.text import segmentation
from textveil.text.carried import NOTHING, Carried, Open
from textveil.text.mention_segments import DRAWN, END, KIND, SHOWN, VISIBLE, Cut, Segments

if TYPE_CHECKING:
    from textveil.text.mentions import MentionPlan

Strings = NDArray[np.object_]


class Rewritten(NamedTuple):
    """Documents, or parts of one, after the draw; other lists than the texts have an entry for each document.

    Attributes:
        texts: What comes out; a document of several texts has an entry for each of them.
        mentions: Drawn mentions that are charged: all of them, or the distinct ones where draws are consistent.
        pairs: Folded output and original spelling of every distinct token that changed hands; empty unless draws are
            consistent. Private.
    """

    texts: list[str]
    mentions: list[int]
    pairs: list[list[tuple[str, str]]]


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
        cut: The documents.
        known: The segments that are numbered there.
        carried: What is known of the document outside of what is read, if that is a chunk of one.
        sizes: How many of the texts that were cut each document has, in order; one each if left out.

    Attributes:
        roles: ``KIND``, ``DRAWN`` or ``SHOWN``, shape ``(tokens,)``.
        indices: Input id of a drawn token, index of a kind.
        cases: Case that the output of each token is written in.
    """

    def __init__(
        self,
        plan: "MentionPlan",
        cut: Cut,
        known: Segments,
        carried: Carried = NOTHING,
        sizes: Sequence[int] | None = None,
    ) -> None:
        self._plan, self._known, self._carried = plan, known, carried
        self._bare = plan.terms.sanitize_punctuation
        self._segments, self._ends = cut
        self._entries = np.array(known.entries)[self._segments]
        single = np.flatnonzero(self._entries > VISIBLE)
        several, rows = self._special()
        self._singles = len(single)
        self._part_of = np.concatenate([single, several])
        tokens = np.concatenate([self._entries[single], rows])
        self.roles, self.indices, self.cases, self._identity_of = (column[tokens] for column in known.rows.T)
        self._document = self.document_of_segments[self._part_of]
        self._documents = len(self._ends)
        if sizes is not None:
            self._document = np.repeat(np.arange(len(sizes)), sizes)[self._document]
            self._documents = len(sizes)

    def _special(self) -> tuple[Integers, Integers]:
        """The part and the row of every token of special segments, in order."""
        parts = np.flatnonzero(self._entries < 0)
        special = -1 - self._entries[parts]
        ranges = np.array(self._known.ranges, dtype=np.int64).reshape(-1, 2)
        first, end = ranges[2 * special + self._starts_sentence(parts)].T
        counts = end - first
        token = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)  # its number in its part
        return np.repeat(parts, counts), np.repeat(first, counts) + token

    def _starts_sentence(self, parts: Integers) -> NDArray[np.bool_]:
        """Tells whether some special parts start a sentence, by the whole gap before each one."""
        is_token = self._entries > END
        is_token[parts] = ~np.array(self._known.gaps, dtype=bool)[-1 - self._entries[parts]]
        token_before = _last_before(parts, np.flatnonzero(is_token))
        end_before = _last_before(parts, np.flatnonzero(self._entries == END))
        document_start = np.concatenate([[0], self._ends])[np.searchsorted(self._ends, parts, side="right")]
        is_first = token_before < document_start
        ended = (end_before >= document_start) & (end_before > token_before)
        return ended | (is_first & self._plan.starts_sentence(self._carried.before))

    @property
    def segments(self) -> Integers:
        """The number of every segment of all documents, one after the other."""
        return self._segments

    @property
    def part_of(self) -> Integers:
        """The place of the segment of every token."""
        return self._part_of

    @cached_property
    def in_text_order(self) -> NDArray[np.intp]:
        """The numbers of all tokens, in the order of the text: the order in which they are drawn."""
        return np.argsort(self._part_of, kind="stable")

    @property
    def document_of_segments(self) -> Integers:
        """The text of every segment: a document, or one of those that it has."""
        return np.repeat(np.arange(len(self._ends)), np.diff(self._ends, prepend=0))

    @property
    def carried(self) -> Carried:
        """What is known of the document outside of what is read."""
        return self._carried

    @property
    def known(self) -> Segments:
        """The segments that are numbered."""
        return self._known

    @cached_property
    def draws(self) -> Draws:
        """Which tokens are drawn, and which of them share a draw.

        Raises:
            DocumentTooLong: As ``MentionPlan.rewrite``.
        """
        order = self.in_text_order
        tokens = order[(self.roles[order] == DRAWN) | (self.roles[order] == KIND)]
        if not self._plan.terms.consistent:
            return Draws(tokens, np.arange(len(tokens)), tokens, np.empty(0, dtype=np.int64))
        identity, documents = self._identity_of[tokens], self._parts(tokens)
        alone = np.flatnonzero(identity < 0)  # a mark of punctuation is equal to no other
        identity[alone] = len(self._known.identities) + np.arange(len(alone))
        most = len(self._known.identities) + len(alone)
        made = self._carried.open
        numbers = defaultdict(count(len(made.values)).__next__)
        for number, equal in enumerate(made.values):
            if equal in self._known.identities:
                here = made.counted // self._plan.terms.consistent_cap
                numbers[here * most + self._known.identities[equal]] = number
        keys = (documents * most + identity).tolist()
        copies = np.fromiter(map(numbers.__getitem__, keys), dtype=np.int64, count=len(keys))
        met = np.maximum.accumulate(np.concatenate([[len(made.values) - 1], copies]))
        first = tokens[np.diff(met) > 0]
        return Draws(tokens, copies, first, np.fromiter(made.values.values(), dtype=np.int64, count=len(made.values)))

    def _parts(self, tokens: NDArray[np.intp]) -> Integers:
        """The part of a document that some tokens, in the order of the text, are in: a number that no other part has.

        Each part of a document but its last has as many tokens as the cap. What is equal to no other does not count.
        """
        cap, counts = self._plan.terms.consistent_cap, self._identity_of[tokens] >= 0
        documents, before = self._document[tokens], np.cumsum(counts) - counts
        before += self._carried.open.counted - before[np.searchsorted(documents, documents)]
        parts = before // cap
        if not self._plan.split and parts[counts].max(initial=0):
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
        cap, made = self._plan.terms.consistent_cap, self._carried.open
        identity = self._identity_of[self.draws.tokens]
        counts = np.flatnonzero(identity >= 0)
        counted = made.counted + len(counts)
        in_part = counted % cap
        kept = dict(made.values) if made.counted > counted - in_part else {}
        last = counts[max(0, len(counts) - in_part) :]
        equal = list(self._known.identities)
        kept.update(zip([equal[number] for number in identity[last].tolist()], values[last].tolist(), strict=True))
        return Open(counted, kept if in_part else {})

    def written(self, outputs: Integers) -> Rewritten:
        """Writes the words that were drawn into the gaps.

        Args:
            outputs: What each token becomes, an index of the plan's ``words``; ignored for ``SHOWN`` tokens.
        """
        words = self._plan.words.printed(outputs, self.cases)
        shown = np.flatnonzero(self.roles == SHOWN)
        words[shown] = _strings(self._known.shown)[self.indices[shown]]
        parts = self._filled(words).tolist()
        bounds = pairwise([0, *self._ends.tolist()])
        if self._bare:
            texts = [" ".join(filter(None, parts[start:end])) for start, end in bounds]
        else:
            texts = ["".join(parts[start:end]) for start, end in bounds]
        pairs = self._pairs(words) if self._plan.terms.consistent else []
        return Rewritten(texts, self._mentions(), pairs)

    def _filled(self, words: Strings) -> Strings:
        """The segments, with the words of their tokens in the place of those that have any."""
        parts = _strings([""] * len(self._segments)) if self._bare else self._read()
        part_of = self._part_of
        several = np.arange(self._singles, len(part_of))
        # Tokens after the first of their part: a visible clitic is glued to it, a drawn one follows after a blank.
        later = several[1:][part_of[several[1:]] == part_of[several[:-1]]]
        first = np.ones(len(part_of), dtype=bool)
        first[later] = False
        apart = later[(self.roles[later] != SHOWN) | self._bare]
        words = words.copy()
        words[apart] = [" " + word for word in words[apart].tolist()]
        parts[part_of[first]] = words[first]
        bounds = np.flatnonzero(np.append(first, True))
        long = np.flatnonzero(np.diff(bounds) > 1)
        for begin, end in zip(bounds[long].tolist(), bounds[long + 1].tolist(), strict=True):
            parts[part_of[begin]] = "".join(words[begin:end])
        return parts

    def _read(self) -> Strings:
        """The segments as they were read."""
        return _strings(self._known.numbers)[self._segments]

    def _mentions(self) -> list[int]:
        """Charged mentions of every document."""
        first = self.draws.first
        return np.bincount(self._document[first[self.roles[first] == DRAWN]], minlength=self._documents).tolist()

    def _pairs(self, words: Strings) -> list[list[tuple[str, str]]]:
        """Folded output and original spelling of every distinct token of each document, of draws that are new."""
        pairs: list[dict[tuple[str, str], None]] = [{} for _ in range(self._documents)]
        tokens = self.draws.tokens[self.draws.copies >= len(self.draws.made)]
        found: list[int] = tokens[self._identity_of[tokens] >= 0].tolist()
        for token in found:
            pair = segmentation.key(words[token]), self._known.spellings[self._identity_of[token]]
            pairs[self._document[token]][pair] = None
        return list(map(list, pairs))


def _last_before(parts: Integers, places: Integers) -> Integers:
    """The last of the places, ascending, before each part; -1 where there is none."""
    return np.concatenate([[-1], places])[np.searchsorted(places, parts)]


def _strings(strings: Collection[str]) -> Strings:
    """An array of strings."""
    return np.fromiter(strings, dtype=object, count=len(strings))
