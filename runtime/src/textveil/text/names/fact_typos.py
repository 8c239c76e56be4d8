"""Correction of typing errors (option ``facts``): a similar common word replaces an unlisted word.

The output contains only the corrected word, so it reveals no more than if the user had typed that word.
"""

from string import ascii_lowercase

from textveil.bundle.names_files import CENSUS, NAME, RARE, START
from textveil.text.names.fact_strings import FactStrings

#: Fewest letters of a word that is corrected: shorter ones are too often names (artifacts/lists/check_facts.py).
_MIN_LETTERS = 7
#: Most letters, since the time grows with the length.
_MAX_LETTERS = 24


class TypingErrors:
    """Corrects words with a single typing error, such as two swapped letters: the corrected word replaces the word.

    Args:
        strings: Public sets of words, such as the common words.
    """

    def __init__(self, strings: FactStrings) -> None:
        self._strings = strings

    @staticmethod
    def has_form(word: str) -> bool:
        """Return whether a word is long and plain enough to be corrected: 7 to 24 lower-case ASCII letters."""
        return _MIN_LETTERS <= len(word) <= _MAX_LETTERS and word.isascii() and word.isalpha() and word.islower()

    def correct(self, word: str) -> str:
        """Return the common word from which a word on no list differs by one typing error.

        A typing error swaps two letters inside the word, omits a letter inside it, or doubles a letter. The result is
        empty if there is no such common word, or if there are several.
        """
        strings = self._strings
        if not self.has_form(word):
            return ""
        if word in strings.common or word in strings.denied or strings.is_listed_name(word):
            return ""
        if word in strings.surrogates or strings.is_term(word):
            return ""
        found = {*filter(self._is_target, filter(strings.common.get, _list_neighbors(word)))}
        return found.pop() if len(found) == 1 else ""

    def _is_target(self, word: str) -> bool:
        marks = self._strings.common.get(word, 0)
        return marks & START > 0 and not marks & (NAME | RARE | CENSUS) and word not in self._strings.denied


def _list_neighbors(word: str) -> list[str]:
    """Return all strings that one typing error could turn into ``word``. Most of these strings are not words.

    A string can be in the list twice.
    """
    length = len(word)
    # Each joined string has the 26 words with one more letter at a position. This is faster than to join each alone.
    longer = [f"{word[:at]}{f'{word[at:]} {word[:at]}'.join(ascii_lowercase)}{word[at:]}" for at in range(1, length)]
    swapped = [
        f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"
        for at in range(1, length - 2)
        if word[at] != word[at + 1]
    ]
    shorter = [word[:at] + word[at + 1 :] for at in range(1, length) if word[at] == word[at - 1]]
    return [*" ".join(longer).split(" "), *swapped, *shorter]
