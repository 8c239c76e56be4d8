"""Conversion of texts to arrays of integers.

Each distinct segment of a call gets an integer id, so that the segment is classified only once. A *segment* is a token
or a gap (see ``textveil.text.segmentation``). The classes here live for one call of the sanitizer.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from itertools import compress, count, islice
from typing import NamedTuple

import numpy as np

from textveil.mechanisms.arrays import Integers
from textveil.text import segmentation
from textveil.text.rewrite.plan import SanitizingPlan
from textveil.text.segmentation import (
    LOWER,
    MAX_WORD_LENGTH,
    apply_case,
    begins_sentence,
    find_case_pattern,
    is_gap,
)
from textveil.text.segmentation.segments import split_at_strings, split_words_and_gaps
from textveil.text.token_rules import (
    KEPT_AS_KEY,
    RANDOMIZED_BY_KEY,
    ClassifiedToken,
    ClassifiedTokens,
    TokenRole,
)

#: Roles of tokens. The output of a ``KEPT`` token is made from its lookup key and its case. An ``UNCHANGED`` token is
#: copied.
UNCHANGED, REPLACED, RANDOMIZED, KEPT = range(4)
#: Entries of segments that are copied unchanged: gaps, gaps that end a sentence, kept words.
GAP_ENTRY, SENTENCE_END_ENTRY, KEPT_ENTRY = range(3)
#: Largest number of chunks, and of segments, in the caches of ids. Larger caches are cleared.
_MAX_NUMBERS = 1 << 18
#: Ids of the two segments that exist in every call: a single space, and the empty string.
_BLANK, _EMPTY = 0, 1

#: The decision on one token, five integers: its role; an index (of the mechanism's input, of the entity type, or of the
#: kept word); its case; its identity (common to equal tokens, else -1); 1 if it is a whole word, 0 if a part of one.
TokenRow = tuple[int, int, int, int, int]
ROW_LENGTH = 5


class SegmentTable:
    """Table of all distinct tokens and gaps (segments) of a call, with the decisions how to treat the tokens.

    A decision states whether a token stays unchanged, is replaced, or is randomized. Each decision is a row of integers
    (``TokenRow``) in ``rows``. Each segment has an *entry*, an integer:

    - An entry of 0 or more is the index of a row: the decision on the segment's only token. The first rows mean "copy
      the segment unchanged".
    - A segment with a negative entry is *special*. It has several tokens or none, or its tokens depend on whether it
      starts a sentence. ``ranges`` has the rows of its tokens.

    Args:
        plan: The checked options of the call, whose rule decides on tokens.

    Attributes:
        numbers: Id of each segment. A lookup in this mapping adds a new segment; ``add_entries`` then adds its entry.
        entries: Entry of each segment.
        ranges: Rows of the tokens of special segments, as pairs (first row, end). Entry ``-1 - k`` has two pairs:
            ``ranges[2 * k]`` inside a sentence, and ``ranges[2 * k + 1]`` at the start of a sentence.
        gaps: Whether each special segment is a gap.
        kept_texts: Printed form of unchanged tokens whose spelling is normalized.
        identities: Id of each identity (a set of equal tokens), by a key that its tokens share.
        spellings: First spelling of each identity.
        rows: The rows of all tokens, ``ROW_LENGTH`` integers each.

    Privacy:
        An instance contains the user's text and must not outlive the call.
    """

    def __init__(self, plan: SanitizingPlan) -> None:
        self._plan = plan
        self._sanitizes_punctuation = plan.terms.sanitize_punctuation
        self._keeps_case = plan.keeps_case
        self._is_consistent = plan.terms.consistent
        self._unknown = plan.symbol_count
        self.numbers: defaultdict[str, int] = defaultdict(count(_EMPTY + 1).__next__, {" ": _BLANK, "": _EMPTY})
        self.entries: array[int] = array("q", [GAP_ENTRY, GAP_ENTRY])
        self.rows: array[int] = array("q", [UNCHANGED, 0, LOWER, -1, 0] * (KEPT_ENTRY + 1))
        self.ranges: list[tuple[int, int]] = []
        self.gaps: list[bool] = []
        self.kept_texts: list[str] = []
        self.identities: dict[tuple[int, object], int] = {}
        self.spellings: list[str] = []

    def add_entries(self) -> None:
        """Classify the segments (tokens and gaps) that were added since the last call, and store the decisions."""
        ids, unknown, find_identity = (
            self._plan.bundle.symbol_ids,
            self._unknown,
            self._find_identity if self._is_consistent else None,
        )
        entries, rows, new_segments = self.entries, self.rows, [*islice(self.numbers, len(self.entries), None)]
        are_plain = [
            segment.isascii() and segment.isalpha() and len(segment) <= MAX_WORD_LENGTH for segment in new_segments
        ]
        words = [*compress(new_segments, are_plain)]
        keys = [*map(str.lower, words)]
        cases = [LOWER if key == word else find_case_pattern(word) for key, word in zip(keys, words, strict=True)]
        decisions = zip(keys, cases, self._plan.rule.classify_plain(keys, cases), strict=True)
        others = [segment for segment, is_plain in zip(new_segments, are_plain, strict=True) if not is_plain]
        are_gaps = [*map(is_gap, others)]
        gaps, keeps_spelling = iter(are_gaps), not self._sanitizes_punctuation
        ends = iter([*map(begins_sentence, compress(others, are_gaps))] if keeps_spelling else ())
        pending_rows: list[int] = []  # rows of the decisions, appended together at the end
        for segment, is_plain in zip(new_segments, are_plain, strict=True):
            if is_plain:
                key, case, type_index = next(decisions)
                if type_index == KEPT_AS_KEY and keeps_spelling:
                    if key == segment:
                        entries.append(KEPT_ENTRY)
                        continue
                    rows.fromlist(pending_rows)
                    pending_rows.clear()
                    entries.append(self._make_capitalized_entry(key, segment, case))
                    continue
                if type_index is not None and type_index != KEPT_AS_KEY:
                    entries.append((len(rows) + len(pending_rows)) // ROW_LENGTH)
                    role, index = (
                        (RANDOMIZED, ids.get(key, unknown))
                        if type_index == RANDOMIZED_BY_KEY
                        else (REPLACED, type_index)
                    )
                    pending_rows += (
                        role,
                        index,
                        case,
                        -1 if find_identity is None else find_identity(role, index, segment),
                        True,
                    )
                    continue
            rows.fromlist(pending_rows)
            pending_rows.clear()
            if is_plain or not next(gaps):
                entries.append(self._make_entry(segment))
            elif keeps_spelling:
                entries.append(SENTENCE_END_ENTRY if next(ends) else GAP_ENTRY)
            else:
                entries.append(self._make_mark_entry(segment))
        rows.fromlist(pending_rows)

    def _make_capitalized_entry(self, key: str, word: str, case: int) -> int:
        """Decide on a function word with a capital letter: it stays unchanged, or is randomized as an unknown word.

        The method returns the entry for the table (see ``SegmentTable``).

        Args:
            key: Normalized spelling of the word.
            word: The word.
            case: Its case pattern: ``LOWER``, ``TITLE`` or ``UPPER``.
        """
        is_title_case, keeps_capital = word[1:] == key[1:], self._plan.rule.keeps_capital
        if is_title_case and keeps_capital(key, starts_sentence=False):
            return KEPT_ENTRY
        identity = self._find_identity(RANDOMIZED, self._unknown, word) if self._is_consistent else -1
        row = RANDOMIZED, self._unknown, case, identity, True
        if not (is_title_case and keeps_capital(key, starts_sentence=True)):
            return self._add_rows([row])
        self.kept_texts.append(word)
        return self._add_special([[row], [(KEPT, len(self.kept_texts) - 1, LOWER, -1, True)]])

    def _make_entry(self, segment: str) -> int:
        tokens = self._plan.rule.classify_token(segment, starts_sentence=False)
        first = tokens[0][1]
        if len(tokens) == 1 and first.role is TokenRole.REPLACED:
            return self._add_rows([self._make_row(first, segment)])
        if first.key is None and first.role is TokenRole.RANDOMIZED:
            tokens_at_start = self._plan.rule.classify_token(segment, starts_sentence=True)
            if tokens_at_start != tokens:
                return self._add_special([self._make_rows(tokens), self._make_rows(tokens_at_start)])
        if all(token.role is TokenRole.KEPT for _, token in tokens):
            kept_text = "".join(self._print_kept(token) for _, token in tokens)
            return (
                KEPT_ENTRY
                if kept_text == segment and not self._sanitizes_punctuation
                else self._add_special([self._make_rows(tokens)])
            )
        rows = self._make_rows(tokens)
        return self._add_rows(rows) if len(rows) == 1 else self._add_special([rows])

    def _make_mark_entry(self, gap: str) -> int:
        mark_tokens = [self._plan.rule.classify_mark(mark) for mark in gap if not mark.isspace()]
        return self._add_special([[self._make_row(mark) for mark in mark_tokens]], gap=True)

    def _add_rows(self, rows: list[TokenRow]) -> int:
        """Append rows (decisions on tokens) to the table, and return the index of the first one."""
        first = len(self.rows) // ROW_LENGTH
        for row in rows:
            self.rows.extend(row)
        return first

    def _add_special(self, alternatives: list[list[TokenRow]], *, gap: bool = False) -> int:
        """Append the decisions on a special segment, and return the entry (integer) that refers to them.

        A special segment has several tokens or none, or its tokens depend on whether it starts a sentence.

        Args:
            alternatives: One or two lists of rows: for the tokens inside a sentence; and for the tokens at the start of
                a sentence, if these differ.
            gap: Whether the segment is a gap.
        """
        row_ranges = [(first := self._add_rows(rows), first + len(rows)) for rows in alternatives]
        self.ranges += row_ranges[0], row_ranges[-1]
        self.gaps.append(gap)
        return -len(self.gaps)

    def _make_rows(self, tokens: ClassifiedTokens) -> list[TokenRow]:
        return [self._make_row(token, spelled) for spelled, token in tokens]

    def _make_row(self, token: ClassifiedToken, spelling: str | None = None) -> TokenRow:
        """Return the decision on a token as a row of the table (``TokenRow``).

        A token without ``spelling`` gets the identity -1: it equals no other token, so it shares no random output.
        """
        if token.role is TokenRole.KEPT:
            self.kept_texts.append(self._print_kept(token))
            return KEPT, len(self.kept_texts) - 1, LOWER, -1, True
        role, index = (
            (RANDOMIZED, self._plan.find_symbol_id(token)) if token.type_index is None else (REPLACED, token.type_index)
        )
        identity = self._find_identity(role, index, spelling) if self._is_consistent and spelling is not None else -1
        return role, index, token.case, identity, token.is_whole

    def _find_identity(self, role: int, index: int, spelling: str) -> int:
        """Return an id that is the same for equal tokens, and differs for all others.

        Two tokens are equal if they are the same word of the vocabulary, the same unknown word, or the same entity of
        one type.

        Args:
            role: ``RANDOMIZED`` or ``REPLACED``.
            index: Id of the input of the mechanism, or index of the entity type.
            spelling: The token as spelled.
        """
        if role == RANDOMIZED and index < self._unknown:
            identity_key: tuple[int, object] = -1, index
        else:
            identity_key = index if role == REPLACED else -1, _shorten_key(segmentation.fold_word(spelling))
        identity = self.identities.setdefault(identity_key, len(self.identities))
        if identity == len(self.spellings):
            self.spellings.append(spelling)
        return identity

    def _print_kept(self, token: ClassifiedToken) -> str:
        """Return the output text of an unchanged token, made from its normalized spelling and its case."""
        key = token.key or ""
        return apply_case(key, token.case) if self._keeps_case else key


class NumberedSegments(NamedTuple):
    """The segments (tokens and gaps) of several documents as one array of ids.

    Attributes:
        numbers: Ids of the segments of all documents, one document after the other, shape ``(segments,)``.
        ends: End of each document in ``numbers``, shape ``(documents,)``.
    """

    numbers: Integers
    ends: Integers


class SegmentReader:
    """Splits texts into segments (tokens and gaps), and returns the ids of the segments.

    To be fast, it splits each distinct *chunk* only once. There are two kinds of chunks: strings (tokens such as email
    addresses, no plain words), and in all other text the parts between two spaces. The segments are those of
    ``segmentation.split_text``, except that a gap may become several segments. No word contains a space, so the words
    are the same.

    Args:
        plan: The checked options of the call.

    Privacy:
        An instance contains the user's text and must not outlive the call.
    """

    def __init__(self, plan: SanitizingPlan) -> None:
        self._plan = plan
        self._clear()

    def _clear(self) -> None:
        self.segments: SegmentTable = SegmentTable(self._plan)
        #: Id of each chunk. A string is stored with a space at its end, because it must not be split.
        self._chunk_numbers = defaultdict(count().__next__)
        self._chunk_segments = array("q")  # the segments of all chunks, each chunk followed by a space
        self._chunk_starts = array("q", [0])  # start of each chunk in ``_chunk_segments``, and the end of the last

    def read_texts(self, texts: Iterable[str]) -> NumberedSegments:
        """Split texts into segments (tokens and gaps), and return their ids. Each text is a document of its own."""
        self._clear_if_large()
        chunks, ends = array("q"), array("q")
        chunks_before_join = array("q")  # number of chunks up to the end of each part
        find_number = self._chunk_numbers.__getitem__
        for text in texts:
            for start, end, is_one in split_at_strings(text, lone_clitics=self._plan.joins_lone_clitics):
                part = text[start:end]
                if is_one:
                    chunks.append(find_number(part + " "))
                else:
                    chunks.extend(map(find_number, part.split(" ")))
                chunks_before_join.append(len(chunks))
            ends.append(len(chunks))
        self._split_new_chunks()
        return self._join_chunks(np.array(chunks), np.array(chunks_before_join), np.array(ends))

    def _split_new_chunks(self) -> None:
        """Split the chunks (texts between blanks) that are new since the last call, and store the ids of their parts.

        The parts are the segments: tokens and gaps.
        """
        find_number, splits_marks = self.segments.numbers.__getitem__, self._plan.terms.sanitize_punctuation
        inside, starts = self._chunk_segments, self._chunk_starts
        for piece in islice(self._chunk_numbers, len(starts) - 1, None):
            if piece.isascii() and piece.isalpha():
                inside.append(find_number(piece))
            elif piece.endswith(" "):
                inside.append(find_number(piece[:-1]))
            elif piece.endswith((",", ".")) and piece.isascii() and piece[:-1].isalpha():  # fast path
                inside.extend((find_number(piece[:-1]), find_number(piece[-1])))
            else:
                inside.extend(map(find_number, split_words_and_gaps(piece, marks_apart=splits_marks)))
            inside.append(_BLANK)
            starts.append(len(inside))
        self.segments.add_entries()

    def _join_chunks(self, chunks: Integers, chunks_before_join: Integers, ends: Integers) -> NumberedSegments:
        """Return the segment ids of all texts; a space separates two chunks of the same part of a text.

        A segment is a token or gap. A part is a string (a token such as an email address), or the text between two
        strings. A chunk is a string, or the text between two spaces.

        Args:
            chunks: Ids of the chunks of all texts.
            chunks_before_join: Number of chunks up to the end of each part.
            ends: Number of chunks up to the end of each text.
        """
        starts = np.array(self._chunk_starts)
        sizes = np.diff(starts)[chunks]
        after = np.cumsum(sizes)  # end of the segments of each chunk
        inside = np.arange(sizes.sum()) + np.repeat(starts[chunks] - (after - sizes), sizes)
        numbers = np.array(self._chunk_segments)[inside]
        numbers[after[chunks_before_join - 1] - 1] = _EMPTY
        return NumberedSegments(numbers, after[ends - 1])

    def read_segments(self, documents: Iterable[Iterable[str]]) -> NumberedSegments:
        """Return the segment ids of documents that are given as lists of segments (tokens and gaps)."""
        self._clear_if_large()
        numbers, ends = array("q"), array("q")
        for document in documents:
            numbers.extend(map(self.segments.numbers.__getitem__, document))
            ends.append(len(numbers))
        self.segments.add_entries()
        return NumberedSegments(np.array(numbers), np.array(ends))

    def _clear_if_large(self) -> None:
        """Empty the caches of ids if they are too large, to limit the memory."""
        if max(len(self._chunk_numbers), len(self.segments.numbers)) > _MAX_NUMBERS:
            self._clear()


def _shorten_key(key: str) -> str | bytes:
    """Return the normalized spelling of an unknown word, or to save memory its SHA-256 if the spelling is very long."""
    return key if len(key) <= MAX_WORD_LENGTH else sha256(key.encode("utf-8", "surrogatepass")).digest()
