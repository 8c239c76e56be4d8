"""Opening a bundle: every byte accounted for, and no bundle that is not what it says."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged import JSON, of_version_2, read_json, refused, sign, sign_manifest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save
from textveil import Sanitizer, TextveilError
from textveil.bundle.text_bundle import Bundle
from textveil.cli import show_text as report
from textveil.errors import BundleDamaged, BundleNotFound, BundleVersion, IdentityMismatch
from textveil_export.text.build import Contents
from textveil_export.text.write import write_bundle

FILES = ("manifest.json", "law.json", "vocabulary.tsv", "table.safetensors", "embeddings.safetensors", "README.md")
REFUSED = (BundleDamaged, BundleVersion, BundleNotFound)
reading = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
HIGH = "weights.high.santext.capped"


@pytest.fixture
def copy(tiny_path: Path, tmp_path: Path) -> Path:
    """A copy of the tiny bundle, to damage."""
    return Path(shutil.copytree(tiny_path, tmp_path / "copy"))


def same(first: Bundle, second: Bundle) -> bool:
    """Whether two bundles do the same, by every array that decides it."""
    return (
        first.law_identity == second.law_identity
        and (first.vocabulary, first.ids, first.tokens) == (second.vocabulary, second.ids, second.tokens)
        and first.table.tensors.keys() == second.table.tensors.keys()
        and all((first.table.tensors[name] == array).all() for name, array in second.table.tensors.items())
        and [level.name for level in first.levels] == [level.name for level in second.levels]
    )


# --- a sound bundle ------------------------------------------------------------------------------------------------


def test_a_sound_bundle_opens(tiny_path: Path, copy: Path) -> None:
    bundle = Bundle(copy)
    assert same(bundle, Bundle(tiny_path))
    assert bundle.identity == hashlib.sha256((copy / "manifest.json").read_bytes()).hexdigest()
    assert bundle.law_identity == hashlib.sha256((copy / "law.json").read_bytes()).hexdigest()
    assert (bundle.version, bundle.mechanisms) == (3, ("santext", "santext+"))
    assert (bundle.tokens, len(bundle.vocabulary), len(bundle.ids)) == ("word", 40, 41)
    assert bundle.metric is not None
    assert bundle.metric.rows.shape == (41, 8)
    assert bundle.tails == ("capped",)
    assert [level.name for level in bundle.levels] == ["low", "high"]


def test_a_signed_copy_is_the_same_bundle(copy: Path, tiny_path: Path) -> None:
    """The attacks below change one thing each: signing alone changes nothing."""
    sign(copy)
    bundle, original = Bundle(copy), Bundle(tiny_path)
    assert bundle.vocabulary == original.vocabulary
    assert (bundle.table.scores == original.table.scores).all()


def test_the_built_in_bundle_has_the_identity_that_is_pinned(english: Sanitizer) -> None:
    from textveil.bundle.defaults import DEFAULT_BUNDLE
    from textveil.bundle.defaults import DEFAULT_BUNDLE_ID as DEFAULT_IDENTITY

    assert english.bundle.identity == DEFAULT_IDENTITY
    assert english.bundle.identity == hashlib.sha256((DEFAULT_BUNDLE / "manifest.json").read_bytes()).hexdigest()


def test_another_bundle_in_the_place_of_the_built_in_one(tiny_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textveil.text.sanitizer.DEFAULT_BUNDLE", tiny_path)
    with pytest.raises(IdentityMismatch):
        Sanitizer.load()
    assert Sanitizer.load(tiny_path).bundle.vocabulary


def test_an_expected_identity(tiny_path: Path) -> None:
    identity = Bundle(tiny_path).identity
    for spelled in (identity, identity.upper(), f" {identity}\n"):
        assert Sanitizer.load(tiny_path, expect_id=spelled).bundle.identity == identity
    for other in ("", "0" * 64, identity[:-1], identity + "0", "canary"):
        with pytest.raises(IdentityMismatch) as mismatch:
            Sanitizer.load(tiny_path, expect_id=other)
        assert str(mismatch.value) == f"the bundle has another identity: {identity}"


def test_arrays_are_mapped_and_read_only(tiny_path: Path) -> None:
    table = Bundle(tiny_path).table
    for array in (table.neighbors, table.scores, table.roles, *table.tensors.values()):
        assert not array.flags.owndata
        assert not array.flags.writeable


# --- missing, truncated, flipped -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(copy: Path, name: str) -> None:
    (copy / name).unlink()
    refused(copy, BundleNotFound if name == "manifest.json" else BundleDamaged)


@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_the_place_of_a_file(copy: Path, name: str) -> None:
    (copy / name).unlink()
    (copy / name).mkdir()
    refused(copy, BundleNotFound if name == "manifest.json" else BundleDamaged)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", ["empty", "half", "one byte less", "one byte more", "doubled", "line ends"])
def test_a_file_of_another_size(copy: Path, tiny_path: Path, name: str, change: str) -> None:
    content = (copy / name).read_bytes()
    changed = {
        "empty": b"",
        "half": content[: len(content) // 2],
        "one byte less": content[:-1],
        "one byte more": content + b"\0",
        "doubled": content * 2,
        "line ends": content.replace(b"\n", b"\r\n"),
    }[change]
    (copy / name).write_bytes(changed)
    if name == "manifest.json" and change in ("one byte less", "line ends"):
        assert same(Bundle(copy), Bundle(tiny_path))  # white space in JSON
        assert Bundle(copy).identity != Bundle(tiny_path).identity
        return
    refused(copy)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES[1:])
def test_every_single_byte_counts(copy: Path, name: str) -> None:
    """Every byte of every hashed file, changed in one bit, in turn."""
    content = (copy / name).read_bytes()
    step = max(1, len(content) // 500)
    for place in range(0, len(content), step):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        (copy / name).write_bytes(changed)
        assert name in refused(copy)


@pytest.mark.slow
@settings(reading, max_examples=600)
@given(st.data())
def test_a_flipped_bit_is_refused(copy: Path, tiny_path: Path, data: st.DataObject) -> None:
    """In any file but the manifest: refused. In the manifest: refused, or another identity for the same mechanism."""
    name = data.draw(st.sampled_from(FILES))
    content = bytearray((tiny_path / name).read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    (copy / name).write_bytes(content)
    try:
        bundle = Bundle(copy)
    except REFUSED:
        return
    finally:
        shutil.copyfile(tiny_path / name, copy / name)
    assert name == "manifest.json"
    assert same(bundle, Bundle(tiny_path))
    assert bundle.identity != Bundle(tiny_path).identity
    use(bundle)


@pytest.mark.slow
def test_every_byte_of_the_manifest_in_turn(copy: Path, tiny_path: Path) -> None:
    """What it may say and still be opened must not touch the mechanism, and changes the identity each time."""
    original = Bundle(tiny_path)
    content = (copy / "manifest.json").read_bytes()
    opened = 0
    identities = {original.identity}
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 7
        (copy / "manifest.json").write_bytes(changed)
        try:
            bundle = Bundle(copy)
        except REFUSED:
            continue
        opened += 1
        identities.add(bundle.identity)
        assert same(bundle, original)
        use(bundle)
    assert 0 < opened < len(content)
    assert len(identities) == opened + 1


def use(bundle: Bundle) -> None:
    """What a sound manifest must be good for: describing the bundle and using it with its defaults."""
    assert report.information(bundle)
    assert report.information(bundle, as_json=True)
    assert Sanitizer(bundle).sanitize("the doctor").tokens == 2


# --- foreign -------------------------------------------------------------------------------------------------------


def test_there_is_no_bundle(tmp_path: Path, tiny_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("canary")
    for path in (tmp_path, tmp_path / "none", tmp_path / "notes.txt", tiny_path / "law.json", Path("\0"), Path("x\0y")):
        refused(path, BundleNotFound)
    for path in ("", "nowhere", str(tmp_path)):
        with pytest.raises(BundleNotFound):
            Sanitizer.load(path)


def test_a_path_longer_than_a_name_can_be(tmp_path: Path) -> None:
    refused(tmp_path / ("x" * 5000), BundleNotFound)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"[1, 2]", b"5", b"null", b'"text"', b"{}", b"{", b"{]", b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}",
        b"\0",
        b"[" * 200_000, b'{"a":' * 200_000, b'{"format": ' + b"[" * 200_000, b"9" * 10_000, b'{"a": NaN}',
        b'{"format": "safetensors"}', b'{"format": ["textveil-bundle"]}', b'{"format": null, "format_version": 1}',
    ],
    ids=lambda content: content[:16].decode("latin-1") or "empty",
)  # fmt: skip
@pytest.mark.parametrize("name", ["manifest.json", "law.json"])
def test_json_that_is_no_bundle(copy: Path, name: str, content: bytes) -> None:
    (copy / name).write_bytes(content)
    if name == "law.json":
        sign_manifest(copy, read_json(copy / "manifest.json"))
    refused(copy)


@pytest.mark.parametrize("name", ["manifest.json", "law.json"])
def test_a_key_that_occurs_twice(copy: Path, name: str) -> None:
    """Two readers would read two bundles out of it."""
    text = (copy / name).read_text("utf-8")
    first = {"manifest.json": '{"format_version": 3, ', "law.json": '{"symbols": 40, '}[name]
    (copy / name).write_text(first + text.lstrip()[1:], "utf-8")
    if name == "law.json":
        sign_manifest(copy, read_json(copy / "manifest.json"))
    refused(copy)


@pytest.mark.parametrize("version", [0, 1, 4, -1, 1.5, 3.0, "3", True, None, [3], {}, 10**30])
def test_another_version(copy: Path, version: object) -> None:
    manifest = read_json(copy / "manifest.json")
    manifest["format_version"] = version
    (copy / "manifest.json").write_text(json.dumps(manifest))
    assert "format version 2 and 3" in refused(copy, BundleVersion)
    del manifest["format_version"]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    refused(copy, BundleVersion)


def test_a_later_version_is_named_before_anything_else(copy: Path) -> None:
    (copy / "manifest.json").write_text('{"format": "textveil-bundle", "format_version": 4}')
    (copy / "law.json").unlink()
    refused(copy, BundleVersion)


@pytest.mark.parametrize("key", ["files", "levels"])
@pytest.mark.parametrize("value", [None, [], "text", 5, {"x": None}, {"x": {}}])
def test_a_manifest_of_another_shape(copy: Path, key: str, value: object) -> None:
    """Refused when it is opened, not when it is used; ``levels`` only labels, and may lack any."""
    manifest = read_json(copy / "manifest.json")
    manifest[key] = value
    (copy / "manifest.json").write_text(json.dumps(manifest))
    try:
        bundle = Bundle(copy)
    except BundleDamaged:
        return
    assert key == "levels"
    use(bundle)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mechanism", "canary"), ("mechanism", None), ("mechanism", ""), ("mechanism", 5), ("mechanism", []),
        ("mechanism", "krr"), ("level", "canary"), ("level", None), ("level", ["low"]),
        ("replacement_probability", "canary"), ("replacement_probability", None), ("replacement_probability", "0"),
        ("replacement_probability", "1.5"), ("replacement_probability", "1/0"), ("replacement_probability", []),
        ("replacement_probability", ""), ("tail", "exact"), ("tail", "heavy"), ("tail", None), ("tail", ["capped"]),
        ("later", 1),
    ],
)  # fmt: skip
def test_defaults_that_cannot_be_used(copy: Path, key: str, value: object) -> None:
    """A bundle whose own defaults do not work is damaged, and says so when it is opened."""
    law = read_json(copy / "law.json")
    law["defaults"]["santext"][key] = value
    (copy / "law.json").write_text(json.dumps(law))
    sign(copy)
    refused(copy)


@pytest.mark.parametrize("value", ["canary", "", [], {}, True, "5", float("nan"), float("inf"), -1, 0, 10**400])
def test_a_certificate_that_is_no_number(copy: Path, value: object) -> None:
    """A label is a positive number or null; anything else would be printed as a promise."""
    manifest = read_json(copy / "manifest.json")
    manifest["levels"]["low"]["santext+"]["capped"]["epsilon_certified"] = value
    (copy / "manifest.json").write_text(json.dumps(manifest))
    refused(copy)


def test_unknown_keys_of_the_manifest_are_ignored(copy: Path, tiny_path: Path) -> None:
    manifest = read_json(copy / "manifest.json")
    manifest["later"] = {"certificate": [1, 2, 3]}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    assert same(Bundle(copy), Bundle(tiny_path))


def test_files_that_no_one_lists_are_ignored(copy: Path, tiny_path: Path) -> None:
    (copy / "notes.txt").write_text("x")
    assert same(Bundle(copy), Bundle(tiny_path))


# --- names in the manifest -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["../outside.txt", "../copy/README.md", "./README.md", "sub/file", "/etc/hostname", "..", ".", "",
     "sub/../README.md", "README.md/", "..\\outside.txt", "C:\\x", "\\\\host\\share", "a\0b", "manifest.json",
     "x" * 5000, "README.md\n", "\ud800"],
    ids=lambda name: ascii(name[:20]),
)  # fmt: skip
def test_names_outside_the_folder(copy: Path, name: str) -> None:
    (copy.parent / "outside.txt").write_text("canary")
    (copy / "sub").mkdir()
    (copy / "sub" / "file").write_text("canary")
    manifest = read_json(copy / "manifest.json")
    manifest["files"][name] = {"sha256": hashlib.sha256(b"canary").hexdigest(), "bytes": 6}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    assert "canary" not in refused(copy)


@pytest.mark.parametrize(
    "entry", [None, [], 5, "text", {}, {"sha256": "0" * 64}, {"bytes": 1}, {"sha256": None, "bytes": 0}]
)
def test_entries_of_the_manifest(copy: Path, entry: object) -> None:
    manifest = read_json(copy / "manifest.json")
    manifest["files"]["README.md"] = entry
    (copy / "manifest.json").write_text(json.dumps(manifest))
    refused(copy)


@pytest.mark.parametrize("name", ["law.json", "vocabulary.tsv", "table.safetensors"])
def test_what_a_manifest_must_list(copy: Path, name: str) -> None:
    manifest = read_json(copy / "manifest.json")
    del manifest["files"][name]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    assert name in refused(copy)


# --- law.json, signed ----------------------------------------------------------------------------------------------


def of_santext(law: JSON, level: int = 0) -> JSON:
    """The laws of a level of SanText."""
    return law["santext"]["levels"][level]["laws"]


LAW_CHANGES: dict[str, Callable[[JSON], object]] = {
    "an unknown key": lambda law: law.update(later=1),
    "an unknown key of santext": lambda law: law["santext"].update(later=1),
    "an unknown default": lambda law: law["defaults"].update(later=1),
    "no santext": lambda law: law.pop("santext"),
    "no staircase": lambda law: law.pop("staircase"),
    "no skeleton": lambda law: law.pop("skeleton"),
    "no defaults": lambda law: law.pop("defaults"),
    "neither santext nor a staircase": lambda law: law.update(santext=None),
    "santext of nothing": lambda law: law.update(santext={}),
    "santext a list": lambda law: law.update(santext=[law["santext"]]),
    "a staircase of nothing": lambda law: law.update(staircase={}),
    "a staircase without its files": lambda law: law.update(staircase={"levels": []}, skeleton={}),
    "a skeleton without a staircase": lambda law: law.update(skeleton={"function_words": "README.md", "kinds": []}),
    "defaults of a staircase that is not there": lambda law: law["defaults"].update(staircase={}),
    "santext without defaults": lambda law: law["defaults"].pop("santext"),
    "a default mechanism that is not there": lambda law: law["defaults"].update(mechanism="staircase"),
    "no default mechanism": lambda law: law["defaults"].pop("mechanism"),
    "defaults of version 2": lambda law: law.update(defaults=law["defaults"]["santext"]),
    "a law of version 2": lambda law: of_version_2(law),
    "no tokens": lambda law: law.pop("tokens"),
    "no symbols": lambda law: law.pop("symbols"),
    "no neighbors": lambda law: law["santext"].pop("neighbours"),
    "no grid": lambda law: law["santext"].pop("grid"),
    "no median": lambda law: law["santext"].pop("median_squared_distance"),
    "no extra": lambda law: law["santext"].pop("unknown_extra_squared_distance"),
    "no levels": lambda law: law["santext"].pop("levels"),
    "no files": lambda law: law.pop("files"),
    "other tokens": lambda law: law.update(tokens="letters"),
    "tokens of a list": lambda law: law.update(tokens=["word"]),
    "more symbols": lambda law: law.update(symbols=41),
    "fewer symbols": lambda law: law.update(symbols=39),
    "no symbol": lambda law: law.update(symbols=0),
    "negative symbols": lambda law: law.update(symbols=-1),
    "symbols of text": lambda law: law.update(symbols="40"),
    "symbols null": lambda law: law.update(symbols=None),
    "symbols true": lambda law: law.update(symbols=True),
    "symbols a float": lambda law: law.update(symbols=40.0),
    "more neighbors": lambda law: law["santext"].update(neighbours=9),
    "no neighbor": lambda law: law["santext"].update(neighbours=0),
    "grid 0": lambda law: law["santext"].update(grid=0),
    "grid -1": lambda law: law["santext"].update(grid=-1),
    "grid a float": lambda law: law["santext"].update(grid=8192.0),
    "grid true": lambda law: law["santext"].update(grid=True),
    "median 0": lambda law: law["santext"].update(median_squared_distance=0),
    "median negative": lambda law: law["santext"].update(median_squared_distance=-5),
    "extra negative": lambda law: law["santext"].update(unknown_extra_squared_distance=-1),
    "extra a float": lambda law: law["santext"].update(unknown_extra_squared_distance=0.5),
    "grid beyond integers": lambda law: law["santext"].update(grid=1 << 22),
    "grid beyond all": lambda law: law["santext"].update(grid=10**30),
    "median beyond integers": lambda law: law["santext"].update(median_squared_distance=1 << 62),
    "extra beyond integers": lambda law: law["santext"].update(unknown_extra_squared_distance=1 << 37),
    "extra beyond all": lambda law: law["santext"].update(unknown_extra_squared_distance=10**30),
    "empty levels": lambda law: law["santext"].update(levels=[]),
    "levels an object": lambda law: law["santext"].update(levels={}),
    "levels null": lambda law: law["santext"].update(levels=None),
    "levels of text": lambda law: law["santext"].update(levels=["low"]),
    "a level twice": lambda law: law["santext"]["levels"].append(law["santext"]["levels"][0]),
    "a level without a name": lambda law: law["santext"]["levels"][0].pop("name"),
    "a level with another name": lambda law: law["santext"]["levels"][0].update(name="other"),
    "a level named by a number": lambda law: law["santext"]["levels"][1].update(name=5),
    "a level with a key more": lambda law: law["santext"]["levels"][0].update(later=1),
    "a level without laws": lambda law: law["santext"]["levels"][0].pop("laws"),
    "a level without santext": lambda law: law["santext"]["levels"][0]["laws"].pop("santext"),
    "a level without santext+": lambda law: law["santext"]["levels"][0]["laws"].pop("santext+"),
    "a law more": lambda law: of_santext(law).update(later=of_santext(law)["santext"]),
    **{
        f"{key} {value!r}": (lambda law, pair={key: value}: of_santext(law, 1)["santext+"]["capped"].update(pair))
        for key, values in {
            "exponent": ["0", "-1", "nan", "inf", "x", "", None, [], {}, "1e999999999"],
            "weights": ["weights.none", None, 5, [], "neighbours", "scores", "roles"],
            "base": ["weights.low.santext.capped", "none", 5, [], "scores", ""],
            "later": [1],
            "tail": ["capped"],
        }.items()
        for value in values
    },
    "files empty": lambda law: law["files"].clear(),
    "files without the table": lambda law: law["files"].pop("table.safetensors"),
    "files without the vocabulary": lambda law: law["files"].pop("vocabulary.tsv"),
    "files a list": lambda law: law.update(files=list(law["files"])),
    "files null": lambda law: law.update(files=None),
    "a file more": lambda law: law["files"].update({"README.md": "0" * 64}),
    "a file that is not there": lambda law: law["files"].update({"later.bin": "0" * 64}),
}  # fmt: skip


@pytest.mark.parametrize("change", LAW_CHANGES.values(), ids=LAW_CHANGES.keys())
def test_a_law_that_is_none(copy: Path, change: Callable[[JSON], object]) -> None:
    law = read_json(copy / "law.json")
    change(law)
    (copy / "law.json").write_text(json.dumps(law), "utf-8")
    sign(copy)
    refused(copy)


def test_a_law_of_other_files(copy: Path) -> None:
    """The manifest fits the files, but ``law.json`` names others."""
    law = read_json(copy / "law.json")
    law["files"]["vocabulary.tsv"] = "0" * 64
    (copy / "law.json").write_text(json.dumps(law), "utf-8")
    sign_manifest(copy, read_json(copy / "manifest.json"))
    assert "does not belong to the files" in refused(copy)


# --- vocabulary.tsv, signed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"",
        lambda text: b"\n",
        lambda text: text[:-1],
        lambda text: text + b"zzz",
        lambda text: text + b"zzz\n",
        lambda text: text + b"\n",
        lambda text: text[4:],
        lambda text: text.replace(b"doctor\n", b"\n"),
        lambda text: text.replace(b"doctor\n", b"nurse\n"),
        lambda text: text.replace(b"doctor\n", b"doctor\tnurse\n"),
        lambda text: text.replace(b"doctor\n", b"doctor\tdoctor\n"),
        lambda text: text.replace(b"doctor\n", b"doctor\t\n"),
        lambda text: text.replace(b"doctor\n", b"\tdoctor\n"),
        lambda text: text.replace(b"doctor\n", b"doc\xfftor\n"),
        lambda text: text.replace(b"doctor\n", b"doc\xed\xa0\x80tor\n"),
        lambda text: text.decode().encode("utf-16"),
    ],
)
def test_a_vocabulary_that_does_not_fit(copy: Path, change: Callable[[bytes], bytes]) -> None:
    path = copy / "vocabulary.tsv"
    path.write_bytes(change(path.read_bytes()))
    sign(copy)
    refused(copy)


# --- table and rows, signed ----------------------------------------------------------------------------------------

Arrays = dict[str, np.ndarray]  # type: ignore[type-arg]
SMALLEST, LARGEST = -(2**63), 2**63 - 1


def put(name: str, place: object, value: object) -> Callable[[Arrays], object]:
    def change(arrays: Arrays) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value  # type: ignore[index]

    return change


def cast(name: str, dtype: object) -> Callable[[Arrays], object]:
    return lambda arrays: arrays.update({name: arrays[name].astype(dtype)})  # type: ignore[call-overload]


def filled(name: str, values: list[int]) -> Callable[[Arrays], object]:
    """The first entries, and the last of them repeated to the end."""

    def change(arrays: Arrays) -> None:
        size = len(arrays[name])
        arrays[name] = np.array((values + [values[-1]] * size)[:size], arrays[name].dtype)

    return change


TABLE_CHANGES: dict[str, Callable[[Arrays], object]] = {
    "no neighbors": lambda arrays: arrays.pop("neighbours"),
    "no scores": lambda arrays: arrays.pop("scores"),
    "no roles": lambda arrays: arrays.pop("roles"),
    "no weights": lambda arrays: arrays.pop(HIGH),
    "other arrays": lambda arrays: (arrays.clear(), arrays.update(x=np.zeros(3, np.uint8))),
    "no arrays": lambda arrays: arrays.clear(),
    "an id out of range": put("neighbours", (3, 2), 40),
    "an id of the unknown row": put("neighbours", (40, 7), 40),
    "the largest id": put("neighbours", (0, 0), 65535),
    "a neighbor twice": lambda arrays: put("neighbours", (20, 1), arrays["neighbours"][20, 0])(arrays),
    "decreasing scores": lambda arrays: put("scores", (5, 7), arrays["scores"][5, 6] - 1)(arrays),
    "decreasing scores of the unknown": put("scores", (40, 0), 65535),
    "a score beyond the weights": put("scores", (7, 7), 65535),
    "a row less": lambda arrays: arrays.update(neighbours=arrays["neighbours"][:-1].copy()),
    "a column less": lambda arrays: arrays.update(scores=arrays["scores"][:, :-1].copy()),
    "a role less": lambda arrays: arrays.update(roles=arrays["roles"][:-1].copy()),
    "transposed": lambda arrays: arrays.update(neighbours=np.ascontiguousarray(arrays["neighbours"].T)),
    "flat": lambda arrays: arrays.update(scores=arrays["scores"].ravel().copy()),
    "neighbors of 8 bits": cast("neighbours", np.uint8),
    "neighbors of 64 bits": cast("neighbours", np.int64),
    "scores of 32 bits": cast("scores", np.uint32),
    "signed roles": cast("roles", np.int8),
    "kept and an output": put("roles", 20, 1 | 2 | 4),
    "an output of santext+ alone": put("roles", 20, 2),
    "a neighbor that is no output": put("roles", 20, 0),
    "no output of santext+": lambda arrays: put("roles", slice(None), 1 | 4)(arrays),
    "no outputs": put("roles", slice(None), 0),
    "a role that there is not": put("roles", 20, 1 | 2 | 8),
    "weights of 32 bits": cast(HIGH, np.uint32),
    "weights in two dimensions": lambda arrays: arrays.update({HIGH: arrays[HIGH][:, None].copy()}),
    "too few weights": lambda arrays: arrays.update({HIGH: arrays[HIGH][:5].copy()}),
    "empty weights": lambda arrays: arrays.update({HIGH: arrays[HIGH][:0].copy()}),
    "a zero weight": put(HIGH, -1, 0),
    "a negative weight": put(HIGH, -1, -1),
    "increasing weights": put(HIGH, 0, 1),
    "all weights zero": put(HIGH, slice(None), 0),
    "all weights negative": put(HIGH, slice(None), -5),
    "all weights the smallest": put(HIGH, slice(None), SMALLEST),
    "all weights too large": put(HIGH, slice(None), LARGEST),
    "all weights 2**62": put(HIGH, slice(None), 1 << 62),
    "a first weight too large": put(HIGH, 0, LARGEST),
    "a first weight of 2**60": put(HIGH, 0, 1 << 60),
    "tails that overflow": put(HIGH, slice(None), 1 << 57),
    "an increase that overflows": filled(HIGH, [SMALLEST, 1]),
    "an increase that overflows later": filled(HIGH, [5, 5, SMALLEST, 1]),
    "an overflow from below": filled(HIGH, [LARGEST, SMALLEST, 1]),
}


@pytest.mark.parametrize("change", TABLE_CHANGES.values(), ids=TABLE_CHANGES.keys())
def test_a_table_that_is_wrong(copy: Path, change: Callable[[Arrays], object]) -> None:
    path = copy / "table.safetensors"
    arrays = load(path.read_bytes())
    change(arrays)
    path.write_bytes(save(arrays))
    sign(copy)
    refused(copy)


@pytest.mark.parametrize(
    ("base", "allowed"),
    [
        (np.ones(40, np.uint32), True),
        (np.full(40, 1000, np.uint32), True),
        (np.zeros(40, np.uint32), False),
        (np.where(np.arange(40) == 20, 0, 7).astype(np.uint32), False),
        (np.full(40, 2**32 - 1, np.uint32), False),
        (np.ones(39, np.uint32), False),
        (np.ones((40, 1), np.uint32), False),
        (np.ones(40, np.int64), False),
        (np.ones(40, np.uint8), True),
        (np.full(40, 255, np.uint8), True),
        (np.ones(40, np.uint16), True),
        (np.full(40, 65_535, np.uint16), False),
        (np.zeros(40, np.uint8), False),
        (np.ones(39, np.uint8), False),
        (np.ones(40, np.int8), False),
        (np.ones(40, np.uint64), False),
    ],
)
def test_a_base_measure(copy: Path, base: "np.ndarray[Any, Any]", allowed: bool) -> None:
    table, law = copy / "table.safetensors", read_json(copy / "law.json")
    arrays = load(table.read_bytes())
    arrays[HIGH] = arrays[HIGH] >> 12  # or totals would not fit whatever the base
    table.write_bytes(save({**arrays, "base.high": base}))
    for tails in law["santext"]["levels"][1]["laws"].values():
        tails["capped"]["base"] = "base.high"
    (copy / "law.json").write_text(json.dumps(law))
    sign(copy)
    if allowed:
        assert Sanitizer(Bundle(copy)).sanitize("the doctor", level="high").tokens == 2
    else:
        refused(copy)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"other": np.zeros((41, 8), np.int8)},
        {"rows": np.zeros((40, 8), np.int8)},
        {"rows": np.zeros((42, 8), np.int8)},
        {"rows": np.zeros((41, 8), np.uint8)},
        {"rows": np.zeros((41, 8), np.int64)},
        {"rows": np.zeros(41 * 8, np.int8)},
        {"rows": np.zeros((41, 2, 4), np.int8)},
    ],
)
def test_rows_that_do_not_fit(copy: Path, arrays: Arrays) -> None:
    path = copy / "embeddings.safetensors"
    path.write_bytes(save(arrays))
    sign(copy)
    with pytest.raises(BundleDamaged, match=r"^embeddings\.safetensors: "):
        Sanitizer(Bundle(copy)).distance("the", "doctor")


@pytest.mark.slow
@settings(reading, max_examples=300)
@given(st.data())
def test_a_signed_table_with_any_one_number_changed_stays_in_range(
    copy: Path, tiny_path: Path, data: st.DataObject
) -> None:
    """Whatever passes is sound: positive totals within 62 bits, no weight below zero, nothing outside the outputs."""
    arrays = load((tiny_path / "table.safetensors").read_bytes())
    name = data.draw(st.sampled_from(sorted(arrays)))
    limits = np.iinfo(arrays[name].dtype)
    edge = st.sampled_from([limits.min, limits.max, 0, 1])
    flat = arrays[name].copy().ravel()
    flat[data.draw(st.integers(0, flat.size - 1))] = data.draw(edge | st.integers(int(limits.min), int(limits.max)))
    arrays[name] = flat.reshape(arrays[name].shape)
    (copy / "table.safetensors").write_bytes(save(arrays))
    sign(copy)
    try:
        bundle = Bundle(copy)
    except BundleDamaged:
        return
    sanitizer = Sanitizer(bundle)
    for mechanism, bit in (("santext", 1), ("santext+", 2)):
        for level in ("low", "high"):
            law = sanitizer._plan({"mechanism": mechanism, "level": level}).mechanism
            for row in range(bundle.symbols + 1):
                rows = law.rows(np.array([row]))
                weights = rows.weights(0)
                assert 0 < sum(map(int, weights)) == int(rows.totals[0]) < 1 << 62
                assert ((weights > 0) == ((bundle.table.roles & bit) != 0)).all()


# --- whole bundles written by the exporter -------------------------------------------------------------------------


def test_the_writer_publishes_nothing_that_the_reader_refuses(
    make_contents: Callable[..., Contents], tmp_path: Path
) -> None:
    contents = make_contents()
    table = dict(contents.tensors["table.safetensors"])
    table["roles"] = table["roles"] | 7
    broken = replace(contents, tensors={**contents.tensors, "table.safetensors": table})
    with pytest.raises(BundleDamaged):
        write_bundle(broken, tmp_path / "bundle")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("exponent", ["0.25", "3.14159", "12"])
def test_levels_survive_the_way(make_bundle: Callable[..., Path], exponent: str) -> None:
    bundle = Bundle(make_bundle(levels={"only": exponent}))
    assert [level.parameters["santext", "capped"].exponent for level in bundle.levels] == [Decimal(exponent)]


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    assert not list(tmp_path.glob("**/.*partial*"))


@settings(reading, max_examples=100)
@given(st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=3), max_size=4))
@example({"format": "textveil-bundle", "format_version": 2, "files": 5})
@example({"format": "textveil-bundle", "format_version": 3, "files": 5})
def test_any_manifest_is_read_or_refused(folders: Path, manifest: JSON) -> None:
    (folders / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(REFUSED):
        Bundle(folders)
    with pytest.raises(TextveilError):
        Sanitizer.load(folders)
