"""Rewrites what the skeleton does not show: drawn mentions by the staircase, kinds from their public lists.

What comes out for a token is a function of its symbol or kind, its case pattern and fresh randomness. The user's
spelling is never printed, not even where a word is drawn as itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.text_bundle import Bundle
from textveil.errors import DocumentTooLong, OptionError
from textveil.mechanisms import entropy
from textveil.mechanisms.channel import Channel
from textveil.mechanisms.distribution import Distribution
from textveil.mechanisms.integer_sampling import Integers, uniform_below
from textveil.mechanisms.staircase import Staircase
from textveil.text import segmentation
from textveil.text.mention_statement import MentionTerms
from textveil.text.segmentation import LOWER, TITLE, UPPER, apply_case
from textveil.text.skeleton import Role, Rule, Token, sentence_start
from textveil.text.strings import is_gap

#: From so many segments on it is worth looking up all public words in advance.
_MANY_PARTS = 5_000
#: What a punctuation mark becomes where punctuation is sanitized: any of these, without a look at it.
MARKS = tuple(".,;:!?-()'\"")
_AS_IT_IS, _KIND, _DRAWN, _SHOWN = range(4)


class Rewritten(NamedTuple):
    """A document, or a part of one, after the draw.

    Attributes:
        text: What comes out.
        mentions: Drawn mentions that are charged: all of them, or the distinct ones where draws are consistent.
        tokens: All tokens.
        unknown: Drawn mentions that are not in the vocabulary. It depends on the text: for the device alone.
        pairs: Folded output and original spelling of every distinct token that changed hands, where draws are
            consistent. Private.
    """

    text: str
    mentions: int
    tokens: int
    unknown: int
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Words:
    """All words that can be printed: symbols of the vocabulary by id, then the outputs of each kind, then marks.

    Attributes:
        printed: The words in lower case, Title case and upper case, shape ``(words,)`` each.
        starts: Where the outputs of each kind begin; the marks are the last kind.
        counts: How many there are.
    """

    printed: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    starts: Integers
    counts: Integers

    @classmethod
    def of(cls, vocabulary: Sequence[str], kinds: Iterable[Sequence[str]]) -> "Words":
        """Returns the words of a vocabulary and of the outputs of kinds."""
        lists = [*kinds, MARKS]
        counts = np.array([len(outputs) for outputs in lists], dtype=np.int64)
        words = [*vocabulary, *chain.from_iterable(lists)]
        printed = [np.array([apply_case(word, case) for word in words], dtype=object) for case in (LOWER, TITLE, UPPER)]
        return cls((printed[0], printed[1], printed[2]), len(vocabulary) + np.cumsum(counts) - counts, counts)


@dataclass(frozen=True)
class MentionPlan:
    """What one set of options stands for under the staircase.

    Attributes:
        bundle: Vocabulary.
        staircase: Draws mentions.
        rule: What is visible, of a kind, or drawn.
        words: What is printed.
        denied: Keys that are unknown words in this call.
        terms: What statements say.
        split: Whether a document above the cap of consistent draws is split, or refused.
    """

    bundle: Bundle
    staircase: Staircase
    rule: Rule
    words: Words
    denied: frozenset[str]
    terms: MentionTerms
    split: bool

    @property
    def channel(self) -> Channel:
        """The output distribution of a drawn mention."""
        return self.staircase.channel

    def tokens(self, segment: str, *, starts_sentence: bool) -> tuple[Token, ...]:
        """Returns what the rule says of one segment that is no gap; denied words are unknown ones."""
        tokens = self.rule.classify(segment, starts_sentence=starts_sentence)
        if not self.denied or self.denied.isdisjoint([segmentation.key(segment), *(t.key for t in tokens)]):
            return tokens
        whole = segmentation.key(segment) in self.denied
        return tuple(
            Token(Role.DRAWN, token.case) if token.key in self.denied or (whole and not number) else token
            for number, token in enumerate(tokens)
        )

    def symbol(self, token: Token) -> int:
        """Returns the input id of a drawn token."""
        return self.bundle.symbols if token.key is None else self.bundle.ids.get(token.key, self.bundle.symbols)

    def distribution(self, word: str) -> Distribution:
        """Returns the exact output distribution of one word inside a sentence.

        Raises:
            OptionError: It is more than one token, or visible.
        """
        found = segmentation.segments(word)
        tokens = self.tokens(found[0], starts_sentence=False) if len(found) == 1 and not is_gap(word) else ()
        if len(tokens) != 1:
            raise OptionError("one word is needed")
        (token,) = tokens
        if token.role is Role.VISIBLE:
            raise OptionError("this word is a function word: it stays visible (visible none draws it)")
        if token.kind is not None:
            kind = self.rule.kinds.kinds[token.kind]
            return Distribution(kind.outputs, (1,) * len(kind.outputs), f"<{kind.name}>")
        return Distribution.of(self.bundle.vocabulary, self.channel, self.symbol(token))

    def rewrite(self, documents: Sequence[list[str]], before: str | None = None) -> list[Rewritten]:
        """Draws documents, each a list of segments, all together.

        Args:
            documents: Segments of each document.
            before: The gap before the first segment of every document; ``None`` where it begins there.

        Raises:
            DocumentTooLong: Draws are consistent, and a document has more drawn mentions than the cap.

        Privacy:
            The release itself, with the operating system's entropy.
        """
        read = _Read(self, documents, before)
        outputs = self._draw(read)
        return read.written(outputs)

    def _draw(self, read: "_Read") -> Integers:
        """The word that every token becomes, an index of ``words``."""
        role, index = read.roles, read.indices
        drawn, kind = np.flatnonzero(role == _DRAWN), np.flatnonzero(role == _KIND)
        outputs = np.zeros(len(role), dtype=np.int64)
        one, copies = read.distinct(drawn)
        outputs[drawn] = self.staircase.draw(index[drawn[one]], entropy.random_uint64)[copies]
        one, copies = read.distinct(kind)
        kinds = index[kind[one]]
        chosen = uniform_below(self.words.counts[kinds], entropy.random_uint64)
        outputs[kind] = (self.words.starts[kinds] + chosen)[copies]
        return outputs

    @cached_property
    def public(self) -> "_Public":
        """The vocabulary and the function words in lower case, looked up once for all texts: public strings alone.

        What a user's text has beyond them is looked up anew for every batch, and nothing of it is kept.
        """
        read = _Read(self, [], None)
        words = [word for word in {**self.bundle.ids, **self.rule.function_words} if word.islower()]
        coded = [(word, read.variant(word)) for word in words if segmentation.segments(word) == [word]]
        return _Public.of([(word, found) for word, found in coded if found is not None])

    @cached_property
    def marks(self) -> int:
        """The index of the last kind: punctuation marks."""
        return len(self.words.counts) - 1


class _Public(NamedTuple):
    """Role, index, case and identity of public words, and whether each is visible: number 0 is passed through."""

    codes: dict[str, int]
    variants: list[tuple[int, int, int, int]]
    visible: list[int]

    @classmethod
    def of(cls, coded: "list[tuple[str, tuple[tuple[int, int, int, int], int]]]") -> "_Public":
        codes = {word: number for number, (word, _) in enumerate(coded, 1)}
        return cls(codes, [(_AS_IT_IS, 0, 0, 0), *(v for _, (v, _) in coded)], [0, *(n for _, (_, n) in coded)])


_NOTHING_PUBLIC = _Public({}, [(_AS_IT_IS, 0, 0, 0)], [0])


class _Read:
    """The tokens of some documents, as arrays.

    Attributes:
        roles: ``_KIND`` or ``_DRAWN``, shape ``(tokens,)``.
        indices: Input id of a drawn token, index of a kind.
        cases: Case patterns.
    """

    def __init__(self, plan: MentionPlan, documents: Sequence[list[str]], before: str | None) -> None:
        self._plan, self._bare = plan, plan.terms.sanitize_punctuation
        self._parts: list[str] = list(chain.from_iterable(documents))
        self._ends = np.cumsum([len(document) for document in documents])
        self._before = before
        self._keeps_case = plan.terms.case == "carry" and not self._bare
        self._visible: list[str] = []  # what is printed of visible tokens that are not passed through as they are
        self._visible_tokens = np.zeros(len(self._parts), dtype=np.int64)
        self._identities: dict[tuple[int, object], int] = {}
        self._spellings: list[str] = []  # of each identity, as it is first met
        self._read()

    def _read(self) -> None:
        # Identities are numbered as they are met, so public words have none in advance where draws are consistent.
        worth = len(self._parts) > _MANY_PARTS and not self._plan.terms.consistent
        public = self._plan.public if worth else _NOTHING_PUBLIC
        variants, visible = list(public.variants), list(public.visible)
        code_of = {segment: public.codes.get(segment, -2) for segment in dict.fromkeys(self._parts)}
        special = False
        for segment in [segment for segment, code in code_of.items() if code == -2]:
            found = self.variant(segment)
            code_of[segment] = -1 if found is None else len(variants)
            special |= found is None
            if found is not None:
                variants.append(found[0])
                visible.append(found[1])
        codes = np.fromiter(map(code_of.__getitem__, self._parts), np.int64, len(self._parts))
        of_variant = np.array(variants, dtype=np.int64)
        table = of_variant[np.maximum(codes, 0)]
        self._visible_tokens = np.array(visible)[np.maximum(codes, 0)]
        parts = np.flatnonzero(table[:, 0])
        rows = [np.column_stack([parts, table[parts]])]
        if special:
            rows.append(self._read_special(np.flatnonzero(codes < 0)))
        tokens = np.concatenate(rows)
        # In the order of the text; tokens of one part stay in theirs.
        tokens = tokens[np.argsort(tokens[:, 0], kind="stable")]
        self._part_of, self.roles, self.indices, self.cases, self._identity_of = tokens.T
        self._document = np.searchsorted(self._ends, self._part_of, side="right")

    def variant(self, segment: str) -> tuple[tuple[int, int, int, int], int] | None:
        """Role, index, case and identity of a segment of one token, and whether it is visible; ``None`` if special.

        Special are words of several tokens, and those whose role depends on where a sentence starts.
        """
        if is_gap(segment):
            return None if self._bare else ((_AS_IT_IS, 0, 0, 0), 0)
        tokens = self._plan.tokens(segment, starts_sentence=False)
        # Lower case does not depend on where a sentence starts.
        if not segment.islower() and tokens != self._plan.tokens(segment, starts_sentence=True):
            return None
        first, *others = tokens
        if all(token.role is Role.VISIBLE for token in tokens):
            as_it_is = self._shown(tokens) == segment and not self._bare
            return ((_AS_IT_IS, 0, 0, 0), len(tokens)) if as_it_is else None
        return None if others else (self._coded(first, segment), 0)

    def _coded(self, token: Token, spelled: str) -> tuple[int, int, int, int]:
        case = token.case if self._keeps_case else LOWER
        if token.role is Role.KIND:
            assert token.kind is not None
            return _KIND, token.kind, case, self._identity((token.kind, segmentation.key(spelled)), spelled)
        symbol = self._plan.symbol(token)
        known = symbol < self._plan.bundle.symbols
        identity = self._identity((-1, symbol if known else segmentation.key(spelled)), spelled)
        return _DRAWN, symbol, case, identity

    def _identity(self, folded: tuple[int, object], spelled: str) -> int:
        """A number that equal symbols, equal unknown words and equal members of a kind have."""
        identity = self._identities.setdefault(folded, len(self._identities))
        if identity == len(self._spellings):
            self._spellings.append(spelled)
        return identity

    def _shown(self, tokens: Iterable[Token]) -> str:
        """Visible tokens as they are printed: by their keys and case patterns."""
        if not self._keeps_case:
            return "".join(token.key or "" for token in tokens)
        return "".join(apply_case(token.key or "", token.case) for token in tokens)

    def _read_special(self, parts: NDArray[np.intp]) -> Integers:
        rows: list[tuple[int, ...]] = []
        starts = set(np.concatenate([[0], self._ends]).tolist())
        for part in parts.tolist():
            segment = self._parts[part]
            if is_gap(segment):  # punctuation is sanitized
                marks = sum(not character.isspace() for character in segment)
                rows += [(part, _KIND, self._plan.marks, LOWER, -1)] * marks
                self._parts[part] = ""
                continue
            tokens = self._plan.tokens(segment, starts_sentence=sentence_start(self._gap_before(part, starts)))
            end = len(segment) - sum(len(token.key or "") for token in tokens[1:])
            for number, token in enumerate(tokens):
                if token.role is Role.VISIBLE:
                    self._visible_tokens[part] += 1
                    rows.append((part, _SHOWN, len(self._visible), LOWER, -1))
                    self._visible.append(self._shown((token,)))
                else:
                    spelled = segment[:end] if not number else token.key or ""
                    rows.append((part, *self._coded(token, spelled)))
        return np.array(rows, dtype=np.int64).reshape(-1, 5)

    def _gap_before(self, part: int, starts: set[int]) -> str | None:
        """The gap before a part; ``None`` for the first token of a document."""
        gap: list[str] = []
        while part not in starts:
            part -= 1
            if not is_gap(self._parts[part]):
                return "".join(reversed(gap))
            gap.append(self._parts[part])
        if self._before is None:
            return None
        return self._before + "".join(reversed(gap))

    def distinct(self, tokens: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which tokens are drawn, and for every token the number of its draw; one each unless draws are consistent.

        Raises:
            DocumentTooLong: As ``MentionPlan.rewrite``.
        """
        if not self._plan.terms.consistent:
            each = np.arange(len(tokens))
            return each, each
        identity, documents = self._identity_of[tokens], self._pieces[tokens]
        # A mark of punctuation is equal to no other.
        alone = np.flatnonzero(identity < 0)
        identity = identity.copy()
        identity[alone] = len(self._identities) + np.arange(len(alone))
        keys = documents * (int(identity.max(initial=0)) + 1) + identity
        _, one, copies = np.unique(keys, return_index=True, return_inverse=True)
        return one, copies

    @cached_property
    def _pieces(self) -> Integers:
        """The document of every token, a document above the cap in several."""
        drawn = self.roles == _DRAWN
        cap = self._plan.terms.consistent_cap
        counted = np.cumsum(drawn) - drawn
        firsts = np.searchsorted(self._document, np.arange(len(self._ends)))
        first = (
            counted[np.minimum(firsts, max(0, len(counted) - 1))] if len(counted) else np.zeros(len(self._ends), int)
        )
        pieces = (counted - first[self._document]) // cap
        if len(pieces) and pieces.max() and not self._plan.split:
            raise DocumentTooLong(
                f"a document has more than {cap:,} drawn mentions: consistent draws need it split, or a higher cap"
            )
        return self._document * (int(pieces.max(initial=0)) + 1) + pieces

    def written(self, outputs: Integers) -> list[Rewritten]:
        """Writes the words that were drawn into the gaps."""
        words = np.empty(len(outputs), dtype=object)
        for case, printed in enumerate(self._plan.words.printed):
            of_case = np.flatnonzero((self.cases == case) & (self.roles != _SHOWN))
            words[of_case] = printed[outputs[of_case]]
        shown = np.flatnonzero(self.roles == _SHOWN)
        words[shown] = [self._visible[index] for index in self.indices[shown].tolist()]
        parts = np.array([*self._parts, ""], dtype=object)[:-1]
        # Tokens after the first of their part: a visible clitic is glued to it, a drawn one follows after a blank.
        again = np.flatnonzero(np.diff(self._part_of, prepend=-1) == 0)
        first = np.flatnonzero(np.diff(self._part_of, prepend=-1))
        parts[self._part_of[first]] = words[first]
        for token in again.tolist():
            glue = "" if self.roles[token] == _SHOWN and not self._bare else " "
            parts[self._part_of[token]] += glue + words[token]
        ends = self._ends.tolist()
        starts = [0, *ends[:-1]]
        counts = self._counts()
        pairs = self._pairs(words) if self._plan.terms.consistent else [()] * len(ends)
        join = self._joined_by_blanks if self._bare else "".join
        listed = parts.tolist()
        return [
            Rewritten(join(listed[start:end]), mentions, tokens, unknown, pair)
            for start, end, (mentions, tokens, unknown), pair in zip(starts, ends, counts, pairs, strict=True)
        ]

    @staticmethod
    def _joined_by_blanks(parts: list[str]) -> str:
        return " ".join(part for part in parts if part)

    def _counts(self) -> list[tuple[int, int, int]]:
        """Charged mentions, tokens and unknown mentions of every document."""
        documents, drawn = len(self._ends), self.roles == _DRAWN
        charged = np.flatnonzero(drawn)
        one, _ = self.distinct(charged)
        mentions = np.bincount(self._document[charged[one]], minlength=documents)
        unknown = drawn & (self.indices == self._plan.bundle.symbols)
        tokens = np.bincount(self._document[self.roles != _SHOWN], minlength=documents)
        of_parts = np.searchsorted(self._ends, np.arange(len(self._parts)), side="right")
        tokens = tokens + np.bincount(of_parts, self._visible_tokens, documents).astype(np.int64)
        return list(
            zip(
                mentions.tolist(),
                tokens.tolist(),
                np.bincount(self._document[unknown], minlength=documents).tolist(),
                strict=True,
            )
        )

    def _pairs(self, words: NDArray[Any]) -> list[tuple[tuple[str, str], ...]]:
        """Output and original of every distinct token of each document, folded where its case can be told again."""
        pairs: list[dict[tuple[str, str], None]] = [{} for _ in self._ends]
        for token in np.flatnonzero((self._identity_of >= 0) & (self.roles != _SHOWN)).tolist():
            pair = segmentation.key(words[token]), self._spellings[self._identity_of[token]]
            pairs[self._document[token]][pair] = None
        return [tuple(of) for of in pairs]


