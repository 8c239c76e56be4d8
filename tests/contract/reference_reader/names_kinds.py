"""The mode `names`, pass 3: type, parts and template of a slot (docs/names-rule.md, "Pass 3: entity types")."""

import itertools
import re
from dataclasses import replace
from typing import Any, NamedTuple

from .names_json import Piece, pieces_of
from .names_slots import TITLE, Slot, Text
from .names_strings import number_kind
from .names_tokens import Tokens
from .names_words import Token, ending_of

WHOLE = ("given", "family", "country", "the-country", "state", "city", "organization", "place")
NO_PERSONS = ("country", "the-country", "state", "organization", "place")
ENDS = {"firm-word": "organization", "institution-word": "organization", "street-word": "street", "place-word": "place"}
CALLED = {
    **{"given": "person", "family": "person", "initial": "person", "the-country": "country", "digits": "number"},
    **{"year-range": "year", "season": "year"},
    "keycap": "number",
    **{"spelled-number": "number", "spelled-letters": "letter"},
}
#: What a body and a place become in a document without a capital.
SMALL = {"organization": "acronym", "place": "city"}
PEOPLE_TOO = set(
    """adelaide al alberta alexandria america asia aurora austin black brittany brown candelaria carolina chad chanda
chas christian cleveland columbus dakota dallas denver devon diego duke england florida francisco geneva georgia green
guadalupe holland houston hull india israel jena jordan kent kenya kira lancaster lida lyon mariana milan modesto
orlando paris raleigh rhodes rico rosario santa santiago sofia soledad sydney trinidad trujillo valencia valenzuela
victoria virginia washington white york""".split()
)
#: The bit of common words that may start a sentence.
AT_SENTENCE = "at-sentence"


class Part(NamedTuple):
    """A part of a slot; equal ones are equal strings of one kind and layout."""

    kind: str
    layout: str
    folded: str


class Named(NamedTuple):
    """A slot with its kind and its parts."""

    kind: str
    parts: list[Part]
    slot: Slot

    @property
    def template(self) -> list[Any]:
        """What the template has of it, but which parts are equal."""
        slot = self.slot
        parts = [[part.kind, part.layout] for part in self.parts]
        case = "UPPER" if all(part.kind == "initial" for part in self.parts) else slot.case
        return [self.kind, case, slot.ends_in_initial, slot.titles, slot.before, *parts]


def joined_pieces(pieces: list[Piece], read: list[list[Any]]) -> list[Any]:
    """Return the kept text and the slots of a text, in turn, from those of its pieces."""
    found: list[Any] = [""]
    of_each = iter(read)
    for piece in pieces:
        place = 0
        for entry in [piece.text] if piece.kind == "copied" else next(of_each):
            size = len(entry if isinstance(entry, str) else entry.slot.text)
            if isinstance(entry, str):
                found[-1] += "".join(written for _, written in piece.characters[place : place + size])
            else:
                slot = replace(entry.slot, case="JSON") if piece.kind == "number" else entry.slot
                found += [entry._replace(slot=slot), ""]
            place += size
    return found


