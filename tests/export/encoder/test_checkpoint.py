"""Checkpoints are read strictly: each defect has an error code and a line of its own."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from small_checkpoints import LABELS, VOCABULARY, sign, write_checkpoint
from textveil_export.encoder.checkpoint import Checkpoint, load_checkpoint
from textveil_export.errors import EncoderCheckpointError


@pytest.fixture
def folder(checkpoint_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(checkpoint_folder, tmp_path / "copy"))


def content(folder: Path) -> dict:
    return json.loads((folder / "checkpoint.json").read_text("utf-8"))


def resign(folder: Path, **settings: object) -> None:
    held = {key: value for key, value in content(folder).items() if key != "files"}
    sign(folder, {**held, **settings})


def refused(folder: Path) -> str:
    with pytest.raises(EncoderCheckpointError) as caught:
        load_checkpoint(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_sound_checkpoint_is_read(checkpoint: Checkpoint) -> None:
    assert (checkpoint.mode, checkpoint.dimension, checkpoint.head_hidden) == ("l1", 3, 16)
    assert checkpoint.vocabulary == tuple(VOCABULARY)
    assert checkpoint.labels == LABELS
    assert checkpoint.levels == ("2", "8")
    assert set(checkpoint.head) == {"hidden.weight", "hidden.bias", "out.weight", "out.bias"}
    assert not checkpoint.extractor.training


def test_head_and_classifier_may_be_linear(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "linear", head_hidden=None)
    save_file(
        {"out.weight": np.zeros((2, 4), np.float32), "out.bias": np.zeros(2, np.float32)},
        folder / "classifier.safetensors",
    )
    resign(folder)
    checkpoint = load_checkpoint(folder)
    assert set(checkpoint.head) == set(checkpoint.classifier) == {"out.weight", "out.bias"}


def test_a_pooler_is_ignored_and_any_other_surplus_array_is_refused(folder: Path) -> None:
    weights = folder / "extractor" / "model.safetensors"
    arrays = load_file(weights)
    save_file({**arrays, "pooler.dense.bias": np.zeros(32, np.float32)}, weights)
    resign(folder)
    load_checkpoint(folder)
    save_file({**arrays, "adapter.bias": np.zeros(32, np.float32)}, weights)
    resign(folder)
    assert "does not match" in refused(folder)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"format": "textveil-bundle"}, "must be a textveil-checkpoint"),
        ({"format_version": 2}, "of version 1"),
        ({"mode": "none"}, "trained without noise"),
        ({"mode": "l3"}, "the mode is not one of"),
        ({"dimension": 4}, "head.safetensors: the arrays"),
        ({"dimension": True}, "the dimension"),
        ({"head_hidden": None}, "head.safetensors: the arrays"),
        ({"pooling": "cls"}, "the pooling"),
        ({"max_tokens": 2}, "max_tokens is below"),
        ({"max_tokens": 1000}, "exceeds the number of positions"),
        ({"labels": ["a", "a"]}, "the labels"),
        ({"labels": ["a", "b", "c"]}, "classifier.safetensors: the arrays"),
        ({"labels": 5}, "the labels"),
        ({"lowercase": "yes"}, "lowercase"),
        ({"levels": []}, "levels"),
        ({"levels": ["8", "2"]}, "do not ascend"),
        ({"levels": ["2", "2.0"]}, "do not ascend"),
        ({"levels": [2, 8]}, "levels"),
        ({"delta": "1e-6"}, "delta"),
        ({"mode": "l2", "delta": None}, "delta"),
        ({"word_dropout": "1"}, "word_dropout"),
        ({"word_dropout": ...}, "unknown or missing keys"),
        ({"surprise": 1}, "unknown or missing keys"),
        ({"files": {}}, "does not list"),
        ({"files": {"../x": "0"}}, "does not list"),
        ({"files": 3}, "malformed"),
    ],
)
def test_wrong_settings_are_refused(folder: Path, settings: dict, complaint: str) -> None:
    resign(folder, **settings)
    assert complaint in refused(folder)


@pytest.mark.parametrize("name", ["head.safetensors", "extractor/config.json", "extractor/vocab.txt"])
def test_an_altered_or_missing_file_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    assert refused(folder) == f"{name}: does not match its hash: copy the checkpoint again"
    (folder / name).unlink()
    assert refused(folder) == f"{name}: cannot be read: copy the checkpoint again"


def test_a_file_outside_the_checkpoint_is_refused(folder: Path) -> None:
    held = content(folder)
    (folder / "checkpoint.json").write_text(json.dumps({**held, "files": {**held["files"], "../x": "0"}}), "utf-8")
    assert "outside the checkpoint" in refused(folder)


@pytest.mark.parametrize("name", ["head.safetensors", "classifier.safetensors", "extractor/model.safetensors"])
def test_tensors_that_are_no_tensors_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"\x80\x04pickle")
    resign(folder)
    assert name in refused(folder)


@pytest.mark.parametrize("name", ["head.safetensors", "classifier.safetensors", "extractor/model.safetensors"])
def test_numbers_that_are_not_finite_are_refused(folder: Path, name: str) -> None:
    arrays = load_file(folder / name)
    first = min(arrays)
    arrays[first] = np.full_like(arrays[first], np.nan)
    save_file(arrays, folder / name)
    resign(folder)
    assert refused(folder) == f"{name}: an array is not float32, or has infinite or NaN values: train again"


@pytest.mark.parametrize(
    ("pieces", "complaint"),
    [
        (VOCABULARY[:-1], "distinct pieces"),
        ([*VOCABULARY[:-1], "the"], "distinct pieces"),
        (["[BLANK]" if piece == "[CLS]" else piece for piece in VOCABULARY], "has no [CLS]"),
    ],
)
def test_a_vocabulary_that_does_not_fit_is_refused(folder: Path, pieces: list[str], complaint: str) -> None:
    (folder / "extractor" / "vocab.txt").write_text("\n".join(pieces) + "\n", "utf-8")
    resign(folder)
    assert complaint in refused(folder)


def test_another_kind_of_model_is_refused(folder: Path) -> None:
    path = folder / "extractor" / "config.json"
    path.write_text(path.read_text("utf-8").replace('"bert"', '"roberta"'), "utf-8")
    resign(folder)
    assert refused(folder) == (
        "extractor/config.json: a model of type roberta cannot be exported; supported: bert "
        "(BERT and MiniLM with a WordPiece vocabulary)"
    )


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({"model_type": None}, "a model without a known type cannot be exported; supported: bert"),
        ({"model_type": "x\n" * 99}, "a model without a known type cannot be exported; supported: bert"),
        ({"position_embedding_type": "relative_key"}, "a BERT with relative positions cannot be exported"),
        ({"is_decoder": True}, "a decoder cannot be exported; supported: encoders with absolute positions"),
    ],
)
def test_a_model_that_cannot_be_exported_is_named(folder: Path, entry: dict[str, object], complaint: str) -> None:
    path = folder / "extractor" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **entry}), "utf-8")
    resign(folder)
    assert complaint in refused(folder)
    assert "\n" not in refused(folder)


def test_a_checkpoint_in_the_middle_of_training_is_refused(folder: Path) -> None:
    record = folder / "record.json"
    record.write_text('{"finished": null}', "utf-8")
    assert refused(folder) == "record.json: the training has not finished: resume it first"
    record.write_text('{"finished": "2026-11-21T12:00:00+00:00"}', "utf-8")
    assert load_checkpoint(folder).record["finished"]
    record.unlink()
    assert load_checkpoint(folder).record == {}


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path) == "checkpoint.json: cannot be read: pass a folder that textveil-train dpnr wrote"
    (tmp_path / "checkpoint.json").write_text("[1]", "utf-8")
    assert refused(tmp_path) == "checkpoint.json: is not a JSON object: copy the checkpoint again"
    (tmp_path / "checkpoint.json").write_text("{", "utf-8")
    assert refused(tmp_path) == "checkpoint.json: is not valid JSON: copy the checkpoint again"
