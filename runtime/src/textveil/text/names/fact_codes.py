"""Rules of the option ``facts`` for the codes of errors and the numbers of versions: ``error 404``, ``v4.2.1``.

The option ``facts`` leaves public facts unchanged in a text. An error code stays only behind a word such as *error*,
and a version number only behind a word such as *version*. Both are replaced near a word for a secret, such as
*password*. All texts that the rules can leave unchanged are on public lists or have a public form (docs/names-rule.md,
"Facts").
"""

import re
from itertools import pairwise

from textveil.bundle.fact_words import FactWords
from textveil.text.names.fact_places import LinePlaces

#: Two numbers of words and entities before a code: among the first number, no word for a secret or an address may
#: occur; among the second, a word such as *error* must occur.
_FAR, _NEAR = 5, 3
#: Words for a secret that do not count as such after a word such as *error*: *error code*.
_CODE_WORDS = frozenset(("code", "codes"))
#: A code of an error of Windows, and the name of an error: ``0x80070057``, ``ERR_CONNECTION_RESET``.
_WINDOWS_CODE = re.compile("0[xX](?:80[0-9A-Fa-f]{2}|[Cc]000|0000)[0-9A-Fa-f]{4}")
_CONSTANT = re.compile("[A-Z]{2,}(?:_[A-Z]{2,})+")
#: Status codes of HTTP, which have a registry; and the exit codes of a process that a signal ended.
_STATUS_CODES = frozenset(
    map(str, (*range(90), *range(100, 104), *range(126, 160), *range(200, 209), 226, *range(300, 309), 255))
).union(map(str, (*range(400, 419), *range(421, 427), 428, 429, 431, 451, *range(500, 509), 510, 511)))
#: A version of two or three numbers with its letter; and one of three or four numbers, the second of which has at most
#: two digits, as that of a telephone number has not. No address of a network has such a form.
_LETTER_VERSION = re.compile(r"[vV][0-9]{1,3}(?:\.[0-9]{1,3}){1,2}")
_VERSION = re.compile(r"[0-9]{1,3}\.[0-9]{1,2}(?:\.[0-9]{1,5}){1,2}")


class CodeFacts:
    """Rules of the option ``facts`` that leave error codes and version numbers unchanged: ``error 404``, ``v4.2.1``.

    Args:
        words: Lists of words that may be near a code, such as *error*.
    """

    def __init__(self, words: FactWords) -> None:
        self._words = words
        self._before_values = words.secret_words | words.address_words

    def is_kept_string(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a rule leaves a string unchanged: an error code, an error name or a version (``v4.2.1``).

        The caller must check that the words in the name of an error (``KeyError``) are public.

        Args:
            place: The words and entities of the lines that contain the string.
            index: Index of the string among the words of these lines.
            text: The string.
        """
        if _LETTER_VERSION.fullmatch(text):
            return not place.follows(index, self._before_values)
        is_code = _WINDOWS_CODE.fullmatch(text) or _CONSTANT.fullmatch(text)
        return is_code is not None and self._follows_error(place, index)

    def is_kept_number(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a rule leaves a number unchanged: an error code behind a word such as *error*, or a version.

        Args:
            place: The words and entities of the lines that contain the number.
            index: Index of the number among the words of these lines.
            text: The number.
        """
        if text in _STATUS_CODES:
            return self._follows_error(place, index)
        is_version = place.gaps[index] == " " and place.get_word(index - 1).lower() in self._words.version_words
        return is_version and _VERSION.fullmatch(text) is not None and not place.follows(index, self._before_values)

    def _follows_error(self, place: LinePlaces, index: int) -> bool:
        """Return whether a word such as *error* precedes a code, and no word for a secret or address is near it.

        The word *code* counts as a word for a secret, except behind a word such as *error*.

        Args:
            place: The words and entities of some lines.
            index: Index of the code among them.
        """
        words, errors = place.list_words_before(index, _FAR + 1), self._words.error_words
        if not words or not words[0] or errors.isdisjoint(words[:_NEAR]):
            return False
        return not any(
            word in self._before_values and not (word in _CODE_WORDS and before in errors)
            for word, before in pairwise([*words, ""][: _FAR + 1])
        )
