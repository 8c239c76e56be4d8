"""Summarizes a data set: counts per split, per label and per attribute, mean length, mean score."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from textveil_training.data.examples import AttributedText, Example, ScoredPair
from textveil_training.data.formats import ReadOptions, available_splits, format_named, load
from textveil_training.data.rows import FilePath
from textveil_training.errors import printable
from textveil_training.tables import aligned

MOST_LABELS = 100
"""Labels are listed up to this number. A column with more distinct values is likely to be text."""


@dataclass(frozen=True, slots=True)
class SplitSummary:
    """Counts and means of one split.

    Attributes:
        examples: Number of examples.
        mean_tokens: Mean number of tokens per example, all its texts together, split at blanks.
        labels: Number of examples by label, in the format's order or else sorted; empty without labels; None
            when there are more than ``MOST_LABELS``.
        attributes: Number of examples by private attribute; empty for formats without.
        mean_score: Mean score; None for formats without.
    """

    examples: int
    mean_tokens: float
    labels: dict[str, int] | None
    attributes: dict[str, int]
    mean_score: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts and means of a data set.

    Attributes:
        format: Name of the format.
        splits: Summaries of the splits by name; a file that is one split by itself stands under ``all``.
    """

    format: str
    splits: dict[str, SplitSummary]

    def as_dict(self) -> dict[str, object]:
        """Returns the summary as plain dictionaries, lists and numbers."""
        return asdict(self)

    def table(self) -> str:
        """Returns the summary as lines of aligned columns, without a trailing line end."""
        rows = [("split", "part", "examples", "mean tokens", "mean score")]
        for name, part in self.splits.items():
            score = "" if part.mean_score is None else f"{part.mean_score:.3f}"
            rows.append((name, "all", str(part.examples), f"{part.mean_tokens:.1f}", score))
            if part.labels is None:
                rows.append((name, f"more than {MOST_LABELS} labels", "", "", ""))
            for label, number in (part.labels or {}).items():
                rows.append((name, f"label {printable(label)}", str(number), "", ""))
            for attribute, number in part.attributes.items():
                rows.append((name, f"attribute {attribute}", str(number), "", ""))
        scored = any(part.mean_score is not None for part in self.splits.values())
        return aligned([row if scored else row[:-1] for row in rows], left=2)


def summarize(
    format_name: str, path: FilePath, split: str | None = None, options: ReadOptions | None = None
) -> Summary:
    """Reads a file, or a folder of files, to the end and counts what is in it.

    Args:
        format_name: A key of ``FORMATS``.
        path: The same as in ``load``.
        split: One split, or None for all there are.
        options: The same as in ``load``.

    Raises:
        DataError: As ``load``, and every error the reader raises.
    """
    if split is not None:
        names: tuple[str | None, ...] = (split,)
    else:
        names = available_splits(format_name, path) or (None,)
    known = format_named(format_name)
    splits = {
        name or "all": _count(load(format_name, path, name, options), known.labels or (), known.attributes)
        for name in names
    }
    return Summary(format_name, splits)


def _count(examples: Iterable[Example], order: tuple[str, ...], attributes: tuple[str, ...]) -> SplitSummary:
    number = 0
    tokens = 0
    labels: Counter[str] = Counter()
    present = [0] * len(attributes)
    scores = 0.0
    scored = 0
    for example in examples:
        number += 1
        tokens += sum(len(text.split()) for text in example.texts)
        if example.label is not None and len(labels) <= MOST_LABELS:
            labels[example.label] += 1
        if isinstance(example, AttributedText):
            for index in example.attributes:
                present[index] += 1
        if isinstance(example, ScoredPair):
            scores += example.score
            scored += 1
    listed = [*(label for label in order if labels), *sorted(set(labels) - set(order))]
    return SplitSummary(
        examples=number,
        mean_tokens=tokens / number,
        labels=None if len(labels) > MOST_LABELS else {label: labels[label] for label in listed},
        attributes=dict(zip(attributes, present, strict=True)),
        mean_score=scores / scored if scored else None,
    )
