"""Results of restoring a reply: the text with its originals, and a report."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from textveil.errors import RestoredNotJson
from textveil.formatting import format_count
from textveil.text.restore_policy import SkipReason

if TYPE_CHECKING:
    from textveil.text.marked_html import HtmlFragment

_ORIGINALS_HINT = "The restored text contains your originals: print it, or use to_html(show_originals=True)."
_UNKNOWN_TAG = "a tag that names nothing in the text: the model may have invented it"
_UNKNOWN_NUMBER = "a number that is not in the text: the model may have computed it from replaced numbers"


class NotRestored(NamedTuple):
    """A surrogate (replacement) in a reply that restoring leaves unchanged.

    Attributes:
        written: The surrogate, as written in the reply.
        reason: Why the surrogate was not replaced by its original.

    >>> from textveil.text.restore_policy import SkipReason
    >>> NotRestored("Gomez", SkipReason.CODE).reason.value
    'code'
    """

    written: str
    reason: SkipReason


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """Report on the surrogates (replacements) in a reply. It contains only words of the reply, and no originals.

    Attributes:
        restored: Surrogates that were replaced by their originals, as written in the reply.
        not_restored: Surrogates that were not replaced, each with the reason.
        unknown_numbers: Numbers of the reply that are neither surrogates nor in the sanitized text. A model may have
            computed them from surrogates, or invented them. Empty if no number of the text was replaced, and if
            the text is not known, as for a mapping from a file.
        unknown_tags: Tags of the reply, such as ``[person 99]``, that have no known original. They stay in the reply. A
            model may have invented them. Empty if the sanitized text has no tags.

    >>> from textveil.text.restore import Restorer
    >>> Restorer([("Gomez", "Novak")]).restore("Ask Gomez.").report.restored
    ('Gomez',)
    """

    restored: tuple[str, ...] = ()
    not_restored: tuple[NotRestored, ...] = ()
    unknown_numbers: tuple[str, ...] = ()
    unknown_tags: tuple[str, ...] = ()

    @classmethod
    def join_reports(cls, reports: Iterable["RestoreReport"]) -> "RestoreReport":
        """Return one report that joins the entries of several reports, in order."""
        all_reports = [*reports]
        return cls(
            restored=tuple(written for report in all_reports for written in report.restored),
            not_restored=tuple(stays for report in all_reports for stays in report.not_restored),
            unknown_numbers=tuple(number for report in all_reports for number in report.unknown_numbers),
            unknown_tags=tuple(tag for report in all_reports for tag in report.unknown_tags),
        )

    def count_reasons(self) -> dict[SkipReason, int]:
        """Return how many surrogates (replacements) were not restored for each reason, most frequent reason first."""
        return dict(Counter(stays.reason for stays in self.not_restored).most_common())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dictionary for JSON.

        The keys are ``restored``, ``not_restored`` (a list of objects with ``written`` and ``reason``),
        ``unknown_numbers`` and ``unknown_tags``.
        """
        return {
            "restored": [*self.restored],
            "not_restored": [{"written": written, "reason": reason.value} for written, reason in self.not_restored],
            "unknown_numbers": [*self.unknown_numbers],
            "unknown_tags": [*self.unknown_tags],
        }

    def make_html(self, text: str | None = None) -> "HtmlFragment":
        """Return the report as HTML for a notebook: each surrogate (replacement), its count, and its treatment.

        Args:
            text: The restored text, to show it above the report after a notice that it is private; otherwise ``None``.

        Privacy:
            Without ``text`` the fragment contains words of the reply only, and no originals.

        >>> report = RestoreReport(restored=("Gomez", "Gomez"))
        >>> "<td>Gomez</td><td>2</td><td>restored</td>" in str(report.make_html())
        True
        """
        from textveil.text.marked_html import HtmlFragment, MarkedPiece, make_fragment  # lazy: only notebooks need it

        line = f"{format_count(len(self.restored), 'surrogate')} restored, {len(self.not_restored):,} not restored"
        rows = [(written, count, "restored") for written, count in Counter(self.restored).most_common()]
        rows += [
            (stays.written, count, f"stays, as a surrogate {stays.reason.phrase}")
            for stays, count in Counter(self.not_restored).most_common()
        ]
        rows += [(number, count, _UNKNOWN_NUMBER) for number, count in Counter(self.unknown_numbers).most_common()]
        rows += [(tag, count, _UNKNOWN_TAG) for tag, count in Counter(self.unknown_tags).most_common()]
        table = _format_table(rows) if rows else ""
        if text is not None:
            return HtmlFragment(make_fragment([MarkedPiece(text)], line, show_originals=True) + table)
        return HtmlFragment(f"<p>{line}. {_ORIGINALS_HINT}</p>{table}")


