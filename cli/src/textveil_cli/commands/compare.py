"""``textveil compare``: sanitize one text in every protection mode, such as 'names', to choose one."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from textveil.bundle import ExpectedBundle, LabelBundle, TextBundle, layout, open_bundle
from textveil.errors import ContentHashMismatch, OptionError
from textveil.text import Sanitizer
from textveil.vector import TextLabelEncoder

from textveil_cli.console import name_inputs, open_input, open_output, read_lines
from textveil_cli.console.own_types import parse_patterns, read_known_persons
from textveil_cli.files import make_table_refusal, refuse_tables_by_name
from textveil_cli.options import ExpectedBundleOptions, InputOptions, KnownOption, PatternOption

#: Options of each mode by its name, from the most readable mode to the most private.
_LIST_MODES: dict[str, dict[str, Any]] = {
    "names": {"protect": "names"},
    "names as tags": {"protect": "names", "style": "tag"},
}
_RANDOMIZED_MODES: dict[str, dict[str, Any]] = {"words": {"protect": "words"}, "all": {"protect": "all"}}
_REMEDY = (
    "compare accepts only plain text: pass one cell with --text, or rewrite a column with textveil sanitize FILE "
    "--column NAME (JSON lines: --key NAME)"
)
_PAGE_HEADING = "Several releases of one text: together they reveal more than each alone. Do not send this page."


def compare(
    inputs: InputOptions,
    bundle: Annotated[
        list[Path] | None,
        typer.Option(
            "--bundle",
            "-b",
            rich_help_panel=ExpectedBundleOptions.heading,
            help="Folder of a text bundle (default: the built-in English bundle), or of a bundle that releases a class"
            " label; at most one of each type.",
        ),
    ] = None,
    facts: Annotated[
        Literal["none", "plain", "useful", "public"] | None,
        typer.Option(help="Mode names: facts to keep besides common words, as for the command textveil sanitize."),
    ] = None,
    pattern: PatternOption = None,
    known: KnownOption = None,
    *,
    expected: ExpectedBundleOptions,
) -> None:
    """Sanitize one text in every mode, with the privacy statement of each.

    All input lines are one text; tables are refused. Use this command to choose a mode. Pass a text that resembles your
    texts, but that you will never publish. The command records nothing in a ledger and writes no file.
    """
    paths = inputs.paths
    text = "\n".join(_read_prose(paths)) if inputs.text is None else inputs.text
    sanitizer, encoder = _open_bundles(bundle or [], expected.expected_bundle)
    options: Any = {} if facts is None else {"facts": facts}
    options |= {"patterns": parse_patterns(pattern)} if pattern else {}
    options |= {} if known is None else {"known": read_known_persons(known)}
    if options and sanitizer.bundle.names_files is None:
        raise OptionError(f"{next(iter(options))} works only with the mode 'names', for which this bundle has no lists")
    releases = [*_make_releases(text, sanitizer, encoder, options)]
    with open_output(None) as write:
        write(f"{_PAGE_HEADING}\n")
        for mode, statement, released in releases:
            marked = typer.style(mode, bold=True) if sys.stdout.isatty() else mode
            write(f"\n{marked}: {statement}\n{released}\n")


def _read_prose(paths: Sequence[str]) -> Iterator[str]:
    """Yield the lines of plain text.

    Raises:
        LooksStructured: An input is a table or looks like one. If it were read as plain text, its keys and identifiers
            would be treated as words.
    """
    for path, name in name_inputs(paths):
        refuse_tables_by_name(path, name, _REMEDY)
        refuse_table = make_table_refusal(name, _REMEDY)
        with open_input(path, name) as (descriptor, _):
            for lines, _, _ in read_lines(descriptor, name):
                refuse_table(lines)
                yield from lines


def _open_bundles(folders: list[Path], expected_bundle: ExpectedBundle) -> tuple[Sanitizer, TextLabelEncoder | None]:
    """Open the bundles (folders with word lists or a model), and return the sanitizer and the label encoder.

    Args:
        folders: Folders of the bundles. If none of them is for text, the sanitizer uses the built-in bundle.
        expected_bundle: Requirements on the bundles. At least one bundle must have the expected content hash; the
            expected signer must have signed every bundle.

    Returns:
        The sanitizer, and the object that encodes a text as a randomized class label (``None`` if no bundle contains
        its model).

    Raises:
        ContentHashMismatch: No bundle has the expected content hash.
        OptionError: Two bundles are of the same type.
    """
    bundles: dict[type, Any] = {}
    mismatches = 0
    for folder in folders:
        try:
            bundle = open_bundle(folder, TextBundle, LabelBundle, **expected_bundle)
        except ContentHashMismatch:
            if (mismatches := mismatches + 1) == len(folders):
                raise
            bundle = open_bundle(folder, TextBundle, LabelBundle, **{**expected_bundle, "expect_id": None})
        bundles[type(bundle)] = bundle
    if len(bundles) < len(folders):
        raise OptionError("--bundle takes one text bundle, one bundle that releases a class label, or one of each")
    text, label = bundles.get(TextBundle), bundles.get(LabelBundle)
    sanitizer = Sanitizer.load(**({} if bundles else expected_bundle)) if text is None else Sanitizer(text)
    return sanitizer, None if label is None else TextLabelEncoder(label)


def _make_releases(
    text: str, sanitizer: Sanitizer, encoder: TextLabelEncoder | None, names_options: dict[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield for each protection mode its name, its privacy statement, and the text sanitized in that mode.

    Args:
        text: The text.
        sanitizer: The sanitizer of the text bundle.
        encoder: Object that encodes a text as a randomized class label; ``None`` if no bundle contains its model.
        names_options: Further options of the mode 'names'.
    """
    text_bundle = sanitizer.bundle
    list_modes = {mode: options | names_options for mode, options in _LIST_MODES.items()}
    modes = (list_modes if text_bundle.names_files is not None else {}) | (
        _RANDOMIZED_MODES if text_bundle.staircase_table is not None else {}
    )
    for mode, options in (modes or {text_bundle.default_mechanism: {}}).items():
        result = sanitizer.sanitize(text, **options)
        yield mode, result.statement.format_line(), result.text
    if encoder is None:
        return
    if encoder.bundle.sentences:
        written = encoder.encode(text, as_text=True)
        yield "sentence", written.statement.summary(), written.sentence or ""
    release, labels = encoder.encode(text), encoder.bundle.labels
    by_label = encoder.bundle.label_type == layout.CLASS_LABELS
    class_label = labels[release.label_id] if by_label else f"{release.label_id}"
    yield "class label" if by_label else "cluster label", release.statement.summary(), class_label
