"""Attacks on sanitized text by an attacker who has the bundle, the mechanism and its options.

They measure what one attacker achieves and bound nothing. The bound is in the statement of a release.
"""

from importlib.util import find_spec

from textveil_training.errors import MissingExtra

if find_spec("textveil_export") is None:  # closed forms of leakage have their home in that wheel
    raise MissingExtra("attacks on text need textveil-export: pip install 'textveil-training[attacks]'")

from textveil_training.attacks.settings import ATTACKS, TextAttackSettings
from textveil_training.attacks.subject import AttackedMechanism
from textveil_training.attacks.text.run import attack_texts, run_and_record

__all__ = ["ATTACKS", "AttackedMechanism", "TextAttackSettings", "attack_texts", "run_and_record"]
