"""Random sampling and writing of output words, for the tokens of many texts as arrays.

A *draw* is one random choice of an output. With the option ``consistent``, equal tokens of a document share a draw, so
that they get the same output.

The mechanism samples the outputs of randomized tokens. A replaced token becomes another entity of its type, sampled
uniformly and independently of the token. The outputs are written between the original gaps. The output of a token is a
function of its vocabulary word or entity type, its case and fresh randomness. So the user's spelling is never printed,
not even if a word is randomized to itself.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.errors import DocumentTooLong
from textveil.mechanisms import entropy
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.entropy import draw_uniform_below
from textveil.text import segmentation
from textveil.text.rewrite.cut import (
    KEPT,
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

Strings = NDArray[np.object_]


@dataclass(frozen=True)
class EarlierDraws:
    """Random outputs in the earlier chunks of a long document whose equal words get equal outputs.

    Attributes:
        counted: Number of tokens of the document so far that count toward ``consistent_cap``, the limit on words with
            equal outputs.
        values: Outputs so far, as a dictionary whose keys are the same for equal tokens. The keys depend on
            words of the user: do not store or send them.
    """

    counted: int = 0
    values: dict[tuple[int, object], int] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class CarriedState:
    """State of a long document after a chunk, which the next chunk needs: for example the outputs of equal words.

    A long document is sanitized in chunks (parts). The positions at which it is divided depend on private words. With
    this state, the output distribution and the privacy loss are the same as without chunks, so these positions reveal
    nothing.

    Attributes:
        before: Gap (blanks and punctuation) before the first segment; ``None`` at the start of a text.
        earlier: Outputs of the tokens in earlier chunks, which equal tokens in later chunks get too.
    """

    before: str | None = None
    earlier: EarlierDraws = EarlierDraws()


NO_CARRIED_STATE = CarriedState()


class DrawIndex(NamedTuple):
    """The randomized and replaced tokens of texts, and the draw (random choice) that each of them uses.

    Each draw has an index. The draws of earlier chunks come first, then the new ones in text order.

    Attributes:
        tokens: Indices of the randomized and replaced tokens, in text order, shape ``(tokens,)``.
        copies: Index of the draw of each of these tokens, shape ``(tokens,)``.
        first: First token of each new draw, shape ``(draws,)``.
        earlier_values: Output of each draw of earlier chunks.
    """

    tokens: NDArray[np.intp]
    copies: Integers
    first: NDArray[np.intp]
    earlier_values: Integers


class TokenArrays:
    """The tokens of several texts as arrays, for fast sampling. Tokens that are alone in their segment come first.

    Args:
        plan: The checked options of the call.
        cut: The texts, as segment ids.
        known: The table of these segments.
        carried: State of the document before these texts, if they are a chunk of a document.
        sizes: Number of texts of each document, in order. If omitted, each text is a document.

    Attributes:
        plan, carried: The arguments.
        segment_table: The argument ``known``.
        segments: Id of each segment of all texts, one text after the other.
        ends: End of each text in ``segments``.
        roles: ``REPLACED``, ``RANDOMIZED`` or ``KEPT`` (unchanged), shape ``(tokens,)``.
        indices: For a randomized token, its id as an input of the mechanism. For a replaced token, the index of its
            entity type. For an unchanged token, its index in ``segment_table.kept_texts``.
        cases: Case in which the output of each token is written.
        identities: An integer that is the same for equal tokens; -1 for a token that is not equal to any other.
        part_of: Index in ``segments`` of the segment of each token.
        singles: Number of tokens that are the only token of their segment. They precede all others.
        document: Index of the document of each token.
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
        """Return the tokens of special segments in text order.

        A segment is a token or gap of the split text. It is special if it has several tokens or none, or if its tokens
        depend on whether it starts a sentence.

        Returns:
            Two arrays of shape ``(tokens,)``: for each token, the index of its segment, and the index of the decision
            on the token (row of ``SegmentTable``).
        """
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
        """Return whether each special segment starts a sentence.

        A segment is a token or gap of the split text. It is special if it has several tokens or none, or if its tokens
        depend on whether it starts a sentence.

        Args:
            parts: Indices of the special segments in ``segments``.

        Returns:
            Booleans, shape ``(parts,)``.
        """
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
        """Whether each token is a word, a stem or a clitic (``ClassifiedToken.is_whole``), shape ``(tokens,)``."""
        return self._table_rows[self._rows, -1] != 0

    @cached_property
    def in_text_order(self) -> NDArray[np.intp]:
        """Indices that sort the tokens by their position in the texts. Outputs are sampled in this order."""
        return np.argsort(self.part_of, kind="stable")

    @property
    def text_of_segments(self) -> Integers:
        """For each segment (token or gap), the index of the text that contains it, shape ``(segments,)``."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))

    @cached_property
    def draws(self) -> DrawIndex:
        """The randomized and replaced tokens, and the draw (random choice of an output) that each uses.

        Raises:
            DocumentTooLong: A document has more words, names and numbers than the option ``consistent_cap`` permits.
        """
        order = self.in_text_order
        tokens = order[(self.roles[order] == RANDOMIZED) | (self.roles[order] == REPLACED)]
        if not self.plan.terms.consistent:
            return DrawIndex(tokens, np.arange(len(tokens)), tokens, np.empty(0, dtype=np.int64))
        self._check_cap(tokens)
        identity, documents = self.identities[tokens], self.document[tokens]
        unequal = np.flatnonzero(identity < 0)  # a punctuation mark is equal to no other token
        identity[unequal] = len(self.segment_table.identities) + np.arange(len(unequal))
        identity_count = len(self.segment_table.identities) + len(unequal)
        earlier = self.carried.earlier.values
        numbers = defaultdict(count(len(earlier)).__next__)
        for number, equal in enumerate(earlier):
            if equal in self.segment_table.identities:
                numbers[self.segment_table.identities[equal]] = number  # a chunk belongs to document 0
        keys = (documents * identity_count + identity).tolist()
        copies = np.fromiter(map(numbers.__getitem__, keys), dtype=np.int64, count=len(keys))
        highest_draw = np.maximum.accumulate(np.concatenate([[len(earlier) - 1], copies]))
        first = tokens[np.diff(highest_draw) > 0]
        return DrawIndex(tokens, copies, first, np.fromiter(earlier.values(), dtype=np.int64, count=len(earlier)))

    def _check_cap(self, tokens: NDArray[np.intp]) -> None:
        """Raise an error if a document has more tokens than the option ``consistent_cap`` permits.

        Tokens that are randomized anew at each occurrence, such as punctuation marks, do not count.

        Raises:
            DocumentTooLong: A document has too many tokens.
        """
        cap, counted = self.plan.terms.consistent_cap, self.document[tokens[self.identities[tokens] >= 0]]
        if self.carried.earlier.counted + np.bincount(counted).max(initial=0) > cap:
            raise DocumentTooLong(
                f"a document has more than {cap:,} words, names and numbers to replace consistently: divide the "
                "document, or raise consistent_cap"
            )

    def list_earlier_draws(self, values: Integers) -> EarlierDraws:
        """Return the outputs of the document so far, so that equal tokens in its later chunks get the same outputs.

        Args:
            values: Output of each of ``draws.tokens``.
        """
        previous, identity = self.carried.earlier, self.identities[self.draws.tokens]
        counted = np.flatnonzero(identity >= 0)
        identity_keys = list(self.segment_table.identities)
        keys = [identity_keys[number] for number in identity[counted].tolist()]
        return EarlierDraws(
            previous.counted + len(counted),
            {**previous.values, **dict(zip(keys, values[counted].tolist(), strict=True))},
        )


def _find_last_before(parts: Integers, places: Integers) -> Integers:
    """Return, for each position in ``parts``, the last element of ``places`` before it; -1 if none.

    Args:
        parts: Positions.
        places: Positions in ascending order.
    """
    return np.concatenate([[-1], places])[np.searchsorted(places, parts)]


def read_segments(
    plan: SanitizingPlan, segments: Iterable[str], carried: CarriedState = NO_CARRIED_STATE
) -> TokenArrays:
    """Classify the tokens of a text, or of a chunk (part) of a text, that was split into segments (tokens and gaps).

    Args:
        plan: The checked options of the call.
        segments: Segments of the text or chunk.
        carried: State of the document before these segments.
    """
    reader = SegmentReader(plan)
    return TokenArrays(plan, reader.read_segments([segments]), reader.segments, carried)


class DrawSlots(NamedTuple):
    """The random choices (draws) that a mechanism has to make for the randomized tokens of some texts.

    The interface is ``mechanisms.protocol.Slots``.

    Attributes:
        tokens: The tokens of the texts.
        randomized: Indices of these draws among all new draws of the texts, which also choose surrogates.
        is_lower: Whether the output of each draw is always written in lower case. The values depend only on letter
            case, and on which tokens are equal.
    """

    tokens: TokenArrays
    randomized: NDArray[np.intp]
    is_lower: NDArray[np.bool_]

    @property
    def is_whole(self) -> NDArray[np.bool_]:
        """For each random choice, whether its token is a whole word, stem or clitic (``ClassifiedToken.is_whole``)."""
        return self.tokens.whole[self.tokens.draws.first[self.randomized]]


def sample_outputs(tokens: TokenArrays, lower: NDArray[np.bool_] | None = None) -> Integers:
    """Sample the random output of every token, with random numbers of the operating system.

    Args:
        tokens: The tokens.
        lower: For each new draw (random choice that equal tokens may share), whether its output is written in lower
            case at every place. If omitted, the function computes this from ``tokens``. For a chunk of a document the
            caller must pass the value, because ``tokens`` lacks the other chunks.

    Returns:
        Indices of the plan's words, shape ``(tokens,)``.

    Raises:
        DocumentTooLong: A document has more words, names and numbers than the option ``consistent_cap`` permits.

    Privacy:
        This function computes the noisy output.
    """
    plan, draws = tokens.plan, tokens.draws
    if lower is None:
        lower = find_lower_case_draws(tokens.cases[draws.tokens], draws.copies)
    role, index = tokens.roles[draws.first], tokens.indices[draws.first]
    randomized, replaced = np.flatnonzero(role == RANDOMIZED), np.flatnonzero(role == REPLACED)
    samples = np.zeros(len(role), dtype=np.int64)
    samples[randomized] = plan.mechanism.draw_symbols(
        index[randomized], DrawSlots(tokens, randomized, lower[randomized]), entropy.random_uint64
    )
    type_indices = index[replaced]
    samples[replaced] = plan.words.starts[type_indices] + draw_uniform_below(
        plan.words.counts[type_indices], entropy.random_uint64
    )
    outputs = np.zeros(len(tokens.roles), dtype=np.int64)
    outputs[draws.tokens] = np.concatenate([draws.earlier_values, samples])[draws.copies]
    return outputs


def find_lower_case_draws(cases: Integers, copies: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return for each draw (random choice of an output) whether all tokens that get its output are in lower case.

    Equal tokens of a document can share a draw. The result depends only on letter case and on which tokens are equal,
    never on a word.

    Args:
        cases: Case of the output of each token, shape ``(n,)``.
        copies: Index of the draw of each token, shape ``(n,)``. Each index from 0 to the largest one occurs.

    Returns:
        One value for each draw, shape ``(draws,)``.
    """
    capitals = np.bincount(copies, weights=cases != LOWER)
    return capitals == 0


