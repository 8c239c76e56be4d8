"""Missing, altered and foreign files of a bundle are refused, and so are invalid names in a manifest."""

import hashlib
import json
from pathlib import Path

import pytest
from damaged import FILES, change_json, change_law, read_json, refused, same, sign_manifest, use
from textveil import Sanitizer
from textveil.bundle import TextBundle, open_bundle
from textveil.errors import BundleDamaged, BundleNotFound, BundleVersion

REFUSED = (BundleDamaged, BundleVersion, BundleNotFound)


# --- missing, truncated, flipped -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_the_place_of_a_file(copy: Path, name: str) -> None:
    (copy / name).unlink()
    (copy / name).mkdir()
    refused(copy, BundleNotFound if name == "manifest.json" else BundleDamaged)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES[1:])
def test_every_single_byte_counts(copy: Path, name: str) -> None:
    """Bytes all over every hashed file, each changed in one bit."""
    content = (copy / name).read_bytes()
    step = max(1, len(content) // 100)
    for place in range(0, len(content), step):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        (copy / name).write_bytes(changed)
        assert name in refused(copy)


@pytest.mark.slow
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.full)])
def test_every_byte_of_the_manifest_in_turn(copy: Path, tiny_path: Path, step: int) -> None:
    """A change that can still be opened must not affect the mechanism, and always changes the content hash."""
    original = open_bundle(tiny_path, TextBundle)
    content = (copy / "manifest.json").read_bytes()
    opened = 0
    identities = {original.content_hash}
    for place in range(0, len(content), step):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 7
        (copy / "manifest.json").write_bytes(changed)
        try:
            bundle = open_bundle(copy, TextBundle)
        except REFUSED:
            continue
        opened += 1
        identities.add(bundle.content_hash)
        assert same(bundle, original)
        use(bundle)
    assert 0 < opened < len(content)
    assert len(identities) == opened + 1


# --- foreign -------------------------------------------------------------------------------------------------------


def test_there_is_no_bundle(tmp_path: Path, tiny_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("canary")
    for name in ("", "none", "x" * 5000, "notes.txt", "\0", "x\0y"):
        refused(tmp_path / name, BundleNotFound)
    refused(tiny_path / "mechanism.json", BundleNotFound)
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
@pytest.mark.parametrize("name", ["manifest.json", "mechanism.json"])
def test_json_that_is_no_bundle(copy: Path, name: str, content: bytes) -> None:
    (copy / name).write_bytes(content)
    if name == "mechanism.json":
        sign_manifest(copy, read_json(copy / "manifest.json"))
    refused(copy)


@pytest.mark.parametrize("name", ["manifest.json", "mechanism.json"])
def test_a_key_that_occurs_twice(copy: Path, name: str) -> None:
    """Two readers would read two bundles out of it."""
    text = (copy / name).read_text("utf-8")
    first = {"manifest.json": '{"format_version": 5, ', "mechanism.json": '{"vocabulary_size": 40, '}[name]
    (copy / name).write_text(first + text.lstrip()[1:], "utf-8")
    if name == "mechanism.json":
        sign_manifest(copy, read_json(copy / "manifest.json"))
    refused(copy)


@pytest.mark.parametrize("version", [0, -1, 5.5, 5.0, "5", True, None, [5], {}, 10**30])
def test_another_version(copy: Path, version: object) -> None:
    """The version is checked first: nothing is known of a later version."""
    manifest = {**read_json(copy / "manifest.json"), "format_version": version}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    (copy / "mechanism.json").unlink()
    assert refused(copy, BundleVersion) == "manifest.json: this release reads bundles of format version 5 only"
    del manifest["format_version"]
    (copy / "manifest.json").write_text(json.dumps({**manifest, "format": "textveil-encoder", "format_version": 1}))
    refused(copy, BundleVersion)


@pytest.mark.parametrize(
    ("version", "files", "advice"),
    [
        (4, ["staircase.safetensors", "common-words.txt"], "rebuild the bundle with textveil-export staircase"),
        (4, ["table.safetensors", "staircase.safetensors"], "rebuild the bundle with textveil-export table"),
        (3, ["common-words.txt"], "rebuild the bundle with textveil-export names"),
        (4, ["codes.safetensors", "model.onnx"], "rebuild the bundle with textveil-train encoder"),
        (4, ["model.onnx"], "rebuild the bundle with textveil-export encoder"),
        (1, [], "rebuild the bundle with textveil-export"),
        (4, None, "rebuild the bundle with textveil-export"),
        (6, ["table.safetensors"], "update textveil"),
    ],
)
def test_error_for_another_version_names_a_command(
    copy: Path, version: int, files: list[str] | None, advice: str
) -> None:
    listed = {"files": None if files is None else dict.fromkeys(files)}
    manifest = {**read_json(copy / "manifest.json"), **listed, "format_version": version}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    reason = f"format version {version}, but this release reads version 5"
    assert refused(copy, BundleVersion) == f"manifest.json: {reason}: {advice}"


@pytest.mark.parametrize("key", ["files", "levels"])
@pytest.mark.parametrize("value", [None, [], "text", 5, {"x": None}, {"x": {}}])
def test_a_manifest_of_another_shape(copy: Path, key: str, value: object) -> None:
    """Refused when it is opened, not when it is used; ``levels`` only labels, and may lack any."""
    change_json(copy / "manifest.json", lambda manifest: manifest.update({key: value}))
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
        ("replacement_probability", ""), ("later", 1),
    ],
)  # fmt: skip
def test_defaults_that_cannot_be_used(copy: Path, key: str, value: object) -> None:
    """A bundle whose own defaults do not work is damaged, and says so when it is opened."""
    change_law(copy, lambda law: law["defaults"]["santext"].update({key: value}))
    refused(copy)


@pytest.mark.parametrize("value", ["canary", "", [], {}, True, "5", float("nan"), float("inf"), -1, 0, 10**400])
def test_a_certificate_that_is_no_number(copy: Path, value: object) -> None:
    """A label is a positive number or null; anything else would be printed as a promise."""
    label = {"epsilon_certified": value}
    change_json(copy / "manifest.json", lambda manifest: manifest["levels"]["low"]["santext+"].update(label))
    refused(copy)


def test_unknown_keys_of_the_manifest_are_ignored(copy: Path, tiny_path: Path) -> None:
    change_json(copy / "manifest.json", lambda manifest: manifest.update(later={"certificate": [1, 2, 3]}))
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
    entry = {"sha256": hashlib.sha256(b"canary").hexdigest(), "bytes": 6}
    change_json(copy / "manifest.json", lambda manifest: manifest["files"].update({name: entry}))
    assert "canary" not in refused(copy)


@pytest.mark.parametrize(
    "entry", [None, [], 5, "text", {}, {"sha256": "0" * 64}, {"bytes": 1}, {"sha256": None, "bytes": 0}]
)
def test_entries_of_the_manifest(copy: Path, entry: object) -> None:
    change_json(copy / "manifest.json", lambda manifest: manifest["files"].update({"README.md": entry}))
    refused(copy)


@pytest.mark.parametrize("name", ["mechanism.json", "vocabulary.tsv", "table.safetensors"])
def test_what_a_manifest_must_list(copy: Path, name: str) -> None:
    change_json(copy / "manifest.json", lambda manifest: manifest["files"].pop(name))
    assert name in refused(copy)
