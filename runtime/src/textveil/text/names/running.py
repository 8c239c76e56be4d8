"""A conversation on the rung ``names``: one document whose texts come one after the other.

Draws are functions of the skeletons of its texts and of earlier draws (docs/proofs/names.md).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from textveil.mechanisms import entropy
from textveil.mechanisms.integer_sampling import uniform_below
from textveil.text.names.kinds import Mention, Part
from textveil.text.names.read import Read
from textveil.text.names.rewrite import Style, _Document
from textveil.text.names.surrogates import Surrogates
from textveil.text.restore import not_a_tag
from textveil.text.segmentation import LOWER, key

#: Of other kinds some members are common words, whatever is left out.
_SKIPS_COMMON = frozenset(("month",))
#: Draws until an unused member is looked for among all of them, and the largest pool of which all are listed.
_TRIES, _MOST_LISTED = 32, 1 << 15


class Piece(NamedTuple):
    """A part of a text: what came out, what stood there, and the mention that it was; ``None`` where it is shown.

    ``parts`` has what came out for each part of the mention; nothing where a tag or nothing came out.
    """

    output: str
    original: str
    mention: Mention | None = None
    parts: tuple[str, ...] = ()


class Running(_Document):
    """The draws of a conversation so far.

    No spelling comes out twice while its pool has others, for kinds too whose equal strings do not become equal. Where
    they do, and for months, no common word comes out.

    Args:
        style: How slots are written.
        surrogates: The members of kinds.
        common: The words of the public list.
    """

    def __init__(self, style: Style, surrogates: Surrogates, common: Collection[str]) -> None:
        super().__init__((), style, surrogates, None)
        self._common, self._out = common, set[str]()
        self._ready: dict[int, list[int]] = {}
        self._linked = True

    def rewrite(self, read: Read) -> list[Piece]:
        """Returns the parts of the next text.

        Privacy:
            The release itself, with the operating system's entropy.
        """
        parts = [part for entry in read.entries if not isinstance(entry, str) for part in entry.parts]
        sizes = [self._surrogates.of(part.kind, part.layout)[0] for part in parts]
        for size, drawn in zip(sizes, _below(sizes), strict=True):  # at once: a call for each costs ten times as much
            self._ready.setdefault(size, []).append(drawn)
        pieces = [Piece(entry, entry) if isinstance(entry, str) else self._piece(entry) for entry in read.entries]
        self._ready.clear()
        for place, piece in enumerate(pieces):  # what looks like a tag of any of the texts must not be restored
            if piece.mention is None and "[" in piece.output:
                next_one = "".join(after.output[:1] for after in pieces[place + 1 : place + 2])
                output = not_a_tag(piece.output + next_one)
                pieces[place] = piece._replace(output=output[: len(output) - len(next_one)])
        return pieces

    def rewrite_unlinked(self, read: Read) -> list[Piece]:
        """Return the parts of a text in which each mention has a surrogate of its own, also if strings are equal.

        Privacy:
            No string of an earlier text is compared, and none is stored: the upstream learns no equality.
        """
        self._linked = False
        try:
            return self.rewrite(read)
        finally:
            self._linked = True

    def forget_strings(self) -> None:
        """Begin a new mapping: strings of later texts are linked to none of earlier ones. No surrogate comes again."""
        self._numbers.clear()
        self._tags.clear()

    def has_written(self, text: str) -> bool:
        """Return whether every word of this text came out as a surrogate, or the whole of it."""
        return key(text) in self._out or all(key(word) in self._out for word in text.split())

    @property
    def tags(self) -> Collection[str]:
        """The tags of the current mapping."""
        return self._tags.values()

    def _tag(self, called: str, equal: tuple[tuple[str, ...], ...]) -> str:
        return super()._tag(called, equal) if self._linked else f"[{called}]"

    def _piece(self, mention: Mention) -> Piece:
        drawn, original = self._mention(mention), mention.slot.text
        assert drawn is not None  # a conversation has no list that is drawn
        if isinstance(drawn, str):
            return Piece(drawn, original, None if drawn == original else mention)
        written = self._surrogates.spelled
        parts = tuple(
            [written(part[0], part[1], member, mention.case) for part, member in zip(mention.parts, drawn, strict=True)]
        )
        if len(parts) == 1:  # most of all
            return Piece(parts[0], original, mention, parts)
        dots = ["." if part.kind == "initial" else "" for part in mention.parts[:-1]]
        return Piece(" ".join(map("".join, zip(parts, [*dots, ""], strict=True))), original, mention, parts)

    def _draw(self, part: Part) -> int | None:
        """The member for a part; ``None`` if none is left, or the conversation has too many strings."""
        if not self._linked:
            return self._draw_unlinked(part)
        kind, layout = part.kind, part.layout
        size, consistent = self._surrogates.of(kind, layout)
        equal = kind, layout, part.folded
        if consistent and equal in self._numbers:
            return self._numbers[equal]
        if consistent and len(self._numbers) >= self._style.cap:
            return None
        member = self._unused(kind, layout, size, self._common if consistent or kind in _SKIPS_COMMON else ())
        if member is None:
            return None if consistent else self._below(size)
        if consistent:
            self._numbers[equal] = member
        return member

    def _draw_unlinked(self, part: Part) -> int:
        """A member for one mention alone; the pool stays as full as it was."""
        size, _ = self._surrogates.of(part.kind, part.layout)
        member = self._below(size)
        for _ in range(_TRIES):  # it should not be a word that a reply is restored by
            word = key(self._surrogates.spelled(part.kind, part.layout, member, LOWER))
            if word not in self._out and word not in self._common:
                break
            member = self._below(size)
        return member

    def _unused(self, kind: str, layout: str, size: int, skips: Collection[str]) -> int | None:
        """A member whose spelling did not come out, each as likely as any other; ``None`` where none is found."""

        def spelled(member: int) -> str:
            return key(self._surrogates.spelled(kind, layout, member, LOWER))

        for _ in range(_TRIES):
            found = self._below(size)
            if (word := spelled(found)) not in self._out and word not in skips:
                break
        else:
            listed = enumerate(map(spelled, range(size if size <= _MOST_LISTED else 0)))
            free = [(member, word) for member, word in listed if word not in self._out and word not in skips]
            if not free:
                return None
            found, word = free[self._below(len(free))]
        self._out.add(word)
        return found

    def _below(self, size: int) -> int:
        """A number below a size, each as likely as any other and used once."""
        ready = self._ready.get(size)
        return ready.pop() if ready else _below([size])[0]

    def state(self) -> dict[str, Any]:
        """Returns all that later draws depend on, as plain values for JSON. It is as private as the texts."""
        return {
            "members": [[*equal, member] for equal, member in self._numbers.items()],
            "tags": [[called, equal, tag] for (called, equal), tag in self._tags.items()],
            "counts": self._counts,
            "out": sorted(self._out),
        }

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Goes on where a state was taken."""
        self._numbers = {(kind, layout, folded): member for kind, layout, folded, member in state["members"]}
        self._tags = {(called, tuple(map(tuple, equal))): tag for called, equal, tag in state["tags"]}
        self._counts = dict(state["counts"])
        self._out = set(state["out"])


def _below(sizes: Sequence[int]) -> list[int]:
    return uniform_below(np.array(sizes, dtype=np.int64), entropy.random_uint64).tolist()
