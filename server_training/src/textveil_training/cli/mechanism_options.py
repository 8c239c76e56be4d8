"""The options that choose a bundle and a mechanism, the same in every sub-command that sanitizes."""

from pathlib import Path
from typing import Annotated

import typer

Bundle = Annotated[
    Path | None, typer.Option("--bundle", "-b", help="Folder of a bundle; the built-in English one if left out.")
]
Mechanism = Annotated[
    str | None, typer.Option("--mechanism", "-m", help="santext+ (the default), santext, fbdd, krr or random.")
]
Epsilon = Annotated[
    str | None, typer.Option("--epsilon", "-e", help="Privacy level by its epsilon, as textveil info lists it.")
]
Level = Annotated[str | None, typer.Option("--level", "-l", help="Privacy level by its name.")]
Tail = Annotated[str | None, typer.Option(help="exact or capped; the bundle's default if left out.")]
ReplacementProbability = Annotated[
    str | None,
    typer.Option("--replacement-probability", "-p", help="santext+: how often a common word is replaced, in (0, 1]."),
]
