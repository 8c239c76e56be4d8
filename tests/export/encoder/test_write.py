"""An encoder bundle is there whole or not at all."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil.errors import BundleError
from textveil_export.encoder import build as encoder_build
from textveil_export.encoder import write as encoder_writer
from textveil_export.encoder.build import EncoderContents
from textveil_export.errors import WriteError

pytestmark = pytest.mark.slow


@pytest.fixture
def contents(encoder_bundle: Path, monkeypatch: pytest.MonkeyPatch) -> EncoderContents:
    """Return a bundle in memory whose time and memory are already measured."""
    names = ("model.onnx", "vocabulary.txt", "classifier.safetensors", "int8_recipes.json")
    files = {name: (encoder_bundle / name).read_bytes() for name in names}
    manifest = json.loads((encoder_bundle / "manifest.json").read_text("utf-8"))
    monkeypatch.setattr(encoder_writer, "measure_memory", lambda *_: manifest["measurements"]["device"])
    return EncoderContents(files, manifest.pop("release"), manifest)


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_writing_twice_gives_equal_files(contents: EncoderContents, tmp_path: Path) -> None:
    first = encoder_writer.write_encoder_bundle(contents, tmp_path / "first")
    again = encoder_writer.write_encoder_bundle(contents, tmp_path / "again")
    assert first.bundle.content_hash == again.bundle.content_hash
    assert content_of(tmp_path / "first") == content_of(tmp_path / "again")


def test_a_bundle_that_devices_refuse_is_not_published(contents: EncoderContents, tmp_path: Path) -> None:
    contents.release["dimension"] += 1
    with pytest.raises(BundleError):
        encoder_writer.write_encoder_bundle(contents, tmp_path / "out")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("room", [5_000, 60_000])
def test_a_bundle_that_is_too_large_does_not_ship(
    room: int, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen before the gates where the graph alone is too large, and when everything has been written."""
    monkeypatch.setattr(encoder_build if room == 5_000 else encoder_writer, "MAX_BYTES", room)
    error = refused()
    assert "gate-size: " in error
    assert "lower --keep-pieces" in error


def test_a_full_disk_is_a_write_error(
    contents: EncoderContents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(folder: Path, name: str, content: bytes) -> dict[str, object]:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(encoder_writer, "add_bundle_file", full)
    with pytest.raises(WriteError, match="'out' cannot be written: No space left on device"):
        encoder_writer.write_encoder_bundle(contents, tmp_path / "out")
    assert not any(tmp_path.iterdir())
