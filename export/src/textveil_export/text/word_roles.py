"""Decide for each word whether SanText and SanText+ may output it, and whether SanText+ may leave it unchanged."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms.baselines import KEPT_ROLE, SANTEXT_OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT_ROLE

from textveil_export.errors import ExportError
from textveil_export.text.word_vectors import make_lookup_key, read_list

LISTS = Path(__file__).parents[1] / "lists"


@dataclass(frozen=True, kw_only=True)
class WordPolicy:
    """Choices of sensitive words and of possible outputs for SanText+, which replaces words at random.

    The choices are public: none of them may be derived from private text.

    Attributes:
        share: Share of the vocabulary that is sensitive because its words are the rarest; ``w`` of Yue et al. (2021).
            Each word counts once, whatever its frequency.
        sensitive: Words that are sensitive although they are frequent.
        allow: Words that are not sensitive although they are rare. They are not outputs of SanText+.
        never_output: Words that are never outputs. As inputs they are sensitive.

    Raises:
        ExportError: The share is out of range, or a word is on the allow list and on another list.

    Example:
        >>> nothing = frozenset[str]()
        >>> WordPolicy(share=0.9, sensitive=frozenset({"Cancer"}), allow=nothing, never_output=nothing).sensitive
        frozenset({'cancer'})
    """

    share: float
    sensitive: frozenset[str]
    allow: frozenset[str]
    never_output: frozenset[str]

    def __post_init__(self) -> None:
        for name in ("sensitive", "allow", "never_output"):  # lists must match the keys under which text is looked up
            object.__setattr__(self, name, frozenset(make_lookup_key(word) for word in getattr(self, name)))
        if not 0 < self.share <= 1:
            raise ExportError("the sensitive share must be above 0 and at most 1")
        if self.allow & (self.sensitive | self.never_output):
            raise ExportError("a word is on the allow list and on another list: remove it from one of them")


def read_english_lists() -> tuple[frozenset[str], frozenset[str]]:
    """Read two built-in English lists.

    Returns:
        The words that are always sensitive, and the words that are never outputs.
    """
    sensitive = {word for path in sorted((LISTS / "sensitive").glob("*.txt")) for word in read_list(path)}
    return frozenset(sensitive), frozenset(read_list(LISTS / "never_output.txt"))


def assign_roles(spellings: Sequence[Collection[str]], policy: WordPolicy) -> NDArray[np.uint8]:
    """Compute, for each word of the vocabulary, bits that state how the mechanisms may use the word.

    The mechanisms are SanText and SanText+, which replace words at random.

    Args:
        spellings: All spellings of each word, words in order of frequency. A list applies to a word if the list
            contains one of its spellings.
        policy: Share of sensitive words, and lists of words.

    Returns:
        Bits ``SANTEXT_OUTPUT_ROLE``, ``SANTEXT_PLUS_OUTPUT_ROLE`` and ``KEPT_ROLE``, shape ``(symbols,)``.
        ``KEPT_ROLE`` marks words that SanText+ may leave unchanged; no such word has ``SANTEXT_PLUS_OUTPUT_ROLE``.
        SanText+ outputs only words with one of these two bits.

    Raises:
        ExportError: SanText+ would have no outputs.
    """
    common = len(spellings) - math.ceil(policy.share * len(spellings))
    roles = np.zeros(len(spellings), dtype=np.uint8)
    for index, names in enumerate(spellings):
        never = not policy.never_output.isdisjoint(names)
        is_kept = index < common or not policy.allow.isdisjoint(names)
        if never or not policy.sensitive.isdisjoint(names):
            is_kept = False
        if not never:
            roles[index] |= SANTEXT_OUTPUT_ROLE
        if is_kept:
            roles[index] |= KEPT_ROLE
        elif not never:
            roles[index] |= SANTEXT_PLUS_OUTPUT_ROLE
    if not (roles & SANTEXT_PLUS_OUTPUT_ROLE).any():
        raise ExportError("no words are sensitive, so SanText+ would have no outputs: raise --share")
    return roles
