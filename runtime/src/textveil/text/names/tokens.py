"""Tokens and spans of the mode ``names``: the data that its three passes exchange.

Pass 1 (``tokenizer``) classifies a token by its own text and the options. Pass 2 (``spans``) finds the spans (tokens of
one entity). It reads only the classes and case patterns of tokens, the gaps between them, and the spelling of unchanged
words. So its decisions do not depend on the spelling of replaced words. Pass 3 (``entity_types``) assigns entity types
to spans.
"""

from array import array
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, final

from textveil.text.segmentation import LOWER, TITLE, UPPER

#: Classes of tokens: a gap; a kept word; a lower-case word that is kept unless the whole document is in lower case; a
#: string, word or number that is replaced; digits, which may form one number with others; a capitalized word; a single
#: capital letter.
GAP, KEPT, KEPT_WITH_CAPITALS, REPLACED, DIGITS, CAPITALIZED, INITIAL = range(7)

#: Flags of capitalized words that are kept in some contexts: a function word or a greeting at any start; a common word
#: at the start of a sentence; a common word in capitals for emphasis.
KEPT_AT_START, KEPT_AT_SENTENCE, KEPT_FOR_EMPHASIS = 1, 2, 4
#: Flags of kept words that may begin a span: a part of a building with its number; the name of a place.
BEGINS_UNIT, BEGINS_PLACE = 8, 16
#: A letter that is kept after an apostrophe.
CLITIC = 32
#: A capitalized word that may begin a name with a full stop (``St. Louis``).
BEGINS_DOTTED_NAME = 64
#: A capitalized word that is kept at the start of a line or sentence, but is a name after a title (``Mr. Sweet``).
NAME_AFTER_TITLE = 128
#: The legal form of a firm: a comma or a full stop joins it to the name before it (``Novak, Inc.``).
LEGAL_FORM = 256
#: The halves of a postal code, each a string of its own (``SW1A 1AA``).
OUTWARD, INWARD = 512, 1024
#: A lower-case word on a list of persons. An unchanged function word never has this flag.
LISTED_PERSON = 2048
#: A number word (three or more consecutive ones are one number); initials with dots, which precede a name.
NUMBER_WORD, INITIALS = 4096, 8192
#: A match of a user's own type, or a string that contains one: no rule keeps it.
HOLDS_OWN = 16384
#: Digits that a rule of the language joins to a month (``5 de marzo``); a noun that is kept with a capital outside of
#: names (German).
BESIDE_MONTH, KEPT_NOUN = 32768, 65536
#: A common word that is also a family name: before a comma and a name it is replaced (``Hope, Daniel``).
SURNAME = 131072
#: A function word that is also a family name: it belongs to a name after it that is all of a quotation or a line.
SURNAME_PARTICLE = 1048576
#: A function word that is no family name, or a preposition before places: no part of a name in capitals (``AND``).
ENDS_NAME = 4194304
#: A lower-case word on a list of first names; of function words only those that are also first names (``will``).
FIRST_NAME = 2097152
#: Groups of an account number: the first one (``DE44``); a later one that has letters (``3M02``).
IBAN_HEAD, IBAN_GROUP = 262144, 524288
#: Case pattern of a JSON number: its surrogate is a valid JSON number.
JSON_NUMBER_CASE = 3
#: Largest number of connectors, such as ``of the``, between two words of a name.
MAX_CONNECTORS = 3
#: Roles of kept words that may belong to the name before them in a text without capitals: any noun; a listed name.
NOUN_ROLE, NAME_ROLE = "noun", "name"
#: Layout that marks a randomized word. All other rules treat such a word like one that is on no list.
RANDOMIZED = "drawn"
#: Entity type and layout of a word that the option ``randomize`` randomizes, which gets no surrogate.
RANDOMIZED_POOL = ("word", RANDOMIZED)
create_tuple: Callable[..., Any] = tuple.__new__  # creates a named tuple three times as fast as a call of its class


@final
class NamesToken(NamedTuple):
    """A token of the mode ``names``: a word, a number, another string such as an address, or a gap (blanks and marks).

    Attributes:
        token_class: One of the classes ``GAP`` to ``INITIAL``.
        text: The token as spelled.
        key: Normalized spelling of the token. The module ``spans``, which finds names, reads ``key`` of unchanged words
            only: the spelling of a replaced word is private.
        case: Case pattern of the token: ``LOWER``, ``TITLE`` or ``UPPER``.
        entity_type: For tokens of the class ``REPLACED`` or ``DIGITS`` the entity type. For the class ``KEPT``
            (unchanged) whether it may belong to a name before it: ``NOUN_ROLE``, ``NAME_ROLE`` or empty.
        layout: The form of a number, or the ending of a word, that the output reveals.
        flags: Sum of flags of this module, such as ``KEPT_AT_START``: in which contexts the token stays unchanged
            (classes ``CAPITALIZED`` and ``REPLACED``), and which spans it may begin (``KEPT`` and ``CAPITALIZED``).
    """

    token_class: int
    text: str
    key: str
    case: int = LOWER
    entity_type: str = ""
    layout: str = ""
    flags: int = 0


