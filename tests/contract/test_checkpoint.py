"""Export reads what training writes: the same vectors and decisions, from the files alone."""

from pathlib import Path

import numpy as np
import pytest
import torch
from textveil_export.encoder.checkpoint import load_checkpoint
from textveil_export.encoder.evaluation import classify_vectors
from textveil_export.encoder.onnx_graph import TorchReference
from textveil_export.errors import EncoderCheckpointError
from textveil_training.dpnr.checkpoint import write_checkpoint
from textveil_training.dpnr.networks import RepresentationModel
from tiny_training import description, write_encoder
from transformers import BertModel

LEVEL = torch.tensor([[np.log(4.0)]], dtype=torch.float32)


def texts(pieces: int) -> list[np.ndarray]:
    """Texts of 1 to 24 tokens of a vocabulary of so many."""
    generator = np.random.default_rng(0)
    return [generator.integers(0, pieces, tokens) for tokens in range(1, 25)]


def represented_by(model: RepresentationModel, ids: np.ndarray) -> torch.Tensor:
    given = torch.from_numpy(ids)[None]
    with torch.inference_mode():
        return model.represent(model.pool_texts(given, torch.ones_like(given)))


def trained(folder: Path, mode: str, dimension: int, head_hidden: int, classifier_hidden: int) -> RepresentationModel:
    """Return a model with random weights, written as training writes it."""
    start = write_encoder(folder.parent)
    model = RepresentationModel(
        BertModel.from_pretrained(start, add_pooling_layer=False),
        mode=mode,
        dimension=dimension,
        head_hidden=head_hidden,
        classifier_hidden=classifier_hidden,
        classes=2,
        dropout=0.1,
    ).eval()
    if mode != "none":
        pieces = len((start / "vocab.txt").read_text().splitlines())
        represented = torch.cat([represented_by(model, ids) for ids in texts(pieces)])
        with torch.inference_mode():
            logits = model.classifier(represented, LEVEL.expand(len(represented), 1))
        middle = (logits[:, 1] - logits[:, 0]).sort().values[11:13].mean()
        model.classifier.out.bias.data[1] -= middle  # half of the texts are of each class
    told = description(
        mode=mode,
        dimension=dimension,
        head_hidden=head_hidden or None,
        max_tokens=24,
        levels=() if mode == "none" else ("1", "4"),
        delta="1e-6" if mode == "l2" else None,
    )
    write_checkpoint(folder, model, told, start / "vocab.txt")
    return model


@pytest.mark.parametrize(
    ("mode", "dimension", "head_hidden", "classifier_hidden"),
    [("l1", 2, 8, 8), ("l2", 3, 0, 8), ("box", 4, 8, 0)],
)
def test_vectors_and_decisions_are_those_of_training(
    mode: str, dimension: int, head_hidden: int, classifier_hidden: int, tmp_path: Path
) -> None:
    model = trained(tmp_path / "checkpoint", mode, dimension, head_hidden, classifier_hidden)
    checkpoint = load_checkpoint(tmp_path / "checkpoint")
    reference = TorchReference(checkpoint)
    vectors, expected, logits = [], [], []
    for ids in texts(len(checkpoint.vocabulary)):
        vectors.append(reference(ids))
        represented = represented_by(model, ids)
        expected.append(represented[0].numpy())
        with torch.inference_mode():
            logits.append(model.classifier(represented, LEVEL)[0].numpy())
    assert np.abs(np.stack(vectors) - np.stack(expected)).max() < 1e-6
    assert np.ptp(np.stack(expected), axis=0).max() > 0.05  # else anything would agree
    assert np.argmax(logits, axis=1).sum() == 12  # else any classifier would agree
    assert (classify_vectors(checkpoint.classifier, np.stack(vectors), 4) == np.argmax(logits, axis=1)).all()


def test_a_model_without_privacy_cannot_be_exported(tmp_path: Path) -> None:
    trained(tmp_path / "checkpoint", "none", 0, 0, 0)
    with pytest.raises(
        EncoderCheckpointError,
        match="trained without noise, so it has no private release",
    ):
        load_checkpoint(tmp_path / "checkpoint")
