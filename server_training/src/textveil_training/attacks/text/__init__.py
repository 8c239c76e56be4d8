"""Attack sanitized text; the attacker knows the mechanism, its word lists and its options.

The results show how much one attacker achieves. They are no bound for other attackers; the privacy statement of a
sanitized text contains the bound.
"""

from importlib.util import find_spec

from textveil_training.errors import MissingExtra

if find_spec("textveil_export") is None:  # textveil-export computes the closed forms of leakage
    raise MissingExtra("attacks on text need textveil-export: pip install 'textveil-training[attacks]'")

from textveil_training.attacks.settings import ATTACKS, TextAttackSettings
from textveil_training.attacks.subject import AttackedMechanism
from textveil_training.attacks.text.run import attack_texts, run_and_record

__all__ = ["ATTACKS", "AttackedMechanism", "TextAttackSettings", "attack_texts", "run_and_record"]