class RewrittenTexts(NamedTuple):
    """Result of sanitizing: the texts of several documents, or of one chunk (part) of a long document.

    ``tokens`` and ``pairs`` have one entry per document.

    Attributes:
        texts: The output texts. A document of several texts has an entry for each text.
        tokens: Number of tokens whose privacy loss counts: all randomized tokens, or the distinct ones if equal words
            get equal outputs.
        pairs: For every distinct replaced or randomized token: its output, normalized, and the original spelling. Empty
            unless equal words get equal outputs. Private.
    """

    texts: list[str]
    tokens: list[int]
    pairs: list[list[tuple[str, str]]]


def write_texts(tokens: TokenArrays, outputs: Integers) -> RewrittenTexts:
    """Write the sanitized texts, with the sampled outputs between the original blanks and punctuation marks.

    Args:
        tokens: The tokens.
        outputs: Output of each token, an index of the plan's ``words``; ignored for unchanged (``KEPT``) tokens.
    """
    words = tokens.plan.words.print_words(outputs, tokens.cases)
    shown = np.flatnonzero(tokens.roles == KEPT)
    words[shown] = _make_string_array(tokens.segment_table.kept_texts)[tokens.indices[shown]]
    parts = fill_segments(tokens, words).tolist()
    bounds = pairwise([0, *tokens.ends.tolist()])
    if tokens.plan.terms.sanitize_punctuation:
        texts = [" ".join(filter(None, parts[start:end])) for start, end in bounds]
    else:
        texts = ["".join(parts[start:end]) for start, end in bounds]
    pairs = _list_pairs(tokens, words) if tokens.plan.terms.consistent else []
    return RewrittenTexts(texts, _count_charged(tokens), pairs)


