"""Rewrites what the skeleton does not show: drawn mentions by the staircase, kinds from their public lists.

What comes out for a token is a function of its symbol or kind, its case pattern and fresh randomness. The user's
spelling is never printed, not even where a word is drawn as itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.text import TextBundle
from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil.mechanisms.channel import Channel
from textveil.mechanisms.distribution import Distribution
from textveil.mechanisms.integer_sampling import Integers, uniform_below
from textveil.mechanisms.staircase.fluent import FluentStaircase
from textveil.mechanisms.staircase.staircase import Staircase
from textveil.text import fluent_draw, segmentation
from textveil.text.carried import NOTHING, Carried
from textveil.text.mention_segments import DRAWN, KIND, Pieces
from textveil.text.mention_statement import MentionTerms
from textveil.text.mention_text import Reading, Rewritten
from textveil.text.segmentation import LOWER, NOT, TITLE, UPPER, apply_case
from textveil.text.skeleton import Role, Rule, Token, sentence_start
from textveil.text.slots import Slots, lower_alone
from textveil.text.strings import is_gap

#: What a punctuation mark becomes where punctuation is sanitized: any of these, without a look at it.
MARKS = tuple(".,;:!?-()'\"")


@dataclass(frozen=True, eq=False)
class Words:
    """All words that can be printed: symbols of the vocabulary by id, then the outputs of each kind, then marks.

    Attributes:
        lower: All words in lower case.
        starts: Where the outputs of each kind begin; the marks are the last kind.
        counts: How many each kind has.
    """

    lower: NDArray[np.object_]
    starts: Integers
    counts: Integers

    @classmethod
    def of(cls, vocabulary: Sequence[str], kinds: Iterable[Sequence[str]]) -> "Words":
        """Returns the words of a vocabulary and of the outputs of kinds."""
        lists = [*kinds, MARKS]
        counts = np.array([len(outputs) for outputs in lists], dtype=np.int64)
        lower = np.fromiter(chain(vocabulary, *lists), dtype=object, count=len(vocabulary) + counts.sum())
        return cls(lower, len(vocabulary) + np.cumsum(counts) - counts, counts)

    def printed(self, words: Integers, cases: Integers) -> NDArray[np.object_]:
        """Returns words, each in its case. No other spelling is held: most words of a bundle are never printed."""
        found = self.lower[words]
        for case in (TITLE, UPPER):
            places = np.flatnonzero(cases == case)
            found[places] = [apply_case(word, case) for word in found[places].tolist()]
        return found


@dataclass(frozen=True)
class MentionPlan:
    """What one set of options stands for under the staircase.

    Attributes:
        bundle: Vocabulary.
        slots: Draws mentions, each by the staircase of its slots.
        rule: What is visible, of a kind, or drawn.
        words: What is printed.
        denied: Keys that are unknown words in this call.
        terms: What statements say.
        split: Whether a document above the cap of consistent draws is split, or refused.
        fluent: Draws mentions in their context; ``None`` where the base does not follow the text.
    """

    bundle: TextBundle
    slots: Slots[Staircase]
    rule: Rule
    words: Words
    denied: frozenset[str] = field(repr=False)  # words of the user's own
    terms: MentionTerms
    split: bool
    fluent: Slots[FluentStaircase] | None = None

    def channel(self, case: int) -> Channel:
        """Returns the output distribution of a drawn mention; of one that stands alone where the base follows the text.

        Args:
            case: The case of the mention; where draws are consistent, of every mention of its word.
        """
        case = case if self.terms.case == "carry" else LOWER
        return self.slots.of(case).channel if self.fluent is None else self.fluent.of(case).alone.channel

    def pieces(self, segment: str, *, starts_sentence: bool) -> list[tuple[str, Token]]:
        """Returns the tokens of one segment that is no gap, each with its spelling; denied words are unknown ones."""
        first, *clitics = self.rule.classify(segment, starts_sentence=starts_sentence)
        if not clitics and not self.denied:
            return [(segment, first)]
        keys = [token.key or "" for token in clitics]  # as long as what they are keys of
        end = len(segment) - sum(map(len, keys))
        stem = segment[:end]
        if self.denied:
            # A denied word shows nothing but its place: a clitic after it that few words have would tell more.
            whole = segmentation.key(segment) in self.denied or not self.denied.isdisjoint(keys)
            if segmentation.key(stem) in self.denied:
                first, whole = Token(Role.DRAWN, first.case), whole or NOT in keys
            if whole:
                return [(segment, Token(Role.DRAWN, first.case))]
        found = [(stem, first)]
        for token, key in zip(clitics, keys, strict=True):
            found.append((segment[end : end + len(key)], token))
            end += len(key)
        return found

    def starts_sentence(self, gap: str | None) -> bool:
        """Tells whether a token starts a sentence, by the whole gap before it; ``None`` for the first one of a text.

        Where punctuation is sanitized the first one alone does: what becomes of a word must not tell the marks before.
        """
        return gap is None if self.terms.sanitize_punctuation else sentence_start(gap)

    def symbol(self, token: Token) -> int:
        """Returns the input id of a drawn token."""
        return self.bundle.symbols if token.key is None else self.bundle.ids.get(token.key, self.bundle.symbols)

    def distribution(self, word: str) -> Distribution:
        """Returns the exact output distribution of one word inside a sentence; alone where the base follows the text.

        Its case counts: in lower case more words may come out.

        Raises:
            OptionError: It is more than one token, or visible.
        """
        found = segmentation.segments(word)
        pieces = self.pieces(found[0], starts_sentence=False) if len(found) == 1 and not is_gap(word) else []
        if len(pieces) != 1:
            raise OptionError("one word is needed")
        ((_, token),) = pieces
        if token.role is Role.VISIBLE:
            raise OptionError("this word is a function word: it stays visible (visible none draws it)")
        if token.kind is not None:
            kind = self.rule.kinds.kinds[token.kind]
            return Distribution(kind.outputs, (1,) * len(kind.outputs), f"<{kind.name}>")
        return Distribution.of(self.bundle.vocabulary, self.channel(token.case), self.symbol(token))

    def read(self, documents: Iterable[Sequence[str]], carried: Carried = NOTHING) -> Reading:
        """Reads documents, each a list of segments; nothing is drawn.

        Args:
            documents: Segments of each document.
            carried: What is known of the document outside of these, if they are a chunk of one.
        """
        known = Pieces(self)
        return Reading(self, known.read_segments(documents), known.segments, carried)

    def rewrite(self, documents: Iterable[Sequence[str]]) -> Rewritten:
        """Draws documents, each a list of segments, all together.

        Args:
            documents: Segments of each document.

        Raises:
            DocumentTooLong: Draws are consistent, and a document has more words, names and numbers than the cap.

        Privacy:
            The release itself, with the operating system's entropy.
        """
        read = self.read(documents)
        return read.written(self.draw(read))

    def rewrite_texts(self, texts: Iterable[str], known: Pieces, sizes: Sequence[int] | None = None) -> Rewritten:
        """Draws texts, each a document, all together, as ``rewrite`` does.

        Args:
            texts: The documents, or the texts that they have.
            known: What the call has met in other texts.
            sizes: How many of the texts each document has, in order; one each if left out. Each begins a sentence.
        """
        cut = known.read(texts)
        read = Reading(self, cut, known.segments, sizes=sizes)
        return read.written(self.draw(read))

    def draw(self, read: Reading, lower: NDArray[np.bool_] | None = None) -> Integers:
        """Returns the word that every token becomes, an index of ``words``, with the operating system's entropy.

        Args:
            read: The tokens.
            lower: Which new draws stand in slots of lower case alone, where not all of those slots are read.

        Raises:
            DocumentTooLong: As ``rewrite``.
        """
        draws = read.draws
        if lower is None:
            lower = lower_alone(read.cases[draws.tokens], draws.copies)
        role, index = read.roles[draws.first], read.indices[draws.first]
        drawn, kind = np.flatnonzero(role == DRAWN), np.flatnonzero(role == KIND)
        new = np.zeros(len(role), dtype=np.int64)
        if self.fluent is None:
            new[drawn] = self.slots.draw(lower[drawn], entropy.random_uint64, index[drawn])
        else:
            new[drawn] = fluent_draw.draw(self, read, self.fluent, lower[drawn])
        kinds = index[kind]
        new[kind] = self.words.starts[kinds] + uniform_below(self.words.counts[kinds], entropy.random_uint64)
        outputs = np.zeros(len(read.roles), dtype=np.int64)
        outputs[draws.tokens] = np.concatenate([draws.made, new])[draws.copies]
        return outputs

    @cached_property
    def exceptions(self) -> frozenset[str]:
        """Keys whose tokens the whole rule tells: function words and denied words."""
        return self.denied.union(self.rule.function_words)

    @cached_property
    def marks(self) -> int:
        """The index of the last kind: punctuation marks."""
        return len(self.words.counts) - 1


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
        pieces = plan.pieces(segment, starts_sentence=plan.starts_sentence(gap))
        found += [(spelled, _what(plan, token)) for spelled, token in pieces]
        gap = ""
    return found


def _what(plan: MentionPlan, token: Token) -> str:
    if token.role is Role.VISIBLE:
        return "visible"
    if token.role is Role.KIND:
        assert token.kind is not None
        return plan.rule.kinds.kinds[token.kind].name
    return "drawn" if plan.symbol(token) < plan.bundle.symbols else "unknown"
