"""The certificate of a staircase accepts sound tables row by row, and names each planted fault."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from textveil.mechanisms.staircase import Staircase
from textveil_export.certify.staircase import certify_staircase
from textveil_export.errors import CertificationError
from textveil_export.text.staircase_bundle import LEVELS
from textveil_export.text.staircase_tables import StaircaseSettings, make_staircase_arrays
from textveil_export.text.word_vectors import WordVectors


@pytest.fixture
def tensors():
    words = [f"w{'abcdefghij'[n // 10]}{'abcdefghij'[n % 10]}" for n in range(80)]
    vectors = np.random.default_rng(4).standard_normal((80, 6)).astype(np.float32)
    arrays = make_staircase_arrays(
        WordVectors(words=words, vectors=vectors, provenance={}), settings=StaircaseSettings(8)
    )
    return {**arrays, "roles": np.full(80, 63, dtype=np.uint8)}


def test_a_sound_table_is_certified(tensors):
    seen = []
    certify_staircase(tensors, LEVELS, lambda stage, done, total: seen.append((stage, done, total)))
    assert seen == [("certifying rows", 80, 80)]


def set_at(name, place, value):
    def fault(tensors):
        tensors[name][place] = value

    return fault


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (set_at("neighbors", (7, 2), 7), "row 7: the stored ids"),
        (set_at("neighbors", (7, 0), 9), "row 7: the stored ids"),
        (set_at("neighbors", (79, 7), 80), "row 79: the stored ids"),
    ],
)
def test_the_error_identifies_a_faulty_row(tensors, fault, message):
    fault(tensors)
    with pytest.raises(CertificationError, match=message):
        certify_staircase(tensors, LEVELS)


def test_the_error_identifies_a_level_beyond_the_bound(tensors):
    with pytest.raises(CertificationError, match=r"level 6: mechanism\.json"):
        certify_staircase(tensors, [replace(LEVELS[1], epsilon=Decimal(17))])


@pytest.mark.parametrize("fault", ["beyond the base", "beyond the budget", "negative"])
def test_the_error_identifies_a_budget_beyond_the_bound(tensors, monkeypatch, fault):
    budgets = Staircase.distribute_budget

    def faulty(self, inputs):
        stored, dealt = budgets(self, inputs)
        row = int(np.flatnonzero(inputs == 5)[0])
        if fault == "beyond the base":
            dealt[row, 0] = self.base[stored[row, 0]] + 1
            dealt[row, 1:] = 0
        elif fault == "negative":
            dealt[row, 0] = -1
        else:
            dealt[row] = self.base[stored[row]]
        return stored, dealt

    monkeypatch.setattr(Staircase, "distribute_budget", faulty)
    with pytest.raises(CertificationError, match="row 5, level 4: the budget"):
        certify_staircase(tensors, LEVELS)
