"""Maps of the same texts by their clean and by their released vectors, as Figure 4 of Lyu, He and Li (2020)."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

from textveil_training.data import FORMATS, FormatName
from textveil_training.dpnr.figures import maps_of_texts
from textveil_training.dpnr.measure import release_parameters, released
from textveil_training.dpnr.recipe import DataPart
from textveil_training.dpnr.stored_features import StoredFeatures, holds_features
from textveil_training.dpnr.task import load_task
from textveil_training.engine.loop import Report, no_report


def text_maps(
    data: Path,
    format_name: FormatName,
    clean: Path,
    checkpoint: Path,
    *,
    levels: Sequence[str] | None = None,
    texts: int = 600,
    seed: int = 0,
    report: Report = no_report,
) -> bytes:
    """Draws t-SNE maps of texts of the test split, by class and by the commonest private attribute.

    Args:
        data: The texts.
        format_name: Of the data.
        clean: A checkpoint without privacy. Features that its folder holds are used, others computed.
        checkpoint: A private one, likewise.
        levels: Whole-text epsilons to release at; the private checkpoint's if left out.
        texts: How many are shown.
        seed: Of t-SNE.
        report: Called with progress.

    Returns:
        A PNG.

    Raises:
        CheckpointError: A checkpoint cannot be used.
        DataError: The data cannot be read.
        EmptyClass: A checkpoint is of other classes.
    """
    task = load_task(DataPart(format_name, "train", "dev", "test", 0, 128), data)
    shown = slice(0, texts)
    with tempfile.TemporaryDirectory() as cache, torch.inference_mode():
        start = StoredFeatures(clean, task, Path(cache) / "clean", holds_features(clean), report)
        private = StoredFeatures(checkpoint, task, Path(cache) / "private", holds_features(checkpoint), report)
        panels = [("without privacy", start.of("test")[0][shown].numpy())]
        vectors = private.model.represented(private.of("test")[0][shown]).numpy()
    for level in levels or private.description.levels:
        panels.append((f"released, epsilon {level}", released(vectors, release_parameters(private.description, level))))
    colourings = [("class", task.test.labels[shown].numpy(), [f"class {label}" for label in task.labels])]
    attributes = FORMATS[format_name].attributes
    if attributes:
        common = int(task.train.attributes.sum(dim=0).argmax())
        there = task.test.attributes[shown, common].to(torch.int64).numpy()
        colourings.append((attributes[common], there, ["not there", "there"]))
    return maps_of_texts(panels, colourings, seed)
