"""``textveil preview``: what the skeleton of a text shows, before anything is drawn."""

import sys
from collections import Counter
from typing import Annotated

import typer
from textveil.bundle.pins import Pins
from textveil.errors import OptionError
from textveil.release import counted
from textveil.text.options import Options
from textveil.text.sanitizer import Sanitizer
from textveil.text.statement import Terms

from textveil_cli.configuration import ConfigOption, say_configured
from textveil_cli.io import opened, read_lines, read_words, standard_output
from textveil_cli.options import BundleOption, DenyOption, KindsOption, PunctuationOption, VisibleOption
from textveil_cli.pins import pinned

#: Terminal colors: what stays, kinds, drawn words, unknown words.
_COLORS = {"visible": "\x1b[1m", "kind": "\x1b[36m", "drawn": "\x1b[33m", "unknown": "\x1b[35m"}
_END = "\x1b[0m"
_LISTED = 30


@pinned()
def preview(
    context: typer.Context,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="Text files; - is standard input.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="Preview this text instead.")] = None,
    bundle: BundleOption = None,
    visible: VisibleOption = None,
    kinds: KindsOption = None,
    sanitize_punctuation: PunctuationOption = False,
    deny: DenyOption = None,
    color: Annotated[
        bool | None, typer.Option("--color/--no-color", help="Colors; only on a terminal if left out.")
    ] = None,
    config: ConfigOption = None,
    *,
    pins: Pins,
) -> None:
    """Show what of a text stays visible; nothing is drawn.

    In color and as a list, under the staircase. Function words show an author's habits, negation, tense and gender. The
    preview is as private as the text: it is for this device.
    """
    if text is not None and files:
        raise OptionError("--text and files exclude each other")
    options = Options(mechanism="staircase", sanitize_punctuation=sanitize_punctuation, deny=read_words(deny, "--deny"))
    if visible is not None:
        options["visible"] = visible
    if kinds is not None:
        options["kinds"] = kinds
    sanitizer = Sanitizer.load(bundle, **pins)
    terms = sanitizer.terms(**options)
    counts: Counter[str] = Counter()
    shown: dict[str, Counter[str]] = {"visible": Counter(), "kinds": Counter()}
    with standard_output() as write:
        colored = _colored(color)
        for document in _texts(text, files):
            for piece, what in sanitizer.preview(document, **options):
                role = what if what in ("gap", "visible", "drawn", "unknown") else "kind"
                counts[role] += 1
                if role == "visible":
                    shown["visible"][piece.lower()] += 1
                elif role == "kind":
                    shown["kinds"][what] += 1
                write(_marked(piece, what, role, colored))
            write("\n")
        write("\n" + _summary(counts, shown, terms))
    say_configured(context)


def _texts(text: str | None, files: list[str] | None) -> list[str]:
    if text is not None:
        return [text]
    found: list[str] = []
    for number, path in enumerate(files or ["-"], 1):
        name = "standard input" if path == "-" else f"input {number}"
        with opened(path, name) as (descriptor, _):
            for lines, _, _ in read_lines(descriptor, name):
                found += lines
    return found


def _colored(color: bool | None) -> bool:
    return sys.stdout.isatty() if color is None else color


def _marked(piece: str, what: str, role: str, colored: bool) -> str:
    if role == "gap":
        return piece
    if role == "kind":
        piece = f"<{what}>"
    elif not colored and role != "visible":
        piece = "_" * len(piece) if role == "drawn" else "?" * len(piece)
    return f"{_COLORS[role]}{piece}{_END}" if colored else piece


def _summary(counts: Counter[str], shown: dict[str, Counter[str]], terms: Terms) -> str:
    drawn = counts["drawn"] + counts["unknown"]
    tokens = sum(count for role, count in counts.items() if role != "gap")
    listed = ("function words", "kinds")  # these have lines of their own
    too = [part for part in terms.visible_parts if part not in listed]
    lines = [
        f"{counted(tokens, 'token')}: {_said(counts['visible'], 'stay')} visible, "
        f"{_said(counts['kind'], 'show')} {'its' if counts['kind'] == 1 else 'their'} kind, "
        f"{drawn:,} {'is' if drawn == 1 else 'are'} drawn "
        f"({counts['unknown']:,} of them unknown)",
        "visible: " + (_listed(shown["visible"]) or "no words"),
        "kinds: " + (_listed(shown["kinds"]) or "none"),
        f"Visible too: {', '.join(too)}.",
    ]
    return "\n".join(lines) + "\n"


def _said(count: int, verb: str) -> str:
    return f"{count:,} {verb}" + ("s" if count == 1 else "")


def _listed(counts: Counter[str]) -> str:
    listed = ", ".join(f"{word} {count:,}" if count > 1 else word for word, count in counts.most_common(_LISTED))
    rest = len(counts) - _LISTED
    return listed + (f" and {rest:,} more" if rest > 0 else "")
