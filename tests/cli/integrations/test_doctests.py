"""The examples in docstrings of the integrations run, and print what they contain."""

import doctest
import importlib

import pytest
import textveil_cli.integrations

#: For each module: the library that its examples need, and the names that have an example.
EXAMPLES = {
    "configured_sanitizer": ("textveil", ("ConfiguredSanitizer",)),
    "datasets": ("datasets", ("SanitizeColumns",)),
    "langchain": ("langchain_core", ("SanitizeFirst", "ConversationRunnable", "SanitizeDocuments")),
    "pandas": ("pandas", ("sanitize", "TextveilAccessor")),
    "presidio": ("presidio_anonymizer", ("TextveilOperator", "TextveilRestoreOperator")),
    "spacy": ("spacy", ("SanitizeDoc",)),
}


def test_every_exported_name_has_an_example() -> None:
    exported = {name: getattr(textveil_cli.integrations, name) for name in textveil_cli.integrations.__all__}
    assert [name for name, value in exported.items() if ">>>" not in (value.__doc__ or "")] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_print_what_they_contain(name: str) -> None:
    library, documented = EXAMPLES[name]
    pytest.importorskip(library, reason=f"needs the library {library}: make integrations")
    module = importlib.import_module(f"textveil_cli.integrations.{name}")
    assert [one for one in documented if ">>>" not in (getattr(module, one).__doc__ or "")] == []
    results = doctest.testmod(module)
    assert results.attempted > len(documented)
    assert results.failed == 0
