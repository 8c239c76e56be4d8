"""The ``textveil`` command: parse, one library call, print. Only data goes to standard output."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from textveil import __version__, encoder_report, report
from textveil.atomic import atomic_output
from textveil.bundle_files import ENCODER_BUNDLE, kind_of
from textveil.calibration import calibrate as find_level
from textveil.console import run
from textveil.encode_cli import encode
from textveil.encoder_bundle import EncoderBundle, open_encoder
from textveil.errors import OptionError
from textveil.lines import sanitize_lines
from textveil.plan import Options
from textveil.sanitizer import Result, Sanitizer
from textveil.streams import opened, progress_bar, read_words, refuse_overwriting, say_unless, standard_output
from textveil.verify import PAIRS
from textveil.verify import verify as audit_bundle

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Rewrites text on this device, offline, so that words are hidden among words like them.",
)

BundleOption = Annotated[
    Path | None,
    typer.Option("--bundle", "-b", help="Folder of a bundle; the built-in English one if left out."),
]
ExpectId = Annotated[str | None, typer.Option(help="Refuse the bundle unless this is its identity (see info).")]
MechanismOption = Annotated[
    str | None,
    typer.Option("--mechanism", "-m", help="santext+ (the default), santext, fbdd, krr or random."),
]
EpsilonOption = Annotated[
    str | None,
    typer.Option(
        "--epsilon", "-e", help="Privacy level by its epsilon, exactly as info lists it; any number for krr and fbdd."
    ),
]
LevelOption = Annotated[str | None, typer.Option("--level", "-l", help="Privacy level by its name, as info lists it.")]
TailOption = Annotated[
    str | None,
    typer.Option(
        help="exact: every word has the weight of its own distance. capped: words beyond the stored neighbours share "
        "one weight; faster, and closer to pure local DP. The bundle's default if left out."
    ),
]
ReplacementOption = Annotated[
    str | None,
    typer.Option("--replacement-probability", "-p", help="santext+: how often a common word is replaced, in (0, 1]."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON instead of text.")]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        print(f"textveil {__version__}")
        raise typer.Exit


@app.command()
def sanitize(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Text files, one document per line; - is standard input."),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="Sanitise this text instead; one document.")] = None,
    bundle: BundleOption = None,
    mechanism: MechanismOption = None,
    epsilon: EpsilonOption = None,
    level: LevelOption = None,
    tail: TailOption = None,
    replacement_probability: ReplacementOption = None,
    deny: Annotated[
        Path | None,
        typer.Option(help="File of words, one per line, that are sensitive although common (santext+)."),
    ] = None,
    case: Annotated[str, typer.Option(help="carry the case pattern of each word over, or drop it.")] = "carry",
    strict: Annotated[
        bool, typer.Option("--strict", help="Sanitise punctuation too; lower case, single blanks.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per document: text and statement.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here, whole or not at all, instead of standard output."),
    ] = None,
    expect_id: ExpectId = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No statement on standard error.")] = False,
) -> None:
    """Replace the words of a text by random ones, likelier the closer in meaning.

    Each line is a document. The privacy statement of each input goes to standard error. Every run draws afresh:
    sanitising the same text again weakens what the first run promised.
    """
    if text is not None and files:
        raise OptionError("--text and files exclude each other")
    options = Options(
        mechanism=mechanism,
        epsilon=epsilon,
        level=level,
        tail=tail,
        replacement_probability=replacement_probability,
        deny=read_words(deny, "--deny"),
        case=case,
        strict=strict,
    )
    sanitizer = Sanitizer.load(bundle, expect_id=expect_id)
    sanitizer.terms(**options)  # options are checked before any file is touched
    paths = files or ["-"]
    if output is not None:
        refuse_overwriting(paths if text is None else [], output)
    with atomic_output(output) if output is not None else standard_output() as write:
        if text is not None:
            result = sanitizer.sanitize(text, **options)
            write(_render([result], as_json, ended=True))
            say_unless(result.statement.summary(), quiet)
            return
        ended = True
        for number, path in enumerate(paths, 1):
            if not ended:  # the last line of one input and the first of the next are two documents
                write("\n")
            name = "standard input" if path == "-" else f"input {number} of {len(paths)}"
            tally = report.Tally()
            with (
                opened(path, name) as (descriptor, size),
                progress_bar("sanitising", size, quiet, output is not None) as advance,
            ):
                for results, ended, consumed in sanitize_lines(sanitizer, descriptor, name, **options):
                    write(_render(results, as_json, ended=ended))
                    tally.add(results)
                    advance(consumed)
            say_unless(f"{name}: {tally}", quiet)


@app.command()
def inspect(
    word: Annotated[str, typer.Argument(metavar="WORD", help="One word.")],
    bundle: BundleOption = None,
    mechanism: MechanismOption = None,
    epsilon: EpsilonOption = None,
    level: LevelOption = None,
    tail: TailOption = None,
    replacement_probability: ReplacementOption = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many replacements to list.")] = 15,
    as_json: JsonOption = False,
    expect_id: ExpectId = None,
) -> None:
    """Show the likeliest replacements of a word with their exact probabilities. Nothing is drawn."""
    options = Options(
        mechanism=mechanism,
        epsilon=epsilon,
        level=level,
        tail=tail,
        replacement_probability=replacement_probability,
    )
    sanitizer = Sanitizer.load(bundle, expect_id=expect_id)
    print(report.inspection(sanitizer, word, options, count, as_json=as_json))


@app.command()
def info(
    bundle: BundleOption = None,
    as_json: JsonOption = False,
    path: Annotated[bool, typer.Option("--path", help="Print only the folder of the bundle.")] = False,
    expect_id: ExpectId = None,
) -> None:
    """Tell what a bundle is, what its levels promise and what they do not. Encoder bundles too."""
    if bundle is not None and kind_of(bundle) == ENCODER_BUNDLE:
        encoder = _encoder(bundle, expect_id)
        print(encoder.path if path else encoder_report.information(encoder, as_json=as_json))
        return
    sanitizer = Sanitizer.load(bundle, expect_id=expect_id)
    print(sanitizer.bundle.path if path else report.information(sanitizer.bundle, as_json=as_json))


@app.command()
def levels(bundle: BundleOption = None, as_json: JsonOption = False, expect_id: ExpectId = None) -> None:
    """List all levels for each tail and mechanism: what they promise and what they do to words."""
    print(report.levels_table(Sanitizer.load(bundle, expect_id=expect_id).bundle, as_json=as_json))


@app.command()
def calibrate(
    unchanged: Annotated[
        float | None,
        typer.Option(
            help="The strictest level at which the median word stays unchanged at least this often, in (0, 1)."
        ),
    ] = None,
    bayes: Annotated[
        float | None,
        typer.Option(help="The lightest level at which an observer guesses a word at most this often, in (0, 1)."),
    ] = None,
    releases: Annotated[
        int, typer.Option(help="With --bayes: from how many independent releases of it: 1, 2, 5 or 10.")
    ] = 1,
    bundle: BundleOption = None,
    mechanism: Annotated[
        str | None, typer.Option("--mechanism", "-m", help="santext+ or santext; the bundle's default if left out.")
    ] = None,
    tail: TailOption = None,
    as_json: JsonOption = False,
    expect_id: ExpectId = None,
) -> None:
    """Name the level that meets a wish, with the options to use and what it promises. Nothing is drawn."""
    opened = Sanitizer.load(bundle, expect_id=expect_id).bundle
    level = find_level(opened, unchanged=unchanged, bayes=bayes, releases=releases, mechanism=mechanism, tail=tail)
    print(report.chosen_level(opened, level, as_json=as_json))


@app.command()
def verify(
    bundle: Annotated[
        Path | None, typer.Argument(metavar="BUNDLE", help="Folder of a bundle; the built-in English one if left out.")
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(min=1, help=f"Pairs of words to audit anew; {PAIRS:,} if left out.")
    ] = None,
    expect_id: ExpectId = None,
) -> None:
    """Check a bundle on this device: hashes, structure, certificate, and a fresh audit of random pairs of words.

    Of an encoder bundle: hashes, structure, the model's operators, and the finished noise of every level.
    """
    if bundle is not None and kind_of(bundle) == ENCODER_BUNDLE:
        if pairs is not None:
            raise OptionError("--pairs is for bundles of words: the noise of an encoder is computed whole")
        print(encoder_report.verification(_encoder(bundle, expect_id)))
        return
    print(audit_bundle(Sanitizer.load(bundle, expect_id=expect_id).bundle, PAIRS if pairs is None else pairs))


app.command()(encode)


def _encoder(path: Path, expect_id: str | None) -> EncoderBundle:
    bundle, _ = open_encoder(path)
    if expect_id is not None:
        bundle.require_identity(expect_id)
    return bundle


def _render(results: list[Result], as_json: bool, *, ended: bool) -> str:
    if as_json:
        lines = [
            json.dumps({"text": result.text, "statement": result.statement.to_dict()}, ensure_ascii=False)
            for result in results
        ]
        return "\n".join(lines) + "\n"
    return "\n".join([result.text for result in results]) + ("\n" if ended else "")


def main() -> None:
    """Entry point of the ``textveil`` command."""
    sys.exit(run(app, "textveil"))
