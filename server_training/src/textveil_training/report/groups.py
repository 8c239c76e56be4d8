"""Runs that differ in their seed only, and how laws and settings are called beside one another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from textveil_training.report.laws import Law
from textveil_training.report.records import Run

UNSANITISED = "unsanitised"


@dataclass(frozen=True)
class Group:
    """Runs on the same data, with the same settings, start and law.

    Attributes:
        runs: One for each seed, or with frozen features for each sanitised copy; at least one.
    """

    runs: tuple[Run, ...]

    @property
    def law(self) -> Law | None:
        """Of all runs."""
        return self.runs[0].law

    @property
    def task(self) -> str:
        """Of all runs."""
        return self.runs[0].task

    @property
    def constant(self) -> str:
        """Settings, the seed left out."""
        return self.runs[0].constant

    def values(self, figure: str) -> list[float]:
        """A figure of the runs that have it."""
        return [run.figures[figure] for run in self.runs if figure in run.figures]

    def mean(self, figure: str) -> float | None:
        """Of the runs that have it; None where none has."""
        values = self.values(figure)
        return mean(values) if values else None

    def deviation(self, figure: str) -> float:
        """Standard deviation over the runs, 0 for one."""
        values = self.values(figure)
        return stdev(values) if len(values) > 1 else 0.0

    def by_repeat(self, figure: str) -> dict[int | str | None, float]:
        """A figure by seed, or by sanitised copy."""
        return {run.repeat: run.figures[figure] for run in self.runs if figure in run.figures}

    @property
    def counted(self) -> str:
        """How many runs, and which seeds."""
        seeds = sorted(run.seed for run in self.runs if run.seed is not None)
        return f"{len(self.runs)}" + (f" ({', '.join(map(str, seeds))})" if seeds else "")


def grouped(runs: Iterable[Run]) -> list[Group]:
    """Groups in the order of their laws, unsanitised first."""
    found: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        found.setdefault(run.condition, []).append(run)
    groups = [Group(tuple(runs)) for runs in found.values()]
    return sorted(groups, key=lambda group: (group.task, group.law is not None, group.law.order if group.law else ()))


class Names:
    """Names of laws: no longer than is needed to tell those of one report from one another.

    Args:
        laws: All of them.
    """

    def __init__(self, laws: Iterable[Law]) -> None:
        laws = set(laws)
        plus = {law for law in laws if law.mechanism == "santext+"}
        bundles_of: dict[float | None, set[str]] = {}
        for law in plus:
            bundles_of.setdefault(law.share, set()).add(law.bundle)
        self._p = len({law.replacement_probability for law in plus}) > 1
        self._w = len(bundles_of) > 1
        told_by_w = self._w and None not in bundles_of and all(len(bundles) == 1 for bundles in bundles_of.values())
        self._bundle = len({law.bundle for law in laws if law.bundle}) > 1
        self._bundle_of_plus = self._bundle and not told_by_w
        self._strict = len({law.strict for law in laws}) > 1
        self._case = len({law.case for law in laws}) > 1
        known: dict[str, set[str]] = {}
        for law in laws:
            known.setdefault(law.name, set()).add(law.bundle)
        self._ambiguous = {name for name, bundles in known.items() if len(bundles) > 1}

    def bundle(self, law: Law) -> str:
        """Of the law's bundle; empty where there is only one."""
        if not (self._bundle_of_plus if law.mechanism == "santext+" else self._bundle):
            return ""
        return f"{law.name} {law.bundle[:8]}" if law.name in self._ambiguous else law.name

    def __call__(self, law: Law) -> str:
        """Mechanism, tail, and what else tells it from others; the epsilon is left out."""
        parts = [law.mechanism]
        if law.tail:
            parts.append(f"{law.tail} tail")
        if law.mechanism == "santext+":
            if self._w and law.share is not None:
                parts.append(f"w {law.share:.3g}")
            if self._p and law.replacement_probability is not None:
                parts.append(f"p {law.replacement_probability:.3g}")
        if self.bundle(law):
            parts.append(self.bundle(law))
        if law.releases > 1:
            parts.append(f"{law.releases} outputs of a text")
        if self._strict and law.strict:
            parts.append("strict")
        if self._case and law.case:
            parts.append(f"case {law.case}")
        return ", ".join(parts)


def laws_of(runs: Iterable[Run]) -> list[Law]:
    """The laws of runs, each once."""
    return list({run.law: None for run in runs if run.law is not None})


def differing(groups: Sequence[Group], passed_over: Sequence[str] = ()) -> list[str]:
    """Names of settings in which some groups differ."""
    settings = [group.runs[0].deciding for group in groups]
    names = sorted({name for one in settings for name in one} - {*passed_over})
    return [name for name in names if len({shown(one.get(name)) for one in settings}) > 1]


def said(group: Group, names: Iterable[str]) -> str:
    """Some settings of a group."""
    settings = group.runs[0].settings
    return ", ".join(f"{name} {shown(settings[name])}" for name in names if settings.get(name) is not None)


def shown(value: Any) -> str:
    """A setting in short; of a path the last part."""
    return value.rstrip("/").rpartition("/")[2] or value if isinstance(value, str) else f"{value}"
