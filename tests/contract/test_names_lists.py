"""The lists of the rung ``names``: product and reader read the same, and refuse the same."""

from pathlib import Path

import pytest
import reference_reader as reader
from damaged import sign
from small_names import write_names
from textveil.bundle import DEFAULT_BUNDLE, TextBundle, open_bundle
from textveil.bundle.layout import NAMES_MARKS
from textveil.errors import BundleDamaged

BAD = {
    "common-words.txt": [
        "b\na\n",
        "a\na\tstart\n",
        "A\n",
        "a\tlate\n",
        "a\t\n",
        "monday\n",
        "a\tstart,start\n",
        "",
        "a",
    ],
    "shown-capitals.txt": ["b\na\n", "a\na\n", "a\tstart\n", " a\n"],
    "symbols.txt": ["a\n", "++\n", "1\n", "\u0301\n", "\u200d\n", "\U0001f1e6\n", "\U0001f3fb\n", "\u2139\n"],
    "names.kind.city.txt": ["oslo\nlyon\n", "Oslo\n", "oslo\tstart\n", "\n"],
    "names.pool.city.txt": ["Oslo\nOslo\n", "\n", "Oslo\t\n", ""],
}
GOOD = {
    "common-words.txt": ["a\tstart,strict\nb\n", "i\tfunction\n", "naïve\n"],
    "symbols.txt": ["$\n+\n", "\U0001f680\n"],
    "names.kind.city.txt": ["new york\noslo\tcommon\nreading\tcapitalized\n"],
    "names.pool.city.txt": ["Oslo\nLyon\n", "São Paulo\n"],
}


@pytest.mark.parametrize(
    ("name", "content", "good"),
    [
        *((name, content, False) for name, contents in BAD.items() for content in contents),
        *((name, content, True) for name, contents in GOOD.items() for content in contents),
    ],
)
def test_the_same_lists_are_refused(tmp_path: Path, name: str, content: str, good: bool) -> None:
    folder = write_names(tmp_path / "bundle")
    (folder / name).write_text(content, "utf-8")
    sign(folder)
    for opens in (lambda: open_bundle(folder, TextBundle).require_names(), lambda: reader.open_bundle(folder)):
        if good:
            opens()
        else:
            with pytest.raises((BundleDamaged, ValueError)):
                opens()


@pytest.mark.parametrize("which", ["small", "built in"])
def test_the_same_is_read(tmp_path: Path, which: str) -> None:
    folder = write_names(tmp_path / "bundle") if which == "small" else DEFAULT_BUNDLE
    bundle, second = open_bundle(folder, TextBundle), reader.open_bundle(folder)
    if bundle.names is None:
        assert second.names is None
        return
    lists, read = bundle.require_names(), second.names
    assert lists.common == {
        word: sum(1 << NAMES_MARKS.index(mark) for mark in marks) for word, marks in read["common"].items()
    }
    assert (lists.capitals, lists.symbols) == (set(read["capitals"]), set(read["symbols"]))
    assert lists.kinds == {kind: found.keys() for kind, found in read["kinds"].items()}
    assert lists.pools == {kind: tuple(found) for kind, found in read["pools"].items()}
