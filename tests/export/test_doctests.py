"""The examples in docstrings of the exporter run and print their shown output."""

import doctest
import importlib
import pkgutil
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import textveil_export
from docstring_examples import list_missing_examples
from small_label_bundle import MEASURED, write_index
from textveil_export.label import read_label_contents, write_label_bundle

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(textveil_export.__path__, "textveil_export.")
    if not module.name.endswith("__main__")
)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["encoder", "label", "leakage", "text"])
def test_every_public_name_has_an_example(package: str) -> None:
    assert list_missing_examples(f"textveil_export.{package}") == []


@pytest.mark.slow
@pytest.mark.usefixtures("two_recipes")
def test_examples_print_what_they_show(
    checkpoint_folder: Path, encoder_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The examples read ``checkpoint``, ``texts.tsv`` and ``labels``, and write beside them."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(checkpoint_folder, tmp_path / "checkpoint")
    shutil.copy(encoder_data, tmp_path / "texts.tsv")
    contents = replace(read_label_contents(write_index(tmp_path / "plain")), measured=MEASURED)
    write_label_bundle(contents, tmp_path / "labels")
    results = {name: doctest.testmod(importlib.import_module(name)) for name in MODULES}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) > 20


def test_no_example_is_skipped() -> None:
    skipped = [
        example.source
        for name in MODULES
        for test in doctest.DocTestFinder().find(importlib.import_module(name))
        for example in test.examples
        if doctest.SKIP in example.options
    ]
    assert skipped == []
