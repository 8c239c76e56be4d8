"""Detection of JSON keys that are public names of fields, such as ``order_id``. These keys are sent unchanged.

The name of a field consists of common words and field words (words of published APIs). Any other key, such as the login
name ``flast``, may be the name of a person, an account or a secret, and is hidden.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from textveil.text.identifiers import split_identifier
from textveil.text.names.conversation_state import make_assigned_mention
from textveil.text.names.read import NamesReader, ReadText, ReadTextStream

_SEPARATORS = frozenset("_.- $@:")
_SEPARATED_PART = re.compile(r"[^_.\- $@:]+")
#: Field names that contain a single letter, which other field names must not; and the prefix of some HTTP headers.
_WHOLE_KEYS, _HEADER_PREFIX = frozenset(("top_k", "top_p", "min_p", "n_results")), "x-"
_MAX_CHARACTERS, _MAX_DIGITS, _MAX_SINGLE_LETTERS = 64, 2, 2


@cache
def load_field_words() -> frozenset[str]:
    """Return the words of published APIs that may be in the public name of a JSON field, besides common words.

    For example, ``sha256`` is not a common word, and ``max`` is also the name of a person.
    """
    return frozenset(Path(__file__).with_name("field-words.txt").read_text("ascii").split())


class FieldNames:
    """Detector of JSON keys that are public names of fields, such as ``order_id``.

    >>> from textveil.conversation import FieldNames
    >>> sorted(FieldNames({"order"}, {"anna"}, set()).find_fields(["order_id", "anna", "anna_order"]))
    ['order_id']

    Args:
        common: Common words of the language.
        given: First names.
        family: Family names.
        allowed: Words that the user wants to be sent unchanged.
        denied: Words that the user wants to hide.
    """

    def __init__(
        self,
        common: Collection[str],
        given: Collection[str],
        family: Collection[str],
        allowed: Collection[str] = (),
        denied: Collection[str] = (),
    ) -> None:
        self._common, self._given, self._family = common, given, family
        self._allowed, self._denied, self._field_words = allowed, denied, load_field_words()
        #: Keys of the last object and the result for them. This cache helps because the rows of a list have equal keys.
        self._last_result: tuple[tuple[str, ...], frozenset[str]] = (), frozenset()

    def find_fields(self, keys: Collection[str]) -> frozenset[str]:
        """Return the keys of one JSON object that are public names of fields, such as ``order_id``.

        A key is a field if it passes ``is_field``. For keys of one word, the method also checks the whole object,
        because an object may have names of persons as keys: beside the key ``anna``, the keys ``max`` and ``page`` are
        probably persons. A *name* is here a word on the lists of first names and family names. A *field word* is a word
        of published APIs (``load_field_words``).

        Rules for keys of one lower-case word:

        * If more than half of all keys are names, and one of these names fails ``is_field``, none of the names is a
          field.
        * If more than half of all keys are names that fail ``is_field``, a key of one word is a field only if it is a
          field word and no name.

        Rules for keys of one word with a capital letter, if more than half of all keys are such words:

        * If one of them fails ``is_field`` and is a name, each of them is a field only if it is a field word and no
          name.
        * If all keys are such words and one of them fails ``is_field``, each of them is a field only if it is a field
          word and no name.
        * If all keys are such words, and all that pass ``is_field`` are first names, no key is a field.
        """
        keys = tuple(keys)
        last = self._last_result  # other threads may replace it
        if keys == last[0]:
            return last[1]
        fields = frozenset(filter(self.is_field, keys))
        single_words = [key for key in keys if key.isalpha() and len(split_identifier(key)) == 1]
        small, capital = (
            [key for key in single_words if key.islower()],
            [key for key in single_words if not key.islower()],
        )
        names = self._find_small_names(small, fields, len(keys)) | self._find_capital_names(capital, fields, len(keys))
        fields = fields - names
        self._last_result = keys, fields
        return fields

    def _find_small_names(self, words: Sequence[str], fields: Collection[str], count: int) -> set[str]:
        persons = [word for word in words if word not in fields and self._is_name(word)]
        if not persons or 2 * sum(map(self._is_name, words)) <= count:
            return set()
        return {word for word in words if self._may_be_name(word, is_strict=2 * len(persons) > count)}

    def _find_capital_names(self, words: Sequence[str], fields: Collection[str], count: int) -> set[str]:
        if 2 * len(words) <= count:
            return set()
        replaced = [word for word in words if word not in fields]
        if all(self._is_first_name(word.lower()) for word in words if word in fields) and len(words) == count:
            return {*words}  # an object with names such as ``Max`` as its only keys
        if not (any(self._is_name(word.lower()) for word in replaced) or (replaced and len(words) == count)):
            return set()
        return {word for word in words if self._may_be_name(word.lower(), is_strict=True)}

    def is_field(self, key: str) -> bool:
        """Return whether all words of a JSON key are common words or words of APIs, and none is a person's name.

        The key may have one group of at most two digits, and the digits of an API's word such as ``sha256``. The key
        may have single letters only if the whole key consists of one or two letters, such as ``x`` and ``k_v``, because
        a single letter may be the initial of a person. A common word that is also a name, such as ``grace`` or
        ``Page``, counts as a person if it is the whole key, if it is a capitalized part of the key, or beside another
        name.
        """
        if not key.isascii() or len(key) > _MAX_CHARACTERS:
            return False
        if not all(character.isalnum() or character in _SEPARATORS for character in key):
            return False
        if key in _WHOLE_KEYS:
            return not any(word in self._denied for word in key.split("_"))
        words = self._join_parts(
            split_identifier(key[len(_HEADER_PREFIX) :] if key.lower().startswith(_HEADER_PREFIX) else key)
        )
        if sum(map(len, filter(str.isdigit, words))) <= _MAX_DIGITS and sum(map(str.isdigit, words)) == 1:
            words = [word for word in words if not word.isdigit()]
        small = [word.lower() for word in words]
        if not small or not all(map(self._is_known, small)):
            return False
        single = [word for word in small if len(word) == 1]
        if single:
            return len(single) == len(small) <= _MAX_SINGLE_LETTERS
        if len(small) == 1 and self._is_first_name(small[0]) and small[0] not in self._field_words:
            return False
        if any(self._is_capital_name(part) for part in _SEPARATED_PART.findall(key)):
            return False
        return not any(map(self._is_person, small, small[1:]))

    def _is_known(self, word: str) -> bool:
        if word in self._denied:
            return False
        return len(word) == 1 or word in self._field_words or word in self._common or word in self._allowed

    def _is_first_name(self, word: str) -> bool:
        return word in self._given and word not in self._allowed

    def _is_name(self, word: str) -> bool:
        return (word in self._given or word in self._family) and word not in self._allowed

    def _is_capital_name(self, part: str) -> bool:
        """Return whether a part of a JSON key is a capitalized name of a person, and no word of published APIs."""
        small = part.lower()
        return not part.islower() and self._is_name(small) and small not in self._field_words

    def _may_be_name(self, word: str, *, is_strict: bool) -> bool:
        """Return whether to hide a key of one word in an object whose other keys are names.

        Args:
            word: The key in lower case.
            is_strict: Whether to hide all words except words of published APIs. If not, hide only words on the lists of
                names.
        """
        return word not in self._allowed and (self._is_name(word) or (is_strict and word not in self._field_words))

    def _is_person(self, *words: str) -> bool:
        """Return whether two words are a first name and a family name, in any order.

        Two words of published APIs, such as ``max`` and ``price``, are not a person.
        """
        if all(word in self._field_words for word in words) or any(word in self._allowed for word in words):
            return False
        return any(given in self._given and family in self._family for given, family in (words, words[::-1]))

    def _join_parts(self, words: Sequence[str]) -> list[str]:
        """Join adjacent parts of a JSON key that together are a word of published APIs, such as ``i18n`` and ``ETag``.

        The caller has split the key at digits and capitals. The method joins only parts that end or begin with a digit,
        and a single capital letter with the part after it.
        """
        joined: list[str] = []
        for word in words:
            last = joined[-1] if joined else ""
            is_part = word.isdigit() or last[-1:].isdigit() or (len(last) == 1 and last.isupper())
            if is_part and (last + word).lower() in self._field_words:
                joined[-1:] = [last + word]
            else:
                joined.append(word)
        return joined


class KeyReader(NamesReader):
    """Finder of the words to hide in JSON keys that are not public names of fields (such as ``order_id``).

    A key of one word is always hidden. If the rules for texts would leave this word unchanged, it is hidden like a
    first name.

    Args:
        reader: Finder of the words to hide in texts. The new object shares the state of this object.
    """

    def __init__(self, reader: NamesReader) -> None:
        vars(self).update(vars(reader.without_corrections()))

    def read_texts(self, texts: Sequence[str]) -> list[ReadText]:
        """Find the words to hide in each of several JSON keys. Each key is read as a separate text."""
        return [
            ReadText([make_assigned_mention("given", text)], 0) if _is_kept_word(text, read) else read
            for text, read in zip(texts, super().read_texts(texts), strict=True)
        ]

    def stream_text(self, text: str) -> ReadTextStream:
        """Read one JSON key in steps, and return a stream of its unchanged tokens and of the words to hide."""
        return ReadTextStream((), iter(self.read_texts([text])[0].elements))

    def is_forced(self, key: str) -> bool:
        """Return whether a JSON key is hidden only because it is a key: the rules for texts would leave it unchanged.

        Even equal keys of this kind must get different surrogates (replacements). With equal surrogates, a model could
        test any number of guesses of a key.
        """
        return _is_kept_word(key, super().read_texts([key])[0])


def _is_kept_word(text: str, read: ReadText) -> bool:
    return text.isalpha() and all(isinstance(entry, str) for entry in read.elements)
