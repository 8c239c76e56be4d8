"""Rules of the option ``facts`` for fixed phrases, placeholders, labels, markers of choices and technical names.

The option ``facts`` leaves public facts unchanged in a text.
"""

import re
from collections.abc import Collection, Sequence

from textveil.bundle.names_files import CENSUS, FUNCTION, NAME, RARE, START
from textveil.lazy import LazyPattern
from textveil.text.names.fact_formulas import is_list_marker, is_variable
from textveil.text.names.fact_places import NUMERIC_TYPES, LinePlaces
from textveil.text.names.fact_strings import FactStrings
from textveil.text.names.tokens import CAPITALIZED_RUN, KEPT, EntitySpan, NamesToken
from textveil.text.segmentation import TITLE

#: Largest number of words of a placeholder, and the gaps between them.
_MAX_PLACEHOLDER, _INSIDE = 6, frozenset((" ", "-", "/", " / ", "'"))
_OPENING, _CLOSING = LazyPattern(re.compile, r"[\[{<][\"'*]?\Z"), LazyPattern(re.compile, r"[\"'*]?[\]}>]")
#: Marker and first word of a choice behind the first one; and the gap behind the marker of the first one.
_CHOICE = re.compile("[B-H][.] [A-Z][a-z]+")
_MARKER = LazyPattern(re.compile, "[.)] ")
_BE = frozenset("are be became is was were".split())
#: Gaps before a short entry of a list, and behind it.
_BETWEEN, _ENTRY_END = frozenset((", ", "; ")), LazyPattern(re.compile, " ?[,.;)]")
#: Gaps before a determiner with a capital that begins a sentence without a mark before it: *by then The plan*.
_BEFORE_DETERMINERS = frozenset((" ", ") "))
#: Determiners that may precede a name too: *the Kestrel*, *her Kestrel*.
_ARTICLES = frozenset(("her", "his", "that", "the"))
#: Number of items before a choice in which the marker of the first choice is searched.
_MAX_CHOICES = 64
#: A list without blanks, not longer since no other thread runs while it is read; and the marks between its words.
_WORD_LIST = re.compile(r"(?=.{,4096}\Z)[a-z]{2,}(?:[,;|/][a-z]{2,})+")
_ENTRY_MARK = re.compile("[,;|/]")
#: A range of cells of a table.
_CELLS = re.compile("[A-Z]{1,2}[1-9][0-9]{0,2}:[A-Z]{1,2}[1-9][0-9]{0,2}")
#: Words before a short form of a weekday, such as *Sun*, which may be a name; and letters of the shortest full form.
_WEEKDAY_LEADS, _MIN_WEEKDAY = frozenset("on this next last every each until till".split()), 6


