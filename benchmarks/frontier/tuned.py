"""Fine-tune and test MiniLM on SST-2, as released by a row of the table."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from frontier.corpora import FILES
from frontier.rows import Releases
from report.frontier_rows import Row

#: Rows of train: one in twenty of them is held out, and does not decide anything after a single pass.
SUBSET = 10_000
#: One pass at a higher learning rate instead of the paper's three: the best setting on 9,502 rows (benchmarks/LOG.md).
_TRAINING = ("--num-epochs", "1", "--learning-rate", "1e-4", "--threads", "1")


def sample_lines(lines: list[str], count: int) -> list[str]:
    """Return a fixed sample of lines in their order; all of them for 0."""
    order = sorted(range(len(lines)), key=lambda row: hashlib.sha256(f"subset\n{row}".encode()).digest())
    return [lines[row] for row in sorted(order[: count or len(lines)])]


def measure(
    releases: Releases, row: Row, data: Path, seed: int, precision: str, subset: int = SUBSET
) -> dict[str, Any]:
    """Release SST-2, and fine-tune and test MiniLM on the release; each call makes a new release.

    Args:
        releases: Builds the release.
        row: The row to release.
        data: Folder of the data.
        seed: Seed of the training; the release has no seed.
        precision: Precision of the training.
        subset: Number of training rows; 0 for all.

    Returns:
        ``score``: accuracy on the released dev sentences.
    """
    with TemporaryDirectory() as folder:
        for name, count in zip(FILES["sst2"], (subset, 0), strict=True):
            header, *lines = (data / name).read_text("utf-8").splitlines()
            texts, labels = zip(*(line.split("\t") for line in sample_lines(lines, count)), strict=True)
            released = releases.sample(row, [text.strip() for text in texts]) if row.name != "raw" else texts
            # A text of which nothing is left is a full stop: readers of data refuse an empty one.
            rows = [f"{text.strip() or '.'}\t{label}" for text, label in zip(released, labels, strict=True)]
            (Path(folder) / Path(name).name).write_text("\n".join([header, *rows, ""]), "utf-8")
        command = [
            sys.executable, "-m", "textveil_training", "finetune", folder, "--format", "sst2", "-o", f"{folder}/model",
            "--seed", str(seed), "--precision", precision, "--json", *_TRAINING,
        ]  # fmt: skip
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = json.loads(printed.splitlines()[-1])
    return {"score": found["test"]["accuracy"], "rows": subset, "precision": precision}
