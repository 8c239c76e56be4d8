"""Rule of the staircase mechanism (modes ``words`` and ``all``), which classifies the tokens of a text.

The rule leaves function words unchanged (or randomizes them too, in the mode ``all``), replaces entities by others of
their types (*surrogates*), and randomizes all other words.

The *template* of a text has the unchanged words, the gaps, and the case and types of the other tokens. The output
contains the template, and the guarantee holds between texts with the same template. So the guarantee is meaningful only
if the rule is

- *local*: the class of a token depends only on its own string and on the gap before it, and
- *exchangeable*: any other token of the same case and type, put in the token's place, leaves the rest of the template
  unchanged.

There are three exceptions, which the gaps reveal:

- Emoticons are recognized only between blanks.
- A string of more than 1,000 characters counts as an unknown word.
- If there is no gap between two tokens, the second one is a clitic. The missing gap reveals this. In the mode ``all``,
  which randomizes function words too, the output of the second token may be any clitic.

The rule leaves a clitic after a blank (``they 're``) unchanged. The blanks and punctuation around it reveal that it is
a clitic. So a randomized word at such a position is never a clitic (``CLITICS``), but its output may be.

In a bundle without entity types, strings are not exchangeable with words: adjacent numbers are joined, and text that
touches a string becomes a part of it.
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
    LOWER,
    MAX_WORD_LENGTH,
    NOT_CLITIC,
    TITLE,
    UPPER,
    apply_case,
    begins_sentence,
    find_case_pattern,
    fold_apostrophes,
    is_gap,
    is_string,
)
from textveil.text.segmentation.segments import classify_shape
from textveil.text.token_rules.entity_types import EntityType, EntityTypes
from textveil.text.token_rules.rule import (
    KEPT_AS_KEY,
    PUNCTUATION_TYPE,
    RANDOMIZED_BY_KEY,
    ClassifiedToken,
    ClassifiedTokens,
    TokenRole,
)

NAME_LIKE = "name-like"
_APOSTROPHES = (*APOSTROPHES, "\uff07")
#: First characters of a clitic after a blank.
_LONE_CLITIC_MARKS = "'\u2019"


@dataclass(frozen=True, kw_only=True)
class TemplateRule:
    """Rule of the modes ``words`` and ``all``: decides from public word lists how each token is treated.

    Attributes:
        function_words: Function words, clitics such as ``'s`` and their stems, in lower case. The value is ``True`` for
            a word such as *will*, which may be a name in Title case, even at the start of a sentence.
        listed_types: The entity types.
        keeps_function_words: Whether function words stay unchanged. If not, they are randomized.
        denied: Words of the option ``deny``, normalized, which count as unknown words (see ``collect_denied_keys``).
            Private.

    >>> rule = TemplateRule(function_words={"the": False}, listed_types=EntityTypes([]), keeps_function_words=True)
    >>> [token.role.name for _, token in rule.classify_token("the", starts_sentence=False)]
    ['KEPT']
    """

    function_words: Mapping[str, bool]
    listed_types: EntityTypes
    keeps_function_words: bool
    denied: frozenset[str] = field(default=frozenset(), repr=False)  # private words of the user

    @property
    def entity_types(self) -> Sequence[EntityType]:
        """The entity types of the word lists, followed by the type of punctuation marks."""
        return (*self.listed_types.entity_types, PUNCTUATION_TYPE)

    @property
    def keeps_clitics(self) -> bool:
        """Whether endings such as ``'s`` stay unchanged, even after a word that is randomized or replaced."""
        return self.keeps_function_words

    @property
    def joins_lone_clitics(self) -> bool:
        """Whether an ending after a blank, as in ``they 're``, forms one token with its apostrophe.

        The value is true if the rule leaves such endings unchanged.
        """
        return self.keeps_clitics

    def classify_plain(self, keys: Sequence[str], cases: Sequence[int]) -> Sequence[int | None]:
        """Return for each plain word whether it is unchanged, replaced or randomized (``TokenRule.classify_plain``).

        The result is ``None`` for two kinds of words, for which the caller must call ``classify_token``: words of the
        option ``deny``, and function words (such as *the*) that may be replaced or randomized. For other plain words
        the decision does not depend on the position in the sentence.
        """
        function_words, denied, kept = self.function_words, self.denied, KEPT_AS_KEY if self.keeps_clitics else None
        return [
            (None if kind is not None or key in denied else kept)
            if key in function_words
            else None
            if key in denied
            else RANDOMIZED_BY_KEY
            if kind is None
            else kind
            for key, kind in zip(keys, self.listed_types.find_word_types(keys, cases), strict=True)
        ]

    def keeps_capital(self, key: str, *, starts_sentence: bool) -> bool:
        """Return whether a function word with a capital, such as *The*, stays unchanged.

        *I* always stays. Any other one stays at the start of a sentence, unless it may also be a name, such as *Will*.
        """
        return key == "i" or (starts_sentence and not self.function_words[key])

    def classify_token(self, segment: str, *, starts_sentence: bool) -> ClassifiedTokens:
        """Return the tokens of a segment (part of a split text) with decisions (``TokenRule.classify_token``).

        Words of the option ``deny`` count as unknown words.
        """
        first, *clitics = self.split_and_classify(segment, starts_sentence=starts_sentence)
        if not clitics and not self.denied:
            return [(segment, first)]
        keys = [token.key or "" for token in clitics]  # each key is as long as its part of the segment
        end = len(segment) - sum(map(len, keys))
        stem = segment[:end]
        if self.denied:
            # A denied word reveals its position only. A clitic after it would reveal more: few words have that clitic.
            denies_all = segmentation.fold_word(segment) in self.denied or not self.denied.isdisjoint(keys)
            if segmentation.fold_word(stem) in self.denied:
                first, denies_all = ClassifiedToken(TokenRole.RANDOMIZED, first.case), denies_all or NOT_CLITIC in keys
            if denies_all:
                return [(segment, ClassifiedToken(TokenRole.RANDOMIZED, first.case))]
        tokens = [(stem, first)]
        for token, key in zip(clitics, keys, strict=True):
            tokens.append((segment[end : end + len(key)], token))
            end += len(key)
        return tokens

    def classify_mark(self, mark: str) -> ClassifiedToken:
        """Return the token of a punctuation mark: the same for all marks, so that the output hides the mark."""
        return ClassifiedToken(TokenRole.REPLACED, LOWER, type_index=len(self.listed_types.entity_types))

    def join_outputs(self, words: Sequence[str], kept: Sequence[bool], *, apart: bool) -> str:
        """Join the outputs of the tokens of one segment, such as ``they`` and ``'re``, to a text.

        A space precedes each replaced or randomized token, but not an unchanged ending. If ``apart`` is true, a space
        precedes all tokens.
        """
        written = words[0]
        for word, is_shown in zip(words[1:], kept[1:], strict=True):
            written += word if is_shown and not apart else " " + word
        return written

    def classify_alone(self, word: str) -> ClassifiedToken:
        """Classify one word without context, as if it were inside a sentence, and return its token.

        Raises:
            OptionError: The text is not one token; or the word stays unchanged, so that it has no output distribution.
        """
        tokens_and_gaps = segmentation.split_text(word)
        pieces = (
            self.classify_token(word, starts_sentence=False) if len(tokens_and_gaps) == 1 and not is_gap(word) else ()
        )
        if len(pieces) != 1:
            raise OptionError("expected one word: write a single word, without blanks and punctuation")
        ((_, token),) = pieces
        if token.role is TokenRole.KEPT:
            raise OptionError(
                'the mode `words` keeps this function word, so it has no output distribution: use protect="all"'
            )
        return token

    def split_and_classify(self, segment: str, *, starts_sentence: bool) -> tuple[ClassifiedToken, ...]:
        """Split a segment into tokens, such as ``they`` and ``'re``, and classify each token.

        Args:
            segment: An element of the result of ``segmentation.split_text`` that is not a gap.
            starts_sentence: Whether the segment starts a sentence.
        """
        if len(segment) > MAX_WORD_LENGTH:
            return (ClassifiedToken(TokenRole.RANDOMIZED, LOWER),)
        if segment.isascii() and segment.isalpha():  # fast path: most words are neither a string nor have a clitic
            return (self._classify_word(segment, starts_sentence),)
        if is_string(segment):
            kind = self.listed_types.index_by_shape.get(classify_shape(segment))
            return (
                ClassifiedToken(TokenRole.RANDOMIZED if kind is None else TokenRole.REPLACED, LOWER, type_index=kind),
            )
        if (
            self.keeps_function_words
            and segment[0] in _LONE_CLITIC_MARKS
            and (clitic := segmentation.fold_word(segment)) in CLITICS
        ):
            return (
                ClassifiedToken(TokenRole.KEPT, LOWER, clitic),
            )  # after a blank: no other word begins with an apostrophe
        stem, clitics = _split_clitics(segment)
        token = self._classify_word(stem, starts_sentence)
        if self.keeps_function_words and (auxiliary := _find_auxiliary(stem)) is not None:
            first = self._classify_word(auxiliary, starts_sentence)
            if first.role is TokenRole.KEPT:
                token, clitics = first, (NOT_CLITIC, *clitics)
            else:  # a separate "n't" would reveal that the randomized word before it is an auxiliary
                token = ClassifiedToken(TokenRole.RANDOMIZED, token.case)
        if not clitics:
            return (token,)
        role, case = (
            TokenRole.KEPT if self.keeps_function_words else TokenRole.RANDOMIZED,
            UPPER if token.case == UPPER else LOWER,
        )
        return (token, *(ClassifiedToken(role, case, clitic) for clitic in clitics))

    def is_output_allowed(self, symbol: str, *, lower: bool = False) -> bool:
        """Return whether a word of the vocabulary may be an output of randomized words.

        The rule must randomize the word in every case pattern (such as Title case) in which it can be printed. So if
        the output is sanitized again, the same tokens are randomized.

        Args:
            symbol: The word, in lower case.
            lower: Whether it is printed only in lower case.
        """
        for case in (LOWER,) if lower else (LOWER, TITLE, UPPER):
            printed = apply_case(symbol, case)
            if segmentation.split_text(printed) != [printed] or is_gap(printed) or is_string(printed):
                return False
            token, *clitics = self.split_and_classify(
                printed, starts_sentence=True
            )  # at the start of a sentence the rule keeps the most words
            if clitics or token.role is not TokenRole.RANDOMIZED or token.key is None:
                return False
        return symbol not in CLITICS

    def list_template(self, segments: Iterable[str]) -> list[str | tuple[object, ...]]:
        """Return the template of a text (what the output reveals): its gaps, and the public part of each token.

        Args:
            segments: The tokens and gaps of the text.
        """
        template: list[str | tuple[object, ...]] = []
        gap: str | None = None  # the first token may follow nothing, a gap, or several segments of a gap
        first = True
        for segment in segments:
            if is_gap(segment):
                gap = (gap or "") + segment
                continue
            if gap:
                template.append(gap)
            tokens = self.split_and_classify(segment, starts_sentence=begins_sentence(None if first else gap))
            template += [token.template_entry for token in tokens]
            gap, first = "", False
        return [*template, gap] if gap else template

    def _classify_word(self, word: str, starts_sentence: bool) -> ClassifiedToken:
        """Classify a word without clitics (endings such as ``'s``), or the stem of a word with clitics."""
        key, case = segmentation.fold_word(word), find_case_pattern(word)
        kind = self.listed_types.find_word_type(key, case)
        if kind is not None:
            return ClassifiedToken(TokenRole.REPLACED, case, type_index=kind)
        if not self.keeps_function_words or key not in self.function_words:
            return ClassifiedToken(TokenRole.RANDOMIZED, case, key)
        if word == key:
            return ClassifiedToken(TokenRole.KEPT, case, key)
        spelled = fold_apostrophes(unicodedata.normalize("NFKC", word))
        if spelled == key or (
            self.keeps_capital(key, starts_sentence=starts_sentence) and spelled == apply_case(key, TITLE)
        ):
            return ClassifiedToken(TokenRole.KEPT, case, key)
        return ClassifiedToken(TokenRole.RANDOMIZED, case)


