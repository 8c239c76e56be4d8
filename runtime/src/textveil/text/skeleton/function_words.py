"""Rule of the staircase mechanism for all words of a text.

The rule keeps function words (or randomizes them too, in the mode ``all``), replaces entities by surrogates of their
types, and randomizes all other words.

The release contains the template of a text unchanged, and the guarantee holds between texts of one template. So it is
meaningful only if the rule is

- *local*: the class of a token depends on its own string and on the gap before it, and
- *exchangeable*: another string with the same template entry at that position leaves the rest of the template as is.

The gaps reveal three exceptions. Emoticons are strings that occur between blanks only. Strings of more than 1,000
characters are unknown words, like other unknown words. And where two tokens touch, the second one is a clitic: any
clitic, if the mode randomizes function words.

The rule keeps a clitic after a blank (``they 're``). The blanks and marks around it reveal that it is a clitic, so no
hidden word is one of its six clitics at such a position; but the output of a randomized word there may be one.

In a bundle without entity types, strings are not exchangeable with words: adjacent numbers join, and a string absorbs
the text that touches it.
"""

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from textveil.errors import BundleDamaged, OptionError
from textveil.text import segmentation
from textveil.text.segmentation import (
    APOSTROPHES,
    AUXILIARIES,
    CLITICS,
    LONGEST_WORD,
    LOWER,
    NOT,
    TITLE,
    UPPER,
    apply_case,
    case_pattern,
    fold_apostrophes,
    is_gap,
    is_string,
)
from textveil.text.skeleton.kinds import Kind, Kinds
from textveil.text.skeleton.rule import DRAWN_BY_KEY, MARKS, Pieces, Role, Token, sentence_start

NAME_LIKE = "name-like"
_APOSTROPHES = (*APOSTROPHES, "\uff07")
#: First characters of a clitic after a blank.
_LONE = "'\u2019"


