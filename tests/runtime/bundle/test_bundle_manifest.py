"""Opening a bundle: foreign files in its place, and what a manifest may say and name."""

import hashlib
import json
from pathlib import Path

import pytest
from damaged import read_json, refused, same, sign, sign_manifest, use
from textveil import Sanitizer
from textveil.bundle.text_bundle import Bundle
from textveil.errors import BundleDamaged, BundleNotFound, BundleVersion

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
        ("replacement_probability", ""), ("later", 1),
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
    manifest["levels"]["low"]["santext+"]["epsilon_certified"] = value
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
