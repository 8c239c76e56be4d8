"""The word sets of SanText and SanText+: possible outputs, and common words that may be kept."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms.baselines import KEPT, SANTEXT_OUTPUT, SANTEXT_PLUS_OUTPUT

from textveil_export.errors import ExportError
from textveil_export.text.word_vectors import make_lookup_key, read_list

LISTS = Path(__file__).parents[1] / "lists"


@dataclass(frozen=True, kw_only=True)
class WordPolicy:
    """Public choices about words; nothing here may be derived from the text to be protected.

    Attributes:
        share: ``w``: the rarest share of symbols is sensitive (Yue et al. 2021 count types, and so do we).
        sensitive: Words that are sensitive although they are common.
        allow: Words that are not sensitive although they are rare. They leave the outputs of SanText+.
        never_output: Words that must not come out. They are sensitive inputs and nobody's replacement.
    """

    share: float
    sensitive: frozenset[str]
    allow: frozenset[str]
    never_output: frozenset[str]

    def __post_init__(self) -> None:
        for name in ("sensitive", "allow", "never_output"):  # lists are matched as text is looked up
            object.__setattr__(self, name, frozenset(make_lookup_key(word) for word in getattr(self, name)))
        if not 0 < self.share <= 1:
            raise ExportError("the sensitive share must be above 0 and at most 1")
        if self.allow & (self.sensitive | self.never_output):
            raise ExportError("a word is on the allow list and on another list")


def read_english_lists() -> tuple[frozenset[str], frozenset[str]]:
    """Reads the built-in public lists: always sensitive, never output."""
    sensitive = {word for path in sorted((LISTS / "sensitive").glob("*.txt")) for word in read_list(path)}
    return frozenset(sensitive), frozenset(read_list(LISTS / "never_output.txt"))


def assign_roles(spellings: Sequence[Collection[str]], tokens: str, policy: WordPolicy) -> NDArray[np.uint8]:
    """Assigns role bits to every symbol.

    Args:
        spellings: All spellings of each symbol, in rank order; a list decides for a symbol if it names any.
        tokens: ``"word"`` or ``"wordpiece"``; of WordPieces only whole Latin words of two or more letters are
            kept, unless allowed.
        policy: Share and lists.

    Returns:
        Bits ``SANTEXT_OUTPUT``, ``SANTEXT_PLUS_OUTPUT``, ``KEPT``, shape ``(symbols,)``. The kept words and the
        outputs of SanText+ are disjoint, and every symbol is one or the other or never an output.

    Raises:
        ExportError: SanText+ would be left without outputs.
    """
    common = len(spellings) - math.ceil(policy.share * len(spellings))
    roles = np.zeros(len(spellings), dtype=np.uint8)
    for index, names in enumerate(spellings):
        never = any({name, name.removeprefix("##")} & policy.never_output for name in names)
        # Of WordPieces, single characters and other scripts are not common by their rank: a vocabulary lists them first
        # whatever their frequency, and a name spelled in them would pass character by character.
        is_plain = tokens == "word" or all(name.isascii() and len(name) > 1 for name in names)
        is_kept = (index < common and is_plain) or not policy.allow.isdisjoint(names)
        if never or not policy.sensitive.isdisjoint(names):
            is_kept = False
        if tokens == "wordpiece" and any(name.startswith("##") or not name.isalpha() for name in names):
            is_kept = False
        if not never:
            roles[index] |= SANTEXT_OUTPUT
        if is_kept:
            roles[index] |= KEPT
        elif not never:
            roles[index] |= SANTEXT_PLUS_OUTPUT
    if not (roles & SANTEXT_PLUS_OUTPUT).any():
        raise ExportError("no sensitive words are left: SanText+ would have no outputs")
    return roles
