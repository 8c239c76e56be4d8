"""The examples in docstrings of the exporter run and print their shown output."""

import doctest
import importlib
import pkgutil

import pytest
import textveil_export
from docstring_examples import list_missing_examples

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(textveil_export.__path__, "textveil_export.")
    if not module.name.endswith("__main__")
)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["encoder", "index", "leakage", "text"])
def test_every_public_name_has_an_example(package: str) -> None:
    assert list_missing_examples(f"textveil_export.{package}") == []


@pytest.mark.slow
def test_examples_print_what_they_show() -> None:
    results = {name: doctest.testmod(importlib.import_module(name)) for name in MODULES}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) > 20
