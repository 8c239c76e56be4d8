"""Randomized words of the mode ``names``, by the staircase over a public list of the user.

The output reveals that a word of the list was at this position. Epsilon per word bounds what it reveals about which
word: inputs and outputs are the same for every text (docs/proofs/names.md).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from textveil.bundle.names_files import FUNCTION, STRICT
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import OptionError
from textveil.mechanisms.entropy import RandomUint64
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel
from textveil.text.segmentation import fold_word

#: Smallest list. A shorter one is rejected: membership in it would reveal nearly the word.
MIN_WORDS = 100
#: The budget covers at least this many words of the list, uniformly, so that each word stays itself with a probability
#: of at most one tenth. The budget of an epsilon level is meant for the whole vocabulary and would leave two words: the
#: word itself and one other.
_MIN_SPREAD = 10
#: Parts of HTML that are kept between marks, where the words of a list would be distinguishable.
_HTML_WORDS = frozenset("amp quot lt gt nbsp apos mdash ndash hellip ll re ve".split())
#: Lists whose members may be names also in lower case, except common words that rarely are.
_NAME_LISTS = (
    "given family country the-country state city organization place weekday number-word group particle".split()
)
_MAX_REPORTED = 5


@dataclass(frozen=True, eq=False)
class WordListRandomizer:
    """The words of a list and their randomizer.

    Attributes:
        ids: Input id of each key. A word without a row of its own has the id of ``<unk>``.
        staircase: Mechanism whose outputs are the words of the list with a row of their own.
        vocabulary: Symbols by id.
    """

    ids: Mapping[str, int]
    staircase: Staircase
    vocabulary: list[str]

    @classmethod
    def from_bundle(
        cls, bundle: TextBundle, entries: Collection[str], denied: Collection[str], level: StaircaseLevel
    ) -> "WordListRandomizer":
        """Restrict the staircase mechanism of a bundle to a list, without the denied words.

        Raises:
            OptionError: Fewer than ``MIN_WORDS`` words can be randomized, or an entry is unfit. The message has the
                numbers of unfit entries.
        """
        assert bundle.staircase_table is not None
        _check_entries(list(entries), bundle)
        ids = {word: bundle.symbol_ids.get(word, bundle.symbol_count) for word in entries if word not in denied}
        rows = [id for word, id in ids.items() if id < bundle.symbol_count and bundle.vocabulary[id] == word]
        if len(rows) < MIN_WORDS:
            raise OptionError(
                f"randomize needs at least {MIN_WORDS} words of the vocabulary that are not denied, and has "
                f"{len(rows):,}: fewer would reveal too much about them; use deny instead"
            )
        outputs = np.zeros(bundle.symbol_count, dtype=np.bool_)
        outputs[rows] = True
        widened_level = replace(level, share=max(level.share, Fraction(_MIN_SPREAD, len(rows))))
        uniform_table = replace(bundle.staircase_table, base=np.ones_like(bundle.staircase_table.base))
        return cls(ids, Staircase.from_table(uniform_table, widened_level, outputs), bundle.vocabulary)

    def randomize_words(self, words: Sequence[str], random_uint64: RandomUint64) -> list[str]:
        """Sample an output for each of the words of the list, independently.

        Privacy:
            This is the release itself.
        """
        inputs = np.array([self.ids[word] for word in words], dtype=np.int64)
        return [self.vocabulary[id] for id in self.staircase.draw_symbols(inputs, random_uint64)] if words else []


def _check_entries(entries: Sequence[str], bundle: TextBundle) -> None:
    lists = bundle.get_names_lists()
    common, names = lists.common_words, frozenset[str]().union(*(lists.members_by_type[kind] for kind in _NAME_LISTS))
    first = {word: number for number, word in reversed([*enumerate(entries)])}
    unfit = {
        "not one word of two or more letters, in lower case": [
            len(word) < 2 or not word.isalpha() or word != fold_word(word) for word in entries
        ],
        "there before": [first[word] < number for number, word in enumerate(entries)],
        "a function word, or a part of HTML": [
            word in _HTML_WORDS or common.get(word, 0) & FUNCTION for word in entries
        ],
        "a name too: deny it": [word in names and not common.get(word, 0) & STRICT for word in entries],
    }
    for reason, is_unfit_by_entry in unfit.items():
        numbers = [str(number) for number, is_unfit in enumerate(is_unfit_by_entry, 1) if is_unfit]
        if numbers:
            reported = numbers[:_MAX_REPORTED] + ["and more"] * (len(numbers) > _MAX_REPORTED)
            raise OptionError(f"randomize: {reason}: entry {', '.join(reported)} of the list")
