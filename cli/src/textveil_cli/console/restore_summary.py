"""Summary of ``textveil restore`` in one line: how many replacements became original words again."""

from textveil.formatting import format_count
from textveil.text import RestoreReport, SkipReason

#: Option that restores the surrogates with a reason.
_OPTIONS = {
    SkipReason.LINK: "--restore-hosts HOST",
    SkipReason.CODE: "--restore-places code",
    SkipReason.MATH: "--restore-places math",
    SkipReason.JSON: "--restore-places json",
    SkipReason.CHUNK: "--restore-hosts HOST",
}


def describe_restore_report(report: RestoreReport) -> str:
    """Return one line: how many replacements were restored, why others were not, and which options help."""
    description = f"{format_count(len(report.restored), 'surrogate')} restored"
    reasons = report.count_reasons()
    if reasons:
        description += f", {len(report.not_restored):,} not restored: "
        description += ", ".join(f"{count:,} {_describe_reason(reason)}" for reason, count in reasons.items())
    tags = len(report.unknown_tags)
    if tags:
        description += f"; {format_count(tags, 'tag')} not in the text: the model may have invented "
        description += "it" if tags == 1 else "them"
    return description


def _describe_reason(reason: SkipReason) -> str:
    phrase, option = reason.phrase, _OPTIONS.get(reason)
    return f"{phrase} ({option})" if option else phrase
