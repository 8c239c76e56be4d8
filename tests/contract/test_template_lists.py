"""Runtime and second reader refuse the same entries of the template's lists."""

from pathlib import Path

import pytest
import reference_reader as reader
from small_lists import FUNCTION_WORDS
from small_staircase import small_staircase
from textveil import Sanitizer
from textveil.bundle import DEFAULT_BUNDLE
from textveil.errors import BundleDamaged
from whole_texts import KINDS, write_bundle

BAD_LISTS = {
    "given-name": ["john's", "x1", "John", "a b", "can’t", "don't", "...", ":d", "", "ﬁ", "john\tname-like"],
    "year": ["1499", "2100", "word", "1987\tmember-only", "1987 2011", "(1987)", "２０１１"],
    "other": [":d", ":)", "a", "1987", "x7-Q", '"a"@b', "x_y z_9"],
    "email": ["@kim", "kim@x", "name(at)host.", "a@b@c.de", '"a"@b.c'],
    "phone": ["5550142", "12-34", "1234-5678", "555 (123-4567)"],
    None: ["x1", "The", "a b", "'x", ".", ":d", "the\tcapitalized"],
}
GOOD_LISTS = {
    "given-name": ["o'brien", "n't", "a.b", "s", "nt"],
    "year": ["1500"],
    "other": ["名", "x_y"],
    "email": ["name(at)host", "a@b.c"],
    "phone": ["(555) 123-4567"],
    None: ["don't", "o'clock"],
}


@pytest.mark.parametrize(
    ("kind", "entry", "good"),
    [
        *((kind, entry, False) for kind, entries in BAD_LISTS.items() for entry in entries),
        *((kind, entry, True) for kind, entries in GOOD_LISTS.items() for entry in entries),
    ],
)
def test_the_same_entries_are_refused(tmp_path: Path, kind: str | None, entry: str, good: bool) -> None:
    lists = {
        name: (shape, content + (f"{entry}\n" if name == kind else "")) for name, (shape, content) in KINDS.items()
    }
    words = FUNCTION_WORDS if kind is not None else FUNCTION_WORDS + f"{entry}\n"
    folder = small_staircase(tmp_path / "bundle", function_words=words, kinds=lists)
    for opens in (Sanitizer.load, lambda folder: reader.check_lists(reader.open_bundle(folder))):
        if good:
            opens(folder)
        else:
            with pytest.raises((BundleDamaged, ValueError)):
                opens(folder)


@pytest.mark.slow
def test_the_lists_of_bundles_are_as_the_document_says(tmp_path: Path) -> None:
    for folder in (write_bundle(tmp_path / "bundle"), DEFAULT_BUNDLE):
        reader.check_lists(reader.open_bundle(folder))


def test_some_shapes_without_the_others_are_refused(tmp_path: Path) -> None:
    lists = {name: kind for name, kind in KINDS.items() if name != "path"}
    folder = small_staircase(tmp_path / "bundle", function_words=FUNCTION_WORDS, kinds=lists)
    with pytest.raises(BundleDamaged):
        Sanitizer.load(folder)
    with pytest.raises(ValueError, match="all shapes or none"):
        reader.check_lists(reader.open_bundle(folder))
