"""The English bundle that ships with this package, and the identity it must have."""

from pathlib import Path

DEFAULT_BUNDLE = Path(__file__).parent / "bundles" / "english-v1"
DEFAULT_IDENTITY = "c3228973f606cb9e89abedadd07ecff37da4ac72d0e23b9fc4bfa092f08ce8b4"
