"""Run a study, compare the result with the paper, and write a JSON record and a Markdown page."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from textveil_training.engine.run import list_software
from textveil_training.errors import CheckpointError
from textveil_training.reproduce import noise_studies, vector_studies, word_studies
from textveil_training.reproduce.inputs import ReproductionInputs, describe_inputs, get_format_name
from textveil_training.reproduce.page import write_page
from textveil_training.reproduce.published import PublishedStudy
from textveil_training.reproduce.results import (
    Reproduction,
    format_report,
    make_record,
    write_record,
)

RUNS: Mapping[str, Callable[[PublishedStudy, ReproductionInputs], Reproduction]] = {
    "santext-table1": word_studies.measure_utility,
    "santext-table3": word_studies.measure_pretraining,
    "santext-figure4": word_studies.measure_attacks,
    "fbdd-figure6": noise_studies.measure_word_noise,
    "adept-figure1": noise_studies.measure_sensitivity,
    "dpnr-table2": vector_studies.measure_accuracies,
    "dpnr-table4": vector_studies.measure_attribute_privacy,
    "dpnr-table7": vector_studies.measure_fairness,
}
"""Function that runs each study, by its name."""


def reproduce_study(
    study: PublishedStudy, inputs: ReproductionInputs, given: Mapping[str, str], output: Path | None
) -> tuple[str, dict[str, Any]]:
    """Compute a table or figure of a paper again, and write the results as JSON, Markdown page and picture.

    Args:
        study: The table or figure, with the numbers that the paper printed.
        inputs: Inputs of the study.
        given: Numbers that the paper printed, from the option ``--paper``, by the name of the row of the table. Names
            of other rows are ignored.
        output: Folder of the record, the page and the picture; ``None`` to write no files.

    Returns:
        The report for a terminal, and the record.

    Raises:
        TextveilError: An input cannot be used.
        OutputError: A file cannot be written.
    """
    if output is not None:
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError("the output folder cannot be created: check its path and permissions") from error
    found = RUNS[study.name](study, inputs)
    needs_no_texts = not study.formats and (inputs.vectors is not None or study.name == "adept-figure1")
    known = study.get_figures(None if inputs.data is None else get_format_name(study, inputs))
    names = {row.name for row in found.rows}
    of_rows = {name: figure for name, figure in given.items() if name in names}
    paper = {**known, **of_rows} if needs_no_texts or not inputs.uses_sample else None
    record = make_record(study, found, paper, list_software()) | {"inputs": describe_inputs(study, inputs)}
    if output is not None:
        write_record(output / f"{study.name}.json", record)
        write_page(output, study, found, paper)
    return format_report(study, found, paper), record


def print_json(record: Mapping[str, Any]) -> str:
    """Format a record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False)
