"""The English bundle that ships with this package, and the identity it must have."""

from pathlib import Path

DEFAULT_BUNDLE = Path(__file__).parent / "bundles" / "english-v1"
DEFAULT_IDENTITY = "be5bb2042230ecc133fb4985c78d96392009466d74568df3941692d05c4c7017"
