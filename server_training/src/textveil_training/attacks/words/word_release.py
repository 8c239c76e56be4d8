"""Convert texts to arrays of words, and sample the outputs of a mechanism for these arrays.

The code that devices run (``SanitizingPlan``) decides which words are replaced, and samples the outputs. The module
does not write the final text, so that a corpus of 600,000 words can be randomized a hundred times. All words are in
lower case: no attack uses case.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import IsolatedSlots, draw_uniform_below, random_uint64
from textveil.text import LOWER, SanitizingPlan, TokenRole, fold_word, is_gap

from textveil_training.attacks.words.splits import SegmentedTexts

Ints = NDArray[Any]
#: Roles of an element: punctuation, a kept word, a surrogate, a randomized word.
MARK, KEPT, SURROGATE, RANDOMIZED = range(4)
#: Output of an element that the mechanism deletes.
NOTHING = -1


class WordIds:
    """Table that assigns an integer id to every word of the texts and outputs."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.spellings: list[str] = []

    def get_id(self, word: str) -> int:
        """Return the id of a word; a new word gets a new id."""
        found = self.ids.setdefault(word, len(self.spellings))
        if found == len(self.spellings):
            self.spellings.append(word)
        return found


@dataclass(frozen=True, kw_only=True)
class ReadElements:
    """Words and punctuation marks (*elements*) of documents, as arrays of shape ``(elements,)``.

    Attributes:
        document: Index of the document of each element.
        segment: Index of each element's segment (a word, or the characters between two words), counted over all
            documents. The segments do not depend on the mechanism.
        role: MARK (punctuation), KEPT (unchanged word), SURROGATE (replaced name or number) or RANDOMIZED (randomized
            word).
        index: For a randomized word its id as input of the mechanism; for a replaced one the index of its entity type
            (such as *person*); -1 for others.
        word: Id of the original word in lower case.
        whole_words: Whether the element is a whole word, not a part of one.
        lower: Whether the output would be written in lower case, which limits the words that can be outputs. If equal
            words of a document share an output, the limit applies only if all of them are in lower case.
        documents: Number of documents.
    """

    document: Ints
    segment: Ints
    role: Ints
    index: Ints
    word: Ints
    whole_words: Ints
    lower: Ints
    documents: int

    def take_documents(self, chosen: Ints) -> "ReadElements":
        """Return only the given documents, in ascending order, with new document indices."""
        number = np.full(self.documents, -1)
        number[chosen] = np.arange(len(chosen))
        kept = number[self.document] >= 0
        arrays = {
            name: getattr(self, name)[kept] for name in ("segment", "role", "index", "word", "whole_words", "lower")
        }
        return ReadElements(document=number[self.document[kept]], **arrays, documents=len(chosen))


ReadElement = tuple[int, int, int, bool, bool]


@dataclass(kw_only=True)
class WordRelease:
    """A mechanism with its options, as functions that work on arrays of words instead of texts.

    Attributes:
        words: Table of the ids of words.
        list_elements: Function that returns role, index, word, ``whole_words`` and ``lower`` (see ``ReadElements``) of
            the elements of a segment. Its arguments are the segment, and whether the segment starts a sentence.
        starts_sentence: Function that returns, for the gap before a segment (``None`` for the first segment), whether
            the segment starts a sentence.
        draw_words: Function that samples output words for input ids, given ``whole_words`` and whether only lower-case
            words may be outputs.
        printed: For every symbol of the vocabulary the id, in ``words``, of the word that the output shows for it.
        symbols: Number of symbols.
        randomizers: The output distributions of randomized words: one for words with a capital, one for words in lower
            case; ``None`` if no word is randomized, or if all hidden words have the same output.
        rule: Name of the rule that decides which words are replaced. Mechanisms with the same name divide every text
            into the same elements, with the same roles.
        consistent: Whether equal words of a document have the same output.
        draw_surrogates: Function that samples surrogates (replacements of names and numbers) for entity type indices.
    """

    words: WordIds
    list_elements: Callable[[str, bool], list[ReadElement]]
    draw_words: Callable[[Ints, Ints, Ints], Ints]
    printed: Ints
    symbols: int
    randomizers: tuple[Any, Any] | None
    rule: str
    consistent: bool = False
    draw_surrogates: Callable[[Ints], Ints] | None = None
    starts_sentence: Callable[[str | None], bool] = lambda gap: False
    _memory: dict[tuple[str, bool], list[ReadElement]] = field(default_factory=dict)

    def read(self, cut: SegmentedTexts) -> ReadElements:
        """Convert documents to arrays of elements (words and punctuation marks).

        Each document is a list of segments, which are words, punctuation marks, and gaps between them.
        """
        rows: list[tuple[int, int, int, int, int, bool, bool]] = []
        number = -1
        for document, segments in enumerate(cut):
            gap: str | None = None
            for segment in segments:
                number += 1
                if is_gap(segment):
                    gap = segment if gap is None else gap + segment
                    if mark := segment.strip():
                        rows.append((document, number, MARK, -1, self.words.get_id(mark), False, True))
                    continue
                at = segment, self.starts_sentence(gap)
                if at not in self._memory:
                    self._memory[at] = self.list_elements(*at)
                rows += [(document, number, *element) for element in self._memory[at]]
                gap = ""
        table = np.array(rows, dtype=np.int64).reshape(-1, 7).T
        return ReadElements(
            document=table[0],
            segment=table[1],
            role=table[2],
            index=table[3],
            word=table[4],
            whole_words=table[5].astype(bool),
            lower=table[6].astype(bool),
            documents=len(cut),
        )

    def draw(self, reading: ReadElements) -> Ints:
        """Sample an output of the mechanism for every element (word or punctuation mark).

        The output is a word id, or ``NOTHING`` for a deleted element.

        Args:
            reading: The texts as arrays of elements (words and punctuation marks).
        """
        outputs = reading.word.copy()
        for role in (RANDOMIZED, SURROGATE):
            places = np.flatnonzero(reading.role == role)
            if not len(places):
                continue
            one, copies = self._find_distinct(reading, places)
            first, lower = places[one], find_lower_alone(reading.lower[places], copies)
            outputs[places] = self._draw_fresh(reading, first, lower, role)[copies]
        return outputs

    def find_lower_case(self, reading: ReadElements, places: Ints) -> Ints:
        """Return a boolean for each randomized word: whether the text shows its output in lower case only.

        If equal words of a document share an output, this holds only if all of them are in lower case.

        Args:
            reading: The texts as arrays of elements (words and punctuation marks).
            places: Indices of the randomized elements.
        """
        _, copies = self._find_distinct(reading, places)
        return find_lower_alone(reading.lower[places], copies)[copies]

    def _draw_fresh(self, reading: ReadElements, places: Ints, lower: Ints, role: int) -> Ints:
        if role == RANDOMIZED:
            return self.draw_words(reading.index[places], reading.whole_words[places], lower)
        assert self.draw_surrogates is not None
        return self.draw_surrogates(reading.index[places])

    def _find_distinct(self, reading: ReadElements, places: Ints) -> tuple[Ints, Ints]:
        if not self.consistent or not len(places):
            each = np.arange(len(places))
            return each, each
        # Words of one symbol share an output, whatever their spelling; unknown words and surrogates only if equal.
        index, word = reading.index[places], reading.word[places]
        own = (reading.role[places] == RANDOMIZED) & (index < self.symbols)
        identity = np.where(own, index, self.symbols + 1 + word)
        keys = reading.document[places] * (int(identity.max()) + 1) + identity
        _, one, copies = np.unique(keys, return_index=True, return_inverse=True)
        return one, copies


