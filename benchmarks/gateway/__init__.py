"""The gateway before a real model, and beside its peers."""
