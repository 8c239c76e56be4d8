"""Certify a staircase mechanism: check the conditions of its privacy theorem on each row of its table.

A row has the ids of one word and of its nearest words (neighbors). The ids must be distinct, the word itself first. At
each level (epsilon) and for each set of allowed outputs, the additional weights of the neighbors must be between 0 and
the base weights, and their sum must be at most the budget ``H`` (docs/proofs/staircase.md). ``Staircase.from_table``
checks the integers of the sampler for each level and set of outputs. The theorem then holds for all pairs of words, so
the module compares no pairs.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase import Staircase, StaircaseLevel, StaircaseTable

from textveil_export.errors import CertificationError
from textveil_export.parallel import BlockRunner, run_blocks, split_rows
from textveil_export.progress import Progress, ignore_progress


def certify_staircase(
    tensors: dict[str, NDArray[Any]],
    levels: Sequence[StaircaseLevel],
    progress: Progress = ignore_progress,
    run: BlockRunner = run_blocks,
) -> None:
    """Check each row and level (epsilon) of a staircase mechanism before its bundle (data folder) is written.

    Args:
        tensors: Arrays of ``staircase.safetensors``.
        levels: Parameters of the mechanism for each epsilon.
        progress: Called with the number of processed rows.
        run: Function that applies another function to blocks of rows, such as in parallel processes.

    Raises:
        CertificationError: A row or a level violates a condition of the privacy theorem in docs/proofs/staircase.md.
    """
    neighbors, base, roles = tensors["neighbors"], tensors["base"], tensors["roles"]
    spans = split_rows(len(base))
    work = run(certify_rows, (neighbors, base, roles, tuple(levels)), spans)
    for (_, stop), wrong in zip(spans, work, strict=True):
        if wrong is not None:
            raise CertificationError(wrong)
        progress("certifying rows", stop, len(base))


def certify_rows(
    neighbors: NDArray[Any],
    base: NDArray[np.uint32],
    roles: NDArray[np.uint8],
    levels: Sequence[StaircaseLevel],
    start: int,
    stop: int,
) -> str | None:
    """Check the conditions of the staircase mechanism's privacy theorem on a block of rows.

    Args:
        neighbors: Ids of the nearest words of each word, shape ``(symbols, k)``.
        base: Base weights, shape ``(symbols,)``.
        roles: For each word one bit per set of allowed outputs (such as all words in lower case): whether the word is
            in the set, shape ``(symbols,)``.
        levels: Parameters of the mechanism for each epsilon.
        start: First row of the block.
        stop: The row after the last row of the block.

    Returns:
        A message about the first violation, or ``None`` if all rows are correct.
    """
    block = neighbors[start:stop].astype(np.int64)
    ordered = np.sort(block, axis=1)
    unsound = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    unsound |= (block[:, 0] != np.arange(start, stop)) | (ordered[:, -1] >= len(base))
    if unsound.any():
        return f"row {start + int(np.argmax(unsound))}: the stored ids must be distinct symbols, the row's own id first"
    table = StaircaseTable(neighbors, base, roles)
    for visible, lower in product((True, False), repeat=2):
        outputs = table.get_output_mask(function_words_kept=visible, lower=lower)
        for level in levels if outputs.any() else ():
            try:
                staircase = Staircase.from_table(table, level, outputs)
            except BundleDamaged as error:
                return f"level {level.name}: {error}"
            stored, budgets = staircase.distribute_budget(np.arange(start, stop))
            beyond = (budgets < 0) | (budgets > staircase.base[stored])
            unsound = beyond.any(axis=1) | (budgets.sum(axis=1) > staircase.budget)
            if unsound.any():
                return (
                    f"row {start + int(np.argmax(unsound))}, level {level.name}: the budget (sum of additional "
                    "weights) exceeds its bound: build the bundle again"
                )
    return None
