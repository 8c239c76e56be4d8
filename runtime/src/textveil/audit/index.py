"""Checks an index bundle on the device: what its certificate says against the integers that are drawn with."""

from decimal import Decimal, localcontext
from fractions import Fraction

from textveil.bundle.index import IndexBundle
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase.index import IndexStaircase
from textveil.release import counted


def verify_index(bundle: IndexBundle) -> str:
    """Checks what can be checked of an opened index bundle, and returns what was checked.

    Opening it has checked hashes and structure, and certified every channel. Here every row of every channel is
    computed in exact rationals; the largest ratio of two probabilities of one index must not be above
    ``exp(epsilon)``, and the certificate in the manifest must have these very integers.

    Raises:
        BundleDamaged: A channel loses more than it states, or the certificate is another one's. The level is named.
    """
    told = bundle.manifest.get("certificate")
    entries = told if isinstance(told, list) else []
    stated = [
        tuple(entry.get(key) for key in ("channel", "epsilon", "base_sum", "budget", "factor"))
        for entry in entries
        if isinstance(entry, dict)
    ]
    found = []
    for name, levels in bundle.channels.items():
        for staircase in levels:
            epsilon = f"{staircase.level.epsilon:f}"
            if _exceeds(_largest_ratio(staircase), staircase.level.epsilon):
                raise BundleDamaged(f"channel {name}, level {epsilon}: loses more than the stated epsilon")
            found.append((name, epsilon, staircase.base_sum, staircase.budget, staircase.factor))
    if told is not None and stated != found:
        raise BundleDamaged("the certificate in the manifest is not that of these channels")
    return "\n".join(
        [
            f"{counted(len(bundle.manifest['files']), 'file')} with the right size and hash, structure sound",
            "no certificate" if told is None else "certificate for these very channels",
            f"{counted(len(found), 'level')} of {counted(len(bundle.channels), 'channel')} computed in exact "
            "rationals: all within the stated epsilon",
        ]
    )


def _largest_ratio(staircase: IndexStaircase) -> Fraction:
    rows = [staircase.exact_row(code) for code in range(staircase.codes)]  # all have the same total
    ratios = [Fraction(max(column), min(column)) for column in zip(*rows, strict=True) if max(column)]
    return max(ratios)


def _exceeds(ratio: Fraction, epsilon: Decimal) -> bool:
    with localcontext(prec=60):
        smallest = epsilon.exp() * (1 - Decimal(10) ** -58)
        return Decimal(ratio.numerator) > smallest * ratio.denominator
