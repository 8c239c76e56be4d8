"""With and without a start from pretraining: utility, and the defence rate, at the same law."""

import math
from collections.abc import Callable, Sequence
from statistics import mean, stdev

from textveil_training.report.charts import Section, Table
from textveil_training.report.groups import Group, Names, grouped, shown
from textveil_training.report.records import Run, canonical
from textveil_training.report.tables import LAW_COLUMNS, law_cells, law_row, points, spread

MODELS = ("encoder", "masked_lm", "model")
"""Settings that name what a run starts from."""
PLAIN = "minilm"
"""The encoder as it comes: what pretraining starts from too."""


def section(
    pretrained: Sequence[Run], finetuned: Sequence[Run], attacked: Sequence[Run], names: Names
) -> Section | None:
    """Pretrainings, and differences that a start makes; None where there is neither."""
    parts = [
        table
        for table in (
            _models(pretrained, names),
            _table("pretraining-utility", "Utility", finetuned, _utility, names),
            _table("pretraining-defence", "Defence rate", attacked, _defence, names),
        )
        if table is not None
    ]
    if not parts:
        return None
    text = (
        "Runs that start from a pretrained model beside runs on the same data, at the same law and with the same other "
        "settings that start from the encoder as it comes. Differences have standard errors: over seeds, paired where "
        "both have the same seeds; with one seed, over test examples (too wide for two models on the same texts).",
    )
    return Section("pretraining", "With and without pretraining", text, parts)


def _models(runs: Sequence[Run], names: Names) -> Table | None:
    rows = [
        (
            "raw text" if run.law is None else names(run.law),
            *law_cells(run.law, names.bundle(run.law) if run.law else ""),
            shown(run.settings.get("start") or ""),
            *(f"{run.figures[count]:,.0f}" if count in run.figures else "" for count in ("texts", "steps")),
            points(run.figures.get("clean_top1")),
            points(run.figures.get("sanitized_top1")),
            "" if run.wall_s is None else f"{run.wall_s / 3600:.1f}",
            "" if run.seed is None else str(run.seed),
        )
        for run in runs
    ]
    if not rows:
        return None
    columns = ("start", "texts", "steps", "top 1, raw text", "top 1, sanitised text", "hours", "seed")
    caption = "Masked language models, on texts held out, per cent"
    return Table("pretraining-models", caption, ("trained on", *LAW_COLUMNS, *columns), tuple(rows)).trimmed()


def _utility(group: Group) -> tuple[str, str]:
    return ("accuracy", "standard_error") if group.values("accuracy") else ("pearson", "pearson_standard_error")


def _defence(_: Group) -> tuple[str, str]:
    return "mask.defence", "mask.standard_error"


def _table(
    name: str, title: str, runs: Sequence[Run], figures: Callable[[Group], tuple[str, str]], names: Names
) -> Table | None:
    families: dict[tuple[object, ...], list[Group]] = {}
    for group in grouped(runs):
        if group.values(figures(group)[0]):
            families.setdefault(_family(group), []).append(group)
    rows: list[tuple[str, ...]] = []
    for groups in families.values():
        plain = [group for group in groups if not _pretrained(group)]
        if len(groups) < 2 or len(plain) > 1:
            continue
        base = plain[0] if plain else None
        for group in groups:
            figure, error = figures(group)
            shares = figure != "pearson"
            row = [*law_row(group, names.bundle(group.law) if group.law else ""), group.task, *_trained(group)]
            row.append(start_name(group))
            row.append(spread(group.values(figure), shares=shares))
            row += ["", ""] if base in (None, group) else _difference(base, group, figure, error)
            rows.append((*row, group.counted))
    if not rows:
        return None
    columns = ("data", "train examples", "encoder", "start", title.lower(), "difference", "error over", "runs (seeds)")
    caption = f"{title} with and without a pretrained start; accuracies and rates in per cent"
    return Table(name, caption, ("mechanism", *LAW_COLUMNS, *columns), tuple(rows)).trimmed()


def _family(group: Group) -> tuple[object, ...]:
    """Equal for groups that differ in nothing but the start."""
    run = group.runs[0]
    settings = {name: value for name, value in run.deciding.items() if name not in MODELS}
    sizes = {name: part.get("examples") for name, part in run.splits.items()}
    return group.task, group.law, group.law and group.law.case, canonical(settings), canonical(sizes), run.texts


def _trained(group: Group) -> tuple[str, str]:
    """On how many examples a group learned, and what learned; empty for attacks."""
    run = group.runs[0]
    examples, tuned = run.splits.get("train", {}).get("examples"), run.settings.get("tuned")
    return "" if examples is None else f"{examples:,}", "" if tuned is None else "tuned" if tuned else "frozen features"


def _pretrained(group: Group) -> bool:
    return start_name(group) != PLAIN


def start_name(group: Group) -> str:
    """What a group starts from, in short."""
    named = [group.runs[0].settings.get(name) for name in MODELS]
    return next((shown(name) for name in named if name), PLAIN)


def _difference(base: Group, group: Group, figure: str, error: str) -> list[str]:
    found = difference(base, group, figure, error)
    if found is None:
        return ["", ""]
    value, deviation, source = found
    scale, digits = (1, 3) if figure == "pearson" else (100, 1)
    sign = "" if deviation is None else f" ± {scale * deviation:.{digits}f}"
    return [f"{scale * value:+.{digits}f}{sign}", source]


def difference(first: Group, second: Group, figure: str, error: str) -> tuple[float, float | None, str] | None:
    """Second minus first, with its standard error and where that comes from.

    Over seeds, or with frozen features over sanitised copies, where both groups have at least two: of the paired
    differences where the seeds (the copies) are the same ones, ``sd(d_s) / sqrt(n)``, else
    ``sqrt(sd_1^2 / n_1 + sd_2^2 / n_2)``. With fewer over the test examples, ``sqrt(e_1^2 + e_2^2)``, which is too
    wide for two models on the same texts.

    Args:
        first: Runs without.
        second: Runs with.
        figure: What is compared.
        error: Figure with the standard error over examples.
    """
    one, two = first.by_repeat(figure), second.by_repeat(figure)
    if not one or not two:
        return None
    value = mean(two.values()) - mean(one.values())
    over = "copies" if first.runs[0].frozen else "seeds"
    if len(one) > 1 and set(one) == set(two):
        deviation = stdev(two[repeat] - one[repeat] for repeat in one)
        return value, deviation / math.sqrt(len(one)), f"{over}, paired"
    if len(one) > 1 and len(two) > 1:
        variances = [stdev(values) ** 2 / len(values) for values in (list(one.values()), list(two.values()))]
        return value, math.sqrt(sum(variances)), over
    errors = first.mean(error), second.mean(error)
    if errors[0] is None or errors[1] is None:
        return value, None, ""
    return value, math.hypot(errors[0], errors[1]), "test examples"
