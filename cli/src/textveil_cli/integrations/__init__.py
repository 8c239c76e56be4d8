"""Integrations of the sanitizer with other libraries: one optional module for each.

Each requires the extra of its name: ``pip install 'textveil-cli[spacy]'``. The import of a module without its library
raises ``ExtraMissing``. None of them stores or sends a text; docs/integrations.md describes what the libraries do.
"""

from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer

__all__ = ["ConfiguredSanitizer"]
