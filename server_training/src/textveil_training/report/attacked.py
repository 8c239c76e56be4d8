"""Attacks on sanitised text: all of them by law, the defence rate beside utility, and what the levels do to words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import mean

from textveil_training.report.charts import Curves, Line, Panel, Section, Table, slug
from textveil_training.report.cohorts import Cohort, cohorts
from textveil_training.report.groups import UNSANITISED, Group, Names, differing, grouped, said
from textveil_training.report.laws import AXES, Law, kinds_of
from textveil_training.report.records import Run
from textveil_training.report.tables import LAW_COLUMNS, law_row, plain, spread
from textveil_training.report.utility import line

_STATISTICS = ("statistics.unchanged_median", "statistics.outputs_median", "statistics.inputs_median")

_WHAT = ("attacks", "statistics")
"""Settings that say what was measured, and change no figure."""
_SAMPLED = (
    "The masked language model, the contextual attack and repeated release were tried on the sampled tokens, the "
    "others on all."
)


def section(runs: Sequence[Run], names: Names) -> Section | None:
    """Every attack at every law; None without runs."""
    if not runs:
        return None
    text = (
        "Success of each attack, per cent of the tokens it was tried on. The defence rate is the share of all tokens "
        "that the masked language model does not bring back; how often it is right on clean text stands beside it, "
        "since a weak model defends well. Bayes without context knows the law and how common words are; the contextual "
        "one has the masked language model's prior too. Repeated release: the same text several times, freshly drawn.",
    )
    parts = (_mask(runs, names), _bayes(runs, names, ""), _bayes(runs, names, "text_prior."), _sensitive(runs, names))
    found = [made for made in parts if made is not None]
    return Section("attacks", "All attacks", text, found) if found else None


def _mask(runs: Sequence[Run], names: Names) -> Table | None:
    columns = ("changed", "defence rate", "its error", "clean top 1", "mask top 1", "nearest top 1", "nearest top 10")
    keys = ("mask.defence", "mask.standard_error", "mask.clean_top1", "mask.top1", "nearest.top1", "nearest.top10")

    def cells(group: Group) -> list[str]:
        changed = [1 - value for value in group.values("unchanged")]
        mean_error = [value for value in [group.mean(keys[1])] if value is not None]
        return [
            spread(changed),
            *(spread(mean_error if key == keys[1] else group.values(key)) for key in keys),
        ]

    return _table("attacks-mask", "Masked language model and nearest neighbour", runs, names, columns, cells)


def _bayes(runs: Sequence[Run], names: Names, prior: str) -> Table | None:
    """Under the public prior, or with ``text_prior.`` under the text's own frequencies."""
    start = f"repeated.{prior}"
    counts = sorted({int(key.removeprefix(start)) for run in runs for key in run.figures if _counts(key, start)})
    columns = (
        "Bayes, exact",
        "Bayes, simulated",
        "Bayes, on the text",
        "contextual top 1",
        "contextual top 10",
        "context alone",
        "same tokens, no context",
        *map(_releases, counts),
    )

    def cells(group: Group) -> list[str]:
        keys = [f"contextual.{prior}{key}" for key in ("top1", "top10", "prior_top1", "context_free_top1")]
        bayes = [f"bayes.{prior}closed_form", f"bayes.{prior}simulated", f"bayes.{prior}on_text.top1"]
        return [_with_interval(group, key) for key in (*bayes, *keys, *(f"{start}{count}" for count in counts))]

    known = "the text's own" if prior else "public"
    title = f"Bayes attacks and repeated release for attackers who know {known} word frequencies"
    return _table("attacks-bayes-of-text" if prior else "attacks-bayes", title, runs, names, columns, cells)


def _sensitive(runs: Sequence[Run], names: Names) -> Table | None:
    start = "repeated.sensitive."
    counts = sorted({int(key.removeprefix(start)) for run in runs for key in run.figures if _counts(key, start)})
    columns = (
        "changed",
        "defence rate",
        "nearest top 1",
        "no context",
        "contextual",
        "among these words, no context",
        "among these words, contextual",
        *map(_releases, counts),
    )
    contextual = ("context_free_top1", "top1", "targeted_context_free_top1", "targeted_top1")
    keys = ("mask.sensitive.defence", "nearest.sensitive.top1", *(f"contextual.sensitive.{key}" for key in contextual))

    def cells(group: Group) -> list[str]:
        changed = [1 - value for value in group.values("sensitive.unchanged")]
        return [spread(changed), *(spread(group.values(key)) for key in (*keys, *(f"{start}{n}" for n in counts)))]

    return _table("attacks-sensitive", "Sensitive words alone, which are never kept", runs, names, columns, cells)


