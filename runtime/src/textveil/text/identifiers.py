"""Split identifiers of source code, such as ``customer_id`` and ``getUserName``, into words.

The rule is in docs/names-rule.md, "Identifiers".
"""

import re
from collections.abc import Iterator

# A lower-case ASCII letter, or any character beyond ASCII. The class excludes the other ASCII characters, because
# ``re`` takes long to compile a class that lists all characters beyond ASCII.
_LOWER = r"[^\x00-`{-\x7f]"
_WORD = re.compile(f"[A-Z]{{2,}}s(?!{_LOWER})|[A-Z]+(?!{_LOWER})|[A-Z]?{_LOWER}+|[0-9]+")


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
