"""Persons that the user lists in the option ``known``: one made-up person replaces all spellings of a listed person.

A person is one line: ``Daniel Keller, D. Keller, Dan, keller@acme.example``. The first spelling names the person. A
spelling has a *form*: which of its words are the first name, the family name or initials. The surrogate (replacement)
of a spelling has the same form: if Daniel Keller becomes Anna Novak, ``D. Keller`` becomes ``A. Novak``.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from textveil.errors import OptionError
from textveil.lazy import LazyPattern
from textveil.text.names.entity_types import EntityMention, MentionPart
from textveil.text.names.own_patterns import is_part_of_word
from textveil.text.names.reply_pairs import RewrittenElement
from textveil.text.names.tokens import HOLDS_OWN, KNOWN_PERSON, REPLACED, EntitySpan, NamesToken
from textveil.text.segmentation import BYTE_ORDER_MARK, LOWER, TITLE, UPPER, fold_word
from textveil.text.word_characters import BOUNDARIES

#: Largest number of persons, of spellings of a person, and of characters and words of a spelling.
MAX_PERSONS, MAX_SPELLINGS, MAX_CHARACTERS, MAX_WORDS = 100_000, 100, 100, 12
#: Forms of a spelling as a whole: an address, a name of an account, and two initials without a mark.
_ADDRESS, _ACCOUNT, _INITIALS = "E", "A", "I"
_WHOLE_FORMS = frozenset((_ADDRESS, _ACCOUNT, _INITIALS))
#: Roles of words: first name, family name; an initial of each; an initial of the first name with a full stop.
_GIVEN, _FAMILY, _GIVEN_INITIAL, _FAMILY_INITIAL, _DOTTED_INITIAL = "GFgfd"
#: Type of the surrogate of each role, on which its restoring depends.
_PART_TYPES = {_ADDRESS: "email", _ACCOUNT: "handle", _INITIALS: "acronym", _GIVEN: "given", _FAMILY: "family"}
#: Types in the tags of forms that have tags of their own.
_TAG_TYPES = {form: _PART_TYPES[form] for form in (_ADDRESS, _ACCOUNT)}
_NAME_JOINS = frozenset(("-", "'"))
_SEPARATORS = re.compile(r"[,|]")
_COMMENT = "#"


def _make_letter_class() -> str:
    """Return the content of a regular expression's ``[...]`` that matches all letters and digits (``BOUNDARIES``)."""
    return "".join(
        f"\\U{first:08x}-\\U{after - 1:08x}" for first, after in zip(BOUNDARIES[::2], BOUNDARIES[1::2], strict=True)
    )


#: A word.
_WORD = LazyPattern(re.compile, lambda: f"[{_make_letter_class()}]+")
#: White space between the words of a name: blanks, and at most one line break.
_BLANKS = re.compile(r"[ \t\u00a0]+|[ \t\u00a0]*(?:\r\n|[\n\r])[ \t\u00a0]*")
_DOTTED = re.compile(r"\.(?:[ \t\u00a0]*|[ \t\u00a0]*(?:\r\n|[\n\r])[ \t\u00a0]*)")
#: Digits and marks of accounts and addresses, and two words with a full stop between.
_NOT_IN_NAMES = LazyPattern(
    re.compile, lambda: r"[0-9@_/\\:+#]|[{letters}]{{2}}\.[{letters}]".format(letters=_make_letter_class())
)
#: An apostrophe that is a letter by its category.
_LETTER_APOSTROPHE = "\u02bc"
_MARKS = str.maketrans({**dict.fromkeys("\u2019\u2018\u00b4", "'"), **dict.fromkeys("\u2010\u2011", "-")})


class _Word(NamedTuple):
    """A word of a text, with its position and its normalized spelling.

    The tuple also has the gap (marks and blanks) before the word, and whether this gap begins with a full stop.
    """

    start: int
    end: int
    folded: str
    gap: str
    follows_stop: bool


