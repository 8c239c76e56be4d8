"""No accuracy that this repository reports is above what its whole-text epsilon allows."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from bounds.channels import ceiling, exceeds
from bounds.grid import read_lines

#: Too long for each push: `make nightly` runs these tests.
pytestmark = pytest.mark.full

#: Grids; the record of an attacker has no accuracy of a release.
RECORDS = [
    path
    for path in sorted((Path(__file__).parents[3] / "benchmarks" / "results").glob("dpnr_*.jsonl"))
    if path.stem != "dpnr_adversarial"
]


@cache
def reported(path: Path) -> list[tuple[float, int, float]]:
    """Accuracy, decisions behind it, and ceiling, computed anew from the confusion matrix of each record."""
    found = []
    for line in read_lines(path).values():
        for level, figures in line.get("levels", {}).items():
            prior = np.sum(figures["confusion"], axis=1)
            assert figures["epsilon_whole_text"] == float(level)
            bound = ceiling(prior, float(level), figures["delta_whole_text"])
            found.append((figures["accuracy"], round(prior.sum()) * figures["draws"], bound))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", RECORDS, ids=[path.stem for path in RECORDS])
def test_no_reported_accuracy_is_above_its_ceiling(path: Path) -> None:
    rows = reported(path)
    assert rows
    assert not any(exceeds(*row) for row in rows)


#: At the levels of the others the clean model's accuracy is allowed.
STRICT = [path for path in RECORDS if path.stem != "dpnr_ag_box384"]


@pytest.mark.parametrize("path", STRICT, ids=[path.stem for path in STRICT])
def test_one_that_is_would_be_found(path: Path) -> None:
    """A record with the accuracy of the clean model at the strictest level fails the same check."""
    strictest = min(reported(path), key=lambda row: row[2])
    clean = read_lines(path)["baselines"]["clean"]["accuracy"]
    assert exceeds(clean, *strictest[1:])
