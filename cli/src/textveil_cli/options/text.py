"""How text is rewritten: the mechanism and its level, what stays visible, and how words are drawn."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from textveil_cli.console.lines import read_words

if TYPE_CHECKING:
    from textveil.text import Options


@dataclass(frozen=True, kw_only=True)
class LevelOptions:
    """The mechanism, and how private it is."""

    heading: ClassVar[str] = "Mechanism and level"
    mechanism: Annotated[
        str | None,
        typer.Option(
            "--mechanism",
            "-m",
            help="staircase, santext+, santext, fbdd, krr or random; the bundle's default if left out.",
        ),
    ] = None
    epsilon: Annotated[
        str | None,
        typer.Option(
            "--epsilon",
            "-e",
            help="Privacy level by its epsilon, exactly as info lists it; any number for krr and fbdd.",
        ),
    ] = None
    level: Annotated[str | None, typer.Option("--level", "-l", help="Privacy level by its name, as info lists it.")] = (
        None
    )
    replacement_probability: Annotated[
        str | None,
        typer.Option(
            "--replacement-probability", "-p", help="santext+: how often a common word is replaced, in (0, 1]."
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Returns what ``Sanitizer`` takes of these."""
        return dict(vars(self))


@dataclass(frozen=True, kw_only=True)
class ShownOptions:
    """What of a text stays visible."""

    heading: ClassVar[str] = "What stays visible"
    protect: Annotated[
        str | None,
        typer.Option(
            help="staircase: words (the built-in bundle's default) shows function words, all draws them too. Names and "
            "numbers become others of their kind. names is for bundles with lists for it.",
        ),
    ] = None
    deny: Annotated[
        Path | None,
        typer.Option(
            "--deny",
            help="File of words to hide, one per line: they become unknown (staircase) or sensitive (santext+).",
        ),
    ] = None
    sanitize_punctuation: Annotated[
        bool, typer.Option("--sanitize-punctuation", help="Sanitize punctuation too; lower case, single blanks.")
    ] = False

    def given(self) -> dict[str, Any]:
        """Returns what ``Sanitizer`` takes of these; what only the staircase has if it is given.

        Raises:
            InputError: The list of words cannot be read.
        """
        words = {"deny": read_words(self.deny, "--deny"), "sanitize_punctuation": self.sanitize_punctuation}
        return words | _said({"protect": self.protect})


@dataclass(frozen=True, kw_only=True)
class DrawOptions:
    """How words are drawn and written."""

    heading: ClassVar[str] = "How words are drawn"
    consistent: Annotated[
        bool,
        typer.Option(
            "--consistent",
            help="staircase: equal words of a document become equal words, and the text shows which are equal.",
        ),
    ] = False
    consistent_cap: Annotated[
        int | None,
        typer.Option(min=1, help="Most drawn words, names and numbers of a document with --consistent; 2,000."),
    ] = None
    split: Annotated[
        bool,
        typer.Option("--split", help="With --consistent: release a longer document in parts instead of refusing it."),
    ] = False
    fluent: Annotated[
        bool,
        typer.Option(
            "--fluent", help="staircase: words are drawn to fit the visible words and each other, for the same nats."
        ),
    ] = False
    case: Annotated[str, typer.Option("--case", help="carry the case pattern of each word over, or drop it.")] = "carry"

    def given(self) -> dict[str, Any]:
        """Returns what ``Sanitizer`` takes of these; what only the staircase has if it is given."""
        only = {name: getattr(self, name) or None for name in ("consistent", "consistent_cap", "split", "fluent")}
        return {"case": self.case} | _said(only)


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """All of how text is rewritten."""

    level: LevelOptions
    shown: ShownOptions
    draw: DrawOptions

    def options(self) -> "Options":
        """Returns the options of a draw.

        Raises:
            InputError: The list of denied words cannot be read.
        """
        return options_of(self.level, self.shown, self.draw)


def options_of(*groups: LevelOptions | ShownOptions | DrawOptions) -> "Options":
    """Returns the options that some of the groups stand for."""
    from textveil.text import Options

    return Options(**{name: value for group in groups for name, value in group.given().items()})  # type: ignore[typeddict-item]


def _said(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
