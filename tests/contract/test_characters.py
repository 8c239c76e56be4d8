"""The runtime classifies every code point by the classes in the bundles."""

import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
import reference_reader
import regex
from damaged import MOVED, move_classes
from hypothesis import given
from hypothesis import strategies as st
from reference_reader.characters import NAMES, is_in
from reference_reader.segments import find_segments
from textveil import Sanitizer
from textveil.bundle.character_classes import parse_character_classes
from textveil.bundle.defaults import DEFAULT_BUNDLE, find_artifact
from textveil.bundle.layout import CHARACTER_CLASSES, CHARACTERS
from textveil.errors import BundleDamaged, EngineFailed
from textveil.text.segmentation.patterns import UNICODE_CLASSES
from textveil_export.text.contents import format_character_classes

GOLDEN = Path(__file__).parents[2] / "docs" / "golden"
EVERY = "".join(map(chr, range(sys.maxunicode + 1)))
#: What the runtime has for each class that cuts segments.
RUNTIME = {
    "blank": UNICODE_CLASSES.blank,
    "mark": UNICODE_CLASSES.mark,
    "letter": UNICODE_CLASSES.letter,
    "follower": UNICODE_CLASSES.attached,
    "middle": f"{UNICODE_CLASSES.inner}--[']",
    "connector": UNICODE_CLASSES.connector,
}


@pytest.mark.parametrize("name", CHARACTER_CLASSES)
def test_the_runtime_has_the_classes_of_the_bundle_for_every_code_point(name: str) -> None:
    classes = parse_character_classes((DEFAULT_BUNDLE / CHARACTERS).read_bytes())
    runs = regex.finditer(f"[{RUNTIME.get(name, CHARACTER_CLASSES[name])}]+", EVERY, regex.V1)
    assert tuple(place for run in runs for place in (run.start(), run.end() - 1)) == classes[name]


def test_all_bundles_have_what_the_exporter_makes() -> None:
    made = format_character_classes()
    for folder in (
        DEFAULT_BUNDLE,
        find_artifact("english-santext"),
        *(GOLDEN / n for n in ("words", "staircase")),
    ):
        assert (folder / CHARACTERS).read_text("utf-8") == made


def test_the_second_reader_finds_the_ends_of_ranges() -> None:
    ranges = parse_character_classes((DEFAULT_BUNDLE / CHARACTERS).read_bytes())
    assert ranges.keys() == NAMES
    for name, numbers in ranges.items():
        for first, last in zip(numbers[::2], numbers[1::2], strict=True):
            inside = [is_in(name, chr(place)) for place in (first - 1, first, last, last + 1)]
            assert inside == [False, True, True, False]


@pytest.mark.parametrize(
    "change",
    [
        ('"unicode": "', '"unicode": "v'),
        ('"blank": [9,13,', '"blank": [13,'),
        ('"blank": [9,13,', '"blank": [13,9,'),
        ('"blank": [9,13,', '"blank": [9,13,14,14,'),
        ('"blank": [9,13,', '"blank": [-9,13,'),
        ('"blank": [9,13,', '"blank": [9,13.0,'),
        ('"blank": [9,13,', '"blank": [9,"13",'),
        ('"blank": ', '"blanks": '),
        ('"Sc": ', '"Sd": [1,2],\n "Sc": '),
        ("126128,126128]", "126128,1114112]"),
    ],
)  # fmt: skip
def test_classes_that_are_none_are_refused(change: tuple[str, str]) -> None:
    made = format_character_classes()
    assert change[0] in made
    with pytest.raises(BundleDamaged, match=r"^characters\.json: "):
        parse_character_classes(made.replace(*change, 1).encode())


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sanitizer]:
    folder = tmp_path_factory.mktemp("moved") / "staircase"
    copytree(GOLDEN / "staircase", folder)
    move_classes(folder)
    reference_reader.open_bundle(folder)
    yield Sanitizer.load(folder)
    reference_reader.open_bundle(GOLDEN / "words")


@given(st.lists(st.sampled_from([*MOVED, *MOVED.values(), *"a1. @-é"]), max_size=12).map("".join))
def test_text_is_cut_by_the_classes_of_the_bundle(moved: Sanitizer, text: str) -> None:
    known = find_segments(text)
    pieces = moved.preview(text, protect="words")
    assert [piece for piece, _ in pieces] == [segment for _, segment in known]
    assert [what == "gap" for _, what in pieces] == [kind == "gap" for kind, _ in known]


def test_classes_that_every_unicode_has_are_refused_where_they_are_others(tmp_path: Path) -> None:
    copytree(GOLDEN / "words", tmp_path, dirs_exist_ok=True)
    move_classes(tmp_path, {"é": "."})
    with pytest.raises(EngineFailed):
        Sanitizer.load(tmp_path)


def test_what_comes_out_has_the_characters_of_the_text(moved: Sanitizer) -> None:
    done = moved.sanitize("doctor\u0591 \ue000x あ. あ", protect="words", consistent=True, deny=["あ"])
    assert "\u0591 " in done.text
    assert done.mapping is not None
    assert {pair.original for pair in done.mapping.pairs} <= {"doctor", "\ue000x", "あ", ""}
    assert moved.distribution("あa", protect="words") == moved.distribution("éa", protect="words")  # one unknown word


def test_a_listed_person_does_not_end_before_a_letter_that_another_character_replaces(tmp_path: Path) -> None:
    """Which characters are part of a word is not a class of the bundle: अ stays one, though its class is moved."""
    copytree(DEFAULT_BUNDLE, tmp_path, dirs_exist_ok=True)
    move_classes(tmp_path)
    sanitizer = Sanitizer.load(tmp_path)
    for text in ("Danielअ", "Daniel Kellerअ"):
        assert sanitizer.preview(text, known=[text[:-1]]) == sanitizer.preview(text)
    assert sanitizer.preview("Daniel अ", known=["Daniel"])[0] == ("Daniel", "person")


def test_nothing_is_read_where_nothing_can_stand_in(tmp_path: Path) -> None:
    copytree(GOLDEN / "staircase", tmp_path, dirs_exist_ok=True)
    move_classes(tmp_path, {"\ue004": "\u00a0"})
    sanitizer = Sanitizer.load(tmp_path)
    assert [what for _, what in sanitizer.preview("a\ue004b")] == ["kept", "gap", "unknown"]
    with pytest.raises(EngineFailed):
        sanitizer.sanitize("a\ue004b\u1680")  # the one blank that could


def test_each_of_many_characters_has_another_in_its_place_and_so_has_one_of_no_class(tmp_path: Path) -> None:
    """More than there are ranges of letters; and one that an engine knows as a letter and the bundle does not."""
    copytree(GOLDEN / "staircase", tmp_path, dirs_exist_ok=True)
    letters = "".join(map(chr, range(0xE000, 0xE3E0)))
    move_classes(tmp_path, {**dict.fromkeys(letters, "é"), "あ": "\uf8ff"})
    reference_reader.open_bundle(tmp_path)
    known = find_segments(f"{letters} あ. あa")
    reference_reader.open_bundle(GOLDEN / "words")
    pieces = Sanitizer.load(tmp_path).preview(f"{letters} あ. あa")
    assert [piece for piece, _ in pieces] == [segment for _, segment in known]
    assert [kind for kind, _ in known] == ["word", "gap", "string", "gap", "string"]
