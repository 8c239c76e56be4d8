"""``textveil preview``: the kept parts of a text, before any word is randomized."""

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer
from textveil.errors import OptionError
from textveil.release import counted

from textveil_cli.console import lines_of, named, opened, output_to
from textveil_cli.options import BundleOptions, InputOptions, LevelOptions, ShownOptions, TableOptions, options_of

#: Terminal colors of kept tokens, types, randomized words and unknown words.
_COLORS = {"visible": "\x1b[1m", "kind": "\x1b[36m", "drawn": "\x1b[33m", "unknown": "\x1b[35m"}
_END = "\x1b[0m"
_LISTED = 30


def preview(
    inputs: InputOptions,
    bundle: BundleOptions,
    shown: ShownOptions,
    table: TableOptions,
    color: Annotated[
        bool | None, typer.Option("--color/--no-color", help="Colors; only on a terminal if left out.")
    ] = None,
) -> None:
    """Show what of a text stays visible; nothing is drawn.

    In color and as a list, under the staircase, or with --protect names. Function words show an author's habits,
    negation, tense and gender. Of a table, name one column or key. The preview is as private as the text: it is for
    this device.
    """
    by_names = shown.protect == "names"
    options = options_of(*([] if by_names else [LevelOptions(mechanism="staircase")]), shown)
    sanitizer = bundle.sanitizer()
    parts = sanitizer.terms(**options).visible_parts
    counts: Counter[str] = Counter()
    words, kinds = Counter[str](), Counter[str]()
    texts = _texts(inputs, table)
    with output_to(None) as write:
        colored = sys.stdout.isatty() if color is None else color
        for document in texts:
            for piece, what in sanitizer.preview(document, **options):
                role = what if what in ("gap", "visible", "drawn", "unknown") else "kind"
                counts[role] += 1
                if role == "visible":
                    words[piece.lower()] += 1
                elif role == "kind":
                    kinds[what] += 1
                write(_marked(piece, what, role, colored))
            write("\n")
        write("\n" + _summary(counts, words, kinds, parts, by_names=by_names))


def _texts(inputs: InputOptions, table: TableOptions) -> list[str]:
    paths = inputs.paths
    selection = table.of(paths).selection()
    if inputs.text is not None:
        if selection.format != "lines":
            raise OptionError("--text and tables exclude each other")
        return [inputs.text]
    if selection.format == "lines":
        return [*lines_of(paths)]
    from textveil_cli.files import Reading, packed_as, read_cells

    texts: list[str] = []
    for path, name in named(paths):
        with opened(path, name) as (descriptor, _):
            for cells, _, _ in read_cells(Reading(descriptor, name, packed_as(path)), selection, name):
                texts += cells
    return texts


def _marked(piece: str, what: str, role: str, colored: bool) -> str:
    if role == "gap":
        return piece
    if role == "kind":
        piece = f"<{what}>"
    elif not colored and role != "visible":
        piece = "_" * len(piece) if role == "drawn" else "?" * len(piece)
    return f"{_COLORS[role]}{piece}{_END}" if colored else piece


def _summary(
    counts: Counter[str], words: Counter[str], kinds: Counter[str], parts: Sequence[str], *, by_names: bool
) -> str:
    drawn = counts["drawn"] + counts["unknown"]
    tokens = sum(count for role, count in counts.items() if role != "gap")
    listed = ("function words", "kinds of names and numbers")  # the summary has separate lines for these
    too = [part for part in parts if part not in listed]
    drawn_too = "" if by_names else f" ({counts['unknown']:,} of them unknown)"
    lines = [
        f"{counted(tokens, 'token')}: {_said(counts['visible'], 'stay')} visible, "
        f"{_said(counts['kind'], 'show')} {'its' if counts['kind'] == 1 else 'their'} kind"
        + (f", {drawn:,} {'is' if drawn == 1 else 'are'} drawn{drawn_too}" if drawn or not by_names else ""),
        "visible: " + (_listed(words) or "no words"),
        "kinds: " + (_listed(kinds) or "none"),
        f"Visible too: {', '.join(too)}.",
    ]
    return "\n".join(lines) + "\n"


def _said(count: int, verb: str) -> str:
    return f"{count:,} {verb}" + ("s" if count == 1 else "")


def _listed(counts: Counter[str]) -> str:
    listed = ", ".join(f"{word} {count:,}" if count > 1 else word for word, count in counts.most_common(_LISTED))
    rest = len(counts) - _LISTED
    return listed + (f" and {rest:,} more" if rest > 0 else "")
