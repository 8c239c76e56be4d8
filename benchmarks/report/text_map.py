"""Draws t-SNE maps of texts by their clean and by their released vectors, as Figure 4 of Lyu, He and Li (2020).

    python benchmarks/report/text_map.py ag_data.txt --format ag-entities --clean ag-clean --checkpoint ag-l1 -o map.png

Needs the data and two checkpoints of ``textveil-train dpnr``, which are not stored in this repository. Features that a
checkpoint's folder holds are used, others are computed.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from report.charts import BLUE, GREEN, ORANGE, PINK, SMALL, STYLE, save, titled
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from textveil_training.data import FORMATS, FormatName
from textveil_training.dpnr import DataPart, StoredFeatures, holds_features, load_task, release_parameters, released
from textveil_training.progress import no_report

Panel = tuple[str, NDArray[np.floating]]
Coloring = tuple[str, NDArray[np.integer], Sequence[str]]
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
    task = load_task(
        DataPart(format=format_name, train="train", dev="dev", test="test", dev_percent=0, max_tokens=128), data
    )
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


def draw(panels: Sequence[Panel], colorings: Sequence[Coloring], seed: int) -> Figure:
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
        figure = titled(finding(panels, colorings), (2.9 * len(panels), 2.7 * len(colorings) + 0.6))
        grid = figure.subplots(len(colorings), len(panels), squeeze=False)
        for row, (title, groups, names) in zip(grid, colorings, strict=True):
            for axes, (heading, _), places in zip(row, panels, maps, strict=True):
                for group, (color, marker) in zip(range(len(names)), cycle(LOOKS), strict=False):
                    # Every other group is hollow: told apart without color.
                    face = "none" if group % 2 else color
                    axes.scatter(
                        *places[groups == group].T, s=9, marker=marker, linewidth=0.7, facecolor=face, edgecolor=color
                    )
                axes.set(xticks=[], yticks=[])
                axes.grid(False)
                if axes in grid[0]:
                    axes.set_title(heading)
            row[0].set_ylabel(title)
            _name_groups(row[0], maps[0], groups, names)
        return figure


def finding(panels: Sequence[Panel], colorings: Sequence[Coloring]) -> str:
    """Returns the title: in how many texts the nearest other one is of the same group, by coloring and panel."""
    said, separator = [], ",\n"
    for title, groups, _ in colorings:
        agree = [(groups[nearest(vectors, 1)[:, 0]] == groups).mean() for _, vectors in panels]
        said.append(f"on {title} in {', '.join(f'{100 * share:.0f}' for share in agree)} %")
    return f"The nearest text agrees, from left to right, {separator.join(said)}"


def nearest(vectors: NDArray[np.floating], count: int) -> NDArray[np.integer]:
    """Returns the numbers of the nearest other rows of each row, shape ``(rows, count)``."""
    near = NearestNeighbors(n_neighbors=min(count, len(vectors) - 1)).fit(vectors)
    return near.kneighbors(return_distance=False)


def _name_groups(axes: Axes, places: NDArray[np.floating], groups: NDArray[np.integer], names: Sequence[str]) -> None:
    """Writes the name of each group where most of the texts around are of the group."""
    same = groups[nearest(places, 30)] == groups[:, None]
    for group, name in enumerate(names):
        of_group = np.flatnonzero(groups == group)
        if len(of_group):
            best = of_group[same[of_group].sum(axis=1).argmax()]
            right = places[best, 0] > places[:, 0].mean()  # the name goes towards the middle
            axes.annotate(
                name, (places[best, 0], places[best, 1]), (0, 7), textcoords="offset points",
                ha="right" if right else "left", fontsize=SMALL, weight="bold",
                path_effects=[withStroke(linewidth=3, foreground="white")],
            )  # fmt: skip


def main() -> None:
    """Parses the command line and writes the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
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
    save(figure, a.output)


if __name__ == "__main__":
    main()
