"""Privacy ledger for tables: spend the epsilon of documents before they are written."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from textveil.errors import BudgetError
from textveil.ledger import (
    DEFAULT_SCOPE,
    Budget,
    Entry,
    Ledger,
    Posted,
    canonical_bytes,
    document_bytes,
    text_source,
)
from textveil.text import Options, Sanitizer

from textveil_cli.files.rows import NO_SCOPE, Documents, Drawn, Group, Withheld


class BlockLedger:
    """Ledger access for blocks: each spends its epsilon in one transaction before it is written.

    Only the process that writes the output spends; worker processes rewrite texts, and their results wait for the
    ledger.

    Args:
        ledger: The ledger.
        sanitizer: The sanitizer of the documents.
        options: Options of ``Sanitizer.sanitize``.
        scope: The privacy unit of rows without a unit of their own.
        budget: Budget of every privacy unit of the run: its first budget, or a smaller one.

    Attributes:
        documents: Number of documents that spent epsilon, each counted once whatever the number of its privacy units.
        before: Number of these that equal an earlier released document.
    """

    def __init__(
        self,
        ledger: Ledger,
        sanitizer: Sanitizer,
        options: Options,
        *,
        scope: str = DEFAULT_SCOPE,
        budget: Budget | None = None,
    ) -> None:
        self._ledger, self._scope, self._budget = ledger, scope, budget
        self._options = canonical_bytes(text_source(sanitizer, options).options)
        terms = sanitizer.terms(**options)
        self._statement = lru_cache(maxsize=4096)(terms.statement)
        self.documents = self.before = 0

    def charge(self, block: Documents, drawn: Drawn, *, whole: bool) -> Drawn:
        """Spend the epsilon of a block, and return its texts without the withheld ones.

        Documents beyond the budget, and documents without a privacy unit, are withheld and spend nothing.

        Args:
            block: The block.
            drawn: The rewritten texts of the block.
            whole: Whether the block spends nothing if one document is withheld; then the caller must release nothing of
                it.

        Raises:
            LedgerError: The ledger cannot be written. The caller must release nothing of the block.
        """
        requests, counts = self._requests(block), iter(drawn.tokens)
        groups = block.groups
        asked = [self._entries(group, requests, [*islice(counts, group.documents)]) for group in groups]
        entries = [one if isinstance(one, list) else [] for one in asked]
        if whole and len(entries) > sum(map(bool, entries)):
            entries = [[] for _ in entries]
        charged = self._ledger.post_groups(entries, budget=self._budget, together=whole)
        withheld = [_why(*of_group) for of_group in zip(asked, charged, strict=True)]
        if not (whole and any(withheld)):
            self._count(groups, charged)
        return drawn if not any(withheld) else _without(drawn, block.sizes, groups, withheld)

    def _count(self, groups: Sequence[Group], charged: Sequence[list[Posted] | BudgetError]) -> None:
        for group, entered in zip(groups, charged, strict=True):
            if isinstance(entered, list) and entered:
                self.documents += group.documents
                before = iter(one.before > 0 for one in entered)
                self.before += sum(any([*islice(before, len(group.scopes))]) for _ in range(group.documents))

    def _requests(self, block: Documents) -> Iterator[bytes]:
        texts = iter(block.texts)
        return (document_bytes(self._options, [*islice(texts, size)]) for size in block.sizes)

    def _entries(self, group: Group, requests: Iterator[bytes], counts: list[int | Withheld]) -> list[Entry] | Withheld:
        """Return the ledger entries of a group, one per document and unit, or why none exist."""
        asked = [*islice(requests, group.documents)]
        if "" in group.scopes:
            return NO_SCOPE
        entries: list[Entry] = []
        for request, tokens in zip(asked, counts, strict=True):
            if isinstance(tokens, Withheld):
                return tokens
            said = self._statement(tokens)
            for scope in group.scopes:
                name = self._scope if scope is None else scope
                entries.append(Entry(scope=name, request=request, mechanism=said.mechanism, charge=said.charge))
        return entries


def _why(asked: list[Entry] | Withheld, charged: list[Posted] | BudgetError) -> Withheld | None:
    """Return why a group is withheld; ``None`` if it is released."""
    if isinstance(asked, Withheld):
        return asked
    return Withheld(str(charged), charged.worded) if isinstance(charged, BudgetError) else None


def _without(drawn: Drawn, sizes: Sequence[int], groups: Sequence[Group], withheld: Sequence[Withheld | None]) -> Drawn:
    """Return the rewritten texts, with the reason in place of the texts of withheld groups."""
    words = drawn.words or [0] * len(sizes)
    rest, left = iter(drawn.texts), iter(zip(sizes, drawn.tokens, words, strict=True))
    texts, tokens, kept = list[str | Withheld](), list[int | Withheld](), list[int]()
    for group, why in zip(groups, withheld, strict=True):
        for size, count, of_list in islice(left, group.documents):
            of_document = [*islice(rest, size)]
            texts += of_document if why is None else [why] * size
            tokens.append(count if why is None else why)
            kept.append(of_list if why is None else 0)
    return Drawn(texts, tokens, words=kept)
