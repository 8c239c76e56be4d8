"""Sets of public words that the option ``facts`` can leave unchanged: terms, public names, headings, plurals.

Each set depends only on the public word lists and on the options of a call, never on a text.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from textveil.bundle.fact_words import CASED_UNITS, DEGREES, FactWords
from textveil.bundle.names_files import CENSUS, FUNCTION, NAME, OPENER, RARE, START, STRICT, NamesLists
from textveil.text.identifiers import has_numbered_word, is_joined_text, may_name_person, split_identifier
from textveil.text.names.entity_types import EntityMention
from textveil.text.names.spelled_tokens import may_spell_number
from textveil.text.names.tokens import AFTER_TITLE, CAPITALIZED, CAPITALIZED_RUN, KEPT, NamesToken
from textveil.text.options import FACTS
from textveil.text.segmentation import LOWER, TITLE, UPPER

#: Endings of plurals and the endings of their singulars.
_PLURALS = (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("sses", "ss"), ("s", ""))
#: Fewest letters of a single word in Title case that is kept, of a term in Title case, and of *image* in *l'image*.
_MIN_HEADING, _MIN_TERM, _MIN_ELIDED = 4, 3, 3
#: Prefixes of the names of pools with surrogates for unlisted words, which are common words, and for acronyms.
_WORD_POOLS = ("word", "acronym")
_PERSON_LISTS = ("given", "family", "given-abroad")
#: Marks that no identifier contains.
_NO_PIECES = frozenset("@%&")
#: The name of a user in a path, as in ``/home/ling/notes.txt``.
HOME_FOLDER = re.compile(r"(?:^|:)(?:[/\\](?:home|Users)|\\users)[/\\]([^/\\]+)")
#: Printable ASCII characters, of which identifiers consist.
PIECES = re.compile(r"[\x20-\x7e]+")
#: Common words that are also names, and are frequent in identifiers. They are kept next to a word that is no name.
_SHARED_PIECES = frozenset("black fields long max page price white".split())
_CAMEL = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]")
#: First group of an IBAN, or of a number plate: ``GB29``, ``YA25``. In lower case only that of an IBAN of SEPA.
_FIRST_GROUP = re.compile(
    "(?:[A-Z]{2}|ad|at|be|bg|ch|cy|cz|de|dk|ee|es|fi|fr|gb|gr|hr|hu|ie|is|it|li|lt|lu|lv|mc|"
    "mt|nl|no|pl|pt|ro|se|si|sk|sm)[0-9]{2}"
)
_COUNTRIES = frozenset(("country", "the-country"))
#: Public sets that may contain the string of a mention, as flags of ``FactStrings.find_sets``: terms; words of source
#: code that are names too; nouns that may be parts of names; units; varieties of a language; function words.
TERMS, CODE_NAMES, NOUNS, UNITS, VARIETIES, FUNCTION_WORDS = (1 << bit for bit in range(6))
#: Words that may begin a sentence; identifiers of source code; listed names and countries; words of headings;
#: constants of source code that are names too; common words that are family names too, even rare ones.
STARTS, CODE, PUBLIC_NAMES, HEADINGS, CONSTANTS, SURNAMES = (1 << bit for bit in range(6, 12))
#: Labels of telephone numbers; sentences in capitals; nouns with a letter; words of ``LabelFacts``; names of products.
LABELS, SENTENCES, LETTERED, LABELED, PRODUCTS = (1 << bit for bit in range(12, 17))
_PLACE_LISTS = ("street-word", "firm-word", "city", "country", "state", "place", "particle", "title", "group")


class FactStrings:
    """Sets of public words that the rules of the option ``facts`` can leave unchanged, for one value of this option.

    Args:
        lists: The public word lists.
        level: Value of the option ``facts``, one of ``FACTS``.
        denied: Words of the option ``deny`` (normalized spellings), which are always replaced.
        randomized: Words of the option ``randomize``, which the rules never leave unchanged. An identifier that
            contains such a word is replaced as a whole, so it reveals only that it contains some word of the list.
        only_tags: Whether tags such as ``[city 1]`` replace all entities. If they do, no replacement is an ordinary
            word.

    Privacy:
        The object stores no text of the user.
    """

    def __init__(
        self,
        lists: NamesLists,
        level: str,
        denied: Collection[str] = (),
        randomized: Collection[str] = (),
        only_tags: bool = False,
    ) -> None:
        self.lists: NamesLists = lists
        self.only_tags: bool = only_tags
        self.words: FactWords = lists.rules.facts
        self.randomized: frozenset[str] = frozenset(randomized)
        self.denied: frozenset[str] = self.randomized.union(denied)
        self.is_useful: bool = FACTS.index(level) >= 2
        self.is_public: bool = FACTS.index(level) >= 3
        self.common: Mapping[str, int] = lists.common_words

    @cached_property
    def surrogates(self) -> frozenset[str]:
        """Surrogates (replacements) that outputs may have, in lower case. No rule of ``facts`` keeps them unchanged."""
        pools = self.lists.surrogate_pools.items()
        found = frozenset(entry.lower() for name, pool in pools if name != "particle" for entry in pool)
        return found - self._pool_words if self.only_tags else found

    @cached_property
    def _pool_words(self) -> frozenset[str]:
        """Surrogates for unlisted words and for acronyms, in lower case: no names, and none of another type."""
        pools = self.lists.surrogate_pools.items()
        words = frozenset(word.lower() for name, pool in pools if name.startswith(_WORD_POOLS) for word in pool)
        others = [entry.lower() for name, pool in pools if not name.startswith(_WORD_POOLS) for entry in pool]
        return words.difference(self.words.institution_ends, others)

    @cached_property
    def persons(self) -> frozenset[str]:
        """All first names, family names and other entries on the lists of names of persons."""
        return frozenset().union(*(self.lists.members_by_type[name] for name in _PERSON_LISTS))

    @cached_property
    def _place_names(self) -> frozenset[str]:
        return frozenset().union(*(self.lists.members_by_type[name] for name in _PLACE_LISTS))

    @cached_property
    def _terms(self) -> frozenset[str]:
        lists = self.lists.fact_lists
        spelled = frozenset(entry.lower() for entry in lists["capital"] | lists["acronym"] if entry.isascii())
        return (spelled | lists["term"] | self.words.identifier_pieces) - self.persons - self.surrogates - self.denied

    @cached_property
    def _public_names(self) -> frozenset[str]:
        """Companies, products and other capitalized terms, in lower case. Empty unless ``facts`` is ``public``."""
        lists = self.lists.fact_lists
        names = {entry.lower() for entry in lists["capital"] | lists["company"] if entry.isascii()}
        return frozenset(names - self.persons - self.surrogates - self.denied) if self.is_public else frozenset()

    @cached_property
    def _shared_pool_words(self) -> frozenset[str]:
        """Words that are surrogates (replacements) for words on no list, and may stay unchanged in the user's text.

        The set is empty unless tags such as ``[word 1]`` replace all entities. In an output with surrogates, a reader
        could mistake an unchanged word for one of them.
        """
        return self._pool_words - self.persons - self.denied if self.only_tags else frozenset()

    @cached_property
    def _joined_words(self) -> frozenset[str]:
        return self.words.joined_words - self.denied

    @cached_property
    def _foreign_names(self) -> frozenset[str]:
        """Function words of other languages that are also names of persons."""
        return (self.words.foreign_words & self.persons) - self.surrogates - self.denied

    @cached_property
    def _code_names(self) -> frozenset[str]:
        """Words that may stay unchanged inside identifiers such as ``get_user``, and are also names of persons."""
        return (self.words.identifier_pieces & self.persons) - self.surrogates - self.denied

    @cached_property
    def _acronyms(self) -> AbstractSet[str]:
        """Listed acronyms, and if tags replace all entities, those that are surrogates otherwise (replacements)."""
        pool = self.lists.surrogate_pools["acronym"] if self.only_tags else ()
        return self.lists.fact_lists["acronym"] | {word for word in pool if word.lower() in self._pool_words}

    @cached_property
    def _capitals(self) -> frozenset[str]:
        lists = self.lists.fact_lists
        found = lists["capital"] | self._acronyms | (lists["company"] if self.is_public else frozenset())
        return frozenset(entry for entry in found if entry.lower() not in self.surrogates)

    # --- single words

    def is_listed_name(self, word: str) -> bool:
        """Return whether a word is on a list of persons, places or titles."""
        return word in self.persons or word in self._place_names

    def is_term(self, word: str) -> bool:
        """Return whether a lower-case word is a technical term, a role such as *nurse*, or a frequent foreign word."""
        if word in self._terms or word in self._shared_pool_words or self._is_foreign_word(word):
            return True
        return word in self.words.roles and word not in self.persons and self.is_shared(word)

    def is_elided(self, key: str) -> bool:
        """Return whether a word is a short foreign word joined to a word that is no name, such as *l'image*."""
        lead, mark, rest = key.partition("'")
        if not (mark and lead in self.words.elisions and len(rest) >= _MIN_ELIDED):
            return False
        if self._is_foreign_word(rest):
            return True
        marks = self.common.get(rest, 0)
        return marks > 0 and not marks & (NAME | CENSUS) and rest not in self.persons and rest not in self.denied

    def is_foreign(self, word: str) -> bool:
        """Return whether a word is of another language than the word lists, which do not have it as a common word."""
        return self.common.get(word) is None and self._is_foreign_word(word)  # most words are common

    def _is_foreign_word(self, word: str) -> bool:
        """Return whether the rules of ``facts`` leave a word of another language unchanged."""
        if word in self.persons or not self.is_shared(word):  # as most words of replacements are
            return False
        is_listed = word in self.words.foreign_words or word in self.lists.fact_lists["foreign"]
        return is_listed or (not word.isascii() and is_joined_text(word, self._joined_words))

    def is_linked(self, word: str) -> bool:
        """Return whether a word is a person's name, and in another language a function word, such as *una* (*a*)."""
        return word in self._foreign_names

    def is_company(self, text: str) -> bool:
        """Return whether a text is a listed company or product, and the option ``facts`` has companies replaced."""
        return not self.is_public and text in self.lists.fact_lists["company"]

    def is_product(self, token: NamesToken) -> bool:
        """Return whether a word is a listed company or product."""
        return token.text in self.lists.fact_lists["company"] or token.key in self.words.platforms

    def is_degree(self, text: str) -> bool:
        """Return whether a text is the capital letter of a temperature scale, as in ``37.5 °C``."""
        return text in DEGREES and text.lower() not in self.denied

    def is_label_letter(self, text: str) -> bool:
        """Return whether a text is a capital letter from A to Z that may stay unchanged, as in ``vitamin C``."""
        return self.is_useful and len(text) == 1 and text.isascii() and text.lower() not in self.denied

    def is_labeled_noun(self, tokens: Sequence[NamesToken]) -> bool:
        """Return whether ``tokens`` are a capitalized noun and a capital letter, such as *Plan B*."""
        if len(tokens) != 2 or tokens[0].case != TITLE or not self.is_label_letter(tokens[1].text):
            return False
        return tokens[0].key in self.words.label_nouns and self.is_shared(tokens[0].key)

    def is_determined(self, text: str) -> bool:
        """Return whether a word is a listed noun that can also be a part of a name, such as *van*.

        The word must be in lower case. If ``facts`` is ``useful`` or ``public``, it may also be in capitals.
        """
        word = text.lower()
        has_case = text == word or (self.is_useful and text == word.upper())
        return has_case and word in self.words.determined_nouns and self.is_shared(word)

    def is_variety(self, word: str) -> bool:
        """Return whether a lower-case word may precede the name of a language, as in *brazilian Portuguese*."""
        return self.is_useful and word in self.words.language_varieties and word not in self.denied

    def is_country_variety(self, text: str) -> bool:
        """Return whether the short form of a country may precede the name of a language, as in ``US English``."""
        return text.isupper() and self.is_variety(text.lower()) and self.is_shared(text.lower())

    def begins_as_group(self, text: str) -> bool:
        """Return whether the name of a party, faith or people may also be a common word at a sentence start, as *Left*.

        The result is false unless the name is in Title case.
        """
        word = text.lower()
        marks = self.common.get(word, 0)
        return text.istitle() and word in self.words.starts and marks & START > 0 and not marks & (NAME | CENSUS | RARE)

    def is_plain_start(self, word: str) -> bool:
        """Return whether a capitalized word counts as a common word at the start of a sentence, as in *Bank transfer*.

        A word counts if it stays unchanged even in a text without capitals, and is neither rare nor also a name.
        """
        marks = self.common.get(word, 0)
        return marks & STRICT > 0 and not marks & (NAME | RARE) and word not in self.persons and self.is_shared(word)

    def is_auxiliary(self, text: str) -> bool:
        """Return whether the name of a month may be an auxiliary verb at the start of a sentence: *May I*.

        *May* could also be a replacement, since months replace months. So the result is false for values of the option
        ``facts`` below ``useful``, unless all entities become tags.
        """
        word = text.lower()
        is_verb = word in self.words.starts and self.common.get(word, 0) & FUNCTION > 0 and word not in self.denied
        return text.istitle() and is_verb and (self.is_useful or self.only_tags)

    def is_plural(self, word: str) -> bool:
        """Return whether a word is the plural of a common noun."""
        if word in self.words.plurals:
            return True
        if word[-1:] != "s" or not word.islower() or len(word) < 4 or word in self.words.not_plurals:
            return False
        if self.common.get(word, 0) & (FUNCTION | OPENER):
            return False
        return any(word.endswith(end) and word[: -len(end)] + single in self.common for end, single in _PLURALS)

    def is_adjective(self, word: str) -> bool:
        """Return whether a word may be between a number and a counted noun, as in ``three large boxes``."""
        marks = self.common.get(word, 0)
        return marks > 0 and word.islower() and not marks & (FUNCTION | OPENER | NAME)

    def is_noun(self, word: str) -> bool:
        """Return whether a common word in lower case may be a noun: it is not a function word such as *the*."""
        marks = self.common.get(word, 0)
        return marks > 0 and word.islower() and not marks & FUNCTION

    def is_acronym(self, text: str) -> bool:
        """Return whether a text is an acronym on a public list, and not also a name."""
        return text in self._acronyms and self._is_public_capital(text)

    def is_piece(self, word: str) -> bool:
        """Return whether a lower-case word may stay unchanged as a part of an identifier, such as ``user_id``."""
        if word in self.denied or word in self.persons or word in self.surrogates:
            return False
        marks = self.common.get(word, 0)
        if marks:
            return not marks & NAME
        return len(word) == 1 or word in self.words.identifier_pieces or self.is_term(word)

    def is_path_word(self, word: str) -> bool:
        """Return whether a lower-case word may stay unchanged in the path of a web address."""
        return self.is_piece(word) and not self.common.get(word, 0) & CENSUS

    def is_public_name(self, word: str) -> bool:
        """Return whether ``facts`` leaves a lower-case word unchanged as a company, product or capitalized term."""
        return word in self._public_names

    def is_shared(self, word: str) -> bool:
        """Return whether a word may stay unchanged: it is neither listed in ``deny`` nor a possible replacement."""
        return word not in self.denied and word not in self.surrogates

    # --- runs of capitals

    def is_public_run(self, tokens: Sequence[NamesToken]) -> bool:
        """Return whether each of some capitalized words is, in the same spelling, on a public list."""
        return bool(tokens) and all(map(self._is_public_capital, [token.text for token in tokens]))

    def _is_public_capital(self, text: str) -> bool:
        if text in self._capitals or (text[-1:] == "s" and text[:-1] in self._acronyms):
            return text.lower() not in self.denied and text.lower() not in self.persons
        return False

    def is_label(self, text: str) -> bool:
        """Return whether a word in Title case or in capitals is the label of a telephone number, such as *Tel*."""
        word = text.lower()
        return word in self.words.phone_labels and text in (word.title(), word.upper()) and self.is_shared(word)

    def is_function_word(self, tokens: Sequence[NamesToken]) -> bool:
        """Return whether ``tokens`` is a single function word that is not also a name, such as *We*."""
        key, text = tokens[0].key, tokens[0].text
        marks = self.common.get(key, 0) if len(tokens) == 1 and len(text) > 1 else 0
        return marks & FUNCTION > 0 and not marks & (NAME | CENSUS) and text in (key.title(), key.upper())

    def is_start(self, tokens: Sequence[NamesToken]) -> bool:
        """Return whether ``tokens`` is a single word that may begin a sentence and is no name."""
        if len(tokens) != 1 or tokens[0].token_class != CAPITALIZED or tokens[0].case != TITLE:
            return False
        key = tokens[0].key
        if key in self._terms:
            return len(key) >= _MIN_TERM and tokens[0].text == key.title()
        return self._is_heading_word(key) and not self.common.get(key, 0) & CENSUS and len(key) >= _MIN_HEADING

    def is_sentence(self, tokens: Sequence[NamesToken]) -> bool:
        """Return whether ``tokens`` are a part of a sentence in capitals, as in ``PLEASE HELP, THIS IS URGENT``.

        There must be several words. All must be common words that are no names. One must be a function word (*THIS*).
        """
        marks = [self.common.get(token.key, 0) for token in tokens if token.case == UPPER]
        if len(tokens) < 2 or len(marks) < len(tokens) or not any(mark & FUNCTION for mark in marks):
            return False
        is_plain = all(self._is_heading_word(token.key) for token in tokens)
        return is_plain and not any(mark & (CENSUS | RARE) and not mark & FUNCTION for mark in marks)

    def is_rare(self, word: str) -> bool:
        """Return whether a word on the list of common words has the flag ``RARE``: few English texts contain it."""
        return self.common.get(word, 0) & RARE > 0

    def is_heading(self, tokens: Sequence[NamesToken]) -> bool:
        """Return whether capitalized words may be a heading, such as *Work Experience*.

        All words must be common words or technical terms, and no names. For several words there are three conditions.
        One stays unchanged at the start of a sentence, and is not rare. One is no name in a census (*Eve Good* is not a
        heading). The last one is no kind of institution, as in *Hillside Primary School*.
        """
        for token in tokens:  # no generator, since most spans end the loop at their first word
            if token.token_class != CAPITALIZED or token.case not in (TITLE, UPPER):
                return False
            if not (self._is_heading_word(token.key) or self._is_title_term(token)):
                return False
        keys = [token.key for token in tokens]
        marks = [self.common.get(key, 0) for key in keys]
        if len(keys) == 1 and (marks[0] & CENSUS or len(keys[0]) < _MIN_HEADING):
            return False
        is_excluded = keys[0] in self.words.address_words or self.is_company(tokens[0].text)  # such as *Suite*
        is_plain = keys[0] in self._terms or not (marks[0] & RARE or is_excluded)
        if len(keys) == 1 and is_plain:
            return True
        last, institutions = keys[-1], self.lists.members_by_type["institution-word"]
        is_institution = last in institutions or last in self.words.institution_ends
        if len(keys) > 1 and (is_institution or all(mark & CENSUS for mark in marks)):
            return False
        return any(mark & (START | OPENER) and not mark & RARE for mark in marks)

    def is_plain_word(self, word: str) -> bool:
        """Return whether a word of four or more letters is common, and not even a rare name of a person or place."""
        return len(word) >= _MIN_HEADING and self._is_heading_word(word) and not self.common.get(word, 0) & CENSUS

    def _is_title_term(self, token: NamesToken) -> bool:
        return self._is_public_capital(token.text) or (token.key in self._terms and token.text == token.key.title())

    def _is_heading_word(self, word: str) -> bool:
        marks = self.common.get(word, 0)
        is_name = not marks or marks & NAME or word in self.persons or word in self._place_names
        return not is_name and word not in self.denied

    # --- identifiers

    def is_code_constant(self, text: str) -> bool:
        """Return whether a text is a listed constant, type or class of programming languages: ``True``, ``NULL``."""
        return (
            text in (text.title(), text.upper())
            and text.lower() in self.words.code_constants
            and self.is_shared(text.lower())
        )

    def is_camel(self, text: str) -> bool:
        """Return whether a word such as ``getValue`` is an identifier (name in source code) of public words only."""
        return text.isascii() and text.isalpha() and _CAMEL.search(text) is not None and self.is_plain(text)

    def is_plain(self, string: str) -> bool:
        """Return whether a string such as ``customer_id`` consists of public words only.

        The string may also have one number, which must be round or have one or two digits. The result is false for a
        string that may begin an IBAN or a number plate (``YA25``), an account name (``blue_rider84``) or number words.
        """
        if PIECES.fullmatch(string) is None or not _NO_PIECES.isdisjoint(string) or HOME_FOLDER.search(string):
            return False
        pieces = split_identifier(string)
        if may_name_person(string, self.is_path_word) or _FIRST_GROUP.fullmatch(string):
            return False
        words = [piece.lower() for piece in pieces if not piece[0].isdigit()]
        short_words = self.words.identifier_pieces | self.words.label_nouns
        if may_spell_number(pieces, self.lists.rules) or (
            len(words) < len(pieces) and not has_numbered_word(string, short_words)
        ):
            return False
        if not words or (len(words) > 1 and not self.words.name_prefixes.isdisjoint(words)):
            return False
        public = [word for word in words if self.is_piece(word)]
        return any(len(word) > 1 for word in public) and all(
            word in _SHARED_PIECES and self.is_shared(word) for word in words if word not in public
        )

    def _is_code(self, tokens: Sequence[NamesToken]) -> bool:
        """Return whether one of the tokens is an identifier such as ``HttpClient``, and the others may be a heading."""
        others = [token for token in tokens if self.is_company(token.text) or not self.is_camel(token.text)]
        return len(others) < len(tokens) and (not others or self.is_heading(others))

    def _is_unlisted(self, token: NamesToken) -> bool:
        """Return whether a capitalized word that is not common is in no public set, and so in no span of one."""
        if token.key in self._label_words or token.key in self._terms or self._is_public_capital(token.text):
            return False
        return token.text.istitle() or _CAMEL.search(token.text) is None

    def find_sets(self, mention: EntityMention) -> int:
        """Return the public sets of words that contain the text of a detected entity, as the sum of their flags.

        The sum is 0 for an entity that is neither a lower-case word nor a group of capitalized words.
        """
        span, text = mention.span, mention.span.text
        if span.entity_type == "word" and span.case == LOWER:
            if self.is_term(text) or self.is_elided(span.tokens[0].key):
                return TERMS
            return CODE_NAMES * (text in self._code_names) | NOUNS * self.is_determined(text)
        if span.entity_type != CAPITALIZED_RUN:
            return 0
        word, tokens = text.lower(), [token for token in span.tokens if token.token_class != KEPT]
        found = self._find_small_sets(text) if word in self._small_sets else 0
        found |= SURNAMES if self.common.get(word, 0) & (NAME | CENSUS) else 0
        is_country = self.is_public and mention.entity_type in _COUNTRIES and span.preceding_word != AFTER_TITLE
        found |= PUBLIC_NAMES if is_country and tokens else 0
        found |= PRODUCTS if self.is_useful and tokens and self.is_product(tokens[0]) else 0
        unlisted = [token for token in tokens if self.common.get(token.key) is None]
        if unlisted and any(map(self._is_unlisted, unlisted)):  # as most names are
            return found
        if not unlisted or all(token.key in self._label_words for token in unlisted):
            found |= LABELED
        if len(span.tokens) == 1:
            found |= FUNCTION_WORDS if self.is_function_word(span.tokens) else 0
        elif self.is_labeled_noun(span.tokens):
            found |= LETTERED
        if len(tokens) == 1:
            found |= STARTS if self.is_start(tokens) else 0
        elif self.is_sentence(tokens):
            found |= SENTENCES
        found |= CODE if not text.istitle() and _CAMEL.search(text) is not None and self._is_code(tokens) else 0
        found |= PUBLIC_NAMES if self.is_useful and self.is_public_run(tokens) else 0
        return found | (HEADINGS if self.is_useful and tokens and self.is_heading(tokens) else 0)

    @cached_property
    def _label_words(self) -> frozenset[str]:
        """All words of labels, fixed phrases and technical names, and the letters *a* to *z*; in lower case."""
        words, acronyms = self.words, map(str.lower, self._acronyms)
        listed = (words.phrases, words.field_words, words.technical_names, words.label_nouns, words.counters, acronyms)
        pieces = (re.split("[ :-]", text) for part in listed for text in part)
        return frozenset("abcdefghijklmnopqrstuvwxyz").union(*pieces)

    @cached_property
    def _small_sets(self) -> frozenset[str]:
        """The words of the small public sets (units, labels and others), in lower case."""
        words = self.words
        return frozenset(map(str.lower, CASED_UNITS)).union(
            words.code_constants, words.language_varieties, words.phone_labels, words.determined_nouns
        )

    def _find_small_sets(self, text: str) -> int:
        """Return the small public sets (units, labels and others) that contain a text, as the sum of their flags."""
        found = (
            (UNITS, text in CASED_UNITS and text.lower() in self.words.units),  # kWh
            (VARIETIES, self.is_country_variety(text)),
            (LABELS, self.is_label(text)),
            (CONSTANTS, self.is_code_constant(text)),
            (NOUNS, self.is_determined(text)),
        )
        return sum(flag for flag, is_member in found if is_member)
