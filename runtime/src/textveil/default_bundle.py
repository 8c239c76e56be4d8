"""The English bundle that ships with this package, and the identity it must have."""

from pathlib import Path

DEFAULT_BUNDLE = Path(__file__).parent / "bundles" / "english-v1"
DEFAULT_IDENTITY = "0" * 64
