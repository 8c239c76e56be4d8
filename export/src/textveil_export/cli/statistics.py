"""Define ``textveil-export statistics``, which measures what each level does to words."""

from typing import Annotated

import typer
from textveil.bundle import TextBundle, open_bundle
from textveil_cli.console import show_progress_bars
from textveil_cli.options import ExpectedBundleOptions
from textveil_cli.reports import format_levels_table

from textveil_export.cli.options import BundleFolder
from textveil_export.leakage.bayes import TRIALS
from textveil_export.leakage.word_statistics import SEED, measure_statistics
from textveil_export.text.write import write_statistics


def statistics(
    bundle: BundleFolder,
    trials: Annotated[int, typer.Option(min=2, help="Sampled words in the simulation of repeated releases.")] = TRIALS,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation; the bundle records it.")] = SEED,
    *,
    expected: ExpectedBundleOptions,
) -> None:
    """Measure what each level does to words, and add the figures to the bundle.

    textveil levels prints them. The content hash of the bundle changes. An interruption leaves the bundle as it was, or
    without statistics.
    """
    opened = open_bundle(bundle, TextBundle, **expected.expected_bundle)
    with show_progress_bars() as progress:
        measured = measure_statistics(opened, progress, trials=trials, seed=seed)
    print(format_levels_table(write_statistics(opened, measured)))