@dataclass(frozen=True, kw_only=True)
class SkeletonRule:
    """Rule that follows from the public lists of a bundle.

    Attributes:
        function_words: Lower-case function words, clitics and their stems; the value is ``True`` for words that may be
            a name in Title case, even at the start of a sentence.
        kinds: The entity types.
        visible: Whether function words are kept; otherwise they are randomized.
        denied: Keys that count as unknown words in this call (see ``denied_keys``). Private.
    """

    function_words: Mapping[str, bool]
    kinds: Kinds
    visible: bool
    denied: frozenset[str] = field(default=frozenset(), repr=False)  # private words of the user

    @property
    def lists(self) -> Sequence[Kind]:
        """The entity types, and the type of punctuation marks as the last."""
        return (*self.kinds.kinds, MARKS)

    @property
    def shows_clitics(self) -> bool:
        """Whether clitics are kept (``Rule.shows_clitics``)."""
        return self.visible

    def plain(self, keys: Sequence[str], cases: Sequence[int]) -> Sequence[int | None]:
        """Return the decision for each plain word, as ``Rule.plain``.

        Such a word has no clitic, and its position in the sentence does not matter; function words and denied words get
        ``None``.
        """
        return [
            None if key in self.function_words or key in self.denied else DRAWN_BY_KEY if kind is None else kind
            for key, kind in zip(keys, self.kinds.of_words(keys, cases), strict=True)
        ]

    def tokens(self, segment: str, *, starts_sentence: bool) -> Pieces:
        """Return the tokens of a segment, as ``Rule.tokens``; denied words become unknown words."""
        first, *clitics = self.classify(segment, starts_sentence=starts_sentence)
        if not clitics and not self.denied:
            return [(segment, first)]
        keys = [token.key or "" for token in clitics]  # each key is as long as its part of the segment
        end = len(segment) - sum(map(len, keys))
        stem = segment[:end]
        if self.denied:
            # A denied word reveals its position only. A clitic after it would reveal more: few words have that clitic.
            whole = segmentation.key(segment) in self.denied or not self.denied.isdisjoint(keys)
            if segmentation.key(stem) in self.denied:
                first, whole = Token(Role.DRAWN, first.case), whole or NOT in keys
            if whole:
                return [(segment, Token(Role.DRAWN, first.case))]
        found = [(stem, first)]
        for token, key in zip(clitics, keys, strict=True):
            found.append((segment[end : end + len(key)], token))
            end += len(key)
        return found

    def mark(self, mark: str) -> Token:
        """Return the token of a mark, as ``Rule.mark``, which is the same for every mark."""
        return Token(Role.REPLACED, LOWER, kind=len(self.kinds.kinds))

    def joined(self, words: Sequence[str], shown: Sequence[bool], *, apart: bool) -> str:
        """Join outputs, as ``Rule.joined``, with a space before randomized tokens only."""
        written = words[0]
        for word, is_shown in zip(words[1:], shown[1:], strict=True):
            written += word if is_shown and not apart else " " + word
        return written

    def alone(self, word: str) -> Token:
        """Return the token of one word, as ``Rule.alone``.

        Raises:
            OptionError: The text is not one token, or the rule keeps the word, so that it has no distribution.
        """
        found = segmentation.segments(word)
        pieces = self.tokens(word, starts_sentence=False) if len(found) == 1 and not is_gap(word) else ()
        if len(pieces) != 1:
            raise OptionError("one word is needed")
        ((_, token),) = pieces
        if token.role is Role.SHOWN:
            raise OptionError("this word is a function word: it stays visible, and protect all draws it")
        return token

    def classify(self, segment: str, *, starts_sentence: bool) -> tuple[Token, ...]:
        """Return the tokens of one segment that is not a gap: one token, or a stem and its clitics.

        Args:
            segment: A word or a string of ``segmentation.segments``.
            starts_sentence: ``sentence_start`` of the gap before it.
        """
        if len(segment) > LONGEST_WORD:
            return (Token(Role.DRAWN, LOWER),)
        if segment.isascii() and segment.isalpha():  # fast path: most words are neither a string nor have a clitic
            return (self._word(segment, starts_sentence),)
        if is_string(segment):
            kind = self.kinds.of_string(segment)
            return (Token(Role.DRAWN if kind is None else Role.REPLACED, LOWER, kind=kind),)
        if self.visible and segment[0] in _LONE and (clitic := segmentation.key(segment)) in CLITICS:
            return (Token(Role.SHOWN, LOWER, clitic),)  # after a blank: no other word begins with an apostrophe
        stem, clitics = _split_clitics(segment)
        token = self._word(stem, starts_sentence)
        if self.visible and (auxiliary := _before_not(stem)) is not None:
            first = self._word(auxiliary, starts_sentence)
            if first.role is Role.SHOWN:
                token, clitics = first, (NOT, *clitics)
            else:  # a separate "n't" would reveal that the randomized word before it is an auxiliary
                token = Token(Role.DRAWN, token.case)
        if not clitics:
            return (token,)
        role, case = Role.SHOWN if self.visible else Role.DRAWN, UPPER if token.case == UPPER else LOWER
        return (token, *(Token(role, case, clitic) for clitic in clitics))

    def outputs_allowed(self, symbol: str, *, lower: bool = False) -> bool:
        """Return whether a word of the vocabulary may be an output of randomized words.

        It may if the rule randomizes it in every case in which it is printed. So a sanitized text keeps its template
        when it is sanitized again.

        Args:
            symbol: The word, as printed in lower case.
            lower: Whether it is printed in lower case only.
        """
        for case in (LOWER,) if lower else (LOWER, TITLE, UPPER):
            printed = apply_case(symbol, case)
            if segmentation.segments(printed) != [printed] or is_gap(printed) or is_string(printed):
                return False
            token, *clitics = self.classify(printed, starts_sentence=True)  # keeps all that a later position does
            if clitics or token.role is not Role.DRAWN or token.key is None:
                return False
        return symbol not in CLITICS

    def skeleton(self, segments: Iterable[str]) -> list[str | tuple[object, ...]]:
        """Return the template of a text, its public part: the gaps, and the entry of each token."""
        found: list[str | tuple[object, ...]] = []
        gap: str | None = None  # the first token may follow nothing, a gap, or several segments of a gap
        first = True
        for segment in segments:
            if is_gap(segment):
                gap = (gap or "") + segment
                continue
            if gap:
                found.append(gap)
            tokens = self.classify(segment, starts_sentence=sentence_start(None if first else gap))
            found += [token.entry for token in tokens]
            gap, first = "", False
        return [*found, gap] if gap else found

    def _word(self, word: str, starts_sentence: bool) -> Token:
        """Return the token of a word, or of a stem, without clitics."""
        key, case = segmentation.key(word), case_pattern(word)
        kind = self.kinds.of_word(key, case)
        if kind is not None:
            return Token(Role.REPLACED, case, kind=kind)
        if not self.visible or key not in self.function_words:
            return Token(Role.DRAWN, case, key)
        if word == key:
            return Token(Role.SHOWN, case, key)
        spelled = fold_apostrophes(unicodedata.normalize("NFKC", word))
        capital = key == "i" or (starts_sentence and not self.function_words[key])
        if spelled == key or (capital and spelled == apply_case(key, TITLE)):
            return Token(Role.SHOWN, case, key)
        return Token(Role.DRAWN, case)


