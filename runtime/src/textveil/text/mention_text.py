"""Reads the tokens of texts into arrays, and writes what was drawn for them back into the gaps."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.errors import DocumentTooLong
from textveil.mechanisms.integer_sampling import Integers
from textveil.text import segmentation
from textveil.text.segmentation import LOWER, apply_case
from textveil.text.skeleton import Role, Token
from textveil.text.strings import is_gap

if TYPE_CHECKING:
    from textveil.text.mentions import MentionPlan

#: Roles of tokens; ``SHOWN`` tokens are visible, but not passed through as they are.
AS_IT_IS, KIND, DRAWN, SHOWN = range(4)
#: From so many segments on it is worth looking up all public words in advance.
_MANY_PARTS = 5_000
_UNREAD, _SPECIAL = -2, -1

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


class Public(NamedTuple):
    """What public words and gaps become, looked up once for all texts: 0 for what is passed through as it is."""

    codes: Mapping[str, int]
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, plan: "MentionPlan") -> "Public":
        """Looks up the vocabulary and the function words in lower case, and single gaps.

        What a user's text has beyond them is looked up anew for every batch, and nothing of it is kept.
        """
        reading = Reading(plan, [], None)
        codes: dict[str, int] = {}
        rows = [_PASSED]
        for segment in {**plan.bundle.ids, **plan.rule.function_words, **dict.fromkeys(map(chr, range(128)))}:
            if segmentation.segments(segment) != [segment] or not (segment.islower() or is_gap(segment)):
                continue
            row = reading.row(segment)
            if row is not None:
                codes[segment] = 0 if row is _PASSED else len(rows)
                rows += [] if row is _PASSED else [row]
        return cls(codes, tuple(rows))


class Reading:
    """The tokens of some documents, as arrays. Tokens of several in one segment come after all others.

    Args:
        plan: What becomes of tokens.
        documents: Segments of each document.
        before: The gap before the first segment of every document; ``None`` where it begins there.

    Attributes:
        roles: ``KIND``, ``DRAWN`` or ``SHOWN``, shape ``(tokens,)``.
        indices: Input id of a drawn token, index of a kind.
    """

    def __init__(self, plan: "MentionPlan", documents: Iterable[Sequence[str]], before: str | None) -> None:
        self._plan, self._before = plan, before
        self._bare = plan.terms.sanitize_punctuation
        self._keeps_case = plan.terms.case == "carry" and not self._bare
        self._parts: list[str] = []
        ends: list[int] = []
        for document in documents:
            self._parts += document
            ends.append(len(self._parts))
        self._ends = np.array(ends, dtype=np.int64)
        self._visible: list[str] = []  # what is printed of visible tokens that are not passed through as they are
        self._identities: dict[tuple[int, object], int] = {}
        self._spellings: list[str] = []  # of each identity, as it is first met
        codes, rows = self._coded_parts()
        of_rows = np.array(rows, dtype=np.int64)
        single = np.flatnonzero(codes > 0)
        several = self._read_special(np.flatnonzero(codes == _SPECIAL))
        self._singles = len(single)
        self._part_of = np.concatenate([single, several[:, 0]])
        columns = np.concatenate([of_rows[codes[single]], several[:, 1:]])
        self.roles, self.indices, self._cases, self._identity_of = columns.T
        self._document = np.searchsorted(self._ends, self._part_of, side="right")

    def _coded_parts(self) -> tuple[NDArray[np.int32], list[Row]]:
        """The number of each segment's row, or ``_SPECIAL``; and the rows."""
        # Identities are numbered as they are met, so public words have none in advance where draws are consistent.
        worth = len(self._parts) > _MANY_PARTS and not self._plan.terms.consistent
        public = self._plan.public if worth else Public({}, (_PASSED,))
        rows = list(public.rows)
        codes = np.fromiter(map(public.codes.get, self._parts, repeat(_UNREAD)), np.int32, len(self._parts))
        unread = np.flatnonzero(codes == _UNREAD)
        code_of: dict[str, int] = {}
        found: list[int] = []
        for part in unread.tolist():
            segment = self._parts[part]
            code = code_of.get(segment)
            if code is None:
                row = self.row(segment)
                code = _SPECIAL if row is None else 0 if row is _PASSED else len(rows)
                code_of[segment] = code
                rows += [row] if row is not None and code else []
            found.append(code)
        codes[unread] = found
        return codes, rows

    def row(self, segment: str) -> Row | None:
        """Returns the row of a segment of one token; ``None`` for a special one.

        Special are words of several tokens, visible words that are printed otherwise, and words whose role depends on
        where a sentence starts.
        """
        if is_gap(segment):
            return None if self._bare else _PASSED
        pieces = self._plan.pieces(segment, starts_sentence=False)
        first = pieces[0][1]
        # Of all tokens, capitalized function words alone depend on where a sentence starts; here they have no key.
        unkeyed = first.key is None and first.role is Role.DRAWN
        if unkeyed and pieces != self._plan.pieces(segment, starts_sentence=True):
            return None
        if all(token.role is Role.VISIBLE for _, token in pieces):
            shown = "".join(self._shown(token) for _, token in pieces)
            return _PASSED if shown == segment and not self._bare else None
        return None if len(pieces) > 1 else self._row_of(first, segment)

    def _row_of(self, token: Token, spelled: str) -> Row:
        if token.role is Role.VISIBLE:
            self._visible.append(self._shown(token))
            return SHOWN, len(self._visible) - 1, LOWER, -1
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
        identity = self._identities.setdefault(folded, len(self._identities))
        if identity == len(self._spellings):
            self._spellings.append(spelled)
        return identity

    def _shown(self, token: Token) -> str:
        """A visible token as it is printed: by its key and case pattern."""
        key = token.key or ""
        return apply_case(key, token.case) if self._keeps_case else key

    def _read_special(self, parts: NDArray[np.intp]) -> Integers:
        """The part and the row of every token of special segments, in order."""
        rows: list[tuple[int, ...]] = []
        known: dict[tuple[str, bool], list[Row]] = {}
        starts = {0, *self._ends.tolist()}
        for part in parts.tolist():
            segment = self._parts[part]
            if is_gap(segment):  # punctuation is sanitized
                marks = sum(not character.isspace() for character in segment)
                rows += [(part, KIND, self._plan.marks, LOWER, -1)] * marks
                continue
            starts_sentence = self._plan.starts_sentence(self._gap_before(part, starts))
            found = known.get((segment, starts_sentence))
            if found is None:
                pieces = self._plan.pieces(segment, starts_sentence=starts_sentence)
                found = known[segment, starts_sentence] = [self._row_of(token, spelled) for spelled, token in pieces]
            rows += [(part, *row) for row in found]
        return np.array(rows, dtype=np.int64).reshape(-1, 5)

    def _gap_before(self, part: int, starts: set[int]) -> str | None:
        """The gap before a part; ``None`` for the first token of a document."""
        gap: list[str] = []
        while part not in starts:
            part -= 1
            if not is_gap(self._parts[part]):
                return "".join(reversed(gap))
            gap.append(self._parts[part])
        return None if self._before is None else self._before + "".join(reversed(gap))

    @property
    def parts(self) -> Sequence[str]:
        """The segments of all documents, one after the other."""
        return self._parts

    @property
    def part_of(self) -> Integers:
        """The segment of every token."""
        return self._part_of

    @property
    def document_of_parts(self) -> Integers:
        """The document of every segment."""
        return np.repeat(np.arange(len(self._ends)), np.diff(self._ends, prepend=0))

    @property
    def shown(self) -> Sequence[str]:
        """What is printed of ``SHOWN`` tokens, by index."""
        return self._visible

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
        identity[alone] = len(self._identities) + np.arange(len(alone))
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
        printed, count = self._plan.words.printed, self._plan.words.count
        words = [printed[place] for place in (self._cases * count + outputs).tolist()]
        shown = np.flatnonzero(self.roles == SHOWN).tolist()
        for token, index in zip(shown, self.indices[shown].tolist(), strict=True):
            words[token] = self._visible[index]
        parts, part_of = self._parts, self._part_of.tolist()
        if self._bare:
            parts = ["" if is_gap(part) else part for part in parts]
        for part, word in zip(part_of[: self._singles], words, strict=False):
            parts[part] = word
        # Tokens after the first of their part: a visible clitic is glued to it, a drawn one follows after a blank.
        last = -1
        for token in range(self._singles, len(words)):
            part = part_of[token]
            glue = "" if self.roles[token] == SHOWN and not self._bare else " "
            parts[part] = words[token] if part != last else parts[part] + glue + words[token]
            last = part
        pairs = self._pairs(words) if self._plan.terms.consistent else repeat(())
        found: list[Rewritten] = []
        start = 0
        for end, mentions, pair in zip(self._ends.tolist(), self._mentions(), pairs, strict=False):
            document = parts[start:end]
            text = " ".join(part for part in document if part) if self._bare else "".join(document)
            found.append(Rewritten(text, mentions, pair))
            start = end
        return found

    def _mentions(self) -> list[int]:
        """Charged mentions of every document."""
        drawn = np.flatnonzero(self.roles == DRAWN)
        one, _ = self.distinct(drawn)
        return np.bincount(self._document[drawn[one]], minlength=len(self._ends)).tolist()

    def _pairs(self, words: Sequence[str]) -> list[tuple[tuple[str, str], ...]]:
        """Folded output and original spelling of every distinct token of each document."""
        pairs: list[dict[tuple[str, str], None]] = [{} for _ in self._ends]
        for token in np.flatnonzero(self._identity_of >= 0).tolist():
            pair = segmentation.key(words[token]), self._spellings[self._identity_of[token]]
            pairs[self._document[token]][pair] = None
        return [tuple(of) for of in pairs]
