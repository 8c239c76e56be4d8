"""No line costs more than twelve times its bytes in memory under the mechanisms that draw token by token.

As in ``test_memory.py``. A chunk of the bundle's words is small beside what a line costs.
"""

import os
import sys
import tracemalloc
from pathlib import Path

import memory_of_lines
import pytest
from memory_of_lines import MOST, SIZES, shrink
from textveil import Sanitizer
from textveil.text.rewrite import batches

GOLDEN = Path(__file__).parents[3] / "docs" / "golden"
UNITS = {
    "English": "The doctor in Boston said the scan was clean, and Mary agreed. ",
    "letters": "a",
    "letters and commas": "a,",
    "capitals": "A ",
    "domains": "www.a.com ",
    "numbers": "1 ",
    "U+FDFA apart": "\ufdfa ",
    "clitics": "I'm ",
    "umlauts": "é,",
    "blanks": " ",
    "quotation marks": '"',
}
MECHANISMS = {
    "santext": ("-m", "santext"),
    "santext+": ("-m", "santext+"),
    "fbdd": ("-m", "fbdd", "-e", "10"),
    "krr": ("-m", "krr", "-e", "2"),
    "JSON": ("-m", "santext", "--json"),
    "punctuation": ("-m", "santext+", "--sanitize-punctuation"),
}


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch.setattr)


def times(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    bundle: Path | None,
    unit: str,
    how: str,
    sizes: tuple[int, int] = SIZES,
) -> float:
    """What ``textveil sanitize`` holds at most, over the bytes of a line of one unit."""
    loaded = Sanitizer.load(bundle)
    monkeypatch.setattr(Sanitizer, "load", lambda *given, **more: loaded)
    line, out = folder / "line.txt", folder / "out.txt"
    arguments = ["sanitize", "-q", os.fspath(line), "-o", os.fspath(out), *MECHANISMS[how]]
    text = UNITS[unit]
    return memory_of_lines.times_its_bytes(
        line, lambda size: text * (size // len(text.encode()) + 1) + "\n", arguments, sizes
    )


@pytest.mark.slow
@pytest.mark.parametrize("how", ["santext", "JSON"])
def test_no_line_costs_more(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert times(tmp_path, monkeypatch, GOLDEN / "words", "capitals", how, (8_000, 20_000)) <= MOST


@pytest.mark.full
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("how", MECHANISMS)
@pytest.mark.parametrize("bundle", [GOLDEN / "words", GOLDEN / "wordpieces", None], ids=["words", "pieces", "built-in"])
def test_no_line_of_all_costs_more(
    bundle: Path | None, how: str, unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert times(tmp_path, monkeypatch, bundle, unit, how) <= MOST


def test_a_long_text_grows_where_it_is() -> None:
    """Parts and all of them together would be twice as much."""
    for part in ("ab" * 500, "a…" * 500):
        tracemalloc.start()
        try:
            text = batches.joined((part for _ in range(500)), " ")
            assert tracemalloc.get_traced_memory()[1] <= 1.2 * sys.getsizeof(text)
        finally:
            tracemalloc.stop()
        assert text == " ".join([part] * 500)
