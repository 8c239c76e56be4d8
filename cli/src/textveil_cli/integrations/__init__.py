"""Integrations with other libraries, such as pandas and LangChain: one optional module for each library.

Install a module with the extra of the same name, such as ``pip install 'textveil-cli[spacy]'``. If the library is not
installed, importing the module raises ``ExtraMissing``. No module stores or sends a text; docs/integrations.md
describes what the libraries themselves do.
"""

from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer

__all__ = ["ConfiguredSanitizer"]
