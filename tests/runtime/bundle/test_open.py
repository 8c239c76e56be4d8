"""``open_bundle`` opens bundles of every kind, checks every byte, and limits the content of a manifest."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from damaged import JSON, certify, read_json, refused, same, sign_manifest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from shared_fixtures import contents_of
from small_encoders import write_encoder
from small_label_bundle import write_index
from small_staircase import small_staircase
from textveil import Sanitizer, TextveilError
from textveil.bundle import MAX_BUNDLE_BYTES, LabelBundle, TextBundle, VectorBundle, open_bundle
from textveil.bundle.files import BundleBase
from textveil.errors import BundleDamaged, BundleNotFound, BundleVersion, ContentHashMismatch, WrongBundle
from textveil_export.text.write import write_bundle

REFUSED = (BundleDamaged, BundleVersion, BundleNotFound)
reading = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


# --- a sound bundle ------------------------------------------------------------------------------------------------


def test_a_sound_bundle_opens(tiny_path: Path, copy: Path) -> None:
    bundle = open_bundle(copy, TextBundle)
    assert same(bundle, open_bundle(tiny_path, TextBundle))
    assert bundle.content_hash == hashlib.sha256((copy / "manifest.json").read_bytes()).hexdigest()
    assert bundle.mechanism_hash == hashlib.sha256((copy / "mechanism.json").read_bytes()).hexdigest()
    assert bundle.mechanisms == ("santext", "santext+")
    assert (len(bundle.vocabulary), len(bundle.symbol_ids)) == (40, 41)
    assert bundle.metric is not None
    assert bundle.metric.rows.shape == (41, 8)
    assert [level.name for level in bundle.santext_levels] == ["low", "high"]


def test_arrays_are_mapped_and_read_only(tiny_path: Path) -> None:
    table = open_bundle(tiny_path, TextBundle).table
    for array in (table.neighbors, table.scores, table.roles, *table.tensors.values()):
        assert not array.flags.owndata
        assert not array.flags.writeable


# --- every kind ----------------------------------------------------------------------------------------------------

KINDS: dict[str, tuple[Callable[[Path], Path], type[BundleBase]]] = {
    "text": (small_staircase, TextBundle),
    "vectors": (write_encoder, VectorBundle),
    "labels": (write_index, LabelBundle),
}
CLASSES = [found for _, found in KINDS.values()]


@pytest.mark.parametrize("kind", KINDS)
def test_the_door_gives_the_class_of_the_kind(kind: str, tmp_path: Path) -> None:
    write, found = KINDS[kind]
    folder = write(tmp_path / "bundle")
    bundle = open_bundle(folder)
    assert type(bundle) is found is type(open_bundle(folder, found)) is type(open_bundle(folder, *CLASSES))
    assert (bundle.KIND, bundle.path, bundle.is_expected) == (kind, folder, False)
    assert bundle.content_hash == hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    assert bundle.expected_bundle == {"expect_id": bundle.content_hash, "max_bytes": MAX_BUNDLE_BYTES}
    assert open_bundle(folder, **bundle.expected_bundle).is_expected
    others = [other for other in CLASSES if other is not found]
    for other in (others[:1], others[1:], others):
        with pytest.raises(WrongBundle, match=r"^this bundle (sanitizes text|releases (vectors|class labels)) \("):
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
    identity = open_bundle(folder).content_hash
    for spelled in (identity, identity.upper(), f" {identity}\n"):
        assert open_bundle(folder, expect_id=spelled).content_hash == identity
    for other in ("", "0" * 64, identity[:-1], identity + "0", "canary"):
        with pytest.raises(
            ContentHashMismatch, match=f"^the bundle has the content hash {identity}, not the expected one: "
        ):
            open_bundle(folder, expect_id=other)
    manifest = read_json(folder / "manifest.json")
    for key in ("name", "license", "attribution", "epsilon_notion", "provenance", "later"):
        (folder / "manifest.json").write_text(
            json.dumps({**manifest, key: {"by": 1} if key == "provenance" else "another"})
        )
        with pytest.raises(ContentHashMismatch):
            open_bundle(folder, expect_id=identity)


@pytest.mark.parametrize("kind", ["", None, 4, "texts", ["text"], {"text": 1}])
def test_a_kind_that_there_is_not(copy: Path, kind: object) -> None:
    (copy / "manifest.json").write_text(json.dumps({**read_json(copy / "manifest.json"), "bundle_type": kind}))
    assert refused(copy) == "manifest.json: bundle_type is not one of text, vectors, labels"


# --- whole bundles written by the exporter -------------------------------------------------------------------------


def test_the_writer_publishes_nothing_that_the_reader_refuses(tmp_path: Path) -> None:
    contents = contents_of()
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
@example({"format": "textveil-bundle", "format_version": 5, "bundle_type": "text", "files": 5})
@example({"format": "textveil-bundle", "format_version": 5, "bundle_type": ["text"], "files": {}})
def test_any_manifest_is_read_or_refused(folders: Path, manifest: JSON) -> None:
    (folders / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(REFUSED):
        open_bundle(folders, TextBundle)
    with pytest.raises(TextveilError):
        Sanitizer.load(folders)


# --- the identity --------------------------------------------------------------------------------------------------


def labeled(folder: Path, epsilon: float) -> None:
    """Certificate and labels say one epsilon everywhere."""
    proven = {"epsilon_certified": epsilon}
    certify(folder, {"low": proven, "high": proven}, {"low": epsilon, "high": epsilon})


@pytest.fixture
def certified(tiny_path: Path, tmp_path: Path) -> Path:
    """Return a bundle certified at 15.5."""
    folder = Path(shutil.copytree(tiny_path, tmp_path / "certified"))
    labeled(folder, 15.5)
    return folder


def test_rewritten_labels_are_another_bundle(certified: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack: all labels and the certificate say 0.01, and all hashes fit."""
    pinned = open_bundle(certified, TextBundle)
    assert Sanitizer.load(certified, expect_id=pinned.content_hash).terms(epsilon=15.5).epsilon == 15.5
    labeled(certified, 0.01)
    assert Sanitizer.load(certified).terms().epsilon == 0.01  # from elsewhere, a bundle may say anything
    assert open_bundle(certified, TextBundle).mechanism_hash == pinned.mechanism_hash
    with pytest.raises(ContentHashMismatch):
        Sanitizer.load(certified, expect_id=pinned.content_hash)
    monkeypatch.setattr("textveil.text.sanitizer.DEFAULT_BUNDLE", certified)
    monkeypatch.setattr("textveil.text.sanitizer.DEFAULT_BUNDLE_ID", pinned.content_hash)
    with pytest.raises(ContentHashMismatch):
        Sanitizer.load()


def test_the_hash_of_the_certificate_is_in_the_identity(certified: Path) -> None:
    pinned = open_bundle(certified, TextBundle).content_hash
    path = certified / "certificate.json"
    path.write_bytes(path.read_bytes() + b"\n")
    refused(certified)
    sign_manifest(certified, read_json(certified / "manifest.json"))
    with pytest.raises(ContentHashMismatch):
        Sanitizer.load(certified, expect_id=pinned)
