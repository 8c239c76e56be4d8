"""``textveil-train grid``: many heads on one encoder's features, each beside its bounds; one JSON line for each."""

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from textveil_cli.console import progress_bars

from textveil_training.cli.options import (
    KeyOptions,
    OtherFormat,
    RecipeData,
    ThreadsOption,
    use_threads,
)

if TYPE_CHECKING:
    from textveil_training.dpnr.recipe import Recipe

MODES = {"l1": (1, ""), "l2": (1, "1e-6"), "box": (2, "")}

ModeOption = Annotated[
    list[str] | None,
    typer.Option("--mode", help="MODE:DIMENSION, repeatable (l1:2, l2:2, box:384); else the recipe's."),
]
CheckpointOption = Annotated[
    list[Path] | None,
    typer.Option("--checkpoint", help="Measure this end-to-end checkpoint too (with its features), repeatable."),
]
EpsilonsOption = Annotated[
    list[str] | None, typer.Option("--epsilon", "-e", help="Whole-text epsilon, repeatable; else the recipe's.")
]


def grid(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="A recipe of kind dpnr: what the heads share.")],
    data: RecipeData,
    start: Annotated[
        Path, typer.Option("--start", metavar="CHECKPOINT", help="A checkpoint without privacy: the encoder.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="JSON Lines; continued if it exists.")],
    cache: Annotated[Path, typer.Option("--cache", metavar="FOLDER", help="Folder for computed features.")],
    features: Annotated[
        Path | None, typer.Option("--features", metavar="FOLDER", help="Features of the start, if written.")
    ] = None,
    mode: ModeOption = None,
    epsilon: EpsilonsOption = None,
    together: Annotated[bool, typer.Option("--together", help="One head for all levels instead of one each.")] = False,
    word_dropout: Annotated[list[str] | None, typer.Option(help="Word dropout, repeatable; else none.")] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Seeds 0, 1, ...")] = 1,
    checkpoint: CheckpointOption = None,
    attack: Annotated[
        bool, typer.Option("--attack/--no-attack", help="Attack the attributes, if there are any.")
    ] = True,
    format_name: OtherFormat = None,
    threads: ThreadsOption = 0,
    *,
    keys: KeyOptions,
) -> None:
    """Train and measure heads for modes, levels, word dropouts and seeds; lines that are in FILE are kept."""
    from dataclasses import replace

    from textveil_training.attacks.vectors.attribute_inference import Settings
    from textveil_training.data import ReadOptions
    from textveil_training.dpnr.grid import Cell, Grid
    from textveil_training.dpnr.heads import with_representation
    from textveil_training.dpnr.recipe import check, read_recipe
    from textveil_training.dpnr.stored_features import StoredFeatures, holds_features
    from textveil_training.dpnr.task import load_task, of_format

    use_threads(threads)
    chosen = read_recipe(recipe)
    chosen = replace(chosen, data=of_format(chosen.data, format_name))
    part = chosen.representation
    _require_head(chosen)
    kinds: list[Any] = [named_mode(name) for name in mode or [f"{part.mode}:{part.dimension}"]]
    levels = tuple(epsilon or part.levels)
    groups = [levels] if together else [(level,) for level in levels]
    every = product(range(seeds), kinds, word_dropout or ["0"], groups)
    cells = [
        Cell(kind, dimension, group, dropout, seed, delta) for seed, (kind, dimension, delta), dropout, group in every
    ]  # type: ignore[arg-type]
    for cell in cells:  # before anything is computed
        values = {field: getattr(cell, field) for field in ("mode", "dimension", "levels", "delta", "word_dropout")}
        check(with_representation(chosen, **values), "the grid")
    task = load_task(chosen.data, data, ReadOptions(**vars(keys)))
    with progress_bars() as report:
        stored = StoredFeatures(start, task, cache, features, report)
        runs = Grid(chosen, task, stored, stored.clean, output, Settings() if attack else None, report)
        runs.run(cells)
        for folder in checkpoint or []:
            private = StoredFeatures(folder, task, cache / folder.name, holds_features(folder), report)
            runs.measure(folder.name, private.model, private.description, private(private.description.word_dropout))


def _require_head(recipe: "Recipe") -> None:
    """Raises ``RecipeError`` for a recipe that trains no head on stored features."""
    from textveil_training.errors import RecipeError

    if recipe.kind != "dpnr" or not recipe.training.placed_epochs + recipe.training.head_epochs:
        raise RecipeError("a grid needs a recipe of kind dpnr that trains a head on stored features")


def named_mode(name: str) -> tuple[str, int, str]:
    """Reads ``MODE:DIMENSION`` as mode, dimension and delta.

    Raises:
        RecipeError: There is no such mode or dimension.
    """
    from textveil_training.errors import RecipeError

    mode, _, number = name.partition(":")
    if mode not in MODES or not (number.isascii() and number.isdigit() and len(number) <= 4):
        raise RecipeError("--mode is l1, l2 or box, a colon, and the dimension")
    smallest, delta = MODES[mode]
    if int(number) < smallest:
        raise RecipeError("the dimension is too small for the mode")
    return mode, int(number), delta
