"""Define ``textveil-export audit``, which audits the installed sampler."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from textveil.bundle import ExpectedBundle, LabelBundle, TextBundle, open_bundle
from textveil.mechanisms.staircase import Staircase
from textveil_cli.options import ExpectedBundleOptions

from textveil_export.errors import SamplerFault
from textveil_export.sampler_audit import ALPHA, DRAWS, audit_sampler


def audit(
    bundle: Annotated[
        Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle with a staircase, or of a class label bundle.")
    ],
    draws: Annotated[int, typer.Option(min=1000, help="Samples of each of two inputs at each level.")] = DRAWS,
    *,
    expected: ExpectedBundleOptions,
) -> None:
    """Audit the installed sampler: compare its samples with the probabilities of a bundle.

    The audit bounds the realized epsilon from below for two inputs and an output with nearly the largest loss. It
    compares counts of outputs with exact probabilities, tests uniform integers, and compares a process with its fork. A
    sampler that fails is an error.
    """
    faults = []
    for staircase in _load_staircases(bundle, expected.expected_bundle):
        result = audit_sampler(staircase, draws)
        print(result)
        faults += [f"level {result.level}: {fault}" for fault in result.faults]
    if faults:
        raise SamplerFault("; ".join(faults))
    print(f"no fault in {draws:,} samples of each input; a correct sampler fails one comparison in {1 / ALPHA:,.0f}")


def _load_staircases(path: Path, pins: ExpectedBundle) -> list[Staircase]:
    """Open a bundle and return the staircase of each level."""
    bundle = open_bundle(path, TextBundle, LabelBundle, **pins)
    if isinstance(bundle, LabelBundle):
        return [staircase for levels in bundle.randomizers.values() for staircase in levels]
    table = bundle.staircase_table
    if table is None:
        raise SamplerFault(
            "this bundle has no staircase to audit: pass a bundle with a staircase or a class label bundle"
        )
    outputs = table.get_output_mask(function_words_kept=bundle.default_mode == "words")
    return [Staircase.from_table(table, level, np.asarray(outputs)) for level in bundle.staircase_levels]
