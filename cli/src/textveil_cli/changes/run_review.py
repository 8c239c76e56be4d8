"""Collect counts over all texts of a run, and a random sample of rows with their originals, for a report.

The collector needs bounded memory.
"""

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush, heappushpop
from random import random
from typing import TYPE_CHECKING, NamedTuple, cast

from textveil_cli.changes.explain import TextExplainer

if TYPE_CHECKING:
    from textveil_cli.files import ReviewedBlock, RewrittenDocuments

#: Maximum number of characters of a text in the sample, and of different words that are counted.
_MAX_CHARACTERS, _MAX_COUNTED_WORDS = 20_000, 100_000
#: Maximum number of characters of the originals in the sample, which a browser can still show.
_MAX_SAMPLE_CHARACTERS = 4_000_000


class ReviewedCell(NamedTuple):
    """One text in the sample that a report shows: the name of its column, the original and the sanitized text."""

    column: str
    original: str
    output: str


class ReviewedRow(NamedTuple):
    """One row in the sample of a report, with original and sanitized texts.

    Attributes:
        file: Name of the input file.
        number: Number of the row in the file.
        cells: The texts of the row.
    """

    file: str
    number: int
    cells: list[ReviewedCell]


@dataclass(kw_only=True)
class ColumnCounts:
    """Counts of texts and words in one column of a table; plain text counts as one column.

    Attributes:
        texts: Number of texts.
        changed: Number of texts in which at least one token was replaced.
        kept: Number of occurrences of each unchanged word, in lower case.
        replaced: Number of replaced tokens of each entity type (such as ``person``), and number of randomized tokens.
        reasons: Number of tokens for each pair: whether a token is unchanged, and the reason. The reason is empty if
            reasons are not counted.
    """

    texts: int = 0
    changed: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    replaced: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[bool, str]] = field(default_factory=Counter)
    _kept_total: int = 0

    def add_text(self, explainer: TextExplainer, text: str, *, counts_reasons: bool = False) -> None:
        """Count the unchanged, replaced and randomized tokens of a text, in addition to the earlier texts.

        Args:
            explainer: Object that computes how each token is treated.
            text: The text.
            counts_reasons: Whether to count the tokens by reason too, which takes longer.
        """
        self.texts += 1
        has_changed = False
        if counts_reasons:
            tokens = explainer.iterate_reasons(text)
        else:
            tokens = ((token, state, "") for token, state in explainer.iterate_treatments(text))
        for token, state, reason in tokens:
            self.reasons[state == "kept", reason] += 1
            if state == "kept":
                self._kept_total += 1
                word = token.lower()
                if word in self.kept or len(self.kept) < _MAX_COUNTED_WORDS:
                    self.kept[word] += 1
            else:
                has_changed = True
                self.replaced[state] += 1
        self.changed += has_changed

    @property
    def kept_total(self) -> int:
        """Return the number of words that were left unchanged."""
        return self._kept_total


class RunReview:
    """Collector of the changes of a run: counts, and a random sample of rows.

    Every row is in the sample with the same probability: each row gets a random priority, and the rows with the largest
    priorities stay in the sample (reservoir sampling). Taking every k-th row could repeat the same kind of row, if a
    table has a periodic order. The longer the rows, the fewer rows the sample has.

    Args:
        explainer: Object that computes whether each token of a text is left unchanged or replaced.
        max_rows: Maximum number of rows in the sample.
        counts_words: Whether to count words and entity types. To count them, every text is analyzed a second time.
        counts_reasons: Whether to count, with ``counts_words``, the reasons too.

    Attributes:
        columns: Counts of each column, by name; for plain text under the name "".
        copied: Names of the columns that the run copied unchanged, of all files, in order.
        rows: Number of rows with texts.
        total_rows: Number of all rows of the output.
        rejected_rows: Number of rows that the run could not sanitize, so that the output lacks them.

    Privacy:
        The sample contains original text.
    """

    def __init__(
        self, explainer: TextExplainer, max_rows: int, *, counts_words: bool = True, counts_reasons: bool = False
    ) -> None:
        self._explainer, self._max_rows, self._counts_words = explainer, max_rows, counts_words
        self._counts_reasons = counts_reasons
        self.columns: dict[str, ColumnCounts] = {}
        self.copied: dict[str, None] = {}
        self.rows = self.rejected_rows = 0
        self._heap: list[tuple[float, int, ReviewedRow]] = []
        self._rows_without_text = 0
        self._characters = 0
        self._last: tuple[str, int] | None = None
        self._sampled_row: ReviewedRow | None = None

    @property
    def total_rows(self) -> int:
        """Return the number of all rows of the output, including rows without texts."""
        return self.rows + self._rows_without_text

    @property
    def sample(self) -> list[ReviewedRow]:
        """Return the rows that the report shows as a sample, in the order of the run."""
        return [row for _, _, row in sorted(self._heap, key=lambda entry: entry[1])]

    @property
    def explainer(self) -> TextExplainer:
        """Return the object that computes whether each token of a text is left unchanged, replaced or randomized."""
        return self._explainer

    def add_text(self, file: str, row: int, column: str, original: str, output: str) -> None:
        """Add a text to the counts and, possibly, to the sample; texts of one row must follow each other.

        Args:
            file: Name of the input file.
            row: Number of the row in the file.
            column: Name of the column; empty for plain text.
            original: The original text.
            output: The sanitized text.
        """
        if self._counts_words:
            counts = self.columns.setdefault(column, ColumnCounts())
            counts.add_text(self._explainer, original, counts_reasons=self._counts_reasons)
        if self._last != (file, row):
            self._last = file, row
            self._start_row(file, row)
        if self._sampled_row is not None:
            cell = ReviewedCell(column, original[:_MAX_CHARACTERS], output[:_MAX_CHARACTERS])
            self._sampled_row.cells.append(cell)
            self._characters += len(cell.original)
            while self._characters > _MAX_SAMPLE_CHARACTERS and len(self._heap) > 1:
                self._max_rows = len(self._heap) - 1
                self._forget_row(heappop(self._heap)[2])

    def _forget_row(self, row: ReviewedRow) -> None:
        self._characters -= sum(len(cell.original) for cell in row.cells)
        if row is self._sampled_row:
            self._sampled_row = None

    def _start_row(self, file: str, row: int) -> None:
        entry = (random(), self.rows, ReviewedRow(file, row, []))
        self.rows += 1
        is_full = len(self._heap) >= self._max_rows
        removed = heappushpop(self._heap, entry) if is_full else heappush(self._heap, entry)
        self._sampled_row = None if removed is entry else entry[2]
        if removed is not None and removed is not entry:
            self._forget_row(removed[2])

    def review_block(self, name: str, block: "ReviewedBlock", rewritten: "RewrittenDocuments") -> None:
        """Count the words of a block of rows, and perhaps add rows to the report's sample.

        This method implements the protocol ``files.BlockReview``.
        """
        texts = [*zip(block.iterate_cells(), block.texts, rewritten.texts, strict=True)]
        withheld = {number for (number, _), _, output in texts if not isinstance(output, str)}
        with_text = {number for (number, _), _, _ in texts}
        for (number, column), original, output in texts:
            if number not in withheld:
                self.add_text(name, number, column, original, cast(str, output))
        self._rows_without_text += block.row_count - len(with_text)
        self.rejected_rows += len(block.rejected) + len(withheld)
