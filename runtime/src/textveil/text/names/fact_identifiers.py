"""Rules of the option ``facts`` that cut identifiers such as ``customer_id``: public words are kept, others replaced.

An identifier is split into words at changes of case, at digits and at marks.
"""

import re
from functools import cached_property

from textveil.bundle.rules import Rules
from textveil.text.identifiers import iterate_identifier_words
from textveil.text.names.entity_types import EntityMention, MentionPart
from textveil.text.names.fact_strings import PIECES, ROUND_NUMBERS, FactStrings
from textveil.text.names.lexicon import find_ending
from textveil.text.names.tokens import IDENTIFIER_PIECE, EntitySpan
from textveil.text.segmentation import find_case_pattern

#: Marks of source code; and marks of addresses and secrets, for which a string is not split.
_CODE_MARKS = re.compile(r"[_.$:\\#]|/.*/|[a-z][A-Z]")
_UNCUT_MARKS = re.compile(r"[@%&?]|://")


class IdentifierRules:
    """Rules that cut identifiers, and keep their public words.

    Args:
        strings: Public sets of strings.
    """

    def __init__(self, strings: FactStrings) -> None:
        self._strings, self._prefixes = strings, strings.words.name_prefixes

    def cut(self, string: str) -> list[str | EntityMention] | None:
        """Split a string of source code into kept texts and hidden words.

        Each word that is not public becomes a mention. The decision to split depends only on the string with ``xxxx``
        in place of each hidden word, so it does not depend on a hidden word.

        Returns:
            Kept texts and mentions in turn; ``None`` if the string must be replaced as a whole.
        """
        if PIECES.fullmatch(string) is None or _UNCUT_MARKS.search(string):
            return None
        pieces = [*iterate_identifier_words(string)]
        if any(string[start:end].lower() in self._strings.randomized for start, end in pieces):
            return None
        hidden = [
            (start, end)
            for start, end in pieces
            if string[start].isalpha()
            and not self._strings.is_piece(word := string[start:end].lower())
            and word not in self._prefixes
            and word not in self._domains
        ]
        masked = string
        for start, end in reversed(hidden):
            if end - start < 2:
                return None
            masked = f"{masked[:start]}{_mask_word(string[start:end])}{masked[end:]}"
        if not self._is_code(masked):
            return None
        elements: list[str | EntityMention] = []
        position = 0
        for start, end in hidden:
            word = string[start:end]
            elements += (string[position:start], _make_piece(word, self._strings.lists.rules))
            position = end
        return [*elements, string[position:]]

    def _is_code(self, masked: str) -> bool:
        """Return whether a string is source code, and not an address.

        Args:
            masked: The string with ``xxxx`` in place of each hidden word.
        """
        words = [masked[start:end] for start, end in iterate_identifier_words(masked)]
        digits = [word for word in words if word[0].isdigit()]
        if len(digits) > 1 or any(len(word) > 2 and word not in ROUND_NUMBERS for word in digits):
            return False
        letters = [word.lower() for word in words if not word[0].isdigit()]
        public = [word for word in letters if word != "xxxx" and len(word) > 1]
        if not public or not self._prefixes.isdisjoint(letters) or _CODE_MARKS.search(masked) is None:
            return False
        return letters[-1] not in self._domains and letters[0] not in ("http", "https", "www", "ftp", "mailto")

    @cached_property
    def _domains(self) -> frozenset[str]:
        return frozenset(self._strings.lists.rules.domains)


def _mask_word(word: str) -> str:
    return "XXXX" if word.isupper() else "Xxxx" if word[0].isupper() else "xxxx"


def _make_piece(word: str, rules: Rules) -> EntityMention:
    """Create the mention of a hidden word of an identifier."""
    folded, case = word.lower(), find_case_pattern(word)
    layout = find_ending(folded, rules)
    part = MentionPart("word", layout, folded, word)
    return EntityMention("word", case, (part,), EntitySpan(IDENTIFIER_PIECE, case, layout, (), word), word)
