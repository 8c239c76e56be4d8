"""Tables of the section on pretraining in docs/results/nlp.md: starts beside one another, paired by seed."""

import math

from report.pages import points, short, signed, spread, table
from report.records import Frame
from scipy.stats import t as student

STARTS = {
    "mlm-raw": "raw",
    "mlm-raw-longer": "raw, 2,700 steps",
    "mlm-sanitized": "sanitized",
    "mlm-denoise": "shown too",
    "mlm-raw-denoise": "raw, then shown too",
}
"""Pretrained models by folder, and what the page calls them."""
ACCURACY = "result.test.accuracy"


def paired(first: Frame, second: Frame, figure: str) -> tuple[float, float, float]:
    """Returns the mean difference of two conditions over the seeds they share, and its errors.

    The standard error is ``sd(d_s) / sqrt(n)`` of the differences ``d_s`` by seed; the third value is half the 95 %
    interval, ``t_{.975, n-1}`` times as much (Student's t: 4.3 for three seeds).

    Args:
        first: Runs that are compared with.
        second: Runs that are compared.
        figure: Column.

    Raises:
        ValueError: They share fewer than two seeds.
    """
    differences = (second.set_index("seed")[figure] - first.set_index("seed")[figure]).dropna()
    if len(differences) < 2:
        raise ValueError("a paired difference needs two seeds")
    error = differences.std() / math.sqrt(len(differences))
    return differences.mean(), error, error * float(student.ppf(0.975, len(differences) - 1))


def masked_lms(pretrained: Frame) -> str:
    """Pretrained models: words masked in held-out texts and predicted right."""
    names = {
        ("minilm", True): "raw text",
        ("mlm-raw", True): "raw text, 2,700 steps",
        ("minilm", False): "sanitized text",
        ("mlm-raw", False): "raw text, then sanitized text, shown too",
    }
    rows = []
    for _, run in pretrained.iterrows():
        shown = run["settings.unchanged_share"] == 0.5
        name = names[run.model, run["settings.raw"]]
        name += ", shown too" if shown and run.model == "minilm" else ""
        figures = [run[f"result.{text}_top1"] for text in ("clean", "sanitized")]
        rows.append([name, f"{100 * run['settings.mask_probability']:.0f} %", *(f"{100 * f:.1f} %" for f in figures)])
    order = ["raw text", "raw text, 2,700 steps", "sanitized text", "sanitized text, shown too"]
    rows.sort(key=lambda row: order.index(row[0]) if row[0] in order else len(order))
    return table(["trained on", "words masked", "in raw text", "in sanitized text"], rows)


def starts(finetuned: Frame) -> str:
    """Accuracy from every start at the same release and rows, with two paired differences and their 95 % intervals."""
    runs = finetuned[(finetuned.bundle_name == "certified") & finetuned["settings.tuned"]]
    rows = []
    for epsilon, train in ((10, 63_987), (10, 9_502), (12, 9_502)):
        same = runs[(runs.epsilon == epsilon) & (runs.train == train)]
        by_start = {model: group for model, group in same.groupby("model") if len(group) > 1}
        rows.append([f"{epsilon}, {train:,}", "MiniLM as it comes", spread(by_start["minilm"][ACCURACY]), "", ""])
        for model, name in STARTS.items():
            if model not in by_start:
                continue
            row = ["", name, spread(by_start[model][ACCURACY])]
            for base in ("minilm", "mlm-raw-longer"):
                if base in by_start and base != model:
                    mean, _, interval = paired(by_start[base], by_start[model], ACCURACY)
                    row.append(signed(mean, interval))
                else:
                    row.append("")
            rows.append(row)
    columns = ["certified epsilon, rows", "start", "accuracy", "less MiniLM", "less raw, 2,700 steps"]
    return table(columns, rows)


def defense_of_starts(attacks: Frame) -> str:
    """Attackers with different models on the same sanitized texts."""
    keys = ["mechanism", "bundle_name", "epsilon"]
    runs = attacks[attacks["result.mask.defense"].notna()]
    runs = runs[runs.groupby("released").model.transform("nunique") > 1].sort_values([*keys, "model"])
    rows = []
    for _, group in runs.groupby("released", sort=False):
        run = group.iloc[0]
        release = f"{'SanText+' if run.mechanism == 'santext+' else 'SanText'}, certified {short(run.epsilon)}"
        for name in ("mlm-raw", "mlm-sanitized", "mlm-raw-denoise"):
            found = group[group.model == name]
            if len(found):
                figures = ("mask.clean_top1", "mask.defense", "contextual.top1")
                rows.append([release, STARTS[name], *(points(found[f"result.{k}"].iloc[0]) for k in figures)])
    return table(["text", "the attacker's model", "clean, top 1", "defense rate", "context, top 1"], rows)
