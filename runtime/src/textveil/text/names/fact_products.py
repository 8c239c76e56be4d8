"""Rules of the option ``facts`` for companies and products that a text uses or discusses: *a Nokia phone*.

The option ``facts`` leaves public facts unchanged in a text.
"""

from collections.abc import Sequence

from textveil.text.names.fact_places import LinePlaces
from textveil.text.names.fact_strings import FactStrings
from textveil.text.names.tokens import CAPITALIZED_RUN, NamesToken

#: Number of words before and after a name in which a word such as *job* shows that the name is an employer.
_WORK_BEFORE, _WORK_AFTER = 10, 4
#: Number of words before *for the* in which an occupation shows that the name after it is an employer.
_ROLE_BEFORE = 3
#: Gaps between a word such as *contact* and a name; and words there, with the number of items before them to search.
_PARTY_GAPS = frozenset((" ", ": ", ", "))
_JOINS, _MOST_JOINED = frozenset(("called", "for", "in", "is", "of", "to", "was")), 2
#: Gaps between the names of a list, and the largest number of names that are read before one.
_LIST_GAPS, _MAX_NAMES = frozenset((", ", "/")), 16
_APOSTROPHES = frozenset(("'", "\u2019"))


class ProductFacts:
    """Rules that leave listed companies and products unchanged, but not where they may be somebody's employer.

    Args:
        strings: Public sets of strings on which the rules depend.
    """

    def __init__(self, strings: FactStrings) -> None:
        self._strings, self._words = strings, strings.words

    def is_kept_word(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether the rules leave a lower-case word unchanged as a program or website: *a youtube video*.

        Args:
            place: The lines that contain the word.
            index: Index of the word among the items of these lines.
            text: The word.
        """
        is_listed = text in self._words.platforms and self._is_public(text)
        return is_listed and self._is_product_place(place, index)

    def is_kept_run(self, place: LinePlaces, index: int, tokens: Sequence[NamesToken]) -> bool:
        """Return whether the rules leave capitalized words unchanged as a company or product: *Google Maps*.

        The first word must be a listed name. The others must be listed names or common words.

        Args:
            place: The lines that contain the words.
            index: Index of the words among the items of these lines.
            tokens: The words.
        """
        is_listed = [*map(self._strings.is_product, tokens)]
        if not is_listed or not is_listed[0] or not all(self._is_public(token.key) for token in tokens):
            return False
        pairs = zip(tokens, is_listed, strict=True)
        is_name = all(listed or self._strings.is_plain_word(token.key) for token, listed in pairs)
        return is_name and self._is_product_place(place, index)

    def is_party_place(self, place: LinePlaces, index: int, is_phrase: bool) -> bool:
        """Return whether capitalized common words, such as *Fresh Start*, may name a company, a home or a person.

        Words before or after them show this: *at Fresh Start*, *contact Fresh Start*, *live in Fresh Start*, *my
        church, Fresh Start*, *Fresh Start fired me*. A number word belongs to them (*Five Guys*).

        Args:
            place: The lines that contain the words.
            index: Index of the words among the items of these lines.
            is_phrase: Whether there are several words. A single one may be a thing: *Payment declined*.
        """
        after = place.get_word(index + 1) if place.gaps[index + 1] == " " else ""
        if is_phrase and (after.endswith("ed") or f"-{after}" in self._words.party_words):
            return True
        if self.is_addressed(place, index) or self._acts_on_writer(place, index):
            return True
        return self._follows_party_word(place, index - (place.get_class(index - 1) == "number-word"))

    def _follows_party_word(self, place: LinePlaces, index: int) -> bool:
        words, gap, before = self._words, place.gaps[index], place.get_word(index - 1)
        if gap == " " and before in _JOINS:
            return place.follows(index - 1, words.work_words if before == "for" else words.party_words, _MOST_JOINED)
        if gap == " " and before in words.firm_leads:
            return True
        if gap == ", " and place.get_word(index - 2).lower() not in words.determiners:
            return False
        return gap in _PARTY_GAPS and before.lower() in words.party_words

    def is_addressed(self, place: LinePlaces, index: int) -> bool:
        """Return whether the word before or after a name shows a person: *Dear Django*, *Suzuki cried*."""
        words = self._words.party_words
        return f"-{place.get_word(index + 1)}-" in words or f"{place.get_word(index - 1).lower()}-" in words

    def _acts_on_writer(self, place: LinePlaces, index: int) -> bool:
        """Return whether another word and then *me* follow a name, as in *IBM let me go*."""
        for at in range(index + 1, min(index + 1 + _WORK_AFTER, len(place.mentions))):
            if place.has_break(at):
                return False
            if at > index + 1 and f"-{place.get_word(at).lower()}" in self._words.work_words:
                return True
        return False

    def _is_public(self, key: str) -> bool:
        strings = self._strings
        return strings.is_useful and strings.is_shared(key) and key not in strings.persons

    def _is_product_place(self, place: LinePlaces, index: int) -> bool:
        """Return whether the unchanged words near a name show that a text uses or discusses it.

        A lower-case word must be next to the name, or before a list of names. The name may be an employer, and the
        result is false, after a word such as *at*, also with an article and after an occupation (*a nurse for the*),
        near a word of work, such as *job*, and before another word and *me* (*let me go*).
        """
        words = self._words
        if place.follows(index, words.work_words, _WORK_BEFORE) or place.get_word(index + 1).lower() in words.roles:
            return False
        for at in range(index + 1, min(index + 1 + _WORK_AFTER, len(place.mentions))):
            if place.has_break(at):
                break
            if place.get_word(at).lower() in words.work_words:
                return False
        if self._acts_on_writer(place, index):
            return False
        first = index
        while place.gaps[first] in _LIST_GAPS and place.get_class(first - 1) == CAPITALIZED_RUN:
            first -= 1
            if index - first > _MAX_NAMES:
                return False
        before = place.get_word(first - 1) if place.gaps[first] == " " else ""
        lead = before
        if before in words.determiners and first > 1 and place.gaps[first - 1] == " ":
            lead = place.get_word(first - 2) if place.follows(first - 2, words.roles, _ROLE_BEFORE) else ""
        if lead.lower() in words.firm_leads:
            return False
        after, gap = place.get_word(index + 1), place.gaps[index + 1]
        return before.islower() or (gap == " " and after.islower()) or (gap in _APOSTROPHES and after == "s")
