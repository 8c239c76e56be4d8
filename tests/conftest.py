"""Settings of all tests: the path of builders, the number of threads, and profiles of hypothesis."""

import functools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from textveil.bundle.names_files import NamesLists

# Libraries read these when they are imported. Tests run side by side, and threads that wait for each other take more
# processor time than they save.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# A model that is named and not there is looked for on a hub: no test waits for a network.
os.environ["HF_HUB_OFFLINE"] = "1"

# Under pytest's importlib mode no test folder is importable; the builders that several suites share are.
sys.path.insert(0, str(Path(__file__).parent / "fixtures"))
sys.path.insert(0, str(Path(__file__).parent / "tools"))


@pytest.fixture(scope="session", autouse=True)
def _share_lists() -> Iterator[None]:
    """Parse equal lists of the mode ``names`` once in each process: many tests load the English bundle."""
    from textveil.bundle.components import NamesFiles

    parse = NamesFiles.lists.func
    found: dict[object, NamesLists] = {}

    def share(files: NamesFiles) -> "NamesLists":
        key = files.entity_types, files.pool_types, files.is_checked, frozenset(files.contents.items())
        return found[key] if key in found else found.setdefault(key, parse(files))

    lists = functools.cached_property(share)
    lists.__set_name__(NamesFiles, "lists")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NamesFiles, "lists", lists)
        yield


# Fixtures of the runtime and of the command.
pytest_plugins = ["shared_fixtures"]

# A job in the background inherits interrupts that are ignored, and would hand that on to the commands under test.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, and nothing is timed: neither chance nor a slow machine is a failure. `make fuzz`
# searches at random.
settings.register_profile("full", derandomize=True, deadline=None, database=None)
settings.register_profile("default", settings.get_profile("full"), max_examples=50)
settings.register_profile("quick", settings.get_profile("full"), max_examples=10)
settings.register_profile("fuzz", settings.get_profile("full"), derandomize=False, max_examples=1000)
settings.load_profile("default")


def _examples(named: int, profile: str) -> int:
    """How many examples a test tries that names a number of its own: that many in ``full``.

    By default it is a sixth of the large numbers, whose tests have examples of their own for what is rare.
    """
    return {"quick": min(named, 20), "full": named, "fuzz": 10 * named}.get(profile, min(named, max(100, named // 6)))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of ``make check`` for parametrized tests."""
    parser.addoption("--most-cases", type=int, help="run at most this many cases of each test, spread over all of them")


@pytest.hookimpl(trylast=True)  # after the markers have been read: the cases are spread over those that would run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Scale the number of examples of property tests to the profile, and leave out cases above ``--most-cases``."""
    profile = config.getoption("hypothesis_profile") or "default"
    for function in {getattr(item, "obj", None) for item in items}:
        chosen = getattr(function, "_hypothesis_internal_use_settings", None)
        if chosen is not None and chosen.max_examples != settings().max_examples:
            function._hypothesis_internal_use_settings = settings(
                chosen, max_examples=_examples(chosen.max_examples, profile)
            )
    most = config.getoption("most_cases")
    if most is not None:
        kept = _spread_cases(items, most)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def _spread_cases(items: list[pytest.Item], most: int) -> set[pytest.Item]:
    """Choose at most ``most`` cases of each test, at equal distances."""
    cases_by_test: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases_by_test.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return {
        cases[number * len(cases) // most] if len(cases) > most else cases[number]
        for cases in cases_by_test.values()
        for number in range(min(most, len(cases)))
    }
