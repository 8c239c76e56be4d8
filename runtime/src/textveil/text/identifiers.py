"""Split identifiers of source code, such as ``customer_id`` and ``getUserName``, into words, and find account names.

The rules are in docs/names-rule.md, "Identifiers" and "Plain identifiers". Another function splits the text of a
language that has no blanks between words, such as Chinese.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

# A lower-case ASCII letter, or any character beyond ASCII. The class excludes the other ASCII characters, because
# ``re`` takes long to compile a class that lists all characters beyond ASCII.
_LOWER = r"[^\x00-`{-\x7f]"
_WORD = re.compile(f"[A-Z]{{2,}}s(?!{_LOWER})|[A-Z]+(?!{_LOWER})|[A-Z]?{_LOWER}+|[0-9]+")
#: First character of the scripts without blanks between words: radicals of Han. Most characters of a listed word.
_FIRST_JOINED, _MAX_JOINED = "\u2e80", 6
#: Numbers of three digits that are frequent in identifiers.
_FREQUENT_NUMBERS = frozenset("100 200 256 404 500 512".split())
#: Letters around a number; and the fewest letters in a row that count as a word.
_AROUND_DIGITS, _MIN_LETTERS = re.compile("([A-Za-z]*)([0-9]+)([A-Za-z]*)"), 4
#: A family name such as *O'Hare*, and a word behind one to three initials.
#: X, Y and Z are no initials here, since code uses them for coordinates.
_PREFIXED_NAME = re.compile("(?<![A-Za-z])[DLOdlo]['\u2019][A-Za-z]")
_AFTER_INITIALS = re.compile("(?:[A-Wa-w][._]){1,3}([A-Z][a-z]+)|(?:[A-Wa-w]_){1,3}([a-z]+)")
_ENDS_IN_DIGITS = re.compile("[A-Za-z][A-Za-z0-9_.-]*[0-9]{2}")


def split_identifier(identifier: str) -> list[str]:
    """Return the words of an identifier, as written.

    A word consists of letters or of ASCII digits. Other ASCII characters separate words. A new word also begins at:

    - a digit after a letter, and a letter after a digit;
    - a capital after a lower-case letter;
    - the last of several capitals, if a lower-case letter follows them.

    A lower-case letter is ``a`` to ``z`` or any character beyond ASCII. A single ``s`` after two or more capitals
    belongs to them.

    Example:
        >>> split_identifier("getUserName2"), split_identifier("HTTPServer_ids"), split_identifier("userIDs")
        (['get', 'User', 'Name', '2'], ['HTTP', 'Server', 'ids'], ['user', 'IDs'])
    """
    return _WORD.findall(identifier)


def iterate_identifier_words(identifier: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end index of each word that ``split_identifier`` returns."""
    yield from (match.span() for match in _WORD.finditer(identifier))


def is_account_name(string: str) -> bool:
    """Return whether a string has the form of an account name: two words or more, and two digits or more at the end.

    Marks ``_``, ``-`` and ``.`` or a change of case separate the words, each of which has two letters or more. The
    result depends only on the lengths of the words, their case, the digits and the marks.

    Example:
        >>> is_account_name("blue_rider84"), is_account_name("SunnyDay77")
        (True, True)
        >>> is_account_name("customer_id"), is_account_name("line_2"), is_account_name("base64")
        (False, False, False)
    """
    if _ENDS_IN_DIGITS.fullmatch(string) is None:
        return False
    return sum(word.isalpha() and len(word) > 1 for word in split_identifier(string)) > 1


def may_name_person(string: str, is_plain_word: Callable[[str], bool]) -> bool:
    """Return whether a string has the form of an account name or of a name with initials, or a part such as ``O'Hare``.

    Behind initials a word names nobody if it is in lower case and a plain word (``n_jobs``) or behind a full stop
    (``f.read``), or if it is in Title case and the initial is in lower case (``e.Message``).

    Args:
        string: The string.
        is_plain_word: Function that returns whether a word in lower case is public and in no census of names.

    Example:
        >>> [may_name_person(string, {"jobs"}.__contains__) for string in ("B.Day", "j_small", "J.O'Hare", "n_jobs")]
        [True, True, True, False]
    """
    if is_account_name(string) or _PREFIXED_NAME.search(string) is not None:
        return True
    match = _AFTER_INITIALS.fullmatch(string)
    if match is None:
        return False
    return string[0].isupper() if match[1] else not is_plain_word(match[2])


def has_plain_digits(words: Sequence[str]) -> bool:
    """Return whether words have at most one number, which is frequent in identifiers or has at most two digits.

    Example:
        >>> has_plain_digits(["line", "42"]), has_plain_digits(["sha", "256"]), has_plain_digits(["order", "4711"])
        (True, True, False)
    """
    digits = [word for word in words if word[0].isdigit()]
    return len(digits) <= 1 and all(len(word) <= 2 or word in _FREQUENT_NUMBERS for word in digits)


def has_numbered_word(string: str, words: Collection[str]) -> bool:
    """Return whether the only number of a string follows a word, and the string is not random, such as ``ear32i``.

    The number must be frequent in identifiers, such as 256, or have at most two digits.
    If letters are on both sides, each side must have four letters or more. Otherwise the letters before a number of
    two digits must be at most one letter, at least four, or one of the given words.

    Args:
        string: The string, with a number.
        words: Short words in lower case that a number of two digits may follow.

    Example:
        >>> [has_numbered_word(string, {"col"}) for string in ("sha256", "base64Encoder", "col12", "w7moj", "mpp44")]
        [True, True, True, False, False]
    """
    if not has_plain_digits(split_identifier(string)):
        return False
    match = _AROUND_DIGITS.search(string)
    before, digits, after = ("", "", "") if match is None else match.groups()
    if before and after:
        return min(len(before), len(after)) >= _MIN_LETTERS
    return len(digits) != 2 or len(before) < 2 or len(before) >= _MIN_LETTERS or before.lower() in words


def is_joined_text(text: str, words: Collection[str]) -> bool:
    """Return whether a text is two characters or more that listed words without blanks between them spell.

    One word must have two characters or more, because single characters together may be a name.

    Args:
        text: A text of a script without blanks between words. The result is false for a text that begins with a letter
            of another script.
        words: The listed words, of at most six characters each.

    Example:
        >>> is_joined_text("\u8bf7\u7ffb\u8bd1", {"\u8bf7", "\u7ffb\u8bd1"})  # please, translate
        True
        >>> is_joined_text("\u8bf7\u8bf7", {"\u8bf7", "\u7ffb\u8bd1"}), is_joined_text("ab", {"ab"})
        (False, False)
    """
    if text[:1] < _FIRST_JOINED:
        return False
    ends = {0: False}  # the ends of sequences of words, and whether one of these words is long
    for end in range(1, len(text) + 1):
        for start in range(max(0, end - _MAX_JOINED), end):
            if start in ends and text[start:end] in words:
                ends[end] = ends.get(end, False) or ends[start] or end - start > 1
    return ends.get(len(text), False)
