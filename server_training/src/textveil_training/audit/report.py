"""Format audit reports: the bound, the claim, and the power of the tests, without inputs or outputs."""

from textveil_training.audit.procedure import AuditReport, TestResult


def format_report(report: AuditReport) -> str:
    """Format a report as lines for a terminal.

    Example:
        >>> from textveil_training.audit import AuditSettings, FunctionMechanism, InputPair
        >>> from textveil_training.audit import audit_mechanism, parse_claim
        >>> same = FunctionMechanism(lambda text: text)
        >>> found = audit_mechanism(same, parse_claim("4"), [InputPair(("a", "b"))], settings=AuditSettings(draws=100))
        >>> print(format_report(found).splitlines()[0])
        claim          epsilon 4
    """
    lines = [
        f"claim          {report.claim}",
        f"randomness     {report.freshness.explain()}",
    ]
    for test in report.tests:
        lines += [f"{'' if place else test.test:<15}{line}" for place, line in enumerate(_list(test, report.outputs))]
    if report.unchanged is not None:
        lines.append(f"unchanged      {report.unchanged:.1%} of the texts in the identification test")
    lines.append(f"result         {_format_verdict(report)}")
    return "\n".join(lines)


def _format_verdict(report: AuditReport) -> str:
    confidence, unit = f"{report.settings.confidence:.4g}", " per unit of distance" * report.claim.per_distance
    if report.verdict == "not tested":
        return "NOT TESTED: bounds from samples need independent draws"
    if report.verdict == "refuted":
        return f"REFUTED: epsilon is at least {report.bound:.2f}{unit}, above the claim, at confidence {confidence}"
    return (
        f"NOT REFUTED: epsilon is at least {report.bound:.2f}{unit} at confidence {confidence}. This does not prove "
        "the claim"
    )


def _list(test: TestResult, outputs: str) -> list[str]:
    found = test.description
    if test.test == "identification":
        what = f"one of {found['inputs']:,} {outputs}s named from its output, right in {found['success']:.1%}"
    else:
        what = f"two inputs ({found['pair']}), distinguished by {found['event']}"
        if found["distance"] != 1:
            what += f", distance {found['distance']:.3g}"
    lines = [f"epsilon at least {test.bound:.2f}: {what} ({test.draws:,} draws)"]
    if test.ceiling is None:
        return [*lines, "a test by betting has no largest bound: more draws, more bets"]
    powers = " or ".join(
        f"{value:.2g} ({int(count):,} outputs)" for count, value in test.half_power.items() if value is not None
    )
    half = f"half of epsilon from {powers} on in k-ary randomized response; " if powers else ""
    lines.append(f"could have found: {half}never more than {test.ceiling:.1f}")
    if test.test == "pair":
        lines.append("could not have found: a loss spread over many numbers, or over words whose places are lost")
    return lines
