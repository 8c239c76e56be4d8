"""Write the tables of docs/results/text.md from the records of ``benchmarks/frontier/run.py``."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from report import frontier_rows as rows
from report import readability
from report.frontier_chart import LINES, accuracy_by_attack
from report.pages import points, spread, table
from report.records import Column, read_objects

NAME, BEFORE, TRIGRAMS = "frontier.jsonl", "frontier_v3.jsonl", "frontier_trigrams.jsonl"
TASKS = {"ag": "AG News", "trec": "TREC", "sst2-whole": "SST-2"}
ALL = TASKS | {"sick": "SICK, r"}
ATTACKS = {"bayes": "Bayes", "trigrams": "trigrams", "network": "network", "sum": "the sum"}
SPANS = ("persons", "places", "addresses", "organizations")
_DASH = "-"


@dataclass(frozen=True)
class Frontier:
    """Records of one run of the benchmark."""

    records: list[dict[str, Any]]

    def of(self, job: str, row: str) -> list[dict[str, Any]]:
        """Return the records of a job for a row of the tables."""
        return [record for record in self.records if record["job"] == job and record["row"] == row]

    def scores(self, row: str, task: str) -> Column:
        """Return the accuracy of each draw, or for SICK Pearson's r."""
        return pd.Series([r["score"] for r in self.of("task", row) if r["task"] == task], dtype=float)

    def list_tuned_scores(self, row: str, *, on_all: bool = False) -> Column:
        """Return for each seed the accuracy of an encoder that was fine-tuned on a part of train or on all of train."""
        return pd.Series([r["score"] for r in self.of("tuned_on_all" if on_all else "tuned", row)], dtype=float)

    def list_unchanged_shares(self, row: str, what: str) -> Column:
        """Return for each draw the share of unchanged words in SST-2."""
        found = [r["unchanged"][what] for r in self.of("task", row) if r["task"] == "sst2-whole" and r["unchanged"]]
        return pd.Series(found, dtype=float)

    def select_attack(self, row: str, attack: str, what: str = "content") -> Column:
        """Return for each draw the share of SST-2's words that an attack recovers."""
        if row == "raw":
            return pd.Series([1.0])
        found = self.of("attack", rows.SAME_ATTACK.get(row, row))
        values = [record[attack] for record in found if record.get(attack) is not None]
        return pd.Series([value if attack == "closed_form" else value[what] for value in values], dtype=float)

    def strongest(self, row: str, what: str = "content") -> Column:
        """Return for each draw the share of words that the strongest attack recovers."""
        found = [self.select_attack(row, attack, what) for attack in ("unchanged", *ATTACKS)]
        return max(found, key=lambda shares: shares.mean() if len(shares) else -1)

    def spans(self, row: str, kind: str) -> dict[str, float] | None:
        """Return the shares of spans of one type, as means over draws."""
        found = [r["spans"][kind] for r in self.of("personal", row) if kind in r["spans"]]
        if not found:
            return None
        total = {name: sum(r[name] for r in found) for name in ("spans", "whole", "any", "words", "same")}
        shares = {name: total[name] / total["spans"] for name in ("whole", "any")}
        return shares | {"known": total["same"] / max(1, total["words"])}


def read_records(results: Path, name: str = NAME) -> Frontier:
    """Read the records. Records of a run with ``--quick`` are rejected, since they are not of the test texts.

    Raises:
        ValueError: A record is from a quick run.
    """
    records = [record for _, record in read_objects(results / name)]
    if any(record["quick"] for record in records):
        raise ValueError("records of a quick run are for development, not for the page")
    return Frontier(records)


def with_attacks(results: Path) -> Frontier:
    """Read the records; those of attacks on k-RR (k-ary randomized response) come from the bundle english-v3.

    The outputs of k-RR depend only on the vocabulary and the lists, which are the same in both bundles.
    """
    found = read_records(results).records
    known = {record["row"] for record in found if record["job"] == "attack"}
    before = [r for r in read_records(results, BEFORE).records if r["job"] == "attack" and r["row"].startswith("krr")]
    return Frontier(found + [record for record in before if record["row"] not in known])


def tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the page by name."""
    found = with_attacks(results)
    return {
        "about": about(found),
        "frontier": main_table(found),
        "leads": leads(found),
        "attacks": attacks(found),
        "trigrams": attacks(read_records(results, TRIGRAMS)),
        "tuned": tabulate_tuned(read_records(results, BEFORE)),
        "personal": personal(found),
        "came-out": list_kept_words(found),
        "profile": profile(found),
        "floors": floors(found),
        "readability": readability.of_all(results),
        "samples": samples(found),
    }


def pictures(results: Path) -> dict[str, Figure]:
    """Return the pictures of the page by file name."""
    found = with_attacks(results)
    lines = []
    for line in LINES:
        places = [(name, found.strongest(name)) for name in line.rows]
        scores = [(named.mean(), [found.scores(name, task) for task in ALL]) for name, named in places if len(named)]
        if scores:
            lines.append((line, scores))
    heights = {name: [found.scores(name, task).mean() for task in ALL] for name in ("raw", "delete")}
    return {"text_frontier.png": accuracy_by_attack(list(ALL.values()), lines, heights, _write_title(found))}


def _write_title(found: Frontier) -> str:
    """Return the title of the picture: the share of words that attacks recover at the default epsilon."""
    named = points(found.strongest(rows.DEFAULT).mean())
    return (
        f"As shipped, our attacks name {named} % of the content words at 10 nats.\n"
        "A stronger attack names more, and moves the staircase further to the right than k-RR."
    )


def about(found: Frontier) -> str:
    """Describe the measured bundle, and the number of draws of each task."""
    of_default = [record for record in found.records if record["row"] == rows.DEFAULT]
    bundles = ", ".join(sorted({f"`{record['bundle'][:12]}`" for record in of_default}))
    counts = {label: [len(found.scores(row.name, task)) for row in rows.ROWS] for task, label in ALL.items()}
    draws = [f"{label} {min(n for n in of if n > 1)} to {max(of)}" for label, of in counts.items()]
    personal = sum(record["draws"] for record in found.of("personal", rows.DEFAULT))
    named = len(found.strongest(rows.DEFAULT))
    draws += [f"personal data {personal}", f"attacks up to {named}"]
    return f"Bundle of the staircase: {bundles}. Draws: {', '.join(draws)}."


def main_table(found: Frontier) -> str:
    """Tabulate the spent epsilon, the kept words, the utility and the strongest attack for each release."""
    columns = ["mechanism", "visible", "nats", *ALL.values(), "content words out", "all words out",
               "our strongest attack"]  # fmt: skip
    body = []
    for row in rows.ROWS:
        scores = [score(found, row.name, task) for task in ALL]
        outs = [spread(found.list_unchanged_shares(row.name, what)) or _DASH for what in ("content", "words")]
        attack = (spread(found.strongest(row.name)) or _DASH) if row.name != "delete" else _DASH
        body.append([row.law, row.visible, row.nats, *scores, *outs, attack])
    return table(columns, body)


def score(found: Frontier, row: str, task: str) -> str:
    """Return a cell: accuracy in percent, or SICK's correlation."""
    return spread(found.scores(row, task), shares=task != "sick") or _DASH


def leads(found: Frontier) -> str:
    """Tabulate the staircase's scores where attacks recover as many words as from k-RR at epsilon 10.

    k-RR is k-ary randomized response.
    """
    columns = ["task", "visible", "content words named", "k-RR at 10", "staircase", "lead"]
    body = []
    for (task, label), visible in product(ALL.items(), ("kinds", "seen", "every")):
        name = f"krr-{visible}-10"
        ours, theirs = at_equal_attack(found, visible, task), found.scores(name, task)
        if ours is None or theirs.empty:
            continue
        digits, scale = (3, 1) if task == "sick" else (1, 100)
        lead, error = (scale * value for value in (ours[0] - theirs.mean(), math.hypot(ours[1], theirs.std())))
        told = f"{scale * ours[0]:.{digits}f}", f"**{lead:+.{digits}f}** ± {error:.{digits}f}"
        seen = {"kinds": "function words, kinds", "seen": "function words", "every": "nothing"}[visible]
        body.append([label, seen, spread(found.strongest(name)), score(found, name, task), *told])
    return table(columns, body)


def at_equal_attack(found: Frontier, visible: str, task: str) -> tuple[float, float] | None:
    """Return the staircase's score and its deviation where attacks recover as many words as from k-RR at epsilon 10.

    Args:
        found: The records.
        visible: Words that stay: none (``every`` word is randomized), function words (``seen``), or function words and
            the kinds of other words (``kinds``, the mode ``words``).
        task: The task of the score.

    Returns:
        ``None`` without attacks, or if such an epsilon is outside the measured range.
    """
    staircase = "shipped" if visible == "kinds" else visible
    named = found.strongest(f"krr-{visible}-10")
    names = [f"{staircase}-{n}" for n in (8, 10, 12)]
    known = sorted((found.strongest(name).mean(), name) for name in names if len(found.strongest(name)))
    if named.empty or len(known) < 2 or any(found.scores(name, task).empty for _, name in known):
        return None
    scores = [(float(x), found.scores(name, task)) for x, name in known]
    means = [(x, float(each.mean())) for x, each in scores]
    mean, deviation = between(means, named.mean()), between([(x, float(y.std())) for x, y in scores], named.mean())
    # What is named of k-RR is known to its deviation: the line is read a little to the left and to the right too.
    aside = [height for sign in (-1, 1) if (height := between(means, named.mean() + sign * named.std())) is not None]
    return None if mean is None or deviation is None else (mean, math.hypot(deviation, np.ptp([mean, *aside]) / 2))


def between(line: Sequence[tuple[float, float]], place: float) -> float | None:
    """Interpolate a piecewise linear line at a place. Return ``None`` outside of the line."""
    for (x, y), (other_x, other_y) in pairwise(line):
        if x <= place <= other_x:
            return y + (other_y - y) * (place - x) / max(other_x - x, 1e-12)
    return None


