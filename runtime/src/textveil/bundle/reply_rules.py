"""Rules of a language for restoring: inflected and elided forms of a surrogate.

The object ``optional.replies`` of a file of rules has them (docs/format-rules.md). A saved mapping has a copy, so
restoring needs no language pack.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

#: Keys of ``optional.replies``, each with a model of its value.
REPLY_MODEL: Mapping[str, Any] = {
    "elisions": [],
    "inflections": {"plural": []},
    "silent_letters": [],
    "vowels": [],
    "word_inflections": {"plural": []},
}
#: The same in a saved mapping, which has the clitics of the language too.
SAVED_REPLY_MODEL: Mapping[str, Any] = {"clitics": [], **REPLY_MODEL}
_ENDINGS = re.compile(r"(?:[^\W\d_]+ )?[^\W\d_]*'?[^\W\d_]*")
_PATTERNS = {
    "clitics": re.compile(r"[a-z]+'"),
    "elisions": re.compile(r"[a-z]+'(?: [^\W\d_]+)+"),
    "silent_letters": re.compile(r"[^\W\d_]"),
    "vowels": re.compile(r"[^\W\d_]"),
}

#: Endings of an inflection, each with the ending that takes its place.
Endings = tuple[tuple[str, str], ...]


def _check_entries(entries: Iterable[str], pattern: "re.Pattern[str]", key: str) -> None:
    if not all(map(pattern.fullmatch, entries)):
        raise ValueError(f"{key}: an entry is malformed")


def _parse_endings(rows: Iterable[str], key: str) -> Endings:
    """Return the endings of rows such as ``z ces``, or ``s`` for words with none of the endings before."""
    _check_entries(rows, _ENDINGS, key)
    found = tuple(row.rpartition(" ") for row in rows)
    return tuple((ending, replacement) for ending, _, replacement in found)


class ReplyRules:
    """The inflected and elided forms of surrogates that a reply in a language may contain.

    English has none of these rules: its plurals are code (``textveil.text.inflections``), and count in any language.

    Args:
        data: The object ``optional.replies`` with the list ``clitics``. Missing keys are empty.

    Raises:
        ValueError: An entry is malformed. The message has its key.

    Attributes:
        data: The argument ``data``, without empty values.
        clitics: Words with their apostrophe, such as ``d'``, that may precede a surrogate.
        elisions: For each clitic that is another word without its last vowel, the spellings of that word
            (``d'`` of ``de``).

    >>> rules = ReplyRules({"inflections": {"genitive": ["s s'", "s"]}})
    >>> rules.inflect("Keller", "genitive"), rules.inflect("Hans", "genitive")
    ('Kellers', "Hans'")
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data: dict[str, Any] = {key: data[key] for key in SAVED_REPLY_MODEL if data.get(key)}
        for key, pattern in _PATTERNS.items():
            _check_entries(self.data.get(key, ()), pattern, key)
        self.clitics: frozenset[str] = frozenset[str](self.data.get("clitics", ()))
        self.elisions: dict[str, list[str]] = {
            first: words for first, *words in map(str.split, self.data.get("elisions", ()))
        }
        self._vowels, self._silent = (frozenset[str](self.data.get(key, ())) for key in ("vowels", "silent_letters"))
        of_all, of_words = (
            {name: _parse_endings(rows, key) for name, rows in self.data.get(key, {}).items()}
            for key in ("inflections", "word_inflections")
        )
        if not of_all.keys().isdisjoint(of_words):
            raise ValueError("word_inflections: a name is in inflections too")
        self._endings, self._names, self._all_names = of_all | of_words, tuple(of_all), (*of_all, *of_words)

    def list_inflections(self, output: str) -> tuple[str, ...]:
        """Return the names of a surrogate's inflections: those of ``word_inflections`` only if it is in lower case."""
        return self._all_names if output.islower() else self._names

    def inflect(self, word: str, name: str) -> str:
        """Return an inflected form of a word: the first listed ending that the word has, replaced in the same case."""
        for ending, replacement in self._endings[name]:
            stem = len(word) - len(ending)
            if stem > 0 and word[stem:].lower() == ending:
                return word[:stem] + (replacement.upper() if len(word) > 1 and word.isupper() else replacement)
        return word

    def is_elided_before(self, word: str) -> bool | None:
        """Return whether a word before this word loses its last vowel; ``None`` if the spelling does not tell."""
        letter = unicodedata.normalize("NFKD", word[:1]).lower()[:1]
        return None if not letter.isalpha() or letter in self._silent else letter in self._vowels


#: The rules of English.
NO_REPLY_RULES = ReplyRules({})


def parse_reply_rules(data: object) -> ReplyRules | None:
    """Return the rules that the JSON of a saved mapping contains; ``None`` if they are malformed."""
    if not isinstance(data, dict) or not all(
        key in SAVED_REPLY_MODEL and _has_type(value, SAVED_REPLY_MODEL[key]) for key, value in data.items()
    ):
        return None
    try:
        return ReplyRules(data) if data else NO_REPLY_RULES
    except ValueError:
        return None


def _has_type(value: object, model: object) -> bool:
    """Return whether a value has the type of its model: a list of texts, or an object whose values are such lists."""
    if isinstance(model, dict):
        return isinstance(value, dict) and all(_has_type(entry, []) for entry in value.values())
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def join_reply_rules(rules: Iterable[ReplyRules]) -> ReplyRules:
    """Return the rules of several languages as one."""
    joined: dict[str, Any] = {}
    for number, of in enumerate(rules):
        for key, value in of.data.items():
            if isinstance(value, Mapping):  # languages may give different inflections the same name
                joined[key] = joined.get(key, {}) | {name + "_next" * number: rows for name, rows in value.items()}
            else:
                joined[key] = list(dict.fromkeys([*joined.get(key, ()), *value]))
    return ReplyRules(joined)
