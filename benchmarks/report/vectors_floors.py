"""List the accuracies that were required for docs/results/vectors.md before the measurement."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Floor:
    """The required accuracies of a row.

    Attributes:
        task: Key of the data.
        shown: Name of the row on the page.
        row, name: The row of the records; see ``Results.of``.
        least: Required accuracy by epsilon; the empty string means without noise.
    """

    task: str
    shown: str
    row: str
    name: str
    least: dict[str, float]


def _counts(accuracies: tuple[float, ...]) -> dict[str, float]:
    return dict(zip(("2", "3", "4", "6"), accuracies, strict=True))


def _codes(accuracies: tuple[float, ...]) -> dict[str, float]:
    return dict(zip(("4", "6", "8"), accuracies, strict=True))


_CODEBOOKS = {"static": "static, without MiniLM", "taught": "static, taught by MiniLM", "minilm": "MiniLM, frozen"}
FLOORS = (
    Floor("ag", "clean, static tuned", "clean", "static-tuned", {"": 0.872}),
    Floor("ag", "clean, MiniLM tuned", "clean", "minilm-tuned", {"": 0.887}),
    Floor("trec", "clean, static tuned", "clean", "static-tuned", {"": 0.84}),
    Floor("trec", "clean, MiniLM tuned", "clean", "minilm-tuned", {"": 0.953}),
    Floor("sst2", "clean, static tuned", "clean", "static-tuned", {"": 0.79}),
    Floor("sst2", "clean, MiniLM tuned", "clean", "minilm-tuned", {"": 0.88}),
    Floor("ag", "`counts`, static tuned", "counts", "static-tuned", _counts((0.63, 0.76, 0.825, 0.865))),
    Floor("ag", "`counts`, MiniLM tuned", "counts", "minilm-tuned", _counts((0.64, 0.775, 0.84, 0.88))),
    Floor("trec", "`counts`, MiniLM tuned", "counts", "minilm-tuned", _counts((0.57, 0.76, 0.87, 0.94))),
    *(
        Floor(task, f"codebook of 16, {shown}", "codebook", f"{kind}-16", _codes(least))
        for task, least in (("ag", (0.68, 0.79, 0.81)), ("trec", (0.51, 0.60, 0.62)))
        for kind, shown in _CODEBOOKS.items()
    ),
)
