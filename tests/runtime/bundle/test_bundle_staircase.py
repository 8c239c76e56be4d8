"""What version 3 of the format is for: one identity for all that is promised, and bundles with a staircase."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from damaged import JSON, of_version_2, read_json, refused, sign, sign_manifest
from safetensors.numpy import load, save
from small_staircase import BASE, FUNCTION_WORDS, KINDS, LEVELS, NEIGHBORS, small_staircase
from textveil import Sanitizer
from textveil.bundle.text_bundle import TABLE_MECHANISMS, Bundle
from textveil.errors import BundleDamaged, IdentityMismatch, UnknownMechanism
from wrong_staircases import LAWS, TABLES, level

# --- the identity --------------------------------------------------------------------------------------------------


def labeled(folder: Path, epsilon: float) -> None:
    """Certificate and labels say one epsilon everywhere, under hashes that fit: the honest exporter, or an attacker."""
    manifest = read_json(folder / "manifest.json")
    entry = {mechanism: {"epsilon_certified": epsilon} for mechanism in TABLE_MECHANISMS}
    certificate = {
        "format": "textveil-certificate",
        "format_version": 2,
        "identity": manifest["files"]["law.json"]["sha256"],
        "levels": {"low": entry, "high": entry},
    }
    (folder / "certificate.json").write_text(json.dumps(certificate))
    manifest["files"]["certificate.json"] = None
    manifest["levels"] = certificate["levels"]
    sign_manifest(folder, manifest)


@pytest.fixture
def certified(tiny_path: Path, tmp_path: Path) -> Path:
    """A bundle certified at 15.5."""
    folder = Path(shutil.copytree(tiny_path, tmp_path / "certified"))
    labeled(folder, 15.5)
    return folder


def test_rewritten_labels_are_another_bundle(certified: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack: all labels and the certificate say 0.01, and all hashes fit."""
    pinned = Bundle(certified)
    assert Sanitizer.load(certified, expect_id=pinned.identity).terms(level="high").epsilon == 15.5
    labeled(certified, 0.01)
    assert Sanitizer.load(certified).terms(level="high").epsilon == 0.01  # from elsewhere, a bundle may say anything
    assert Bundle(certified).law_identity == pinned.law_identity
    with pytest.raises(IdentityMismatch):
        Sanitizer.load(certified, expect_id=pinned.identity)
    monkeypatch.setattr("textveil.text.sanitizer.DEFAULT_BUNDLE", certified)
    monkeypatch.setattr("textveil.text.sanitizer.DEFAULT_BUNDLE_ID", pinned.identity)
    with pytest.raises(IdentityMismatch):
        Sanitizer.load()


def test_the_attack_of_version_2_is_why(certified: Path) -> None:
    """The same attack on version 2 goes unseen: the test above would not pass with its identity."""
    law = of_version_2(read_json(certified / "law.json"))
    (certified / "law.json").write_text(json.dumps(law))
    manifest = {**read_json(certified / "manifest.json"), "format_version": 2}
    sign_manifest(certified, manifest)
    labeled(certified, 15.5)
    pinned = Bundle(certified).identity
    labeled(certified, 0.01)
    assert Sanitizer.load(certified, expect_id=pinned).terms(level="high").epsilon == 0.01