def last_gap(segments: Sequence[str], before: str | None) -> str | None:
    """Returns the gap at the end of some segments, for those that follow; ``before`` is that before these."""
    gap: list[str] = []
    for segment in reversed(segments):
        if not is_gap(segment):
            return "".join(reversed(gap))
        gap.append(segment)
    return None if before is None else before + "".join(reversed(gap))


def preview(plan: MentionPlan, segments: Iterable[str]) -> list[tuple[str, str]]:
    """Returns each piece of a text with what becomes of it (``Sanitizer.preview``)."""
    found: list[tuple[str, str]] = []
    gap: str | None = None
    for segment in segments:
        if is_gap(segment):
            bare = plan.terms.sanitize_punctuation and not segment.isspace()
            found.append((segment, "punctuation mark" if bare else "gap"))
            gap = gap if gap is None else gap + segment
            continue
        tokens = plan.tokens(segment, starts_sentence=sentence_start(gap))
        end = len(segment) - sum(len(token.key or "") for token in tokens[1:])
        for number, token in enumerate(tokens):
            length = len(token.key or "") if number else end
            start = 0 if not number else end + sum(len(t.key or "") for t in tokens[1:number])
            found.append((segment[start : start + length], _what(plan, token)))
        gap = ""
    return found


def _what(plan: MentionPlan, token: Token) -> str:
    if token.role is Role.VISIBLE:
        return "visible"
    if token.role is Role.KIND:
        assert token.kind is not None
        return plan.rule.kinds.kinds[token.kind].name
    return "drawn" if plan.symbol(token) < plan.bundle.symbols else "unknown"
