"""Names the kind of a slot, from its own string and what the skeleton shows before it (pass 3).

The kind is in the skeleton, so lists of names never decide what is replaced: only by what.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from textveil.text.names.slots import GROUP, LONE_INITIAL, RUN, TITLE_BEFORE, Slot
from textveil.text.names.strings import number_kind
from textveil.text.names.tokens import INITIAL
from textveil.text.segmentation import UPPER

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
_BETWEEN = re.compile(r"[^0-9]+")


class Part(NamedTuple):
    """A part of a slot that is drawn by itself: a kind, what the skeleton has of its layout, and its folded string."""

    kind: str
    layout: str
    folded: str
    text: str


class Mention(NamedTuple):
    """A slot with its kind: what the skeleton has of it is its kinds, its case, and which of its parts are equal."""

    kind: str
    case: int
    parts: tuple[Part, ...]
    slot: Slot

    @property
    def shown(self) -> tuple[object, ...]:
        """What the skeleton has of it."""
        slot = self.slot
        parts = ((part.kind, part.layout) for part in self.parts)
        return (self.kind, self.case, slot.layout if slot.kind == RUN else "", slot.titles, slot.before, *parts)

    @property
    def folded(self) -> str:
        """What two mentions of one string have in common."""
        return " ".join(part.folded for part in self.parts)


class Kinds:
    """Names the kinds of slots.

    Args:
        kinds: Members of every kind by list.
    """

    def __init__(self, kinds: Mapping[str, frozenset[str]]) -> None:
        self._kinds = kinds
        self._given = kinds["given"]
        self._of_whole = {entry: name for name in reversed(_WHOLE) for entry in kinds[name]}
        self._last = {entry: kind for name, kind in reversed(_LAST) for entry in kinds[name]}

    def mention(self, slot: Slot) -> Mention:
        """Returns a slot with its kind."""
        if slot.kind == GROUP:
            kind, layout = number_kind(_BETWEEN.sub("-", slot.text.strip("+(")))
            return self._one(slot, kind, layout)
        if slot.kind == LONE_INITIAL:
            return self._one(slot, "initial", "")
        if slot.kind != RUN:
            return self._one(slot, slot.kind, slot.layout)
        folded = " ".join(token.key for token in slot.tokens)
        kind = self._of_whole.get(folded)
        if kind is None:
            kind = self._of_several(slot) if len(slot.tokens) > 1 else self._of_one(slot, folded)
        if kind == "family" and slot.before in _PLACE_BEFORE:
            kind = "city"
        if kind != "person":
            return self._one(slot, kind, "", folded)
        return Mention("person", slot.case, tuple(self._persons_parts(slot)), slot)

    def _one(self, slot: Slot, kind: str, layout: str, folded: str | None = None) -> Mention:
        if folded is None:
            folded = slot.tokens[0].key if len(slot.tokens) == 1 else slot.text.lower()
        return Mention(kind, slot.case, (Part(kind, layout, folded, slot.text),), slot)

    def _of_one(self, slot: Slot, folded: str) -> str:
        if slot.before == TITLE_BEFORE:
            return "family"
        if slot.case == UPPER and len(folded) <= _LONGEST_ACRONYM:
            return "acronym"
        return "family"

    def _of_several(self, slot: Slot) -> str:
        keys = [token.key for token in slot.tokens]
        if slot.tokens[0].kind == "particle":
            return "family"
        if slot.before == TITLE_BEFORE:
            return "person"
        kind = self._last.get(keys[-1]) or self._last.get(keys[0])
        if kind is not None:
            return kind
        if slot.tokens[0].cls == INITIAL or keys[0] in self._given:
            return "person"
        first, last = self._of_whole.get(keys[0]), self._of_whole.get(keys[-1])
        if len(keys) == 2 and last == "family" and first in (None, "family"):
            return "person"
        return "city" if slot.before in _PLACE_BEFORE else "organization"

    def _persons_parts(self, slot: Slot) -> list[Part]:
        """Parts of a person's name: initials, given names and one family name at the end, particles with it."""
        found: list[Part] = []
        tokens = slot.tokens
        for place, token in enumerate(tokens):
            last = place == len(tokens) - 1
            if token.cls == INITIAL:
                found.append(Part("initial", "", token.key, token.text))
            elif last or (place and token.key not in self._given):
                name = " ".join(token.key for token in tokens[place:])
                text = slot.text[slot.text.find(token.text) :] if not last else token.text
                found.append(Part("family", "", name, text))
                break
            else:
                found.append(Part("given", "", token.key, token.text))
        return found
