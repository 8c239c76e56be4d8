"""What version 3 of the format is for: one identity for all that is promised, and bundles with a staircase."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged import JSON, of_version_2, read_json, refused, sign, sign_manifest
from safetensors.numpy import load, save
from small_staircase import BASE, FUNCTION_WORDS, KINDS, LEVELS, NEIGHBORS, ROLES, WORDS, small_staircase
from textveil import Sanitizer
from textveil.bundle.text_bundle import TABLE_MECHANISMS, Bundle
from textveil.errors import BundleDamaged, IdentityMismatch, UnknownMechanism
from textveil.mechanisms.table import CAPPED

# --- the identity --------------------------------------------------------------------------------------------------


def labeled(folder: Path, epsilon: float) -> None:
    """Certificate and labels say one epsilon everywhere, under hashes that fit: the honest exporter, or an attacker."""
    manifest = read_json(folder / "manifest.json")
    entry = {mechanism: {CAPPED: {"epsilon_certified": epsilon}} for mechanism in TABLE_MECHANISMS}
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
    assert (bundle.levels, bundle.tails, bundle.metric, bundle.symbols) == ((), (), None, 15)
    for opened, level in zip(bundle.staircase_levels, LEVELS, strict=True):
        assert (opened.name, str(opened.epsilon)) == (level["name"], level["epsilon"])
        assert (str(opened.share), str(opened.own_share)) == (level["share"], level["own_share"])
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


def level(**changes: object) -> Callable[[JSON], object]:
    return lambda law: law["staircase"]["levels"][0].update(changes)


def kind(**changes: object) -> Callable[[JSON], object]:
    return lambda law: law["skeleton"]["kinds"][-1].update(changes)


CHANGES: dict[str, Callable[[JSON], object]] = {
    "levels out of order": lambda law: law["staircase"]["levels"].reverse(),
    "an epsilon twice": level(epsilon="8.50"),
    "a name twice": level(name="usual"),
    "a name that is none": level(name=5),
    "no levels": lambda law: law["staircase"].update(levels=[]),
    "levels an object": lambda law: law["staircase"].update(levels={}),
    "a key more": lambda law: law["staircase"].update(later=1),
    "a key of a level more": level(later=1),
    "a level without a share": lambda law: law["staircase"]["levels"][0].pop("share"),
    **{
        f"{key} {value!r}": level(**{key: value})
        for key, values in {
            "epsilon": ["", "0", "0.0", "-1", "17", "1e1", "+6", " 6", "6.", ".5", "6,5", "nan", "inf", "٦", 6, None],
            "share": ["", "0", "0/5", "1/0", "2", "-1/2", "0.5", "1/2/3", "1 / 2", "1/01", "½", 1, None, ["1/2"]],
            "own_share": ["", "2", "1/0", "-1", "0.5", "3/2", 1, None, "1" * 10],
        }.items()
        for value in values
    },
    "wordpieces": lambda law: law.update(tokens="wordpiece"),
    "a symbol less": lambda law: law.update(symbols=14),
    "symbols a float": lambda law: law.update(symbols=15.0),
    "a default level that is not there": lambda law: law["defaults"]["staircase"].update(level="strongest"),
    "no default level": lambda law: law["defaults"]["staircase"].pop("level"),
    "a visible set that is not there": lambda law: law["defaults"]["staircase"].update(visible="names"),
    "a visible set null": lambda law: law["defaults"]["staircase"].update(visible=None),
    "a default more": lambda law: law["defaults"]["staircase"].update(kinds=True),
    "no defaults": lambda law: law["defaults"].pop("staircase"),
    "defaults of santext": lambda law: law["defaults"].update(santext={}),
    "santext by default": lambda law: law["defaults"].update(mechanism="santext"),
    "a skeleton without a staircase": lambda law: law.update(staircase=None),
    "a staircase without a skeleton": lambda law: law.update(skeleton=None),
    "neither": lambda law: law.update(staircase=None, skeleton=None),
    "a skeleton of nothing": lambda law: law.update(skeleton={}),
    "a key of the skeleton more": lambda law: law["skeleton"].update(later=1),
    "no kinds": lambda law: law["skeleton"].pop("kinds"),
    "function words null": lambda law: law["skeleton"].update(function_words=None),
    "function words elsewhere": lambda law: law["skeleton"].update(function_words="../function-words.txt"),
    "function words of the vocabulary": lambda law: law["skeleton"].update(function_words="vocabulary.tsv"),
    "a file named twice": kind(file="kind.weekday.txt"),
    "a file that is not there": kind(file="kind.later.txt"),
    "a kind twice": kind(name="weekday"),
    "a shape twice": kind(shape="number"),
    "a name with an escape": kind(name="\x1b[2J"),
    "a name null": kind(name=None),
    "a shape that is a number": kind(shape=5),
    "a key of a kind more": kind(later=1),
    "a kind without a shape": lambda law: law["skeleton"]["kinds"][-1].pop("shape"),
    "a file more": lambda law: law["files"].update({"README.md": "0" * 64}),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_law_that_is_none(tmp_path: Path, change: Callable[[JSON], object]) -> None:
    folder = small_staircase(tmp_path / "b", law=change)
    refused(folder)


def test_numbers_of_a_level_that_are_fine(tmp_path: Path) -> None:
    """The other side of what is refused above."""
    numbers = {"epsilon": ["0.001", "8.4", "006"], "share": ["1", "1/999999999", "2/3"], "own_share": ["0", "1", "3/4"]}
    for key, values in numbers.items():
        for value in values:
            assert len(Bundle(small_staircase(tmp_path / "b", law=level(**{key: value}))).staircase_levels) == 2


def put(array: Any, place: tuple[int, ...], value: int) -> Any:
    array = array.copy()
    array[place] = value
    return array


TOO_MUCH = {**LEVELS[0], "epsilon": "16", "share": "1"}
ARRAYS: dict[str, dict[str, Any]] = {
    "a neighbor that is no symbol": {"neighbors": put(NEIGHBORS, (3, 2), 15)},
    "a neighbor twice": {"neighbors": put(NEIGHBORS, (3, 2), int(NEIGHBORS[3, 3]))},
    "the word itself twice": {"neighbors": put(NEIGHBORS, (3, 2), 3)},
    "another word first": {"neighbors": NEIGHBORS[:, ::-1].copy()},
    "a row less": {"neighbors": NEIGHBORS[:-1].copy()},
    "a row more": {"neighbors": np.concatenate([NEIGHBORS, NEIGHBORS[-1:]])},
    "no neighbors": {"neighbors": NEIGHBORS[:, :0].copy()},
    "neighbors of eight bits": {"neighbors": NEIGHBORS.astype(np.uint8)},
    "neighbors with a sign": {"neighbors": NEIGHBORS.astype(np.int16)},
    "a zero base": {"base": put(BASE, (4,), 0)},
    "a base less": {"base": BASE[:-1].copy()},
    "a base of sixteen bits": {"base": BASE.astype(np.uint16)},
    "a base with a sign": {"base": BASE.astype(np.int32)},
    "totals too large": {"base": np.full(15, 2**32 - 1, np.uint32), "levels": [TOO_MUCH]},
    "a role that there is not": {"roles": put(ROLES, (7,), 16)},
    "a role less": {"roles": ROLES[:-1].copy()},
    "roles of sixteen bits": {"roles": ROLES.astype(np.uint16)},
    "a word more": {"words": [*WORDS, "later"]},
    "a word twice": {"words": [*WORDS[:-1], "the"]},
}  # fmt: skip


@pytest.mark.parametrize("arrays", ARRAYS.values(), ids=ARRAYS.keys())
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
