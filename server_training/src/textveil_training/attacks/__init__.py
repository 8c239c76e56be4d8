"""What an attacker makes of released vectors: private attributes of a text, and noise that is no noise."""
