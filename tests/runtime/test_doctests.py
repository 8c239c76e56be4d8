"""The examples in docstrings of the runtime run and print their shown output; every public name has one."""

from pathlib import Path

import pytest
import textveil
from docstring_examples import list_missing_examples, list_modules, run_examples, write_example_files

PACKAGES = ("bundle", "conversation", "ledger", "mechanisms", "text", "vector")


def test_every_public_name_has_an_example() -> None:
    assert list_missing_examples("textveil") == []


@pytest.mark.parametrize(
    "package", [*PACKAGES, *(f"mechanisms.{family}" for family in ("baselines", "noise", "staircase"))]
)
def test_every_name_of_a_package_has_an_example(package: str) -> None:
    assert list_missing_examples(f"textveil.{package}") == []


@pytest.mark.slow
def test_examples_print_what_they_show(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_example_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    results = dict(run_examples(list_modules(textveil), folder=tmp_path))
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) > 250
