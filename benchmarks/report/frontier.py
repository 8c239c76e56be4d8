"""Tables of docs/results/text.md, from the records of ``benchmarks/frontier/run.py``."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from report import frontier_rows as rows
from report.frontier_chart import LINES, accuracy_by_attack
from report.pages import points, spread, table
from report.records import Column, read_objects

NAME = "frontier.jsonl"
TASKS = {"ag": "AG News", "trec": "TREC", "sst2": "SST-2"}
ATTACKS = {"bayes": "Bayes", "trigrams": "trigrams", "network": "network", "sum": "the sum"}
SPANS = ("persons", "places", "addresses", "organizations")
_DASH = "-"


@dataclass(frozen=True)
class Frontier:
    """The records of one run, by kind."""

    records: list[dict[str, Any]]

    def of(self, job: str, row: str) -> list[dict[str, Any]]:
        """Returns the records of a job and a row."""
        return [record for record in self.records if record["job"] == job and record["row"] == row]

    def scores(self, row: str, task: str) -> Column:
        """Returns accuracy, or for SICK Pearson's r, of each draw."""
        return pd.Series([r["score"] for r in self.of("task", row) if r["task"] == task], dtype=float)

    def tuned(self, row: str, *, on_all: bool = False) -> Column:
        """Returns the accuracy of an encoder, tuned on a part of train or on all of it, of each seed."""
        return pd.Series([r["score"] for r in self.of("tuned_on_all" if on_all else "tuned", row)], dtype=float)

    def unchanged(self, row: str, what: str) -> float | None:
        """Returns the mean share of SST-2's words that come out as they were."""
        found = [r["unchanged"][what] for r in self.of("task", row) if r["task"] == "sst2"]
        return sum(found) / len(found) if found else None

    def named(self, row: str, attack: str, what: str = "content") -> Column:
        """Returns the share of SST-2's words that an attack names, of each draw."""
        if row == "raw":
            return pd.Series([1.0])
        found = self.of("attack", rows.SAME_ATTACK.get(row, row))
        values = [record[attack] for record in found if record.get(attack) is not None]
        return pd.Series([value if attack == "closed_form" else value[what] for value in values], dtype=float)

    def strongest(self, row: str, what: str = "content") -> Column:
        """Returns what the attack names that names most; of a row that was not attacked anew, what the one before did.

        That one has one draw.
        """
        found = [self.named(row, attack, what) for attack in ("unchanged", *ATTACKS)]
        if not len(found[0]):
            before = self.of("attack_before", rows.SAME_ATTACK.get(row, row))
            shares = [value[what] for record in before for value in record.values() if isinstance(value, dict)]
            return pd.Series([max(shares)] if shares else [], dtype=float)
        return max((shares for shares in found if len(shares)), key=lambda shares: shares.mean())

    def spans(self, row: str, kind: str) -> dict[str, float] | None:
        """Returns shares of spans of one kind, means over draws."""
        found = [r["spans"][kind] for r in self.of("personal", row) if kind in r["spans"]]
        if not found:
            return None
        total = {name: sum(r[name] for r in found) for name in ("spans", "whole", "any", "words", "same")}
        shares = {name: total[name] / total["spans"] for name in ("whole", "any")}
        return shares | {"known": total["same"] / max(1, total["words"])}


def read(results: Path) -> Frontier:
    """Reads the records; refuses those of ``--quick``, which did not read the test texts.

    Raises:
        ValueError: A record is of a quick run.
    """
    records = [record for _, record in read_objects(results / NAME)]
    if any(record["quick"] for record in records):
        raise ValueError("records of a quick run are for development, not for the page")
    return Frontier(records)


def tables(results: Path) -> dict[str, str]:
    """Returns the generated parts of the page by name."""
    found = read(results)
    return {
        "about": about(found),
        "frontier": main_table(found),
        "equal-attack": equal_attack(found),
        "attacks": attacks(found),
        "tuned": tuned(found),
        "personal": personal(found),
        "came-out": came_out(found),
        "profile": profile(found),
        "floors": floors(found),
        "samples": samples(found),
    }


def pictures(results: Path) -> dict[str, Figure]:
    """Returns the pictures of the page by file name."""
    found = read(results)
    lines = []
    for line in LINES:
        places = [(name, found.strongest(name)) for name in line.rows]
        scores = [(named.mean(), [found.scores(name, task) for task in TASKS]) for name, named in places if len(named)]
        lines.append((line, scores))
    heights = {name: [found.scores(name, task).mean() for task in TASKS] for name in ("raw", "delete")}
    return {"text_frontier.png": accuracy_by_attack(list(TASKS.values()), lines, heights, _finding(found))}


def _finding(found: Frontier) -> str:
    """The title of the picture: what our attacks name at the default, which is a lower bound."""
    named = points(found.strongest(rows.DEFAULT).mean())
    return (
        f"As shipped, our attacks name {named} % of the content words at 10 nats.\n"
        "A stronger attack names more, and moves the staircase further to the right than k-RR."
    )


