"""Cuts identifiers such as ``customer_id`` and ``getUserName`` into words (docs/names-rule.md, "Identifiers")."""

import re

_LOWER = "a-z\\u0080-\\U0010ffff"
_WORD = re.compile(f"[A-Z]{{2,}}s(?![{_LOWER}])|[A-Z]+(?![{_LOWER}])|[A-Z]?[{_LOWER}]+|[0-9]+")


def split_identifier(identifier: str) -> list[str]:
    """Return the words of an identifier, as they are written.

    A word is letters or ASCII digits. One begins behind each character of ASCII that is neither, where digits and
    letters meet, at a capital behind a small letter, and at the last of several capitals before a small letter. A small
    letter is ``a`` to ``z`` or any character beyond ASCII. A lone ``s`` behind two capitals or more belongs to them.

    Example:
        >>> split_identifier("getUserName2"), split_identifier("HTTPServer_ids"), split_identifier("userIDs")
        (['get', 'User', 'Name', '2'], ['HTTP', 'Server', 'ids'], ['user', 'IDs'])
    """
    return _WORD.findall(identifier)
