"""Define ``textveil-export statistics``, which measures the effect of each privacy level on words."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import TextBundle, open_bundle
from textveil_cli.console import show_progress_bars
from textveil_cli.options import ExpectedBundleOptions, FbddOptions
from textveil_cli.reports import calibrate_fbdd, format_fbdd_table, format_levels_table

from textveil_export.bundle_files import format_json, replace_file
from textveil_export.cli.options import BundleFolder
from textveil_export.errors import ExportError
from textveil_export.leakage.bayes import TRIALS
from textveil_export.leakage.word_statistics import SEED, measure_statistics
from textveil_export.text.write import write_statistics


def statistics(
    bundle: BundleFolder,
    trials: Annotated[int, typer.Option(min=2, help="Sampled words in the simulation of repeated releases.")] = TRIALS,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation; the bundle records it.")] = SEED,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="JSON file for the figures of fbdd.")
    ] = None,
    *,
    fbdd: FbddOptions,
    expected: ExpectedBundleOptions,
) -> None:
    """Measure the effect of each level on words, and add the figures to the bundle.

    The command textveil levels prints the figures. The content hash of the bundle changes. An interruption leaves the
    bundle as it was, or without statistics. FBDD has no levels: with --mechanism fbdd the bundle does not change.
    """
    if output is not None and not fbdd.is_requested:
        raise ExportError("--output needs --mechanism fbdd: other statistics are stored in the bundle")
    opened = open_bundle(bundle, TextBundle, **expected.expected_bundle)
    if fbdd.is_requested:
        mechanisms = fbdd.make_mechanisms(opened)
        with show_progress_bars() as progress:
            found = calibrate_fbdd(opened, mechanisms, fbdd.words, fbdd.draws, fbdd.eta, progress)
        if output is not None:
            replace_file(output, format_json(found))
        print(format_fbdd_table(found))
        return
    with show_progress_bars() as progress:
        measured = measure_statistics(opened, progress, trials=trials, seed=seed)
    print(format_levels_table(write_statistics(opened, measured)))
