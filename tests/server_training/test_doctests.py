"""The examples in docstrings of training run and print their shown output; every public name has one."""

from pathlib import Path

import pytest
import textveil_training
from docstring_examples import list_missing_examples, list_modules, run_examples


@pytest.mark.slow
def test_every_public_name_has_an_example() -> None:
    assert list_missing_examples("textveil_training") == []


@pytest.mark.slow
def test_examples_print_what_they_show(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    results = dict(run_examples(list_modules(textveil_training)))
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) >= 12