def function_words(text: str) -> dict[str, bool]:
    """Parse the content of ``function-words.txt``.

    Each line is a word, optionally followed by a tab and ``name-like``.

    Returns:
        For each word whether it is name-like.

    Raises:
        BundleDamaged: A line is empty, repeats a word, has a word that is not folded or not one word, or an unknown
            mark.
    """
    found: dict[str, bool] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        word, *marks = line.split("\t")
        if marks not in ([], [NAME_LIKE]):
            raise BundleDamaged(f"line {number} of the function words has an unknown mark")
        if word in found or not _is_function_word(word):
            raise BundleDamaged(f"line {number} of the function words is there twice or is not a word")
        found[word] = bool(marks)
    return found


def denied_keys(entries: Collection[str]) -> frozenset[str]:
    """Return the keys of denied entries: of each entry as a whole, and of every word in it."""
    return frozenset(key for entry in entries for key in _keys(entry))


def _keys(entry: str) -> list[str]:
    entry = entry.removeprefix(segmentation.BYTE_ORDER_MARK).strip()
    words = [segment for segment in segmentation.segments(entry) if not is_gap(segment)]
    return [segmentation.key(entry), *map(segmentation.key, words)] if words else []


def _is_function_word(word: str) -> bool:
    if word in CLITICS:
        return True
    if not word or segmentation.key(word) != word or segmentation.segments(word) != [word]:
        return False
    return not (is_gap(word) or is_string(word))


def _split_clitics(word: str) -> tuple[str, tuple[str, ...]]:
    """Return the stem of a word and its clitics, except ``n't``."""
    clitics: list[str] = []
    end = len(word)
    while (place := _apostrophe(word, end)) > 0 and end - place in (2, 3):
        tail = segmentation.key(word[place:end])
        if tail not in CLITICS:
            break
        clitics.append(tail)
        end = place
    return word[:end], tuple(reversed(clitics))


def _before_not(word: str) -> str | None:
    """Return the auxiliary before ``n't`` as spelled, or ``None`` if the word has another form."""
    stem = word[:-3]
    ends = len(word) > 3 and segmentation.key(word[-3:]) == NOT and segmentation.key(stem) in AUXILIARIES
    return stem if ends else None


def _apostrophe(word: str, end: int) -> int:
    """Return the last position of an apostrophe within three characters before ``end``, or -1."""
    marks = _APOSTROPHES[:1] if word.isascii() else _APOSTROPHES
    return max([word.rfind(mark, max(0, end - 3), end) for mark in marks])
