"""Opening a bundle: every byte accounted for, and a bundle that the exporter wrote."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from damaged import FILES, JSON, refused, same, sign, use
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from textveil import Sanitizer, TextveilError
from textveil.bundle.text_bundle import Bundle
from textveil.errors import BundleDamaged, BundleNotFound, BundleVersion, IdentityMismatch
from textveil_export.text.build import Contents
from textveil_export.text.write import write_bundle

REFUSED = (BundleDamaged, BundleVersion, BundleNotFound)
reading = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


# --- a sound bundle ------------------------------------------------------------------------------------------------


def test_a_sound_bundle_opens(tiny_path: Path, copy: Path) -> None:
    bundle = Bundle(copy)
    assert same(bundle, Bundle(tiny_path))
    assert bundle.identity == hashlib.sha256((copy / "manifest.json").read_bytes()).hexdigest()
    assert bundle.law_identity == hashlib.sha256((copy / "law.json").read_bytes()).hexdigest()
    assert (bundle.version, bundle.mechanisms) == (3, ("santext", "santext+"))
    assert (bundle.tokens, len(bundle.vocabulary), len(bundle.ids)) == ("word", 40, 41)
    assert bundle.metric.rows.shape == (41, 8)
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
    assert [level.parameters["santext"].exponent for level in bundle.levels] == [Decimal(exponent)]


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
