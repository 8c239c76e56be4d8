"""The English bundle that ships with this package, and the identity it must have."""

from pathlib import Path

DEFAULT_BUNDLE = Path(__file__).parent / "bundles" / "english-v1"
DEFAULT_IDENTITY = "d86a9bf14287f42cea1578f267e4ea124c12908836103b84fda93ea5fc64033b"
