"""A staircase table of made-up words by tasks of a Ray cluster: seconds, processor seconds, memory.

    python benchmarks/bench_ray_table.py 400000 RECORDS.jsonl

Makes the vectors, runs ``textveil-export table --ray`` on them and adds to the records what it took so far, once a
minute and at the end. Of 300 dimensions, 64 neighbors, on all cores.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from process_tree import Spent, watch

DIMENSION, NEIGHBORS = 300, 64


def table(words: int, records: Path) -> None:
    """Runs the command and records what it takes."""
    from made_up_vectors import write

    with tempfile.TemporaryDirectory() as name:
        vectors, folder = Path(name) / "vectors.txt", Path(name) / "bundle"
        write(words, str(vectors), DIMENSION)
        options = ["--vectors", vectors, "--max-words", words, "--mechanisms", "staircase", "--ray", "-o", folder]
        command = [sys.executable, "-m", "textveil_export", "table", *map(str, options)]
        last = -60.0

        def tell(spent: Spent, *, finished: bool = False) -> None:
            nonlocal last
            if finished or spent.wall_s >= last + 60:
                last = spent.wall_s
                size = sum(file.stat().st_size for file in folder.glob("*")) if finished else 0
                about = {"words": words, "dimension": DIMENSION, "neighbors": NEIGHBORS, "cores": os.cpu_count()}
                took = {name: round(value, 1) for name, value in vars(spent).items()}
                with records.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(about | took | {"finished": finished, "bundle_bytes": size}) + "\n")

        tell(watch(command, tell), finished=True)
    print(records.read_text(encoding="utf-8").splitlines()[-1])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    table(int(sys.argv[1]), Path(sys.argv[2]))
