"""Tables and pictures of docs/results/nlp.md, from the run records ``benchmarks/results/nlp_*.jsonl``."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from report import nlp_chart
from report.pages import bound, points, short, spread, table
from report.pretraining import defense_of_starts, masked_lms, starts
from report.records import Column, Frame, named, read_runs

LEVELS = ("noise", "strict", "firm", "balanced", "light", "veil")
DEFAULT_BUNDLE = "English words, version 2"
METHODS = {"santext": "SanText", "santext+": "SanText+", "fbdd": "FBDD", "random": "random words",
           "krr": "k-ary randomized response"}  # fmt: skip
PAPER = {"3.775": 3, "15.1": 12, "20.13": 16, "25.17": 20}
"""Epsilons of Yue et al. (2021) by what they are per unit of this metric."""
ACCURACY = "result.test.accuracy"


def tables(results: Path) -> dict[str, str]:
    """Returns the generated parts of the page by name."""
    runs = read_runs(*named(results, "nlp_*.jsonl"))
    tuned, subset, frozen, attacks, pretrained = (
        runs[runs.file == f"nlp_{name}"] for name in ("tuned", "tuned10k", "frozen", "attacks", "pretrain")
    )
    erased = read_runs(results / "oracle_erased.jsonl")
    finetuned = runs[runs.kind == "finetune"]
    return {
        "equal-proven-epsilon": equal_proven_epsilon(tuned),
        "equal-pure-ldp": equal_pure_ldp(subset),
        "attempts": attempts(pd.concat([runs[runs.file == "nlp_attempts"], tuned]), erased),
        "mechanisms": mechanisms(frozen),
        "w-and-p": w_and_p(frozen),
        "levels": levels(frozen, attacks),
        "wordpiece-levels": wordpiece_levels(frozen, attacks),
        "masked-lms": masked_lms(pretrained),
        "starts": starts(finetuned),
        "defense-of-starts": defense_of_starts(attacks),
        "attacks": all_attacks(attacks),
        "attacks-on-rare-words": rare_words(attacks),
    }


def pictures(results: Path) -> dict[str, Figure]:
    """Returns the pictures of the page by file name."""
    runs = read_runs(results / "nlp_frozen.jsonl", results / "nlp_attacks.jsonl")
    frozen, attacks = (runs[runs.kind == kind] for kind in ("finetune", "attack-text"))
    by_level, raw = _by_level(frozen, attacks), _raw(frozen)
    return {
        "nlp/accuracy_by_epsilon.png": nlp_chart.accuracy_by_epsilon(by_level, raw),
        "nlp/accuracy_and_attacks.png": nlp_chart.accuracy_and_attacks(by_level, raw),
        "nlp/words_by_epsilon.png": nlp_chart.words_by_epsilon(by_level),
    }


def only(runs: Frame, **where: object) -> Frame:
    """Returns the runs with these values, which must be of one condition.

    Raises:
        LookupError: There is none, or they may not be averaged.
    """
    for column, value in where.items():
        runs = runs[runs[column].isna() if value is None else runs[column] == value]
    if runs.condition.nunique() != 1:
        raise LookupError(f"{runs.condition.nunique()} conditions where one is wanted: {where}")
    return runs


def equal_proven_epsilon(tuned: Frame) -> str:
    """SanText by its own analysis and calibrated, tuned on all rows."""
    plain = tuned[tuned.model == "minilm"]
    labels = {
        "textbook": "SanText by its own analysis (alpha = epsilon / 2)",
        "certified": "exponent calibrated until the *certified* epsilon is that, base measure flattened",
    }
    rows = [
        [said, *(spread(only(plain, bundle_name=name, epsilon=epsilon)[ACCURACY]) for epsilon in (10, 12, 14))]
        for name, said in labels.items()
    ]
    rows.append(["unsanitized", spread(only(plain, mechanism=None)[ACCURACY]), "", ""])
    return table(["proven epsilon, per unit of distance", "10", "12", "14"], rows)


def equal_pure_ldp(subset: Frame) -> str:
    """Mechanisms at two pure LDP levels, tuned on 9,502 rows."""
    bundles = {
        "pure-full": "SanText, full table",
        "pure-capped-64": "capped table, 64 neighbors",
        "pure-capped-1024": "capped table, 1,024 neighbors",
    }
    rows = [
        [said, *(spread(only(subset, bundle_name=name, level=f"p{pure}")[ACCURACY]) for pure in (10, 12))]
        for name, said in bundles.items()
    ]
    response = [spread(only(subset, mechanism="krr", epsilon=pure)[ACCURACY]) for pure in (10, 12)]
    raw = spread(only(subset, mechanism=None)[ACCURACY])
    return table(["pure LDP level", "10", "12"], [*rows, [METHODS["krr"], *response], ["unsanitized", raw, ""]])


def attempts(runs: Frame, erased: Frame) -> str:
    """What was tried at the default level, best known first."""
    three_passes = {"settings.num_epochs": 3, "settings.learning_rate": 1e-4}
    as_the_paper = {"settings.num_epochs": 3, "settings.learning_rate": 2e-5}
    one_pass = {"settings.num_epochs": 1, "model": "minilm"}
    tried = (
        ("one pass", "sst2", one_pass),
        ("three passes at 1e-4", "sst2", three_passes),
        ("one pass", "sst2-10k", one_pass),
        ("one pass, from the masked LM of sanitized text", "sst2-10k", {"model": "mlm-sanitized"}),
        ("one pass, from the masked LM of raw text", "sst2-10k", {"model": "mlm-raw"}),
        ("three passes at 2e-5, as in the paper", "sst2-10k", as_the_paper),
        ("three passes at 1e-4", "sst2-10k", three_passes),
        ("one pass over three outputs of every sentence (charged 30 per token)", "sst2-10k-fresh", one_pass),
        ("one pass over three outputs of every sentence (charged 30 per token)", "sst2-fresh", one_pass),
        ("one pass, from the masked LM of raw text", "sst2", {"model": "mlm-raw"}),
        ("one pass, from the masked LM that is asked for shown words too", "sst2", {"model": "mlm-denoise"}),
        ("one pass, from the masked LM of raw text, then shown words too", "sst2", {"model": "mlm-raw-denoise"}),
    )
    default = runs[(runs.mechanism == "santext+") & (runs.level == "balanced")]
    rows = []
    for said, corpus, where in tried:
        found = only(default, corpus=corpus, **where)
        rows.append([said, f"{found.train.iloc[0]:,.0f}", spread(found[ACCURACY]), f"{len(found)}"])
    blanks = erased.iloc[0]
    rows.append(
        ["*yardstick*: every changed word is a blank, one pass", f"{blanks.train:,}", points(blanks[ACCURACY]), "1"]
    )
    return table(["attempt", "training rows", "accuracy", "seeds"], rows)


def mechanisms(frozen: Frame) -> str:
    """Table 1 of Yue et al. (2021): three tasks with frozen features, all mechanisms."""
    first = frozen[(frozen.bundle_name != DEFAULT_BUNDLE) & ~frozen.name.str.contains("share-|pieces")]
    others = frozen[frozen.mechanism.isna() | frozen.mechanism.isin(["random", "fbdd"])]
    runs = pd.concat([first[first.mechanism.notna()], others])
    rows = []
    for key, group in runs.groupby("released", sort=False):
        release = group.iloc[0]
        figures = [
            points(only(group, data_name="sst2")[ACCURACY].iloc[0]),
            f"{only(group, data_name='sick score')['result.test.pearson'].iloc[0]:.3f}",
            points(only(group, data_name="qnli")[ACCURACY].iloc[0]),
        ]
        rows.append((_order(release), [_method(release), _epsilon(release), _pure_ldp(release), *figures], key))
    return table(["mechanism", "epsilon", "pure LDP", "SST-2", "SICK", "QNLI"], [row for _, row, _ in sorted(rows)])


def _order(release: Column) -> tuple[object, ...]:
    """Unsanitized, random words, FBDD; then by kind of epsilon, SanText before SanText+ at each."""
    if not isinstance(release.mechanism, str):
        return (0,)
    if release.mechanism == "random":
        return (1,)
    of_paper = short(release.epsilon) in PAPER
    place = 2 if release.mechanism == "fbdd" else 3 if release.epsilon_kind == "certified" else 5 if of_paper else 4
    last = release.epsilon > 100
    return place, last, place == 2 and of_paper, release.epsilon, release.mechanism


def _method(release: Column) -> str:
    if not isinstance(release.mechanism, str):
        return "unsanitized"
    more = f" (p {release.p:g}, w {release.w:g})".replace("0.", ".") if release.mechanism == "santext+" else ""
    return METHODS[release.mechanism] + more


def _epsilon(release: Column) -> str:
    if pd.isna(release.epsilon) or release.epsilon == 0:
        return ""
    said = f"{release.epsilon_kind} {short(release.epsilon)}"
    return f"paper's {PAPER[short(release.epsilon)]}, {said}" if short(release.epsilon) in PAPER else said


def _pure_ldp(release: Column) -> str:
    if release.mechanism == "random":
        return "0"
    return bound(release.pure_ldp)


def w_and_p(frozen: Frame) -> str:
    """Figure 3 of Yue et al. (2021): accuracy of SanText+ by w and p, certified 10."""
    runs = frozen[frozen.name.str.contains("share-")]
    grid = runs.pivot(index="w", columns="p", values=ACCURACY)
    rows = [[f"w {w:g}", *map(points, line)] for w, line in zip(grid.index, grid.to_numpy(), strict=True)]
    return table(["", *(f"p {p:g}" for p in grid.columns)], rows)


def _by_level(frozen: Frame, attacks: Frame) -> Frame:
    """Accuracy with frozen features, statistics of words and attacks, for each level of the default bundle."""
    keys = ["mechanism", "tail", "level"]
    learned = frozen[(frozen.bundle_name == DEFAULT_BUNDLE) & frozen.level.notna()]
    attacked = attacks[(attacks.bundle_name == DEFAULT_BUNDLE) & (attacks.model == "mlm-raw")]
    figures = [column for column in attacked if column.startswith("result.")]
    of_test = ["data.splits.test.examples", "result.test.majority", ACCURACY]
    merged = learned[[*keys, "epsilon", "pure_ldp", *of_test]].merge(
        attacked.groupby(keys)[figures].first().drop(columns=of_test, errors="ignore"), on=keys, validate="1:1"
    )
    return merged.sort_values(["mechanism", "tail", "epsilon"], ascending=[False, False, True])


def _raw(frozen: Frame) -> float:
    return only(frozen, data_name="sst2", mechanism=None)[ACCURACY].iloc[0]


def _statistics(row: Column) -> list[str]:
    medians = [row[f"result.statistics.{name}_median"] for name in ("unchanged", "outputs", "inputs")]
    return [points(medians[0]), *(f"{median:,.0f}" for median in medians[1:])]


def levels(frozen: Frame, attacks: Frame) -> str:
    """Figure 5: accuracy and statistics of words at every level of the default bundle."""
    rows = [
        [
            f"{METHODS[row.mechanism]}, {row['tail']}", row.level, short(row.epsilon), bound(row.pure_ldp, 2),
            points(row[ACCURACY]), *_statistics(row),
        ]
        for _, row in _by_level(frozen, attacks).iterrows()
    ]  # fmt: skip
    columns = ["mechanism", "level", "certified epsilon", "pure LDP", "accuracy", "N, per cent", "S", "S\\*"]
    return table(columns, rows)


def wordpiece_levels(frozen: Frame, attacks: Frame) -> str:
    """The same for the WordPiece table."""
    rows = []
    for level in LEVELS:
        learned = only(frozen, bundle_name="pieces", level=level).iloc[0]
        attacked = only(attacks, bundle_name="pieces", level=level).iloc[0]
        numbers = [short(learned.epsilon), bound(learned.pure_ldp), points(learned[ACCURACY])]
        rows.append([level, *numbers, *_statistics(attacked)])
    return table(["level", "textbook epsilon", "pure LDP", "accuracy", "N, per cent", "S", "S\\*"], rows)


def all_attacks(attacks: Frame) -> str:
    """Every attack at every level of the default bundle, and on SanText of the first table."""
    runs = attacks[(attacks.model == "mlm-raw") & attacks["result.mask.defense"].notna()]
    figures = (
        "mask.defense", "nearest.top10", "bayes.closed_form", "contextual.context_free_top1", "contextual.top1",
        "contextual.top10", "contextual.text_prior.top1", *(f"repeated.{n}.rate" for n in (2, 5, 20)),
    )  # fmt: skip
    rows = []
    for run in _in_order(runs, ["santext+", "santext"]):
        of_default = run.bundle_name == DEFAULT_BUNDLE
        name = f"{METHODS[run.mechanism]}, {run['tail']}" if of_default else "SanText of the first table"
        level = run.level if of_default else run.epsilon_kind
        changed = points(1 - run["result.unchanged"])
        rows.append([name, f"{level} ({short(run.epsilon)})", changed, *(points(run[f"result.{k}"]) for k in figures)])
    columns = ["mechanism", "level (epsilon)", "changed", "defense rate", "nearest, top 10", "Bayes", "no context",
               "context, top 1", "top 10", "own freq.", "2 releases", "5", "20"]  # fmt: skip
    return table(columns, rows)


def rare_words(attacks: Frame) -> str:
    """Attacks on the tokens of SanText+ that the coin never keeps."""
    column = "result.mask.sensitive.defense"
    runs = attacks[(attacks.model == "mlm-raw") & attacks[column].notna()]
    figures = (
        "mask.sensitive.defense", "nearest.sensitive.top1", "contextual.sensitive.context_free_top1",
        "contextual.sensitive.top1", "contextual.sensitive.targeted_context_free_top1",
        "contextual.sensitive.targeted_top1", *(f"repeated.{n}.sensitive.rate" for n in (2, 5, 20)),
    )  # fmt: skip
    rows = []
    for run in _in_order(runs, ["santext+"]):
        changed = points(1 - run["result.sensitive.unchanged"])
        rows.append([run["tail"], run.level, changed, *(points(run[f"result.{k}"]) for k in figures)])
    columns = ["tail", "level", "changed", "defense rate", "nearest, top 1", "no context", "context",
               "these alone: no context", "context", "2 releases", "5", "20"]  # fmt: skip
    return table(columns, rows)


def _in_order(runs: Frame, mechanisms: Sequence[str]) -> list[Column]:
    """Runs of the default bundle by mechanism and tail, exact first, then the others; each by epsilon."""
    return [
        run
        for _, run in runs.assign(
            other=runs.bundle_name != DEFAULT_BUNDLE,
            textbook=runs.epsilon_kind == "textbook",
            place=runs.mechanism.map(list(mechanisms).index),
        )
        .sort_values(["other", "textbook", "place", "tail", "epsilon"], ascending=[True, True, True, False, True])
        .iterrows()
    ]
