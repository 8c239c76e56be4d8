"""Tables of docs/results/nlp_tables.md: every figure of the run records ``benchmarks/results/nlp_*.jsonl``.

Runs that differ in their seed only are averaged (with frozen features, those that differ in their sanitized copy only).
"""

from pathlib import Path

import pandas as pd
from report.nlp import METHODS
from report.pages import bound, points, short, spread, table
from report.records import Column, Frame, named, read_runs

BUNDLES = {"English words, version 2": "english-v2"}
RELEASE = ["mechanism", "bundle", "epsilon", "pure LDP"]
"""Columns that say how the text was sanitized."""
MASK = {"changed": "changed", "defense rate": "mask.defense", "its error": "mask.standard_error",
        "clean, top 1": "mask.clean_top1", "mask, top 1": "mask.top1", "nearest, top 1": "nearest.top1",
        "nearest, top 10": "nearest.top10"}  # fmt: skip
BAYES = {"Bayes, exact": "bayes.{}closed_form", "simulated": "bayes.{}simulated",
         "on the text": "bayes.{}on_text.top1", "context, top 1": "contextual.{}top1",
         "top 10": "contextual.{}top10", "context alone": "contextual.{}prior_top1",
         "no context": "contextual.{}context_free_top1"}  # fmt: skip
REPEATED = {f"{n} release{'s' * (n > 1)}": f"repeated.{n}.{{}}rate" for n in (1, 2, 5, 10, 20)}
RARE = {"changed": "rare changed", "defense rate": "mask.sensitive.defense", "nearest, top 1": "nearest.sensitive.top1",
        "no context": "contextual.sensitive.context_free_top1", "context": "contextual.sensitive.top1",
        "these alone: no context": "contextual.sensitive.targeted_context_free_top1",
        "context ": "contextual.sensitive.targeted_top1"}  # fmt: skip
INTERVALS = {"bayes.simulated": "bayes.interval"} | {
    f"repeated.{n}.{prior}rate": f"repeated.{n}.{prior}interval"
    for n in (1, 2, 5, 10, 20)
    for prior in ("", "text_prior.")
}
"""95 % intervals by the name of their figure."""


def tables(results: Path) -> dict[str, str]:
    """Returns the generated parts of the page by name."""
    runs = read_runs(*named(results, "nlp_*.jsonl"))
    finetuned, attacks = (runs[runs.kind == kind] for kind in ("finetune", "attack-text"))
    attacks = attacks.assign(**{
        "result.changed": 1 - attacks["result.unchanged"],
        "result.rare changed": 1 - attacks["result.sensitive.unchanged"],
    })  # fmt: skip
    return {
        "runs": counted(runs),
        "data": data(runs),
        "bundles": bundles(runs),
        "software": software(runs),
        "utility": utility(finetuned),
        "attacks-mask": attacked(attacks, MASK),
        "attacks-bayes": attacked(attacks, _with_prior(BAYES, "")),
        "attacks-repeated": attacked(attacks, _with_prior(REPEATED, "")),
        "attacks-bayes-text": attacked(attacks, _with_prior(BAYES, "text_prior.")),
        "attacks-repeated-text": attacked(attacks, _with_prior(REPEATED, "text_prior.")),
        "attacks-rare": attacked(attacks, RARE),
        "attacks-rare-repeated": attacked(attacks, _with_prior(REPEATED, "sensitive.")),
    }


def _with_prior(columns: dict[str, str], prior: str) -> dict[str, str]:
    return {title: path.format(prior) for title, path in columns.items()}


def counted(runs: Frame) -> str:
    """How many runs of what."""
    mode = runs["settings.tuned"].map({True: "tuned", False: "frozen features"}).fillna("")
    rows = []
    keys = ["kind", "data_name", "model", "mode"]
    for (kind, name, model, tuned), group in runs.assign(mode=mode).fillna({"data_name": ""}).groupby(keys, sort=False):
        seeds = ", ".join(f"{seed:.0f}" for seed in sorted(group.seed.dropna().unique()))
        numbers = [f"{group.released.nunique()}", f"{len(group)}", seeds, f"{group.wall_s.sum() / 3600:.1f}"]
        rows.append([kind, name, model, tuned, *numbers])
    return (
        f"{len(runs)} finished runs of {runs.released.nunique()} releases.\n\n"
        + table(["kind", "data", "model", "encoder", "releases", "runs", "seeds", "hours"], rows)
        + "\nUnsanitized text counts as a release. Hours are wall clock, all runs together.\n"
    )


def data(runs: Frame) -> str:
    """Numbers of examples and hashes of raw text, and how many sanitized copies there are."""
    rows = []
    for (name, kind), group in runs[runs.data_name.notna()].groupby(["data_name", "kind"], sort=False):
        for split in ("train", "dev", "test"):
            size, digest = (f"data.splits.{split}.{key}" for key in ("examples", "sha256"))
            for examples, part in group[group[size].notna()].groupby(size, sort=False):
                raw = part[part.mechanism.isna()] if kind == "finetune" else part
                copies = part[part.mechanism.notna()][digest].nunique() if kind == "finetune" else 0
                hashes = ", ".join(sorted(value[:12] for value in raw[digest].unique()))
                rows.append([name, kind, split, f"{examples:,.0f}", hashes, f"{copies}" if copies else ""])
    columns = ["data", "kind", "split", "examples", "SHA-256, beginning", "sanitized copies"]
    return table(columns, rows) + "\nHashes are of raw text, with its labels where those were read too.\n"