def about(found: Frontier) -> str:
    """What was measured: the bundle, and how many draws of each task."""
    of_default = [record for record in found.records if record["row"] == rows.DEFAULT]
    bundles = ", ".join(sorted({f"`{record['bundle'][:12]}`" for record in of_default}))
    draws = [f"{label} {len(found.scores(rows.DEFAULT, task))}" for task, label in (TASKS | {"sick": "SICK"}).items()]
    personal = sum(record["draws"] for record in found.of("personal", rows.DEFAULT))
    named = len(found.strongest(rows.DEFAULT))
    draws += [f"personal data {personal}", f"attacks up to {named}"]
    return f"Bundle of the staircase: {bundles}. Draws: {', '.join(draws)}."


def main_table(found: Frontier) -> str:
    """One row a release: what is charged, what is seen, what is learned and what is named."""
    columns = [
        "mechanism", "visible", "nats", *TASKS.values(), "SICK, r", "content words out", "all words out",
        "our strongest attack",
    ]  # fmt: skip
    body = []
    for row in rows.ROWS:
        scores = [spread(found.scores(row.name, task)) for task in TASKS]
        pearson = spread(found.scores(row.name, "sick"), shares=False)
        outs = [points(found.unchanged(row.name, what)) for what in ("content", "words")]
        attack = spread(found.strongest(row.name)) if row.name != "delete" else _DASH
        body.append([row.law, row.visible, row.nats, *scores, pearson, *outs, attack])
    return table(columns, body)


def equal_attack(found: Frontier) -> str:
    """Accuracy of the staircase between its levels, where the strongest attack names what it names of k-RR.

    The last rows suppose an attack on the staircase that is as strong as was asked for.
    """
    columns = ["visible", "attack on the staircase", "k-RR at", "content words named",
               *(f"{task}: k-RR / staircase" for task in TASKS.values())]  # fmt: skip
    body = []
    for visible, level, asked in (("every", 10, False), ("seen", 8, False), ("seen", 10, False), ("seen", 10, True)):
        name = f"krr-{visible}-{level}"
        ours = at_equal_attack(found, visible, level, asked=asked)
        if ours is None:
            continue
        cells = [f"{points(found.scores(name, task).mean())} / {points(ours[task]) or _DASH}" for task in TASKS]
        seen = {"every": "nothing", "seen": "function words"}[visible]
        body.append([seen, "as asked for" if asked else "measured", str(level), spread(found.strongest(name)), *cells])
    return table(columns, body)


def at_equal_attack(
    found: Frontier, visible: str, level: int, *, asked: bool = False
) -> dict[str, float | None] | None:
    """Returns the accuracy of the staircase where the strongest attack names as many words as of k-RR at a level.

    Args:
        found: The records.
        visible: ``every`` word drawn, or function words ``seen``.
        level: Nats of k-RR.
        asked: Whether the attack on the staircase is supposed to be as strong as was asked for.

    Returns:
        By task, ``None`` where the levels that were measured do not reach so far; ``None`` without attacks, or where
        not all of them were attacked in the same way.
    """
    names = [f"krr-{visible}-{level}", *(f"{visible}-{n}" for n in (8, 10, 12))]
    place, *means = (found.strongest(name).mean() for name in names)
    stairs = dict(zip(names[1:], means, strict=True))
    if len({len(found.named(name, "unchanged")) > 0 for name in names}) > 1:
        return None
    known = sorted((x, other) for other, x in (rows.ATTACK_FLOORS if asked else stairs).items() if not pd.isna(x))
    if pd.isna(place) or len(known) < 2:
        return None
    return {task: between([(x, found.scores(other, task).mean()) for x, other in known], place) for task in TASKS}


def between(line: Sequence[tuple[float, float]], place: float) -> float | None:
    """Returns the height of a line of straight pieces at a place, ``None`` outside of it."""
    for (x, y), (other_x, other_y) in pairwise(line):
        if x <= place <= other_x:
            return y + (other_y - y) * (place - x) / max(other_x - x, 1e-12)
    return None


def attacks(found: Frontier) -> str:
    """What each attack names of SST-2's content words, and of those in the vocabulary."""
    columns = ["mechanism", "visible", "nats", "draws", "unchanged", *ATTACKS.values(),
               "in the vocabulary: unchanged", "strongest", "closed form"]  # fmt: skip
    body = []
    for row in rows.ROWS:
        draws = len(found.named(row.name, "unchanged"))
        if row.name in ("raw", "delete", *rows.SAME_ATTACK) or not draws:
            continue
        named = [found.named(row.name, attack) for attack in ("unchanged", *ATTACKS)]
        known = found.named(row.name, "unchanged", "known"), found.strongest(row.name, "known")
        cells = map(spread, (*named, *known))
        closed = points(found.named(row.name, "closed_form").mean())
        body.append([row.law, row.visible, row.nats, str(draws), *cells, closed])
    return table(columns, body)


