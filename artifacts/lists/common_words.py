"""Choose the common words, and mark in which positions and spellings the mode `names` keeps each of them."""

from collections import defaultdict
from functools import cache
from pathlib import Path

import regex
import sources as src
import template_lists

#: Smallest frequency of the lower-case spelling.
FREQUENCY = 10e-9
#: Smallest share of the lower-case spelling: words of english-3, others, words on a list of names (and in english-3).
SHARE, SHARE_OTHER, SHARE_NAME = 0.3, 0.5, 0.6
#: The same for a text that has no capital at all. There a word is a name with probability 1 - share.
STRICT, STRICT_RARE, STRICT_NAME = 0.62, 0.73, 0.95
#: Words that no dictionary of this size has are the rarer ones.
STRICT_SIZE = 20
#: At the start of a sentence.
SHARE_START = 0.72
#: Words that no dictionary has need more: frequency, share and length.
UNKNOWN_FREQUENCY, UNKNOWN_SHARE, UNKNOWN_LETTERS, UNKNOWN_UPPER = 10e-9, 2 / 3, 3, 0.5
#: A public list of misspellings has so many that those are kept which people often make.
TYPO_FREQUENCY = 25e-9
#: Words of a dictionary of middle size are candidates if they are hardly ever written with a capital.
FORM_SIZE, FORM_SHARE = 60, 0.8
#: Largest ratio of ALL CAPS to lower case of a word that is shown in ALL CAPS, and its fewest letters.
EMPHASIS_UPPER, EMPHASIS_LETTERS = 0.1, 3
#: Of rarer names, words with this share or more are shown at the start of a sentence all the same.
SHARE_RARE = 0.9
#: A family name is one at the start of a sentence if so many percent of the people of the census have it.
START_FAMILY, START_GIVEN = 0.005, 0.002
#: A name of the census is marked if so many percent of its people have it; the files have three decimals.
CENSUS = 0.001
#: A place is one at the start of a sentence if so many people live there.
START_PEOPLE = 50_000

NAME_KINDS = ("given-name", "family-name", "city", "country", "nationality", "organization")
START_KINDS = (*NAME_KINDS, "street-word", "unit-word", "place-word", "institution-word", "organization-word")
#: A word that is rarer is shown at a start in ALL CAPS alone.
START_FREQUENCY = 500e-9
#: Function words that at the start of a sentence may be a name, a month or a country.
NO_START = frozenset(["may", "us", "will"])

_WORD = regex.compile(r"\p{Ll}+")
_ENTRY = regex.compile(r"\p{Ll}+(?:'\p{Ll}+)*|'\p{Ll}+")