class LabelFacts:
    """Rules of the option ``facts`` that leave phrases, labels and headings of lists, forms and tables unchanged.

    Args:
        strings: Public sets of strings on which the rules depend.
    """

    def __init__(self, strings: FactStrings) -> None:
        words = strings.words
        self._strings, self._words = strings, words
        self._before_names = words.secret_words | words.name_leads | words.kin
        self._first_words = strings.lists.members_by_type["first-word"]
        self._before_values = words.secret_words | words.address_words
        self._counters = (words.counters | words.label_nouns) - words.address_words

    def is_kept_word(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a rule leaves a lower-case word unchanged in a fixed phrase: *et al.*, *co-workers*.

        Args:
            place: The lines that contain the word.
            index: Index of the word in these lines.
            text: The word.
        """
        phrases = self._words.phrases
        if not self._strings.is_shared(text):
            return False
        if place.gaps[index] == " " and f"{place.get_word(index - 1).lower()} {text}" in phrases:
            return True
        return place.gaps[index + 1] == "-" and f"{text}-" in phrases and place.get_word(index + 1).islower()

    def is_kept_string(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a rule leaves a listed technical name or a range of cells unchanged: *IPv4*, *B2:B10*."""
        if not self._strings.is_useful or place.follows(index, self._before_values):
            return False
        return _CELLS.fullmatch(text) is not None or self._is_technical(text)

    def is_word_list(self, text: str) -> bool:
        """Return whether a text without blanks has only common lower-case words, with marks between: ``red,green``."""
        if _WORD_LIST.fullmatch(text) is None:
            return False
        words = {*_ENTRY_MARK.split(text)}
        return all(word in self._strings.common for word in words) and self._strings.denied.isdisjoint(words)

    def is_label_letter(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a capital letter is a listed label before a colon, as *Q* is in *Q: Why?*, for example."""
        return place.gaps[index + 1].startswith(":") and f"{text.lower()}:" in self._words.phrases

    def is_label_place(self, place: LinePlaces, index: int) -> bool:
        """Return whether a capital letter marks a list entry (``B)``), is a variable, or ends a term (``vitamin C``).

        Args:
            place: The words and entities of some lines.
            index: Index of the letter among them.
        """
        if place.gaps[index + 1][:1] == ")" and is_list_marker(place, index):
            return True
        if place.has_capital_beside(index) or place.follows(index, self._before_names | self._before_values):
            return False
        return is_variable(place, index) or place.follows_word(index, self._words.label_nouns.__contains__)

    def begins_question(self, place: LinePlaces, index: int) -> bool:
        """Return whether a verb such as *may* is before a subject such as *I*, at the start of a sentence or clause."""
        subjects = self._words.clause_subjects
        is_subject = place.get_word(index + 1).lower() in subjects
        return place.begins_clause(index, subjects) or (is_subject and follows_named_sentence(place, index))

    def is_salutation(self, place: LinePlaces, index: int) -> bool:
        """Return whether a title is in a salutation without a name: ``Dear Sir or Madam,``, ``Dear Sir/Madam,``.

        Args:
            place: The words and entities of some lines.
            index: Index of the title among them.
        """
        first, last = (_find_title_end(place, index, step) for step in (-1, 1))
        if place.gaps[first] != " " or place.get_word(first - 1).lower() != "dear" or place.precedes_name(last):
            return False
        return place.gaps[last + 1].startswith(",")

    def _is_technical(self, text: str) -> bool:
        word = text.lower()
        has_form = text.isupper() or not text.isalpha()
        return has_form and word in self._words.technical_names and self._strings.is_shared(word)

    def is_kept_run(self, place: LinePlaces, index: int, span: EntitySpan) -> bool:
        """Return whether capitalized words stay unchanged as a fixed phrase, label, placeholder or similar text.

        Args:
            place: The lines that contain the words.
            index: Index of the words among the items of these lines.
            span: The capitalized words.
        """
        tokens = [token for token in span.tokens if token.token_class != KEPT]
        keys = [token.key for token in tokens]
        is_kept = bool(keys) and (
            (is_placeholder(place, index) and all(map(self._is_form_word, keys)))
            or self._is_phrase(place, index, span.text)
            or (
                not place.has_capital_beside(index)
                and self._is_label_run(place, index, span, tokens)
                and not place.follows(index, self._before_names)
            )
        )
        return is_kept and all(map(self._strings.is_shared, keys))  # last, since most spans are replaced

    def _is_label_run(self, place: LinePlaces, index: int, span: EntitySpan, tokens: Sequence[NamesToken]) -> bool:
        """Return whether capitalized words are a choice, a technical name or a label.

        Args:
            place: The lines that contain the words.
            index: Index of the words among the items of these lines.
            span: The capitalized words.
            tokens: The tokens of the span, without unchanged words such as *of*.
        """
        if len(tokens) == 2 and _CHOICE.fullmatch(span.text) is not None:
            is_word = self._strings.is_start(tokens[1:]) or self._strings.is_function_word(tokens[1:])
            return is_word and self._is_choice_place(place, index)
        if len(tokens) == len(span.tokens) and self._is_plain_run(place, index, tokens):
            return True
        if len(tokens) != 1 or len(span.tokens) != 1:
            return False
        if self._strings.is_useful and self._is_technical(span.text):
            return place.has_word_beside(index, str.islower)
        if self._strings.is_acronym(span.text) and not follows_plate(place, index):
            return place.gaps[index + 1] == " " and self._strings.is_noun(place.get_word(index + 1))
        return tokens[0].case == TITLE and self._is_label(place, index, tokens[0].key)

    def _is_plain_run(self, place: LinePlaces, index: int, tokens: Sequence[NamesToken]) -> bool:
        """Return whether capitalized words are plain words that the words near them mark as common.

        A determiner precedes a single word (*a Guide*), or each word is in the line in lower case, too.

        Args:
            place: The lines that contain the words.
            index: Index of the words among the items of these lines.
            tokens: The tokens of the words.
        """
        for token in tokens:
            is_plain = token.case == TITLE and self._strings.is_plain_word(token.key)
            if not is_plain or self._strings.is_company(token.text):
                return False
        if len(tokens) == 1 and place.follows_word(index, self._is_determiner):
            return True
        near = {place.get_word(at) for at in place.iterate_line(index)}
        return all(token.key in near for token in tokens)

    def _is_determiner(self, word: str) -> bool:
        return word.lower() in self._words.determiners and word.lower() not in _ARTICLES

    def _is_form_word(self, key: str) -> bool:
        """Return whether a word may be in a placeholder such as ``[First Name]``.

        Allowed are words that are usual in forms, and plain words: common words that are not also names.
        """
        return key in self._words.field_words or self._strings.is_plain_word(key)

    def _is_phrase(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a text is a fixed phrase, or begins one that the next word completes: *Best regards*, *Q:*."""
        key, phrases, after = text.lower(), self._words.phrases, place.gaps[index + 1]
        if (" " in key and key in phrases) or (
            after == " " and f"{key} {place.get_word(index + 1).lower()}" in phrases
        ):
            return True
        if key in phrases:
            is_listed = not self._strings.common.get(key, 0) & (NAME | CENSUS)
        else:
            is_listed = after.startswith(":") and f"{key}:" in phrases
        return is_listed and not (place.has_capital_beside(index) or place.follows(index, self._before_names))

    def is_weekday_place(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a weekday is no name in its place. A short form such as *Sun* needs a word such as *on*."""
        roles = self._words.roles
        if place.has_capital_beside(index) or is_name_place(place, index, roles, self._words.kin):
            return False
        if place.follows(index, self._before_names) or follows_role(place, index, roles):
            return False
        is_led = place.gaps[index] == " " and place.get_word(index - 1).lower() in _WEEKDAY_LEADS
        return (
            len(text) >= _MIN_WEEKDAY or is_led or "weekday" in (place.get_class(index - 1), place.get_class(index + 1))
        )

    def _is_choice_place(self, place: LinePlaces, index: int) -> bool:
        """Return whether an answer such as *B. Late hour* begins its line, or follows the answer *A.* of its line."""
        after = place.get_word(index + 1)
        if not (self._strings.is_useful or (place.gaps[index + 1] == " " and after.islower())):
            return False
        if place.begins_line(index):
            return True
        for at in range(index - 1, max(-1, index - _MAX_CHOICES - 1), -1):
            if place.has_break(at + 1):
                return False
            if place.get_word(at) == "A" and _MARKER.match(place.gaps[at + 1]) is not None:
                return True
        return False

    def _is_label(self, place: LinePlaces, index: int, key: str) -> bool:
        """Return whether a capitalized word is a label, is followed by a number (*Chapter 3*), or begins a clause.

        A label is a word with a colon after it, as in *Weight: 80 kg*.
        """
        strings, after = self._strings, place.gaps[index + 1]
        marks = strings.common.get(key, 0)
        is_number = place.get_class(index + 1) in NUMERIC_TYPES or place.get_word(index + 1)[:1].isdigit()
        if after == " " and is_number and key in self._counters and key not in strings.persons:
            return True
        is_field = key in self._words.field_words and not marks & NAME and (is_number or not marks & CENSUS)
        if after.startswith(":") and (is_field or strings.is_plain_word(key)):
            return True
        is_before_lower = after == " " and place.get_word(index + 1).islower()
        if is_before_lower and strings.is_plain_word(key) and marks & (START | RARE) == START:
            if place.get_word(index - 1) == "A" and place.gaps[index] in (". ", ") "):
                return True
            if place.gaps[index] in _BETWEEN and _ENTRY_END.match(place.gaps[index + 2]) is not None:
                return place.get_word(index - 1) != ""
        if key in strings.persons:
            return False
        is_behind_lower = place.get_word(index - 1).islower()
        if key in self._words.determiners and is_behind_lower and place.gaps[index] in _BEFORE_DETERMINERS:
            return is_before_lower and strings.is_noun(place.get_word(index + 1))
        if not marks & START or marks & (NAME | RARE):
            return False
        if key in self._first_words and is_behind_lower and place.gaps[index] == " ":
            return is_before_lower
        if key in self._words.start_followers and marks & FUNCTION:
            return place.begins_clause(index, None)
        return place.begins_clause(index, self._words.start_followers)


def follows_plate(place: LinePlaces, index: int) -> bool:
    """Return whether an identifier is directly before a word, which may be the end of a license plate: ``LB67 RTO``.

    Both types of identifiers count: which one a cut identifier has depends on the length of its replaced words.
    """
    return place.get_class(index - 1) in ("id", "key") and place.gaps[index] == " "


def is_name_place(place: LinePlaces, index: int, roles: Collection[str], kin: Collection[str]) -> bool:
    """Return whether a title or role precedes an entity, or a word of kinship follows it (``Anna's brother``).

    Args:
        place: The words and entities of some lines.
        index: Index of the entity.
        roles: Words for roles, such as *patient*.
        kin: Words of kinship.
    """
    if place.get_class(index - 1) in ("title", "office"):
        return True
    if place.gaps[index] in (" ", ". ") and place.get_word(index - 1).lower() in roles:
        return True
    return place.get_word(index + 1) == "s" and place.get_word(index + 2).lower() in kin


def follows_role(place: LinePlaces, index: int, roles: frozenset[str]) -> bool:
    """Return whether a word of ``roles`` and a verb such as *is* precede position ``index``: ``my teacher is``."""
    return place.get_word(index - 1).lower() in _BE and place.follows(index, roles)


def follows_named_sentence(place: LinePlaces, index: int) -> bool:
    """Return whether a sentence ends directly before an entity, in a name or a word: ``I saw Anna. May I come?``."""
    is_end = place.gaps[index] in (". ", "! ", "? ") and place.gaps[index + 1] == " "
    return is_end and (place.get_class(index - 1) == CAPITALIZED_RUN or place.get_word(index - 1)[2:].islower())


def _find_title_end(place: LinePlaces, index: int, step: int) -> int:
    """Return the index of the other title in one direction, behind *or* or a slash; ``index`` if there is none."""
    gap = index + (step > 0)
    if place.gaps[gap] == "/" and place.get_class(index + step) == "title":
        return index + step
    is_linked = place.get_word(index + step) == "or" and place.get_class(index + 2 * step) == "title"
    return index + 2 * step if is_linked and place.gaps[gap] == place.gaps[gap + step] == " " else index


def is_placeholder(place: LinePlaces, index: int) -> bool:
    """Return whether an entity is in brackets with at most a few words: ``[Name of Company]``, ``{First Name}``."""
    return _finds_bracket(place, index, -1) and _finds_bracket(place, index, 1)


def _finds_bracket(place: LinePlaces, index: int, step: int) -> bool:
    pattern = _OPENING if step < 0 else _CLOSING
    for at in range(index, index + step * _MAX_PLACEHOLDER, step):
        if not 0 <= at < len(place.mentions):
            return False
        gap = place.gaps[at if step < 0 else at + 1]
        if gap != " " and pattern.search(gap) is not None:
            return True
        if gap not in _INSIDE:
            return False
    return False
