"""SanText+ (Yue et al. 2021, Algorithm 2): what the coin that keeps common words costs (Theorem 2).

Sensitive words are drawn by SanText over the sensitive outputs. A common word is kept with probability ``1 - p``, else
drawn in the same way. Proof: docs/proofs/santext-plus.md.
"""

from decimal import ROUND_CEILING, Decimal, localcontext

from textveil.mechanisms.coin import ReplacementCoin


def mixture_epsilon(coin: ReplacementCoin) -> float:
    """Computes SanText+'s ``epsilon_0 = ln(1/p)`` (Theorem 2) of the realized coin, rounded up to six decimals."""
    with localcontext(prec=50, rounding=ROUND_CEILING):
        exact = (Decimal(2**64) / coin.threshold).ln()
        return float(exact.quantize(Decimal("1e-6"), rounding=ROUND_CEILING))
