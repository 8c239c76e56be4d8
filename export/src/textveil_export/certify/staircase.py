"""The certificate of a staircase: the conditions of the theorem (docs/proofs/staircase.md), on every row.

Of every row: the ids are distinct symbols, the word itself first, and at every level and under every rule of the
skeleton the budgets lie between 0 and the base and add up to no more than ``H``. Of every level and rule: what
``Staircase.of`` checks, on the integers that are drawn with. Nothing here compares pairs of words: the theorem does.
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
    """Certifies what the levels of a staircase claim, before its bundle is written.

    Args:
        tensors: The arrays of ``staircase.safetensors``.
        levels: Its levels.
        progress: Called with rows done.
        run: Does the work of blocks of rows.

    Raises:
        CertificationError: A row or a level does not fulfill the theorem's conditions.
    """
    neighbors, base, roles = tensors["neighbours"], tensors["base"], tensors["roles"]
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
    """Checks the rows of a block.

    Args:
        neighbors: Stored ids of all rows, shape ``(symbols, k)``.
        base: The base.
        roles: Under which rules a symbol may come out.
        levels: The levels.
        start: First row of the block.
        stop: The row after its last.

    Returns:
        What is wrong with the first row that is, ``None`` if none is.
    """
    block = neighbors[start:stop].astype(np.int64)
    ordered = np.sort(block, axis=1)
    unsound = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    unsound |= (block[:, 0] != np.arange(start, stop)) | (ordered[:, -1] >= len(base))
    if unsound.any():
        return f"row {start + int(np.argmax(unsound))}: its ids are not distinct symbols with its own first"
    table = StaircaseTable(neighbors, base, roles)
    for visible, lower in product((True, False), repeat=2):
        outputs = table.outputs(visible=visible, lower=lower)
        for level in levels if outputs.any() else ():
            try:
                staircase = Staircase.of(table, level, outputs)
            except BundleDamaged as error:
                return f"level {level.name}: {error}"
            stored, budgets = staircase.budgets(np.arange(start, stop))
            beyond = (budgets < 0) | (budgets > staircase.base[stored])
            unsound = beyond.any(axis=1) | (budgets.sum(axis=1) > staircase.budget)
            if unsound.any():
                return f"row {start + int(np.argmax(unsound))}, level {level.name}: its budget is beyond the bound"
    return None
