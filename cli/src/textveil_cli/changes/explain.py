"""Treatments of texts, as the options of a run give them, and their reasons in words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textveil.text import Options, Result, Sanitizer
from textveil.text.marked_html import MarkedPiece

from textveil_cli.changes.alignment import align_pieces

if TYPE_CHECKING:
    from textveil.text.explanation import ExplainedPiece

#: Reasons of an explained preview in words (docs/guides/names.md). A reason may go on behind a colon.
_REASONS = {
    "allow": "on your list --allow",
    "kept-capital": "common words that are written with a capital",
    "expression": "common expressions",
    "function-word": "function words",
    "common-word": "common words",
    "common-word-in-capitals": "common words in capitals",
    "common-word-at-start": "common words at the start of a sentence",
    "keep": "kept by --keep",
    "facts": "public facts",
    "": "words of the mode",
    "randomize": "on your list --randomize",
    "known": "a person of --known",
    "patterns": "a match of --pattern",
    "deny": "on your list --deny",
    "title-before": "a name after a title",
    "list": "on a public list",
    "word-before": "a place after a preposition",
    "capital": "capital letters, like a name",
    "perhaps-a-name": "a common word that is perhaps a name",
    "not-common": "on no list of common words",
    "pattern": "the form of a number, an address or an identifier",
}


def describe_reason(reason: str) -> str:
    """Return the reason of a treatment in words.

    >>> describe_reason("list: city")
    'on a public list: city'
    """
    name, colon, rest = reason.partition(":")
    return _REASONS.get(name, name) + colon + rest


class TextExplainer:
    """Explains how the texts of a run are treated.

    Args:
        sanitizer: The sanitizer of the run.
        options: Its options.
    """

    def __init__(self, sanitizer: Sanitizer, options: Options) -> None:
        self._sanitizer, self._options = sanitizer, options

    def list_pieces(self, text: str) -> "list[ExplainedPiece]":
        """Return the explained preview of a text."""
        return self._sanitizer.preview(text, explain=True, **self._options)

    def iterate_treatments(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield each token of a text with its treatment, without gaps."""
        return (
            (token, "randomized" if state == "unknown" else state)
            for token, state in self._sanitizer.preview(text, **self._options)
            if state != "gap"
        )

    def align(self, text: str, output: str) -> list[MarkedPiece]:
        """Return the parts of an output, each with its original and its treatment."""
        return align_pieces(self.list_pieces(text), output)

    def align_result(self, text: str, result: Result) -> list[MarkedPiece]:
        """Return the parts of a result's text, each with its original and its treatment."""
        replaced = result.spans
        spans = None if replaced is None else [(span.start, span.end) for span in replaced]
        return align_pieces(self.list_pieces(text), result.text, spans)
