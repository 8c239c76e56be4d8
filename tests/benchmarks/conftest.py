"""Makes the scripts of benchmarks/report, benchmarks/frontier and benchmarks/vectors importable."""

import sys
from pathlib import Path

for folder in ("vectors", "report", "frontier"):
    sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / folder))