def _format_table(rows: Iterable[tuple[str, int, str]]) -> str:
    from textveil.text.marked_html import escape_html  # lazy: only notebooks need it

    heads = "".join(f"<th>{head}</th>" for head in ("in the reply", "times", "treatment"))
    lines = (
        f"<tr><td>{escape_html(written)}</td><td>{count:,}</td><td>{treatment}</td></tr>"
        for written, count, treatment in rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


class ReportProperties:
    """Base class with properties that list the surrogates (replacements) left in a reply, one for each reason."""

    __slots__ = ()

    if TYPE_CHECKING:
        report: Any

    @property
    def not_restored_words(self) -> tuple[str, ...]:
        """Surrogates (replacements) that were not restored, since they may be words of the reply itself."""
        return self._select(SkipReason.WORD)

    @property
    def ambiguous(self) -> tuple[str, ...]:
        """Surrogates (replacements) that were not restored, since each replaced several different originals."""
        return self._select(SkipReason.AMBIGUOUS)

    @property
    def skipped(self) -> tuple[NotRestored, ...]:
        """Surrogates (replacements) that were not restored because of their place, such as code; with the reason."""
        others = (SkipReason.WORD, SkipReason.AMBIGUOUS)
        return tuple(stays for stays in self.report.not_restored if stays.reason not in others)

    @property
    def unknown_tags(self) -> tuple[str, ...]:
        """Tags of the reply, such as ``[person 99]``, without a known original. A model may have invented them."""
        return self.report.unknown_tags

    def _select(self, reason: SkipReason) -> tuple[str, ...]:
        return tuple(stays.written for stays in self.report.not_restored if stays.reason == reason)


class _JsonRefusingType(type):
    """Metaclass whose classes make ``json`` raise ``RestoredNotJson`` for their instances.

    A class cannot choose the error that ``json`` raises for its instances; only the caller can, with ``default``. But
    the encoder of ``json`` reads the name of the class for the message of its ``TypeError``. If the caller is that
    encoder, the property ``__name__`` of this metaclass raises ``RestoredNotJson``. For all other callers the property
    returns the name.
    """

    @property
    def __name__(cls) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] # type has it as a descriptor
        asks = sys._getframe(1)
        if asks.f_code.co_name == "default" and asks.f_globals.get("__name__") == "json.encoder":
            raise RestoredNotJson(
                "a Restored object cannot be written to JSON: use .text, or .to_dict() for text and report"
            )
        return type.__dict__["__name__"].__get__(cls)


class Restored(metaclass=_JsonRefusingType):
    """A reply with the user's original words, and a report on its surrogates (replacements).

    It acts like its text in ``str``, ``==``, ``in``, ``len``, slices and f-strings. It is not a ``str``: ``json.dumps``
    raises ``RestoredNotJson``. Use ``.text``, or ``.to_dict()`` for text and report.

    In this example the second surrogate stays, because it is a part of a web address:

    >>> from textveil.text.restore import Restorer
    >>> restored = Restorer([("Gomez", "Novak")]).restore("Dear Gomez, see https://a.example/Gomez")
    >>> print(restored)
    Dear Novak, see https://a.example/Gomez
    >>> restored.report.not_restored[0].reason.value
    'chunk'

    Attributes:
        text: The reply with the user's words. It is as private as the text that was sanitized.
        report: Report on the surrogates that were restored, and on those that were not.
    """

    __slots__ = ("report", "text")

    def __init__(self, text: str, report: RestoreReport) -> None:
        self.text: str = text
        self.report: RestoreReport = report

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for JSON: the key ``text`` and the keys of the report (``RestoreReport.to_dict``)."""
        return {"text": self.text, **self.report.to_dict()}

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        """Return how many surrogates (replacements) were restored and how many not, without a word of the text."""
        report = self.report
        return f"<Restored: {len(report.restored):,} restored, {len(report.not_restored):,} not restored>"

    def _repr_html_(self) -> str:
        """Return the report as HTML for a notebook. It lacks the restored text, since a notebook saves its outputs."""
        return str(self.to_html())

    def to_html(self, *, show_originals: bool = False) -> "HtmlFragment":
        """Return the report as HTML for a notebook: each surrogate (replacement), its count, and its treatment.

        >>> from textveil.text.restore import Restorer
        >>> restored = Restorer([("Gomez", "Novak")]).restore("Ask Gomez.")
        >>> "Novak" in str(restored.to_html()), "Novak" in str(restored.to_html(show_originals=True))
        (False, True)

        Args:
            show_originals: Whether the restored text is above the report. A notebook saves this text in its file.
        """
        return self.report.make_html(self.text if show_originals else None)

    def __format__(self, specification: str) -> str:
        return format(self.text, specification)

    def __eq__(self, other: object) -> bool:
        return self.text == str(other) if isinstance(other, str | Restored) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __contains__(self, part: str) -> bool:
        return part in self.text

    def __len__(self) -> int:
        return len(self.text)

    def __iter__(self) -> Iterator[str]:
        return iter(self.text)

    def __getitem__(self, index: SupportsIndex | slice) -> str:
        return self.text[index]

    def __add__(self, other: object) -> str:
        return self.text + str(other) if isinstance(other, str | Restored) else NotImplemented

    def __radd__(self, other: object) -> str:
        return other + self.text if isinstance(other, str) else NotImplemented
