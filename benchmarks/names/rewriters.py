"""Rewrite texts in one of several ways, for utility.py (``--rewrite names.rewriters:NAME``) and readability.py."""

import os
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

from frontier.rows import Releases
from report.frontier_rows import ROWS
from textveil import Sanitizer, TextLabelEncoder
from textveil.bundle import LabelBundle, open_bundle

from names.fetch import FETCHED
from names.tools import TOOLS, Presidio
from names.words import ROOT

Texts = list[str]


@cache
def _sanitizer() -> Sanitizer:
    return Sanitizer.load()


@cache
def _releases() -> Releases:
    return Releases(None, ROOT / "artifacts/english-santext")


def _sanitize_texts(texts: Texts, **options: Any) -> Texts:
    return [result.text for result in _sanitizer().sanitize_batch(texts, **options)]


def surrogates(texts: Texts) -> Texts:
    """Return the texts in the mode ``names``; each text is a separate document."""
    return _sanitize_texts(texts, protect="names", facts="none")


def tags(texts: Texts) -> Texts:
    """Return the texts in the mode ``names`` with tags."""
    return _sanitize_texts(texts, protect="names", facts="none", style="tag")


def words(texts: Texts) -> Texts:
    """Return the texts in the mode ``words`` at the default epsilon."""
    return _sanitize_texts(texts, protect="words")


def patch(texts: Texts) -> Texts:
    """Return the texts with ``x`` for each word that the five-line baseline hides."""
    tool, found = TOOLS["patch"](FETCHED), []
    for text in texts:
        for start, end in reversed(tool.find_hidden(text)):
            text = f"{text[:start]}x{text[end:]}"
        found.append(text)
    return found


def corpus(texts: Texts) -> Texts:
    """Return the texts in the mode ``names`` under one new key, so that equal names get equal surrogates."""
    return _sanitize_texts(texts, protect="names", facts="none", consistent="corpus", key=os.urandom(32))


def presidio(texts: Texts) -> Texts:
    """Return the texts with each finding of Presidio's analyzer replaced by its type: ``<PERSON>``."""
    analyzer, anonymizer = Presidio(), import_module("presidio_anonymizer").AnonymizerEngine()
    return [anonymizer.anonymize(text, analyzer.find_entities(text)).text for text in texts]


def _hidden_as(texts: Texts, mark: str) -> Texts:
    """Return the texts with a mark, or nothing, for all but function words and punctuation."""
    shown = ("kept", "gap")
    parts = (
        [piece if what in shown else mark for piece, what in _sanitizer().preview(text, protect="words")]
        for text in texts
    )
    return [" ".join("".join(pieces).split()) for pieces in parts]


def _read_released(texts: Texts, name: str) -> Texts:
    return _releases().sample(next(row for row in ROWS if row.name == name), texts)


def _release_by_mode(texts: Texts, bundle: str, epsilon: str) -> Texts:
    path = ROOT / "artifacts" / bundle
    encoder = TextLabelEncoder.load(path, expect_id=open_bundle(path, LabelBundle).content_hash)
    return [str(encoder.encode(text, epsilon=epsilon, as_text=True).sentence) for text in texts]


WAYS: dict[str, Callable[[Texts], Texts]] = {
    "raw": list,
    "surrogates": surrogates,
    "tags": tags,
    "presidio": presidio,
    **{f"{mode}-{level}": partial(_sanitize_texts, epsilon=level, protect=mode)
       for mode in ("words", "all") for level in ("12", "10", "8", "6", "4")},
    **{f"krr-{level}": partial(_read_released, name=f"krr-kinds-{level}") for level in ("10", "8")},
    "santext-plus": partial(_read_released, name="santext-plus"),
    **{f"{bundle}-{level}": partial(_release_by_mode, bundle=bundle, epsilon=level)
       for bundle in ("ag-static", "sst2-static") for level in ("8", "6", "4")},
    "delete": partial(_hidden_as, mark=""),
    "blank": partial(_hidden_as, mark="_"),
    "patch": patch,
}  # fmt: skip
"""The rows of readability.py."""
