"""Opening an encoder bundle: every byte accounted for, and no bundle that is not what it says."""

import hashlib
import json
import os
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto
from small_encoders import VOCABULARY, model_of, sign_encoder, write_encoder
from textveil import Encoder, Sanitizer
from textveil.bundle import open_bundle
from textveil.bundle.text import TextBundle
from textveil.bundle.vectors import VectorBundle
from textveil.errors import (
    BundleDamaged,
    BundleError,
    BundleNotFound,
    BundleVersion,
    IdentityMismatch,
    ModelRefused,
    OldFormat,
    UnknownLevel,
    WrongBundle,
)

FILES = ("manifest.json", "release.json", "model.onnx", "vocabulary.txt", "README.md")


@pytest.fixture
def copy(tiny_encoder: Path, tmp_path: Path) -> Path:
    """A copy of the tiny encoder, to damage."""
    return Path(shutil.copytree(tiny_encoder, tmp_path / "copy"))


def opened(folder: Path) -> VectorBundle:
    return open_bundle(folder, VectorBundle)


def refused(folder: Path, error: type[BundleError] = BundleDamaged) -> str:
    """The message with which a bundle is refused: one line, and without onnxruntime or a session."""
    with pytest.raises(error) as caught:
        open_bundle(folder, VectorBundle)
    assert caught.type is error
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


# --- a sound bundle ------------------------------------------------------------------------------------------------


def test_a_sound_bundle_opens(tiny_encoder: Path) -> None:
    bundle, model = open_bundle(tiny_encoder, VectorBundle)
    assert bundle.identity == hashlib.sha256((tiny_encoder / "release.json").read_bytes()).hexdigest()
    assert model == (tiny_encoder / "model.onnx").read_bytes()
    assert bundle.model.size == len(model)
    assert (bundle.max_tokens, bundle.lowercase, len(bundle.vocabulary)) == (16, True, len(VOCABULARY))
    assert [level.epsilon for level in bundle.levels] == ["1", "4", "8"]
    assert bundle.default_level.epsilon == "4"
    assert all((level.mode, level.dimension, level.grid, level.delta) == ("l1", 4, 64, None) for level in bundle.levels)


def test_opening_says_what_the_identity_does_not_cover(copy: Path) -> None:
    """The labels, say: changed under hashes that fit, the identity stays."""
    manifest = json.loads((copy / "manifest.json").read_text())
    before = opened(copy).identity
    manifest["labels"] = ["other"]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.warns(OldFormat, match=r"not the labels, the classifier, the license and where the model comes from$"):
        assert opened(copy).identity == before


@pytest.mark.parametrize(("mode", "delta"), [("l1", None), ("l2", "1e-6"), ("box", None)])
def test_every_mode(tmp_path: Path, mode: str, delta: str | None) -> None:
    bundle = opened(write_encoder(tmp_path / mode, mode=mode, delta=delta))
    assert (bundle.default_level.mode, bundle.default_level.delta) == (mode, delta)


def test_levels_are_found_exactly(tiny_encoder: Path) -> None:
    bundle = opened(tiny_encoder)
    for same in (4, 4.0, "4", "4.0", "4.00", "40e-1", Decimal(4), None):
        assert bundle.level(same) is bundle.default_level  # type: ignore[arg-type]
    for other in (0, -1, -4, 3.999999, "4.0000000001", "nan", float("nan"), "inf", float("-inf"), "", "canary", "sNaN"):
        with pytest.raises(UnknownLevel) as caught:
            bundle.level(other)
        assert str(caught.value) == (
            "no such level; this encoder has the levels (epsilon of the whole text) 1, 4, 8"
        )  # and not a character of what was asked for


def test_an_expected_identity(tiny_encoder: Path) -> None:
    bundle = opened(tiny_encoder)
    bundle.require_identity(f" {bundle.identity.upper()}\n")
    for other in ("", "0" * 64, bundle.identity[:-1], "canary"):
        with pytest.raises(IdentityMismatch, match=f"^the bundle has another identity: {bundle.identity}$"):
            bundle.require_identity(other)


