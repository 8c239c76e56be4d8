"""Bundles of vectors: what a manifest may say of a release, the vocabulary, and the model."""

import os
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from damaged import refused
from onnx import TensorProto
from small_encoders import VOCABULARY, model_of, sign_encoder, write_encoder
from textveil.bundle import open_bundle
from textveil.bundle.vector_bundle import VectorBundle
from textveil.errors import ModelRefused, UnknownLevel


@pytest.fixture
def copy(tiny_encoder: Path, tmp_path: Path) -> Path:
    """Return a copy of the tiny encoder, to damage."""
    return Path(shutil.copytree(tiny_encoder, tmp_path / "copy"))


# --- a sound bundle ------------------------------------------------------------------------------------------------


def test_a_sound_bundle_opens(tiny_encoder: Path) -> None:
    bundle = open_bundle(tiny_encoder, VectorBundle)
    parts = bundle.extractor
    assert parts.model == (tiny_encoder / "model.onnx").read_bytes()
    assert bundle.model_counts.byte_size == len(parts.model)
    assert str(parts.model[:9]) not in repr(bundle)
    assert (parts.max_tokens, parts.lowercase, len(parts.vocabulary)) == (16, True, len(VOCABULARY))
    assert [level.epsilon for level in bundle.levels] == ["1", "4", "8"]
    assert bundle.default_level.epsilon == "4"
    assert all((level.mode, level.dimension, level.grid, level.delta) == ("l1", 4, 64, None) for level in bundle.levels)


@pytest.mark.parametrize(("mode", "delta"), [("l1", None), ("l2", "1e-6"), ("box", None)])
def test_every_mode(tmp_path: Path, mode: str, delta: str | None) -> None:
    bundle = open_bundle(write_encoder(tmp_path / mode, noise_mode=mode, delta=delta), VectorBundle)
    assert (bundle.default_level.mode, bundle.default_level.delta) == (mode, delta)


def test_levels_are_found_exactly(tiny_encoder: Path) -> None:
    bundle = open_bundle(tiny_encoder, VectorBundle)
    for same in (4, 4.0, "4", "4.0", "4.00", "40e-1", Decimal(4), None):
        assert bundle.get_level(same) is bundle.default_level  # type: ignore[arg-type]
    for other in (0, -1, -4, 3.999999, "4.0000000001", "nan", float("nan"), "inf", float("-inf"), "", "canary", "sNaN"):
        with pytest.raises(UnknownLevel) as caught:
            bundle.get_level(other)
        named = ": 0" if other == 0 else ""  # a short number, and else not a character of what was asked for
        there_are = "this encoder has the levels (epsilon of the whole text) 1, 4, 8"
        assert str(caught.value) == f"no such level{named}; {there_are}"


# --- what it may say of a release ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "release",
    [
        {"surprise": 1},
        {"noise_mode": ...},
        {"noise_mode": "l3"},
        {"noise_mode": None},
        {"noise_mode": "l2"},  # without a delta
        {"noise_mode": "l2", "delta": 1e-6},
        {"noise_mode": "l2", "delta": "0"},
        {"noise_mode": "l2", "delta": "1"},
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
        {"epsilons": []},
        {"epsilons": None},
        {"epsilons": "4"},
        {"epsilons": [4]},
        {"epsilons": ["4", "4.0"]},
        {"epsilons": ["4", "0"]},
        {"epsilons": ["4", "-1"]},
        {"epsilons": ["4", "nan"]},
        {"epsilons": ["4", "1_0"]},
        {"epsilons": ["4", " 5"]},
        {"epsilons": ["4", "٥"]},
        {"epsilons": ["4", "1e999999999"]},
        {"epsilons": ["4", "17"]},  # beyond what 64-bit words can do
        {"epsilons": {"4": 1}, "default_epsilon": 4},
        {"default_epsilon": "5"},
        {"default_epsilon": "4.0"},
        {"default_epsilon": None},
    ],
    ids=str,
)
def test_a_release_that_is_refused(tmp_path: Path, release: dict[str, Any]) -> None:
    mode = release.get("noise_mode", "l1")
    model = model_of(mode if mode in ("l1", "l2", "box") else "l1")
    assert "manifest.json: " in refused(write_encoder(tmp_path / "encoder", model=model, **release))


@pytest.mark.parametrize(
    "lines",
    [b"", b"the\n", b"[UNK]\n[CLS]\n[SEP]", b"[UNK]\n[CLS]\n\n[SEP]\n", b"[UNK]\n[CLS]\n[SEP]\n[CLS]\n",
     b"[UNK]\n[CLS]\n", b"[UNK]\n[CLS]\n[SEP]\n\xff\n"],
)  # fmt: skip
def test_a_vocabulary_that_is_refused(copy: Path, lines: bytes) -> None:
    (copy / "vocabulary.txt").write_bytes(lines)
    assert refused(sign_encoder(copy)).startswith("vocabulary.txt: ")


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
    assert "a tensor outside the file" in refused(folder, ModelRefused)
