"""Fine-tunings that may stand in one table."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from textveil_training.report.groups import Group, differing, grouped, shown
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
        """The unsanitised runs with the same settings, or the only ones there are."""
        raw = [other for other in self.groups if other.law is None]
        same = [other for other in raw if other.constant == group.constant]
        return same[0] if same else raw[0] if len(raw) == 1 else None


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
        encoder, start = run.settings.get("encoder"), run.start
        parts = [run.task, *([shown(encoder)] if encoder else [])]
        parts.append("frozen features" if run.settings.get("tuned") is False else "tuned")
        parts += ["from pretraining"] if start and start.kind == "pretrain" else []
        name = re.sub(r"[^a-z0-9]+", "-", " ".join(parts).lower()).strip("-")
        taken = sum(1 for cohort in made if re.fullmatch(rf"{re.escape(name)}(-\d+)?", cohort.name))
        parts += [f"{count:,} {split} examples" for split in ("train", "test") if (count := _examples(run, split))]
        made.append(Cohort(f"{name}-{taken + 1}" if taken else name, ", ".join(parts), tuple(groups)))
    return made


def _examples(run: Run, split: str) -> int | None:
    return run.splits.get(split, {}).get("examples")