def bundles(runs: Frame) -> str:
    """Bundles with their identities."""
    rows = []
    for identity, group in runs[runs.mechanism.notna()].groupby("release.bundle"):
        share = group.w.dropna()
        name = _bundle(group.iloc[0])
        rows.append(
            [name, short(share.iloc[0]) if len(share) else "", ", ".join(sorted(group.mechanism.unique())), identity]
        )
    return table(["bundle", "w", "mechanisms", "identity"], sorted(rows))


def software(runs: Frame) -> str:
    """Versions of packages."""
    columns = [column for column in runs if column.startswith("software.")]
    rows = [[c.removeprefix("software."), ", ".join(sorted(runs[c].dropna().unique()))] for c in columns]
    return table(["package", "versions"], rows)


def utility(finetuned: Frame) -> str:
    """Accuracy or correlation by release: a table for each data set, size, encoder and way of training."""
    parts = []
    keys = ["data_name", "train", "model", "settings.tuned"]
    for (name, train, model, tuned), group in finetuned.groupby(keys):
        scores = "accuracy" if group["result.test.accuracy"].notna().any() else "pearson"
        figure, error = f"result.test.{scores}", _error(scores)
        clean = group[group.mechanism.isna()][figure]
        rows = []
        for runs in _conditions(group):
            first, shares = runs.iloc[0], scores == "accuracy"
            below = clean.mean() - runs[figure].mean() if len(clean) and isinstance(first.mechanism, str) else None
            told = "" if below is None else f"{100 * below:.1f}" if shares else f"{below:.3f}"
            errors = spread(pd.Series([runs[error].mean()]), shares=shares)
            more = [] if shares else [f"{first['result.test.spearman']:.3f}", short(first["result.test.mse"])]
            passes = "" if not tuned else f"{first['settings.num_epochs']:.0f} x {first['settings.learning_rate']:g}"
            rows.append(
                [*_release(first), passes, spread(runs[figure], shares=shares), told, errors, *more, _count(runs)]
            )
        measure = ["accuracy, %"] if scores == "accuracy" else ["Pearson"]
        extra = [] if scores == "accuracy" else ["Spearman", "squared error"]
        columns = [*RELEASE, "passes x rate", *measure, "below raw", "error over texts", *extra, "runs (seeds)"]
        majority = group["result.test.majority"].dropna().unique() if scores == "accuracy" else []
        said = ", ".join(sorted({points(share) for share in majority}))
        title = f"**{name}, {train:,.0f} training rows, {model}, {'tuned' if tuned else 'frozen features'}**"
        parts.append(f"{title}{f' (majority class {said} %)' if said else ''}\n\n{table(columns, rows)}")
    return "\n".join(parts)


def _error(scores: str) -> str:
    return "result.test.standard_error" if scores == "accuracy" else "result.test.pearson_standard_error"


def _conditions(runs: Frame) -> list[Frame]:
    """Runs that may be averaged, raw text first, then by mechanism, tail, kind of epsilon, bundle and epsilon."""
    place = {"random": 0, "krr": 1, "fbdd": 2, "santext": 3, "santext+": 4}
    groups = [group for _, group in runs.groupby("condition", sort=False)]

    def order(group: Frame) -> tuple[object, ...]:
        first = group.iloc[0]
        of_release = (
            place.get(first.mechanism, -1),
            str(first["tail"]),
            str(first.epsilon_kind),
            str(first.bundle_name),
        )
        numbers = [-1 if pd.isna(first[name]) else first[name] for name in ("w", "p", "epsilon", "releases")]
        return (*of_release, *numbers, first.model)

    return sorted(groups, key=order)


def _release(run: Column) -> list[str]:
    if not isinstance(run.mechanism, str):
        return ["unsanitized", "", "", ""]
    parts = [METHODS[run.mechanism], *([run["tail"]] if isinstance(run["tail"], str) else [])]
    if run.mechanism == "santext+":
        parts.append(f"w {run.w:g}, p {run.p:g}")
    if run.releases > 1:
        parts.append(f"{run.releases:.0f} outputs of a text")
    paper = f"paper's {short(run.nominal_epsilon)}, " if pd.notna(run.nominal_epsilon) else ""
    epsilon = f"{paper}{run.epsilon_kind} {short(run.epsilon)}" if pd.notna(run.epsilon) and run.epsilon > 0 else ""
    return [", ".join(parts), _bundle(run), epsilon, bound(run.pure_ldp, 2)]


def _bundle(run: Column) -> str:
    name: str = run.bundle_name
    return BUNDLES.get(name, name)


def _count(runs: Frame) -> str:
    seeds = ", ".join(f"{seed:.0f}" for seed in sorted(runs.seed.dropna()))
    return f"{len(runs)}" + (f" ({seeds})" if seeds else "")


def attacked(attacks: Frame, columns: dict[str, str]) -> str:
    """Success of attacks by release, in per cent; behind some figures the 95 % interval that the record has."""
    rows = []
    for runs in _conditions(attacks):
        first = runs.iloc[0]
        cells = [_with_interval(first, path) for path in columns.values()]
        if any(cells):
            rows.append([*_release(first)[:3], first.model, *cells])
    return table([*RELEASE[:3], "attacker's model", *(title.strip() for title in columns)], rows)


def _with_interval(run: Column, path: str) -> str:
    value, interval = run.get(f"result.{path}"), run.get(f"result.{INTERVALS.get(path, '')}")
    if value is None or pd.isna(value):
        return ""
    return points(value) + (f" [{points(interval[0])}, {points(interval[1])}]" if isinstance(interval, list) else "")
