"""Integrations of the sanitizer with other libraries: one optional module for each.

Each module requires the extra of the same name, such as ``pip install 'textveil-cli[spacy]'``. If its library is not
installed, importing the module raises ``ExtraMissing``. No module stores or sends a text; docs/integrations.md
describes what the libraries themselves do.
"""

from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer

__all__ = ["ConfiguredSanitizer"]
