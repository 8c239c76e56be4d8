"""The rung `names`, pass 3: the kind of a slot, its parts and the skeleton (docs/names-rule.md, "Pass 3: kinds")."""

import re
from typing import Any, NamedTuple

from .names_slots import TITLE, Slot, Text
from .names_strings import number_kind
from .names_tokens import Tokens

WHOLE = ("given", "family", "country", "the-country", "state", "city", "organization", "place")
ENDS = {"firm-word": "organization", "institution-word": "organization", "street-word": "street", "place-word": "place"}


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
    def skeleton(self) -> list[Any]:
        """What the skeleton has of it, but which parts are equal."""
        slot = self.slot
        parts = [[part.kind, part.layout] for part in self.parts]
        return [self.kind, slot.case, slot.ends_in_initial, slot.titles, slot.before, *parts]


class Reader:
    """Reads documents with the lists of a bundle."""

    def __init__(self, lists: dict[str, Any], allow: list[str], deny: list[str], draw: list[str]) -> None:
        self.tokens, self.kinds = Tokens(lists, allow, deny, draw), lists["kinds"]

    def read(self, texts: list[str]) -> tuple[list[list[str | Named]], int]:
        """What is shown and the slots of each text, in turn, and how many words are shown."""
        cut = [Text(list(self.tokens.read(text))) for text in texts]
        has_capital = any(word.case != "lower" for text in cut for word in text.words)
        found = [[entry if isinstance(entry, str) else self.named(entry) for entry in t.read(has_capital)] for t in cut]
        return found, sum(text.shown for text in cut)

    def named(self, slot: Slot) -> Named:
        """A slot with its kind."""
        phrase = " ".join(word.key for word in slot.words)
        if slot.kind == "several":
            kind, layout = number_kind(re.sub("[^0-9]+", "-", slot.text.strip("+(")))
        elif slot.kind:
            kind, layout = slot.kind, slot.layout
        else:
            kind, layout = self.of_run(slot, phrase), ""
        if kind == "person":
            return Named(kind, list(self.persons(slot)), slot)
        folded = phrase if not slot.kind or len(slot.words) == 1 else slot.text.lower()
        return Named(kind, [Part(kind, layout, folded)], slot)

    def of_run(self, slot: Slot, phrase: str) -> str:
        """The kind of a run."""
        kind = self.of_phrase(phrase) or (self.of_several(slot) if len(slot.words) > 1 else of_one(slot))
        return "city" if kind == "family" and is_in_place(slot) else kind

    def of_phrase(self, phrase: str) -> str:
        """The first list of whole names that has a phrase."""
        return next((kind for kind in WHOLE if phrase in self.kinds[kind]), "")

    def of_several(self, slot: Slot) -> str:
        """The kind of a run of several words that is on no list."""
        first, last = slot.words[0], slot.words[-1]
        if first.kind == "particle":
            return "family"
        if slot.before == TITLE:
            return "person"
        for word in (last, first):
            for name, kind in ENDS.items():
                if word.key in self.kinds[name]:
                    return kind
        if first.cls == "initial" or first.key in self.kinds["given"]:
            return "person"
        two = len(slot.words) == 2 and self.of_phrase(first.key) in ("", "family")
        if two and self.of_phrase(last.key) == "family":
            return "person"
        return "city" if is_in_place(slot) else "organization"

    def persons(self, slot: Slot) -> list[Part]:
        """The parts of a person's name."""
        found: list[Part] = []
        for place, word in enumerate(slot.words):
            if word.cls == "initial":
                found.append(Part("initial", "", word.key))
            elif place == len(slot.words) - 1 or (place > 0 and word.key not in self.kinds["given"]):
                rest = " ".join(word.key for word in slot.words[place:])
                return [*found, Part("family", "", rest)]
            else:
                found.append(Part("given", "", word.key))
        return found


def of_one(slot: Slot) -> str:
    """The kind of a run of one word that is on no list."""
    short = slot.case == "UPPER" and len(slot.words[0].key) <= 5
    return "acronym" if short and slot.before != TITLE else "family"


def is_in_place(slot: Slot) -> bool:
    """Whether a word stands before a slot that names of places stand behind."""
    return slot.before in ("in", "at", "from", "near")
