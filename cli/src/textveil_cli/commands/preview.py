"""``textveil preview``: show which parts of a text a run would leave unchanged, without replacing any word."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from textveil.errors import OptionError
from textveil.formatting import format_count

from textveil_cli.console import iterate_lines, name_inputs, open_input, open_output
from textveil_cli.options import (
    BundleOptions,
    InputOptions,
    JsonOption,
    MechanismOptions,
    ProtectionOptions,
    TableOptions,
    combine_options,
)

#: Terminal colors of kept tokens, types, randomized words and unknown words.
_COLORS = {"kept": "\x1b[1m", "type": "\x1b[36m", "randomized": "\x1b[33m", "unknown": "\x1b[35m"}
_END = "\x1b[0m"
_MAX_LISTED = 30


def preview(
    inputs: InputOptions,
    bundle: BundleOptions,
    protection: ProtectionOptions,
    table: TableOptions,
    color: Annotated[
        bool | None, typer.Option("--color/--no-color", help="Color the output; default: only on a terminal.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show which words of a text are kept, without randomizing any.

    The command requires the mode 'names' or the staircase mechanism. The modes 'names' and 'words' keep function words,
    which reveal the style of an author, and negation, tense and gender. In a table, select one column or key. With
    --json, each output line describes one text as a list of its parts: start, end, state, and the reason for the state,
    such as the name of a list. The preview is as private as the text.
    """
    sanitizer = bundle.load_sanitizer()
    is_names_mode = (protection.protect or sanitizer.bundle.default_mode) == "names"
    options = combine_options(*([] if is_names_mode else [MechanismOptions(mechanism="staircase")]), protection)
    kept_parts = sanitizer.terms(**options).revealed_parts
    counts: Counter[str] = Counter()
    words, entity_types = Counter[str](), Counter[str]()
    texts = _read_texts(inputs, table)
    with open_output(None) as write:
        if as_json:
            for document in texts:
                pieces = [asdict(piece) for piece in sanitizer.preview(document, explain=True, **options)]
                write(json.dumps({"pieces": pieces}, ensure_ascii=False) + "\n")
            return
        uses_color = sys.stdout.isatty() if color is None else color
        for document in texts:
            for token, label in sanitizer.preview(document, **options):
                role = label if label in ("gap", "kept", "randomized", "unknown") else "type"
                counts[role] += 1
                if role == "kept":
                    words[token.lower()] += 1
                elif role == "type":
                    entity_types[label] += 1
                write(_format_token(token, label, role, uses_color))
            write("\n")
        write("\n" + _format_summary(counts, words, entity_types, kept_parts, is_names_mode=is_names_mode))


def _read_texts(inputs: InputOptions, table: TableOptions) -> list[str]:
    paths = inputs.paths
    selection = table.resolve_format(paths).make_selection()
    if inputs.text is not None:
        if selection.format != "lines":
            raise OptionError("use either --text or a table")
        return [inputs.text]
    if selection.format == "lines":
        return [*iterate_lines(paths)]
    from textveil_cli.files import InputStream, get_packed_ending, read_cells

    texts: list[str] = []
    for path, name in name_inputs(paths):
        with open_input(path, name) as (descriptor, _):
            for cells, _, _ in read_cells(InputStream(descriptor, name, get_packed_ending(path)), selection, name):
                texts += cells
    return texts


def _format_token(token: str, label: str, role: str, uses_color: bool) -> str:
    if role == "gap":
        return token
    if role == "type":
        token = f"<{label}>"
    elif not uses_color and role != "kept":
        token = "_" * len(token) if role == "randomized" else "?" * len(token)
    return f"{_COLORS[role]}{token}{_END}" if uses_color else token


def _format_summary(
    counts: Counter[str],
    words: Counter[str],
    entity_types: Counter[str],
    kept_parts: Sequence[str],
    *,
    is_names_mode: bool,
) -> str:
    randomized = counts["randomized"] + counts["unknown"]
    tokens = sum(count for role, count in counts.items() if role != "gap")
    listed_separately = ("function words", "types of names and numbers")  # the summary has separate lines for these
    other_parts = [part for part in kept_parts if part not in listed_separately]
    unknown_part = "" if is_names_mode else f" ({counts['unknown']:,} of them unknown)"
    lines = [
        f"{format_count(tokens, 'token')}: {counts['kept']:,} kept, "
        f"{counts['type']:,} replaced by {'a surrogate of its' if counts['type'] == 1 else 'surrogates of their'} type"
        + (f", {randomized:,} randomized{unknown_part}" if randomized or not is_names_mode else ""),
        "kept: " + (_format_most_common(words) or "no words"),
        "types: " + (_format_most_common(entity_types) or "none"),
        f"Also kept: {', '.join(other_parts)}.",
    ]
    return "\n".join(lines) + "\n"


def _format_most_common(counts: Counter[str]) -> str:
    listed = ", ".join(f"{word} {count:,}" if count > 1 else word for word, count in counts.most_common(_MAX_LISTED))
    rest = len(counts) - _MAX_LISTED
    return listed + (f" and {rest:,} more" if rest > 0 else "")
