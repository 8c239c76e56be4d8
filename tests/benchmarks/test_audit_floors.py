"""The stored audits find what the page promises: power, few false alarms, and the mechanisms that break their claim."""

import json
from typing import Any

import numpy as np
import pytest
from report.audit import FLOOR_EPSILONS, FLOORS, read_lines
from report.write import RECORDS

LINES = read_lines(RECORDS)
CAUGHT = {
    "rare words": (4, 6),
    "shared scalar": (0.05, 4, 6),
    "top k": (4, 8),
    "ADePT 64": (2, 4),
    "ADePT 256": (2, 4),
}


def choose_lines(part: str, **wanted: Any) -> list[dict[str, Any]]:
    """Return the audits of a part with the wanted values."""
    return [one for one in LINES if one["part"] == part and all(one.get(key) == wanted[key] for key in wanted)]


@pytest.mark.parametrize(("name", "test"), FLOORS)
@pytest.mark.parametrize("epsilon", FLOOR_EPSILONS)
def test_the_median_audit_finds_half_of_epsilon_and_none_more_than_all(name: str, test: str, epsilon: float) -> None:
    bounds = [one["bounds"][test] for one in choose_lines("power", name=name, epsilon=epsilon)]
    assert len(bounds) >= 2
    assert np.median(bounds) >= epsilon / 2
    assert max(bounds) <= epsilon


def test_a_thousand_honest_audits_have_at_most_five_alarms() -> None:
    honest = choose_lines("honest")
    assert len(honest) >= 1000
    assert sum(one["verdict"] == "refuted" for one in honest) <= 5


@pytest.mark.parametrize("name", CAUGHT)
def test_broken_claims_are_refuted_each_time(name: str) -> None:
    for claim in CAUGHT[name]:
        audits = choose_lines("refuted", name=name, epsilon=claim)
        assert len(audits) >= 5
        assert {one["verdict"] for one in audits} == {"refuted"}, json.dumps([name, claim])


def test_adept_is_refuted_on_text_at_claims_2_and_4() -> None:
    found = {one["epsilon"]: one["verdict"] for one in choose_lines("adept")}
    assert (found[2], found[4]) == ("refuted", "refuted")
