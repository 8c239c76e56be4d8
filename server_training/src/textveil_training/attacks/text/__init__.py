"""Attacks on sanitised text by somebody who knows the bundle, the mechanism and its options.

They measure; they bound nothing. What is bounded is said by the statement of a release.
"""

from textveil_training.attacks.text.record import Place, recorded
from textveil_training.attacks.text.run import ATTACKS, Settings, attack

__all__ = ["ATTACKS", "Place", "Settings", "attack", "recorded"]
