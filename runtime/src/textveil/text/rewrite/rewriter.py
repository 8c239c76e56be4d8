"""Sanitizing of documents under one plan, for all mechanisms that randomize words.

The mechanism samples the outputs of randomized tokens. A replaced token becomes a surrogate of its entity type,
sampled uniformly and independently of the token. The outputs are written between the original gaps. The output of a
token is a function of its symbol or entity type, its case and fresh randomness. So the user's spelling is never
printed, not even where a word is randomized to itself.

A document too long for arrays of all its tokens is sanitized in chunks. Each chunk gets the state of the chunks before
it (``CarriedState``), so the output distribution and the spend are the same as without chunks: they depend on the
document's template alone. Only the order in which random words are used differs.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms import entropy
from textveil.mechanisms.arrays import Integers
from textveil.mechanisms.integer_sampling import draw_uniform_below
from textveil.text import segmentation
from textveil.text.rewrite.cut import KEPT, RANDOMIZED, REPLACED, SegmentReader
from textveil.text.rewrite.plan import SanitizingPlan
from textveil.text.rewrite.read import CarriedState, EarlierDraws, TokenArrays, read_segments
from textveil.text.segmentation import LOWER, is_gap
from textveil.text.token_rules import begins_sentence

if TYPE_CHECKING:
    from textveil.text.restore import Restorer

#: To bound memory, texts are processed in batches of about this many characters, and a longer text in chunks. Where a
#: text is cut depends on private words, so the cut must change neither the output distribution nor the spend.
MAX_BATCH_CHARACTERS, MAX_WHOLE_CHARACTERS = 1 << 20, 1 << 17

#: The result of one document: its sanitized texts; the number of tokens that count toward the spend; the mapping that
#: restores the words, if outputs are consistent (it undoes the protection); and what only the mode ``names`` has: two
#: counts of ``Result``, ``drawn`` and ``replaced_words``, and the outline of each text.
RewrittenRow = tuple[Sequence[str], int, "Restorer | None", int, int, Sequence[None]]

#: Number of segments of a chunk.
BLOCK_SEGMENTS = 1 << 15
Strings = NDArray[np.object_]


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomizingPlan(SanitizingPlan):
    """Plan of a mechanism that randomizes words."""

    def make_rewriter(self) -> "DocumentRewriter":
        """Return a rewriter for the documents of one call."""
        return DocumentRewriter(self)


class DocumentRewriter:
    """Sanitizes the documents of one call.

    Args:
        plan: The plan.

    Privacy:
        An instance contains the user's text and must not outlive the call.
    """

    def __init__(self, plan: SanitizingPlan) -> None:
        self._plan, self._reader = plan, SegmentReader(plan)

    def rewrite(self, documents: Sequence[Sequence[str]]) -> Iterator[RewrittenRow]:
        """Yield the sanitized documents.

        A document has any number of texts. Each text starts a sentence.

        Raises:
            DocumentTooLong: Outputs are consistent, and a document has more words, names and numbers than the cap.

        Privacy:
            This is the release, sampled with the operating system's entropy.
        """
        for batch in _iterate_batches(documents):
            if len(batch) == 1 and _is_long(batch[0]):
                yield self._rewrite_long(batch[0])
            else:
                yield from self._rewrite_batch(batch)

    def _rewrite_long(self, texts: Sequence[str]) -> RewrittenRow:
        long = LongDocumentRewriter(self._plan, texts)
        return long.rewrite(), long.tokens, long.mapping if self._plan.terms.consistent else None, 0, 0, [None]

    def _rewrite_batch(self, batch: Sequence[Sequence[str]]) -> Iterator[RewrittenRow]:
        segments, sizes = self._reader.read_texts(chain.from_iterable(batch)), list(map(len, batch))
        tokens = TokenArrays(self._plan, segments, self._reader.segments, sizes=sizes)
        rewritten = write_texts(tokens, sample_outputs(tokens))
        texts = iter(rewritten.texts)
        of_each = zip(texts) if sizes.count(1) == len(sizes) else ([*islice(texts, size)] for size in sizes)
        if not self._plan.terms.consistent:
            return zip(of_each, rewritten.tokens, repeat(None), repeat(0), repeat(0), repeat([None]), strict=False)
        from textveil.text.restore import Restorer

        mappings = map(Restorer, rewritten.pairs)
        return zip(of_each, rewritten.tokens, mappings, repeat(0), repeat(0), repeat([None]), strict=False)


def _iterate_batches(documents: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Yield batches of about ``MAX_BATCH_CHARACTERS``; a long document is a batch of its own."""
    batch: list[Sequence[str]] = []
    characters = 0
    for texts in documents:
        size = len(texts[0]) if len(texts) == 1 else sum(map(len, texts))
        if batch and (characters + size > MAX_BATCH_CHARACTERS or size > MAX_WHOLE_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(texts)
        characters += size
        if size > MAX_WHOLE_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _is_long(texts: Sequence[str]) -> bool:
    """Return whether a document is too long to be processed in one piece."""
    return sum(map(len, texts)) > MAX_WHOLE_CHARACTERS


class DrawSlots(NamedTuple):
    """The new draws that the mechanism makes, in the form of ``mechanisms.protocol.Slots``.

    Attributes:
        tokens: The tokens of the texts.
        randomized: Indices of these draws among all new draws.
        is_lower: Whether the output of each draw is written in lower case at every place. It depends only on letter
            case, and on which tokens are equal.
    """

    tokens: TokenArrays
    randomized: NDArray[np.intp]
    is_lower: NDArray[np.bool_]

    @property
    def is_whole(self) -> NDArray[np.bool_]:
        """Whether each draw is for a whole word, not for a part of one (``Slots.is_whole``)."""
        return self.tokens.whole[self.tokens.draws.first[self.randomized]]


def sample_outputs(tokens: TokenArrays, lower: NDArray[np.bool_] | None = None) -> Integers:
    """Return the output of every token, sampled with the operating system's entropy.

    Args:
        tokens: The tokens.
        lower: For each new draw, whether its output is written in lower case at every place. Computed if omitted;
            required if ``tokens`` lacks some of these places, as in a chunk of a document.

    Returns:
        Indices of the plan's words, shape ``(tokens,)``.

    Raises:
        DocumentTooLong: Outputs are consistent, and a document has more words, names and numbers than the cap.

    Privacy:
        This is the release.
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
    """Return for each draw whether its output is written in lower case at every place.

    The result depends only on letter case and on which tokens are equal, never on a word.

    Args:
        cases: Case of the output of each token, shape ``(n,)``.
        copies: Draw of each token, numbered from 0 without gaps, shape ``(n,)``.

    Returns:
        Booleans, shape ``(draws,)``.
    """
    capitals = np.bincount(copies, weights=cases != LOWER)
    return capitals == 0


class RewrittenTexts(NamedTuple):
    """Sanitized documents, or chunks of one.

    ``tokens`` and ``pairs`` have one entry per document.

    Attributes:
        texts: The output texts; a document of several texts has an entry for each of them.
        tokens: Number of tokens that count toward the spend: all randomized tokens, or the distinct ones where outputs
            are consistent.
        pairs: Pair of every distinct replaced or randomized token: the look-up key of its output, and the original
            spelling. Empty unless outputs are consistent. Private.
    """

    texts: list[str]
    tokens: list[int]
    pairs: list[list[tuple[str, str]]]


def write_texts(tokens: TokenArrays, outputs: Integers) -> RewrittenTexts:
    """Return the texts, with the sampled outputs between the original gaps.

    Args:
        tokens: The tokens.
        outputs: Output of each token, an index of the plan's ``words``; ignored for ``KEPT`` tokens.
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
    """Return all segments of the texts, with outputs in place of the tokens."""
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
    """Return the segments in their original spelling. Private."""
    return _make_string_array(tokens.segment_table.numbers)[tokens.segments]


def _count_charged(tokens: TokenArrays) -> list[int]:
    """Return the number of tokens of each document that count toward the spend."""
    first = tokens.draws.first
    return np.bincount(tokens.document[first[tokens.roles[first] == RANDOMIZED]], minlength=tokens.documents).tolist()


def _list_pairs(read: TokenArrays, words: Strings) -> list[list[tuple[str, str]]]:
    """Return pairs (output, original) of the distinct tokens of each document, for new draws.

    An output is given as its look-up key, an original in the spelling of its first occurrence.
    """
    pairs: list[dict[tuple[str, str], None]] = [{} for _ in range(read.documents)]
    tokens = read.draws.tokens[read.draws.copies >= len(read.draws.earlier_values)]
    pair_tokens: list[int] = tokens[read.identities[tokens] >= 0].tolist()
    for token in pair_tokens:
        pair = segmentation.fold_word(words[token]), read.segment_table.spellings[read.identities[token]]
        pairs[read.document[token]][pair] = None
    return list(map(list, pairs))


def _make_string_array(strings: Collection[str]) -> Strings:
    """Return an array of strings."""
    return np.fromiter(strings, dtype=object, count=len(strings))


class LongDocumentRewriter:
    """Sanitizes one document, chunk by chunk.

    Args:
        plan: The plan.
        texts: Texts of the document. Each starts a sentence. Where outputs are consistent, the constructor reads all
            texts before any sampling.

    Attributes:
        tokens: Number of tokens so far that count toward the spend.
        mapping: Originals of the outputs so far; empty unless outputs are consistent. The case of an original may be
            that of a later occurrence of the word, unlike in a document without chunks.

    Raises:
        DocumentTooLong: See ``sample_outputs``.
    """

    def __init__(self, plan: SanitizingPlan, texts: Sequence[str]) -> None:
        self._plan, self._texts = plan, texts
        self._earlier = EarlierDraws()
        self._lower = _find_lower_case_draws(plan, texts) if plan.terms.consistent else None
        from textveil.text.restore import Restorer  # lazy: most calls restore nothing

        self.tokens: int = 0
        self.mapping: Restorer = Restorer()

    def rewrite(self) -> list[str]:
        """Return the sanitized texts. Call this method only once.

        Privacy:
            As for ``sample_outputs``.
        """
        blank = " " if self._plan.terms.sanitize_punctuation else ""
        return [join_long_text(self._iterate_parts(text), blank) for text in self._texts]

    def _iterate_parts(self, text: str) -> Iterator[str]:
        for segments, before in _iterate_blocks(self._plan, text):
            tokens = read_segments(self._plan, segments, CarriedState(before, self._earlier))
            new_draws = len(tokens.draws.first)
            lower = None if self._lower is None else self._lower[:new_draws]
            outputs = sample_outputs(tokens, lower)
            if self._lower is not None:
                self._lower = self._lower[new_draws:]
                self._earlier = tokens.list_earlier_draws(outputs[tokens.draws.tokens])
            part = write_texts(tokens, outputs)
            self.tokens += part.tokens[0]
            for pairs in part.pairs:
                self.mapping.add_pairs(pairs)
            yield from filter(None, part.texts)


def _find_lower_case_draws(plan: SanitizingPlan, texts: Iterable[str]) -> NDArray[np.bool_]:
    """Return whether the output of each draw of a document is in lower case at every place."""
    capitals, earlier = bytearray(), EarlierDraws()
    for text in texts:
        for segments, before in _iterate_blocks(plan, text):
            tokens = read_segments(plan, segments, CarriedState(before, earlier))
            draws = tokens.draws
            numbers = np.concatenate([draws.earlier_values, len(capitals) + np.arange(len(draws.first))])[draws.copies]
            capitals.extend(bytes(len(draws.first)))
            has_capital = numbers[tokens.cases[draws.tokens] != segmentation.LOWER]
            np.frombuffer(capitals, dtype=np.bool_)[has_capital] = True
            earlier = tokens.list_earlier_draws(numbers)
    return ~np.frombuffer(capitals, dtype=np.bool_)


def _iterate_blocks(plan: SanitizingPlan, text: str) -> Iterator[tuple[list[str], str | None]]:
    """Yield the segments of a text in chunks, each with the state of the gap before it.

    The state is ``None`` before the first word of the text, else see ``_find_gap_state``.
    """
    segments = segmentation.iterate_split_text(
        text, marks_apart=plan.terms.sanitize_punctuation, lone_clitics=plan.joins_lone_clitics
    )
    before: str | None = None
    while block := [*islice(segments, BLOCK_SEGMENTS)]:
        yield block, before
        before = _find_gap_state(block, before)


def _find_gap_state(segments: Sequence[str], before: str | None) -> str | None:
    """Return whether the gap after some segments ends a sentence, for the next chunk.

    Args:
        segments: The segments.
        before: The state of the gap before them; ``None`` before the first word of the text.

    Returns:
        ``"."`` if it ends a sentence, else ``""``; ``None`` if no word came yet. The gap itself is not returned,
        because it may be as long as the text.
    """
    ended = False
    for segment in reversed(segments):
        if not is_gap(segment):
            return "." if ended else ""
        ended = ended or begins_sentence(segment)
    return "." if ended and before is not None else before


def join_long_text(parts: Iterable[str], blank: str = "") -> str:
    """Return the concatenation of the parts of a long text, with ``blank`` between two parts.

    ``str.join`` would hold the parts and the result in memory together. A string that nothing else refers to grows in
    place instead.
    """
    text = ""
    for part in parts:
        text += blank + part if text else part
    return text
