"""Hostile bundle folders are refused: special files, too large files, files that change while they are read."""

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from damaged import sign
from small_encoders import write_encoder
from small_label_bundle import write_index
from small_staircase import small_staircase
from textveil import Sanitizer
from textveil.bundle import MAX_BUNDLE_BYTES, TextBundle, open_bundle
from textveil.bundle.files import read_file
from textveil.bundle.parsers import MAX_JSON_BYTES, is_printable
from textveil.errors import BundleDamaged, BundleError, BundleNotFound, BundleTooLarge

#: What writes a bundle of each kind, and the largest of its files.
KINDS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "staircase": (small_staircase, "staircase.safetensors"),
    "index": (write_index, "rows.safetensors"),
    "encoder": (write_encoder, "model.onnx"),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def folder(tmp_path: Path, kind: str) -> Path:
    """Return the folder of a bundle of each kind."""
    return KINDS[kind][0](tmp_path / "bundle")


@pytest.fixture
def large(folder: Path, kind: str) -> Path:
    """Return the largest of its files."""
    return folder / KINDS[kind][1]


def refused(folder: Path, error: type[BundleError] = BundleDamaged, **options: Any) -> str:
    with pytest.raises(error) as caught:
        open_bundle(folder, **options)
    message = str(caught.value)
    assert is_printable(message)
    return message


def stated(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text("utf-8"))


@pytest.mark.parametrize("listed", [0, None], ids=["no bytes", "the true size"])
def test_a_pipe_does_not_keep_us_waiting(folder: Path, large: Path, listed: int | None) -> None:
    large.unlink()
    os.mkfifo(large)
    if listed is not None:
        manifest = stated(folder)
        manifest["files"][large.name] = {"bytes": listed, "sha256": hashlib.sha256(b"").hexdigest()}
        (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "not a plain file" in refused(folder)


@pytest.mark.parametrize("target", ["/dev/zero", "outside", "inside", "nowhere"])
def test_links_are_not_followed(folder: Path, large: Path, tmp_path: Path, target: str) -> None:
    moved = {"outside": tmp_path / "outside", "inside": folder / "other"}.get(target, Path(target))
    if target in ("outside", "inside"):
        large.rename(moved)
    else:
        large.unlink()
    large.symlink_to(moved)
    assert "not a plain file" in refused(folder)


def test_a_manifest_that_is_a_pipe_or_a_link(folder: Path, tmp_path: Path) -> None:
    (folder / "manifest.json").rename(tmp_path / "elsewhere.json")
    (folder / "manifest.json").symlink_to(tmp_path / "elsewhere.json")
    assert "not a plain file" in refused(folder)
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    assert "not a plain file" in refused(folder)
    (folder / "manifest.json").unlink()
    refused(folder, BundleNotFound)


def test_a_bundle_has_a_cap(folder: Path) -> None:
    size = sum(entry["bytes"] for entry in stated(folder)["files"].values())
    assert open_bundle(folder, max_bytes=size)
    refused(folder, BundleTooLarge, max_bytes=size - 1)
    assert size < MAX_BUNDLE_BYTES


def test_a_cap_is_checked_before_a_byte_is_read(folder: Path, large: Path) -> None:
    os.truncate(large, 10**12)  # a hole: it takes no place on the disk
    manifest = stated(folder)
    refused(folder)  # its size is not the one that is stated
    manifest["files"][large.name]["bytes"] = 10**12
    (folder / "manifest.json").write_text(json.dumps(manifest))
    refused(folder, BundleTooLarge)
    for size in (-1, True, 1.0, "5", None):
        manifest["files"][large.name]["bytes"] = size
        (folder / "manifest.json").write_text(json.dumps(manifest))
        refused(folder)


def test_json_has_a_cap(folder: Path) -> None:
    text = (folder / "manifest.json").read_text("utf-8")
    (folder / "manifest.json").write_text(text + " " * (MAX_JSON_BYTES - len(text.encode())))
    assert open_bundle(folder)
    (folder / "manifest.json").write_text(text + " " * (MAX_JSON_BYTES - len(text.encode()) + 1))
    refused(folder, BundleTooLarge)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_are_none(folder: Path, number: str) -> None:
    text = (folder / "manifest.json").read_text("utf-8")
    (folder / "manifest.json").write_text(f'{{"later": {number}, {text.strip()[1:]}')
    assert "not readable JSON" in refused(folder)
    (folder / "manifest.json").write_text(f'{{"later": 1e99, {text.strip()[1:]}')
    assert open_bundle(folder)


@pytest.mark.parametrize("mark", ["\x1b[2J", "\r", "\n", "\x7f", "\x9b1m", "\u202e", "\u2066", "\u2028", "\ud800"])
def test_names_that_a_terminal_would_obey(folder: Path, mark: str) -> None:
    manifest = stated(folder)
    for place in ({"name": f"safe{mark}"}, {f"key{mark}": 1}, {"later": [{"deep": [mark]}]}):
        (folder / "manifest.json").write_text(json.dumps({**manifest, **place}))
        assert "control characters" in refused(folder)


def test_words_that_a_terminal_would_obey(folder: Path, tmp_path: Path) -> None:
    lists = [name for name in stated(folder)["files"] if name.endswith((".txt", ".tsv"))]
    assert lists
    for name in lists:
        copy = Path(shutil.copytree(folder, tmp_path / name))
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content + b"ab\x1b[31mcd\n")
        sign(copy)
        assert refused(copy) == f"{name}: contains control characters"