def test_the_manifest_is_not_part_of_the_identity(copy: Path, tiny_encoder: Path) -> None:
    sign_encoder(copy, {"name": "another", "measured": {}})
    assert opened(copy).identity == opened(tiny_encoder).identity


# --- the other kind of bundle --------------------------------------------------------------------------------------


def test_an_encoder_where_a_table_is_needed(tiny_encoder: Path) -> None:
    for opening in (TextBundle, Sanitizer.load):
        with pytest.raises(WrongBundle) as caught:
            opening(tiny_encoder)
        assert str(caught.value).startswith("this is an encoder bundle (textveil encode, Encoder.load)")


def test_a_table_where_an_encoder_is_needed(tiny_path: Path) -> None:
    for opening in (open_encoder, Encoder.load):
        with pytest.raises(WrongBundle) as caught:
            opening(tiny_path)
        assert str(caught.value).startswith("this is a bundle for text (textveil sanitize, Sanitizer.load)")


@pytest.mark.parametrize("kind", ["textveil", "", None, 7, ["textveil-encoder"], {"a": 1}])
def test_another_format(copy: Path, kind: Any) -> None:
    sign_encoder(copy, {"format": kind})
    assert refused(copy) == "manifest.json: not a textveil-encoder"


@pytest.mark.parametrize("version", [0, 3, "1", None])
def test_another_version(copy: Path, version: Any) -> None:
    sign_encoder(copy, {"format_version": version})
    assert "format version 1 and 2 only" in refused(copy, BundleVersion)


# --- missing, truncated, altered -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(copy: Path, name: str) -> None:
    (copy / name).unlink()
    refused(copy, BundleNotFound if name == "manifest.json" else BundleDamaged)


@pytest.mark.parametrize("name", ["release.json", "model.onnx", "vocabulary.txt"])
def test_a_file_that_is_not_listed(copy: Path, name: str) -> None:
    (copy / name).rename(copy.parent / name)
    sign_encoder(copy)
    assert refused(copy) == f"manifest.json: does not list {name}"


@pytest.mark.parametrize("name", FILES[1:])
def test_an_altered_file(copy: Path, name: str) -> None:
    path = copy / name
    content = path.read_bytes()
    for altered in (content[:-1], content + b"\n", b"", bytes([content[0] ^ 1]) + content[1:]):
        path.write_bytes(altered)
        assert refused(copy).startswith(f"{name}: ")


def test_a_file_outside_the_bundle(copy: Path) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    for name in ("../model.onnx", "/etc/passwd", "a/b", ".hidden", "manifest.json", ""):
        content = {**manifest, "files": {**manifest["files"], name: {"sha256": "0" * 64, "bytes": 1}}}
        (copy / "manifest.json").write_text(json.dumps(content))
        assert "lists a file outside the bundle" in refused(copy)


def test_a_release_of_other_files(copy: Path, tmp_path: Path) -> None:
    """Another model under the same identity: the hash in release.json no longer fits."""
    (copy / "model.onnx").write_bytes(model_of("l2").SerializeToString())
    sign_encoder(copy)
    assert refused(copy) == "release.json: does not belong to the files beside it"


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"a": NaN}', b'{"files": {}, "files": {}}', b"\xff", b"[" * 9999]
)
@pytest.mark.parametrize("name", ["manifest.json", "release.json"])
def test_json_that_is_none(copy: Path, name: str, content: bytes) -> None:
    (copy / name).write_bytes(content)
    if name != "manifest.json":
        sign_encoder(copy)
    assert refused(copy).startswith(f"{name}: ")


@pytest.mark.parametrize("files", [None, [], "x", {"release.json": None}, {"release.json": {}, "model.onnx": {}}])
def test_a_manifest_without_sound_files(copy: Path, files: Any) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "files": files}))
    refused(copy)


