"""Makes the folders of benchmarks/ importable, as its scripts do: ``frontier.run``, ``report.pages``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
