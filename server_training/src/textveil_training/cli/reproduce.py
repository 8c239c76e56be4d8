"""Define ``textveil-train reproduce``, which computes a table or figure of a paper."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import typer

from textveil_training.cli.options import JsonOption, MachineOptions
from textveil_training.cli.progress_lines import report_progress
from textveil_training.data import FormatName

StudyName = Literal[
    "santext-table1",
    "santext-table3",
    "santext-figure4",
    "fbdd-figure6",
    "adept-figure1",
    "dpnr-table2",
    "dpnr-table4",
    "dpnr-table7",
]


@dataclass(frozen=True, kw_only=True)
class StudyInputOptions:
    """Options for the data and models of a study (a table of a paper, computed again); by default a small sample."""

    heading: ClassVar[str] = "Inputs"
    data: Annotated[
        Path | None, typer.Option("--data", metavar="PATH", help="File or folder of the data; the sample if left out.")
    ] = None
    format_name: Annotated[
        FormatName | None, typer.Option("--format", help="Format of the data, instead of the study's first one.")
    ] = None
    model: Annotated[
        str,
        typer.Option(
            "--model", help="Encoder, or masked language model of santext-figure4: minilm, a folder, or a hub id."
        ),
    ] = "minilm"
    vectors: Annotated[
        Path | None,
        typer.Option("--vectors", metavar="FILE", help="GloVe, word2vec or fastText text file; built-in if left out."),
    ] = None
    max_words: Annotated[int, typer.Option("--max-words", min=2, help="Largest number of words of --vectors.")] = 20_000
    paper: Annotated[
        Path | None,
        typer.Option("--paper", metavar="FILE", help="The paper's figures from your copy: JSON, {ROW: FIGURE}."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class StudyEffortOptions:
    """Options for the size of a study (rows, steps, seeds), which determines its running time."""

    heading: ClassVar[str] = "Effort"
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=5, max=512, help="Maximum tokens; longer texts are truncated.")
    ] = 128
    examples: Annotated[
        int, typer.Option("--examples", min=0, help="Maximum training rows, or words of fbdd-figure6; 0: all.")
    ] = 0
    steps: Annotated[int, typer.Option("--steps", min=1, help="santext-table3: steps of each pretraining.")] = 100
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Number of seeds, where a study uses them.")] = 1


def reproduce(
    name: Annotated[StudyName, typer.Argument(metavar="NAME", help="Table or figure, such as dpnr-table2.")],
    inputs: StudyInputOptions,
    effort: StudyEffortOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write a record, a page and a picture to this folder."),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option("--work", metavar="FOLDER", help="Keep computed parts here, so that a repetition reads them."),
    ] = None,
    as_json: JsonOption = False,
    *,
    machine: MachineOptions,
) -> None:
    """Reproduce a table or figure of a paper, with the paper's figures beside ours.

    Without --data the study runs on a small sample in minutes: this shows that its code runs, and no figure of the
    paper is printed. The names are santext-table1, santext-table3, santext-figure4, fbdd-figure6, adept-figure1,
    dpnr-table2, dpnr-table4 and dpnr-table7; docs/papers has a page for each paper.
    """
    from textveil_training.reproduce.inputs import ReproductionInputs, check_inputs
    from textveil_training.reproduce.published import STUDIES
    from textveil_training.reproduce.results import check_paper_figures, read_paper_figures

    study = STUDIES[name]
    given = {} if inputs.paper is None else read_paper_figures(inputs.paper)
    with tempfile.TemporaryDirectory(prefix="textveil-reproduce-") as scratch, report_progress() as report:
        kept = work or Path(scratch)
        options = {key: value for key, value in vars(inputs).items() if key != "paper"}
        chosen = ReproductionInputs(**options, **vars(effort), work=kept, report=report)
        check_inputs(study, chosen)
        kept.mkdir(parents=True, exist_ok=True)
        from textveil_training.reproduce.run import print_json, reproduce_study

        machine.apply()
        text, record = reproduce_study(study, chosen, given, output)
    print(print_json(record) if as_json else text)
    check_paper_figures(given, record)
