"""Lexicon of the mode ``names``: decides which words and plain numbers stay unchanged.

The decision is a function of the word, the public word lists and the options of a call. A word may have punctuation
marks around it, as in ``(word,``. The module ``tokenizer`` reads all other texts between blanks, such as email
addresses.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

import regex

from textveil.bundle.names_files import CENSUS, EMPHASIS, FUNCTION, NAME, NOUN, OPENER, RARE, START, STRICT, NamesLists
from textveil.bundle.rules import Rules
from textveil.lazy import ENTITY_TYPES, LazyPattern, load_data
from textveil.text.names.numbers import classify_number
from textveil.text.names.tokens import (
    BEGINS_DOTTED_NAME,
    BEGINS_PLACE,
    BEGINS_UNIT,
    CAPITALIZED,
    CLITIC,
    DIGITS,
    ENDS_NAME,
    FIRST_NAME,
    GAP,
    INITIAL,
    INITIALS,
    KEPT,
    KEPT_AT_SENTENCE,
    KEPT_AT_START,
    KEPT_FOR_EMPHASIS,
    KEPT_NOUN,
    KEPT_WITH_CAPITALS,
    LEGAL_FORM,
    LISTED_PERSON,
    NAME_AFTER_TITLE,
    NAME_ROLE,
    NOUN_ROLE,
    NUMBER_WORD,
    RANDOMIZED,
    REPLACED,
    SURNAME,
    SURNAME_PARTICLE,
    ChunkTokens,
    NamesToken,
    RandomizedSpans,
    create_tuple,
)
from textveil.text.segmentation import (
    LOWER,
    MAX_WORD_LENGTH,
    TITLE,
    UPPER,
    clitic_pattern,
    find_case_pattern,
    fold_apostrophes,
    fold_word,
    split_clitic,
)

#: Lists that give the type of a single word in any context. The first list with the word counts. The words of the
#: second group have the type in lower case only: with a capital they are treated as parts of names. The words of the
#: third group, and all words that are also common words, have it in Title case and in capitals only.
_ANY_CASE_LISTS, _LOWER_CASE_LISTS, _CAPITALIZED_LISTS = (
    tuple(load_data(ENTITY_TYPES)[name]) for name in ("any_case", "lower_case", "capitalized")
)
_MIN_LENGTH_WITH_ENDING = 5
_ASCII_DIGITS = frozenset("0123456789")
#: Marks between the parts of a word: a denied part is enough to replace it (``x-ray``, ``n/a``, ``q&a``).
_PART_MARK = re.compile("[-/&]")
#: ASCII marks that may follow a word; marks that may follow it or precede it, also typographic ones.
PLAIN_MARKS, _END_MARKS, _OPENING_MARKS = ".,;:!?\"')", ".,;:!?\"')\u2019\u201d\u2026", '"(\u2018\u201c'
_PLAIN_END_MARKS = frozenset(".,:!?")  # marks that do not affect the class of the word before them
#: Number of spellings of words of the public list (in a case, with a mark after it) that are cached across calls.
_MAX_LISTED_TOKENS = 1 << 14


class Lexicon:
    """Decides from public word lists and a call's options which words stay unchanged and which are replaced.

    Args:
        lists: The public word lists.
        allowed: Words of the option ``allow``, normalized. They stay unchanged in lower case and with capitals.
        denied: Words of the option ``deny``, normalized. They are replaced like unlisted words, even if a list has
            them.
        randomized: Words of the option ``randomize``, normalized. They are randomized where they are in lower case.
            None of them is in ``denied``.

    Attributes:
        rules: Rules of the language, such as number words and date formats.
        clitic_pieces: For each clitic (an ending such as ``'s``), its letters after the apostrophe.
        randomized_spans: Cache of one span (``EntitySpan``) for each randomized word.

    Privacy:
        The object stores no text of the user: its cache has public words only.
    """

    def __init__(
        self,
        lists: NamesLists,
        allowed: Collection[str] = (),
        denied: Collection[str] = (),
        randomized: Collection[str] = (),
    ) -> None:
        rules = lists.rules
        self.rules: Rules = rules
        self._common, self._capitals, self._symbols = lists.common_words, lists.kept_capitals, lists.kept_symbols
        self._clitic = LazyPattern(re.compile, lambda: clitic_pattern(rules.clitics.all))
        self._negation = rules.clitics.negation
        self._leading_clitics = rules.clitics.before
        self.clitic_pieces: frozenset[str] = rules.clitics.pieces
        #: Letters that are clitics after a stray blank, as in ``it' s``.
        self._clitic_letters = frozenset(piece for piece in self.clitic_pieces if len(piece) == 1)
        self._person_flags = dict.fromkeys(lists.members_by_type["family"], LISTED_PERSON)
        self._person_flags |= dict.fromkeys(lists.members_by_type["given"], LISTED_PERSON | FIRST_NAME)
        lower_case_lists = _LOWER_CASE_LISTS + (("month",) if rules.dates.lower_months else ())
        self._lower_case_types = _map_entries_to_lists(lists.members_by_type, _ANY_CASE_LISTS + lower_case_lists)
        self._capitalized_types = _map_entries_to_lists(lists.members_by_type, _ANY_CASE_LISTS + _CAPITALIZED_LISTS)
        self._span_flags = dict.fromkeys(lists.members_by_type["first-word"], BEGINS_PLACE) | dict.fromkeys(
            lists.members_by_type["unit-word"], BEGINS_UNIT
        )
        self._allowed, self._denied, self._randomized = frozenset(allowed), frozenset(denied), frozenset(randomized)
        self._listed_by_user = self._denied | self._randomized
        self._never_plain = (
            self._capitals | self._allowed | self._listed_by_user | self._span_flags.keys() | rules.number_words.keys()
        ) | self._person_flags.keys()
        self.randomized_spans: RandomizedSpans = RandomizedSpans()
        #: Cached tokens of public words, by the word with the mark after it. They depend only on the lists and options.
        self.listed_tokens: dict[str, ChunkTokens] = {}

    def tokenize_chunks(
        self,
        chunks: Sequence[str],
        recent: dict[str, ChunkTokens],
        older: Mapping[str, ChunkTokens],
        tokenize_string: Callable[[str], ChunkTokens],
    ) -> list[ChunkTokens]:
        """Return the tokens of each of some chunks (texts between blanks).

        Args:
            chunks: Texts between single blanks.
            recent: Dictionary from chunks to their tokens. The method adds chunks that ``listed_tokens`` does not have.
            older: Dictionary from the chunks of earlier calls to their tokens, which the method reuses.
            tokenize_string: Tokenizer for chunks that are neither a word nor a plain number.
        """
        found: list[Any] = [*map(self.listed_tokens.get, chunks)]
        for place, tokens in enumerate(found):
            if tokens is None:
                chunk = chunks[place]
                found[place] = recent.get(chunk) or older.get(chunk) or self._tokenize_new(chunk, tokenize_string)
                recent[chunk] = found[place]
        return found

    def _tokenize_new(self, chunk: str, tokenize_string: Callable[[str], ChunkTokens]) -> ChunkTokens:
        tokens = self._tokenize_word(chunk) or tokenize_string(chunk)
        word = chunk[:-1] if chunk[-1:] in PLAIN_MARKS else chunk
        if len(self.listed_tokens) < _MAX_LISTED_TOKENS and self._is_public(word):
            self.listed_tokens[chunk] = tokens
        return tokens

    def _tokenize_word(self, chunk: str) -> ChunkTokens | None:
        """Return the tokens of a word or plain number with punctuation, as in ``(word,``; ``None`` for other texts."""
        mark = chunk[-1:] if chunk[-1:] in _PLAIN_END_MARKS else ""
        word = chunk[:-1] if mark else chunk
        if word.islower() and (token := self.find_plain_token(word)) is not None:  # usual
            return (token, "", (token.text,), (), f"{mark} ") if mark else token
        if word.isalpha() and word.isascii() and word.istitle() and 1 < len(word) <= MAX_WORD_LENGTH:
            return self.classify_stem(word, word.lower()), "", (word,), (0,), f"{mark} "
        parts = self.split_word(chunk)
        return None if parts is None else pack_tokens(*parts)

    def split_word(self, chunk: str) -> tuple[str, Sequence[NamesToken], str] | None:
        """Split a text such as ``(word,`` into the marks before the word, the word, and the marks after it.

        Returns:
            The marks before, the tokens of the word or number, and the marks after; ``None`` for any other text.
        """
        if chunk.isalpha() and len(chunk) <= MAX_WORD_LENGTH:
            return "", self.classify_word(chunk), ""
        if chunk[:1] in _ASCII_DIGITS:  # same result as ``ChunkTokenizer.tokenize``, without a dozen patterns
            core = chunk.rstrip(PLAIN_MARKS)
            if len(core) <= MAX_WORD_LENGTH and self.rules.patterns.plain_number.fullmatch(core):
                return "", (self.classify_plain_number(core),), chunk[len(core) :]
        lead = len(chunk) - len(chunk.lstrip(_OPENING_MARKS))
        core = chunk[lead:].rstrip(_END_MARKS)
        tail = chunk[lead + len(core) :]
        letters = core.isalpha() or (core[:1].isalpha() and core.replace("'", "").replace("\u2019", "").isalpha())
        if not letters or len(core) > MAX_WORD_LENGTH or ";" in chunk:  # a semicolon may end an HTML entity
            return None
        is_before = tail[:1] in ("'", "\u2019") and f"{core}'" in self._leading_clitics
        if is_before or (chunk[:1] == "\u2018" and core in self.clitic_pieces):
            return None  # ``ChunkTokenizer`` reads a clitic beside a blank
        return chunk[:lead], self.classify_word(core), tail

    def classify_plain_number(self, core: str) -> NamesToken:
        """Return the token of a number of ASCII digits, also with marks between them: ``48213``, ``4,500``.

        A common expression such as ``24/7`` stays unchanged.
        """
        if core in self.rules.kept_whole and not self.is_denied(core):
            return create_tuple(NamesToken, (KEPT, core, core, LOWER, "", "", 0))
        return make_number_token(core, *classify_number(core, self.rules.patterns))

    def _is_public(self, word: str) -> bool:
        """Return whether a word is public: a function word (such as *the*), or a common word in lower case."""
        marks = self._common.get(word.lower(), 0)
        return marks > 0 and (word.islower() or marks & FUNCTION > 0)

    def is_denied(self, folded: str) -> bool:
        """Return whether the option ``deny`` or ``randomize`` lists a word, or a part of it such as ``b`` in ``a-b``.

        Args:
            folded: Normalized spelling of the word.
        """
        return self._is_denied_word(folded) or not self._listed_by_user.isdisjoint(_PART_MARK.split(folded))

    def _is_denied_word(self, folded: str) -> bool:
        """Return whether the option ``deny`` lists a word, or its stem before an ending such as ``'s``.

        Args:
            folded: The word, normalized (lower case, NFKC).
        """
        if folded in self._denied or not self._denied or "'" not in folded:
            return folded in self._denied
        parts = split_clitic(folded, self._clitic)
        return parts is not None and parts[0] in self._denied

    @cached_property
    def gap_pattern(self) -> "regex.Pattern[str]":
        """Regular expression for text between words: punctuation, ASCII signs, and symbols on a public list."""
        listed = "".join(map(re.escape, sorted(self._symbols)))
        return regex.compile(rf"(?:[\p{{P}}$+<=>^`|~€£¥]|[{listed}]\ufe0f?)+" if listed else r"[\p{P}$+<=>^`|~€£¥]+")

    @cached_property
    def final_gap_pattern(self) -> "regex.Pattern[str]":
        """Regular expression for punctuation and signs at the end of a chunk (text between two blanks)."""
        return regex.compile(rf"(?r)(?:{self.gap_pattern.pattern})\Z")

    def find_plain_token(self, word: str) -> NamesToken | None:
        """Return the token of a common word that stays unchanged in any context; ``None`` for other words."""
        marks = self._common.get(word, 0)
        if (
            marks & (STRICT | FUNCTION)
            and word.isalpha()
            and word not in self._never_plain
            and len(word) <= MAX_WORD_LENGTH
        ):
            return create_tuple(NamesToken, (KEPT, word, word, LOWER, self._find_noun_role(word, marks), "", 0))
        return None

    def classify_word(self, word: str) -> Sequence[NamesToken]:
        """Return the tokens of a word of letters and apostrophes: one, or a stem and its clitics (``Anna``, ``'s``)."""
        if word.islower() and (plain_token := self.find_plain_token(word)) is not None:
            return (plain_token,)
        folded = word.lower() if word.isascii() else fold_word(word)
        folded = word if folded == word else folded  # one string in memory, not two
        if "'" in folded and not self._is_denied_word(folded):
            parts = split_clitic(folded, self._clitic)
            is_kept = folded in self._common or folded in self._allowed
            end = self._find_leading_clitic(word, folded) if self._leading_clitics else 0
            if end and (not is_kept or folded[end:] in self._randomized):
                clitic = NamesToken(KEPT, word[:end], folded[:end], TITLE if word[0] != folded[0] else LOWER)
                return clitic, *self.classify_word(word[end:])
            if is_kept and (parts is None or parts[0] not in self._randomized):
                parts = None
            # Only a few stems precede the negation, so a separate clitic would reveal the stem.
            end = len(word) - len(parts[1]) if parts is not None else 0
            # A kept clitic has ASCII letters only: look-alike letters could smuggle private data into the output.
            if parts is not None and parts[1] != self._negation and word[end + 1 :].isascii():
                case = UPPER if len(word) > 2 and word.isupper() else LOWER
                return self.classify_stem(word[:end], parts[0]), NamesToken(KEPT, word[end:], parts[1], case)
        return (self.classify_stem(word, folded),)

    def _find_leading_clitic(self, word: str, folded: str) -> int:
        """Return the length of a clitic such as ``d'`` at the start of a word; 0 if there is none.

        A clitic with a capital counts only before a lower-case letter. So ``D'Angelo`` has no clitic: it is replaced as
        a whole. All letters of a clitic must be ASCII, because a clitic stays unchanged: look-alike letters could carry
        private data into the output.

        Args:
            word: The word.
            folded: The word, normalized (lower case, NFKC).
        """
        end = folded.index("'") + 1
        if end == len(word) or folded[:end] not in self._leading_clitics or not word[: end - 1].isascii():
            return 0
        is_lower = word[: end - 1].islower() or (
            word[0].isupper() and word[1 : end - 1] == folded[1 : end - 1] and word[end].islower()
        )
        return end if is_lower and word[end].isalpha() else 0

    def classify_stem(self, word: str, folded: str) -> NamesToken:
        """Return the token of a word without clitics. For the arguments see ``make_unlisted_token``."""
        is_title_case = word.istitle() and len(word) > 1 and word.isascii() and word.isalpha()
        case = TITLE if is_title_case else find_case_pattern(word)  # usual
        spelling = word if word.isascii() else fold_apostrophes(word)
        if self._listed_by_user:
            if folded in self._randomized and case == LOWER:
                return NamesToken(REPLACED, word, folded, LOWER, "word", RANDOMIZED)
            if (
                self._is_denied_word(folded) or folded in self._randomized
            ):  # with a capital a randomized word may be a name
                return (
                    self.make_unlisted_token(word, folded)
                    if case == LOWER
                    else _make_capitalized_token(word, folded, case)
                )
        if folded in self._allowed or spelling in self._capitals:
            return NamesToken(KEPT, word, folded, case)
        if case == LOWER and word == word.lower():
            return self._classify_lower(word, folded, spelling)
        return self._classify_capitalized(word, folded, spelling, TITLE if case == LOWER else case)  # as in iPhone

    def _classify_lower(self, word: str, folded: str, spelling: str) -> NamesToken:
        marks = self._common.get(folded) if spelling == folded else None
        if marks is None:
            entity_type = self._lower_case_types.get(folded)
            token = self.make_unlisted_token(word, folded)
            if entity_type is None:
                return token
            number_flag = NUMBER_WORD if entity_type == "number-word" else 0
            return token._replace(entity_type=entity_type, layout="", flags=token.flags & LISTED_PERSON | number_flag)
        number_flag = NUMBER_WORD if folded in self.rules.number_words else 0
        if marks & (STRICT | FUNCTION):
            name_flags = self._person_flags.get(folded, 0)
            if marks & FUNCTION:
                name_flags &= FIRST_NAME * (folded in self.rules.name_like)  # ``will``
            flags = self._span_flags.get(folded, 0) | number_flag | name_flags
            return NamesToken(KEPT, word, folded, LOWER, self._find_noun_role(folded, marks), "", flags)
        token = self.make_unlisted_token(word, folded)
        return token._replace(token_class=KEPT_WITH_CAPITALS, flags=token.flags | number_flag)

    def make_unlisted_token(self, word: str, folded: str) -> NamesToken:
        """Create the token of a lower-case word that is replaced, with a flag if the word is a listed name of a person.

        Args:
            word: The word.
            folded: The word, normalized (lower case, NFKC).
        """
        token = self._make_unknown(word, folded)
        flags = self._person_flags.get(folded, 0)
        return token._replace(flags=flags) if flags and token.entity_type == "word" else token

    def _make_unknown(self, word: str, folded: str) -> NamesToken:
        """Create the token of a lower-case word that is replaced. A public ending such as ``-tion`` may remain.

        Args:
            word: The word.
            folded: The word, normalized (lower case, NFKC).
        """
        if len(word) == 1:
            return NamesToken(
                REPLACED, word, folded, LOWER, "letter", flags=CLITIC if folded in self._clitic_letters else 0
            )
        return create_tuple(NamesToken, (REPLACED, word, folded, LOWER, "word", find_ending(folded, self.rules), 0))

    def _find_noun_role(self, word: str, marks: int) -> str:
        """Return the role that a common word may have after a lower-case name, as *short* in ``martin short``.

        The result is ``NAME_ROLE`` for a listed name of a person, ``NOUN_ROLE`` for another word that may be a noun,
        and empty for a word that cannot belong to a name.
        """
        if marks & (FUNCTION | OPENER) or word[-1] == "s" or find_ending(word, self.rules) or word in self.rules.verbs:
            return ""
        return NAME_ROLE if word in self._person_flags else NOUN_ROLE

    def _classify_capitalized(self, word: str, folded: str, spelling: str, case: int) -> NamesToken:
        if len(word) == 1:
            flags = KEPT_AT_START if self._common.get(folded, 0) & FUNCTION else 0
            return NamesToken(INITIAL, word, folded, TITLE, flags=flags)
        marks, flags, rules = self._common.get(folded, 0), 0, self.rules
        is_plain_spelling = marks and spelling in (folded.upper(), folded[:1].upper() + folded[1:])
        if is_plain_spelling and folded not in rules.name_like:
            if marks & OPENER or (marks & START and folded in rules.requests):
                flags |= KEPT_AT_START | NAME_AFTER_TITLE
            if marks & FUNCTION:
                ends = folded in rules.place_prepositions or marks & (EMPHASIS | NAME | CENSUS) == EMPHASIS
                flags = KEPT_AT_START | ENDS_NAME * ends
            starts = marks & (START | FUNCTION | OPENER) and not (marks & RARE and case != UPPER)
            flags |= KEPT_AT_SENTENCE if starts else 0
            flags |= KEPT_FOR_EMPHASIS if marks & EMPHASIS else 0
            flags |= KEPT_NOUN if marks & NOUN and case == TITLE else 0
            if folded in rules.facts.comma_words:
                flags |= SURNAME_PARTICLE if marks & FUNCTION else 0
            elif marks & NAME or (marks & CENSUS and not flags & KEPT_AT_START):
                flags |= SURNAME
        if folded in rules.first_short_forms:
            flags |= BEGINS_DOTTED_NAME
        elif folded in rules.legal_forms and word not in rules.no_legal_forms:
            flags |= LEGAL_FORM
        if (entity_type := self._capitalized_types.get(folded)) is not None:
            layout = rules.title_layouts.get(folded, "") if entity_type == "title" else ""
            flags = flags & KEPT_AT_SENTENCE | (entity_type == "number-word") * NUMBER_WORD
            return NamesToken(REPLACED, word, folded, case, entity_type, layout, flags)
        flags |= NUMBER_WORD if is_plain_spelling and folded in rules.number_words else 0
        return create_tuple(NamesToken, (CAPITALIZED, word, folded, case, "", "", flags))


def _make_capitalized_token(word: str, folded: str, case: int) -> NamesToken:
    """Create the token of a word with a capital letter that is replaced.

    Args:
        word: The word.
        folded: The word, normalized (lower case, NFKC).
        case: Case pattern of the word: ``LOWER``, ``TITLE`` or ``UPPER``.
    """
    return create_tuple(NamesToken, (CAPITALIZED, word, folded, case, "", "", 0))


def find_ending(folded: str, rules: Rules) -> str:
    """Return the ending of a replaced word that the output may reveal, such as ``-tion``; empty if there is none.

    Args:
        folded: The word, normalized (lower case, NFKC).
        rules: Rules of the language, with its public endings.
    """
    if len(folded) < _MIN_LENGTH_WITH_ENDING or not folded.isascii() or folded.endswith(rules.no_endings):
        return ""
    ends = rules.endings
    return next((end for end in ends if folded.endswith(end)), "") if folded.endswith(ends) else ""


def _map_entries_to_lists(lists: Mapping[str, Collection[str]], names: Sequence[str]) -> dict[str, str]:
    return {entry: name for name in reversed(names) for entry in lists[name]}


def is_plainly_kept(token: NamesToken) -> bool:
    """Return whether a token stays unchanged in any context, and does not affect the tokens next to it."""
    return token.token_class == KEPT and not token.flags and token.case == LOWER


def may_join_name(token: NamesToken) -> bool:
    """Return whether a common word may be a part of a name before it, as *short* in ``martin short``."""
    flags = token.flags & ~(NUMBER_WORD | LISTED_PERSON | FIRST_NAME)
    return token.entity_type != "" and is_plainly_kept(token._replace(flags=flags))


def is_letter(token: NamesToken) -> bool:
    """Return whether a token is a single letter, or consists of initials with dots."""
    if len(token.text) > 1:
        return token.flags & INITIALS > 0
    return token.token_class in (KEPT, KEPT_WITH_CAPITALS, INITIAL) or token.entity_type in ("letter", "particle")


def may_have_spelled(words: Sequence[NamesToken], special_indices: Sequence[int]) -> bool:
    """Return whether a text may contain a number in words, or a name in single letters (``K o v a c``).

    The result is true if the text has a number word, or two single letters next to each other.
    """
    for index in special_indices:
        token = words[index]
        if len(token.text) > 1 and not token.flags & (NUMBER_WORD | INITIALS):
            continue
        if token.flags & NUMBER_WORD or (
            is_letter(token)
            and ((index > 0 and is_letter(words[index - 1])) or any(map(is_letter, words[index + 1 : index + 2])))
        ):
            return True
    return False


def make_number_token(digits: str, entity_type: str, layout: str) -> NamesToken:
    """Create the token of a number.

    Args:
        digits: The number as the text spells it.
        entity_type: Entity type of the number.
        layout: The part of the number's form that the output reveals, such as the number of digits.
    """
    joins_digits = digits.isdigit() or entity_type in ("account", "digits", "phone", "card", "ssn")
    token_class = DIGITS if joins_digits else REPLACED
    return create_tuple(NamesToken, (token_class, digits, digits, LOWER, entity_type, layout, 0))


def pack_tokens(lead: str, tokens: Sequence[NamesToken], tail: str) -> ChunkTokens:
    """Pack the tokens of a chunk (text between blanks), and the marks around them, in the compact form ``ChunkTokens``.

    Args:
        lead: Marks before the tokens.
        tokens: The tokens, with tokens for the gaps between them.
        tail: Marks after the tokens. The function appends a blank to them.
    """
    if len(tokens) == 1 and tokens[0].token_class != GAP:
        blank_after = f"{tail} " if tail else " "  # the usual blank is one string in memory for all chunks
        return tokens[0], lead, (tokens[0].text,), () if is_plainly_kept(tokens[0]) else (0,), blank_after
    words, spellings, parts = list[NamesToken](), list[str](), [lead]
    for token in tokens:
        parts.append(token.text)  # joined once: appending to a string would copy it each time
        if token.token_class != GAP:
            words.append(token)
            spellings += ("".join(parts[:-1]), token.text)
            parts = []
    spellings.append("".join(parts))
    tail = f"{spellings.pop()}{tail} "
    special_in_chunk = tuple([place for place, token in enumerate(words) if not is_plainly_kept(token)])
    return tuple(words), spellings[0] if words else "", tuple(spellings[1:]), special_in_chunk, tail