# --- what release.json may say -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "release",
    [
        {"surprise": 1},
        {"mode": ...},
        {"mode": "l3"},
        {"mode": None},
        {"mode": "l2"},  # without a delta
        {"mode": "l2", "delta": 1e-6},
        {"mode": "l2", "delta": "0"},
        {"mode": "l2", "delta": "1"},
        {"delta": "1e-6"},  # and with one, where there is none
        {"dimension": 0},
        {"dimension": 4.0},
        {"dimension": True},
        {"dimension": 10**9},
        {"grid": 0},
        {"grid": "64"},
        {"grid": 1 << 40},
        {"max_tokens": 2},
        {"max_tokens": 10**6},
        {"max_tokens": "16"},
        {"lowercase": 1},
        {"lowercase": None},
        {"levels": []},
        {"levels": None},
        {"levels": "4"},
        {"levels": [4]},
        {"levels": ["4", "4.0"]},
        {"levels": ["4", "0"]},
        {"levels": ["4", "-1"]},
        {"levels": ["4", "nan"]},
        {"levels": ["4", "1_0"]},
        {"levels": ["4", " 5"]},
        {"levels": ["4", "٥"]},
        {"levels": ["4", "1e999999999"]},
        {"levels": ["4", "17"]},  # beyond what 64-bit words can do
        {"levels": {"4": 1}, "default_level": 4},
        {"default_level": "5"},
        {"default_level": "4.0"},
        {"default_level": None},
        {"files": {}},
        {"files": None},
    ],
    ids=str,
)
def test_a_release_that_is_refused(tmp_path: Path, release: dict[str, Any]) -> None:
    mode = release.get("mode", "l1")
    model = model_of(mode if mode in ("l1", "l2", "box") else "l1")
    assert "release.json" in refused(write_encoder(tmp_path / "encoder", model=model, **release))


@pytest.mark.parametrize(
    "lines",
    ["", "the\n", "[UNK]\n[CLS]\n[SEP]", "[UNK]\n[CLS]\n\n[SEP]\n", "[UNK]\n[CLS]\n[SEP]\n[CLS]\n", "[UNK]\n[CLS]\n"],
)
def test_a_vocabulary_that_is_refused(copy: Path, lines: str) -> None:
    (copy / "vocabulary.txt").write_text(lines)
    release = json.loads((copy / "release.json").read_text())
    release["files"]["vocabulary.txt"] = hashlib.sha256(lines.encode()).hexdigest()
    (copy / "release.json").write_text(json.dumps(release))
    assert refused(sign_encoder(copy)).startswith("vocabulary.txt: ")


def test_a_vocabulary_that_is_not_text(copy: Path) -> None:
    content = b"[UNK]\n[CLS]\n[SEP]\n\xff\n"
    (copy / "vocabulary.txt").write_bytes(content)
    release = json.loads((copy / "release.json").read_text())
    release["files"]["vocabulary.txt"] = hashlib.sha256(content).hexdigest()
    (copy / "release.json").write_text(json.dumps(release))
    refused(sign_encoder(copy))


# --- the model -----------------------------------------------------------------------------------------------------


def test_a_model_of_another_length(tmp_path: Path) -> None:
    message = refused(write_encoder(tmp_path / "encoder", model=model_of(dimension=5)), ModelRefused)
    assert message == "model.onnx: representation must be float32 of shape (1, 4)"


@pytest.mark.parametrize("location", ["weights.bin", "../secret.bin"])
def test_external_data_behind_a_hard_link(tmp_path: Path, location: str) -> None:
    """The file a model asks for lies in the bundle, with a hash that fits, and is another name of a secret."""
    secret = tmp_path / "secret.bin"
    secret.write_bytes(b"\x00" * 4096)
    model = model_of()
    tensor = model.graph.initializer[0]
    size = len(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, entry in (("location", location), ("offset", "0"), ("length", str(size))):
        tensor.external_data.add(key=key, value=entry)
    folder = write_encoder(tmp_path / "encoder", model=model)
    os.link(secret, folder / "weights.bin")
    sign_encoder(folder)
    for opening in (open_encoder, Encoder.load):
        with pytest.raises(ModelRefused, match="a tensor outside the file"):
            opening(folder)


def test_a_model_that_is_none(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"not a model", model_of().SerializeToString()[:-7])):
        assert refused(write_encoder(tmp_path / str(number), model=content)).startswith("model.onnx: no readable ONNX")
