"""SanText+ by the share of sensitive words w and the replacement probability p."""

from collections.abc import Sequence

from textveil_training.report.charts import Curves, Heat, Section, Table
from textveil_training.report.cohorts import Cohort, cohorts
from textveil_training.report.groups import Group
from textveil_training.report.laws import Law
from textveil_training.report.records import Run
from textveil_training.report.tables import plain, spread


def section(runs: Sequence[Run]) -> Section | None:
    """Tables in colours; None where nothing differs in w or p alone."""
    parts: list[Table | Curves | Heat] = []
    for cohort in cohorts(runs):
        found: dict[tuple[object, ...], list[Group]] = {}
        for group in cohort.groups:
            law = group.law
            if law is not None and law.mechanism == "santext+" and law.replacement_probability is not None:
                found.setdefault((law.tail, law.kind, law.epsilon, law.strict, group.constant), []).append(group)
        several = [groups for groups in found.values() if _several(_laws(groups))]
        for number, groups in enumerate(several, 1):
            parts += _pair(cohort, groups, f"{cohort.name}-{number}")
    if not parts:
        return None
    text = (
        "w is the share of the vocabulary, rarest words first, that is sensitive and always replaced; p is how often a "
        "common word is replaced. Every w has a bundle of its own.",
    )
    return Section("w-and-p", "SanText+ over w and p", text, parts)


def _laws(groups: Sequence[Group]) -> list[Law]:
    return [group.law for group in groups if group.law is not None]


def _several(laws: Sequence[Law]) -> bool:
    shares = {law.name if law.share is None else law.share for law in laws}
    return len(shares) > 1 or len({law.replacement_probability for law in laws}) > 1


def _pair(cohort: Cohort, groups: Sequence[Group], name: str) -> list[Table | Heat]:
    labels = _labels(_laws(groups))
    chances = sorted({p for law in _laws(groups) if (p := law.replacement_probability) is not None})
    cells = {(group.law.bundle, group.law.replacement_probability): group for group in groups if group.law is not None}
    lines = [[cells.get((bundle, p)) for p in chances] for bundle in labels]
    values = [[None if group is None else group.mean(cohort.measure) for group in line] for line in lines]
    known = [value for line in values for value in line if value is not None]
    low, high = min(known), max(known)
    shades = {
        (row, column): (value - low) / (high - low) if high > low else 0.0
        for row, line in enumerate(values)
        for column, value in enumerate(line, 1)
        if value is not None
    }
    rows = [
        (
            label,
            *("" if group is None else spread(group.values(cohort.measure), shares=cohort.accuracy) for group in line),
        )
        for label, line in zip(labels.values(), lines, strict=True)
    ]
    law = _laws(groups)[0]
    at = f"{law.kind} epsilon {plain(law.epsilon)}" + (f", {law.tail} tail" if law.tail else "")
    counts = sorted({group.counted for group in groups})
    return [
        Table(
            f"w-and-p-{name}",
            f"{cohort.title}: {cohort.axis} of SanText+ at {at}{', per cent' if cohort.accuracy else ''}",
            ("w", *(f"p {plain(p)}" for p in chances)),
            tuple(rows),
            f"Runs (seeds) behind a cell: {'; '.join(counts)}.",
            shades,
        ),
        Heat(
            f"over-w-and-p-{name}",
            f"SanText+ over w and p at {at}: {cohort.title}",
            "w",
            "p",
            tuple(labels.values()),
            tuple(plain(p) for p in chances),
            tuple(map(tuple, values)),
            cohort.accuracy,
            cohort.axis,
        ),
    ]


def _labels(laws: Sequence[Law]) -> dict[str, str]:
    """A name for each bundle: its w, and what else is needed."""
    bundles = {law.bundle: law for law in sorted(laws, key=lambda law: (law.share is None, law.share or 0, law.name))}
    plainly = {bundle: law.name if law.share is None else plain(law.share) for bundle, law in bundles.items()}
    named = {bundle: f"{label}, {bundles[bundle].name}" for bundle, label in plainly.items()}
    found = {}
    for bundle, label in plainly.items():
        if list(plainly.values()).count(label) > 1:
            label = named[bundle] if list(named.values()).count(named[bundle]) == 1 else f"{label}, {bundle[:8]}"
        found[bundle] = label
    return found
