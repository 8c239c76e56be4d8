"""A conversation on the rung ``names``: one document whose texts come one after the other.

Draws are functions of the skeletons of its texts and of earlier draws (docs/proofs/names.md).
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from textveil.mechanisms import entropy
from textveil.mechanisms.integer_sampling import uniform_below
from textveil.text.names.kinds import Mention, Part, Piece, as_first_name
from textveil.text.names.read import Read
from textveil.text.names.rewrite import Style, _Document, join_parts, quote_tags_of_json
from textveil.text.names.surrogates import Surrogates
from textveil.text.restore import not_a_tag
from textveil.text.segmentation import LOWER, key
from textveil.work_limits import check_work

#: Of other kinds some members are common words, whatever is left out.
_SKIPS_COMMON = frozenset(("month",))
#: Draws in a row that give used members until the unused ones are listed, and the largest pool of which they are. No
#: text within the limits of a request uses up a larger pool.
_TRIES, _MOST_LISTED = 32, 1 << 17
#: Entries of a text that are drawn together, and draws of one pool where these do not suffice.
_ENTRIES, _DRAWS = 1 << 9, 64
_Pool = tuple[str, str]


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
        #: Per pool: its unused members, in order. What is left is a function of all that came out.
        self._left: dict[_Pool, array[int]] = {}
        #: Per pool: draws to come, each uniform below the number beside them. They end with the text that they are for.
        self._ready: dict[_Pool, tuple[int, list[int]]] = {}
        self._linked = True

    def rewrite(self, read: Read) -> list[Piece]:
        """Returns the parts of the next text.

        Raises:
            WorkStopped: Whoever waits for it gave up; what was drawn stays drawn.

        Privacy:
            The release itself, with the operating system's entropy.
        """
        return [*self.stream(read.entries)]

    def stream(self, entries: Iterable[str | Mention]) -> Iterator[Piece]:
        """Yields the parts of the next text, as ``rewrite``, while its entries are read.

        Raises:
            WorkStopped: Whoever waits for it gave up; what was drawn stays drawn.

        Privacy:
            The release itself, with the operating system's entropy.
        """
        held = None
        for piece in quote_tags_of_json(self._draw_pieces(entries)):
            if held is not None:
                yield _without_tag(held, piece.output[:1])
            held = piece
        self._ready.clear()
        if held is not None:
            yield _without_tag(held, "")

    def _draw_pieces(self, entries: Iterable[str | Mention]) -> Iterator[Piece]:
        left = iter(entries)
        while block := [*islice(left, _ENTRIES)]:
            check_work()
            self._draw_ahead([part for entry in block if not isinstance(entry, str) for part in entry.parts])
            for entry in block:
                yield Piece(entry, entry) if isinstance(entry, str) else self._piece(entry)

    def rewrite_unlinked(self, entries: Iterable[str | Mention]) -> Iterator[Piece]:
        """Yield the parts of a text in which each mention has a surrogate of its own, also if strings are equal.

        Privacy:
            No string of an earlier text is compared, and none is stored: the upstream learns no equality.
        """
        self._linked = False
        try:
            yield from self.stream(entries)
        finally:
            self._linked = True

    def forget_strings(self) -> None:
        """Begin a new mapping: strings of later texts are linked to none of earlier ones. No surrogate comes again."""
        self._numbers.clear()
        self._tags.clear()

    def _tag(self, called: str, equal: tuple[tuple[str, ...], ...]) -> str:
        return super()._tag(called, equal) if self._linked else f"[{called}]"

    def _piece(self, mention: Mention) -> Piece:
        if mention.kind == "family" and self._linked:
            name = mention.parts[0].folded
            if ("given", "", name) in self._numbers and ("family", "", name) not in self._numbers:
                mention = as_first_name(mention)  # of a person in an earlier text
        drawn, original = self._mention(mention), mention.slot.text
        assert drawn is not None  # a conversation has no list that is drawn
        if isinstance(drawn, str):
            return Piece(drawn, original, None if drawn == original else mention)
        written = self._surrogates.spelled
        parts = tuple(
            [written(part[0], part[1], member, mention.case) for part, member in zip(mention.parts, drawn, strict=True)]
        )
        return join_parts(mention, parts)

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
            return None if consistent else self._below((kind, layout), size)
        if consistent:
            self._numbers[equal] = member
        return member

    def _draw_unlinked(self, part: Part) -> int:
        """A member for one mention alone; the pool stays as full as it was."""
        pool = part.kind, part.layout
        size, _ = self._surrogates.of(*pool)
        member = self._below(pool, size)
        for _ in range(_TRIES):  # it should not be a word that a reply is restored by
            word = key(self._surrogates.spelled(part.kind, part.layout, member, LOWER))
            if word not in self._out and word not in self._common:
                break
            member = self._below(pool, size)
        return member

    def _unused(self, kind: str, layout: str, size: int, skips: Collection[str]) -> int | None:
        """Draw among the members whose spelling did not come out; ``None`` where none is left.

        Each is as likely as any other. A member that is left once is left until it is drawn or its spelling comes out
        for another pool. So each member leaves the list once, however many mentions follow.
        """
        pool = kind, layout
        if pool not in self._left:
            for _ in range(_TRIES):
                found = self._below(pool, size)
                if self._take(kind, layout, found, skips):
                    return found
            if size > _MOST_LISTED:
                return None
            self._list(pool, size, skips)
        left = self._left[pool]
        while left:
            found = left.pop(self._below(pool, len(left)))
            if self._take(kind, layout, found, skips):
                return found
        return None

    def _take(self, kind: str, layout: str, member: int, skips: Collection[str]) -> bool:
        """Use up the spelling of a member; return whether it was unused."""
        word = key(self._surrogates.spelled(kind, layout, member, LOWER))
        if word in self._out or word in skips:
            return False
        self._out.add(word)
        return True

    def _list(self, pool: _Pool, size: int, skips: Collection[str]) -> None:
        kind, layout = pool
        words = (key(self._surrogates.spelled(kind, layout, member, LOWER)) for member in range(size))
        free = (member for member, word in enumerate(words) if word not in self._out and word not in skips)
        self._left[pool] = array("I", free)

    def _draw_ahead(self, parts: Sequence[Part]) -> None:
        """Draw one number for each part at once: a call for each costs ten times as much."""
        self._ready.clear()
        pools = [part[:2] for part in parts]
        totals = dict[_Pool, int]()
        for pool in dict.fromkeys(pools):
            totals[pool] = len(self._left.get(pool, ())) or self._surrogates.of(*pool)[0]
            self._ready[pool] = totals[pool], []
        for pool, number in zip(pools, _draw_below([totals[pool] for pool in pools]), strict=True):
            self._ready[pool][1].append(number)

    def _below(self, pool: _Pool, total: int) -> int:
        """Return a number below a total, each as likely as any other and used once.

        A number that is uniform below a larger total, given that it is below this one, is uniform below this one.
        """
        bound, numbers = self._ready.get(pool, (0, []))
        while numbers and bound >= total:
            if (number := numbers.pop()) < total:
                return number
        numbers = _draw_below([total] * min(_DRAWS, total))
        self._ready[pool] = total, numbers
        return numbers.pop()

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
        self._left.clear()


def _without_tag(piece: Piece, next_one: str) -> Piece:
    """What looks like a tag of any of the texts must not be restored; its number may be in the next piece."""
    if piece.mention is not None or "[" not in piece.output:
        return piece
    output = not_a_tag(piece.output + next_one)
    return piece._replace(output=output[: len(output) - len(next_one)])


def _draw_below(totals: Sequence[int]) -> list[int]:
    return uniform_below(np.array(totals, dtype=np.int64), entropy.random_uint64).tolist()
