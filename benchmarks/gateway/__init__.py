"""The gateway before a real model."""
