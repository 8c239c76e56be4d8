"""Names the kind of a slot, from its own string and what the skeleton shows before it (pass 3).

The kind is in the skeleton, so lists of names never decide what is replaced: only by what.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from textveil.text.names.emoji import KEYCAP
from textveil.text.names.lexicon import ending
from textveil.text.names.slots import GROUP, LONE_INITIAL, RUN, TITLE_BEFORE, Slot
from textveil.text.names.spelled import SPELLED_LETTERS, SPELLED_NUMBER
from textveil.text.names.strings import CARD_DIGITS, number_kind
from textveil.text.names.tokens import AT_SENTENCE, DOTTED, DRAWN, INITIAL, INITIALS, Token, new
from textveil.text.segmentation import UPPER, case_pattern, key

#: Lists of whole names, in order: the first that has a run names its kind.
_WHOLE = ("given", "family", "country", "the-country", "state", "city", "organization", "place")
#: Lists of the last words of names, and the kind of what ends in one.
_LAST = (
    ("firm-word", "organization"),
    ("institution-word", "organization"),
    ("street-word", "street"),
    ("place-word", "place"),
)
#: After these a name that is on no list is taken for that of a place.
_PLACE_BEFORE = frozenset("in at from near".split())
_LONGEST_ACRONYM = 5
#: A shorter common word in capitals is taken for an acronym too, as in "WHO".
_SHORTEST_WORD = 4
#: First names that are read here alone: they decide a type, never what is replaced.
_ABROAD = "given-abroad"
#: Lists of whole names that say of a word in a run that the run names no person.
_NO_PERSONS = frozenset(("country", "the-country", "state", "organization", "place"))
#: Lists of the first and the last word of what is as likely a person.
_PERSONS = frozenset((("given", "given"), ("given", "family")))
#: What is drawn for names that a text without capitals has: bodies and places in common words would be read as shown.
_SMALL = {"organization": "acronym", "place": "city"}
#: Kinds of a run that names a person: common words before the name are in no part.
_OF_PERSONS = ("person", "given", "family")
#: Kinds that no list has a member of: what is on no list may be a name, so these are never kept.
UNLISTED = frozenset(("acronym", "street"))
#: Entries of lists of places, groups and firms that many people are called by; they are on one list only.
PEOPLE_TOO = frozenset(
    """
