"""``textveil-train sanitize-corpus``: sanitizes all texts of a corpus and keeps its format."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from textveil.bundle import Pins
from textveil_cli import (
    BundleOption,
    CapOption,
    CaseOption,
    ConsistentOption,
    DenyOption,
    EpsilonOption,
    FluentOption,
    KindsOption,
    LevelOption,
    MechanismOption,
    PunctuationOption,
    ReplacementOption,
    SplitOption,
    StrictOption,
    TailOption,
    VisibleOption,
    pinned,
    say,
    staircase_options,
)

from textveil_training.cli.options import CorpusFormatOption, JsonOption, ResumeOption
from textveil_training.errors import DataOptionError, printable
from textveil_training.tables import aligned

_ON_RAY = ("csv", "jsonl", "parquet")


@pinned()
def sanitize_corpus(
    inputs: Annotated[
        list[Path], typer.Argument(metavar="INPUT...", help="Files, or a folder of files under their published names.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where files of the same names go; must be empty.")
    ],
    format_name: CorpusFormatOption,
    bundle: BundleOption = None,
    mechanism: MechanismOption = None,
    epsilon: EpsilonOption = None,
    level: LevelOption = None,
    tail: TailOption = None,
    replacement_probability: ReplacementOption = None,
    visible: VisibleOption = None,
    kinds: KindsOption = None,
    consistent: ConsistentOption = False,
    consistent_cap: CapOption = None,
    split: SplitOption = False,
    fluent: FluentOption = False,
    deny: DenyOption = None,
    case: CaseOption = "carry",
    sanitize_punctuation: PunctuationOption = False,
    _strict: StrictOption = False,
    text_key: Annotated[
        list[str] | None,
        typer.Option(
            "--text",
            "--text-key",
            help="Key of a text (jsonl), or its column: by name or number (table), by name (csv, parquet). Repeatable; "
            "text if left out.",
        ),
    ] = None,
    label_key: Annotated[
        str | None,
        typer.Option("--label", "--label-key", help="A key (jsonl) or column (table) that every row must have."),
    ] = None,
    copies: Annotated[
        int, typer.Option("--copies", min=1, help="Independent outputs of every text; all are charged.")
    ] = 1,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Processes; all cores if left out.")] = None,
    ray: Annotated[
        bool,
        typer.Option("--ray", help="Part files by the workers of a Ray cluster; csv, jsonl and parquet (extra ray)."),
    ] = False,
    ray_address: Annotated[
        str | None, typer.Option(help="With --ray: a cluster that is there. Else one is started on this machine.")
    ] = None,
    quarantine: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="With --ray: where bad rows go; else the first is an error.")
    ] = None,
    resume: ResumeOption = False,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No statement on standard error.")] = False,
    *,
    pins: Pins,
) -> None:
    """Sanitize the texts of a corpus; labels and all other columns are carried through, the format stays.

    With --ray the output is part files of the same format, and _records says what each has.
    After Ctrl-C, --resume continues: finished files (with --ray: parts) are not drawn a second time.
    """
    from textveil.text import Options
    from textveil_cli import read_words
    from textveil_cli.files import Selection

    from textveil_training.corpus import sanitize_corpus as sanitize
    from textveil_training.data import format_named
    from textveil_training.progress import bars

    keyed = format_name in _ON_RAY or format_named(format_name).keyed
    if not keyed and (text_key or label_key):
        raise DataOptionError("this format has no keys")
    if not ray and (ray_address is not None or quarantine is not None):
        raise DataOptionError("--ray-address and --quarantine go with --ray")
    if not ray and format_name in ("csv", "parquet"):
        raise DataOptionError("csv and parquet are for --ray; table reads both")
    if ray and format_name not in _ON_RAY:
        raise DataOptionError("--ray reads the formats csv, jsonl and parquet")
    if ray and (label_key is not None or copies != 1):
        raise DataOptionError("--label-key and --copies do not go with --ray")
    options = Options(
        mechanism=mechanism,
        epsilon=epsilon,
        level=level,
        tail=tail,
        replacement_probability=replacement_probability,
        deny=read_words(deny, "--deny"),
        case=case,
        sanitize_punctuation=sanitize_punctuation,
        **staircase_options(visible, kinds, consistent, consistent_cap, split, fluent),
    )
    try:
        if ray:
            from textveil_training.corpus.on_ray import sanitize_corpus_on_ray

            selection = Selection(format_name, tuple(text_key or ["text"]))
            with bars() as report:
                record = sanitize_corpus_on_ray(
                    inputs,
                    output,
                    selection,
                    options=options,
                    bundle=bundle,
                    address=ray_address,
                    workers=workers,
                    quarantine=quarantine,
                    resume=resume,
                    report=report,
                    **pins,
                )
            _tell_parts(record, as_json=as_json, quiet=quiet)
            return
        with bars() as report:
            record = sanitize(
                inputs,
                output,
                format_name,
                options=options,
                bundle=bundle,
                text_keys=tuple(text_key or ["text"]),
                label_key=label_key,
                copies=copies,
                workers=workers,
                resume=resume,
                report=report,
                **pins,
            )
    except KeyboardInterrupt:
        say("textveil-train: interrupted; what is finished is kept, and --resume goes on")
        raise
    print(json.dumps(record, ensure_ascii=False) if as_json else _table(record))
    if not quiet:
        say(f"textveil-train: {_promise(record)}")


def _tell_parts(record: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    if as_json:
        print(json.dumps(record, ensure_ascii=False))
    else:
        names = ("rows", "documents", "tokens", "quarantined")
        rows = [["part", *names]]
        rows += [[printable(part["part"]), *(f"{part[name]:,}" for name in names)] for part in record["parts"]]
        print(aligned(rows, left=1))
    if not quiet:
        say(f"textveil-train: {record['summary']}")


def _table(record: dict[str, Any]) -> str:
    names = ("rows", "documents", "tokens")
    rows = [["file", *names]]
    rows += [[printable(file["name"]), *(f"{file[name]:,}" for name in names)] for file in record["files"]]
    return f"{aligned(rows, left=1)}\n{record['wall_s']:.1f} s with {record['machine']['workers']} workers"


def _promise(record: dict[str, Any]) -> str:
    copies = "1 copy" if record["copies"] == 1 else f"{record['copies']} copies, all charged"
    return f"{copies}; {record['summary']}"