def test_thousands_of_levels(tmp_path: Path) -> None:
    level = {"share": "1/4"}
    levels = [{**level, "name": f"l{number}", "epsilon": f"{1 + number / 10_000:.4f}"} for number in range(20_000)]
    folder = small_staircase(tmp_path / "bundle", levels=levels)
    assert "mechanism.json: has more than" in refused(folder, BundleTooLarge)
    folder = small_staircase(tmp_path / "fewer", levels=levels[:65])
    assert "more than 64 values" in refused(folder)
    assert len(open_bundle(small_staircase(tmp_path / "few", levels=levels[:64]), TextBundle).staircase_levels) == 64


def test_what_is_used_is_what_was_hashed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is exchanged right after each file is read, and overwritten in place at the end."""
    reads: list[str] = []

    def changing(path: Path, most: int) -> bytes:
        reads.append(path.name)
        content = read_file(path, most)
        path.write_bytes(b"\xff" * len(content))
        return content

    for module in ("files", "open"):
        monkeypatch.setattr(f"textveil.bundle.{module}.read_file", changing)
    opened = open_bundle(folder)
    assert len(reads) == len(set(reads)), "a file was opened twice"
    assert set(reads) == {"manifest.json", *opened.manifest["files"]}


def test_a_table_is_no_live_mapping(tmp_path: Path) -> None:
    """Overwritten in place or cut short, the file of an opened bundle changes nothing."""
    folder = small_staircase(tmp_path / "bundle")
    sanitizer = Sanitizer.load(folder)
    before = sanitizer.distribution("doctor").weights
    os.truncate(folder / "staircase.safetensors", 0)
    (folder / "staircase.safetensors").write_bytes(b"\xff" * 5000)
    assert sanitizer.distribution("doctor").weights == before
    assert sanitizer.sanitize("the doctor said").tokens


def test_a_race_of_renames(tmp_path: Path) -> None:
    """While a folder takes turns with another one, a load gives the pinned bundle or none."""
    honest, other = small_staircase(tmp_path / "honest"), small_staircase(tmp_path / "other", levels=OTHER)
    pinned, wrong = open_bundle(honest, TextBundle), open_bundle(other, TextBundle)
    place, stop = tmp_path / "place", threading.Event()
    shutil.copytree(honest, place)

    def swap() -> None:
        turn = 0
        while not stop.is_set():
            source = (honest, other)[turn % 2]
            for path in source.iterdir():
                temporary = place.parent / f"t{path.name}"
                shutil.copy(path, temporary)
                temporary.replace(place / path.name)
            turn += 1

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for _ in range(60):
            try:
                found = open_bundle(place, TextBundle)
            except BundleError:
                continue
            assert found.content_hash in (pinned.content_hash, wrong.content_hash)
            law = pinned if found.content_hash == pinned.content_hash else wrong
            assert found.mechanism_hash == law.mechanism_hash
            assert found.staircase_levels == law.staircase_levels
    finally:
        stop.set()
        swapping.join()


OTHER = [{"name": "weak", "epsilon": "2", "share": "1/2"}]
