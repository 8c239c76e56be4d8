"""The English bundle that ships with this package, and the identity it must have."""

from pathlib import Path

DEFAULT_BUNDLE = Path(__file__).parent / "bundles" / "english-v2"
DEFAULT_IDENTITY = "8842abc047c60b3818d2eb7651a89dc947f544a8bc8e7c7742a364b066fff57d"