def tuned(found: Frontier) -> str:
    """Accuracy of MiniLM, tuned on a part of SST-2's rows, and on all, as each row releases them."""
    body = []
    for row in rows.ROWS:
        parts = [found.tuned(row.name, on_all=on_all) for on_all in (False, True)]
        if any(map(len, parts)):
            cells = [cell for part in parts for cell in ((spread(part), str(len(part))) if len(part) else (_DASH, "0"))]
            body.append([row.law, row.visible, row.nats, *cells])
    columns = ["mechanism", "visible", "nats", "9,500 rows", "seeds", "all 67,349 rows", "seeds"]
    return table(columns, body) if body else "Not measured on this bundle."


def personal(found: Frontier) -> str:
    """Spans of personal data of which something came out, in per cent: whole span / any word / known words."""
    body = []
    for row in rows.ROWS:
        if row.name in ("raw", "delete", "blank", "uniform"):
            continue
        cells = []
        for kind in SPANS:
            of = found.spans(row.name, kind)
            cells.append("" if of is None else " / ".join(points(of[name]) for name in ("whole", "any", "known")))
        body.append([row.law, row.visible, row.nats, *cells])
    return table(["mechanism", "visible", "nats", *SPANS], body)


def came_out(found: Frontier) -> str:
    """The words of spans that come out most often at the default."""
    lines = []
    for kind in SPANS:
        words: Counter[str] = Counter()
        for record in found.of("personal", rows.DEFAULT):
            words.update(dict(record["spans"][kind]["commonest"]))
        lines.append(f"- {kind}: {', '.join(word for word, _ in words.most_common(8))}")
    return "\n".join(lines)


def profile(found: Frontier) -> str:
    """How often an article is named by its function words, and a paragraph by its skeleton and by equal words."""
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
    """What was asked for, and what was found."""
    body = [[*line[:3], "yes" if line[3] else "**no**"] for line in _floors(found)]
    return table(["what", "asked for", "found", "reached"], body)


def _floors(found: Frontier) -> Iterator[tuple[str, str, str, bool]]:
    law = {"every": "every word drawn", "seen": "function words visible"}
    for name, asked in rows.ACCURACY_FLOORS.items():
        kind, level = name.split("-")
        for task, least in zip(TASKS, asked, strict=True):
            mean = 100 * found.scores(name, task).mean()
            if pd.isna(mean):
                continue
            yield f"{TASKS[task]}, {law[kind]}, {level}", f"{least:g}", f"{mean:.1f}", mean >= least
    for name, least in rows.ABOVE_DELETING.items():
        for task in TASKS:
            gain = 100 * (found.scores(name, task).mean() - found.scores("delete", task).mean())
            if pd.isna(gain):
                continue
            what = f"{TASKS[task]}, points above deleting, {name.split('-')[1]}"
            yield what, f"{least:g}", f"{gain:.1f}", gain >= least
    gain = 100 * (found.tuned("every-10").mean() - found.tuned("krr-every-10").mean())
    if not pd.isna(gain):
        what = "SST-2, fine-tuned, every word drawn, 10: points above k-RR"
        yield what, f"{rows.TUNED_ABOVE_K_RR:g}", f"{gain:.1f}", gain >= rows.TUNED_ABOVE_K_RR
    for name, least in rows.TUNED_FLOORS.items():
        score = 100 * found.tuned(name, on_all=True).mean()
        if not pd.isna(score):
            what = f"SST-2, fine-tuned on all rows, {law[name.split('-')[0]]}, 10"
            yield what, f"{least:g}", f"{score:.1f}", score >= least
    for name, least in rows.ATTACK_FLOORS.items():
        for what, label in (("content", "all content words"), ("known", "those in the vocabulary")):
            share = found.strongest(name, what).mean()
            if not pd.isna(share):
                level = name.split("-")[1]
                text = f"our strongest attack, {law['seen']}, {level}: {label}"
                yield text, f"{100 * least:g}", points(share), share >= least
    for kind, most in rows.PERSONAL_CEILINGS.items():
        of = found.spans(rows.DEFAULT, kind)
        if of is not None:
            yield f"{kind}, any word out", f"at most {most:g}", points(of["any"]), 100 * of["any"] <= most
            yield f"{kind}, whole span out", "at most 2", points(of["whole"]), of["whole"] <= 0.02


def samples(found: Frontier) -> str:
    """Five sentences, released once by each row."""
    parts = []
    for row in rows.ROWS:
        for record in found.of("sample", row.name)[:1]:
            head = f"**{row.law}, {row.nats} nats, visible: {row.visible}**" if row.name != "raw" else "**raw text**"
            parts.append("\n".join([head, "", *(f"> {text}  " for text in record["texts"])]).rstrip())
    return "\n\n".join(parts)
