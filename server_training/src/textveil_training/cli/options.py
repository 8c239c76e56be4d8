"""Declare groups of command line options that several commands share."""

from dataclasses import dataclass, fields, make_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_type_hints

import typer

from textveil_training.data import FormatName

FormatOption = Annotated[FormatName, typer.Option("--format", help="Format of the data.")]
CorpusFormatOption = Annotated[
    Literal[FormatName, "csv", "parquet"],
    typer.Option("--format", help="Format of the data; csv and parquet only with --ray."),
]
OtherFormat = Annotated[
    FormatName | None,
    typer.Option("--format", help="Format of the data, instead of the recipe's; table for your own file."),
]
TextKeyOption = Annotated[
    str, typer.Option("--text", "--text-key", help="Key of the text (jsonl); name or number of its column (table).")
]
LabelKeyOption = Annotated[
    str, typer.Option("--label", "--label-key", help="Key of the label (jsonl); name or number of its column (table).")
]
RecipeData = Annotated[Path, typer.Option("--data", metavar="PATH", help="File or folder of the recipe's data.")]
ReleaseEpsilons = Annotated[
    list[str] | None,
    typer.Option("--epsilon", "-e", help="Epsilon per text; repeatable; the checkpoint's if left out."),
]
ThreadsOption = Annotated[int, typer.Option("--threads", min=0, help="Processor threads; 0 lets PyTorch choose.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON instead of a table.")]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Resume an interrupted run.")]


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """Options for the device (processor or GPU) and the number of threads."""

    heading: ClassVar[str] = "Machine"
    device: Annotated[str, typer.Option("--device", help="cpu, or a CUDA device such as cuda:0.")] = "cpu"
    threads: ThreadsOption = 0

    def apply(self) -> str:
        """Set the number of threads of PyTorch, and return the name of the device, such as ``cpu``."""
        set_threads(self.threads)
        return self.device


@dataclass(frozen=True, kw_only=True)
class KeyOptions:
    """Options that name the columns or keys of text and label."""

    heading: ClassVar[str] = "Data"
    text_key: TextKeyOption = "text"
    label_key: LabelKeyOption = "label"


def set_threads(threads: int) -> None:
    """Set the number of PyTorch's threads; 0 leaves it unchanged."""
    if threads:
        import torch

        torch.set_num_threads(threads)


def make_setting_options(settings: type[Any], *left_out: str) -> type[Any]:
    """Create a dataclass of command-line options, with one option for each setting of a run.

    The value of an option that the user does not pass is ``None``.

    Args:
        settings: Dataclass of settings, each declared by ``declare_setting``.
        left_out: Names of settings that get no option.
    """
    hints = get_type_hints(settings)
    declared = [(one.name, one.metadata["about"], one.default) for one in fields(settings) if one.name not in left_out]
    options = [
        (name, Annotated[hints[name] | None, typer.Option(help=about + _describe_default(default))], None)
        for name, about, default in declared
    ]
    return make_dataclass("SettingOptions", options, frozen=True, kw_only=True)


def _describe_default(default: object) -> str:
    if default is None:
        return ""
    return f" {f'{default:g}' if isinstance(default, float) else default} if left out."


def get_given_options(group: object) -> dict[str, object]:
    """Return the values of the options that the user passed (not ``None``), by name."""
    return {name: value for name, value in vars(group).items() if value is not None}
