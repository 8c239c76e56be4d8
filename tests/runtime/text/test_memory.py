"""No line costs more than twelve times its bytes in memory, whatever is in it and however it is sanitized.

Counted by ``tracemalloc`` in the process of the command, which depends on no machine. Chunks are made small, so that a
short line shows what a long one costs.
"""

import os
import tracemalloc
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import memory_of_lines
import pytest
from memory_of_lines import MOST, shrink
from small_staircase import small_staircase
from text_options import WRITTEN
from textveil import Sanitizer
from textveil.text.rewrite import batches
from textveil_cli.files import looks


def _expanding() -> str:
    """Every code point that is several once it is folded, each as a word."""
    return "".join(f"{c} " for c in map(chr, range(0x110000)) if len(unicodedata.normalize("NFKC", c).lower()) > 1)


def _far_expanding() -> str:
    """Different words, as long as words that are folded can be, of the code point that takes the most room."""
    return "".join("\ufdfa" * 990 + letter + " " for letter in "abcdef")


#: What lines consist of. Of some a line is one segment, of others every character is one.
UNITS = {
    "English": "The doctor in Boston said the scan was clean, and Mary agreed. ",
    "letters": "a",
    "letters and commas": "a,",
    "short words": "aa bb ",
    "capitals": "A ",
    "domains": "www.a.com ",
    "a domain with commas": "a.com,",
    "cells": "ab,",
    "an object": '{"a":{},',
    "numbers": "1 ",
    "numbers in open brackets": "(1",
    "numbers in brackets": "(1) ",
    "digits": "1",
    "dots": "a. ",
    "emoji": "😀 ",
    "U+FDFA": "\ufdfa",
    "U+FDFA apart": "\ufdfa ",
    "U+FDFA in long words": _far_expanding(),
    "all that expand": _expanding(),
    "clitics": "I'm ",
    "umlauts": "é,",
    "blanks": " ",
    "quotation marks": '"',
}
OPTIONS = {
    "plain": (),
    "JSON": ("--json",),
    "punctuation": ("--sanitize-punctuation",),
    "split": ("--consistent", "--split"),
    "a file": ("--document", "file"),
    "all drawn": ("--protect", "all"),
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    return Sanitizer.load(small_staircase(tmp_path_factory.mktemp("small")))


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch, loaded: Sanitizer) -> None:
    """What is held whatever the line is would hide what the line costs: a bundle, and the rest of a chunk."""
    monkeypatch.setattr(Sanitizer, "load", lambda *given, **more: loaded)
    shrink(monkeypatch.setattr)


def times_its_bytes(folder: Path, unit: str, options: Sequence[str]) -> float:
    """What ``textveil sanitize`` holds at most, over the bytes of a line of one unit."""
    line, out = folder / "line.txt", folder / "out.txt"
    arguments = ["sanitize", "-q", os.fspath(line), "-o", os.fspath(out), *options]
    return memory_of_lines.times_its_bytes(line, lambda size: unit * (size // len(unit.encode()) + 1) + "\n", arguments)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["English", "letters and commas", "U+FDFA in long words", "all that expand"])
def test_no_line_costs_more(unit: str, tmp_path: Path) -> None:
    assert times_its_bytes(tmp_path, UNITS[unit], ()) <= MOST


def _forms() -> dict[str, tuple[str, ...]]:
    """All ways to read and write a text, by name."""
    return {" ".join((name, *form)): tuple(form) for name, forms in WRITTEN.items() for form in forms}


_FORMS = [
    form if number % 4 == 0 else pytest.param(form, marks=pytest.mark.full) for number, form in enumerate(_forms())
]


@pytest.mark.slow
@pytest.mark.parametrize("form", _FORMS)
def test_no_line_costs_more_however_it_is_read_and_written(form: str, tmp_path: Path) -> None:
    """A line of marks that are drawn one by one; ``test_memory_of_options.py`` has all signs and all other options."""
    pytest.importorskip("cryptography", reason="a ledger, a memo and a receipt need the extra crypto")
    line = tmp_path / "line.txt"
    for name in ("keys", "books"):
        (tmp_path / name).mkdir()
    options = [part.format(folder=tmp_path) for part in _forms()[form]]
    if "--text" in options:
        pytest.skip("a text on the command line is held by the system, which bounds it")
    more = [] if "--output" in options else ["-o", os.fspath(tmp_path / "out.txt")]
    arguments = ["sanitize", "-q", os.fspath(line), *more, "--sanitize-punctuation", *options]
    assert memory_of_lines.times_its_bytes(line, lambda size: '"' * size + "\n", arguments) <= MOST


@pytest.mark.full
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_no_line_of_all_costs_more(options: tuple[str, ...], unit: str, tmp_path: Path) -> None:
    assert times_its_bytes(tmp_path, unit, options) <= MOST


@pytest.mark.parametrize(
    ("module", "name", "unit"), [(looks, "LONGEST_ROW", "cells"), (batches, "CHUNK_SEGMENTS", "short words")]
)
def test_what_holds_a_whole_line_is_seen(
    module: object, name: str, unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, 1 << 30)
    assert times_its_bytes(tmp_path, UNITS[unit], ()) > MOST


@pytest.mark.slow
def test_a_long_document_of_consistent_draws_costs_no_more(tmp_path: Path) -> None:
    """However few of its words are drawn: they are not held whole."""
    assert times_its_bytes(tmp_path, "the a, ", ("--consistent",)) <= MOST


def test_words_that_folding_makes_long_are_remembered_by_their_hash(loaded: Sanitizer) -> None:
    """Consistent draws remember every word: folded, these would be eighteen times as long. Equal ones stay equal."""
    words = ["\ufdfa" * 990 + first + second for first in "abcdefgh" for second in "abcdefgh"]
    text = " ".join([*words, *words])
    tracemalloc.start()
    try:
        drawn = loaded.sanitize(text, consistent=True).text.split(" ")
        assert tracemalloc.get_traced_memory()[1] <= MOST * len(text.encode()) / 2
    finally:
        tracemalloc.stop()
    assert len(drawn) == 128
    assert drawn[:64] == drawn[64:]