def parse_function_words(text: str) -> dict[str, bool]:
    r"""Parse the content of ``function-words.txt``.

    Each line is a word, optionally followed by a tab and ``name-like``. A name-like word may also be a name, such as
    ``will``.

    Returns:
        For each word, whether it is name-like.

    Raises:
        BundleDamaged: A line is empty, repeats a word, has an unknown flag, or is not one normalized word.

    >>> parse_function_words("the\nwill\tname-like\n")
    {'the': False, 'will': True}
    """
    is_name_like: dict[str, bool] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        word, *marks = line.split("\t")
        if marks not in ([], [NAME_LIKE]):
            raise BundleDamaged(f"line {number} of the function words has an unknown flag")
        if word in is_name_like or not _is_function_word(word):
            raise BundleDamaged(f"line {number} of the function words occurs twice or is not a word")
        is_name_like[word] = bool(marks)
    return is_name_like


def collect_denied_keys(entries: Collection[str]) -> frozenset[str]:
    """Return the normalized words of the option ``deny``: each whole entry, and each word of an entry."""
    return frozenset(key for entry in entries for key in _list_keys(entry))


def _list_keys(entry: str) -> list[str]:
    stripped, words = segmentation.split_entry(entry)
    return [segmentation.fold_word(stripped), *map(segmentation.fold_word, words)] if words else []