def _releases(count: int) -> str:
    return f"{count} release{'' if count == 1 else 's'}"


def _counts(key: str, start: str) -> bool:
    return key.startswith(start) and key.removeprefix(start).isdigit()


def _with_interval(group: Group, figure: str) -> str:
    """A mean, and of a single run the 95 % interval that its record has."""
    value = spread(group.values(figure))
    interval = group.runs[0].intervals.get(figure) if len(group.runs) == 1 else None
    return value + (f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]" if value and interval else "")


def _table(
    name: str,
    title: str,
    runs: Sequence[Run],
    names: Names,
    columns: Sequence[str],
    cells: Callable[[Group], list[str]],
) -> Table | None:
    groups = grouped(runs)
    rows = []
    for group in groups:
        found = cells(group)
        if not any(found):
            continue
        peers = [other for other in groups if other.task == group.task and other.law == group.law]
        settings = said(group, differing(peers, _WHAT)) if len(peers) > 1 else ""
        row = law_row(group, names.bundle(group.law) if group.law else "")
        tokens = [plain(group.mean(count)) for count in ("tokens", "sampled_tokens")]
        rows.append((*row, group.task, settings, *tokens, *found, group.counted))
    if not rows:
        return None
    heads = ("mechanism", *LAW_COLUMNS, "data", "settings", "tokens", "sampled tokens", *columns, "runs (seeds)")
    sampled = any(group.values("sampled_tokens") for group in groups)
    return Table(name, f"{title}, per cent", heads, tuple(rows), _SAMPLED if sampled else "").trimmed()


def against_utility(finetuned: Sequence[Run], attacked: Sequence[Run], names: Names) -> Section | None:
    """Defence rate beside utility, for laws that have both on the same data; None where none has."""
    defended = [group for group in grouped(attacked) if group.values("mask.defence")]
    parts: list[Table | Curves] = []
    for cohort in cohorts(finetuned):
        pairs = [
            (group, other)
            for group in cohort.groups
            for other in defended
            if group.law is not None and other.law == group.law and _data(other) == _data(group)
        ]
        if pairs:
            parts += _joined(cohort, pairs, names)
    if not parts:
        return None
    text = (
        "Each point is a law: how often the masked language model fails to bring a token back, and how well the task "
        "is still learned. Up and to the right is better. Points of one mechanism are joined in the order of epsilon. "
        "Laws with different kinds of epsilon stand side by side here because neither axis is an epsilon.",
    )
    return Section("defence", "Defence rate against utility", text, parts)


def _data(group: Group) -> str:
    return group.task.split(" ")[0]


