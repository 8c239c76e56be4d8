"""Randomized words of the mode ``names``, from the public list of the option ``randomize``.

The staircase mechanism (a mechanism of local differential privacy) samples the output word. The output reveals that
some word of the list was at this position. Both the possible inputs and the possible outputs are the words of the list.
So the epsilon per word bounds what the output reveals about which of these words it was (docs/proofs/names.md).
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

#: A list must have at least this many words: membership in a shorter one would nearly reveal the word.
MIN_WORDS = 100
#: The mechanism's share (the fraction of outputs with the higher probability) covers at least this many words of the
#: list, so that each word stays itself with a probability of at most one tenth. The share of an epsilon level is meant
#: for the whole vocabulary. On a short list it would cover only the word itself and one other.
_MIN_SPREAD = 10
#: Names of HTML entities. They are kept between some marks, as clitics are, so a list word there would be recognizable.
_HTML_WORDS = frozenset("amp quot lt gt nbsp apos mdash ndash hellip".split())
#: Lists of names. A word on one of them cannot be randomized, since it may be a name even in lower case. Exempt are
#: common words that rarely are names.
_NAME_LISTS = (
    "given family country the-country state city organization place weekday number-word group particle".split()
)
_MAX_REPORTED = 5


@dataclass(frozen=True, eq=False, repr=False)
class WordListRandomizer:
    """Replaces each word of the option ``randomize`` by a random word of the same list, with a known epsilon.

    Attributes:
        ids: Id of each word as an input of the mechanism. A word that is not in the vocabulary of the mechanism has the
            id of ``<unk>``.
        staircase: The staircase mechanism. Its outputs are the words of the list that are in the vocabulary.
        vocabulary: Words of the vocabulary by id.
    """

    ids: Mapping[str, int]
    staircase: Staircase
    vocabulary: list[str]

    @classmethod
    def from_bundle(
        cls, bundle: TextBundle, entries: Collection[str], denied: Collection[str], level: StaircaseLevel
    ) -> "WordListRandomizer":
        """Restrict the staircase mechanism (random replacement) of a bundle to the words of a list.

        Args:
            bundle: A bundle (opened folder of tables and settings) with a staircase mechanism.
            entries: The words of the list.
            denied: Words of the option ``deny``, normalized. They do not count as words of the list.
            level: The epsilon per word, as the bundle names it.

        Raises:
            OptionError: Fewer than ``MIN_WORDS`` words can be randomized, or an entry cannot be on such a list. The
                message contains only the positions of such entries, counted from 1.
        """
        assert bundle.staircase_table is not None
        _check_entries(list(entries), bundle)
        ids = {word: bundle.symbol_ids.get(word, bundle.symbol_count) for word in entries if word not in denied}
        rows = [id for word, id in ids.items() if id < bundle.symbol_count and bundle.vocabulary[id] == word]
        if len(rows) < MIN_WORDS:
            raise OptionError(
                f"randomize needs at least {MIN_WORDS} vocabulary words that are not denied, and has {len(rows):,}: "
                "with fewer, an output would reveal too much about its original; use deny instead"
            )
        outputs = np.zeros(bundle.symbol_count, dtype=np.bool_)
        outputs[rows] = True
        widened_level = replace(level, share=max(level.share, Fraction(_MIN_SPREAD, len(rows))))
        uniform_table = replace(bundle.staircase_table, base=np.ones_like(bundle.staircase_table.base))
        return cls(ids, Staircase.from_table(uniform_table, widened_level, outputs), bundle.vocabulary)

    def randomize_words(self, words: Sequence[str], random_uint64: RandomUint64) -> list[str]:
        """Sample an output for each word, independently. All words must be on the list.

        Args:
            words: Words of the list, in lower case.
            random_uint64: Function that returns the given number of random 64-bit integers.

        Privacy:
            This method computes the noisy output.
        """
        inputs = np.array([self.ids[word] for word in words], dtype=np.int64)
        return [self.vocabulary[id] for id in self.staircase.draw_symbols(inputs, random_uint64)] if words else []


def find_unfit_entries(entries: Sequence[str], bundle: TextBundle) -> dict[str, list[bool]]:
    """Return which entries cannot be on a list of the option ``randomize``.

    Args:
        entries: The words of the list.
        bundle: A bundle (opened folder of tables and settings) with the lists of the mode ``names``.

    Returns:
        Dictionary from each reason to refuse an entry, as a phrase for a message, to one Boolean per entry.
    """
    lists = bundle.get_names_lists()
    clitics = lists.rules.clitics.pieces | {clitic[:-1] for clitic in lists.rules.clitics.before}
    common, names = lists.common_words, frozenset[str]().union(*(lists.members_by_type[kind] for kind in _NAME_LISTS))
    first = {word: number for number, word in reversed([*enumerate(entries)])}
    return {
        "are not single words of two or more lower-case letters": [
            len(word) < 2 or not word.isalpha() or word != fold_word(word) for word in entries
        ],
        "repeat earlier entries: remove them": [first[word] < number for number, word in enumerate(entries)],
        "are function words or parts of HTML: remove them": [
            word in _HTML_WORDS or word in clitics or common.get(word, 0) & FUNCTION > 0 for word in entries
        ],
        "are also names: use deny for them": [word in names and not common.get(word, 0) & STRICT for word in entries],
    }


def _check_entries(entries: Sequence[str], bundle: TextBundle) -> None:
    for reason, is_unfit_by_entry in find_unfit_entries(entries, bundle).items():
        numbers = [str(number) for number, is_unfit in enumerate(is_unfit_by_entry, 1) if is_unfit]
        if numbers:
            reported = numbers[:_MAX_REPORTED] + ["and more"] * (len(numbers) > _MAX_REPORTED)
            raise OptionError(f"randomize: entries {', '.join(reported)} of the list {reason}")