def attacks(found: Frontier) -> str:
    """Tabulate the share of content words of SST-2 that each attack recovers, among all and among known words."""
    columns = ["mechanism", "visible", "nats", "draws", "unchanged", *ATTACKS.values(),
               "in the vocabulary: unchanged", "strongest", "closed form"]  # fmt: skip
    body = []
    for row in rows.ROWS:
        draws = len(found.select_attack(row.name, "unchanged"))
        if row.name in ("raw", "delete", *rows.SAME_ATTACK) or not draws:
            continue
        named = [found.select_attack(row.name, attack) for attack in ("unchanged", *ATTACKS)]
        known = found.select_attack(row.name, "unchanged", "known"), found.strongest(row.name, "known")
        cells = map(spread, (*named, *known))
        closed = points(found.select_attack(row.name, "closed_form").mean())
        body.append([row.law, row.visible, row.nats, str(draws), *cells, closed])
    return table(columns, body)


def tabulate_tuned(found: Frontier) -> str:
    """Tabulate for each release the accuracy of MiniLM, fine-tuned on a part of SST-2's rows and on all rows."""
    body = []
    for row in rows.ROWS:
        parts = [found.list_tuned_scores(row.name, on_all=on_all) for on_all in (False, True)]
        if any(map(len, parts)):
            cells = [cell for part in parts for cell in ((spread(part), str(len(part))) if len(part) else (_DASH, "0"))]
            body.append([row.law, row.visible, row.nats, *cells])
    columns = ["mechanism", "visible", "nats", "9,500 rows", "seeds", "all 67,349 rows", "seeds"]
    return table(columns, body) if body else "Not measured on this bundle."


def personal(found: Frontier) -> str:
    """Tabulate in percent the spans that stay, the spans with a word that stays, and the vocabulary words that stay."""
    body = []
    for row in rows.ROWS:
        if not found.of("personal", row.name) or row.name in ("raw", "delete", "blank", "uniform"):
            continue
        cells = []
        for kind in SPANS:
            of = found.spans(row.name, kind)
            cells.append("" if of is None else " / ".join(points(of[name]) for name in ("whole", "any", "known")))
        body.append([row.law, row.visible, row.nats, *cells])
    return table(["mechanism", "visible", "nats", *SPANS], body)


def list_kept_words(found: Frontier) -> str:
    """List the words of spans that stay most often at the default epsilon."""
    lines = []
    for kind in SPANS:
        words: Counter[str] = Counter()
        for record in found.of("personal", rows.DEFAULT):
            words.update(dict(record["spans"][kind]["commonest"]))
        lines.append(f"- {kind}: {', '.join(word for word, _ in words.most_common(8))}")
    return "\n".join(lines)


def profile(found: Frontier) -> str:
    """Tabulate how often function words identify articles, and how often templates and equal words identify texts."""
    lengths = ("5", "10", "20", "40")
    columns = ["mechanism", "visible", "nats", "style", *(f"skeleton, {n}" for n in lengths),
               *(f"equal words, {n}" for n in lengths)]  # fmt: skip
    body = []
    for row in rows.ROWS:
        for record in found.of("profile", row.name)[:1]:
            equal = [points(record.get("pattern", {}).get(n)) for n in lengths]
            cells = [points(record["skeleton"][n]) for n in lengths]
            body.append([row.law, row.visible, row.nats, points(record["style"]), *cells, *equal])
    return table(columns, body)


def floors(found: Frontier) -> str:
    """Tabulate the figures that were required before the measurement, and the measured figures."""
    body = [[*line[:3], "yes" if line[3] else "**no**"] for line in _floors(found)]
    return table(["what", "asked for", "found", "reached"], body)


def _floors(found: Frontier) -> Iterator[tuple[str, str, str, bool]]:
    for name, asked in rows.FLOORS.items():
        for (task, label), least in zip(ALL.items(), asked, strict=True):
            scores, share = found.scores(name, task), task != "sick"
            if len(scores):
                yield (
                    f"{label}, mode `words` at {name.split('-')[1]}",
                    points(least) if share else f"{least:.3f}",
                    spread(scores, shares=share),
                    scores.mean() >= least,
                )
    for name, most in rows.ATTACK_CEILINGS.items():
        named = found.strongest(name)
        if len(named):
            what = f"our strongest attack, mode `words` at {name.split('-')[1]}: content words"
            yield what, f"at most {points(most)}", spread(named), named.mean() <= most
    for kind, most in rows.PERSONAL_CEILINGS.items():
        of = found.spans(rows.DEFAULT, kind)
        if of is not None:
            yield f"{kind}, any word out", f"at most {most:g}", points(of["any"]), 100 * of["any"] <= most
            yield f"{kind}, whole span out", "at most 2", points(of["whole"]), of["whole"] <= 0.02


def samples(found: Frontier) -> str:
    """Tabulate five sentences, each with one release by every mechanism."""
    parts = []
    for row in rows.ROWS:
        for record in found.of("sample", row.name)[:1]:
            head = f"**{row.law}, {row.nats} nats, visible: {row.visible}**" if row.name != "raw" else "**raw text**"
            parts.append("\n".join([head, "", *(f"> {text}  " for text in record["texts"])]).rstrip())
    return "\n\n".join(parts)