adelaide al alberta alexandria america asia aurora austin black brittany brown candelaria carolina chad chanda chas
christian cleveland columbus dakota dallas denver devon diego duke england florida francisco geneva georgia green
guadalupe holland houston hull india israel jena jordan kent kenya kira lancaster lida lyon mariana milan modesto
orlando paris raleigh rhodes rico rosario santa santiago sofia soledad sydney trinidad trujillo valencia valenzuela
victoria virginia washington white york
""".split()
)
_BETWEEN = re.compile(r"[^0-9]+")
#: Kinds that somebody else may say a text is of.
CALLED_BY_OTHERS = frozenset(("person", "city", "organization", "group", "word"))
#: What a tag calls the kinds of a person's name, and kinds that a reader need not tell apart.
CALLED = {
    **dict.fromkeys(("given", "family", "initial"), "person"),
    **{
        "the-country": "country",
        "digits": "number",
        "year-range": "year",
        "season": "year",
        KEYCAP: "number",
        SPELLED_NUMBER: "number",
        SPELLED_LETTERS: "letter",
    },
}


class Part(NamedTuple):
    """A part of a slot that is drawn by itself: a kind, what the skeleton has of its layout, and its folded string."""

    kind: str
    layout: str
    folded: str
    text: str


class Mention(NamedTuple):
    """A slot with its kind: what the skeleton has of it is its kinds, its case, and which of its parts are equal.

    ``named`` is its string, less the common words before the name of a person.
    """

    kind: str
    case: int
    parts: tuple[Part, ...]
    slot: Slot
    named: str

    @property
    def shown(self) -> tuple[object, ...]:
        """What the skeleton has of it."""
        slot = self.slot
        parts = ((part.kind, part.layout) for part in self.parts)
        return (self.kind, self.case, slot.layout if slot.kind == RUN else "", slot.titles, slot.before, *parts)

    @property
    def equal(self) -> tuple[tuple[str, ...], ...]:
        """What mentions have in common that are written by one tag: all parts, in order."""
        return tuple(part[:3] for part in self.parts)


def as_first_name(mention: Mention) -> Mention:
    """Return a mention of a family name as one of a first name."""
    (part,) = mention.parts
    return mention._replace(kind="given", parts=(part._replace(kind="given"),))


class FirstNames:
    """Links names that stand alone to the first names of persons earlier in a document."""

    def __init__(self) -> None:
        self._given, self._family = set[str](), set[str]()

    def link(self, entries: Iterable[str | Mention]) -> Iterator[str | Mention]:
        """Yield entries, each family name alone as a first name if it was one, and no family name, before it."""
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
    """A part of a text: what came out, what stood there, and the mention that it was; ``None`` where it is shown.

    ``parts`` has what came out for each part of the mention; nothing where a tag or nothing came out.
    """

    output: str
    original: str
    mention: Mention | None = None
    parts: tuple[str, ...] = ()


def called(kind: str, text: str) -> Mention:
    """Returns a text that is not blank as one mention of a kind of ``CALLED_BY_OTHERS``, whatever it is."""
    words = text.split() if kind == "person" else [text]
    kinds = ["given"] * (len(words) - 1) + ["family"] if kind == "person" else [kind]
    parts = tuple(Part(kind, "", key(word), word) for kind, word in zip(kinds, words, strict=True))
    case = case_pattern(text)
    return Mention(kind if len(parts) > 1 else kinds[0], case, parts, Slot(kind, case, "", (), text), text)


class Kinds:
    """Names the kinds of slots.

    Args:
        kinds: Members of every kind by list.
        common: Words of the public list that are not denied.
        keep: What is called so is shown where a list has it.
        told: Kinds that come out as such, whatever the text is written in.
        denied: Words that are never shown.
    """

    def __init__(
        self,
        kinds: Mapping[str, frozenset[str]],
        common: Collection[str],
        keep: Collection[str] = (),
        told: Collection[str] = (),
        denied: frozenset[str] = frozenset(),
    ) -> None:
        self._common, self._keep, self._told, self._denied = common, keep, told, denied
        self._kinds, self._abroad = kinds, kinds[_ABROAD]
        self._given = kinds["given"] | kinds[_ABROAD]
        self._of_whole = {entry: name for name in reversed(_WHOLE) for entry in kinds[name]}
        self._last = {entry: kind for name, kind in reversed(_LAST) for entry in kinds[name]}

    @cached_property
    def _shown(self) -> frozenset[str]:
        """Names that are on lists of kinds that are kept alone."""
        lists = [(CALLED.get(name, name) in self._keep, self._kinds[name]) for name in _WHOLE]
        lists += [("person" in self._keep, self._kinds["particle"] | PEOPLE_TOO)]
        shown, hidden = (frozenset[str]().union(*(of for kept, of in lists if kept == way)) for way in (True, False))
        return shown - hidden

    def mention(self, slot: Slot, capitals: bool) -> Mention:
        """Returns a slot with its kind.

        Args:
            slot: The slot.
            capitals: Whether the document has a capital. Where none is, names are written as words are.
        """
        sort, tokens = slot.kind, slot.tokens
        if (
            sort == GROUP and len(tokens) >= CARD_DIGITS
        ):  # what ``number_kind`` returns, without a walk through megabytes
            return self._one(slot, "card", "")
        if sort == GROUP:
            kind, layout = number_kind(_BETWEEN.sub("-", slot.text.strip("+(")))
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
        if kind == "family" and slot.before in _PLACE_BEFORE:
            kind = "city"
        first = self._name(slot) if kind in _OF_PERSONS else 0
        if kind not in ("person", "given") and not first:
            return self._one(slot, kind, ending(folded) if kind == "word" else "", folded)
        parts = self._persons_parts(slot, first) if kind == "person" else [_part(slot, kind, first)]
        case = UPPER if all(part.kind == "initial" for part in parts) else slot.case  # of a word that is left out
        return Mention(kind, case, tuple(parts), slot, _spelled(slot, first))

    def kept(self, entries: Iterator[str | Mention]) -> Iterator[str | Mention]:
        """Yields what is shown and mentions, in turn, with the mentions that are kept as a part of what is shown."""
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
        """Whether the string of a mention is of a kind that is kept by a list or its shape, and is nobody's name."""
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
        if not listed and slot.before in _PLACE_BEFORE:
            return "city"
        if self._is_body(slot, name):
            return "organization"
        return person if listed or person == "person" else "family"

    def _is_body(self, slot: Slot, name: int) -> bool:
        """Return whether a run, from one of its words on, has a word that no name of a person has.

        Behind a first name that is no place, one common word may be a family name.
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
        """Where a person's name begins behind words that may start sentences (``Ask Anna``); else 0.

        That is at a first name or an initial. Where none stands there, it is behind all such words, but for a name
        behind a title and a lone initial.
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
        """Parts of a person's name: initials, given names and one family name at the end, particles with it."""
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
    """Whether a word of a run is an initial, or several with dots."""
    return token.cls == INITIAL or token.bits & INITIALS > 0


def _part(slot: Slot, kind: str, first: int) -> Part:
    """The part of a run from one of its words to its end."""
    return Part(kind, "", " ".join(token.key for token in slot.tokens[first:]), _spelled(slot, first))


def _spelled(slot: Slot, first: int) -> str:
    """What a slot has from one of its words on."""
    end = 0
    for token in slot.tokens[:first]:
        end = slot.text.index(token.text, end) + len(token.text)
    return slot.text[slot.text.index(slot.tokens[first].text, end) :]
