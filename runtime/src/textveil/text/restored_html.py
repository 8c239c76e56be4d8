"""HTML of a restored reply for a notebook: what was restored, how often, and what stayed and why."""

from collections import Counter

from textveil.formatting import format_count
from textveil.text.marked_html import HtmlFragment, MarkedPiece, escape_html, make_fragment
from textveil.text.restore_policy import REASON_PHRASES
from textveil.text.restored import RestoreReport

_HEADS = ("in the reply", "times", "treatment")
_ORIGINALS_HINT = "The restored text contains your originals: print it, or use to_html(show_originals=True)."


def make_report_fragment(report: RestoreReport, text: str, *, show_originals: bool) -> HtmlFragment:
    """Return the HTML of a report on a reply, with or without the restored text.

    Args:
        report: The report.
        text: The restored text.
        show_originals: Whether the fragment contains the text, after a notice that it is private.

    Privacy:
        Without ``show_originals`` the fragment contains words of the reply only, and no originals.

    >>> from textveil.text.restore import Restorer
    >>> restored = Restorer([("Gomez", "Novak")]).restore("Ask Gomez.")
    >>> "Novak" in str(make_report_fragment(restored.report, restored.text, show_originals=False))
    False
    """
    line = f"{format_count(len(report.restored), 'surrogate')} restored, {len(report.not_restored):,} not restored"
    rows = [(written, count, "restored") for written, count in Counter(report.restored).most_common()]
    rows += [
        (stays.written, count, f"stays, as a surrogate {REASON_PHRASES[stays.reason]}")
        for stays, count in Counter(report.not_restored).most_common()
    ]
    rows += [
        (number, count, "a number that is not in the text: the model may have computed it from replaced numbers")
        for number, count in Counter(report.unknown_numbers).most_common()
    ]
    table = _format_table(rows) if rows else ""
    if show_originals:
        return HtmlFragment(make_fragment([MarkedPiece(text)], line, show_originals=True) + table)
    return HtmlFragment(f"<p>{line}. {_ORIGINALS_HINT}</p>{table}")


def _format_table(rows: list[tuple[str, int, str]]) -> str:
    heads = "".join(f"<th>{head}</th>" for head in _HEADS)
    lines = (
        f"<tr><td>{escape_html(written)}</td><td>{count:,}</td><td>{escape_html(treatment)}</td></tr>"
        for written, count, treatment in rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
