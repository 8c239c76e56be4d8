"""Rules of a language about inflected forms (``Kellers``) and elided forms (``d'Anna``) of surrogates in replies.

A surrogate is the replacement of a hidden string. A reply of a model may contain the surrogate in another form. These
rules recognize such forms, so that the original can replace them. A rules file has the rules in its object
``optional.replies`` (docs/format-rules.md). A saved file with surrogates and originals contains a copy of the rules, so
its use needs no language pack.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

#: Keys of ``optional.replies``, each with an example of its JSON type: a list, or an object whose values are lists.
REPLY_MODEL: Mapping[str, Any] = {
    "elisions": [],
    "inflections": {"plural": []},
    "silent_letters": [],
    "vowels": [],
    "word_inflections": {"plural": []},
}
#: Keys of the rules in a saved mapping, which also has the clitics of the language.
SAVED_REPLY_MODEL: Mapping[str, Any] = {"clitics": [], **REPLY_MODEL}
_ENDINGS = re.compile(r"(?:[^\W\d_]+ )?[^\W\d_]*'?[^\W\d_]*")
_PATTERNS = {
    "clitics": re.compile(r"[a-z]+'"),
    "elisions": re.compile(r"[a-z]+'(?: [^\W\d_]+)+"),
    "silent_letters": re.compile(r"[^\W\d_]"),
    "vowels": re.compile(r"[^\W\d_]"),
}

#: Pairs of strings that define an inflection: the ending of a word, and the ending that replaces it.
Endings = tuple[tuple[str, str], ...]


def _check_entries(entries: Iterable[str], pattern: "re.Pattern[str]", key: str) -> None:
    if not all(map(pattern.fullmatch, entries)):
        raise ValueError(f"{key}: an entry is malformed")


def _parse_endings(rows: Iterable[str], key: str) -> Endings:
    """Parse the rules of an inflection, such as a plural, into pairs of an old and a new word ending.

    Args:
        rows: Rows such as ``z ces``, which replaces the ending ``z`` by ``ces``. A row without an old ending, such as
            ``s``, appends its ending to words that have none of the old endings of earlier rows.
        key: Name of the list for the error message.

    Raises:
        ValueError: A row is malformed.
    """
    _check_entries(rows, _ENDINGS, key)
    found = tuple(row.rpartition(" ") for row in rows)
    return tuple((ending, replacement) for ending, _, replacement in found)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplyRules:
    """Rules for the inflected and elided forms in which a reply may contain a surrogate (replacement).

    For example, a reply may have ``Kellers`` or ``d'Anna`` for the surrogates ``Keller`` and ``Anna``.

    English needs none of these rules, because the module ``textveil.text.inflections`` recognizes English plurals in
    replies of any language.

    Attributes:
        data: The object ``optional.replies``, with the additional list ``clitics``, without empty values.
        clitics: Short words with an apostrophe, such as ``d'``, that may precede a surrogate.
        elisions: For each clitic that abbreviates another word, the spellings of that word; for example, ``d'``
            abbreviates ``de``.
        vowels: Letters before which these clitics replace the other word.
        silent_letters: Letters before which the spelling alone does not decide on the clitic.
        inflections: For each inflection of all surrogates, such as ``genitive``, its endings.
        word_inflections: For each inflection of surrogates in lower case only, its endings.

    >>> rules = make_reply_rules({"inflections": {"genitive": ["s s'", "s"]}})
    >>> rules.inflect("Keller", "genitive"), rules.inflect("Hans", "genitive")
    ('Kellers', "Hans'")
    """

    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    clitics: frozenset[str] = frozenset()
    elisions: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    vowels: frozenset[str] = frozenset()
    silent_letters: frozenset[str] = frozenset()
    inflections: Mapping[str, Endings] = field(default_factory=dict[str, Endings])
    word_inflections: Mapping[str, Endings] = field(default_factory=dict[str, Endings])

    def list_inflections(self, output: str) -> tuple[str, ...]:
        """Return the names of the inflections, such as ``genitive``, that apply to a surrogate (replacement).

        The inflections in ``word_inflections`` apply only to surrogates in lower case, all others to every surrogate.
        """
        return (*self.inflections, *(self.word_inflections if output.islower() else ()))

    def inflect(self, word: str, name: str) -> str:
        """Return the inflected form of a word; the word itself if the inflection has no rule for its ending.

        The first rule whose old ending matches the word replaces this ending. For a word in upper case, the new ending
        is also in upper case.

        Args:
            word: The word.
            name: Name of the inflection.
        """
        endings = self.inflections if name in self.inflections else self.word_inflections
        for ending, replacement in endings[name]:
            stem = len(word) - len(ending)
            if stem > 0 and word[stem:].lower() == ending:
                return word[:stem] + (replacement.upper() if len(word) > 1 and word.isupper() else replacement)
        return word

    def is_elided_before(self, word: str) -> bool | None:
        """Return whether a short word before this word loses its last vowel, as French ``de`` does in ``d'Anna``.

        Returns:
            Whether the word begins with a vowel. ``None`` if elision does not depend on the spelling alone, as before a
            silent letter, or if the word does not begin with a letter.
        """
        letter = unicodedata.normalize("NFKD", word[:1]).lower()[:1]
        return None if not letter.isalpha() or letter in self.silent_letters else letter in self.vowels


#: Empty rules, such as those of English.
NO_REPLY_RULES = ReplyRules()


def make_reply_rules(data: Mapping[str, Any]) -> ReplyRules:
    """Check and build the rules for inflected and elided replacements in replies, such as German ``Kellers``.

    Args:
        data: The object ``optional.replies``, with the additional list ``clitics``. A missing key counts as empty.

    Raises:
        ValueError: An entry is malformed. The message contains the key of the entry.
    """
    data = {key: data[key] for key in SAVED_REPLY_MODEL if data.get(key)}
    for key, pattern in _PATTERNS.items():
        _check_entries(data.get(key, ()), pattern, key)
    of_all, of_words = (
        {name: _parse_endings(rows, key) for name, rows in data.get(key, {}).items()}
        for key in ("inflections", "word_inflections")
    )
    if not of_all.keys().isdisjoint(of_words):
        raise ValueError("word_inflections: an inflection has the same name as an entry of inflections: rename it")
    return ReplyRules(
        data=data,
        clitics=frozenset(data.get("clitics", ())),
        elisions={first: words for first, *words in map(str.split, data.get("elisions", ()))},
        vowels=frozenset(data.get("vowels", ())),
        silent_letters=frozenset(data.get("silent_letters", ())),
        inflections=of_all,
        word_inflections=of_words,
    )


def parse_reply_rules(data: object) -> ReplyRules | None:
    """Parse saved rules for inflected replacements in replies, such as German ``Kellers``; ``None`` if malformed."""
    if not isinstance(data, dict) or not all(
        key in SAVED_REPLY_MODEL and _has_type(value, SAVED_REPLY_MODEL[key]) for key, value in data.items()
    ):
        return None
    try:
        return make_reply_rules(data) if data else NO_REPLY_RULES
    except ValueError:
        return None


def _has_type(value: object, model: object) -> bool:
    """Return whether a JSON value has the same type as the example ``model``, to check the shape of a saved file.

    If ``model`` is a list, the value must be a list of strings. If ``model`` is an object, the value must be an object
    whose values are lists of strings.
    """
    if isinstance(model, dict):
        return isinstance(value, dict) and all(_has_type(entry, []) for entry in value.values())
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def join_reply_rules(rules: Iterable[ReplyRules]) -> ReplyRules:
    """Join the rules of several languages for inflected replacements in replies, such as German ``Kellers``.

    The joined rules recognize the forms of all these languages.
    """
    joined: dict[str, Any] = {}
    for number, of in enumerate(rules):
        for key, value in of.data.items():
            if isinstance(value, Mapping):  # languages may give different inflections the same name
                joined[key] = joined.get(key, {}) | {name + "_next" * number: rows for name, rows in value.items()}
            else:
                joined[key] = list(dict.fromkeys([*joined.get(key, ()), *value]))
    return make_reply_rules(joined)
