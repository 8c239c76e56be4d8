"""Utility by mechanism and epsilon."""

from collections.abc import Iterable, Sequence
from statistics import mean

from textveil_training.report.charts import Curves, Heat, Line, Panel, Section, Table
from textveil_training.report.cohorts import Cohort, cohorts
from textveil_training.report.groups import UNSANITISED, Group, Names
from textveil_training.report.laws import AXES, PURE_LDP, TEXTBOOK, Law, kinds_of
from textveil_training.report.records import Run
from textveil_training.report.tables import LAW_COLUMNS, law_row, plain, spread


def section(runs: Sequence[Run], names: Names) -> Section | None:
    """Tables and plots of utility; None without runs."""
    if not runs:
        return None
    parts: list[Table | Curves | Heat] = []
    for cohort in cohorts(runs):
        parts.append(table(cohort, names))
        plot = curves(cohort, names)
        parts += [plot] if plot else []
    text = (
        "Means over runs with their standard deviation behind the sign, where there are several; the last column says "
        "how many runs there are, and with which seeds. With frozen features seeds do nothing: runs on raw text with "
        "the same features are one run, and on sanitised text each has another copy. Texts were "
        "sanitised for training and for testing.",
        "Kinds of epsilon are kept apart. Certified: computed over all pairs of words and outputs of the finished "
        "table. Textbook: the bound proven on paper. Both are per unit of distance, 1 being the median distance of two "
        "words. Pure LDP: whatever the distance. epsilon_0 is what SanText+ adds where a word is common, ln(1/p).",
    )
    return Section("utility", "Utility by mechanism and epsilon", text, parts)


def table(cohort: Cohort, names: Names) -> Table:
    """Utility of a cohort by law."""
    columns = ("accuracy", "below unsanitised", "error over texts") if cohort.accuracy else (
        "Pearson", "below unsanitised", "error over texts", "Spearman", "squared error")  # fmt: skip
    rows = []
    for group in cohort.groups:
        row = law_row(group, names.bundle(group.law) if group.law else "")
        row += [cohort.told(group), spread(group.values(cohort.measure), shares=cohort.accuracy)]
        row.append(_below(cohort, group))
        error = group.mean("standard_error" if cohort.accuracy else "pearson_standard_error")
        row.append("" if error is None else spread([error], shares=cohort.accuracy))
        if not cohort.accuracy:
            row += [spread(group.values("spearman"), shares=False), plain(group.mean("mse"))]
        rows.append((*row, group.counted))
    if cohort.majority and cohort.accuracy:
        low, high = (spread([end]) for end in (min(cohort.majority), max(cohort.majority)))
        share = low if low == high else f"{low} to {high}"
        rows.insert(0, ("majority class", *[""] * (len(LAW_COLUMNS) + 1), share, *[""] * len(columns)))
    caption = f"{cohort.title}: {cohort.axis}{', per cent' if cohort.accuracy else ''}"
    heads = ("mechanism", *LAW_COLUMNS, "settings", *columns, "runs (seeds)")
    return Table(f"utility-{cohort.name}", caption, heads, tuple(rows)).trimmed()


def _below(cohort: Cohort, group: Group) -> str:
    clean = cohort.clean(group)
    value, best = group.mean(cohort.measure), None if clean is None else clean.mean(cohort.measure)
    if group.law is None or value is None or best is None:
        return ""
    return f"{100 * (best - value):.1f}" if cohort.accuracy else f"{best - value:.3f}"


def curves(cohort: Cohort, names: Names) -> Curves | None:
    """Utility over epsilon: a panel for each kind of epsilon, and one for the pure LDP level where it is known."""
    laws = [(group, group.law) for group in cohort.groups if group.law is not None and group.law.learns]
    panels = [
        _panel(
            cohort, names, AXES.get(kind, f"{kind} epsilon"), [(g, law.epsilon) for g, law in laws if law.kind == kind]
        )
        for kind in kinds_of(law for _, law in laws)
        if kind != PURE_LDP
    ]
    panels.append(_panel(cohort, names, AXES[PURE_LDP], [(group, law.ldp) for group, law in laws]))
    drawn = tuple(panel for panel in panels if panel is not None)
    title = f"Utility over epsilon: {cohort.title}"
    made = Curves(f"utility-over-epsilon-{cohort.name}", title, drawn)
    return made if made.telling else None


def _panel(cohort: Cohort, names: Names, axis: str, placed: Iterable[tuple[Group, float | None]]) -> Panel | None:
    series: dict[str, list[tuple[float, float, float]]] = {}
    law_of: dict[str, Law] = {}
    longest: dict[tuple[str, str], int] = {}
    kinds: dict[str, set[str]] = {}
    for law in (group.law for group in cohort.groups):
        if law is not None and law.learns and law.kind != PURE_LDP:
            kinds.setdefault(names(law), set()).add(law.kind)
    for group, x in placed:
        law, y = group.law, group.mean(cohort.measure)
        if law is None or x is None or y is None:
            continue
        told = law.kind if len(kinds.get(names(law), ())) > 1 else ""
        label = ", ".join(part for part in (names(law), cohort.told(group), told) if part)
        series.setdefault(label, []).append((x, y, group.deviation(cohort.measure)))
        law_of[label] = law
        kin = law.mechanism, law.tail
        longest[kin] = max(longest.get(kin, 0), len(series[label]))
    lines = tuple(
        line(label, sorted(found), law_of[label], names)
        for label, found in series.items()
        # variants at one epsilon alone are in the tables, and those of w and p in a figure of their own
        if len(found) > 1 or longest[law_of[label].mechanism, law_of[label].tail] == 1
    )
    return Panel(axis, cohort.axis, lines, _marks(cohort), shares=cohort.accuracy) if lines else None


def line(label: str, points: Sequence[tuple[float, float, float]], law: Law, names: Names) -> Line:
    """A line that is drawn as its law is in all plots: capped tails dashed, textbook epsilons hollow."""
    return Line(label, tuple(points), dashed=law.tail == "capped", hollow=law.kind == TEXTBOOK, law=names(law))


def _marks(cohort: Cohort) -> tuple[tuple[str, float], ...]:
    """Heights that no epsilon moves: unsanitised text, pure noise, and the majority class."""
    marks = []
    for group in cohort.groups:
        value = group.mean(cohort.measure)
        if value is not None and (group.law is None or not group.law.learns):
            name = UNSANITISED if group.law is None else names_of_noise(group.law)
            marks.append((", ".join(part for part in (name, cohort.told(group)) if part), value))
    if cohort.accuracy and cohort.majority:
        marks.append(("majority class", mean(cohort.majority)))
    return tuple(marks)


def names_of_noise(law: Law) -> str:
    """Of a law from which nothing is learned."""
    return f"{law.mechanism} words"
