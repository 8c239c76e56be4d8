"""Record the spent epsilon of each document of a table in the privacy ledger, before the output is written."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from textveil.errors import BudgetError
from textveil.ledger import (
    DEFAULT_PRIVACY_UNIT,
    Budget,
    Ledger,
    SpendEntry,
    SpendOutcome,
    make_text_source,
    serialize_document,
    serialize_options,
)
from textveil.text import Options, Sanitizer

from textveil_cli.files.blocks import (
    NO_PRIVACY_UNIT,
    DocumentBlock,
    DocumentGroup,
    RewrittenDocuments,
    WithheldDocument,
)


class BlockLedger:
    """Writer that records the spent epsilon of all documents of a block in the privacy ledger, in one transaction.

    Only the process that writes the output uses the ledger. Worker processes sanitize texts. The main process writes
    their results once the ledger contains the spent epsilon.

    Args:
        ledger: The open ledger.
        sanitizer: The sanitizer of the documents.
        options: Options of ``Sanitizer.sanitize``.
        privacy_unit: Name of the privacy unit (person or group for whom the ledger adds up epsilon) of rows that name
            no unit of their own.
        budget: Budget of every privacy unit of the run. A unit that already has a budget can only get a smaller one.

    Attributes:
        documents: Number of documents that spent epsilon. A document with several privacy units counts once.
        released_before: Number of those documents that equal a document for which the ledger already had an entry.
    """

    def __init__(
        self,
        ledger: Ledger,
        sanitizer: Sanitizer,
        options: Options,
        *,
        privacy_unit: str = DEFAULT_PRIVACY_UNIT,
        budget: Budget | None = None,
    ) -> None:
        self._ledger, self._privacy_unit, self._budget = ledger, privacy_unit, budget
        self._options = serialize_options(make_text_source(sanitizer, options).options)
        terms = sanitizer.terms(**options)
        self._make_statement = lru_cache(maxsize=4096)(terms.statement)
        self.documents = self.released_before = 0

    def spend(self, block: DocumentBlock, rewritten: RewrittenDocuments, *, all_or_nothing: bool) -> RewrittenDocuments:
        """Record the spent epsilon of a block's documents, and return the texts that may be written.

        A ``WithheldDocument`` takes the place of documents that would exceed the budget, and of documents without a
        privacy unit (person or group for whom the ledger adds up epsilon). These documents spend nothing.

        Args:
            block: The block.
            rewritten: The sanitized texts of the block.
            all_or_nothing: Whether no document spends epsilon if one of them must not be written; the caller must then
                write none of them.

        Raises:
            LedgerError: The ledger cannot be written. The caller must then write no document of the block.
        """
        requests, token_counts = self._make_requests(block), iter(rewritten.tokens)
        groups = block.groups
        group_entries = [
            self._make_entries(group, requests, [*islice(token_counts, group.documents)]) for group in groups
        ]
        entries = [entry_list if isinstance(entry_list, list) else [] for entry_list in group_entries]
        if all_or_nothing and len(entries) > sum(map(bool, entries)):
            entries = [[] for _ in entries]
        posted = self._ledger.record_groups(entries, budget=self._budget, all_or_none=all_or_nothing)
        withheld = [_get_withheld_reason(*of_group) for of_group in zip(group_entries, posted, strict=True)]
        if not (all_or_nothing and any(withheld)):
            self._count_documents(groups, posted)
        return rewritten if not any(withheld) else _withhold_groups(rewritten, block.document_sizes, groups, withheld)

    def _count_documents(
        self, groups: Sequence[DocumentGroup], posted: Sequence[list[SpendOutcome] | BudgetError]
    ) -> None:
        for group, of_group in zip(groups, posted, strict=True):
            if isinstance(of_group, list) and of_group:
                self.documents += group.documents
                before = iter(one.earlier_releases > 0 for one in of_group)
                self.released_before += sum(
                    any([*islice(before, len(group.privacy_units))]) for _ in range(group.documents)
                )

    def _make_requests(self, block: DocumentBlock) -> Iterator[bytes]:
        texts = iter(block.texts)
        return (serialize_document(self._options, [*islice(texts, size)]) for size in block.document_sizes)

    def _make_entries(
        self, group: DocumentGroup, requests: Iterator[bytes], token_counts: list[int | WithheldDocument]
    ) -> list[SpendEntry] | WithheldDocument:
        """Return the ledger entries of a group of documents: one for each pair of document and privacy unit.

        If one of the documents must not be written, or has no privacy unit, return a ``WithheldDocument`` with the
        reason instead.

        Args:
            group: The group of documents.
            requests: Iterator over the serialized documents of the block; this method takes the documents of the group
                from it.
            token_counts: For each document of the group the number of randomized tokens, each of which spends epsilon.
        """
        group_requests = [*islice(requests, group.documents)]
        if "" in group.privacy_units:
            return NO_PRIVACY_UNIT
        entries: list[SpendEntry] = []
        for request, tokens in zip(group_requests, token_counts, strict=True):
            if isinstance(tokens, WithheldDocument):
                return tokens
            statement = self._make_statement(tokens)
            for group_unit in group.privacy_units:
                privacy_unit = self._privacy_unit if group_unit is None else group_unit
                entries.append(
                    SpendEntry(
                        privacy_unit=privacy_unit, request=request, mechanism=statement.mechanism, spend=statement.spend
                    )
                )
        return entries


def _get_withheld_reason(
    entries: list[SpendEntry] | WithheldDocument, posted: list[SpendOutcome] | BudgetError
) -> WithheldDocument | None:
    """Return why a group of documents must not be written to the output; ``None`` if the group may be written.

    Args:
        entries: Ledger entries of the group, or the reason why it has none.
        posted: Result of recording the entries in the privacy ledger, or the error if they exceed the budget.
    """
    if isinstance(entries, WithheldDocument):
        return entries
    return WithheldDocument(str(posted), posted.with_message) if isinstance(posted, BudgetError) else None


def _withhold_groups(
    rewritten: RewrittenDocuments,
    document_sizes: Sequence[int],
    groups: Sequence[DocumentGroup],
    withheld: Sequence[WithheldDocument | None],
) -> RewrittenDocuments:
    """Return all texts, with a ``WithheldDocument`` in place of each text that must not be written.

    Args:
        rewritten: The sanitized texts of a block.
        document_sizes: Number of texts in each document.
        groups: Groups of documents.
        withheld: For each group the reason why it must not be written; ``None`` for a group that may be written.
    """
    randomized_words = rewritten.randomized_words or [0] * len(document_sizes)
    remaining_texts, documents = (
        iter(rewritten.texts),
        iter(zip(document_sizes, rewritten.tokens, randomized_words, strict=True)),
    )
    texts, tokens, released_words = list[str | WithheldDocument](), list[int | WithheldDocument](), list[int]()
    for group, reason in zip(groups, withheld, strict=True):
        for size, count, word_count in islice(documents, group.documents):
            document_texts = [*islice(remaining_texts, size)]
            texts += document_texts if reason is None else [reason] * size
            tokens.append(count if reason is None else reason)
            released_words.append(word_count if reason is None else 0)
    return RewrittenDocuments(texts, tokens, randomized_words=released_words)
