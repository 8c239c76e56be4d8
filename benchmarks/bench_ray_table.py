"""A staircase table of made-up words by tasks of a Ray cluster: seconds, processor seconds, memory.

    python benchmarks/bench_ray_table.py table 400000 RECORDS.jsonl
    python benchmarks/bench_ray_table.py block 2500000

``table`` makes the vectors, runs ``textveil-export table --ray`` on them and adds to the records what it took so far,
once a minute and at the end. ``block`` times one block of each step in one process, and says what all blocks of such a
table would take. Of 300 dimensions, 64 neighbors, on all cores.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from measure import one_core
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


def block(words: int) -> None:
    """Times one block of each step in one process on one core."""
    one_core()
    import numpy as np
    from textveil_export.certify.staircase import certify_rows
    from textveil_export.parallel import SPAN
    from textveil_export.text.build_staircase import LEVELS
    from textveil_export.text.near_duplicates import close_pairs
    from textveil_export.text.nearest_words import inverse_norms, nearest_of_block

    random = np.random.default_rng(16)
    rows = np.empty((words, DIMENSION), dtype=np.int8)
    for start in range(0, words, SPAN):
        rows[start : start + SPAN] = random.integers(-100, 101, (min(SPAN, words - start), DIMENSION))
    norms, ids, hubs = inverse_norms(rows), np.arange(words), np.zeros(words, dtype=np.int64)
    neighbors = np.empty((words, NEIGHBORS), dtype=np.uint32)
    neighbors[:] = (ids[:, None] + np.arange(NEIGHBORS)) % words
    base, roles = np.ones(words, dtype=np.uint32), np.full(words, 63, dtype=np.uint8)
    blocks = -(-words // SPAN)
    middle = words // 2 // SPAN * SPAN  # a row is compared with those before it: the middle block is the mean one
    steps = {
        "near-duplicates": lambda: close_pairs(rows, 10_000.0, middle, middle + SPAN),
        "neighbors": lambda: nearest_of_block(rows, ids, hubs, norms, NEIGHBORS - 1, 1, middle, middle + SPAN),
        "certificate": lambda: certify_rows(neighbors, base, roles, LEVELS, middle, middle + SPAN),
    }
    print(f"{words:,} words, {DIMENSION} dimensions, {NEIGHBORS} neighbors: {blocks:,} blocks of {SPAN:,} rows")
    for step, work in steps.items():
        start = time.process_time()
        work()
        spent = time.process_time() - start
        print(f"{step:16} {spent:8.2f} processor seconds a block, {spent * blocks / 3600:7.2f} hours for all")
        about = {"words": words, "step": step, "block_s": round(spent, 2), "blocks": blocks}
        print(json.dumps({"benchmark": "ray_block", **about}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "table":
        table(int(sys.argv[2]), Path(sys.argv[3]))
    elif len(sys.argv) == 3 and sys.argv[1] == "block":
        block(int(sys.argv[2]))
    else:
        sys.exit(__doc__)
