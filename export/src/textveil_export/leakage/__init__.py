"""Measures what a sanitized word still tells: how far words spread, how often an attacker guesses them."""

from textveil_export.leakage.bayes import Guesses, Rate, among, guess, one_release, recovery_rates, simulate, zipf
from textveil_export.leakage.channels import candidates, channels
from textveil_export.leakage.spread import LEFT_OUT, LIKELY_SHARE, Spread, measure_spread
from textveil_export.leakage.statistics import measure

__all__ = [
    "LEFT_OUT",
    "LIKELY_SHARE",
    "Guesses",
    "Rate",
    "Spread",
    "among",
    "candidates",
    "channels",
    "guess",
    "measure",
    "measure_spread",
    "one_release",
    "recovery_rates",
    "simulate",
    "zipf",
]
