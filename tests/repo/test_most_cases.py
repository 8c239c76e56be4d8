"""The option ``--most-cases`` of ``make check`` keeps a few cases of each test, spread over all of them."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest


class Item(NamedTuple):
    nodeid: str


def test_few_cases_of_each_test_are_kept_at_equal_distances(pytestconfig: pytest.Config) -> None:
    conftest = pytestconfig.pluginmanager.get_plugin(str(Path(__file__).parents[1] / "conftest.py"))
    items = [Item(f"a.py::test_many[{number}]") for number in range(10)]
    items += [Item("a.py::test_alone"), *(Item(f"b.py::test_many[{name}]") for name in "xyz")]
    kept = conftest._spread_cases(items, 4)
    assert Counter(item.nodeid.partition("[")[0] for item in kept) == {
        "a.py::test_many": 4,
        "a.py::test_alone": 1,
        "b.py::test_many": 3,
    }
    assert [item.nodeid[-2] for item in items[:10] if item in kept] == ["0", "2", "5", "7"]
