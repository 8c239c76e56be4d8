"""Classifier of slots by entity type (pass 3 of the mode ``names``).

It reads the string of the slot and the public template before the slot. The type is a part of the template. The lists
of names therefore decide only the type of a surrogate, never whether a string is replaced.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from textveil.bundle.rules import Rules
from textveil.lazy import ENTITY_TYPES, load_data
from textveil.text.names.lexicon import ending
from textveil.text.names.slots import GROUP, LONE_INITIAL, RUN, TITLE_BEFORE, Slot
from textveil.text.names.strings import CARD_DIGITS, number_kind
from textveil.text.names.tokens import AT_SENTENCE, DOTTED, DRAWN, INITIAL, INITIALS, Token, new
from textveil.text.segmentation import UPPER, case_pattern, key

#: Lists of whole names, in order of precedence: the first list that contains a run gives its type.
_TYPES = load_data(ENTITY_TYPES)
_WHOLE = tuple(_TYPES["whole"])
#: Lists of words that end a name, each with the type of such a name.
_LAST = tuple((name, kind) for name, kind in _TYPES["last"])
_LONGEST_ACRONYM = 5
#: A common word in capitals that is shorter has the type ``acronym``, for example "WHO".
_SHORTEST_WORD = 4
#: List of first names that only this module reads. It affects the type of a slot, never whether a string is replaced.
_ABROAD = _TYPES["first_names_only"]
#: Lists of whole names that exclude persons: a run with a word of one of them names no person.
_NO_PERSONS = frozenset(_TYPES["no_persons"])
#: Lists of the first and the last word of a run that may equally be the name of a person.
_PERSONS = frozenset((("given", "given"), ("given", "family")))
#: Replacement types for names in a document without capitals. Surrogates of ``organization`` and ``place`` may consist
#: of common words, which a second pass over the output would keep.
_SMALL = _TYPES["without_capitals"]
#: Types of runs that name a person. Common words before the name belong to none of their parts.
_OF_PERSONS = ("person", "given", "family")
#: Types without a list of members. An unlisted string may be a name, so ``keep`` never covers these types.
UNLISTED = frozenset(_TYPES["unlisted"])
_BETWEEN = re.compile(r"[^0-9]+")
#: Types that a caller may assign to a whole text.
CALLED_BY_OTHERS = frozenset(("person", "city", "organization", "group", "word"))
#: Name of each type in tags and options: one name for the types of personal names, and for types that a reader need not
#: distinguish. Types that are not in this table keep their own name.
CALLED: dict[str, str] = _TYPES["called"]


class Part(NamedTuple):
    """A part of a slot with a surrogate of its own.

    ``kind`` is its type, ``layout`` the public part of its layout, ``folded`` its case-folded string and ``text`` its
    spelling.
    """

    kind: str
    layout: str
    folded: str
    text: str


class Mention(NamedTuple):
    """A slot with its type.

    The template contains the types, the case pattern and which parts are equal. ``named`` is the string of the slot
    without the common words before the name of a person.
    """

    kind: str
    case: int
    parts: tuple[Part, ...]
    slot: Slot
    named: str

    @property
    def shown(self) -> tuple[object, ...]:
        """Public part of the mention, as the template contains it."""
        slot = self.slot
        parts = ((part.kind, part.layout) for part in self.parts)
        return (self.kind, self.case, slot.layout if slot.kind == RUN else "", slot.titles, slot.before, *parts)

    @property
    def equal(self) -> tuple[tuple[str, ...], ...]:
        """Key of the tag of a mention; two mentions with equal keys share a tag.

        It has the type, the layout and the folded string of each part, in order.
        """
        return tuple(part[:3] for part in self.parts)


def as_first_name(mention: Mention) -> Mention:
    """Return the mention of a family name as the mention of a first name."""
    (part,) = mention.parts
    return mention._replace(kind="given", parts=(part._replace(kind="given"),))


class FirstNames:
    """Tracker that links single names to the first names of persons earlier in a document."""

    def __init__(self) -> None:
        self._given, self._family = set[str](), set[str]()

    def link(self, entries: Iterable[str | Mention]) -> Iterator[str | Mention]:
        """Yield the entries with single family names linked to earlier first names.

        A single family name becomes a first name if the same string was a first name, and no family name, earlier in
        the document.
        """
        for entry in entries:
            if isinstance(entry, str) or entry.kind not in _OF_PERSONS:
                yield entry
                continue
            name = entry.parts[0].folded
            linked = entry.kind == "family" and name in self._given and name not in self._family
            found = as_first_name(entry) if linked else entry
            for part in found.parts:
                if part.kind != "initial":
                    (self._given if part.kind == "given" else self._family).add(part.folded)
            yield found


class Piece(NamedTuple):
    """A part of a text: its output, its original and its mention (``None`` for kept text).

    ``parts`` has the surrogate of each part of the mention. It is empty if the output is a tag or empty.
    """

    output: str
    original: str
    mention: Mention | None = None
    parts: tuple[str, ...] = ()


def called(kind: str, text: str) -> Mention:
    """Return a non-blank text as one mention of the given type, without reading the text.

    ``kind`` is one of ``CALLED_BY_OTHERS``. The text only gives the case pattern and, for a person, the number of
    parts.
    """
    words = text.split() if kind == "person" else [text]
    kinds = ["given"] * (len(words) - 1) + ["family"] if kind == "person" else [kind]
    parts = tuple(Part(kind, "", key(word), word) for kind, word in zip(kinds, words, strict=True))
    case = case_pattern(text)
    return Mention(kind if len(parts) > 1 else kinds[0], case, parts, Slot(kind, case, "", (), text), text)


class Kinds:
    """Classifier that assigns entity types to slots.

    Args:
        kinds: Members of each type, by name of the list.
        common: Words of the public list, without the denied words.
        rules: Rules of the language.
        keep: Types whose listed members are kept, named as in tags.
        told: Types that stay the same in a document without capitals (no replacement by ``_SMALL``).
        denied: Words that are always replaced.
    """

    def __init__(
        self,
        kinds: Mapping[str, frozenset[str]],
        common: Collection[str],
        rules: Rules,
        keep: Collection[str] = (),
        told: Collection[str] = (),
        denied: frozenset[str] = frozenset(),
    ) -> None:
        self._rules, self._place_before = rules, rules.place_prepositions
        self._common, self._keep, self._told, self._denied = common, keep, told, denied
        self._kinds, self._abroad = kinds, kinds[_ABROAD]
        self._given = kinds["given"] | kinds[_ABROAD]
        self._of_whole = {entry: name for name in reversed(_WHOLE) for entry in kinds[name]}
        self._last = {entry: kind for name, kind in reversed(_LAST) for entry in kinds[name]}

    @cached_property
    def _shown(self) -> frozenset[str]:
        """Names that are only on lists of types that ``keep`` names."""
        lists = [(CALLED.get(name, name) in self._keep, self._kinds[name]) for name in _WHOLE]
        lists += [("person" in self._keep, self._kinds["particle"] | self._rules.also_persons)]
        shown, hidden = (frozenset[str]().union(*(of for kept, of in lists if kept == way)) for way in (True, False))
        return shown - hidden

    def mention(self, slot: Slot, capitals: bool) -> Mention:
        """Return the slot as a mention, with its type.

        Args:
            slot: The slot.
            capitals: Whether the document has a capital letter. Without one, names look like other words.
        """
        sort, tokens = slot.kind, slot.tokens
        if sort == GROUP and len(tokens) >= CARD_DIGITS:  # same result as ``number_kind``, without scanning megabytes
            return self._one(slot, "card", "")
        if sort == GROUP:
            kind, layout = number_kind(_BETWEEN.sub("-", slot.text.strip("+(")), self._rules.patterns)
            return self._one(slot, kind, layout)
        if sort == LONE_INITIAL:
            return self._one(slot, "initial", "")
        if sort != RUN and (capitals or sort != "word"):
            return self._one(slot, sort, slot.layout)
        folded = tokens[0].key if len(tokens) == 1 else " ".join([token.key for token in tokens])
        kind = self._of_whole.get(folded)
        if sort != RUN:
            listed = all(token.layout != DRAWN for token in tokens)
            if kind is not None and listed:
                return self._one(slot, kind if kind in self._told else _SMALL.get(kind, kind), "")
            return self._one(slot, slot.kind, slot.layout)
        if kind is None:
            kind = self._of_several(slot) if len(tokens) > 1 else self._of_one(slot, folded)
        if kind == "family" and slot.before in self._place_before:
            kind = "city"
        first = self._name(slot) if kind in _OF_PERSONS else 0
        if kind not in ("person", "given") and not first:
            return self._one(slot, kind, ending(folded, self._rules) if kind == "word" else "", folded)
        parts = self._persons_parts(slot, first) if kind == "person" else [_part(slot, kind, first)]
        case = UPPER if all(part.kind == "initial" for part in parts) else slot.case  # the case of an omitted word
        return Mention(kind, case, tuple(parts), slot, _spelled(slot, first))

    def kept(self, entries: Iterator[str | Mention]) -> Iterator[str | Mention]:
        """Yield kept text and mentions in turn, with each mention that ``keep`` covers merged."""
        if not self._keep:
            yield from entries
            return
        shown: list[str] = []
        for entry in entries:
            if isinstance(entry, str):
                shown.append(entry)
            elif self._is_kept(entry):
                shown.append(entry.slot.text)
            else:
                yield "".join(shown)
                yield entry
                shown = []
        yield "".join(shown)

    def _is_kept(self, mention: Mention) -> bool:
        """Return whether ``keep`` covers the mention by a list or its shape, and not as a name."""
        kind, slot, keep = mention.kind, mention.slot, self._keep
        keys = [token.key for token in slot.tokens]
        drawn = mention.parts[0].layout == DRAWN
        if CALLED.get(kind, kind) not in keep or drawn or not self._denied.isdisjoint(keys):
            return False
        if kind in _OF_PERSONS:
            return all(_is_initial(token) or token.key in self._shown for token in slot.tokens[self._name(slot) :])
        if kind not in _WHOLE:
            return kind != "word" or " ".join(keys) in self._common
        ends = self._of_whole.get(keys[0]), self._of_whole.get(keys[-1])
        if "person" not in keep and ends in _PERSONS and len(keys) > 1:
            return False
        return slot.before != TITLE_BEFORE and " ".join(keys) in self._shown

    def _one(self, slot: Slot, kind: str, layout: str, folded: str | None = None) -> Mention:
        if folded is None:
            folded = slot.tokens[0].key if len(slot.tokens) == 1 else slot.text.lower()
        return new(Mention, (kind, slot.case, (new(Part, (kind, layout, folded, slot.text)),), slot, slot.text))

    def _of_one(self, slot: Slot, folded: str) -> str:
        if slot.before == TITLE_BEFORE:
            return "given" if folded in self._abroad else "family"
        if folded in self._common and folded.isalpha() and len(folded) >= _SHORTEST_WORD:
            return "word"
        if slot.case == UPPER and len(folded) <= _LONGEST_ACRONYM:
            return "acronym"
        return "given" if folded in self._abroad else "family"

    def _of_several(self, slot: Slot) -> str:
        tokens = slot.tokens
        keys = [token.key for token in tokens]
        if tokens[0].kind == "particle":
            return "family"
        name = self._name(slot)
        person = "person" if name < len(keys) - 1 else "given"
        if slot.before == TITLE_BEFORE:
            return person
        first = "place" if tokens[0].bits & DOTTED else self._last.get(keys[0])
        kind = self._last.get(keys[-1]) or first
        if kind is not None:
            return kind
        if _is_initial(tokens[name]) or keys[name] in self._kinds["given"]:
            return person
        first, last = self._of_whole.get(keys[name]), self._of_whole.get(keys[-1])
        if len(keys) - name == 2 and last == "family" and first in (None, "family"):
            return "person"
        listed = keys[name] in self._abroad
        if not listed and slot.before in self._place_before:
            return "city"
        if self._is_body(slot, name):
            return "organization"
        return person if listed or person == "person" else "family"

    def _is_body(self, slot: Slot, name: int) -> bool:
        """Return whether a run, from one of its words on, contains a word that excludes a person.

        A single common word after a listed first name that is no place may be a family name.
        """
        tokens = slot.tokens[name:]
        kinds = [self._of_whole.get(token.key) for token in tokens]
        if "&" in slot.text or (len(tokens) == 1 and kinds[0] == "city"):
            return True
        listed = tokens[0].key in self._abroad
        may_be_common = listed and len(tokens) == 2 and kinds[0] in (None, "family")
        for token, kind in zip(tokens[listed:], kinds[listed:], strict=True):
            if token.kind == "particle" or _is_initial(token):
                continue
            if token.key in self._last or kind in _NO_PERSONS or (token.case == UPPER and slot.case != UPPER):
                return True
            if token.key in self._common and kind not in ("given", "family") and not may_be_common:
                return True
        return False

    def _name(self, slot: Slot) -> int:
        """Return the index of the word at which the name of a person begins in a run.

        Words that may start a sentence can precede the name (``Ask Anna``). The name begins at the first given name or
        initial. If there is none, it begins after all such words. The result is 0 if no word but these exists, and for
        a name after a title or a lone initial.
        """
        last = len(slot.tokens) - 1
        for place, token in enumerate(slot.tokens):
            initial = _is_initial(token)
            if token.key in self._given or (initial and place < last):
                return place
            if not token.bits & AT_SENTENCE:
                return 0 if initial or slot.before == TITLE_BEFORE else place
        return 0

    def _persons_parts(self, slot: Slot, first: int) -> list[Part]:
        """Return the parts of the name of a person: initials, given names and one final family name.

        Particles belong to the family name.
        """
        found: list[Part] = []
        for place, token in enumerate(slot.tokens[first:], first):
            if token.cls == INITIAL or (_is_initial(token) and place < len(slot.tokens) - 1):
                found.append(Part("initial", "", token.key, token.text))
            elif place == len(slot.tokens) - 1 or (place > first and token.key not in self._given):
                found.append(_part(slot, "family", place))
                break
            else:
                found.append(Part("given", "", token.key, token.text))
        return found


def _is_initial(token: Token) -> bool:
    """Return whether a word of a run is an initial, or several initials with dots."""
    return token.cls == INITIAL or token.bits & INITIALS > 0


def _part(slot: Slot, kind: str, first: int) -> Part:
    """Return the part of a run from one of its words to its end."""
    return Part(kind, "", " ".join(token.key for token in slot.tokens[first:]), _spelled(slot, first))


def _spelled(slot: Slot, first: int) -> str:
    """Return the spelling of a slot from one of its words to its end."""
    end = 0
    for token in slot.tokens[:first]:
        end = slot.text.index(token.text, end) + len(token.text)
    return slot.text[slot.text.index(slot.tokens[first].text, end) :]
