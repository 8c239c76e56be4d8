"""No line needs more memory than twelve times its bytes, for any content and any way of sanitizing.

Counted by ``tracemalloc`` in the process of the command, which depends on no machine. Chunks are made small, so that a
short line has the relative cost of a long one.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import memory_of_lines
import pytest
from memory_of_lines import GOLDEN, MOST, SIZES, held, load_bundles, shrink
from signs import JOINED, WORDS, run_of
from text_options import WRITTEN
from textveil import Sanitizer
from textveil.text.rewrite import rewriter
from textveil_cli.files import detect_tables

#: Too long for each push: `make nightly` runs these tests.
pytestmark = pytest.mark.full

_GROWING = "emoji", "U+FDFA", "U+FDFA apart", "U+FDFA in long words", "all that expand"
#: What lines consist of. Of some a line is one segment, of others every character is one.
UNITS = {
    **WORDS,
    **{name: JOINED[name] for name in _GROWING},
    **{sign: sign for sign in ("a", "a,", "A ", "1", "1 ", "(1) ", "a. ", "é,", " ", '"')},
}
_WORDS = ("-b", str(GOLDEN / "words"), "-m")
OPTIONS = {
    "plain": (),
    "JSON": ("--json",),
    "punctuation": ("--sanitize-punctuation",),
    "consistent": ("--consistent", "--consistent-cap", "100000000"),
    "a file": ("--document", "file"),
    "all drawn": ("--protect", "all"),
    "santext": (*_WORDS, "santext"),
    "santext+": (*_WORDS, "santext+"),
    "fbdd": (*_WORDS, "fbdd", "-e", "10"),
    "krr": (*_WORDS, "krr", "-e", "2"),
    "santext, JSON": (*_WORDS, "santext", "--json"),
    "santext+, punctuation": (*_WORDS, "santext+", "--sanitize-punctuation"),
}


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sanitizer]:
    return load_bundles(tmp_path_factory.mktemp("small"))


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch, bundles: dict[str, Sanitizer]) -> None:
    """Load bundles and shrink chunks first, since constant memory would hide the cost of a line."""
    monkeypatch.setattr(Sanitizer, "load", lambda path=None, **more: bundles[Path(path or "staircase").name])
    shrink(monkeypatch.setattr)


def times_its_bytes(folder: Path, unit: str, options: Sequence[str]) -> float:
    """Return the peak memory of ``textveil sanitize`` divided by the bytes of a line of one unit."""
    line, out = folder / "line.txt", folder / "out.txt"
    arguments = ["sanitize", "-q", os.fspath(line), "-o", os.fspath(out), *options]
    sizes = (8_000, 20_000) if "-m" in options else SIZES  # they take longer
    return memory_of_lines.times_its_bytes(line, lambda size: run_of(unit, size) + "\n", arguments, sizes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "options"),
    [
        *((unit, "plain") for unit in ("English", "a,", "U+FDFA in long words", "all that expand")),
        *(("A ", options) for options in ("santext", "santext, JSON")),
    ],
)
def test_no_line_costs_more(unit: str, options: str, tmp_path: Path) -> None:
    assert times_its_bytes(tmp_path, UNITS[unit], OPTIONS[options]) <= MOST


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
    ("module", "name", "unit"),
    [(detect_tables, "MAX_EXAMINED_CHARACTERS", "cells"), (rewriter, "BLOCK_SEGMENTS", "short words")],
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


def test_words_that_folding_makes_long_are_remembered_by_their_hash(bundles: dict[str, Sanitizer]) -> None:
    """Consistent draws remember every word: folded, these would be eighteen times as long. Equal ones stay equal."""
    words = ["\ufdfa" * 990 + first + second for first in "abcdefgh" for second in "abcdefgh"]
    text = " ".join([*words, *words])
    drawn, most = held(lambda: bundles["staircase"].sanitize(text, consistent=True).text.split(" "))
    assert most <= MOST * len(text.encode()) / 2
    assert len(drawn) == 128
    assert drawn[:64] == drawn[64:]


def test_a_long_text_grows_where_it_is() -> None:
    """Parts together with the joined text would need twice as much."""
    for part in ("ab" * 500, "a…" * 500):
        text, most = held(lambda part=part: rewriter.join_long_text((part for _ in range(500)), " "))
        assert most <= 1.2 * sys.getsizeof(text)
        assert text == " ".join([part] * 500)
