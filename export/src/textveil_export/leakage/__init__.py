"""What a sanitized word still tells: how far words spread, and how often an attacker guesses them."""

from textveil_export.leakage.bayes import Rate, priors, recovery_rates, simulate, zipf
from textveil_export.leakage.channel import Channel, channels
from textveil_export.leakage.statistics import Spread, measure, spreads

__all__ = [
    "Channel",
    "Rate",
    "Spread",
    "channels",
    "measure",
    "priors",
    "recovery_rates",
    "simulate",
    "spreads",
    "zipf",
]
