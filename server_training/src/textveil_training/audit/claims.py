"""Define and parse a privacy claim: an epsilon, an epsilon with a delta, or an epsilon per distance."""

import math
import re
from dataclasses import dataclass

from textveil_training.errors import SettingError


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of differential privacy.

    The claim is ``Pr[x in E] <= e^epsilon Pr[x' in E] + delta`` for each event E (set of outputs) and any two
    neighboring inputs x and x', where ``Pr[x in E]`` is the probability that the output for x is in E.

    Attributes:
        epsilon: The claimed epsilon, at least 0.
        delta: The claimed delta, at least 0 and below 1.
        per_distance: Whether epsilon is per unit of the distance of x and x'.
    """

    epsilon: float
    delta: float = 0.0
    per_distance: bool = False

    def __str__(self) -> str:
        """Describe the claim in words."""
        delta = f", delta {self.delta:g}" if self.delta else ""
        return f"epsilon {self.epsilon:g}{' per unit of distance' if self.per_distance else ''}{delta}"


def parse_claim(text: str) -> Claim:
    """Parse a claim: an epsilon, an epsilon and a delta, or an epsilon per unit of distance.

    Args:
        text: The claim, such as ``4``, ``1,1e-6`` or ``3*d``.

    Raises:
        SettingError: The text has another form, or a number is out of range.

    Example:
        >>> str(parse_claim("1,1e-6")), str(parse_claim("3*d"))
        ('epsilon 1, delta 1e-06', 'epsilon 3 per unit of distance')
    """
    number = r"(\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
    parts = re.fullmatch(rf"\s*(?P<epsilon>{number})\s*(?:(?P<metric>\*\s*d)|,\s*(?P<delta>{number}))?\s*", text)
    if parts is None:
        raise SettingError('--claims takes an epsilon such as 4, a pair such as "1,1e-6", or "3*d" per distance')
    epsilon, delta = float(parts["epsilon"]), float(parts["delta"] or 0)
    if not math.isfinite(epsilon) or not 0 <= delta < 1:
        raise SettingError("--claims needs a finite epsilon, and a delta below 1")
    return Claim(epsilon=epsilon, delta=delta, per_distance=parts["metric"] is not None)
