"""The one door: bundles of every kind, every byte accounted for, and what a manifest may say and name."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from damaged import FILES, JSON, read_json, refused, same, sign, sign_manifest, use
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from small_encoders import write_encoder
from small_index import write_index
from small_staircase import small_staircase
from textveil import Sanitizer, TextveilError
from textveil.bundle import MAX_BUNDLE_BYTES, IndexBundle, TextBundle, VectorBundle, open_bundle
from textveil.bundle.layout import TABLE_MECHANISMS
from textveil.bundle.opened import Opened
from textveil.errors import BundleDamaged, BundleNotFound, BundleVersion, IdentityMismatch, WrongBundle
from textveil.mechanisms.baselines.table import CAPPED
from textveil_export.text.build import Contents
from textveil_export.text.write import write_bundle

REFUSED = (BundleDamaged, BundleVersion, BundleNotFound)
reading = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


# --- a sound bundle ------------------------------------------------------------------------------------------------


def test_a_sound_bundle_opens(tiny_path: Path, copy: Path) -> None:
    bundle = open_bundle(copy, TextBundle)
    assert same(bundle, open_bundle(tiny_path, TextBundle))
    assert bundle.identity == hashlib.sha256((copy / "manifest.json").read_bytes()).hexdigest()
    assert bundle.law_identity == hashlib.sha256((copy / "law.json").read_bytes()).hexdigest()
    assert bundle.mechanisms == ("santext", "santext+")
    assert (bundle.tokens, len(bundle.vocabulary), len(bundle.ids)) == ("word", 40, 41)
    assert bundle.metric is not None
    assert bundle.metric.rows.shape == (41, 8)
    assert bundle.tails == ("capped",)
    assert [level.name for level in bundle.levels] == ["low", "high"]


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


def test_arrays_are_mapped_and_read_only(tiny_path: Path) -> None:
    table = open_bundle(tiny_path, TextBundle).table
    for array in (table.neighbors, table.scores, table.roles, *table.tensors.values()):
        assert not array.flags.owndata
        assert not array.flags.writeable


# --- every kind ----------------------------------------------------------------------------------------------------

KINDS: dict[str, tuple[Callable[[Path], Path], type[Opened]]] = {
    "text": (small_staircase, TextBundle),
    "vectors": (write_encoder, VectorBundle),
    "index": (write_index, IndexBundle),
}
CLASSES = [found for _, found in KINDS.values()]


@pytest.mark.parametrize("kind", KINDS)
def test_the_door_gives_the_class_of_the_kind(kind: str, tmp_path: Path) -> None:
    write, found = KINDS[kind]
    folder = write(tmp_path / "bundle")
    bundle = open_bundle(folder)
    assert type(bundle) is found is type(open_bundle(folder, found)) is type(open_bundle(folder, *CLASSES))
    assert (bundle.KIND, bundle.path, bundle.pinned) == (kind, folder, False)
    assert bundle.identity == hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    assert bundle.same == {"expect_id": bundle.identity, "max_bytes": MAX_BUNDLE_BYTES}
    assert open_bundle(folder, **bundle.same).pinned
    others = [other for other in CLASSES if other is not found]
    for other in (others[:1], others[1:], others):
        with pytest.raises(WrongBundle, match=r"^this (is a bundle for text|bundle releases (vectors|an index)) \("):
            open_bundle(folder, *other)


@pytest.mark.parametrize("kind", KINDS)
def test_every_byte_of_every_file_is_accounted_for(kind: str, tmp_path: Path) -> None:
    folder = KINDS[kind][0](tmp_path / "bundle")
    manifest = read_json(folder / "manifest.json")
    for name in manifest["files"]:
        path, content = folder / name, (folder / name).read_bytes()
        for altered in (content[:-1], content + b"\n", b"", bytes([content[0] ^ 1]) + content[1:]):
            path.write_bytes(altered)
            assert refused(folder).startswith(f"{name}: ")
        path.unlink()
        assert refused(folder) == f"{name}: cannot be read"
        path.write_bytes(content)
    open_bundle(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_an_expected_identity_covers_the_manifest(kind: str, tmp_path: Path) -> None:
    folder = KINDS[kind][0](tmp_path / "bundle")
    identity = open_bundle(folder).identity
    for spelled in (identity, identity.upper(), f" {identity}\n"):
        assert open_bundle(folder, expect_id=spelled).identity == identity
    for other in ("", "0" * 64, identity[:-1], identity + "0", "canary"):
        with pytest.raises(IdentityMismatch, match=f"^the bundle has another identity: {identity}$"):
            open_bundle(folder, expect_id=other)
    manifest = read_json(folder / "manifest.json")
    (folder / "manifest.json").write_text(json.dumps({**manifest, "licence": "another"}))
    with pytest.raises(IdentityMismatch):
        open_bundle(folder, expect_id=identity)


@pytest.mark.parametrize("kind", ["", None, 4, "texts", ["text"], {"text": 1}])
def test_a_kind_that_there_is_not(copy: Path, kind: object) -> None:
    (copy / "manifest.json").write_text(json.dumps({**read_json(copy / "manifest.json"), "kind": kind}))
    assert refused(copy) == "manifest.json: of no kind that there is (text, vectors, index)"


# --- missing, truncated, flipped -----------------------------------------------------------------------------------


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
        assert same(open_bundle(copy, TextBundle), open_bundle(tiny_path, TextBundle))  # white space in JSON
        assert open_bundle(copy, TextBundle).identity != open_bundle(tiny_path, TextBundle).identity
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
        bundle = open_bundle(copy, TextBundle)
    except REFUSED:
        return
    finally:
        shutil.copyfile(tiny_path / name, copy / name)
    assert name == "manifest.json"
    assert same(bundle, open_bundle(tiny_path, TextBundle))
    assert bundle.identity != open_bundle(tiny_path, TextBundle).identity
    use(bundle)


@pytest.mark.slow
def test_every_byte_of_the_manifest_in_turn(copy: Path, tiny_path: Path) -> None:
    """What it may say and still be opened must not touch the mechanism, and changes the identity each time."""
    original = open_bundle(tiny_path, TextBundle)
    content = (copy / "manifest.json").read_bytes()
    opened = 0
    identities = {original.identity}
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 7
        (copy / "manifest.json").write_bytes(changed)
        try:
            bundle = open_bundle(copy, TextBundle)
        except REFUSED:
            continue
        opened += 1
        identities.add(bundle.identity)
        assert same(bundle, original)
        use(bundle)
    assert 0 < opened < len(content)
    assert len(identities) == opened + 1


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


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    assert not list(tmp_path.glob("**/.*partial*"))


@settings(reading, max_examples=100)
@given(st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=3), max_size=4))
@example({"format": "textveil-bundle", "format_version": 4, "kind": "text", "files": 5})
@example({"format": "textveil-bundle", "format_version": 4, "kind": ["text"], "files": {}})
def test_any_manifest_is_read_or_refused(folders: Path, manifest: JSON) -> None:
    (folders / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(REFUSED):
        open_bundle(folders, TextBundle)
    with pytest.raises(TextveilError):
        Sanitizer.load(folders)


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
    pinned = open_bundle(certified, TextBundle)
    assert Sanitizer.load(certified, expect_id=pinned.identity).terms(level="high").epsilon == 15.5
    labeled(certified, 0.01)
    assert Sanitizer.load(certified).terms(level="high").epsilon == 0.01  # from elsewhere, a bundle may say anything
    assert open_bundle(certified, TextBundle).law_identity == pinned.law_identity
    with pytest.raises(IdentityMismatch):
        Sanitizer.load(certified, expect_id=pinned.identity)
    monkeypatch.setattr("textveil.text.sanitizer.DEFAULT_BUNDLE", certified)
    monkeypatch.setattr("textveil.text.sanitizer.DEFAULT_BUNDLE_ID", pinned.identity)
    with pytest.raises(IdentityMismatch):
        Sanitizer.load()


@pytest.mark.parametrize("key", ["name", "licence", "attribution", "label", "levels", "provenance", "later"])
def test_every_part_of_the_manifest_is_in_the_identity(certified: Path, key: str) -> None:
    pinned = open_bundle(certified, TextBundle).identity
    manifest = read_json(certified / "manifest.json")
    manifest[key] = {} if key in ("levels", "provenance") else "another"
    (certified / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(IdentityMismatch):
        Sanitizer.load(certified, expect_id=pinned)


def test_the_hash_of_the_certificate_is_in_the_identity(certified: Path) -> None:
    pinned = open_bundle(certified, TextBundle).identity
    path = certified / "certificate.json"
    path.write_bytes(path.read_bytes() + b"\n")
    refused(certified)
    sign_manifest(certified, read_json(certified / "manifest.json"))
    with pytest.raises(IdentityMismatch):
        Sanitizer.load(certified, expect_id=pinned)


# --- foreign -------------------------------------------------------------------------------------------------------


def test_there_is_no_bundle(tmp_path: Path, tiny_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("canary")
    for name in ("", "none", "x" * 5000, "notes.txt", "\0", "x\0y"):
        refused(tmp_path / name, BundleNotFound)
    refused(tiny_path / "law.json", BundleNotFound)
    for path in ("", "nowhere", str(tmp_path)):
        with pytest.raises(BundleNotFound):
            Sanitizer.load(path)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"[1, 2]", b"5", b"null", b'"text"', b"{}", b"{", b"{]", b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}",
        b"\0",
        b"[" * 60_000, b'{"a":' * 30_000, b'{"format": ' + b"[" * 60_000, b"9" * 10_000, b'{"a": NaN}',
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
    first = {"manifest.json": '{"format_version": 4, ', "law.json": '{"symbols": 40, '}[name]
    (copy / name).write_text(first + text.lstrip()[1:], "utf-8")
    if name == "law.json":
        sign_manifest(copy, read_json(copy / "manifest.json"))
    refused(copy)


@pytest.mark.parametrize("version", [0, 1, 2, 3, 5, -1, 4.5, 4.0, "4", True, None, [4], {}, 10**30])
def test_another_version(copy: Path, version: object) -> None:
    """It is named before anything else is looked at: of a version yet to come, nothing is known."""
    manifest = {**read_json(copy / "manifest.json"), "format_version": version}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    (copy / "law.json").unlink()
    assert refused(copy, BundleVersion) == "manifest.json: this release reads bundles of format version 4 only"
    del manifest["format_version"]
    (copy / "manifest.json").write_text(json.dumps({**manifest, "format": "textveil-encoder", "format_version": 1}))
    refused(copy, BundleVersion)


@pytest.mark.parametrize("key", ["files", "levels"])
@pytest.mark.parametrize("value", [None, [], "text", 5, {"x": None}, {"x": {}}])
def test_a_manifest_of_another_shape(copy: Path, key: str, value: object) -> None:
    """Refused when it is opened, not when it is used; ``levels`` only labels, and may lack any."""
    manifest = read_json(copy / "manifest.json")
    manifest[key] = value
    (copy / "manifest.json").write_text(json.dumps(manifest))
    try:
        bundle = open_bundle(copy, TextBundle)
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
    assert same(open_bundle(copy, TextBundle), open_bundle(tiny_path, TextBundle))


def test_files_that_no_one_lists_are_ignored(copy: Path, tiny_path: Path) -> None:
    (copy / "notes.txt").write_text("x")
    assert same(open_bundle(copy, TextBundle), open_bundle(tiny_path, TextBundle))


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
