"""Summary of a restored reply in one line: how many surrogates were restored, and why others were not."""

from textveil.formatting import format_count
from textveil.text import RestoreReport, SkipReason

#: Reason for each surrogate that is not restored, and the option that restores it.
_REASONS = {
    SkipReason.LINK: ("in links", "--restore-hosts HOST"),
    SkipReason.CODE: ("in code", "--restore-places code"),
    SkipReason.MATH: ("in math", "--restore-places math"),
    SkipReason.JSON: ("in JSON", "--restore-places json"),
    SkipReason.MARKUP: ("in or after markup", ""),
    SkipReason.ACTIVE: ("in a reply with a script or an event handler", ""),
    SkipReason.CHUNK: ("in a chunk that may be an address", "--restore-hosts HOST"),
    SkipReason.AMBIGUOUS: ("with several possible originals", ""),
    SkipReason.WORD: ("that may be an ordinary word of the reply", ""),
}


def describe_restore_report(report: RestoreReport) -> str:
    """Return how many surrogates were restored, why others were not, and which options help."""
    description = f"{format_count(len(report.restored), 'surrogate')} restored"
    reasons = report.count_reasons()
    if reasons:
        description += f", {len(report.not_restored):,} not restored: "
        description += ", ".join(f"{count:,} {_describe_reason(reason)}" for reason, count in reasons.items())
    numbers = len(report.unknown_numbers)
    if numbers:
        description += f"; {format_count(numbers, 'number')} not in the text: the model may have computed "
        description += "it from replaced numbers" if numbers == 1 else "them from replaced numbers"
    return description


def _describe_reason(reason: SkipReason) -> str:
    where, option = _REASONS[reason]
    return f"{where} ({option})" if option else where
