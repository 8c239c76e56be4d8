"""Context of an entity for the rules of ``facts``: unchanged words, gaps, and types of other entities around it.

The option ``facts`` leaves public facts unchanged in a text. A *mention* is a detected entity, which is replaced unless
a rule leaves it unchanged. An *item* is an unchanged word or a mention. A *capital* is a mention of capitalized words.
The context never contains the text of a mention. So no rule depends on a text that is replaced.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import repeat

from textveil.bundle.fact_words import FactWords
from textveil.lazy import CHARACTERS, LazyPattern, load_data
from textveil.text.names.entity_types import EntityMention
from textveil.text.names.tokens import CAPITALIZED_RUN, DIGIT_GROUP, LONE_INITIAL

LINE_BREAKS = frozenset(load_data(CHARACTERS)["gaps"]["line_breaks"])
#: A word of kept text, in the letters of Latin scripts.
_WORD = re.compile("([0-9A-Za-z\u00c0-\u024f]+(?:['\u2019][0-9A-Za-z\u00c0-\u024f]+)*)")
#: Number of items of a sentence that are read in each direction.
_MAX_SENTENCE = 64
#: A word after which a full stop ends a sentence.
_LAST_WORD = re.compile("[a-z]{3,}")
#: Marks between a word and a bare number: blanks, marks of source code, a colon, and the end of a sentence.
_BARE_GAP = LazyPattern(re.compile, r"[ (\[{\"']{1,3}|-|_\{?|\^\{?| ?[:=<>!+*/&|]{1,3} ?\(?|[.?!:;)] ?\(?")
#: Marks that separate the entries of a list, and so the names in it.
_LIST_GAP = LazyPattern(re.compile, r"[,;:|/()\[\]\"\n\u2022\u201c\u201d]")
#: Words between the names of several languages, and the largest number of names that are read before one.
_LANGUAGE_LINKS, _MAX_LANGUAGES = frozenset(("and", "or")), 8
#: Words for a secret that have another meaning before a verb, such as *code*; and such verbs.
_USED = frozenset("code codes key keys session sessions token tokens".split())
_USES = frozenset(
    "compiles crashes did does expires failed fails had has have lasts loads needs prints raise raises ran return "
    "returned returns run runs take takes throw throws took use used uses work works".split()
)
#: Marks before the first word of a line; and marks between two clauses.
_LIST_MARK = LazyPattern(re.compile, "[-*#>\u2022\xb7\u2013\u2014+ \t\"'\u201c(]*")
_CLAUSE_END = LazyPattern(
    re.compile,
    '(?:[)\\]"\u201d]?[:;]|[\\]"\u201d],|[.,:;!?)"\u201d]? '
    "[-*\u2022\u2013\u2014|\u25aa\u25cf\u25cb\u25e6\u2192\u2713\uf0b7\xb7]) [\"'(\u201c]?|,? [\"'\u201c\u2018]",
)
_SENTENCE_END = re.compile(r"[.!?]['\")\u201d]*\s")
#: Provisional types of numbers. Of the mentions around an item, the rules read only the provisional type.
NUMERIC_TYPES = frozenset(
    (
        *"number year digits account phone card ssn time date day decade ordinal age season year-range".split(),
        *("spelled-number", "number-word", DIGIT_GROUP),
    )
)
_CAPITAL = frozenset((CAPITALIZED_RUN, LONE_INITIAL, "title", "office"))


class LinePlaces:
    """The words and detected entities (*mentions*) of some lines, with the gaps between them.

    Args:
        elements: Unchanged texts and mentions in order.
        words: Lists of words on which the rules of the option ``facts`` depend.
        cut_before: Whether the first line has earlier text, which is not in ``elements``.
        cut_after: Whether the last line has further text, which is not in ``elements``.
        word_before: The last unchanged word of the earlier lines.

    Attributes:
        gaps: The gap before each item, and the gap at the end.
        mentions: For each item its mention; ``None`` for an unchanged word.
        pieces: For mentions that a rule has split, by their index: the unchanged texts and mentions in their place.
    """

    def __init__(
        self,
        elements: Sequence[str | EntityMention],
        words: FactWords,
        cut_before: bool,
        cut_after: bool,
        word_before: str = "",
    ) -> None:
        self._words_of, self._cut_before, self._cut_after, self._word_before = words, cut_before, cut_after, word_before
        self.gaps: list[str] = []
        self.mentions: list[EntityMention | None] = []
        self._words: list[str] = []
        self.pieces: dict[int, Sequence[str | EntityMention]] = {}
        self._elements = elements
        #: The index of each mention, with the mention, in order.
        self.hidden: list[tuple[int, EntityMention]] = []
        gaps, texts, mentions = self.gaps, self._words, self.mentions  # local names, since a text has many words
        gap = ""
        for element in elements:
            if not isinstance(element, str):
                gaps.append(gap)
                self.hidden.append((len(texts), element))
                texts.append("")
                mentions.append(element)
                gap = ""
                continue
            parts = _WORD.split(element)  # gaps and words in turn
            parts[0] = gap + parts[0]
            gap = parts.pop()
            gaps += parts[::2]
            texts += parts[1::2]
            mentions += repeat(None, len(parts) // 2)
        self.gaps.append(gap)
        self._types = frozenset([mention.span.entity_type for _, mention in self.hidden])

    def keep(self, text_by_index: Mapping[int, str]) -> int:
        """Turn detected entities back into unchanged words, and return the number of tokens that they have together.

        Args:
            text_by_index: Dictionary from the index of an entity to the text of the unchanged word.
        """
        count = 0
        for index, text in text_by_index.items():
            mention = self.mentions[index]
            assert mention is not None
            count += len(mention.span.tokens)
            self._words[index], self.mentions[index] = text, None
        return count

    def iterate_elements(self) -> Iterator[str | EntityMention]:
        """Yield unchanged texts and detected entities in order. Several unchanged texts may be adjacent."""
        hidden = iter(self.hidden)
        for element in self._elements:
            if isinstance(element, str):
                yield element
                continue
            index, _ = next(hidden)
            if self.mentions[index] is None:
                yield self._words[index]
            else:
                yield from self.pieces.get(index, (element,))

    def get_word(self, index: int) -> str:
        """Return the unchanged word at ``index``; an empty string for an entity, or an index outside of the lines."""
        return self._words[index] if 0 <= index < len(self._words) else ""

    def get_class(self, index: int) -> str:
        """Return the preliminary type (the same for all names) of the entity at ``index``; ``""`` for other words."""
        mention = self.mentions[index] if 0 <= index < len(self.mentions) else None
        return "" if mention is None else mention.span.entity_type

    def has_break(self, index: int) -> bool:
        """Return whether the gap (blanks and marks) before the word or entity at ``index`` has a line break."""
        gap = self.gaps[index]
        return gap != " " and not LINE_BREAKS.isdisjoint(gap)

    def follows(self, index: int, words: frozenset[str], most: int = 3) -> bool:
        """Return whether one of the unchanged words shortly before position ``index`` is one of the given words.

        The search covers the last ``most`` words and entities of the same line. At the start of the first line, it also
        compares the last unchanged word of the earlier lines; if the beginning of this line is unknown, the result is
        true. The words of an unchanged run (``Security Code``) are compared one by one. A word such as *code* does not
        count before a verb, as in ``my code has 3 functions``.

        Args:
            index: The position.
            words: Words in lower case.
            most: Number of words and entities to compare.
        """
        near = self._words[max(0, index - most) : index]
        if index >= most and words.isdisjoint(map(str.lower, near)) and " " not in "".join(near):
            return False  # the usual answer
        for at in range(index, index - most, -1):
            if at == 0:
                return self._cut_before or self._word_before.lower() in words
            word, gap = self._words[at - 1], self.gaps[at]
            if word and (word.lower() in words or (" " in word and any(map(words.__contains__, word.lower().split())))):
                if self._is_used(at, index):
                    continue
                return True
            if gap != " " and not LINE_BREAKS.isdisjoint(gap):
                return False
        return False

    def _is_used(self, at: int, index: int) -> bool:
        """Return whether a word before ``at``, such as *code*, names no secret, since a verb or *of length* follows it.

        Single blanks must separate all items from this word to ``index``.
        """
        verb = self.get_word(at)
        is_use = verb in _USES or (verb == "of" and self.get_word(at + 1) == "length")
        return is_use and self._words[at - 1].lower() in _USED and {" "}.issuperset(self.gaps[at : index + 1])

    def list_words_before(self, index: int, most: int) -> list[str]:
        """Return the words of up to ``most`` items before ``index`` in lower case, nearest first; ``""`` for an entity.

        The method ``follows`` compares the same words. If the search needs words before the first stored item, because
        the line of that item began in earlier text, the result is empty.
        """
        found: list[str] = []
        for at in range(index, index - most, -1):
            if at == 0:
                return [] if self._cut_before else [*found, self._word_before.lower()]
            found += reversed(self._words[at - 1].lower().split(" "))
            if self.has_break(at):
                break
        return found

    @property
    def last_word(self) -> str:
        """The last word of the lines, in lower case, if unchanged; an empty string if an entity is at the end."""
        return self._words[-1].lower().rpartition(" ")[2] if self._words else self._word_before

    def count_neighbors(self, index: int) -> int:
        """Count the numbers that belong to the number at position ``index``, as in a list; the result is at most 2.

        Two numbers belong together if no word is between them, except a joining word such as *and*.
        """
        count = 0
        for step in (-1, 1):
            at = index
            while count < 2 and (at := self._find_joined_number(at, step)) >= 0:
                count += 1
        return count

    def _find_joined_number(self, index: int, step: int) -> int:
        """Return the index of the next number in the line; -1 if there is none, or if a word separates the two.

        The search begins at ``index``, and runs to the left if ``step`` is -1, to the right if it is 1. If the line
        continues beyond the known lines, its unknown rest counts as a number, and the result is ``index``.
        """
        at = index
        while True:
            gap_at = at if step < 0 else at + 1
            at += step
            if self.has_break(gap_at):
                return -1
            if not 0 <= at < len(self._words):
                is_cut = self._cut_before if step < 0 else self._cut_after
                return index if is_cut else -1  # the rest of the line is unknown, and counts as numbers
            if self._is_number(at):
                return at
            word = self._words[at]
            if word and word.lower() not in self._words_of.joining_words:
                return -1

    def _is_number(self, index: int) -> bool:
        word = self._words[index]
        return (
            self.get_class(index) in NUMERIC_TYPES or word[:1].isdigit() or word.lower() in self._words_of.number_words
        )

    def has_only_years_beside(self, index: int) -> bool:
        """Return whether all numbers next to the year at ``index``, with no word between, are also years."""
        return all(
            at < 0 or self.get_class(at) in ("year", "year-range")
            for at in (self._find_joined_number(index, -1), self._find_joined_number(index, 1))
        )

    def is_error_place(self, index: int) -> bool:
        """Return whether a typing error at ``index`` may be corrected: neighbors and most of the line are unchanged."""
        if self.get_class(index - 1) or self.get_class(index + 1):
            return False
        line = [self.mentions[at] for at in self.iterate_line(index)]
        return 2 * line.count(None) > len(line) + 1

    def is_value(self, index: int) -> bool:
        """Return whether position ``index`` has a number, or an entity of capitalized words such as a name."""
        if not 0 <= index < len(self._words):
            return False
        return self._is_number(index) or self.get_class(index) in _CAPITAL

    def precedes_capital(self, index: int) -> bool:
        """Return whether an entity of capitalized words directly follows a number, with no percent sign between."""
        gap = self.gaps[index + 1]
        return self.get_class(index + 1) in _CAPITAL and not self.has_break(index + 1) and not gap.startswith("%")

    def has_letter(self, index: int) -> bool:
        """Return whether one letter directly follows the number at ``index``: a unit, or ``b`` of the house ``27b``."""
        return self.gaps[index + 1] == "" and len(self.get_word(index + 1)) == 1

    def is_hidden(self, index: int, gap: int) -> bool:
        """Return whether the position ``index`` of a line has a detected entity other than a number or a date.

        Args:
            index: Index of a word or entity. For an index outside of the known lines, the result is whether the text
                continues there.
            gap: Index of the gap between this position and the word from which the caller searches. If this gap has a
                line break, the result is false.
        """
        if not 0 <= index < len(self._words):
            return self._cut_before if index < 0 else self._cut_after
        entity_type = self.get_class(index)
        return entity_type != "" and entity_type not in NUMERIC_TYPES and not self.has_break(gap)

    def precedes_name(self, index: int) -> bool:
        """Return whether a comma and then an entity of capitalized words follow position ``index``: ``Price, Anna``."""
        return self.gaps[index + 1] == ", " and self.get_class(index + 1) in _CAPITAL

    def has_capital_beside(self, index: int) -> bool:
        """Return whether an entity that may be a name is directly before or after position ``index``."""
        return self.get_class(index - 1) in _CAPITAL or self.get_class(index + 1) in _CAPITAL

    def is_single_letter(self, index: int) -> bool:
        """Return whether the letter at ``index`` has no other single letter and no entity next to it.

        A letter beside other letters may belong to a name that is spelled letter by letter, as in ``K o v a c``.
        """
        return all(
            not 0 <= at < len(self._words) or (len(self._words[at]) != 1 and self.mentions[at] is None)
            for at in (index - 1, index + 1)
        )

    def is_bare_place(self, index: int) -> bool:
        """Return whether the number at ``index``, which has no unit, may stay unchanged because of its context.

        Unchanged words must be next to the number, except at the end of the text. The word before it must not be *at*.
        The gap before it must be a blank, a mark of source code, a colon or the end of a sentence. The line must have
        a word in lower case.
        """
        before = self.gaps[index]
        if not self.get_word(index - 1) or _BARE_GAP.fullmatch(before) is None:
            return False
        if self.get_word(index - 1).lower() == "at":  # an address: he lives at 14
            return False
        if before[0] in ".?!:;)" and _LAST_WORD.fullmatch(self.get_word(index - 1)) is None:
            return False
        if not (self.get_word(index + 1) or (index + 1 == len(self._words) and not self._cut_after)):
            return False
        return any(self._words[at].islower() for at in self.iterate_line(index))

    def iterate_line(self, index: int) -> Iterator[int]:
        """Yield the indices of up to 64 words and entities of a line in each direction, outward from ``index``."""
        before = range(index - 1, max(-1, index - _MAX_SENTENCE - 1), -1)
        after = range(index + 1, min(len(self._words), index + _MAX_SENTENCE + 1))
        for places, step in ((before, 1), (after, 0)):
            for at in places:
                if self.gaps[at + step] != " " and self.has_break(at + step):
                    break
                yield at

    def is_heading_place(self, index: int, leads: Collection[str]) -> bool:
        """Return whether the capitalized words at ``index`` may be a heading.

        A word of ``leads`` must precede them, or they must be isolated: no lower-case word is directly before them, and
        no other entity of capitalized words is next to them. Entities beyond a list mark (such as a comma) do not
        count.
        """
        before = self.get_word(index - 1) if self.gaps[index] == " " else ""
        return before.lower() in leads or not (before.islower() or self._has_joined_capital(index))

    def _has_joined_capital(self, index: int) -> bool:
        """Return whether an entity of capitalized words is next to ``index``, with no list mark (comma) between."""
        return any(
            self.get_class(at) in _CAPITAL and _LIST_GAP.search(self.gaps[gap]) is None
            for at, gap in ((index - 1, index), (index + 1, index + 1))
        )

    def begins_sentence(self, index: int, followers: Collection[str]) -> bool:
        """Return whether the entity at ``index`` begins a sentence, and a comma or a word of ``followers`` is next."""
        after = self.gaps[index + 1]
        if not after.startswith(", ") and not (after == " " and self._is_word_of(index + 1, followers)):
            return False
        return self.begins_line(index) or self._ends_sentence(index)

    def begins_clause(self, index: int, followers: Collection[str] | None) -> bool:
        """Return whether an entity begins a sentence or clause, and a word of ``followers`` follows the entity.

        Args:
            index: Index of the entity.
            followers: Words that may follow the entity; ``None`` for any word in lower case.
        """
        is_follower = (
            self.get_word(index + 1).islower() if followers is None else self._is_word_of(index + 1, followers)
        )
        if self.gaps[index + 1] != " " or not is_follower:
            return False
        if self.begins_line(index) or self._ends_sentence(index):
            return True
        before, gap = self.get_class(index - 1), self.gaps[index]
        if index > 0 and before not in (LONE_INITIAL, "title", "office") and _CLAUSE_END.fullmatch(gap) is not None:
            return True
        is_number = before in NUMERIC_TYPES
        if is_number and gap == " ":  # an entry of a table: ``Sales $ 500 Variable expenses``
            return self.get_word(index + 1) not in self._words_of.address_words
        return (is_number or before == "word") and _SENTENCE_END.search(gap) is not None

    def _is_word_of(self, index: int, words: Collection[str]) -> bool:
        word = self.get_word(index)
        return word in words or (word == "I" and "i" in words)

    def begins_line(self, index: int) -> bool:
        """Return whether the word or entity at position ``index`` begins its line. List marks may precede it."""
        before = self.gaps[index]
        if index == 0:
            return not self._cut_before and _LIST_MARK.fullmatch(before.rpartition("\n")[2]) is not None
        return not LINE_BREAKS.isdisjoint(before)

    def _ends_sentence(self, index: int) -> bool:
        """Return whether a sentence ends before position ``index``.

        The last word of a sentence must be unchanged and have at least three lower-case letters. So an abbreviation
        such as ``u.`` does not end a sentence.
        """
        is_end = _SENTENCE_END.search(self.gaps[index]) is not None
        return is_end and _LAST_WORD.fullmatch(self.get_word(index - 1)) is not None

    def follows_number(self, index: int) -> bool:
        """Return whether a number directly precedes the word or entity at position ``index``."""
        return self.gaps[index] in ("", " ", "-") and self.get_class(index - 1) in NUMERIC_TYPES

    def has_word_beside(self, index: int, is_listed: Callable[[str], bool]) -> bool:
        """Return whether a listed, unchanged word is next to an entity, with a blank between them.

        Args:
            index: Index of the entity.
            is_listed: Function that returns whether a word is on the list.
        """
        neighbors = ((index - 1, self.gaps[index]), (index + 1, self.gaps[index + 1]))
        return any(gap == " " and is_listed(self.get_word(at)) for at, gap in neighbors)

    def is_language_place(self, index: int) -> bool:
        """Return whether the words next to ``index`` show that a language is named there, as in ``in Spanish``."""
        is_pair = self.get_class(index - 1) == "group" and self.gaps[index] == " "
        if self._follows_language_lead(index - is_pair):
            return True
        return self.get_word(index + 1).lower() in self._words_of.language_nouns

    def _follows_language_lead(self, index: int) -> bool:
        """Return whether a word such as *in* precedes position ``index``.

        Other languages may be between the two, as in ``in Spanish, German and French``.
        """
        for _ in range(_MAX_LANGUAGES):
            at, gap = index - 1, self.gaps[index]
            word = self.get_word(at).lower()
            if gap == " " and word in self._words_of.language_leads:
                return True
            if gap == " " and word in _LANGUAGE_LINKS:
                at, gap = at - 1, self.gaps[at]
            elif gap != ", ":
                return False
            if self.get_class(at) != "group" or gap not in (" ", ", "):
                return False
            index = at - (self.get_class(at - 1) == "group" and self.gaps[at] == " ")
        return False

    def is_variety_place(self, index: int) -> bool:
        """Return whether a country at ``index`` may belong to the name of a language, as ``US`` in ``in US English``.

        The result is false if a noun follows, as in ``to US Catholic schools``: there *Catholic* is an adjective.
        """
        if self.get_class(index + 1) != "group" or self.gaps[index + 1] != " ":
            return False
        following = self.get_word(index + 2)
        is_last = index + 2 >= len(self._words)
        is_end = not self._cut_after if is_last else self.gaps[index + 2] != " "
        if not (is_end or following in self._words_of.start_followers | self._words_of.language_nouns):
            return False
        return self._follows_language_lead(index)

    def follows_word(self, index: int, is_listed: Callable[[str], bool]) -> bool:
        """Return whether a listed, unchanged word precedes an entity, with a blank between them.

        Args:
            index: Index of the entity.
            is_listed: Function that returns whether a word is on the list.
        """
        return self.gaps[index] == " " and is_listed(self.get_word(index - 1))

    def is_noun_place(self, index: int) -> bool:
        """Return whether a determiner such as *the* shows that a common noun is at ``index``: ``the white van``.

        At most two unchanged words in lower case may be between the determiner and ``index``. The result is false if an
        entity comes next, after a blank.
        """
        if self.gaps[index + 1] == " " and self.get_class(index + 1):
            return False
        for at in range(index, index - 3, -1):
            word = self.get_word(at - 1)
            if self.gaps[at] != " " or word == "":
                return False
            if word.lower() in self._words_of.determiners:
                return True
            if not word.islower():
                return False
        return False

    def has_in_sentence(self, index: int, types: Collection[str]) -> bool:
        """Return whether another entity of one of the types ``types`` is in the sentence of the entity at ``index``.

        The search ends after 64 words and entities in each direction.
        """
        if self._types.isdisjoint(types) and not (self._cut_before or self._cut_after):
            return False
        gaps, mentions = self.gaps, self.mentions
        for step in (-1, 1):
            at = index
            while abs(at - index) < _MAX_SENTENCE:
                gap = gaps[at if step < 0 else at + 1]
                at += step
                if gap != " " and (_SENTENCE_END.search(gap) or not LINE_BREAKS.isdisjoint(gap)):
                    break
                if not 0 <= at < len(mentions):
                    if self._cut_before if step < 0 else self._cut_after:
                        return True
                    break
                mention = mentions[at]
                if mention is not None and mention.span.entity_type in types:
                    return True
        return False
