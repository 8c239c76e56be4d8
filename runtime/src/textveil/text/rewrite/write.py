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
from textveil.text.rewrite.cut import DRAWN, SHOWN
from textveil.text.rewrite.read import Reading

Strings = NDArray[np.object_]


class Rewritten(NamedTuple):
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


def written(read: Reading, outputs: Integers) -> Rewritten:
    """Return the texts with the sampled words between the original gaps.

    Args:
        read: The tokens.
        outputs: Output of each token, an index of the plan's ``words``; ignored for ``SHOWN`` tokens.
    """
    words = read.plan.words.printed(outputs, read.cases)
    shown = np.flatnonzero(read.roles == SHOWN)
    words[shown] = _strings(read.known.shown)[read.indices[shown]]
    parts = filled(read, words).tolist()
    bounds = pairwise([0, *read.ends.tolist()])
    if read.plan.terms.sanitize_punctuation:
        texts = [" ".join(filter(None, parts[start:end])) for start, end in bounds]
    else:
        texts = ["".join(parts[start:end]) for start, end in bounds]
    pairs = _pairs(read, words) if read.plan.terms.consistent else []
    return Rewritten(texts, _charged(read), pairs)


def filled(read: Reading, words: Strings) -> Strings:
    """Return the segments, where the outputs of their tokens replace the segments with tokens."""
    apart, part_of = read.plan.terms.sanitize_punctuation, read.part_of
    parts = _strings([""] * len(read.segments)) if apart else spelled(read)
    first = np.ones(len(part_of), dtype=bool)
    first[1:] = part_of[1:] != part_of[:-1]
    parts[part_of[first]] = words[first]
    bounds = read.singles + np.flatnonzero(np.append(first[read.singles :], True))
    several = np.flatnonzero(np.diff(bounds) > 1)
    shown, joined = read.roles == SHOWN, read.plan.rule.joined
    for start, end in zip(bounds[several].tolist(), bounds[several + 1].tolist(), strict=True):
        parts[part_of[start]] = joined(words[start:end].tolist(), shown[start:end].tolist(), apart=apart)
    return parts


def spelled(read: Reading) -> Strings:
    """Return the segments in their original spelling. Private."""
    return _strings(read.known.numbers)[read.segments]


def _charged(read: Reading) -> list[int]:
    """Return the number of charged tokens of every document."""
    first = read.draws.first
    return np.bincount(read.document[first[read.roles[first] == DRAWN]], minlength=read.documents).tolist()


def _pairs(read: Reading, words: Strings) -> list[list[tuple[str, str]]]:
    """Return output and original of each distinct token of each document, from new draws only.

    Outputs are folded; originals have the spelling of their first mention.
    """
    pairs: list[dict[tuple[str, str], None]] = [{} for _ in range(read.documents)]
    tokens = read.draws.tokens[read.draws.copies >= len(read.draws.made)]
    found: list[int] = tokens[read.identities[tokens] >= 0].tolist()
    for token in found:
        pair = segmentation.key(words[token]), read.known.spellings[read.identities[token]]
        pairs[read.document[token]][pair] = None
    return list(map(list, pairs))


def _strings(strings: Collection[str]) -> Strings:
    """Return an array of strings."""
    return np.fromiter(strings, dtype=object, count=len(strings))
