"""The pure LDP level of SanText: the most that an output can favor one word over another, whatever their distance."""

import math
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

from textveil.bundle.santext_files import Level
from textveil.bundle.text import TextBundle


def pure_level(bundle: TextBundle, level: Level, mechanism: str) -> Decimal:
    """Returns the pure LDP level of what a mechanism draws: that of the bundle's certificate, else a bound of it.

    ``ln Pr[M(x) = y] - ln Pr[M(x') = y] <= 2 ln (max W / min W)``: with ``Pr[M(x) = y] = q(y) W[c] / Z(x)`` both the
    weight of the output and the total ``Z`` change by that factor at most (docs/proofs/ledger.md).

    Args:
        bundle: The bundle.
        level: One of its levels.
        mechanism: ``"santext"``.
    """
    proven: Any = (bundle.certificate or {}).get("levels")
    for key in (level.name, mechanism, "epsilon_pure_ldp"):
        proven = proven.get(key) if isinstance(proven, dict) else None
    if type(proven) in (int, float) and math.isfinite(proven) and proven >= 0:
        return Decimal(proven)
    weights = level.parameters[mechanism].weights
    with localcontext(prec=50, rounding=ROUND_CEILING):
        ratio = Decimal(int(weights.max())) / int(weights.min())
        return 2 * (ratio.ln() + Decimal("1e-40"))  # more than the logarithm can lose
