"""Replace the neighbors (similar words of a word) on which no output depends by words that compress well.

The staircase mechanism divides its budget (additional weight) among the neighbors of a word, nearest first. Many stored
neighbors never get a part: they are no output, as names are, or nearer words take the whole budget. In their place each
row of the table gets the same few words, which are never an output. No distribution of outputs changes, and the file
compresses to a sixth less.
"""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import TextBundle
from textveil.mechanisms.staircase import Staircase, StaircaseTable
from textveil.text.names.word_list import find_unfit_entries

from textveil_export.errors import ExportError


def replace_unused_neighbors(bundle: TextBundle) -> NDArray[Any]:
    """Return the neighbors of a bundle (data folder) without those on which no output depends.

    The used neighbors of a word move to the front of its row, in their order. Behind them are the smallest ids of words
    that are never an output.

    Args:
        bundle: A bundle with the staircase mechanism and with the lists of the mode ``names``.

    Returns:
        Ids of the same type and shape as ``neighbors`` of the bundle: distinct in each row, the word itself first.

    Raises:
        ExportError: The bundle has too few words that are never an output.
    """
    table = bundle.staircase_table
    assert table is not None
    rows, k = table.neighbors.shape
    inputs, listed = find_randomizable_words(bundle)
    fillers = np.flatnonzero((table.roles == 0) & ~listed)[: k + 1]
    if len(fillers) <= k:
        raise ExportError(
            f"the vocabulary has fewer than {k + 1} words that are never an output: lower --staircase-neighbors"
        )
    used = find_used_neighbors(bundle, table) | inputs[:, None] & listed[table.neighbors]
    used[:, 0] = True
    front = np.take_along_axis(table.neighbors, np.argsort(~used, axis=1, kind="stable"), axis=1)
    behind = np.arange(k) - used.sum(axis=1)[:, None]
    # A row of a filler skips its own word, which is its first entry.
    own = np.searchsorted(fillers, np.arange(rows))
    own[~np.isin(np.arange(rows), fillers)] = k + 1
    filled = fillers[np.maximum(behind, 0) + (behind >= own[:, None])]
    return np.where(behind < 0, front, filled).astype(table.neighbors.dtype)


def find_used_neighbors(bundle: TextBundle, table: StaircaseTable) -> NDArray[np.bool_]:
    """Return for each stored neighbor (similar word) whether an output can depend on this neighbor.

    The staircase mechanism divides a budget of additional weight among the neighbors of a word. A neighbor counts as
    used if it gets a part of the budget for any protection mode, any case of the letters and any level (epsilon).

    Args:
        bundle: A bundle (data folder) with the staircase mechanism, whose levels are used.
        table: Neighbors, base weights and possible outputs of the words.

    Returns:
        Booleans of the same shape as ``table.neighbors``.
    """
    used = np.zeros(table.neighbors.shape, dtype=np.bool_)
    inputs = np.arange(table.symbol_count)
    for kept, lower, level in product((True, False), (False, True), bundle.staircase_levels):
        outputs = table.get_output_mask(function_words_kept=kept, lower=lower)
        used |= Staircase.from_table(table, level, outputs).distribute_budget(inputs)[1] > 0
    return used


def find_randomizable_words(bundle: TextBundle) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which words of the vocabulary may be on a list of the option ``randomize``, as inputs and as outputs.

    The option refuses some words, such as function words. A word is a possible input if the option accepts any of its
    spellings. It is a possible output if the option accepts its printed spelling.

    Returns:
        Two boolean arrays: whether each word is a possible input, and whether it is a possible output.
    """
    spellings = list(bundle.symbol_ids)
    faults = zip(*find_unfit_entries(spellings, bundle).values(), strict=True)
    inputs, outputs = np.zeros((2, bundle.symbol_count), dtype=np.bool_)
    for spelling, faults_of_spelling in zip(spellings, faults, strict=True):
        if not any(faults_of_spelling):
            symbol = bundle.symbol_ids[spelling]
            inputs[symbol] = True
            outputs[symbol] |= bundle.vocabulary[symbol] == spelling
    return inputs, outputs