#: Tokens of a chunk: its words; the gap before the first word; the text of the first word, then each further gap and
#: word; the indices of the words that are not kept in every context; the gap at the end. To make fewer objects, a
#: single word is not in a list, and a word that is kept in every context, with no marks around it, is the whole value.
ChunkTokens = NamesToken | tuple[NamesToken | Sequence[NamesToken], str, tuple[str, ...], tuple[int, ...], str]


class TokenWindow(NamedTuple):
    """The tokens of a few consecutive lines of a text, or of the whole text.

    Attributes:
        words: Tokens that are not gaps. Every window except the first begins with the last token of the previous one.
            Decisions at the start of a line may depend on that token.
        spellings: The gap (blanks and marks) before each token and the token's text, in turn, and the gap at the end.
        special_indices: Indices of the tokens, without those that always stay unchanged.
    """

    words: list[NamesToken]
    spellings: list[str]
    special_indices: "array[int]"


#: Provisional types that pass 3 refines: a run of capitalized words; a single capital; groups of digits with blanks.
CAPITALIZED_RUN, LONE_INITIAL, DIGIT_GROUP = "run", "initial", "digits-group"
#: Span type of a listed person, whose layout is the form of the spelling. Its public type is ``person``.
KNOWN_PERSON = "known-person"
#: Span type of a hidden word inside an identifier of source code. It is a tag in every style, since replies are not
#: searched for surrogates inside of words.
IDENTIFIER_PIECE = "identifier-piece"
#: Value of ``EntitySpan.preceding_word`` for a run after a title.
AFTER_TITLE = "<title>"
#: Layout of a run whose last word is an initial.
ENDS_IN_INITIAL = "initial"


class EntitySpan(NamedTuple):
    """The tokens of one entity, which are replaced together.

    A *run* is a sequence of capitalized words that may be one name.

    Attributes:
        entity_type: Entity type; ``CAPITALIZED_RUN`` for a run.
        case: Case pattern: ``LOWER``, ``TITLE`` or ``UPPER``.
        layout: The form of a number, or the ending of a word, that the output reveals.
        tokens: Tokens of the span.
        text: The span as spelled.
        preceding_word: For a run, the normalized spelling of the word before it, if that word stays unchanged and only
            a single blank is between the two; ``AFTER_TITLE`` after a title; otherwise empty.
        title_case_words: Number of words of a run in Title case. The output reveals this number, which is above 0 only
            in lines without a lower-case word.
        escaped_text: Original spelling, if JSON escapes make it differ from ``text``; otherwise empty.
    """

    entity_type: str
    case: int
    layout: str
    tokens: tuple[NamesToken, ...]
    text: str
    preceding_word: str = ""
    title_case_words: int = 0
    escaped_text: str = ""


TextElement = str | EntitySpan


class RandomizedSpans(dict[NamesToken, EntitySpan]):
    """Cache: dictionary from the token of a randomized word to its ``EntitySpan``, created at first look-up."""

    def __missing__(self, token: NamesToken) -> EntitySpan:
        """Create and store the span (``EntitySpan``) of a randomized word, at its first look-up."""
        span = self[token] = EntitySpan("word", LOWER, RANDOMIZED, (token,), token.text)
        return span


def find_connectors_end(
    words: Sequence[NamesToken], gaps: Sequence[str], index: int, end: int, connectors: Collection[str]
) -> int:
    """Return the index after words such as *of* with which a name may continue, as in ``Bank of America``.

    These words are called connectors. A word in Title case for a group of people may precede them: *Chilena* in
    ``Sociedad Chilena de Ostrander`` is a part of the name. A blank must follow each connector, except for an elision
    such as ``d'``.

    Args:
        words: Tokens of the text.
        gaps: The gap (blanks and marks) before each word.
        index: Index of the word after the capitalized words of the name; a blank precedes it.
        end: Index after the last word of the line.
        connectors: The connectors of the language, in lower case.

    Returns:
        The index; ``index`` itself if there are no connectors, or if the gap after the last one ends the name.
    """
    first = index + (
        words[index].token_class == REPLACED and words[index].entity_type == "group" and words[index].case == TITLE
    )
    after, joins = first, " "
    while after < end and gaps[after] in (" ", joins) and after - first < MAX_CONNECTORS:
        token = words[after]
        if token.token_class != KEPT or token.case != LOWER or token.key not in connectors:
            break
        joins = "" if token.key.endswith("'") else " "
        after += 1
    return after if after > first and after < end and gaps[after] in (" ", joins) else index


