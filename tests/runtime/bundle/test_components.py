"""Components of a bundle: the staircase mechanism with its levels, and the lists of the template."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from damaged import JSON, refused, sign
from safetensors.numpy import load, save
from small_staircase import BASE, FUNCTION_WORDS, KINDS, LEVELS, NEIGHBORS, small_staircase
from textveil import Sanitizer
from textveil.bundle import open_bundle
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import BundleDamaged, UnknownMechanism
from wrong_staircases import LAWS, TABLES, level

# --- a bundle with a staircase -------------------------------------------------------------------------------------


def test_a_bundle_with_a_staircase_alone(tmp_path: Path) -> None:
    folder = small_staircase(tmp_path / "b")
    bundle = open_bundle(folder, TextBundle)
    assert (bundle.mechanisms, bundle.default_mechanism) == (("staircase",), "staircase")
    assert (bundle.santext_levels, bundle.santext_table, bundle.santext_metric, bundle.symbol_count) == (
        (),
        None,
        None,
        15,
    )
    for opened, stated in zip(bundle.staircase_levels, LEVELS, strict=True):
        assert {"name": opened.name, "epsilon": str(opened.epsilon), "share": str(opened.share)} == stated
    assert (bundle.default_staircase_level, bundle.default_mode) == ("8.5", "words")
    assert bundle.staircase_table is not None
    assert (bundle.staircase_table.neighbors == NEIGHBORS).all()
    assert (bundle.staircase_table.base == BASE).all()
    assert bundle.template is not None
    assert bundle.template.function_words == FUNCTION_WORDS
    assert {kind.name: (kind.shape, kind.utf_8.decode()) for kind in bundle.template.entity_types} == KINDS
    for mechanism in ("santext", "santext+", "fbdd", "krr", "random"):
        with pytest.raises(
            UnknownMechanism, match="this bundle contains staircase only: use --bundle artifacts/english-santext"
        ):
            Sanitizer(bundle).sanitize("the doctor", mechanism=mechanism)


@pytest.mark.parametrize("name", ["function-words.txt", "entity.weekday.txt", "staircase.safetensors"])
def test_a_file_that_is_not_listed(tmp_path: Path, name: str) -> None:
    """The manifest, or ``mechanism.json``, lacks what the other names."""
    folder = small_staircase(tmp_path / "b", manifest=lambda manifest: manifest["files"].pop(name))
    assert refused(folder) == f"manifest.json: does not list '{name}'"
    refused(small_staircase(tmp_path / "c", law=lambda law: law["files"].pop(name)))


@pytest.mark.parametrize("change", LAWS.values(), ids=LAWS.keys())
def test_a_law_that_is_none(tmp_path: Path, change: Callable[[JSON], object]) -> None:
    folder = small_staircase(tmp_path / "b", law=change)
    refused(folder)


def test_numbers_of_a_level_that_are_fine(tmp_path: Path) -> None:
    """The other side of what is refused above."""
    numbers = {"epsilon": ["0.001", "8.4", "006"], "share": ["1", "1/999999999", "2/3"]}
    for key, values in numbers.items():
        for value in values:
            assert (
                len(
                    open_bundle(small_staircase(tmp_path / "b", law=level(**{key: value})), TextBundle).staircase_levels
                )
                == 2
            )


@pytest.mark.parametrize("arrays", TABLES.values(), ids=TABLES.keys())
def test_a_table_that_is_wrong(tmp_path: Path, arrays: dict[str, Any]) -> None:
    refused(small_staircase(tmp_path / "b", **arrays))


@pytest.mark.parametrize("name", ["neighbors", "base", "roles"])
def test_a_missing_array(tmp_path: Path, name: str) -> None:
    folder = small_staircase(tmp_path / "b")
    arrays = load((folder / "staircase.safetensors").read_bytes())
    del arrays[name]
    (folder / "staircase.safetensors").write_bytes(save(arrays))
    sign(folder)
    refused(folder)


@pytest.mark.parametrize(
    "content", [b"\xff\n", b"", b"the\nthe\n", b"The\n", b"the\tlater\n", b"two words\n", b"\x1b[2J\n"]
)
@pytest.mark.parametrize("name", ["function-words.txt", "entity.weekday.txt", "shape.number.txt"])
def test_a_list_that_is_none(tmp_path: Path, name: str, content: bytes) -> None:
    """Refused when the bundle is opened or when the lists are first read, before anything is drawn."""
    folder = small_staircase(tmp_path / "b")
    (folder / name).write_bytes(content)
    sign(folder)
    with pytest.raises(BundleDamaged):
        Sanitizer.load(folder).sanitize("the doctor")


def test_names_outside_the_folder(tmp_path: Path) -> None:
    """A list may not lie elsewhere, even with the right hash."""
    (tmp_path / "outside.txt").write_text("friday\n")
    entry = {"sha256": hashlib.sha256(b"friday\n").hexdigest(), "bytes": 7}

    def law(law: JSON) -> None:
        law["files"]["../outside.txt"] = entry["sha256"]
        del law["files"]["entity.weekday.txt"]
        law["template"]["entity_types"][-2]["file"] = "../outside.txt"

    folder = small_staircase(
        tmp_path / "b", law=law, manifest=lambda manifest: manifest["files"].update({"../outside.txt": entry})
    )
    assert refused(folder) == "manifest.json: lists a file outside the bundle"
