"""One's own table becomes a vector bundle that a device opens, also after the run was stopped at any stage."""

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interruption import ctrl_c
from textveil.vector import Encoder, WordPiece
from textveil_export.encoder.checkpoint import load_checkpoint
from textveil_export.encoder.gates import check_gates
from textveil_export.errors import AccuracyError
from textveil_training.cli.dpnr import read_own_texts
from textveil_training.data import ReadOptions
from textveil_training.dpnr import train
from textveil_training.encoder.labeled_texts import LabeledTexts
from textveil_training.encoder.vector_bundle import VectorBundleSettings, train_vector_bundle
from tiny_training import QUICK_SEARCH, write_classes, write_encoder

Run = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a table of two classes, and a tiny encoder."""
    folder = tmp_path_factory.mktemp("own")
    write_classes(folder, 240, 5)
    write_encoder(folder)
    return folder


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(train, "SEARCH", QUICK_SEARCH)
    monkeypatch.setattr("textveil_training.encoder.vector_bundle._SEARCH", QUICK_SEARCH)
    monkeypatch.setattr("textveil_training.encoder.vector_bundle._HEAD_STEPS", 12)


def read(place: Path) -> LabeledTexts:
    return read_own_texts(place / "my.csv", ReadOptions(), 0)


def settings(place: Path, **changes: Any) -> VectorBundleSettings:
    chosen: dict[str, Any] = {
        "name": "mine",
        "encoder": str(place / "encoder"),
        "num_epochs": 1,
        "levels": ("2", "8"),
        "compare": False,
        "max_tokens": 32,
    }
    return VectorBundleSettings(**chosen | changes)


@pytest.mark.slow
def test_a_table_becomes_a_bundle_with_both_noises_side_by_side(
    place: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = ("--data", place / "my.csv", "--encoder", place / "encoder", "--num-epochs", 1, "--max-tokens", 32)
    code, out, err = run("dpnr", *own, "--levels", "2,8", "-o", "bundle")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].split("  ")[0] == "epsilon of the text"
    assert "l1, k = 1" in lines[0]
    assert "box, k = 16 (the paper's)" in lines[0]
    assert [line.split()[0] for line in lines[1:4]] == ["2", "8", "without"]
    content_hash = lines[-1].removeprefix("content hash ")
    encoder = Encoder.load(tmp_path / "bundle", expect_id=content_hash)
    assert encoder.bundle.manifest["labels"] == ["kitchen", "weather"]
    assert not (tmp_path / "bundle.unfinished").exists()


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["tuned", "placed", "head", "features", "writing and opening the bundle"])
def test_a_run_stopped_at_any_stage_is_resumed(place: Path, tmp_path: Path, stage: str) -> None:
    stopped: list[str] = []

    def first(name: str, done: int, total: int) -> bool:
        if name.startswith(stage) and not stopped:
            stopped.append(name)
            return True
        return False

    with pytest.raises(KeyboardInterrupt):
        train_vector_bundle(read(place), settings(place), tmp_path / "bundle", report=ctrl_c(first))
    assert stopped
    assert not (tmp_path / "bundle").exists()
    found = train_vector_bundle(read(place), settings(place), tmp_path / "bundle", resume=True)
    assert found.encoder.bundle.manifest["labels"] == ["kitchen", "weather"]
    whole = train_vector_bundle(read(place), settings(place), tmp_path / "whole")
    assert found.without_noise == whole.without_noise
    models = [(folder / "model.onnx").read_bytes() for folder in (tmp_path / "bundle", tmp_path / "whole")]
    assert models[0] == models[1]


@pytest.mark.slow
def test_a_checkpoint_stopped_while_it_is_measured_can_be_exported(place: Path, tmp_path: Path) -> None:
    """All epochs are trained, the evaluation is cut off: the record has no result, but the networks are whole."""
    texts, chosen = read(place), settings(place)
    with pytest.raises(KeyboardInterrupt):
        train_vector_bundle(
            texts, chosen, tmp_path / "bundle", report=ctrl_c(lambda name, done, total: name.startswith("exporting"))
        )
    folder = tmp_path / "bundle.unfinished" / "private"
    record = json.loads((folder / "record.json").read_text())
    assert record["trained"] is not None
    (folder / "record.json").write_text(json.dumps(record | {"finished": None, "result": None}))
    assert load_checkpoint(folder).levels == ("2", "8")
    (folder / "record.json").write_text(json.dumps(record | {"finished": None, "trained": None}))
    with pytest.raises(Exception, match="the training has not finished"):
        load_checkpoint(folder)


def test_sigterm_stops_like_ctrl_c(place: Path, tmp_path: Path) -> None:
    def stop(name: str, done: int, total: int) -> None:
        if name == "tuned":
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        train_vector_bundle(read(place), settings(place), tmp_path / "bundle", report=stop)
    assert (tmp_path / "bundle.unfinished" / "clean" / "unfinished.safetensors").is_file()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("text,label\nsome words,one\nother words,one\n", "classes: the column has 1 different labels"),
        ("text,label\n,one\nother words,two\n", "data-text: my.csv, line 2: the text is missing"),
        ("text,label\n" + "a word,one\nb word,two\n" * 3, "classes: class 1 of 2"),
        ("note,topic\nsome words,one\n", "data-column: my.csv, line 1: no column of the name given for the text"),
        ("", "data-empty: "),
    ],
)
def test_a_table_that_cannot_be_learned_from_is_refused_at_once(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, code: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.csv").write_text(content, "utf-8")
    assert refused("dpnr", "--data", "my.csv", "-o", "bundle").startswith(code)
    assert not (tmp_path / "bundle.unfinished").exists()


def test_an_encoder_that_no_bundle_can_hold_is_refused_before_training(
    refused: Refused, place: Path, tmp_path: Path
) -> None:
    config = json.loads((place / "encoder" / "config.json").read_text("utf-8"))
    for changes, reason in (
        (
            {"model_type": "distilbert"},
            "a model of type distilbert cannot be exported; supported: bert (BERT and MiniLM",
        ),
        (
            {"model_type": "no type\n"},
            "a model without a known type cannot be exported; supported: bert (BERT and Mini",
        ),
        ({"position_embedding_type": "relative_key"}, "a BERT with relative positions cannot be exported; supported: "),
        ({"is_decoder": True}, "a decoder cannot be exported; supported: encoders with absolute positions"),
    ):
        folder = shutil.copytree(place / "encoder", tmp_path / "other", dirs_exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config | changes), "utf-8")
        said = f"checkpoint: config.json of the encoder: {reason}"
        own = ("--data", place / "my.csv", "-o", tmp_path / "bundle", "--max-tokens", 32)
        assert refused("dpnr", *own, "--encoder", folder).startswith(said)
        labels = ("--text", "text", "--label", "label", "--extractor", "minilm", "-o", tmp_path / "bundle")
        assert refused("encoder", place / "my.csv", *labels, "--encoder", folder).startswith(said)
        assert {path.name for path in tmp_path.iterdir()} == {"other"}


@pytest.mark.slow
def test_a_smaller_vocabulary_keeps_the_pieces_of_the_training_texts(place: Path, tmp_path: Path) -> None:
    texts = read(place)
    whole = (place / "encoder" / "vocab.txt").read_text("utf-8").splitlines()
    pieces = WordPiece({piece: number for number, piece in enumerate(whole)})
    used = {whole[number] for text in texts.train.texts for number in pieces.encode(text)}
    needed = used | {piece for piece in whole if piece[0] == "[" or len(piece.removeprefix("##")) == 1}
    assert len(needed) < len(whole)
    assert not used <= set(whole[: len(needed)])  # the order of the vocabulary would lose some
    found = train_vector_bundle(texts, settings(place, keep_pieces=len(needed)), tmp_path / "bundle").encoder
    assert set((tmp_path / "bundle" / "vocabulary.txt").read_text("utf-8").splitlines()) == needed
    assert found.bundle.manifest["provenance"]["pieces_chosen_by"] == "training-texts.txt"


def test_options_of_a_recipe_and_of_a_table_do_not_mix(refused: Refused, place: Path, tmp_path: Path) -> None:
    table = ("--data", place / "my.csv", "-o", tmp_path / "bundle")
    assert refused("dpnr", *table, "--write-features").startswith("data-option: --start, --features")
    assert refused("dpnr", tmp_path / "recipe.toml", *table, "--noise", "box").startswith("data-option: --noise")
    for levels in ("much", "2,17", "0", "nan", "-1", "2,,4", "1e1", ""):
        assert refused("dpnr", *table, "--levels", levels).startswith("data-option: --levels takes epsilons above 0")
    said = refused("dpnr", *table, "--levels", "2", "--encoder", place / "encoder", "--num-epochs", 1)
    assert said.startswith("checkpoint: the encoder reads at most 64 tokens: use a smaller --max-tokens")
    assert refused("dpnr", *table, "--levels", "2,2.0", "--force").startswith("option: an epsilon occurs twice")


def test_a_small_test_set_may_lose_two_texts_and_no_more() -> None:
    """Half a point of 50 texts is less than one text, and a large set still loses at most half a point."""
    from textveil.mechanisms.noise import ReleaseParameters

    level = ReleaseParameters(mode="l1", dimension=1, grid=1024, epsilon="16", delta=None)
    classifier = {
        "out.weight": np.array([[1.0, 0.0], [-1.0, 0.0]], np.float32),
        "out.bias": np.zeros(2, np.float32),
    }

    def lose(texts: int, lost: int) -> None:
        labels = np.zeros(texts, np.intp)
        expected = np.ones((texts, 1), np.float32)
        shipped = expected.copy()
        shipped[:lost] = -1
        check_gates(expected, shipped, labels, classifier, [level])

    lose(50, 2)
    lose(1000, 5)
    for texts, lost in ((50, 3), (1000, 6)):
        with pytest.raises(AccuracyError):
            lose(texts, lost)
