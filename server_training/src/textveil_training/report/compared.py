"""What a report compares: runs, data, bundles and software, and the runs that are not counted."""

from collections.abc import Iterable, Sequence

from textveil_training.report.charts import Section, Table
from textveil_training.report.groups import UNSANITISED, Names, shown
from textveil_training.report.laws import Law
from textveil_training.report.pretrained import MODELS
from textveil_training.report.records import Reading, Run
from textveil_training.report.tables import plain


def section(reading: Reading, names: Names) -> Section:
    """The first section of a report."""
    runs = reading.runs
    tables = (_runs(runs), _data(runs), _bundles(runs), _software(runs), _left_out(reading, names))
    text = [f"{_counted(len(runs), 'finished run')} of {_counted(len({run.law for run in runs}), 'law')}."]
    if reading.unfinished:
        text.append(f"{_counted(len(reading.unfinished), 'run')} not finished: listed here, and averaged nowhere.")
    if reading.replaced:
        text.append(
            f"{_counted(len(reading.replaced), 'record')} of runs that were made again: the same in all that decides "
            "a result (with frozen features no seed does). Listed here; the later record of each counts."
        )
    if reading.copies:
        text.append(f"{_counted(reading.copies, 'record')} read more than once, and counted once.")
    if reading.passed_over:
        text.append(f"{_counted(reading.passed_over, 'other JSON object')} in the folders passed over.")
    text += _different_data(runs)
    return Section("compared", "What was compared", tuple(text), [table for table in tables if table is not None])


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _different_data(runs: Iterable[Run]) -> list[str]:
    """Raw text of one name and size with different content: figures that should not stand side by side."""
    found: dict[tuple[object, ...], set[object]] = {}
    for run in runs:
        test = run.splits.get("test", {})
        if run.law is None and run.kind == "finetune" and test.get("sha256"):
            found.setdefault((run.task, test.get("examples")), set()).add(test["sha256"])
    tasks = sorted({str(task) for (task, _), hashes in found.items() if len(hashes) > 1})
    return [f"Not comparable: unsanitised runs on {task} were tested on different texts." for task in tasks]


def _runs(runs: Sequence[Run]) -> Table | None:
    found: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        named = [run.settings.get(name) for name in (*MODELS, "start")]
        model = next((shown(name) for name in named if name), "")
        tuned = run.settings.get("tuned")
        mode = "" if tuned is None else "tuned" if tuned else "frozen features"
        found.setdefault((run.kind, run.task, model, mode), []).append(run)
    rows = [
        (
            kind,
            task,
            model,
            mode,
            f"{len({run.law for run in of}):,}",
            f"{len(of):,}",
            ", ".join(str(seed) for seed in sorted({run.seed for run in of if run.seed is not None})),
            f"{sum(run.wall_s or 0 for run in of) / 3600:.1f}",
        )
        for (kind, task, model, mode), of in found.items()
    ]
    columns = ("kind", "data", "model", "encoder", "laws", "runs", "seeds", "hours")
    note = "Unsanitised text counts among the laws. Hours are wall clock, all runs together."
    return Table("runs", "Runs", columns, tuple(rows), note).trimmed() if rows else None


def _data(runs: Iterable[Run]) -> Table | None:
    found: dict[tuple[str, str, str, int | None], dict[str, set[str]]] = {}
    for run in runs:
        for name, part in run.splits.items():
            hashes = found.setdefault((run.task, run.kind, name, part["examples"]), {"raw": set(), "sanitised": set()})
            if part["sha256"]:
                hashes["raw" if run.law is None or run.kind != "finetune" else "sanitised"].add(part["sha256"])
    rows = [
        (
            task,
            kind,
            split,
            "" if examples is None else f"{examples:,}",
            ", ".join(sorted(value[:12] for value in hashes["raw"])),
            f"{len(hashes['sanitised']):,}" if hashes["sanitised"] else "",
        )
        for (task, kind, split, examples), hashes in found.items()
    ]
    columns = ("data", "kind", "split", "examples", "SHA-256, beginning", "sanitised copies")
    note = "Hashes are of raw text, with its labels where those were read too." if any(row[4] for row in rows) else ""
    return Table("data", "Data", columns, tuple(rows), note).trimmed() if rows else None


def _bundles(runs: Iterable[Run]) -> Table | None:
    laws: dict[str, list[Law]] = {}
    for run in runs:
        if run.law is not None and run.law.bundle and run.kind != "fairness":  # of vectors: a checkpoint
            laws.setdefault(run.law.bundle, []).append(run.law)
    rows = []
    for bundle, of in laws.items():
        mechanisms = sorted({law.mechanism for law in of})
        share = next((plain(law.share) for law in of if law.share is not None), "")
        rows.append((of[0].bundle_name or bundle[:8], share, ", ".join(mechanisms), bundle))
    columns = ("bundle", "w", "mechanisms", "identity")
    return Table("bundles", "Bundles", columns, tuple(sorted(rows))).trimmed() if rows else None


def _software(runs: Iterable[Run]) -> Table | None:
    found: dict[str, set[str]] = {}
    for run in runs:
        for name, version in run.software.items():
            if version is not None:
                found.setdefault(str(name), set()).add(str(version))
    rows = tuple((name, ", ".join(sorted(versions))) for name, versions in found.items())
    return Table("software", "Software", ("package", "versions"), rows) if rows else None


def _left_out(reading: Reading, names: Names) -> Table | None:
    rows = [
        (
            run.kind,
            why,
            run.task,
            UNSANITISED if run.law is None else f"{names(run.law)}, epsilon {plain(run.law.epsilon) or '–'}",
            "" if run.seed is None else str(run.seed),
            run.begun,
            str(run.place),
        )
        for why, runs in (("not finished", reading.unfinished), ("a later record counts", reading.replaced))
        for run in runs
    ]
    columns = ("kind", "why", "data", "law", "seed", "begun", "file")
    return Table("left-out", "Not counted", columns, tuple(rows)).trimmed() if rows else None
