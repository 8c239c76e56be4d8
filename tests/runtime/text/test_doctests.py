"""The examples in docstrings of `textveil.text` run and print what they show."""

import doctest
import importlib
import pkgutil

import pytest
import textveil.text

MODULES = sorted(module.name for module in pkgutil.walk_packages(textveil.text.__path__, "textveil.text."))


def test_every_public_name_has_an_example() -> None:
    objects = {name: getattr(textveil.text, name) for name in textveil.text.__all__}
    documented = {name: value for name, value in objects.items() if not isinstance(value, int | str | dict)}
    assert len(documented) > 20
    assert [name for name, value in documented.items() if ">>>" not in (value.__doc__ or "")] == []


@pytest.mark.slow
def test_examples_print_what_they_show() -> None:
    results = {name: doctest.testmod(importlib.import_module(name)) for name in MODULES}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) > 40
