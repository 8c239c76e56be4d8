"""Format audit reports: the bound, the claim, and the power of the tests, without inputs or outputs."""

from textveil.release import round_down

from textveil_training.audit.procedure import AuditReport, TestResult

#: Decimals of a bound; a bound that then does not exceed the claim it refutes has more.
_DECIMALS = range(2, 9)


def format_report(report: AuditReport) -> str:
    """Format the report of an audit (statistical test of a claimed epsilon) as lines for a terminal.

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


def format_bound(report: AuditReport) -> str:
    """Format the measured lower bound on epsilon, rounded down, as a sentence for a terminal.

    Example:
        >>> from textveil_training.audit import AuditSettings, FunctionMechanism, InputPair
        >>> from textveil_training.audit import audit_mechanism, parse_claim
        >>> same = FunctionMechanism(lambda text: "same")
        >>> found = audit_mechanism(same, parse_claim("4"), [InputPair(("a", "b"))], settings=AuditSettings(draws=100))
        >>> format_bound(found)
        'epsilon is at least 0.00'
    """
    unit = " per unit of distance" * report.claim.per_distance
    if report.verdict != "refuted":
        return f"epsilon is at least {round_down(report.bound, 2):.2f}{unit}"
    for decimals in _DECIMALS:
        shown = round_down(report.bound, decimals)
        if shown > report.claim.epsilon:
            return f"epsilon is at least {shown:.{decimals}f}{unit}"
    return f"epsilon is more than {report.claim.epsilon:g}{unit}"  # a won bet against the claim itself


def _format_verdict(report: AuditReport) -> str:
    confidence = f"at confidence {report.settings.confidence:.4g}"
    ceilings = [one.ceiling for one in report.tests if one.ceiling is not None]
    largest = max(ceilings) if len(ceilings) == len(report.tests) > 0 else None
    beyond = largest is not None and largest <= report.claim.epsilon
    if report.verdict == "not tested":
        few = f"; one draw of each text shows at most epsilon {largest:.1f} here: pass more texts" if beyond else ""
        return f"NOT TESTED: bounds from samples need independent draws{few}"
    if report.verdict == "refuted":
        return f"REFUTED: {format_bound(report)}, above the claim, {confidence}"
    why = f": no bound of this audit can exceed {largest:.1f}" if beyond else ""
    return f"NOT REFUTED: {format_bound(report)} {confidence}. This does not prove the claim{why}"


def _list(test: TestResult, outputs: str) -> list[str]:
    found = test.description
    if test.test == "identification":
        what = f"one of {found['inputs']:,} {outputs}s, guessed from its output, correctly in {found['success']:.1%}"
    else:
        what = f"two inputs ({found['pair']}), distinguished by {found['event']}"
        if found["distance"] != 1:
            what += f", distance {found['distance']:.3g}"
    lines = [f"epsilon at least {round_down(test.bound, 2):.2f}: {what} ({test.draws:,} draws)"]
    if test.ceiling is None:
        return [*lines, "the bound of a test by betting has no limit: it can grow with the number of draws"]
    powers = " or ".join(
        f"{value:.2g} ({int(count):,} outputs)" for count, value in test.half_power.items() if value is not None
    )
    half = f"half of epsilon from {powers} on in k-ary randomized response; " if powers else ""
    most = f"never more than {test.ceiling:.1f}" if test.ceiling else "nothing, with so few draws"
    lines.append(f"could detect: {half}{most}")
    if test.test == "pair":
        lines.append(
            "could not detect: a privacy loss that is spread over many numbers, or over words in unknown positions"
        )
    return lines