def _is_function_word(word: str) -> bool:
    if word in CLITICS:
        return True
    if not word or segmentation.fold_word(word) != word or segmentation.split_text(word) != [word]:
        return False
    return not (is_gap(word) or is_string(word))


def _split_clitics(word: str) -> tuple[str, tuple[str, ...]]:
    """Split a word into its stem and its clitics (endings such as ``'s``, but not ``n't``)."""
    clitics: list[str] = []
    end = len(word)
    while (index := _find_apostrophe(word, end)) > 0 and end - index in (2, 3):
        tail = segmentation.fold_word(word[index:end])
        if tail not in CLITICS:
            break
        clitics.append(tail)
        end = index
    return word[:end], tuple(reversed(clitics))


def _find_auxiliary(word: str) -> str | None:
    """Return the auxiliary verb in a word such as ``don't``; ``None`` if the word does not end with ``n't``."""
    stem = word[:-3]
    ends = (
        len(word) > 3
        and segmentation.fold_word(word[-3:]) == NOT_CLITIC
        and segmentation.fold_word(stem) in AUXILIARIES
    )
    return stem if ends else None


def _find_apostrophe(word: str, end: int) -> int:
    """Return the position of the last apostrophe in the three characters before ``end``; -1 if none."""
    marks = _APOSTROPHES[:1] if word.isascii() else _APOSTROPHES
    return max([word.rfind(mark, max(0, end - 3), end) for mark in marks])
