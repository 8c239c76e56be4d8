"""The gateway beside its peers."""
