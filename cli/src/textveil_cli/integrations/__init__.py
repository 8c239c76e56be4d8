"""The sanitizer in other people's pipelines: one module for each library, imported only where it is asked for.

Each needs the extra of its name: ``pip install 'textveil-cli[spacy]'``. Importing a module without its library raises
``ExtraMissing``. None of them keeps or sends a text; what the library around it does is said in docs/integrations.md.
"""

from textveil_cli.integrations.rewriter import Rewriter

__all__ = ["Rewriter"]