@pytest.mark.parametrize("key", ["name", "licence", "attribution", "label", "levels", "provenance", "later"])
def test_every_part_of_the_manifest_is_in_the_identity(certified: Path, key: str) -> None:
    pinned = Bundle(certified).identity
    manifest = read_json(certified / "manifest.json")
    manifest[key] = {} if key in ("levels", "provenance") else "another"
    (certified / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(IdentityMismatch):
        Sanitizer.load(certified, expect_id=pinned)


def test_the_hash_of_the_certificate_is_in_the_identity(certified: Path) -> None:
    pinned = Bundle(certified).identity
    path = certified / "certificate.json"
    path.write_bytes(path.read_bytes() + b"\n")
    refused(certified)
    sign_manifest(certified, read_json(certified / "manifest.json"))
    with pytest.raises(IdentityMismatch):
        Sanitizer.load(certified, expect_id=pinned)


# --- a bundle with a staircase -------------------------------------------------------------------------------------


def test_a_bundle_with_a_staircase_alone(tmp_path: Path) -> None:
    folder = small_staircase(tmp_path / "b")
    bundle = Bundle(folder)
    assert bundle.identity == hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    assert (bundle.version, bundle.mechanisms, bundle.default_mechanism) == (3, ("staircase",), "staircase")
    assert (bundle.levels, bundle.symbols) == ((), 15)
    for opened, stated in zip(bundle.staircase_levels, LEVELS, strict=True):
        assert (opened.name, str(opened.epsilon)) == (stated["name"], stated["epsilon"])
        assert (str(opened.share), str(opened.own_share)) == (stated["share"], stated["own_share"])
    assert (bundle.default_staircase_level, bundle.default_visible) == ("usual", "function-words")
    assert bundle.staircase is not None
    assert (bundle.staircase.neighbors == NEIGHBORS).all()
    assert (bundle.staircase.base == BASE).all()
    assert bundle.skeleton is not None
    assert bundle.skeleton.function_words == FUNCTION_WORDS
    assert {kind.name: (kind.shape, kind.content) for kind in bundle.skeleton.kinds} == KINDS
    with pytest.raises(UnknownMechanism, match=r"^this bundle carries staircase only$"):
        _ = bundle.table


def test_it_draws(tmp_path: Path) -> None:
    sanitizer = Sanitizer.load(small_staircase(tmp_path / "b"))
    result = sanitizer.sanitize("The doctor was in the clinic on Monday.")
    assert result.text.startswith("The ")
    assert result.text.endswith(".")


@pytest.mark.parametrize("name", ["function-words.txt", "kind.weekday.txt", "staircase.safetensors", "vocabulary.tsv"])
def test_one_byte_of_a_file(tmp_path: Path, name: str) -> None:
    folder = small_staircase(tmp_path / "b")
    content = bytearray((folder / name).read_bytes())
    for place in (0, len(content) // 2, len(content) - 1):
        changed = bytearray(content)
        changed[place] ^= 1
        (folder / name).write_bytes(changed)
        assert refused(folder) == f"{name}: does not match its hash"
    (folder / name).unlink()
    assert refused(folder) == f"{name}: cannot be read"


@pytest.mark.parametrize("name", ["function-words.txt", "kind.weekday.txt", "staircase.safetensors"])
def test_a_file_that_is_not_listed(tmp_path: Path, name: str) -> None:
    """The manifest, or ``law.json``, lacks what the other names."""
    folder = small_staircase(tmp_path / "b", manifest=lambda manifest: manifest["files"].pop(name))
    assert refused(folder) == f"manifest.json: does not list '{name}'"
    refused(small_staircase(tmp_path / "c", law=lambda law: law["files"].pop(name)))


@pytest.mark.parametrize("change", LAWS.values(), ids=LAWS.keys())
def test_a_law_that_is_none(tmp_path: Path, change: Callable[[JSON], object]) -> None:
    folder = small_staircase(tmp_path / "b", law=change)
    refused(folder)


def test_numbers_of_a_level_that_are_fine(tmp_path: Path) -> None:
    """The other side of what is refused above."""
    numbers = {"epsilon": ["0.001", "8.4", "006"], "share": ["1", "1/999999999", "2/3"], "own_share": ["0", "1", "3/4"]}
    for key, values in numbers.items():
        for value in values:
            assert len(Bundle(small_staircase(tmp_path / "b", law=level(**{key: value}))).staircase_levels) == 2


@pytest.mark.parametrize("arrays", TABLES.values(), ids=TABLES.keys())
def test_a_table_that_is_wrong(tmp_path: Path, arrays: dict[str, Any]) -> None:
    refused(small_staircase(tmp_path / "b", **arrays))


@pytest.mark.parametrize("name", ["neighbours", "base", "roles"])
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
@pytest.mark.parametrize("name", ["function-words.txt", "kind.weekday.txt", "kind.number.txt"])
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
        del law["files"]["kind.weekday.txt"]
        law["skeleton"]["kinds"][-2]["file"] = "../outside.txt"

    folder = small_staircase(
        tmp_path / "b", law=law, manifest=lambda manifest: manifest["files"].update({"../outside.txt": entry})
    )
    assert refused(folder) == "manifest.json: lists a file outside the bundle"
