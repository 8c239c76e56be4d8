"""Output texts: sampled words between the original gaps.

The output of a token is a function of its symbol or type, its case pattern and fresh randomness. The user's spelling is
never printed, not even for a word that is randomized to itself.
"""

from collections.abc import Collection
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.mechanisms.integer_sampling import Integers
from textveil.text import segmentation
from textveil.text.rewrite.cut import KEPT, RANDOMIZED
from textveil.text.rewrite.read import TokenArrays

Strings = NDArray[np.object_]


class RewrittenTexts(NamedTuple):
    """Sanitized documents, or parts of one.

    ``tokens`` and ``pairs`` have one entry per document.

    Attributes:
        texts: The output texts; a document of several texts has an entry for each of them.
        tokens: Number of charged tokens: all randomized tokens, or the distinct ones where outputs are consistent.
        pairs: Folded output and original spelling of every distinct replaced or randomized token; empty unless outputs
            are consistent. Private.
    """

    texts: list[str]
    tokens: list[int]
    pairs: list[list[tuple[str, str]]]


def write_texts(tokens: TokenArrays, outputs: Integers) -> RewrittenTexts:
    """Return the texts with the sampled words between the original gaps.

    Args:
        tokens: The tokens.
        outputs: Output of each token, an index of the plan's ``words``; ignored for ``KEPT`` tokens.
    """
    words = tokens.plan.words.print_words(outputs, tokens.cases)
    shown = np.flatnonzero(tokens.roles == KEPT)
    words[shown] = _make_string_array(tokens.segment_table.kept_texts)[tokens.indices[shown]]
    parts = fill_segments(tokens, words).tolist()
    bounds = pairwise([0, *tokens.ends.tolist()])
    if tokens.plan.terms.sanitize_punctuation:
        texts = [" ".join(filter(None, parts[start:end])) for start, end in bounds]
    else:
        texts = ["".join(parts[start:end]) for start, end in bounds]
    pairs = _list_pairs(tokens, words) if tokens.plan.terms.consistent else []
    return RewrittenTexts(texts, _count_charged(tokens), pairs)


def fill_segments(tokens: TokenArrays, words: Strings) -> Strings:
    """Return the segments, where the outputs of their tokens replace the segments with tokens."""
    splits_marks, part_of = tokens.plan.terms.sanitize_punctuation, tokens.part_of
    parts = _make_string_array([""] * len(tokens.segments)) if splits_marks else list_spellings(tokens)
    first = np.ones(len(part_of), dtype=bool)
    first[1:] = part_of[1:] != part_of[:-1]
    parts[part_of[first]] = words[first]
    bounds = tokens.singles + np.flatnonzero(np.append(first[tokens.singles :], True))
    several = np.flatnonzero(np.diff(bounds) > 1)
    shown, joined = tokens.roles == KEPT, tokens.plan.rule.join_outputs
    for start, end in zip(bounds[several].tolist(), bounds[several + 1].tolist(), strict=True):
        parts[part_of[start]] = joined(words[start:end].tolist(), shown[start:end].tolist(), apart=splits_marks)
    return parts


def list_spellings(tokens: TokenArrays) -> Strings:
    """Return the segments in their original spelling. Private."""
    return _make_string_array(tokens.segment_table.numbers)[tokens.segments]


def _count_charged(tokens: TokenArrays) -> list[int]:
    """Return the number of charged tokens of every document."""
    first = tokens.draws.first
    return np.bincount(tokens.document[first[tokens.roles[first] == RANDOMIZED]], minlength=tokens.documents).tolist()


def _list_pairs(read: TokenArrays, words: Strings) -> list[list[tuple[str, str]]]:
    """Return output and original of each distinct token of each document, from new draws only.

    Outputs are folded; originals have the spelling of their first mention.
    """
    pairs: list[dict[tuple[str, str], None]] = [{} for _ in range(read.documents)]
    tokens = read.draws.tokens[read.draws.copies >= len(read.draws.earlier_values)]
    pair_tokens: list[int] = tokens[read.identities[tokens] >= 0].tolist()
    for token in pair_tokens:
        pair = segmentation.fold_word(words[token]), read.segment_table.spellings[read.identities[token]]
        pairs[read.document[token]][pair] = None
    return list(map(list, pairs))


def _make_string_array(strings: Collection[str]) -> Strings:
    """Return an array of strings."""
    return np.fromiter(strings, dtype=object, count=len(strings))
