"""Fine-tunings that may stand in one table."""

from collections.abc import Iterable
from dataclasses import dataclass

from textveil_training.report.charts import slug
from textveil_training.report.groups import Group, differing, grouped, said, shown
from textveil_training.report.records import Run, canonical

_TELLING = ("encoder", "tuned", "train_examples")


@dataclass(frozen=True)
class Cohort:
    """Runs with the same task, sizes of train and test, encoder and start.

    Attributes:
        name: For places on the page.
        title: For captions.
        groups: Unsanitised first, then by law.
    """

    name: str
    title: str
    groups: tuple[Group, ...]

    @property
    def accuracy(self) -> bool:
        """Whether utility is an accuracy; otherwise it is Pearson's correlation."""
        return self.measure == "accuracy"

    @property
    def measure(self) -> str:
        """Name of the figure."""
        return "accuracy" if self.groups[0].values("accuracy") else "pearson"

    @property
    def axis(self) -> str:
        """Of plots."""
        return "accuracy" if self.accuracy else "Pearson correlation"

    @property
    def settings(self) -> list[str]:
        """Settings in which rows differ."""
        return differing(self.groups, _TELLING)

    @property
    def majority(self) -> list[float]:
        """Share of the commonest training class among the test examples, of all runs."""
        return [value for group in self.groups for value in group.values("majority")]

    def clean(self, group: Group) -> Group | None:
        """The unsanitised runs with the same settings, or the only ones there are; None where they are on two texts."""
        raw = [other for other in self.groups if other.law is None]
        same = [other for other in raw if other.constant == group.constant] or raw
        return same[0] if len(same) == 1 else None

    def told(self, group: Group) -> str:
        """Settings in which rows differ, and of unsanitised runs the beginnings of their texts' hashes if those do."""
        alike = [other for other in self.groups if other.law is None and other.constant == group.constant]
        hashes = {name: part["sha256"] for name, part in group.runs[0].splits.items() if part.get("sha256")}
        more = [f"{name} {sha256[:8]}" for name, sha256 in hashes.items()]
        several = group.law is None and len(alike) > 1
        return ", ".join(part for part in (said(group, self.settings), *(more if several else [])) if part)


def cohorts(runs: Iterable[Run]) -> list[Cohort]:
    """Cohorts in the order of their tasks."""
    found: dict[tuple[object, ...], list[Group]] = {}
    for group in grouped(runs):
        run = group.runs[0]
        telling = canonical([run.settings.get(name) for name in _TELLING])
        sizes = _examples(run, "train"), _examples(run, "test")
        found.setdefault((run.task, sizes, telling, run.start), []).append(group)
    made: list[Cohort] = []
    for groups in found.values():
        run = groups[0].runs[0]
        encoder = run.settings.get("encoder")
        parts = [run.task, *([shown(encoder)] if encoder else [])]
        parts.append("frozen features" if run.settings.get("tuned") is False else "tuned")
        name = slug(" ".join(parts), [cohort.name for cohort in made])
        parts += [f"{count:,} {split} examples" for split in ("train", "test") if (count := _examples(run, split))]
        made.append(Cohort(name, ", ".join(parts), tuple(groups)))
    return made


def _examples(run: Run, split: str) -> int | None:
    return run.splits.get(split, {}).get("examples")
