"""Sanitizing of documents under one plan, for all mechanisms that randomize words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from textveil.text.rewrite.cut import SegmentReader
from textveil.text.rewrite.draw import sample_outputs
from textveil.text.rewrite.output_texts import write_texts
from textveil.text.rewrite.plan import SanitizingPlan
from textveil.text.rewrite.read import TokenArrays

if TYPE_CHECKING:
    from textveil.text.restore import Restorer


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomizingPlan(SanitizingPlan):
    """Plan of a mechanism that randomizes words."""

    def make_rewriter(self) -> "DocumentRewriter":
        """Return a rewriter for the documents of one call."""
        return DocumentRewriter(self)


#: Texts are processed in batches of about this many characters, and a longer text in chunks: this bounds memory. The
#: split depends on hidden words, so neither outputs nor spend may depend on it, except for the order of random words.
MAX_BATCH_CHARACTERS, MAX_WHOLE_CHARACTERS = 1 << 20, 1 << 17

#: Sanitized texts of a document, the number of tokens charged for all of them together, the mapping that restores words
#: of consistent outputs (it undoes the protection), and two counts of ``Result`` for the mode ``names`` alone:
#: ``drawn`` and ``replaced_words``.
RewrittenRow = tuple[Sequence[str], int, "Restorer | None", int, int]


class DocumentRewriter:
    """Sanitizing of the documents of one call.

    Args:
        plan: The plan.

    Privacy:
        An instance contains the user's text and must not outlive the call.
    """

    def __init__(self, plan: SanitizingPlan) -> None:
        self._plan, self._reader = plan, SegmentReader(plan)

    def rewrite(self, documents: Sequence[Sequence[str]]) -> Iterator[RewrittenRow]:
        """Yield the sanitized documents.

        A document has any number of texts, each of which begins a sentence.

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
        from textveil.text.rewrite.long_texts import LongDocumentRewriter

        long = LongDocumentRewriter(self._plan, texts)
        return long.rewrite(), long.tokens, long.mapping if self._plan.terms.consistent else None, 0, 0

    def _rewrite_batch(self, batch: Sequence[Sequence[str]]) -> Iterator[RewrittenRow]:
        segments, sizes = self._reader.read_texts(chain.from_iterable(batch)), list(map(len, batch))
        tokens = TokenArrays(self._plan, segments, self._reader.segments, sizes=sizes)
        rewritten = write_texts(tokens, sample_outputs(tokens))
        texts = iter(rewritten.texts)
        of_each = zip(texts) if sizes.count(1) == len(sizes) else ([*islice(texts, size)] for size in sizes)
        if not self._plan.terms.consistent:
            return zip(of_each, rewritten.tokens, repeat(None), repeat(0), repeat(0), strict=False)
        from textveil.text.restore import Restorer

        return zip(of_each, rewritten.tokens, map(Restorer, rewritten.pairs), repeat(0), repeat(0), strict=False)


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
    """Return whether a document is processed in chunks."""
    return sum(map(len, texts)) > MAX_WHOLE_CHARACTERS