def add_common_names(
    is_replaced: Sequence[bool], is_joined: Sequence[bool], tokens: Sequence[NamesToken]
) -> list[bool]:
    """Return which capitalized words of a headline must be replaced, including names that are common words.

    In a headline, common words that may begin a sentence stay unchanged. But a list of persons looks like a headline
    (``To: Anna Hope, Rich Love, ...``). So a common word is replaced in three cases: it is a family name and precedes a
    replaced word, it is between two replaced words, or it follows a replaced word and is the last of several joined
    words. In the latter two cases the word does not count as replaced for the words beside it, and function words such
    as *and* end a name instead: ``ANNA HOPE AND I``.

    Args:
        is_replaced: For each capitalized word, whether the word is replaced regardless of the other words.
        is_joined: For each word except the first, whether a blank or hyphen joins the word to the previous one.
        tokens: The capitalized words.
    """
    joins, replaced = [False, *is_joined, False], [False, *is_replaced, False]
    for number in range(len(is_replaced) - 1, 0, -1):
        if tokens[number - 1].flags & SURNAME and joins[number] and replaced[number + 1]:
            replaced[number] = True
    return [
        replaced[number]
        or (
            joins[number - 1]
            and replaced[number - 1]
            and (not joins[number] or replaced[number + 1])
            and not token.flags & ENDS_NAME
        )
        for number, token in enumerate(tokens, 1)
    ]


def find_member_end(
    words: Sequence[NamesToken], gaps: Sequence[str], index: int, end: int, suffixes: Collection[str]
) -> int:
    """Return the index after a word of a name and after the lower-case words that hyphens join to it.

    Args:
        words: The tokens of a text.
        gaps: The gap (blanks and marks) before each token.
        index: Index of the word.
        end: Index after the last word of its line.
        suffixes: Words such as *based* (``Leeds-based``), which are no part of the name in spite of the hyphen.
    """
    index += 1
    while (
        index < end
        and gaps[index] == "-"
        and words[index].case == LOWER
        and words[index].token_class in (KEPT, KEPT_WITH_CAPITALS, REPLACED)
    ):
        token = words[index]
        if token.token_class == KEPT and token.key in suffixes:
            break
        if token.token_class == REPLACED and token.entity_type != "word":
            break
        index += 1
    return index


def is_emphasized(token: NamesToken) -> bool:
    """Return whether a token is a common word in capitals that may stay unchanged as emphasis, such as ``NOT``."""
    return token.case == UPPER and bool(token.flags & KEPT_FOR_EMPHASIS)


def is_title_case(token: NamesToken) -> bool:
    """Return whether a token is a capitalized word in Title case."""
    return token.token_class == CAPITALIZED and token.case == TITLE


def may_follow_initials(token: NamesToken) -> bool:
    """Return whether a word may follow initials: it has a capital letter and is no function word (*the*)."""
    return token.token_class == CAPITALIZED and token.flags & (KEPT_AT_START | NAME_AFTER_TITLE) != KEPT_AT_START


def is_noun(token: NamesToken) -> bool:
    """Return whether a token is a common noun that stays unchanged although it is capitalized, as in German."""
    return token.flags & KEPT_NOUN > 0


def drop_nouns(words: Sequence[NamesToken], gaps: Sequence[str], indices: Sequence[int]) -> Sequence[int]:
    """Return the indices of adjacent capitalized words, without those of common nouns at their start.

    German capitalizes all nouns: in ``Lehrerin Anna Novak`` only ``Anna Novak`` is a name. A noun that a hyphen joins
    to a name stays: ``Feldhockey-Bundesliga``.

    Args:
        words: The words of the text.
        gaps: The gap (blanks and marks) before each word.
        indices: Indices of the capitalized words.
    """
    count = next((number for number, index in enumerate(indices) if not is_noun(words[index])), len(indices))
    while 0 < count < len(indices) and gaps[indices[count]] == "-":
        count -= 1
    return indices[count:]


def may_begin_name(words: Sequence[NamesToken], gaps: Sequence[str], indices: Sequence[int]) -> bool:
    """Return whether the first of some adjacent capitalized words may belong to a name: ``Van``, ``El``.

    The first word must be a function word (a word of grammar), and the second one no common noun. The words after the
    first one must not all be common words in capitals, which only emphasize (``NOT``).

    Args:
        words: The words of the text.
        gaps: The gap (blanks and marks) before each word.
        indices: Indices of the capitalized words.
    """
    rest = indices[1:]
    if not rest or not words[indices[0]].flags & SURNAME_PARTICLE or len(drop_nouns(words, gaps, rest)) < len(rest):
        return False
    return not all(is_emphasized(words[index]) for index in rest)
