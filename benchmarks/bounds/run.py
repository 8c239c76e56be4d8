"""Train many heads on one encoder's features, and measure each together with its bounds.

    python benchmarks/bounds/run.py RECIPE --data PATH --start CHECKPOINT --cache FOLDER -o RECORDS [OPTION...]

``channels.py`` computes the bounds, ``grid.py`` trains heads and writes one JSON line for each, and ``figures.py``
measures them. docs/results/dpnr.md shows these records.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bounds.channels import Mode
from textveil_cli.console import run, show_progress_bars
from textveil_training.errors import RecipeError

if TYPE_CHECKING:
    from textveil_training.dpnr import RepresentationRecipe

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, add_completion=False)
MODES = {"l1": (1, ""), "l2": (1, "1e-6"), "box": (2, "")}

ModeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mode", help="Mode and dimension, such as l1:2, l2:2 or box:384; repeatable. Default: those of the recipe."
    ),
]
CheckpointOption = Annotated[
    list[Path] | None,
    typer.Option("--checkpoint", help="Also measure this end-to-end checkpoint (with its features); repeatable."),
]
EpsilonsOption = Annotated[
    list[str] | None,
    typer.Option("--epsilon", "-e", help="Whole-text epsilon; repeatable. Default: those of the recipe."),
]


@app.command()
def grid(
    recipe: Annotated[
        Path, typer.Argument(metavar="RECIPE", help="Recipe of kind dpnr, with the settings that all heads share.")
    ],
    data: Annotated[Path, typer.Option("--data", metavar="PATH", help="File or folder with the data of the recipe.")],
    start: Annotated[
        Path, typer.Option("--start", metavar="CHECKPOINT", help="Checkpoint without privacy, whose encoder is used.")
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Record in JSON Lines; an existing record is continued."),
    ],
    cache: Annotated[Path, typer.Option("--cache", metavar="FOLDER", help="Folder for computed features.")],
    features: Annotated[
        Path | None,
        typer.Option("--features", metavar="FOLDER", help="Stored features of the start checkpoint, if they exist."),
    ] = None,
    mode: ModeOption = None,
    epsilon: EpsilonsOption = None,
    together: Annotated[
        bool, typer.Option("--together", help="Train one head for all levels instead of one head for each level.")
    ] = False,
    word_dropout: Annotated[list[str] | None, typer.Option(help="Word dropout; repeatable. Default: none.")] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Number of seeds; the seeds are 0, 1, ...")] = 1,
    checkpoint: CheckpointOption = None,
    attack: Annotated[
        bool, typer.Option("--attack/--no-attack", help="Attack the private attributes, if the data have any.")
    ] = True,
    threads: Annotated[int, typer.Option("--threads", min=0, help="Processor threads; 0: PyTorch decides.")] = 0,
) -> None:
    """Train and measure heads for modes, levels, word dropouts and seeds; keep existing lines of FILE."""
    import torch
    from bounds.grid import Cell, Grid
    from textveil_training.attacks.vectors import AttributeAttackSettings
    from textveil_training.dpnr import (
        StoredFeatures,
        find_stored_features,
        load_classification_task,
        read_recipe,
        replace_representation,
    )

    if threads:
        torch.set_num_threads(threads)
    chosen = read_recipe(recipe)
    part = chosen.representation
    _require_head(chosen)
    kinds: list[Any] = [parse_mode(name) for name in mode or [f"{part.mode}:{part.dimension}"]]
    levels = tuple(epsilon or part.levels)
    cells = [
        Cell(mode=kind, dimension=dimension, levels=group, word_dropout=dropout, seed=seed, delta=delta)
        for seed in range(seeds)
        for kind, dimension, delta in kinds
        for dropout in word_dropout or ["0"]
        for group in ([levels] if together else [(level,) for level in levels])
    ]
    for cell in cells:  # before anything is computed
        replace_representation(chosen, **cell.representation)
    task = load_classification_task(chosen.data, data)
    with show_progress_bars() as report:
        stored = StoredFeatures(start, task, cache, features, report)
        runs = Grid(
            chosen, task, stored, stored.clean_classifier, output, AttributeAttackSettings() if attack else None, report
        )
        runs.run(cells)
        for folder in checkpoint or []:
            private = StoredFeatures(folder, task, cache / folder.name, find_stored_features(folder), report)
            runs.measure(folder.name, private.model, private.description, private(private.description.word_dropout))


def _require_head(recipe: "RepresentationRecipe") -> None:
    """Raise ``RecipeError`` for a recipe that trains no head on stored features."""
    if recipe.kind != "dpnr" or not recipe.training.placed_epochs + recipe.training.head_epochs:
        raise RecipeError("the recipe must be of kind dpnr and train a head on stored features")


def parse_mode(name: str) -> tuple[Mode, int, str]:
    """Parse ``MODE:DIMENSION`` into mode, dimension and delta.

    Raises:
        RecipeError: The mode or the dimension is invalid.
    """
    prefix, _, number = name.partition(":")
    mode = next((mode for mode in get_args(Mode) if mode == prefix), None)
    if mode is None or not (number.isascii() and number.isdigit() and len(number) <= 4):
        raise RecipeError("--mode must be l1, l2 or box, followed by a colon and the dimension")
    smallest, delta = MODES[mode]
    if int(number) < smallest:
        raise RecipeError("the dimension is too small for the mode")
    return mode, int(number), delta


if __name__ == "__main__":
    sys.exit(run(app, "grid"))
