"""Checkpoints are read as written, and damaged ones are refused with a reason."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from textveil_training.dpnr.checkpoint import RepresentationDescription, build_model, read_checkpoint, write_checkpoint
from textveil_training.dpnr.classification_data import ClassifiedSplit
from textveil_training.dpnr.features import compute_pooled_features, read_features, write_features
from textveil_training.dpnr.networks import RepresentationModel
from textveil_training.engine.encoders import load_transformer
from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.errors import CheckpointError
from textveil_training.file_hashes import hash_file
from tiny_training import clean_description, description, sentences

PRIVATE = description(dimension=3, head_hidden=4, word_dropout="0.1")
CLEAN = clean_description()


@pytest.fixture
def written(encoder: Path, tmp_path: Path) -> Callable[[RepresentationDescription], tuple[RepresentationModel, Path]]:
    def write(of: RepresentationDescription) -> tuple[RepresentationModel, Path]:
        torch.manual_seed(1)
        extractor, vocabulary, _ = load_transformer(str(encoder), 0.1)
        model = build_model(extractor, of, classifier_hidden=5, dropout=0.1).eval()
        write_checkpoint(tmp_path / "checkpoint", model, of, vocabulary)
        return model, tmp_path / "checkpoint"

    return write


Written = Callable[[RepresentationDescription], tuple[RepresentationModel, Path]]


def test_the_format(written: Written) -> None:
    _, folder = written(PRIVATE)
    content = json.loads((folder / "checkpoint.json").read_text())
    files = content.pop("files")
    assert content == {
        "format": "textveil-checkpoint",
        "format_version": 1,
        "mode": "l1",
        "dimension": 3,
        "head_hidden": 4,
        "pooling": "mean",
        "max_tokens": 32,
        "labels": ["weather", "kitchen"],
        "lowercase": True,
        "levels": ["1", "4"],
        "delta": None,
        "word_dropout": "0.1",
    }
    names = {"classifier.safetensors", "head.safetensors"}
    names |= {f"extractor/{name}" for name in ("config.json", "model.safetensors", "vocab.txt")}
    assert (
        set(files)
        == names
        == {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {"checkpoint.json"}
    )
    assert all(hash_file(folder / name) == digest for name, digest in files.items())
    shapes = {name: tuple(tensor.shape) for name, tensor in load_file(folder / "head.safetensors").items()}
    assert shapes == {"hidden.weight": (4, 16), "hidden.bias": (4,), "out.weight": (3, 4), "out.bias": (3,)}
    shapes = {name: tuple(tensor.shape) for name, tensor in load_file(folder / "classifier.safetensors").items()}
    assert shapes == {"hidden.weight": (5, 4), "hidden.bias": (5,), "out.weight": (2, 5), "out.bias": (2,)}


@pytest.mark.parametrize("of", [PRIVATE, CLEAN])
def test_what_is_read_computes_the_same(written: Written, of: RepresentationDescription) -> None:
    model, folder = written(of)
    again, found = read_checkpoint(folder)
    assert found == of
    tokenizer = EncoderTokenizer(folder / "extractor" / "vocab.txt", lowercase=True, max_tokens=32)
    ids, mask = tokenizer.make_batch([tokenizer.split_into_pieces(text) for _, text, _ in sentences()[:5]])
    log_epsilon = None if of.mode == "none" else torch.zeros(1, 1)
    with torch.inference_mode():
        first, second = (
            one.classifier(one.represent(one.pool_texts(ids, mask)), log_epsilon) for one in (model, again)
        )
    assert torch.equal(first, second)


def test_pooling_is_the_mean_over_attended_tokens_and_padding_changes_nothing(written: Written) -> None:
    model, folder = written(PRIVATE)
    tokenizer = EncoderTokenizer(folder / "extractor" / "vocab.txt", lowercase=True, max_tokens=32)
    words = [tokenizer.split_into_pieces(text) for text in ("rain", "stir the rice until the water is gone")]
    with torch.inference_mode():
        both = model.pool_texts(*tokenizer.make_batch(words))
        for row, text in enumerate(words):
            ids, mask = tokenizer.make_batch([text])
            hidden = model.extractor(input_ids=ids, attention_mask=mask).last_hidden_state
            assert ids[0, 0] == tokenizer.first
            assert ids[0, -1] == tokenizer.last
            assert both[row].numpy() == pytest.approx(hidden[0].mean(0).numpy(), abs=1e-5)


def edit(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "checkpoint.json"
        content = json.loads(path.read_text()) | changes
        path.write_text(json.dumps({key: value for key, value in content.items() if value != "leave out"}))

    return change


def retensor(folder: Path) -> None:
    save_file({"out.weight": torch.zeros(2, 2), "out.bias": torch.zeros(2)}, folder / "classifier.safetensors")
    files = json.loads((folder / "checkpoint.json").read_text())["files"]
    edit(files=files | {"classifier.safetensors": hash_file(folder / "classifier.safetensors")})(folder)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (
            lambda folder: (folder / "checkpoint.json").unlink(),
            "the folder has no checkpoint: pass the output folder of its training",
        ),
        (
            lambda folder: (folder / "checkpoint.json").write_text("{"),
            "the folder has no checkpoint: pass the output folder of its training",
        ),
        (edit(format="another"), "is not a checkpoint"),
        (edit(format_version=2), "the checkpoint has another format version: train it again"),
        (edit(extra=1), "the description of the checkpoint has unexpected keys: it is damaged, train"),
        (edit(delta="leave out"), "the description of the checkpoint has unexpected keys: it is damaged, train"),
        (edit(dimension=5), "the tensors of the checkpoint do not match its description: it is damaged"),
        (edit(labels=["a", "b", "c"]), "the tensors of the checkpoint do not match its description: it is damaged"),
        (edit(files={}), "is altered"),
        (lambda folder: (folder / "head.safetensors").unlink(), "is missing"),
        (lambda folder: (folder / "head.safetensors").write_bytes(b"\0"), "is altered"),
        (lambda folder: (folder / "extractor" / "vocab.txt").write_text("a\n"), "is altered"),
        (lambda folder: shutil.rmtree(folder / "extractor"), "is missing"),
        (retensor, "the tensors of the checkpoint do not match its description: it is damaged"),
    ],
)
def test_damage_has_a_name(written: Written, damage: Callable[[Path], None], reason: str) -> None:
    _, folder = written(PRIVATE)
    damage(folder)
    with pytest.raises(CheckpointError, match=reason):
        read_checkpoint(folder)


def test_a_file_outside_the_folder_is_not_followed(written: Written) -> None:
    _, folder = written(PRIVATE)
    (folder.parent / "outside").write_text("x")
    files = json.loads((folder / "checkpoint.json").read_text())["files"]
    edit(files=files | {"../outside": hash_file(folder.parent / "outside")})(folder)
    with pytest.raises(CheckpointError, match="is missing"):
        read_checkpoint(folder)


def test_features_are_of_these_texts_and_this_encoder(written: Written, tmp_path: Path) -> None:
    model, folder = written(PRIVATE)
    tokenizer = EncoderTokenizer(folder / "extractor" / "vocab.txt", lowercase=True, max_tokens=32)
    texts = tuple(text for _, text, _ in sentences())
    split = ClassifiedSplit(
        texts=texts,
        labels=torch.zeros(len(texts), dtype=torch.int64),
        attributes=torch.zeros(len(texts), 0),
        sha256="texts",
    )
    features = compute_pooled_features(
        model, tokenizer, [tokenizer.split_into_pieces(text) for text in texts], torch.device("cpu")
    )
    with torch.inference_mode():
        one = model.pool_texts(*tokenizer.make_batch([tokenizer.split_into_pieces(texts[3])]))[0]
    assert features[3].numpy() == pytest.approx(one.numpy(), abs=1e-5)
    path = tmp_path / "features-train.safetensors"
    write_features(path, features, split, "encoder")
    assert torch.equal(read_features(path, split, "encoder"), features)
    with pytest.raises(
        CheckpointError, match="the features belong to other texts or another encoder: write them again"
    ):
        read_features(path, split, "another")
    with pytest.raises(
        CheckpointError, match="the features belong to other texts or another encoder: write them again"
    ):
        read_features(
            path,
            ClassifiedSplit(texts=texts, labels=split.labels, attributes=split.attributes, sha256="other"),
            "encoder",
        )
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(
        CheckpointError, match=r"missing or damaged: omit --features, or write them again \(--write-features\)"
    ):
        read_features(path, split, "encoder")


@pytest.mark.parametrize("content", ["", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n", b"\xff"])
def test_a_vocabulary_that_cannot_be(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CheckpointError, match="vocabulary"):
        EncoderTokenizer(path, lowercase=True, max_tokens=8)