def find_lower_alone(lower: Ints, copies: Ints) -> Ints:
    """Return a boolean for each output word: whether all elements (words of a text) that receive it are in lower case.

    Args:
        lower: Whether each element is in lower case.
        copies: Index of the output that each element receives.
    """
    return np.bincount(copies, weights=~lower) == 0


def make_word_release(words: WordIds, plan: SanitizingPlan) -> WordRelease:
    """Convert a mechanism that sanitizes texts to one that works on arrays of word ids, for the attacks on words.

    Args:
        words: Table of word ids, which the function extends.
        plan: The sanitizer's mechanism with its options, and its rule about words that are left unchanged.
    """

    def elements(segment: str, starts: bool) -> list[ReadElement]:
        found: list[ReadElement] = []
        for spelled, token in plan.rule.classify_token(segment, starts_sentence=starts):
            word = words.get_id(fold_word(spelled))
            if token.role is TokenRole.KEPT:
                found.append((KEPT, -1, word, True, True))
            elif token.role is TokenRole.REPLACED:
                found.append((SURROGATE, token.type_index or 0, word, True, True))
            else:
                lower = token.case == LOWER or not plan.keeps_case
                found.append((RANDOMIZED, plan.find_symbol_id(token), word, token.is_whole, lower))
        return found

    printed = np.array([words.get_id(word) for word in plan.words.lower])

    def draw_words(inputs: Ints, whole: Ints, lower: Ints) -> Ints:
        return printed[plan.mechanism.draw_symbols(inputs, IsolatedSlots(lower, whole), random_uint64)]

    def draw_kinds(indices: Ints) -> Ints:
        chosen = draw_uniform_below(plan.words.counts[indices], random_uint64)
        return printed[plan.words.starts[indices] + chosen]

    rule = f"{plan.terms.protect}, {len(plan.rule.entity_types)} kinds"
    symbols = plan.bundle.symbol_count
    randomizers = plan.mechanism.get_randomizer(lower=False), plan.mechanism.get_randomizer(lower=True)
    return WordRelease(
        words=words,
        list_elements=elements,
        draw_words=draw_words,
        printed=printed[:symbols],
        symbols=symbols,
        randomizers=randomizers,
        rule=rule,
        consistent=plan.terms.consistent,
        draw_surrogates=draw_kinds,
        starts_sentence=plan.is_sentence_start,
    )


def make_constant_release(release: WordRelease, output: int) -> WordRelease:
    """Return a copy of a mechanism whose output for every hidden (replaced) word is the word with the id ``output``."""
    return WordRelease(
        words=release.words,
        list_elements=release.list_elements,
        draw_words=lambda inputs, whole, lower: np.full(len(inputs), output),
        printed=release.printed,
        symbols=release.symbols,
        randomizers=None,
        rule=release.rule,
        draw_surrogates=lambda indices: np.full(len(indices), output),
        starts_sentence=release.starts_sentence,
    )


def make_raw_release(release: WordRelease) -> WordRelease:
    """Return a copy of a mechanism that leaves every word unchanged, for comparison."""

    def elements(segment: str, starts: bool) -> list[ReadElement]:
        return [(KEPT, -1, word, whole, True) for _, _, word, whole, _ in release.list_elements(segment, starts)]

    return WordRelease(
        words=release.words,
        list_elements=elements,
        draw_words=release.draw_words,
        printed=release.printed,
        symbols=release.symbols,
        randomizers=None,
        rule="raw",
        starts_sentence=release.starts_sentence,
    )
