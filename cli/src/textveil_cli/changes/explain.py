"""Explain why each token (word, number or punctuation mark) of a text is left unchanged or replaced."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from textveil.text import Options, Result, Sanitizer
from textveil.text.marked_html import MarkedPiece

from textveil_cli.changes.alignment import align_pieces

if TYPE_CHECKING:
    from textveil.text.explanation import ExplainedPiece

#: Phrase for each reason of an explained preview (docs/guides/names-reference.md); details may follow after a colon.
_REASONS = {
    "allow": "on your list --allow",
    "kept-capital": "common words that are written with a capital",
    "expression": "common expressions, such as 24/7, e.g. and 's",
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
    "pattern": "a number, address or identifier, by its form",
}
#: Phrases for details of reasons, such as names of lists. Hyphens of other details become blanks.
_DETAILS = {
    "given": "given names",
    "given-abroad": "given names (abroad)",
    "family": "family names",
    "city": "cities",
    "country": "countries",
    "the-country": "countries",
    "state": "states",
    "group": "groups of people",
    "organization": "organizations",
    "place": "places",
    "firm-word": "words of firms",
    "institution-word": "words of institutions",
    "street-word": "words of streets",
    "place-word": "words of places",
    "month": "months",
    "title": "titles",
    "weekday": "weekdays",
    "acronym": "abbreviations",
    "capital": "words with a capital",
    "company": "companies",
    "foreign": "words of other languages",
    "language": "languages",
    "term": "technical terms",
    "heading": "headings",
    "identifier": "parts of code and paths",
    "typing-error": "typing errors",
    "number": "numbers",
    "word": "other words",
}


def describe_reason(reason: str) -> str:
    """Convert a reason in the result of ``Sanitizer.preview`` to a readable phrase.

    >>> describe_reason("list: given-abroad, family")
    'on a public list: given names (abroad), family names'
    >>> describe_reason("pattern: beside order")
    'a number, address or identifier, by its form, beside "order"'
    """
    name, colon, rest = reason.partition(": ")
    phrase = _REASONS.get(name, name)
    if not colon:
        return phrase
    if name == "pattern":
        return f'{phrase}, beside "{rest.removeprefix("beside ")}"'
    if name in ("list", "facts"):
        rest = ", ".join(_DETAILS.get(detail, detail.replace("-", " ")) for detail in rest.split(", "))
    return f"{phrase}: {rest}"


def describe_reason_class(reason: str) -> str:
    """Convert a reason to a readable phrase without words of the text or of the user.

    >>> describe_reason_class("pattern: beside order")
    'a number, address or identifier, by its form'

    Args:
        reason: A reason in the result of ``Sanitizer.preview``. Its details stay if all are names of built-in lists.
    """
    name, _, rest = reason.partition(": ")
    if name not in _REASONS:
        return "another reason"
    return describe_reason(reason if name in ("list", "facts") and {*rest.split(", ")} <= _DETAILS.keys() else name)


class TextExplainer:
    """Object that computes how one run of a command treats each token of a text: unchanged, replaced or randomized.

    Args:
        sanitizer: The sanitizer of the run.
        options: Options of ``Sanitizer.sanitize``.
    """

    def __init__(self, sanitizer: Sanitizer, options: Options) -> None:
        self._sanitizer, self._options = sanitizer, options

    def list_pieces(self, text: str) -> "list[ExplainedPiece]":
        """Return the tokens and gaps (text between tokens) of a text, each with its treatment and the reason."""
        return self._sanitizer.preview(text, explain=True, **self._options)

    def iterate_treatments(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield each token of a text with its treatment, such as unchanged or replaced; ``1,240`` is one token."""
        pieces = ((token, state, "") for token, state in self._sanitizer.preview(text, **self._options))
        return ((token, state) for token, state, _ in _iterate_joined_tokens(pieces))

    def iterate_reasons(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Yield each token of a text with its treatment (such as replaced) and the reason; ``1,240`` is one token."""
        return _iterate_joined_tokens((piece.text, piece.state, piece.reason) for piece in self.list_pieces(text))

    def align(self, text: str, output: str) -> list[MarkedPiece]:
        """Split a sanitized text into parts, and pair each part with the original words that it replaces or repeats."""
        return align_pieces(self.list_pieces(text), output)

    def align_result(self, text: str, result: Result) -> list[MarkedPiece]:
        """Split the text of a result into parts, and pair each with the original words that it replaces or repeats.

        Args:
            text: The original text.
            result: The result of sanitizing the text.
        """
        replaced = result.spans
        spans = None if replaced is None else [(span.start, span.end) for span in replaced]
        return align_pieces(self.list_pieces(text), result.text, spans)


def _iterate_joined_tokens(pieces: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the tokens of ``Sanitizer.preview``, with the parts of a number joined, such as ``1,240`` and ``24/7``.

    ``Sanitizer.preview`` has one token for each group of digits, but readers of a report count such a number as one.

    >>> pieces = [("1", "kept", "facts"), (",", "gap", ""), ("240", "kept", "facts"), (" ", "gap", "")]
    >>> [*_iterate_joined_tokens(pieces)]
    [('1,240', 'kept', 'facts')]

    Args:
        pieces: Text, treatment and reason of each token or gap, in order.

    Yields:
        Text, treatment and reason of each token.
    """
    pending: tuple[str, str, str] | None = None
    gap = ""
    for text, state, reason in pieces:
        if state == "gap":
            gap += text
            continue
        if pending is not None:
            before = pending[0]
            if (
                gap in (",", ".", "/", ":")
                and before[-1:].isdigit()
                and text.isdigit()
                and pending[1:] == (state, reason)
            ):
                pending, gap = (before + gap + text, state, reason), ""
                continue
            yield pending
        pending, gap = (text, "randomized" if state == "unknown" else state, reason), ""
    if pending is not None:
        yield pending
