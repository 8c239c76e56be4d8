"""Measure what an attacker learns from the noisy vectors or the sanitized text that devices send."""
