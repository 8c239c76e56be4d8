"""Rules of the option ``facts`` for source code.

The option ``facts`` leaves public facts unchanged in a text. The rules of this module split an identifier such as
``customer_id`` into words at changes of case, at digits and at marks. They leave public words of the identifier
unchanged, and replace the others. They also find marks of source code next to an entity.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from textveil.bundle.rules import Rules
from textveil.lazy import LazyPattern
from textveil.text.identifiers import is_account_name, iterate_identifier_words, split_identifier
from textveil.text.names.entity_types import EntityMention, MentionPart
from textveil.text.names.fact_places import LinePlaces
from textveil.text.names.fact_strings import HOME_FOLDER, PIECES, ROUND_NUMBERS, FactStrings
from textveil.text.names.lexicon import find_ending
from textveil.text.names.spelled_tokens import may_spell_number
from textveil.text.names.tokens import IDENTIFIER_PIECE, EntitySpan
from textveil.text.segmentation import LOWER, find_case_pattern

#: Marks of source code; and marks of addresses and secrets, for which a string is not split.
_CODE_MARKS = re.compile(r"[_.$:\\#]|/.*/|[a-z][A-Z]")
_UNCUT_MARKS = re.compile(r"[@%&?]|://")
#: An address of the web: scheme and host; and a path without a query.
_ADDRESS = re.compile(r"((?:https?://)?[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::[0-9]{1,5})?)((?:/[A-Za-z0-9._-]+)*)")
_SEGMENT = re.compile("[^/]+")
#: Words of a path before the name of a person.
_PROFILE_WORDS = frozenset(
    "account accounts author authors by in member members people person profile profiles staff team user users".split()
)
#: Words of hosts beside the name of a company: ``www.reuters.com``.
_HOST_WORDS = frozenset("api app blog cloud com de dev developer docs en help io net org raw support wiki www".split())
#: Smallest number of letters of a public word in a path.
_MIN_PATH_WORD = 3
#: Marks of source code after a name, and before a name; words of source code before a name.
_CODE_AFTER = LazyPattern(re.compile, r" ?(?:[-+*/|&<>=!]?=|::|;|\(|\[|\)(?:[;:,.) \n]|\Z)|<)|\.\Z|[,}\]](?=\n)| [{}]")
_CODE_BEFORE = LazyPattern(re.compile, r"(?:[.=(<\[{]|::|[=<>] |->|[ (]-)\Z|^-\Z")
#: Marks after a name that is called or indexed or has a member; marks of an assignment after the name of a variable.
_CALL = LazyPattern(re.compile, r"[(\[][(\[\"'&*-]{0,3}|\.")
_ASSIGNMENT = LazyPattern(re.compile, r" ?[:?]?=(?!=)")
_CODE_WORDS = frozenset(
    (
        *"async await class const def double extends float function implements import int interface let".split(),
        *"new private public raise return self static string struct this throw var void".split(),
    )
)


class IdentifierRules:
    """Rules that split identifiers of source code, and replace only the words that are not public.

    Example: in ``kovac_id``, only ``kovac`` is replaced.

    Args:
        strings: Public sets of words, which may stay unchanged.
    """

    def __init__(self, strings: FactStrings) -> None:
        self._strings, self._prefixes = strings, strings.words.name_prefixes

    def cut(self, string: str) -> list[str | EntityMention] | None:
        """Split an identifier or other piece of source code into public words, which stay, and words to replace.

        Each word that is not public becomes an entity to replace. The decision to split depends only on the string with
        ``xxxx`` in place of each such word, so it reveals nothing about the word.

        Returns:
            Unchanged texts and entities in turn; ``None`` if the string must be replaced as a whole.
        """
        if PIECES.fullmatch(string) is None or _UNCUT_MARKS.search(string):
            return None
        pieces = [*iterate_identifier_words(string)]
        if any(string[start:end].lower() in self._strings.randomized for start, end in pieces):
            return None
        home = HOME_FOLDER.search(string)
        user = range(0) if home is None else range(*home.span(1))
        hidden = [
            (start, end)
            for start, end in pieces
            if string[start].isalpha() and (start in user or self._is_hidden_word(string[start:end].lower()))
        ]
        masked = string
        for start, end in reversed(hidden):
            if end - start < 2 or string[:start].endswith(
                "\\"
            ):  # a tag after a backslash would begin a formula: ``\[``
                return None
            masked = f"{masked[:start]}{_mask_word(string[start:end])}{masked[end:]}"
        if not self._is_code(masked):
            return None
        return self._hide_words(string, hidden)

    def _is_hidden_word(self, word: str) -> bool:
        """Return whether a lower-case word of a string is not public, and neither a domain nor a part such as *mc*."""
        if self._strings.is_piece(word) or word in self._prefixes:
            return False
        return word not in self._domains or word in self._strings.denied

    def _hide_words(self, string: str, hidden: Sequence[tuple[int, int]]) -> list[str | EntityMention]:
        """Split a string at the words to replace, and return unchanged texts and entities (such words) in turn.

        Args:
            string: The string.
            hidden: Start and end index of each word to replace, in order.
        """
        elements: list[str | EntityMention] = []
        position = 0
        for start, end in hidden:
            elements += (string[position:start], _make_piece(string[start:end], self._strings.lists.rules))
            position = end
        return [*elements, string[position:]]

    def cut_address(self, string: str) -> list[str | EntityMention] | None:
        """Split a web address into unchanged texts and entities to replace: its host and the words of its path.

        A public host, such as ``docs.github.com``, and words of the path on public lists stay unchanged. All other
        hosts and words are replaced. The decision to split the address depends only on the path with ``xxxx`` in place
        of each replaced word, so it reveals nothing about these words.

        Returns:
            Unchanged texts and entities to replace, in turn; ``None`` if the string must be replaced as a whole.
        """
        match = _ADDRESS.fullmatch(string)
        if match is None or not self._strings.is_useful:
            return None
        host, path = match.groups()
        is_public = self._is_public_host(host)
        if not path:
            return [string] if is_public else None
        if any(word.lower() in self._strings.randomized for word in split_identifier(string)):
            return None
        words = [*iterate_identifier_words(path)]
        texts = [path[start:end].lower() for start, end in words]
        if not _has_plain_digits(texts):
            return None
        kept = self._find_path_words(path)
        public = [text for text, span in zip(texts, words, strict=True) if span in kept]
        if not any(len(text) >= _MIN_PATH_WORD for text in public) or may_spell_number(
            public, self._strings.lists.rules
        ):
            return None
        if not _PROFILE_WORDS.isdisjoint(texts) or not self._prefixes.isdisjoint(texts):
            return None
        hidden = [span for span in words if span not in kept and path[span[0]].isalpha()]
        if any(end - start < 2 for start, end in hidden):
            return None
        lead: list[str | EntityMention] = [host] if is_public else ["", _make_host(host)]
        return [*lead, *self._hide_words(path, hidden)]

    def _find_path_words(self, path: str) -> set[tuple[int, int]]:
        """Return the start and end of each word that stays unchanged in the path of a web address.

        A public word that a census also lists as a name stays only beside another public word of the same path segment
        (the text between two slashes).
        """
        kept: set[tuple[int, int]] = set()
        for segment in _SEGMENT.finditer(path):
            spans = [
                (segment.start() + start, segment.start() + end) for start, end in iterate_identifier_words(segment[0])
            ]
            public = [span for span in spans if self._strings.is_piece(path[slice(*span)].lower())]
            plain = [span for span in public if self._strings.is_path_word(path[slice(*span)].lower())]
            is_named = all(end - start < _MIN_PATH_WORD for start, end in plain)
            kept.update(plain if is_named else public)
        return kept

    def _is_public_host(self, host: str) -> bool:
        """Return whether a host, such as ``www.ibm.com``, has only the name of a public company or product.

        Parts such as ``www`` are permitted. The result is false if the option ``deny`` lists a word of the host.
        """
        if any(word.lower() in self._strings.denied for word in split_identifier(host)):
            return False
        labels = host.lower().removeprefix("https://").removeprefix("http://").split(".")
        names = [label for label in labels if label not in _HOST_WORDS]
        return len(names) == 1 and len(labels) > 1 and names[0] == labels[-2] and self._strings.is_public_name(names[0])

    def _is_code(self, masked: str) -> bool:
        """Return whether a text with marks such as ``_`` or ``(`` is source code of words that are mostly public.

        The result is false for a text with the form of an account name, such as ``SunnyDay77``.

        Args:
            masked: The string with ``xxxx`` in place of each word to replace.
        """
        words = [masked[start:end] for start, end in iterate_identifier_words(masked)]
        if (
            not _has_plain_digits(words)
            or may_spell_number(words, self._strings.lists.rules)
            or is_account_name(masked)
        ):
            return False
        letters = [word.lower() for word in words if not word[0].isdigit()]
        public = [word for word in letters if word != "xxxx" and len(word) > 1]
        if not public or not self._prefixes.isdisjoint(letters) or _CODE_MARKS.search(masked) is None:
            return False
        return letters[-1] not in self._domains and letters[0] not in ("http", "https", "www", "ftp", "mailto")

    @cached_property
    def _domains(self) -> frozenset[str]:
        return frozenset(self._strings.lists.rules.domains)


def is_code_place(place: LinePlaces, index: int) -> bool:
    """Return whether marks of source code, or a word such as *class*, are next to an entity.

    Args:
        place: The words and entities of the lines that contain the entity.
        index: Index of the entity among them.
    """
    before, after = place.gaps[index], place.gaps[index + 1]
    return bool(_CODE_AFTER.match(after) or _CODE_BEFORE.search(before)) or (
        before == " " and place.get_word(index - 1) in _CODE_WORDS
    )


def is_code_word(place: LinePlaces, index: int) -> bool:
    """Return whether a word is used as a name in source code.

    This is so in ``word(``, in ``word[``, in ``word.member``, and in a declaration (``word name =``).

    Args:
        place: The words and entities of the lines that contain the word.
        index: Index of the word among them.
    """
    after = place.gaps[index + 1]
    if _CALL.fullmatch(after) is not None:
        return index + 1 < len(place.mentions)
    declares = after == " " and index + 1 < len(place.mentions)
    return declares and _ASSIGNMENT.match(place.gaps[index + 2]) is not None


def _has_plain_digits(words: Sequence[str]) -> bool:
    """Return whether words contain at most one number, and the number is round or has at most two digits."""
    digits = [word for word in words if word[0].isdigit()]
    return len(digits) <= 1 and all(len(word) <= 2 or word in ROUND_NUMBERS for word in digits)


def _mask_word(word: str) -> str:
    return "XXXX" if word.isupper() else "Xxxx" if word[0].isupper() else "xxxx"


def _make_piece(word: str, rules: Rules) -> EntityMention:
    """Create an entity for a word of an identifier (a name in source code), so that the word is replaced."""
    return _make_mention(word, "word", find_case_pattern(word), find_ending(word.lower(), rules))


def _make_host(host: str) -> EntityMention:
    """Create an entity (``EntityMention``) for the host of a web address, so that the host is replaced."""
    return _make_mention(host, "url", LOWER, "")


def _make_mention(word: str, entity_type: str, case: int, layout: str) -> EntityMention:
    part = MentionPart(entity_type, layout, word.lower(), word)
    return EntityMention(entity_type, case, (part,), EntitySpan(IDENTIFIER_PIECE, case, layout, (), word), word)