def _joined(cohort: Cohort, pairs: Sequence[tuple[Group, Group]], names: Names) -> list[Table | Curves]:
    series: dict[str, tuple[Law, list[tuple[float, float, float, float]]]] = {}
    rows = []
    attackers = differing([other for _, other in pairs], _WHAT)
    for group, other in pairs:
        law = group.law
        utility, defence = group.mean(cohort.measure), other.mean("mask.defence")
        if law is None or utility is None or defence is None:
            continue
        more = ", ".join(part for part in (cohort.told(group), said(other, attackers)) if part)
        label = names(law) + (f", {law.kind} epsilon" if law.learns else "") + (f", {more}" if more else "")
        point = (law.epsilon or 0.0, defence, utility, group.deviation(cohort.measure))
        series.setdefault(label, (law, []))[1].append(point)
        rows.append(
            (
                *law_row(group, names.bundle(law)),
                more,
                spread(group.values(cohort.measure), shares=cohort.accuracy),
                spread(other.values("mask.defence")),
                spread(other.values("mask.clean_top1")),
                group.counted,
                other.counted,
            )
        )
    columns = (
        "settings",
        cohort.axis,
        "defence rate",
        "clean top 1 of the attacker",
        "runs (seeds)",
        "attacks (seeds)",
    )
    unit = "per cent" if cohort.accuracy else "rates in per cent"
    made = Table(
        f"defence-{cohort.name}", f"{cohort.title}: {cohort.axis} and defence rate, {unit}",
        ("mechanism", *LAW_COLUMNS, *columns), tuple(rows),
    )  # fmt: skip
    lines: tuple[Line, ...] = ()
    for label, (law, points) in series.items():
        made_of = line(label, [(x, y, error) for _, x, y, error in sorted(points)], law, names)
        if made_of.key in {other.key for other in lines}:  # one law, two attackers
            made_of = replace(made_of, law=label)
        lines = (*lines, made_of)
    raw = [group.mean(cohort.measure) for group in cohort.groups if group.law is None]
    tops: dict[str, list[float]] = {}
    for _, other in pairs:
        tops.setdefault(said(other, attackers), []).extend(other.values("mask.clean_top1"))
    for number, (attacker, values) in enumerate(tops.items()):
        if values and len(raw) == 1 and raw[0] is not None:
            label = f"{UNSANITISED}, {attacker}" if attacker else UNSANITISED
            point = (1 - mean(values), raw[0], 0.0)
            lines = (*lines, Line(label, (point,), law="" if number else UNSANITISED))  # no two stars
    panel = Panel("defence rate of the tokens", cohort.axis, lines, shares=cohort.accuracy, x_shares=True)
    plot = Curves(f"defence-against-utility-{cohort.name}", f"Defence against utility: {cohort.title}", (panel,))
    return [made.trimmed(), *([plot] if plot.telling else [])]


def statistics(runs: Sequence[Run], names: Names) -> Section | None:
    """N, S and S* over epsilon; None where no record has them."""
    groups = [group for group in grouped(runs) if group.law and any(group.values(key) for key in _STATISTICS)]
    unique = list({group.law: group for group in groups}.values())  # a property of the law, whatever was attacked
    if not unique:
        return None
    heads = ("N, per cent", "S", "S*")
    rows = [
        (
            *law_row(group, names.bundle(group.law) if group.law else ""),
            spread(group.values(_STATISTICS[0])[:1]),
            *(plain(group.mean(key)) for key in _STATISTICS[1:]),
        )
        for group in unique
    ]
    made = Table("statistics-table", "Medians over words", ("mechanism", *LAW_COLUMNS, *heads), tuple(rows)).trimmed()
    text = (
        "N: how likely a word comes out as itself. S: the smallest number of words that hold 95 % of what it may "
        "become. S*: the number of words that an output may well come from. Medians over words: properties of the law, "
        "the same for every text.",
    )
    kinds = kinds_of(group.law for group in unique if group.law)
    plots: list[Curves] = []
    for kind in kinds:
        plot = _over_epsilon(unique, kind, names, slug(f"words {kind}", ["words", *(plot.name for plot in plots)]))
        plots += [plot] if plot else []
    return Section("words", "What the levels do to words", text, [made, *plots])


def _over_epsilon(groups: Iterable[Group], kind: str, names: Names, name: str) -> Curves | None:
    of_kind = [group for group in groups if group.law and group.law.kind == kind and group.law.learns]
    panels = []
    for key, title in zip(_STATISTICS, ("N: unchanged", "S: likely outputs", "S*: likely inputs"), strict=True):
        series: dict[str, list[tuple[float, float, float]]] = {}
        laws: dict[str, Law] = {}
        for group in of_kind:
            value = group.mean(key)
            if group.law is not None and group.law.epsilon is not None and value is not None:
                series.setdefault(names(group.law), []).append((group.law.epsilon, value, 0.0))
                laws[names(group.law)] = group.law
        lines = tuple(line(label, sorted(points), laws[label], names) for label, points in series.items())
        if lines:
            share = key == _STATISTICS[0]
            panels.append(Panel(AXES.get(kind, f"{kind} epsilon"), title, lines, shares=share, logarithmic=not share))
    made = Curves(name, f"What the levels do to words, {kind} epsilon", tuple(panels))
    return made if made.telling else None
