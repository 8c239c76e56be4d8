"""Makes the scripts of benchmarks/report and benchmarks/frontier importable."""

import sys
from pathlib import Path

for folder in ("report", "frontier"):
    sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / folder))
