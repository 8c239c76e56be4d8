"""Attacks on sanitized text by somebody who knows the bundle, the mechanism and its options.

They measure what one attacker achieves and bound nothing. The bound is in the statement of a release.
"""

from textveil_training.attacks.text.record import run_and_record
from textveil_training.attacks.text.run import ATTACKS, Settings, attack

__all__ = ["ATTACKS", "Settings", "attack", "run_and_record"]
