"""Store sanitized texts and their originals, aligned word by word, as input for an encoder.

A text is a sequence of *items*: words, and the punctuation between them. Every item has a spelling and its WordPieces.
Sanitizing replaces words and does not change punctuation, so a sanitized text has as many items as its original. The
WordPieces are those that the encoder's tokenizer finds in the output of ``Sanitizer.sanitize``.
"""

from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil import Options, Sanitizer
from textveil.text import fold_word, is_gap, is_string, split_clitic, split_text
from textveil.text.segmentation import AUXILIARIES

from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.release_terms import describe_release_terms
from textveil_training.token_randomizer import TokenRandomizer

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def expand_ranges(starts: IntArray, counts: IntArray) -> IntArray:
    """Concatenate integer ranges: for each start and count, ``start`` to ``start + count - 1``."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()))


class StringPieces:
    """Table that assigns an id and WordPieces to each distinct word and punctuation string of a corpus.

    Args:
        tokenizer: Tokenizer of the encoder.
    """

    def __init__(self, tokenizer: EncoderTokenizer) -> None:
        self._tokenizer = tokenizer
        self._ids: dict[str, int] = {}
        self._strings: list[str] = []
        self._pieces: list[list[int]] = []
        self._contractions: list[int] = []
        self._flat: tuple[IntArray, IntArray] | None = None

    def get_id(self, string: str) -> int:
        """Return the id of a string; a new string is added and gets a new id."""
        found = self._ids.get(string)
        if found is None:
            found = self._ids[string] = len(self._strings)
            self._strings.append(string)
            self._pieces.append(self._tokenizer.split_into_pieces(string).pieces.tolist())
            if fold_word(string) == "n't":  # in upper or lower case, with any kind of apostrophe
                self._contractions.append(found)
            self._flat = None
        return found

    def get_string(self, string_id: int) -> str:
        """Return the string with an id."""
        return self._strings[string_id]

    def has_pieces(self, string_id: int) -> bool:
        """Return whether a string has WordPieces in the encoder; white space has none."""
        return bool(self._pieces[string_id])

    @property
    def flat_pieces(self) -> tuple[IntArray, IntArray]:
        """WordPieces of all strings in one array, and the offsets at which each string begins and ends.

        There are ``strings + 1`` offsets.
        """
        if self._flat is None:
            ends = np.cumsum([0, *map(len, self._pieces)])
            self._flat = np.array([piece for pieces in self._pieces for piece in pieces], np.int64), ends
        return self._flat

    def join_contractions(self, items: IntArray, attached: BoolArray, *, randomized: bool = False) -> IntArray:
        """Divide contractions with *n't* as BERT's tokenizer does: ``do|n't`` becomes ``don|'t``.

        BERT's tokenizer splits at apostrophes, so *n't* is the only clitic whose WordPieces depend on the word before
        it.

        Args:
            items: Ids of the words and punctuation strings of one or several texts, one text after the other.
            attached: Whether an item is a word that directly follows another word, without a gap.
            randomized: Whether the words are outputs of a mechanism. Then *n't* after a word that is not an auxiliary
                verb is written as *not*.

        Returns:
            String ids, one for each item.
        """
        found = np.flatnonzero(attached & np.isin(items, self._contractions))
        if len(found):
            items = items.copy()
            for place in found.tolist():
                clitic = self._strings[items[place]]
                if randomized and self._strings[items[place - 1]].lower() not in AUXILIARIES:
                    items[place] = self.get_id("not")
                    continue
                items[place - 1] = self.get_id(self._strings[items[place - 1]] + clitic[0])
                items[place] = self.get_id(clitic[1:])
        return items


class AlignedCorpus:
    """Texts as words and punctuation (*items*), which can be sanitized again and again.

    Args:
        texts: The texts; texts without a word are omitted.
        strings: Table of the ids and WordPieces of all items.
        randomizer: Mechanism that tokenizes and sanitizes the texts; ``None`` to tokenize only.

    Attributes:
        lengths: Number of WordPieces of every text, without [CLS] and [SEP], shape ``(texts,)``.
    """

    def __init__(self, texts: Iterable[str], strings: StringPieces, randomizer: TokenRandomizer | None) -> None:
        self._strings, self._randomizer = strings, randomizer
        items: list[int] = []
        words: list[bool] = []
        attached: list[bool] = []
        self._read_inputs: list[int] = []
        self._read_whole: list[bool] = []
        self._read_tokens: list[int] = []
        starts = [0]
        for text in texts:
            before = len(items), len(self._read_inputs)
            self._read_text(text, items, words, attached)
            if any(words[before[0] :]):
                starts.append(len(items))
            else:
                for part in (items, words, attached, self._read_tokens):
                    del part[before[0] :]
                del self._read_inputs[before[1] :], self._read_whole[before[1] :]
        self.words = np.array(words, bool)
        self._attached = np.array(attached, bool)
        self.items = strings.join_contractions(np.array(items, np.int64), self._attached)
        self._starts = np.array(starts, np.int64)
        self._inputs = np.array(self._read_inputs, np.int64)
        self._whole = np.array(self._read_whole, bool)
        self._tokens = np.array(self._read_tokens, np.int64)
        del self._read_inputs, self._read_whole, self._read_tokens
        self._input_starts = np.concatenate([[0], np.cumsum(self._tokens)])
        if randomizer is not None:
            self._symbols = np.array([strings.get_id(symbol) for symbol in randomizer.bundle.vocabulary], np.int64)
        _, begins = strings.flat_pieces
        sizes = np.concatenate([[0], np.cumsum(np.diff(begins)[self.items])])
        self.lengths = np.diff(sizes[self._starts])

    def __len__(self) -> int:
        return len(self._starts) - 1

    def _read_text(self, text: str, items: list[int], words: list[bool], attached: list[bool]) -> None:
        after_word = False
        joins_clitics = self._randomizer is not None and self._randomizer.plan.joins_lone_clitics
        for segment in split_text(text, lone_clitics=joins_clitics):
            if is_gap(segment):
                number = self._strings.get_id(segment.strip())
                if self._strings.has_pieces(number):
                    items.append(number)
                    words.append(False)
                    attached.append(False)
                    self._read_tokens.append(0)
                after_word = False
                continue
            for spelled in self._read_words(segment):
                items.append(self._strings.get_id(spelled))
                words.append(True)
                attached.append(after_word)
                after_word = True

    def _read_words(self, segment: str) -> Sequence[str]:
        """Split a part of a text into words in their original spelling, and store their input ids."""
        if self._randomizer is None:
            parts = None if is_string(segment) else split_clitic(fold_word(segment))
            self._read_tokens += [0] * (1 if parts is None else 2)
        else:
            plan = self._randomizer.plan
            tokens = [token for _, token in plan.rule.classify_token(segment, starts_sentence=False)]
            self._read_inputs += map(plan.find_symbol_id, tokens)
            self._read_whole += [token.is_whole for token in tokens]
            self._read_tokens += [1] * len(tokens)
            parts = split_clitic(fold_word(segment)) if len(tokens) > 1 else None
        if parts is None:
            return (segment,)
        if sum(map(len, parts)) == len(segment):  # in the spelling of the text, with its upper case and its apostrophe
            return segment[: len(parts[0])], segment[len(parts[0]) :]
        return parts

    def locate_items(self, texts: IntArray) -> tuple[IntArray, IntArray]:
        """Find the items (words and punctuation strings) of some texts.

        Args:
            texts: Indices of the texts.

        Returns:
            The positions of all their items, and the number of items of each text.
        """
        counts = self._starts[texts + 1] - self._starts[texts]
        return expand_ranges(self._starts[texts], counts), counts

    def sanitize_items(self, places: IntArray, agreed: Callable[[IntArray], IntArray] = np.asarray) -> IntArray:
        """Sanitize some texts with new randomness, and return the ids of the resulting words and punctuation strings.

        Args:
            places: Positions of the words and strings, from ``locate_items``.
            agreed: Function that receives the random outputs of this process, and returns those of the first process,
                so that all processes use the same outputs.

        Privacy:
            Each call samples new outputs of these texts, with the operating system's entropy.
        """
        if self._randomizer is None:
            raise ValueError("the corpus was made without a mechanism: pass one to its constructor")
        counts = self._tokens[places]
        inputs = expand_ranges(self._input_starts[places], counts)
        outputs = agreed(self._randomizer.randomize_ids(self._inputs[inputs], self._whole[inputs]))
        items = self.items[places]
        items[self.words[places]] = self._symbols[outputs]
        return self._strings.join_contractions(items, self._attached[places], randomized=True)


class ModeTexts:
    """Sanitizer of public texts in a protection mode, for training models that predict the original words.

    In the modes 'names', 'words' and 'all' the replacement of a word depends on the text around it, so a text cannot be
    sanitized word by word.

    Args:
        sanitizer: Sanitizer of a bundle.
        options: Options of the mode, as in ``Sanitizer.sanitize``.
    """

    def __init__(self, sanitizer: Sanitizer, options: Options) -> None:
        self._sanitizer, self._options = sanitizer, options

    @property
    def release_terms(self) -> dict[str, Any]:
        """Return mode, mechanism and privacy guarantee as a dictionary, for the JSON record of a run."""
        return describe_release_terms(self._sanitizer.terms(**self._options), self._sanitizer.bundle)

    def sanitize_texts(self, texts: Sequence[str]) -> list[str]:
        """Sanitize texts in the protection mode.

        Privacy:
            Each call samples new outputs of every text, and so spends epsilon again if they are published.
        """
        return [result.text for result in self._sanitizer.sanitize_batch(texts, **self._options)]


class AlignedPairs(AlignedCorpus):
    """Texts that were sanitized once, with the original of each sanitized word where it is known.

    Args:
        texts: The original texts; a text is omitted if it or its sanitized form has no word.
        strings: Table of the ids and WordPieces of all words and punctuation strings.
        mode: Sanitizer in a protection mode.
    """

    def __init__(self, texts: Iterable[str], strings: StringPieces, mode: ModeTexts) -> None:
        originals = [text for text in texts if has_word(text)]
        pairs = zip(originals, mode.sanitize_texts(originals), strict=True)
        read = [(original, shown) for original, shown in pairs if has_word(shown)]
        super().__init__([shown for _, shown in read], strings, None)
        source = AlignedCorpus([original for original, _ in read], strings, None)
        nothing = strings.get_id("")
        self._shown = self.items
        parts = [np.zeros(0, np.int64)]
        for number in range(len(read)):
            (places, _), (own, _) = (corpus.locate_items(np.array([number])) for corpus in (source, self))
            parts.append(align_items(source.items[places], self._shown[own], nothing))
        self.items = np.concatenate(parts)

    def sanitize_items(self, places: IntArray, agreed: Callable[[IntArray], IntArray] = np.asarray) -> IntArray:
        """Return the sanitized words and punctuation strings of some texts as ids.

        The texts were sanitized once, when the object was created, so this method samples nothing.

        Args:
            places: Positions of the words and strings, from ``locate_items``.
            agreed: Not used, since there is no new random output on which processes must agree.
        """
        return self._shown[places]


def has_word(text: str) -> bool:
    """Return whether a text has at least one word, number or other string besides white space and punctuation."""
    return any(not is_gap(segment) for segment in split_text(text))


def align_items(original: IntArray, shown: IntArray, nothing: int) -> IntArray:
    """Return the original word or punctuation string (*item*) of each sanitized one; ``nothing`` if it is unknown.

    Both texts are aligned by their longest common sequences of items. The items between two such sequences are paired
    in order if there are equally many; otherwise their originals are unknown, since a full name may have become one
    word.

    Args:
        original: Ids of the items of the original text.
        shown: Ids of the items of the sanitized text.
        nothing: Id of a string without WordPieces.
    """
    found = np.full(len(shown), nothing, np.int64)
    matcher = SequenceMatcher(None, original.tolist(), shown.tolist(), autojunk=False)
    for _, first, last, begin, end in matcher.get_opcodes():
        if last - first == end - begin:
            found[begin:end] = original[first:last]
    return found