class Reader:
    """Reads documents with the lists of a bundle, under the options of a request."""

    def __init__(self, lists: dict[str, Any], options: dict[str, Any]) -> None:
        allow, deny, draw, keep = (options.get(name, []) for name in ("allow", "deny", "randomize", "keep"))
        self.tokens, self.kinds, self.keep = Tokens(lists, allow, deny, draw), lists["kinds"], set(keep)
        self.common = set(lists["common"]) - self.tokens.denied
        told = {*SMALL} if options.get("style") == "tag" else {*options.get("tag", []), *options.get("drop", [])}
        self.small = {kind: to for kind, to in SMALL.items() if kind not in told | self.keep}

    def read(self, texts: list[str]) -> tuple[list[list[str | Named]], int]:
        """Return the kept text and the slots of each text, in turn, and the number of kept words."""
        pieces = [pieces_of(text) for text in texts]
        cut = [[Text(list(self.tokens.read(piece.text))) for piece in of if piece.kind != "copied"] for of in pieces]
        has_capital = any(word.case != "lower" for of in cut for text in of for word in text.words)
        read = [[self.entries(text, has_capital) for text in of] for of in cut]
        shown = sum(text.shown for of in cut for text in of)
        return [joined_pieces(of, entries) for of, entries in zip(pieces, read, strict=True)], shown

    def entries(self, text: Text, has_capital: bool) -> list[Any]:
        """Return the kept text and the slots of a text, in turn; a slot that `keep` covers is kept text."""
        found: list[Any] = [""]
        for entry in text.read(has_capital):
            named = entry if isinstance(entry, str) else self.named(entry, has_capital)
            if isinstance(named, str) or self.is_kept(named):
                found[-1] += named if isinstance(named, str) else named.slot.text
            else:
                found += [named, ""]
        return found

    def is_kept(self, named: Named) -> bool:
        """Whether a slot is kept."""
        words, called = named.slot.words, CALLED.get(named.kind, named.kind)
        phrase = " ".join(word.key for word in words)
        own = any(word.layout == "drawn" or word.key in self.tokens.denied for word in words)
        if called not in self.keep or own:
            return False
        if called == "person":
            return all(is_initial(word) or self.is_kept_name(word.key) for word in self.name_of(named.slot))
        if named.kind not in WHOLE:
            return named.kind != "word" or phrase in self.common
        ends = [self.of_phrase(words[place].key) for place in (0, -1)]
        persons = len(words) > 1 and ends[0] == "given" and ends[1] in ("given", "family")
        hidden = named.slot.before == TITLE or (persons and "person" not in self.keep)
        return not hidden and self.is_kept_name(phrase)

    def is_kept_name(self, phrase: str) -> bool:
        """Whether a phrase is on lists, all of them of kinds that are kept."""
        kinds = {CALLED.get(kind, kind) for kind in WHOLE if phrase in self.kinds[kind]}
        kinds |= {"person"} if phrase in self.kinds["particle"] or phrase in PEOPLE_TOO else set()
        return bool(kinds) and kinds <= self.keep

    def named(self, slot: Slot, has_capital: bool) -> Named:
        """Return a slot with its type."""
        phrase = " ".join(word.key for word in slot.words)
        drawn = any(word.layout == "drawn" for word in slot.words)
        listed = "" if has_capital or drawn or slot.kind != "word" else self.of_phrase(phrase)
        if slot.kind == "several":
            kind, layout = number_kind(re.sub("[^0-9]+", "-", slot.text.strip("+(")))
        elif slot.kind:
            kind, layout = (self.small.get(listed, listed), "") if listed else (slot.kind, slot.layout)
        else:
            kind = self.of_run(slot, phrase)
            layout = ending_of(phrase) if kind == "word" else ""
        if kind == "person":
            return Named(kind, list(self.persons(slot)), slot)
        if not slot.kind and kind in ("given", "family"):
            phrase = " ".join(word.key for word in self.name_of(slot))
        folded = phrase if not slot.kind or len(slot.words) == 1 else slot.text.lower()
        return Named(kind, [Part(kind, layout, folded)], slot)

    def of_run(self, slot: Slot, phrase: str) -> str:
        """Return the type of a run."""
        kind = self.of_phrase(phrase) or (self.of_several(slot) if len(slot.words) > 1 else self.of_one(slot, phrase))
        return "city" if kind == "family" and is_in_place(slot) else kind

    def of_phrase(self, phrase: str) -> str:
        """Return the first list of whole names that has a phrase."""
        return next((kind for kind in WHOLE if phrase in self.kinds[kind]), "")

    def of_one(self, slot: Slot, phrase: str) -> str:
        """Return the type of a run of one word that is on no list of names."""
        person = "given" if phrase in self.kinds["given-abroad"] else "family"
        if slot.before == TITLE:
            return person
        if len(phrase) >= 4 and phrase in self.common and "'" not in phrase:
            return "word"
        return "acronym" if slot.case == "UPPER" and len(phrase) <= 5 else person

    def of_several(self, slot: Slot) -> str:
        """Return the type of a run of several words that is on no list."""
        first, last = slot.words[0], slot.words[-1]
        if first.kind == "particle":
            return "family"
        own = self.name_of(slot)
        person = "person" if len(own) > 1 else "given"
        if slot.before == TITLE:
            return person
        for word in (last, first):
            if "dotted" in word.bits and word is first:
                return "place"
            for name, kind in ENDS.items():
                if word.key in self.kinds[name]:
                    return kind
        if is_initial(own[0]) or own[0].key in self.kinds["given"]:
            return person
        two = len(own) == 2 and self.of_phrase(own[0].key) in ("", "family")
        if two and self.of_phrase(own[1].key) == "family":
            return "person"
        abroad = own[0].key in self.kinds["given-abroad"]
        if is_in_place(slot) and not abroad:
            return "city"
        if "&" in slot.text or self.is_body(own, slot.case, abroad):
            return "organization"
        return "family" if len(own) == 1 and not abroad else person

    def is_body(self, own: list[Token], case: str, abroad: bool) -> bool:
        """Whether the name in a run has a word that no name of a person has."""
        of = [self.of_phrase(word.key) for word in own]
        if len(own) == 1 and of == ["city"]:
            return True
        two = abroad and len(own) == 2 and of[0] in ("", "family")
        for word, kind in list(zip(own, of, strict=True))[1 if abroad else 0 :]:
            if word.kind == "particle" or is_initial(word):
                continue
            if kind in NO_PERSONS or any(word.key in self.kinds[name] for name in ENDS):
                return True
            if word.case == "UPPER" and case != "UPPER":
                return True
            if word.key in self.common and kind not in ("given", "family") and not two:
                return True
        return False

    def name_of(self, slot: Slot) -> list[Token]:
        """Return the name in a run: all of it, or the part after the common words before a person's name."""
        words = slot.words
        rest = list(itertools.dropwhile(self.is_before_names, words))
        if not rest or (is_initial(rest[0]) and len(rest) == 1):
            return words
        return rest if slot.before != TITLE or is_initial(rest[0]) or self.is_given(rest[0]) else words

    def is_given(self, word: Token) -> bool:
        """Whether a word is a first name."""
        return word.key in self.kinds["given"] or word.key in self.kinds["given-abroad"]

    def is_before_names(self, word: Token) -> bool:
        """Whether a word may stand before a person's name: it may start a sentence, and is not a given name."""
        return AT_SENTENCE in word.bits and not self.is_given(word)

    def persons(self, slot: Slot) -> list[Part]:
        """Return the parts of a person's name."""
        found: list[Part] = []
        words = self.name_of(slot)
        for place, word in enumerate(words):
            if word.cls == "initial" or (is_initial(word) and place < len(words) - 1):
                found.append(Part("initial", "", word.key))
            elif place == len(words) - 1 or (place > 0 and not self.is_given(word)):
                rest = " ".join(word.key for word in words[place:])
                return [*found, Part("family", "", rest)]
            else:
                found.append(Part("given", "", word.key))
        return found


def is_initial(word: Token) -> bool:
    """Whether a word is an initial, or several with dots."""
    return word.cls == "initial" or "initials" in word.bits


def is_in_place(slot: Slot) -> bool:
    """Whether a word stands before a slot that names of places stand behind."""
    return slot.before in ("in", "at", "from", "near")