@dataclass(frozen=True, kw_only=True)
class KnownSpelling:
    """A spelling of a person in the option ``known``, such as ``D. Keller``.

    Attributes:
        person: The person's first spelling.
        form: The role of each name in the spelling, as one letter each: first name, family name or initial.
        originals: Names that restoring puts into a reply in place of surrogates (made-up names). The first one replaces
            the surrogate of the whole spelling: it is the person's first listed spelling with this form. Each further
            one replaces the surrogate of one role: it is the person's first listed name with this role.
        needs_capital: Whether only text with a capital letter at its start matches, because the spelling is also a
            common word.
    """

    person: str
    form: str
    originals: tuple[str, ...]
    needs_capital: bool


class KnownMatch(NamedTuple):
    """An occurrence of a listed person's name in a text.

    Attributes:
        start: Index of the first character.
        end: Index after the last character.
        spelling: The listed spelling that the text has in this range.
    """

    start: int
    end: int
    spelling: KnownSpelling


@dataclass
class _TrieNode:
    """Node of the prefix tree of listed spellings: child nodes by their next word, and a spelling that ends here."""

    children: "dict[tuple[str, str], _TrieNode]" = field(default_factory=dict)
    spelling: KnownSpelling | None = None
    entry: int = 0


class KnownPersons:
    """Finds the spellings of listed persons in a text, in time linear in its length.

    Args:
        entries: The persons. Each entry lists the spellings of one person, separated by commas or ``|``. Entries that
            are blank or begin with ``#`` do not count.
        common: Common words. A spelling that is a common word and has a capital letter matches only text with a capital
            letter.
        name_lists: Public lists of names. Their first names, particles and titles decide which word of a spelling is
            the first name and which one the family name.

    Raises:
        OptionError: An entry is not supported, or two entries have the same spelling. The message contains only the
            positions of the entries, counted from 1.

    Privacy:
        The object holds the listed names. Its ``repr`` does not contain them.
    """

    def __init__(
        self, entries: Iterable[str], common: Collection[str], name_lists: Mapping[str, Collection[str]]
    ) -> None:
        self._common, self._lists = common, name_lists
        self._root: dict[str, _TrieNode] = {}
        self._single_words = set[str]()
        self.count: int = 0
        number = 0
        for number, entry in enumerate(entries, 1):
            line = entry.removeprefix(BYTE_ORDER_MARK).strip()
            if line and not line.startswith(_COMMENT):
                self._add_person(line, number)
        if number and not self.count:
            raise OptionError("known: the list has no person: write one person per line, with commas between spellings")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    @property
    def single_words(self) -> frozenset[str]:
        """All spellings of listed persons that are a single word, normalized (lower case, NFKC)."""
        return frozenset(self._single_words)

    def _add_person(self, line: str, number: int) -> None:
        self.count += 1
        if self.count > MAX_PERSONS:
            raise OptionError(f"known: more than {MAX_PERSONS:,} persons: use a shorter list")
        spellings = [spelling.strip() for spelling in _SEPARATORS.split(line) if spelling.strip()]
        if len(spellings) > MAX_SPELLINGS:
            raise OptionError(f"known: entry {number} has more than {MAX_SPELLINGS} spellings: remove some")
        words_of_each: list[tuple[str, list[_Word]]] = []
        for spelling in spellings:
            words = [*_iterate_words(spelling)]
            letters = sum(map(str.isalpha, spelling))
            if len(spelling) > MAX_CHARACTERS or not 0 < len(words) <= MAX_WORDS or letters < 2:
                raise OptionError(
                    f"known: entry {number} has a spelling that is not supported: use 2 letters or more, and at most"
                    f" {MAX_CHARACTERS} characters and {MAX_WORDS} words"
                )
            words_of_each.append((spelling, words[self._drop_titles([*_iterate_units(words)])[0][1] :]))
        if not words_of_each:
            raise OptionError(f"known: entry {number} has no spelling: remove its line or write a name")
        person = words_of_each[0][0]
        name = self._find_full_name(words_of_each)
        originals: dict[str, str] = {}
        forms = [self._find_form(spelling, words, name) for spelling, words in words_of_each]
        for (spelling, words), (form, ranges) in zip(words_of_each, forms, strict=True):
            for role, (start, end) in zip(form, ranges, strict=True):
                originals.setdefault(role, spelling[words[start].start : words[end - 1].end])
            originals.setdefault(form, spelling[words[0].start : words[-1].end])
        for (spelling, words), (form, _) in zip(words_of_each, forms, strict=True):
            needs_capital = len(words) == 1 and words[0].folded in self._common and not spelling.islower()
            back = (originals[form], *(originals[role] for role in form))
            made = KnownSpelling(person=person, form=form, originals=back, needs_capital=needs_capital)
            self._add_spelling(words, made, number)

    def _add_spelling(self, words: Sequence[_Word], spelling: KnownSpelling, number: int) -> None:
        node = self._root.setdefault(words[0].folded, _TrieNode())
        for word in words[1:]:
            node = node.children.setdefault((word.gap, word.folded), _TrieNode())
        if len(words) == 1:
            self._single_words.add(words[0].folded)
        if node.spelling is None:
            node.spelling, node.entry = spelling, number
        elif node.entry == number:
            if not spelling.needs_capital:
                node.spelling = replace(node.spelling, needs_capital=False)
        else:
            raise OptionError(
                f"known: entries {node.entry} and {number} have the same spelling: write all spellings of one person in"
                " one entry, and omit spellings that two persons share"
            )

    def _find_full_name(self, words_of_each: Sequence[tuple[str, Sequence[_Word]]]) -> tuple[str, tuple[str, ...]]:
        """Return the first name and the words of the family name of one listed person, in lower case.

        Example: the spellings ``D. Keller`` and ``Daniel Keller`` give ``daniel`` and ``keller``. A name that no
        spelling has is empty in the result.

        Args:
            words_of_each: For each spelling of the person, its text and its words.
        """
        lone = ""
        best: tuple[str, tuple[str, ...]] | None = None
        for spelling, words in words_of_each:
            if not _is_plain_name(spelling):
                continue
            units = [*_iterate_units(words)]
            if len(units) == 1:
                lone = lone or units[0][0]
                continue
            keys = [key for key, *_ in units]
            particles = self._lists["particle"]
            last = next((at for at in range(1, len(keys) - 1) if keys[at] in particles), len(keys) - 1)
            if best is None or (len(best[0]) == 1 and len(keys[0]) > 1):
                best = keys[0], tuple(keys[last:])
        if best is not None:
            return best
        return (lone, ()) if lone in self._lists["given"] else ("", (lone,) if lone else ())

    def _drop_titles(self, units: "list[tuple[str, int, int, bool]]") -> "list[tuple[str, int, int, bool]]":
        """Return the words of a name without titles before it, such as *Dr*.

        In a text, a title is an entity of its own, not a part of the name.
        """
        titles = self._lists["title"]
        while len(units) > 1 and units[0][0] in titles:
            units = units[1:]
        return units

    def _find_form(
        self, spelling: str, words: Sequence[_Word], name: tuple[str, tuple[str, ...]]
    ) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return which words of a spelling are the first name, the family name or initials.

        Args:
            spelling: The spelling.
            words: The words of the spelling.
            name: First name and words of the family name, as ``_find_full_name`` returns them.

        Returns:
            One letter for each role in order, such as ``GF`` for a first name and a family name; and for each role, the
            start and the end of the range of its words. An email address, an account name and joined initials have a
            single role.
        """
        whole = ((0, len(words)),)
        if not _is_plain_name(spelling):
            return _ADDRESS if "@" in spelling[1:] else _ACCOUNT, whole
        given, family = name
        units = [*_iterate_units(words)]
        keys = [key for key, *_ in units]
        first, last = units[0], units[-1]
        if len(units) == 1:
            if spelling.isupper() and len(keys[0]) == 2 and family and keys[0] == given[:1] + family[0][:1]:
                return _INITIALS, whole
            is_family = bool(family) and (not given or keys[0] == family[-1])
            return _FAMILY if is_family else _GIVEN, (first[1:3],)
        size = len(family)
        if tuple(keys) == family:
            return _FAMILY, ((first[1], last[2]),)
        if family and tuple(keys[-size:]) == family:
            return _get_role(first) + _FAMILY, (first[1:3], (units[-size][1], last[2]))
        if family and tuple(keys[:size]) == family:
            return _FAMILY + _get_role(units[size]), ((first[1], units[size - 1][2]), units[size][1:3])
        end = _FAMILY_INITIAL if len(keys[-1]) == 1 else _FAMILY
        return _get_role(first) + end, (first[1:3], last[1:3])

    def iterate_candidates(self, text: str) -> "KnownCandidates":
        """Create a search object that finds the spellings of all listed persons in one text."""
        return KnownCandidates(text, self._root)


class KnownCandidates:
    """Finds the names of listed persons in one text, from left to right.

    Args:
        text: The text.
        root: The roots of the prefix tree of listed spellings, by the first word of a spelling.
    """

    def __init__(self, text: str, root: Mapping[str, _TrieNode]) -> None:
        self._text, self._root = text.replace(_LETTER_APOSTROPHE, "'"), root
        self._words = [*_iterate_words(text)]
        self._next = 0

    def find_next(self, start: int) -> KnownMatch | None:
        """Return the next name that begins at ``start`` or later; ``None`` if there is none.

        From call to call, ``start`` must not decrease.
        """
        while self._next < len(self._words):
            word = self._words[self._next]
            if word.start >= start and word.folded in self._root and (match := self._find_longest(self._next)):
                return match
            self._next += 1
        return None

    def _find_longest(self, index: int) -> KnownMatch | None:
        first = self._words[index]
        if first.start and is_part_of_word(self._text[first.start - 1]):
            return None
        node, match = self._root[first.folded], None
        for word in (None, *self._words[index + 1 : index + MAX_WORDS]):
            if word is not None:
                child = node.children.get((word.gap, word.folded))
                if child is None:
                    break
                node = child
            end = first.end if word is None else word.end
            spelling = node.spelling
            if spelling is None or (end < len(self._text) and is_part_of_word(self._text[end])):
                continue
            if not spelling.needs_capital or self._text[first.start].isupper():
                match = KnownMatch(first.start, end, spelling)
        return match


def make_known_token(match: KnownMatch, text: str) -> NamesToken:
    """Create the token that represents a listed person's name in a text.

    The key of the token contains the listed person, and the spellings that restoring puts into replies.
    """
    spelling = match.spelling
    person, form, originals = spelling.person, spelling.form, spelling.originals
    case = LOWER if form in (_ADDRESS, _ACCOUNT) else _find_name_case(text)
    return NamesToken(REPLACED, text, "\0".join(("", person, *originals)), case, KNOWN_PERSON, form, HOLDS_OWN)


def make_known_mention(span: EntitySpan) -> EntityMention:
    """Return the name of a listed person as an entity (``EntityMention``) with two parts: first and family name.

    Both parts have the same text for all spellings of a person, so all spellings get the same replacement.
    """
    person = span.tokens[0].key.split("\0")[1]
    folded = f"\0{' '.join(word.folded for word in _iterate_words(person))}"
    parts = tuple(MentionPart(kind, "", folded, span.text) for kind in ("given", "family"))
    name = span.text if span.layout in _TAG_TYPES else _write_case(person, span.case)
    return EntityMention("person", span.case, parts, span, name)


def describe_known_tag(mention: EntityMention) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return what determines the tag of a listed person: the type in the tag, such as ``person``, and a key.

    Mentions with the same type and key get the same tag. The key of a name identifies the person, so all names of a
    person have one tag. An email address or the name of an account has a key and a type of its own, as in
    ``[email 1]``, since it must come back exactly.

    Args:
        mention: The entity: the result of ``make_known_mention``.
    """
    kind = _TAG_TYPES.get(mention.span.layout)
    if kind is None:
        return mention.entity_type, mention.equality_key
    spelling = "".join(word.gap + word.folded for word in _iterate_words(mention.span.text))
    return kind, ((kind, "", f"{mention.parts[0].folded}\0{spelling}"),)


