"""The examples in docstrings of conversations run, and print what they contain."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest
import textveil.conversation

MODULES = sorted(
    module.name for module in pkgutil.iter_modules(textveil.conversation.__path__, "textveil.conversation.")
)


def test_every_public_class_and_function_has_an_example() -> None:
    exported = {name: getattr(textveil.conversation, name) for name in textveil.conversation.__all__}
    callables = {name: value for name, value in exported.items() if callable(value)}
    assert [name for name, value in callables.items() if ">>>" not in (value.__doc__ or "")] == []
    assert len(callables) > 7


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_contain(name: str, tmp_path: Path) -> None:
    if name.endswith("encrypted_file"):
        pytest.importorskip("cryptography", reason="needs the extra crypto")
    assert doctest.testmod(importlib.import_module(name), extraglobs={"folder": tmp_path}).failed == 0


def test_there_are_examples() -> None:
    results = [doctest.DocTestFinder().find(importlib.import_module(name)) for name in MODULES]
    assert sum(len(test.examples) for tests in results for test in tests) > 20