def fill_segments(tokens: TokenArrays, words: Strings) -> Strings:
    """Return all segments (tokens and gaps) of the texts, with the outputs in place of the tokens.

    Args:
        tokens: The tokens.
        words: Output of each token as text.
    """
    splits_marks, part_of = tokens.plan.terms.sanitize_punctuation, tokens.part_of
    parts = _make_string_array([""] * len(tokens.segments)) if splits_marks else list_spellings(tokens)
    first = np.ones(len(part_of), dtype=bool)
    first[1:] = part_of[1:] != part_of[:-1]
    parts[part_of[first]] = words[first]
    bounds = tokens.singles + np.flatnonzero(np.append(first[tokens.singles :], True))
    several = np.flatnonzero(np.diff(bounds) > 1)
    shown, joined = tokens.roles == KEPT, tokens.plan.rule.join_outputs
    for start, end in zip(bounds[several].tolist(), bounds[several + 1].tolist(), strict=True):
        parts[part_of[start]] = joined(words[start:end].tolist(), shown[start:end].tolist(), apart=splits_marks)
    return parts


def list_spellings(tokens: TokenArrays) -> Strings:
    """Return the segments (tokens and gaps) of the texts in their original spelling. The result is private."""
    return _make_string_array(tokens.segment_table.numbers)[tokens.segments]


def _count_charged(tokens: TokenArrays) -> list[int]:
    """Return for each document the number of tokens whose privacy loss counts."""
    first = tokens.draws.first
    return np.bincount(tokens.document[first[tokens.roles[first] == RANDOMIZED]], minlength=tokens.documents).tolist()


def _list_pairs(read: TokenArrays, words: Strings) -> list[list[tuple[str, str]]]:
    """Return for each document the pairs of output and original of its distinct, newly sampled tokens.

    An output is normalized (lower case). An original has the spelling of its first occurrence.

    Args:
        read: The tokens of the texts.
        words: Output of each token as text.
    """
    pairs: list[dict[tuple[str, str], None]] = [{} for _ in range(read.documents)]
    tokens = read.draws.tokens[read.draws.copies >= len(read.draws.earlier_values)]
    pair_tokens: list[int] = tokens[read.identities[tokens] >= 0].tolist()
    for token in pair_tokens:
        pair = segmentation.fold_word(words[token]), read.segment_table.spellings[read.identities[token]]
        pairs[read.document[token]][pair] = None
    return list(map(list, pairs))


def _make_string_array(strings: Collection[str]) -> Strings:
    """Convert strings to an array of Python objects."""
    return np.fromiter(strings, dtype=object, count=len(strings))