def join_known_surrogates(mention: EntityMention, surrogates: tuple[str, ...]) -> RewrittenElement:
    """Return the entity of a listed person with its replacement, in the form of the original spelling.

    Args:
        mention: The entity: the result of ``make_known_mention``.
        surrogates: The surrogates (replacements) of the first name and the family name.
    """
    text, form = mention.span.text, mention.span.layout
    given, family = surrogates
    outputs, parts = list[str](), list[MentionPart]()
    whole, *of_roles = (_write_case(original, mention.case) for original in mention.span.tokens[0].key.split("\0")[2:])
    for role, original in zip(form, of_roles, strict=True):
        source = family if role in (_FAMILY, _FAMILY_INITIAL) else given
        if role in _WHOLE_FORMS:
            name = f"{_fold_letters(given)}.{_fold_letters(family)}"
            outputs.append({_ADDRESS: f"{name}@example.com", _ACCOUNT: name}.get(role, given[:1] + family[:1]))
        else:
            outputs.append(source if role in (_GIVEN, _FAMILY) else source[:1])
        kind = _PART_TYPES.get(role, "initial")
        parts.append(MentionPart(kind, "", original, whole if len(form) == 1 else original))
    dots = ["." if role == _DOTTED_INITIAL else "" for role in form]
    output = " ".join(map("".join, zip(outputs, dots, strict=True)))
    return RewrittenElement(output, text, mention._replace(parts=tuple(parts), name_text=whole), tuple(outputs))