class Common:
    """Choose the common words and compute their marks.

    Attributes:
        words: The common words.
        listed: Single words on the lists of names: persons, places, companies and nationalities.
        hidden: Words that are replaced at the start of a sentence, since they may be a name there.
    """

    def __init__(self, scowl: Path, never: set[str]) -> None:
        """Choose the common words; words in `never` are excluded.

        Call `reserve` later to remove the words of surrogate pools.
        """
        self.scowl = {word: size for word, size in src.scowl(scowl).items() if size <= src.DICTIONARY_SIZE}
        self.spelled = src.read_word_probabilities()
        self.mixed: dict[str, float] = defaultdict(float)
        for spelling, probability in self.spelled.items():
            if spelling != spelling.lower():
                self.mixed[spelling.lower()] += probability
        self.english = frozenset(word for word in src.english() if _WORD.fullmatch(word) and len(word) > 1)
        self.functions = frozenset(src.read_handwritten("function-words")[0])
        self.listed = {entry for kind in NAME_KINDS for entry in template_lists.get_marked_entries(kind)}
        self.openers, self.pieces = (
            frozenset(src.read_handwritten(name)[0]) for name in ("sentence-openers", "contractions")
        )
        self.slang = frozenset(src.read_handwritten("slang")[0])
        self.obscene = src.sensitive()
        self.never = never | set(src.read_handwritten("not-common-words")[0])
        self.reserved: set[str] = set()
        self.words = self._chosen() | {word for word in src.list_misspellings() if self._is_common_typo(word)}
        rarer = {name for name in _rarer_names() if self.share(name) < SHARE_RARE}
        self.hidden = rarer - set(src.read_handwritten("not-names")[0])
        self.hidden |= {entry for kind in START_KINDS for entry in template_lists.get_marked_entries(kind)}

    def share(self, word: str) -> float:
        """Return the share of a word's occurrences in lower case among those in lower case and in Title case."""
        lower = self.spelled.get(word, 0.0)
        # Names are written in many ways (BBC, McCain), and shouting is not a sign of a name.
        others = self.mixed.get(word, 0.0) if word in self.listed else self.spelled.get(word.title(), 0.0)
        return lower / (lower + others) if lower else 0.0

    def upper(self, word: str) -> float:
        """Return the frequency of the ALL CAPS spelling of a word, divided by that of its lower-case spelling."""
        return self.spelled.get(word.upper(), 0.0) / max(self.spelled.get(word, 0.0), 1e-12)

    def _candidates(self) -> list[str]:
        frequent = list(src.wordfreq_words("en", "large"))[: src.CANDIDATES]
        forms = [w for w, size in self.scowl.items() if size <= FORM_SIZE and self.share(w) >= FORM_SHARE]
        return [w for w in dict.fromkeys([*frequent, *self.english, *forms]) if _WORD.fullmatch(w) and len(w) > 1]

    def _is_common(self, word: str) -> bool:
        lower, share = self.spelled.get(word, 0.0), self.share(word)
        if lower < FREQUENCY or self.mixed.get(word, 0.0) - self.spelled.get(word.title(), 0.0) > lower:
            return False
        if word in self.listed:
            return word in self.english and share >= SHARE_NAME
        if word in self.scowl:
            return share >= (SHARE if word in self.english else SHARE_OTHER)
        known = share >= UNKNOWN_SHARE and self.upper(word) < UNKNOWN_UPPER and not src.is_foreign(word)
        return known and word not in self.obscene and len(word) >= UNKNOWN_LETTERS and lower >= UNKNOWN_FREQUENCY

    def _is_common_typo(self, word: str) -> bool:
        names = word in self.listed or word in self.never or word in self.obscene or word in _census()
        return not names and self.spelled.get(word, 0.0) >= TYPO_FREQUENCY and self.share(word) >= SHARE_START

    def _chosen(self) -> set[str]:
        by_hand = {w for w in (*self.openers, *self.pieces, *self.slang) if _ENTRY.fullmatch(w)}
        chosen = {word for word in self._candidates() if self._is_common(word)} | by_hand
        return (chosen - self.never) | self.functions

    def reserve(self, words: set[str]) -> None:
        """Remove words from the common words, because surrogate pools contain them."""
        self.reserved |= words
        self.words -= words

    def starts(self, word: str) -> bool:
        """Return whether a capitalized word is kept at the start of a sentence, regardless of surrogate pools."""
        if word in self.openers or word in self.pieces or word in self.functions:
            return word not in NO_START
        return word in self.words and word not in self.hidden and self.share(word) >= SHARE_START

    def marks(self, no_start: set[str]) -> dict[str, str]:
        """Return the marks of every common word, separated by commas.

        Words in `no_start` do not get the mark `start`, which keeps a word at the start of a sentence.
        """
        found = {}
        for word in self.words:
            always = word in self.functions or word in self.openers or word in self.pieces or word in self.slang
            name = word in self.listed and word not in self.pieces and word not in self.slang
            least = STRICT if self.scowl.get(word, 99) <= STRICT_SIZE else STRICT_RARE
            strict = always or self.share(word) >= (STRICT_NAME if name else least)
            opener = (always and word not in self.slang) and word not in NO_START
            loud = strict and not name and len(word) >= EMPHASIS_LETTERS and self.upper(word) < EMPHASIS_UPPER
            start = opener or (self.starts(word) and word not in no_start)
            held = {
                "census": word in _list_all_names(),
                "emphasis": loud,
                "function": word in self.functions,
                "name": name,
                "opener": opener,
                "rare": start and self.spelled.get(word, 0.0) < START_FREQUENCY and not always,
                "start": start,
                "strict": strict,
            }
            found[word] = ",".join(mark for mark, holds in held.items() if holds)
        return found


@cache
def _census() -> dict[str, float]:
    return src.census("dist.all.last") | src.census("dist.female.first", "dist.male.first")


@cache
def _list_all_names() -> frozenset[str]:
    """Return the names of all locales of `faker`, and the names of the US census except the rarest ones."""
    given, family = src.names_abroad({})
    return frozenset([*(name for name, share in _census().items() if share >= CENSUS), *given, *family])


def _rarer_names() -> set[str]:
    """Return frequent names of the census and of large places.

    Some of them are on no list of names, because a frequent word has the same spelling.
    """
    family = src.census("dist.all.last")
    given = src.census("dist.female.first", "dist.male.first")
    whole, _ = src.places()
    return (
        {name for name, share in family.items() if share >= START_FAMILY}
        | {name for name, share in given.items() if share >= START_GIVEN}
        | {name for name, people in whole.items() if people >= START_PEOPLE}
    )
