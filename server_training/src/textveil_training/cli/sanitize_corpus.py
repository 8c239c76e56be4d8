"""Define ``textveil-train sanitize-corpus``, which sanitizes the texts of a corpus in its own file format."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from textveil_cli.console import print_message, show_progress_bars
from textveil_cli.options import BundleOptions, RayOptions, TextOptions

from textveil_training.cli.options import CorpusFormatOption, JsonOption, ResumeOption
from textveil_training.errors import DataOptionError, make_printable
from textveil_training.terminal_tables import format_table

_ON_RAY = ("csv", "jsonl", "parquet")


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """Options for the columns with texts, and for the files of the output."""

    heading: ClassVar[str] = "Data"
    format_name: CorpusFormatOption
    text_key: Annotated[
        list[str] | None,
        typer.Option(
            "--text",
            "--text-key",
            help="Key of a text (jsonl), or its column: by name or number (table), by name (csv, parquet). Repeatable; "
            "text if left out.",
        ),
    ] = None
    label_key: Annotated[
        str | None,
        typer.Option("--label", "--label-key", help="Key or column of the labels: every row must have it."),
    ] = None
    copies: Annotated[
        int, typer.Option("--copies", min=1, help="Number of independent outputs of every text; each spends epsilon.")
    ] = 1
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Number of processes; one per core if left out.")
    ] = None
    rejected_rows: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="With --ray: folder of rejected rows; without it the first rejected row is an error."
        ),
    ] = None

    def check(self, ray: RayOptions) -> None:
        """Check that no two options exclude each other.

        Raises:
            DataOptionError: Two options exclude each other, or the format has no keys.
        """
        from textveil_training.data import get_format

        keyed = self.format_name in _ON_RAY or get_format(self.format_name).has_named_columns
        if not keyed and (self.text_key or self.label_key):
            raise DataOptionError("this format has no keys: omit --text and --label")
        if not ray.ray and (ray.ray_address is not None or self.rejected_rows is not None):
            raise DataOptionError("--ray-address and --rejected-rows need --ray")
        if not ray.ray and self.format_name in ("csv", "parquet"):
            raise DataOptionError("the formats csv and parquet need --ray: without it, use --format table")
        if ray.ray and self.format_name not in _ON_RAY:
            raise DataOptionError("--ray needs --format csv, jsonl or parquet")
        if ray.ray and (self.label_key is not None or self.copies != 1):
            raise DataOptionError("--label-key and --copies cannot be combined with --ray")


def sanitize_corpus(
    inputs: Annotated[
        list[Path], typer.Argument(metavar="INPUT...", help="Files, or a folder of files with their published names.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Folder of the output files, which have the same names; must be empty.",
        ),
    ],
    corpus: CorpusOptions,
    bundle: BundleOptions,
    how: TextOptions,
    ray: RayOptions,
    resume: ResumeOption = False,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no privacy statement on standard error.")] = False,
) -> None:
    """Sanitize the texts of a corpus; labels and all other columns are copied.

    The output has the same format. With --ray it is a folder of part files, and its folder _records describes them.
    After Ctrl-C, --resume continues: finished files (with --ray: parts) are not sanitized a second time.
    """
    corpus.check(ray)
    options = how.make_options()
    if how.protection.allow is not None:
        how.report_list_entries(bundle.load_sanitizer(), options, quiet)
    common: dict[str, Any] = {"options": options, "bundle": bundle.bundle, "resume": resume}
    common |= {"workers": corpus.workers, **bundle.expected_bundle}
    with show_progress_bars() as report:
        if ray.ray:
            record = _sanitize_on_ray(inputs, output, corpus, ray, common | {"report": report})
        else:
            record = _sanitize_here(inputs, output, corpus, common | {"report": report})
    if as_json:
        print(json.dumps(record, ensure_ascii=False))
    else:
        print(_format_parts_table(record) if ray.ray else _format_table(record))
    if not quiet:
        print_message(f"textveil-train: {record['statement']['line'] if ray.ray else _format_promise(record)}")


def _sanitize_here(inputs: list[Path], output: Path, corpus: CorpusOptions, common: dict[str, Any]) -> dict[str, Any]:
    from textveil_training.corpus import sanitize_corpus as sanitize

    return sanitize(
        inputs,
        output,
        corpus.format_name,
        text_keys=tuple(corpus.text_key or ["text"]),
        label_key=corpus.label_key,
        copies=corpus.copies,
        **common,
    )


def _sanitize_on_ray(
    inputs: list[Path], output: Path, corpus: CorpusOptions, ray: RayOptions, common: dict[str, Any]
) -> dict[str, Any]:
    from textveil_cli.files import ColumnSelection

    from textveil_training.corpus.on_ray import sanitize_corpus_on_ray

    selection = ColumnSelection(format=corpus.format_name, columns=tuple(corpus.text_key or ["text"]))
    more: dict[str, Any] = {"address": ray.ray_address, "rejected_rows": corpus.rejected_rows}
    return sanitize_corpus_on_ray(inputs, output, selection, **more, **common)


def _format_parts_table(record: dict[str, Any]) -> str:
    names = ("rows", "documents", "tokens", "rejected_rows")
    rows = [["part", *names]]
    rows += [[make_printable(part["part"]), *(f"{part[name]:,}" for name in names)] for part in record["parts"]]
    return format_table(rows, left_columns=1)


def _format_table(record: dict[str, Any]) -> str:
    names = ("rows", "documents", "tokens")
    rows = [["file", *names]]
    rows += [[make_printable(file["name"]), *(f"{file[name]:,}" for name in names)] for file in record["files"]]
    return f"{format_table(rows, left_columns=1)}\n{record['wall_s']:.1f} s with {record['machine']['workers']} workers"


def _format_promise(record: dict[str, Any]) -> str:
    copies = "1 copy" if record["copies"] == 1 else f"{record['copies']} copies, each spends epsilon"
    return f"{copies}. {record['statement']['line']}"