def _write_case(original: str, case: int) -> str:
    """Return a listed name as the user wrote it; a name without capitals in the case pattern of the text.

    So ``DANIEL KELLER`` comes back into a reply as the listed ``Daniel Keller``.
    """
    if case == LOWER or any(map(str.isupper, original)):
        return original
    return original.upper() if case == UPPER else _WORD.sub(_capitalize, original)


def _capitalize(match: "re.Match[str]") -> str:
    return match[0][:1].upper() + match[0][1:]


def _find_name_case(text: str) -> int:
    """Return the case pattern of a name: ``UPPER``, ``TITLE`` or ``LOWER``.

    Initials count only in a name that consists of initials.
    """
    words = [word for word in _WORD.findall(text) if len(word) > 1] or [text]
    if any(not word.isupper() for word in words):
        return TITLE if any(any(map(str.isupper, word)) for word in words) else LOWER
    return UPPER


def _iterate_words(text: str) -> Iterator[_Word]:
    """Yield the words of a text with their positions and gaps (``_Word``).

    A full stop after a single letter is ignored, so ``D. Keller`` equals ``D Keller``.
    """
    text, before, is_letter = text.replace(_LETTER_APOSTROPHE, "'"), 0, False
    for match in _WORD.finditer(text):
        start, end = match.span()
        gap = text[before:start]
        if _BLANKS.fullmatch(gap) or (is_letter and _DOTTED.fullmatch(gap)):
            gap = " "
        elif gap not in ("-", "'", ".", "@"):
            gap = gap.translate(_MARKS)
        yield _Word(start, end, fold_word(match[0]), gap, text[before : before + 1] == ".")
        before, is_letter = end, end - start == 1


def _iterate_units(words: Sequence[_Word]) -> Iterator[tuple[str, int, int, bool]]:
    """Yield the units of a name: a word, together with words that a hyphen or an apostrophe joins to it.

    Yields:
        The normalized spelling of the unit, the range of its words, and whether a full stop follows.
    """
    start = 0
    for end in range(1, len(words) + 1):
        if end < len(words) and words[end].gap in _NAME_JOINS:
            continue
        key = "".join(f"{word.gap if at else ''}{word.folded}" for at, word in enumerate(words[start:end]))
        yield key, start, end, end < len(words) and words[end].follows_stop
        start = end


def _is_plain_name(spelling: str) -> bool:
    """Return whether a spelling has only letters and marks that are usual in names."""
    return _NOT_IN_NAMES.search(spelling) is None


def _get_role(unit: tuple[str, int, int, bool]) -> str:
    return _GIVEN if len(unit[0]) > 1 else _DOTTED_INITIAL if unit[3] else _GIVEN_INITIAL


def _fold_letters(name: str) -> str:
    return "".join(filter(str.isalpha, name)).lower()
