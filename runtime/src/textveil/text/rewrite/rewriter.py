"""Sanitizing of documents under one plan (the checked options of a call), with mechanisms that randomize words.

A very long document is sanitized in chunks, to limit the memory. Each chunk gets the state of the chunks before it
(``CarriedState``), so the output distribution and the privacy loss are the same as without chunks. Only the order in
which the random numbers are used differs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.text import segmentation
from textveil.text.rewrite.cut import SegmentReader
from textveil.text.rewrite.draws import (
    CarriedState,
    EarlierDraws,
    TokenArrays,
    read_segments,
    sample_outputs,
    write_texts,
)
from textveil.text.rewrite.plan import SanitizingPlan
from textveil.text.segmentation import begins_sentence, is_gap
from textveil.text.statement import RewrittenDocument

#: To bound memory, texts are processed in batches of about this many characters, and a longer text in chunks. Where a
#: text is cut depends on private words, so the cut must change neither the output distribution nor the spend.
MAX_BATCH_CHARACTERS, MAX_WHOLE_CHARACTERS = 1 << 20, 1 << 17

#: Number of segments of a chunk.
BLOCK_SEGMENTS = 1 << 15


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RandomizingPlan(SanitizingPlan):
    """The checked options of a call whose mechanism randomizes words, with the tables that the options select."""

    @property
    def rewriter(self) -> "DocumentRewriter":
        """A new object that sanitizes the documents of one call."""
        return DocumentRewriter(self)


class DocumentRewriter:
    """Sanitizes the documents of one call.

    Args:
        plan: The checked options of the call.

    Privacy:
        An instance contains the user's text and must not outlive the call.
    """

    def __init__(self, plan: SanitizingPlan) -> None:
        self._plan = plan

    def rewrite(self, documents: Sequence[Sequence[str]]) -> Iterator[RewrittenDocument]:
        """Sanitize each document, and yield the results.

        A document has any number of texts. The first word of each text starts a sentence.

        Raises:
            DocumentTooLong: A document has more words, names and numbers than the option ``consistent_cap`` permits.

        Privacy:
            This method computes the noisy output, with the operating system's entropy.
        """
        for batch in _iterate_batches(documents):
            if len(batch) == 1 and _is_long(batch[0]):
                yield self._rewrite_long(batch[0])
            else:
                yield from self._rewrite_batch(batch)

    def _rewrite_long(self, texts: Sequence[str]) -> RewrittenDocument:
        long = LongDocumentRewriter(self._plan, texts)
        mapping = long.mapping  # the result must not refer to ``long``, which holds the texts
        get_mapping = (lambda: mapping) if self._plan.terms.consistent else None
        return RewrittenDocument(long.rewrite(), long.tokens, get_mapping, 0, 0, [None])

    @cached_property
    def _reader(self) -> SegmentReader:
        return SegmentReader(self._plan)

    def _rewrite_batch(self, batch: Sequence[Sequence[str]]) -> Iterator[RewrittenDocument]:
        reader = self._reader
        segments, sizes = reader.read_texts(chain.from_iterable(batch)), list(map(len, batch))
        tokens = TokenArrays(self._plan, segments, reader.segments, sizes=sizes)
        rewritten = write_texts(tokens, sample_outputs(tokens))
        texts = iter(rewritten.texts)
        of_each = zip(texts) if sizes.count(1) == len(sizes) else ([*islice(texts, size)] for size in sizes)
        mappings: Iterable[Any] = repeat(None)
        if self._plan.terms.consistent:
            from textveil.text.restore import Restorer  # lazy: most calls restore nothing

            mappings = [cache(partial(Restorer, pairs)) for pairs in rewritten.pairs]
        return map(RewrittenDocument, of_each, rewritten.tokens, mappings, repeat(0), repeat(0), repeat([None]))


def _iterate_batches(documents: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Yield the documents in batches of about ``MAX_BATCH_CHARACTERS``; a long document is alone in its batch."""
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
    """Return whether a document is so long that it is sanitized in several chunks, to save memory."""
    return sum(map(len, texts)) > MAX_WHOLE_CHARACTERS


class LongDocumentRewriter:
    """Sanitizes one long document, chunk by chunk (part by part), to save memory.

    If equal words get equal outputs, the constructor reads all texts before any sampling.

    Args:
        plan: The checked options of the call.
        texts: Texts of the document. The first word of each text starts a sentence.

    Attributes:
        tokens: Number of tokens so far whose privacy loss counts.
        mapping: Originals of the outputs so far; empty unless equal words get equal outputs. An original may have the
            case of a later occurrence of the word, unlike in a document without chunks.

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
        """Sanitize the document, and return its texts. Call this method only once.

        Privacy:
            This method computes the noisy output, with the operating system's entropy.
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
    """Return for each random choice of an output (draw) whether all its words in the long document are in lower case.

    The result has the shape ``(draws,)``.

    Args:
        plan: The checked options of the call.
        texts: The texts of the document.
    """
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
    """Split a text into segments (tokens and gaps), and yield them in chunks.

    Yields:
        A list of segments, and the state of the gap before it: ``None`` before the first word of the text, otherwise
        the result of ``_find_gap_state``.
    """
    segments = segmentation.iterate_split_text(
        text, marks_apart=plan.terms.sanitize_punctuation, lone_clitics=plan.joins_lone_clitics
    )
    before: str | None = None
    while block := [*islice(segments, BLOCK_SEGMENTS)]:
        yield block, before
        before = _find_gap_state(block, before)


def _find_gap_state(segments: Sequence[str], before: str | None) -> str | None:
    """Return whether the gap (blanks and marks) at the end of a part of a document ends a sentence.

    If so, the next part starts a sentence.

    Args:
        segments: The tokens and gaps of the part.
        before: The result for the part before it; ``None`` before the first word of the text.

    Returns:
        ``"."`` if the gap ends a sentence, ``""`` if not, and ``None`` if the text has no word so far. The gap itself
        is not returned, because it may be as long as the text.
    """
    ended = False
    for segment in reversed(segments):
        if not is_gap(segment):
            return "." if ended else ""
        ended = ended or begins_sentence(segment)
    return "." if ended and before is not None else before


def join_long_text(parts: Iterable[str], blank: str = "") -> str:
    """Concatenate the parts of a long text, with ``blank`` between them, in little memory.

    ``str.join`` would hold all parts and the result in memory at once. Here the result grows while parts are freed.
    """
    text = ""
    for part in parts:
        text += blank + part if text else part
    return text
