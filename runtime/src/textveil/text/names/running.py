"""Conversation state of the mode ``names``: one document whose texts arrive in turn.

The draws are functions of the templates of its texts and of earlier draws (docs/proofs/names.md).
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

#: Types without consistent surrogates that still avoid common words. Pools of other such types contain common words
#: anyway.
_SKIPS_COMMON = frozenset(("month",))
#: Number of consecutive draws of used surrogates after which the unused ones are listed, and the largest pool that is
#: listed. No text within the limits of a request uses up a larger pool.
_TRIES, _MOST_LISTED = 32, 1 << 17
#: Number of entries of a text whose draws share one call, and draws per pool in a further call.
_ENTRIES, _DRAWS = 1 << 9, 64
_Pool = tuple[str, str]


class Running(_Document):
    """Draws of a conversation so far.

    No spelling occurs twice while its pool has unused ones, also for types without consistent surrogates. Surrogates of
    consistent types and months are never common words.

    Args:
        style: Options for the replacement of slots.
        surrogates: The surrogate pools.
        common: The words of the public list.
    """

    def __init__(self, style: Style, surrogates: Surrogates, common: Collection[str]) -> None:
        super().__init__((), style, surrogates, None)
        self._common, self._out = common, set[str]()
        #: By pool: its unused surrogates, in order. This list is a function of all earlier outputs.
        self._left: dict[_Pool, array[int]] = {}
        #: By pool: a bound and prepared draws, each uniform below the bound. They are dropped at the end of each text.
        self._ready: dict[_Pool, tuple[int, list[int]]] = {}
        self._linked = True

    def rewrite(self, read: Read) -> list[Piece]:
        """Return the parts of the next text.

        Raises:
            WorkStopped: The caller canceled the work. Draws that were made stay in effect.

        Privacy:
            This is the release itself. It uses the entropy of the operating system.
        """
        return [*self.stream(read.entries)]

    def stream(self, entries: Iterable[str | Mention]) -> Iterator[Piece]:
        """Yield the parts of the next text, as ``rewrite``, while its entries are read.

        Raises:
            WorkStopped: The caller canceled the work. Draws that were made stay in effect.

        Privacy:
            This is the release itself. It uses the entropy of the operating system.
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
        """Yield the parts of a text with a fresh surrogate for each mention, even for equal strings.

        Privacy:
            The method compares no string with an earlier text and stores none. The receiver learns no equality.
        """
        self._linked = False
        try:
            yield from self.stream(entries)
        finally:
            self._linked = True

    def forget_strings(self) -> None:
        """Clear the mapping of strings, so that later texts are not linked to earlier ones.

        Used surrogates stay used and do not occur again.
        """
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
        assert drawn is not None  # a conversation has no randomized list
        if isinstance(drawn, str):
            return Piece(drawn, original, None if drawn == original else mention)
        written = self._surrogates.spelled
        parts = tuple(
            [written(part[0], part[1], member, mention.case) for part, member in zip(mention.parts, drawn, strict=True)]
        )
        return join_parts(mention, parts)

    def _draw(self, part: Part) -> int | None:
        """Return the surrogate index of a part; ``None`` if its pool or the cap is used up."""
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
        """Return a surrogate index for one mention alone; the pool does not shrink."""
        pool = part.kind, part.layout
        size, _ = self._surrogates.of(*pool)
        member = self._below(pool, size)
        for _ in range(_TRIES):  # avoid words by which a reply is restored
            word = key(self._surrogates.spelled(part.kind, part.layout, member, LOWER))
            if word not in self._out and word not in self._common:
                break
            member = self._below(pool, size)
        return member

    def _unused(self, kind: str, layout: str, size: int, skips: Collection[str]) -> int | None:
        """Draw uniformly among surrogates with an unused spelling; return ``None`` if there is none.

        Once the unused surrogates are listed, each stays in the list until it is drawn or another pool uses its
        spelling. Each leaves the list once, so the total cost is bounded for any number of mentions.
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
        """Mark the spelling of a surrogate as used; return whether it was unused."""
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
        """Draw one number for each part in one call: separate calls cost ten times as much."""
        self._ready.clear()
        pools = [part[:2] for part in parts]
        totals = dict[_Pool, int]()
        for pool in dict.fromkeys(pools):
            totals[pool] = len(self._left.get(pool, ())) or self._surrogates.of(*pool)[0]
            self._ready[pool] = totals[pool], []
        for pool, number in zip(pools, _draw_below([totals[pool] for pool in pools]), strict=True):
            self._ready[pool][1].append(number)

    def _below(self, pool: _Pool, total: int) -> int:
        """Return a number uniform below ``total`` that is used once.

        A number that is uniform below a larger bound is uniform below ``total``, given that it is below ``total``.
        """
        bound, numbers = self._ready.get(pool, (0, []))
        while numbers and bound >= total:
            if (number := numbers.pop()) < total:
                return number
        numbers = _draw_below([total] * min(_DRAWS, total))
        self._ready[pool] = total, numbers
        return numbers.pop()

    def state(self) -> dict[str, Any]:
        """Return the state that later draws depend on, as plain JSON values.

        Privacy:
            It is as private as the texts.
        """
        return {
            "members": [[*equal, member] for equal, member in self._numbers.items()],
            "tags": [[called, equal, tag] for (called, equal), tag in self._tags.items()],
            "counts": self._counts,
            "out": sorted(self._out),
        }

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""
        self._numbers = {(kind, layout, folded): member for kind, layout, folded, member in state["members"]}
        self._tags = {(called, tuple(map(tuple, equal))): tag for called, equal, tag in state["tags"]}
        self._counts = dict(state["counts"])
        self._out = set(state["out"])
        self._left.clear()


def _without_tag(piece: Piece, next_one: str) -> Piece:
    """Escape kept text that resembles a tag, which must not be restored.

    The number of the tag may be in the next piece, of which ``next_one`` is the first character.
    """
    if piece.mention is not None or "[" not in piece.output:
        return piece
    output = not_a_tag(piece.output + next_one)
    return piece._replace(output=output[: len(output) - len(next_one)])


def _draw_below(totals: Sequence[int]) -> list[int]:
    return uniform_below(np.array(totals, dtype=np.int64), entropy.random_uint64).tolist()
