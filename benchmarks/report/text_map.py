"""Draws t-SNE maps of texts by their clean and by their released vectors, as Figure 4 of Lyu, He and Li (2020).

    python benchmarks/report/text_map.py ag_data.txt --format ag-entities --clean ag-clean --checkpoint ag-l1 -o map.png

Needs the data and two checkpoints of ``textveil-train dpnr``, which are not stored in this repository. Features that a
checkpoint's folder holds are used, others are computed.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from charts import BLUE, GREEN, ORANGE, PINK, STYLE
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from textveil_training.data import FORMATS, FormatName
from textveil_training.dpnr.measure import release_parameters, released
from textveil_training.dpnr.recipe import DataPart
from textveil_training.dpnr.stored_features import StoredFeatures, holds_features
from textveil_training.dpnr.task import load_task
from textveil_training.engine.loop import no_report

LOOKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "D"), (PINK, "^"))


def text_maps(
    data: Path, format_name: FormatName, clean: Path, checkpoint: Path, levels: Sequence[str], texts: int, seed: int
) -> Figure:
    """Draws texts of the test split by class and, where the format has attributes, by the commonest of them.

    Args:
        data: The texts.
        format_name: Format of the data.
        clean: A checkpoint without privacy.
        checkpoint: A private one.
        levels: Whole-text epsilons to release at; those of the private checkpoint if there are none.
        texts: How many texts are shown.
        seed: Seed of t-SNE.

    Raises:
        CheckpointError: A checkpoint cannot be used.
        DataError: The data cannot be read.
        EmptyClass: A checkpoint is of other classes.
    """
    task = load_task(DataPart(format_name, "train", "dev", "test", 0, 128), data)
    shown = slice(0, texts)
    with tempfile.TemporaryDirectory() as cache, torch.inference_mode():
        start = StoredFeatures(clean, task, Path(cache) / "clean", holds_features(clean), no_report)
        private = StoredFeatures(checkpoint, task, Path(cache) / "private", holds_features(checkpoint), no_report)
        panels = [("without privacy", start.of("test")[0][shown].numpy())]
        vectors = private.model.represented(private.of("test")[0][shown]).numpy()
    for level in levels or private.description.levels:
        panels.append((f"released, epsilon {level}", released(vectors, release_parameters(private.description, level))))
    colorings = [("class", task.test.labels[shown].numpy(), [f"class {label}" for label in task.labels])]
    attributes = FORMATS[format_name].attributes
    if attributes:
        common = int(task.train.attributes.sum(dim=0).argmax())
        there = task.test.attributes[shown, common].to(torch.int64).numpy()
        colorings.append((attributes[common], there, ["not there", "there"]))
    return draw(panels, colorings, seed)


def draw(
    panels: Sequence[tuple[str, NDArray[np.floating]]],
    colorings: Sequence[tuple[str, NDArray[np.integer], Sequence[str]]],
    seed: int,
) -> Figure:
    """Draws t-SNE maps (van der Maaten and Hinton 2008) of the same texts by several vectors.

    Args:
        panels: Title and vectors, shape ``(texts, k)``; one column each.
        colorings: Title, group of every text, names of the groups; one row each.
        seed: Seed of t-SNE.
    """
    maps = []
    for _, vectors in panels:
        perplexity = min(30.0, (len(vectors) - 1) / 3)
        tsne = TSNE(random_state=seed, init="pca" if vectors.shape[1] > 1 else "random", perplexity=perplexity)
        maps.append(tsne.fit_transform(vectors.astype(np.float64)))
    with rc_context(STYLE):
        figure = Figure(figsize=(2.6 * len(panels) + 1.4, 2.7 * len(colorings)), layout="constrained")
        grid = figure.subplots(len(colorings), len(panels), squeeze=False)
        for row, (title, groups, names) in zip(grid, colorings, strict=True):
            for axes, (heading, _), places in zip(row, panels, maps, strict=True):
                for group, name in enumerate(names):
                    color, marker = LOOKS[group % len(LOOKS)]
                    places_of_group = places[groups == group].T
                    axes.scatter(*places_of_group, s=7, marker=marker, linewidth=0, alpha=0.65, color=color, label=name)
                axes.set(xticks=[], yticks=[])
                axes.grid(False)
                if axes in grid[0]:
                    axes.set_title(heading)
            row[0].set_ylabel(title)
            row[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=2, handletextpad=0.2)
        return figure


def main() -> None:
    """Parses the command line and writes the picture."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="the texts: a file of a format with attributes")
    parser.add_argument("--format", choices=sorted(FORMATS), required=True, help="format of the data")
    parser.add_argument("--clean", type=Path, required=True, help="a checkpoint without privacy")
    parser.add_argument("--checkpoint", type=Path, required=True, help="the private checkpoint")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the picture, PNG")
    parser.add_argument("-e", "--epsilon", action="append", default=[], help="whole-text epsilon, repeatable")
    parser.add_argument("--texts", type=int, default=600, help="texts of the test split that are shown")
    parser.add_argument("--seed", type=int, default=0, help="seed of t-SNE")
    a = parser.parse_args()
    figure = text_maps(a.data, a.format, a.clean, a.checkpoint, a.epsilon, a.texts, a.seed)
    figure.savefig(a.output, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
