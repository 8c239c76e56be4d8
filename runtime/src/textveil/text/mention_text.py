"""Reads the tokens of texts into arrays, and writes what was drawn for them back into the gaps.

Every distinct segment is looked up once and has a code from then on (``Segments``); all else is done on arrays of codes.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.errors import DocumentTooLong
from textveil.mechanisms.integer_sampling import Integers
from textveil.text import segmentation
from textveil.text.segmentation import LOWER, apply_case
from textveil.text.skeleton import Role, Token, sentence_start
from textveil.text.strings import is_gap

if TYPE_CHECKING:
    from textveil.text.mentions import MentionPlan

#: Roles of tokens; ``SHOWN`` tokens are visible, but not passed through as they are.
AS_IT_IS, KIND, DRAWN, SHOWN = range(4)
#: Entries of segments that are passed through: gaps, gaps that end a sentence, visible words.
_GAP, _END, _VISIBLE = range(3)

#: Role, index (an input id, a kind, a visible word), case and identity of one token.
Row = tuple[int, int, int, int]
_PASSED: Row = (AS_IT_IS, 0, LOWER, -1)


class Rewritten(NamedTuple):
    """A document, or a part of one, after the draw.

    Attributes:
        text: What comes out.
        mentions: Drawn mentions that are charged: all of them, or the distinct ones where draws are consistent.
        pairs: Folded output and original spelling of every distinct token that changed hands, where draws are
            consistent. Private.
    """

    text: str
    mentions: int
    pairs: tuple[tuple[str, str], ...] = ()


class Segments(dict[str, int]):
    """The distinct segments that a call has met, numbered; a new one is looked up when its number is asked for.

    Every segment has an *entry*. From 0 on it is a row: that of the one token of the segment, or one of those for
    segments that are passed through. Below 0 the segment is *special*: its tokens are several or none, or depend on
    where a sentence starts.

    Args:
        plan: What becomes of tokens.

    Attributes:
        entries: Entry of each segment.
        rows: Rows of tokens.
        ranges: First row and end of the tokens of the special segment of entry ``-1 - k``: inside a sentence at
            ``2 k``, at the start of one at ``2 k + 1``.
        gaps: Whether each special segment is a gap.
        shown: What is printed of visible tokens that are not passed through as they are.
        identities: Number of each identity.
        spellings: Spelling of each identity where it was first met.

    Privacy:
        It holds what the user wrote. It ends with the call, and its ``repr`` is empty.
    """

    def __init__(self, plan: "MentionPlan") -> None:
        super().__init__()
        self._plan = plan
        self._bare = plan.terms.sanitize_punctuation
        self._keeps_case = plan.terms.case == "carry" and not self._bare
        self.entries: list[int] = []
        self.rows: list[Row] = [_PASSED] * 3
        self.ranges: list[tuple[int, int]] = []
        self.gaps: list[bool] = []
        self.shown: list[str] = []
        self.identities: dict[tuple[int, object], int] = {}
        self.spellings: list[str] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __missing__(self, segment: str) -> int:
        number = self[segment] = len(self.entries)
        self.entries.append(self._entry(segment))
        return number

    def _entry(self, segment: str) -> int:
        plan = self._plan
        if segment.isascii() and segment.isalpha() and (key := segment.lower()) not in plan.exceptions:
            # Most of all words. As in Rule: nothing is cut off, and no sentence decides.
            case = segmentation.case_pattern(segment)
            kind = plan.rule.kinds.of_word(key, case) if plan.rule.use_kinds else None
            token = Token(Role.DRAWN, case, key) if kind is None else Token(Role.KIND, case, kind=kind)
            return self._add([self._row_of(token, segment)])
        if is_gap(segment):
            if not self._bare:
                return _END if sentence_start(segment) else _GAP
            marks = sum(not character.isspace() for character in segment)
            return self._add_special([[(KIND, plan.marks, LOWER, -1)] * marks], gap=True)
        pieces = plan.pieces(segment, starts_sentence=False)
        first = pieces[0][1]
        # Of all tokens, capitalized function words alone depend on where a sentence starts; here they have no key.
        if first.key is None and first.role is Role.DRAWN:
            starting = plan.pieces(segment, starts_sentence=True)
            if starting != pieces:
                return self._add_special([self._rows(pieces), self._rows(starting)])
        if all(token.role is Role.VISIBLE for _, token in pieces):
            shown = "".join(self._shown(token) for _, token in pieces)
            return _VISIBLE if shown == segment and not self._bare else self._add_special([self._rows(pieces)])
        rows = self._rows(pieces)
        return self._add(rows) if len(rows) == 1 else self._add_special([rows])

    def _add(self, rows: list[Row]) -> int:
        self.rows += rows
        return len(self.rows) - len(rows)

    def _add_special(self, ways: list[list[Row]], *, gap: bool = False) -> int:
        """Adds the tokens inside a sentence, and those at the start of one where they differ."""
        for rows in (ways[0], ways[-1]):
            first = self._add(rows)
            self.ranges.append((first, first + len(rows)))
        self.gaps.append(gap)
        return -len(self.gaps)

    def _rows(self, pieces: list[tuple[str, Token]]) -> list[Row]:
        return [self._row_of(token, spelled) for spelled, token in pieces]

    def _row_of(self, token: Token, spelled: str) -> Row:
        if token.role is Role.VISIBLE:
            self.shown.append(self._shown(token))
            return SHOWN, len(self.shown) - 1, LOWER, -1
        case = token.case if self._keeps_case else LOWER
        if token.kind is not None:
            return KIND, token.kind, case, self._identity(token.kind, None, spelled)
        symbol = self._plan.symbol(token)
        return DRAWN, symbol, case, self._identity(-1, symbol, spelled)

    def _identity(self, kind: int, symbol: int | None, spelled: str) -> int:
        """A number that equal symbols, equal unknown words and equal members of a kind have."""
        if not self._plan.terms.consistent:
            return -1
        known = symbol is not None and symbol < self._plan.bundle.symbols
        folded = kind, symbol if known else segmentation.key(spelled)
        identity = self.identities.setdefault(folded, len(self.identities))
        if identity == len(self.spellings):
            self.spellings.append(spelled)
        return identity

    def _shown(self, token: Token) -> str:
        """A visible token as it is printed: by its key and case pattern."""
        key = token.key or ""
        return apply_case(key, token.case) if self._keeps_case else key


class Reading:
    """The tokens of some documents, as arrays. Tokens of special segments come after all others.

    Args:
        plan: What becomes of tokens.
        documents: Segments of each document.
        before: The gap before the first segment of every document; ``None`` where it begins there.
        known: Segments that the call has met in other documents.

    Attributes:
        roles: ``KIND``, ``DRAWN`` or ``SHOWN``, shape ``(tokens,)``.
        indices: Input id of a drawn token, index of a kind.
    """

    def __init__(
        self,
        plan: "MentionPlan",
        documents: Iterable[Sequence[str]],
        before: str | None,
        known: Segments | None = None,
    ) -> None:
        self._plan, self._before = plan, before
        self._bare = plan.terms.sanitize_punctuation
        self._known = Segments(plan) if known is None else known
        numbers: list[int] = []
        ends: list[int] = []
        find = self._known.__getitem__
        for document in documents:
            numbers.extend(map(find, document))
            ends.append(len(numbers))
        self._ends = np.array(ends, dtype=np.int64)
        self._segments = np.fromiter(numbers, np.int32, len(numbers))
        self._entries = np.array(self._known.entries, dtype=np.int32)[self._segments]
        single = np.flatnonzero(self._entries > _VISIBLE)
        several, rows = self._special()
        self._singles = len(single)
        self._part_of = np.concatenate([single, several])
        tokens = np.concatenate([self._entries[single], rows])
        columns = np.array(self._known.rows, dtype=np.int64).T
        self.roles, self.indices, self._cases, self._identity_of = (column[tokens] for column in columns)
        self._document = np.repeat(np.arange(len(ends)), np.diff(self._ends, prepend=0))[self._part_of]

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
        is_token = self._entries > _END
        is_token[parts] = ~np.array(self._known.gaps, dtype=bool)[-1 - self._entries[parts]]
        token_before = _last_before(parts, np.flatnonzero(is_token))
        end_before = _last_before(parts, np.flatnonzero(self._entries == _END))
        document_start = np.concatenate([[0], self._ends])[np.searchsorted(self._ends, parts, side="right")]
        is_first = token_before < document_start
        ended = (end_before >= document_start) & (end_before > token_before)
        return ended | (is_first & self._plan.starts_sentence(self._before))

    def distinct(self, tokens: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Tells which tokens are drawn, and the number of the draw of each: its own unless draws are consistent.

        Raises:
            DocumentTooLong: As ``MentionPlan.rewrite``.
        """
        if not self._plan.terms.consistent:
            each = np.arange(len(tokens))
            return each, each
        identity, documents = self._identity_of[tokens], self._pieces[tokens]
        alone = np.flatnonzero(identity < 0)  # a mark of punctuation is equal to no other
        identity[alone] = len(self._known.identities) + np.arange(len(alone))
        keys = documents * (int(identity.max(initial=0)) + 1) + identity
        _, one, copies = np.unique(keys, return_index=True, return_inverse=True)
        return one, copies

    @cached_property
    def _pieces(self) -> Integers:
        """The document of every token, a document above the cap in several."""
        order = np.argsort(self._part_of, kind="stable")
        drawn = self.roles[order] == DRAWN
        before = np.cumsum(drawn) - drawn
        first = np.searchsorted(self._document[order], self._document[order])  # the first token of its document
        cap = self._plan.terms.consistent_cap
        pieces = np.empty(len(order), dtype=np.int64)
        pieces[order] = (before - before[first]) // cap
        if pieces.max(initial=0) and not self._plan.split:
            raise DocumentTooLong(
                f"a document has more than {cap:,} drawn mentions: consistent draws need it split, or a higher cap"
            )
        return self._document * (int(pieces.max(initial=0)) + 1) + pieces

    def written(self, outputs: Integers) -> list[Rewritten]:
        """Writes the words that were drawn into the gaps.

        Args:
            outputs: What each token becomes, an index of the plan's ``words``; ignored for ``SHOWN`` tokens.
        """
        words: list[str] = self._plan.words.printed[self._cases * self._plan.words.count + outputs].tolist()
        shown = np.flatnonzero(self.roles == SHOWN)
        for token, index in zip(shown.tolist(), self.indices[shown].tolist(), strict=True):
            words[token] = self._known.shown[index]
        parts = self._filled(words)
        bounds = pairwise([0, *self._ends.tolist()])
        if self._bare:
            texts = [" ".join(filter(None, parts[start:end])) for start, end in bounds]
        else:
            texts = ["".join(parts[start:end]) for start, end in bounds]
        pairs = self._pairs(words) if self._plan.terms.consistent else repeat(())
        return list(map(Rewritten, texts, self._mentions(), pairs))

    def _filled(self, words: Sequence[str]) -> list[str]:
        """The segments, with the words of their tokens in the place of those that have any."""
        parts = [""] * len(self._segments) if self._bare else self._read()
        part_of = self._part_of.tolist()
        deque(map(parts.__setitem__, part_of[: self._singles], words), maxlen=0)
        # Tokens after the first of their part: a visible clitic is glued to it, a drawn one follows after a blank.
        last = -1
        roles = self.roles[self._singles :].tolist()
        for part, role, word in zip(part_of[self._singles :], roles, words[self._singles :], strict=True):
            glue = "" if role == SHOWN and not self._bare else " "
            parts[part] = word if part != last else parts[part] + glue + word
            last = part
        return parts

    def _read(self) -> list[str]:
        """The segments as they were read."""
        spelled = np.empty(len(self._known), dtype=object)
        spelled[:] = list(self._known)
        return spelled[self._segments].tolist()

    def _mentions(self) -> list[int]:
        """Charged mentions of every document."""
        drawn = np.flatnonzero(self.roles == DRAWN)
        one, _ = self.distinct(drawn)
        return np.bincount(self._document[drawn[one]], minlength=len(self._ends)).tolist()

    def _pairs(self, words: Sequence[str]) -> list[tuple[tuple[str, str], ...]]:
        """Folded output and original spelling of every distinct token of each document."""
        pairs: list[dict[tuple[str, str], None]] = [{} for _ in self._ends]
        for token in np.flatnonzero(self._identity_of >= 0).tolist():
            pair = segmentation.key(words[token]), self._known.spellings[self._identity_of[token]]
            pairs[self._document[token]][pair] = None
        return [tuple(of) for of in pairs]


def _last_before(parts: Integers, places: Integers) -> Integers:
    """The last of the places, ascending, before each part; -1 where there is none."""
    return np.concatenate([[-1], places])[np.searchsorted(places, parts)]
