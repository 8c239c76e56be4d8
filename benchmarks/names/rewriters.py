"""Ways to rewrite texts, each by its name, for utility.py and readability.py (``--rewrite names.rewriters:NAME``)."""

import os
from functools import cache

from textveil import Sanitizer

from names.fetch import FETCHED
from names.tools import TOOLS


@cache
def _sanitizer() -> Sanitizer:
    return Sanitizer.load()


@cache
def _key() -> bytes:
    """One key for training and test texts: a corpus of which both are parts."""
    return os.urandom(32)


def surrogates(texts: list[str]) -> list[str]:
    """Returns the texts on the rung ``names``, each a document of its own."""
    return [result.text for result in _sanitizer().sanitize_batch(texts, protect="names")]


def tags(texts: list[str]) -> list[str]:
    """Returns the texts on the rung ``names``, with tags."""
    return [result.text for result in _sanitizer().sanitize_batch(texts, protect="names", style="tag")]


def words(texts: list[str]) -> list[str]:
    """Returns the texts on the rung ``words``, with the default level."""
    return [result.text for result in _sanitizer().sanitize_batch(texts)]


def patch(texts: list[str]) -> list[str]:
    """Returns the texts with ``x`` for each word that the baseline of five lines hides."""
    tool, found = TOOLS["patch"](FETCHED), []
    for text in texts:
        for start, end in reversed(tool.hidden(text)):
            text = f"{text[:start]}x{text[end:]}"
        found.append(text)
    return found


def corpus(texts: list[str]) -> list[str]:
    """Returns the texts on the rung ``names``, where equal names of all texts of a run become equal ones."""
    results = _sanitizer().sanitize_batch(texts, protect="names", consistent="corpus", key=_key())
    return [result.text for result in results]
