"""Conversation state of the mode ``names``: one document whose texts arrive in turn.

The draws are functions of the templates of its texts and of earlier draws (docs/proofs/names.md).
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from textveil.mechanisms import entropy
from textveil.mechanisms.integer_sampling import draw_uniform_below
from textveil.text.names.entity_types import EntityMention, MentionPart, RewrittenElement, convert_to_given_name
from textveil.text.names.guarantee import ReplacementStyle
from textveil.text.names.read import ReadText
from textveil.text.names.rewrite import DocumentDraws, join_surrogates, quote_json_tags
from textveil.text.names.surrogates import SurrogatePools
from textveil.text.restore import escape_tags
from textveil.text.segmentation import LOWER, fold_word
from textveil.work_limits import check_work

#: Types without consistent surrogates that still avoid common words. Pools of other such types contain common words
#: anyway.
_AVOIDING_COMMON = frozenset(("month",))
#: Number of consecutive draws of used surrogates after which the unused ones are listed, and the largest pool that is
#: listed. No text within the limits of a request uses up a larger pool.
_MAX_TRIES, _MAX_LISTED_POOL = 32, 1 << 17
#: Number of entries of a text whose draws share one call, and draws per pool in a further call.
_BLOCK_ELEMENTS, _DRAWS_PER_CALL = 1 << 9, 64
_Pool = tuple[str, str]


class ConversationDraws(DocumentDraws):
    """Draws of a conversation so far.

    No spelling occurs twice while its pool has unused ones, also for types without consistent surrogates. Surrogates of
    consistent types and months are never common words.

    Args:
        style: Options for the replacement of spans.
        surrogates: The surrogate pools.
        common: The words of the public list.
    """

    def __init__(self, style: ReplacementStyle, surrogates: SurrogatePools, common: Collection[str]) -> None:
        super().__init__((), style, surrogates, None)
        self._common, self._used_spellings = common, set[str]()
        #: By pool: its unused surrogates, in order. This list is a function of all earlier outputs.
        self._unused_indices: dict[_Pool, array[int]] = {}
        #: By pool: a bound and prepared draws, each uniform below the bound. They are dropped at the end of each text.
        self._prepared: dict[_Pool, tuple[int, list[int]]] = {}
        self._is_linked = True

    def rewrite(self, read: ReadText) -> list[RewrittenElement]:
        """Return the parts of the next text.

        Raises:
            WorkStopped: The caller canceled the work. Draws that were made stay in effect.

        Privacy:
            This is the release itself. It uses the entropy of the operating system.
        """
        return [*self.rewrite_stream(read.elements)]

    def rewrite_stream(self, elements: Iterable[str | EntityMention]) -> Iterator[RewrittenElement]:
        """Yield the parts of the next text, as ``rewrite``, while its entries are read.

        Raises:
            WorkStopped: The caller canceled the work. Draws that were made stay in effect.

        Privacy:
            This is the release itself. It uses the entropy of the operating system.
        """
        held = None
        for element in quote_json_tags(self._iterate_drawn(elements)):
            if held is not None:
                yield _escape_like_tag(held, element.output[:1])
            held = element
        self._prepared.clear()
        if held is not None:
            yield _escape_like_tag(held, "")

    def _iterate_drawn(self, elements: Iterable[str | EntityMention]) -> Iterator[RewrittenElement]:
        remaining = iter(elements)
        while block := [*islice(remaining, _BLOCK_ELEMENTS)]:
            check_work()
            self._sample_ahead([part for element in block if not isinstance(element, str) for part in element.parts])
            for entry in block:
                yield RewrittenElement(entry, entry) if isinstance(entry, str) else self._rewrite_mention(entry)

    def rewrite_unlinked(self, elements: Iterable[str | EntityMention]) -> Iterator[RewrittenElement]:
        """Yield the parts of a text with a fresh surrogate for each mention, even for equal strings.

        Privacy:
            The method compares no string with an earlier text and stores none. The receiver learns no equality.
        """
        self._is_linked = False
        try:
            yield from self.rewrite_stream(elements)
        finally:
            self._is_linked = True

    def forget_strings(self) -> None:
        """Clear the mapping of strings, so that later texts are not linked to earlier ones.

        Used surrogates stay used and do not occur again.
        """
        self._draw_numbers.clear()
        self._tags.clear()

    def _get_tag(self, public_type: str, equality_key: tuple[tuple[str, ...], ...]) -> str:
        return super()._get_tag(public_type, equality_key) if self._is_linked else f"[{public_type}]"

    def _rewrite_mention(self, mention: EntityMention) -> RewrittenElement:
        if mention.entity_type == "family" and self._is_linked:
            name = mention.parts[0].folded
            if ("given", "", name) in self._draw_numbers and ("family", "", name) not in self._draw_numbers:
                mention = convert_to_given_name(mention)  # of a person in an earlier text
        drawn_parts, original = self._plan_mention(mention), mention.span.text
        assert drawn_parts is not None  # a conversation has no randomized list
        if isinstance(drawn_parts, str):
            return RewrittenElement(drawn_parts, original, None if drawn_parts == original else mention)
        return join_surrogates(mention, self._surrogates.spell_surrogates(mention.parts, drawn_parts, mention.case))

    def _draw_part(self, part: MentionPart) -> int | None:
        """Return the surrogate index of a part; ``None`` if its pool or the cap is used up."""
        if not self._is_linked:
            return self._draw_unlinked(part)
        entity_type, layout = part.entity_type, part.layout
        size, is_consistent = self._surrogates.get_size_and_consistency(entity_type, layout)
        equality_key = entity_type, layout, part.folded
        if is_consistent and equality_key in self._draw_numbers:
            return self._draw_numbers[equality_key]
        if is_consistent and len(self._draw_numbers) >= self._style.cap:
            return None
        index = self._draw_unused(
            entity_type, layout, size, self._common if is_consistent or entity_type in _AVOIDING_COMMON else ()
        )
        if index is None:
            return None if is_consistent else self._sample_below((entity_type, layout), size)
        if is_consistent:
            self._draw_numbers[equality_key] = index
        return index

    def _draw_unlinked(self, part: MentionPart) -> int:
        """Return a surrogate index for one mention alone; the pool does not shrink."""
        pool = part.entity_type, part.layout
        size, _ = self._surrogates.get_size_and_consistency(*pool)
        index = self._sample_below(pool, size)
        for _ in range(_MAX_TRIES):  # avoid words by which a reply is restored
            word = fold_word(self._surrogates.spell_surrogate(part.entity_type, part.layout, index, LOWER))
            if word not in self._used_spellings and word not in self._common:
                break
            index = self._sample_below(pool, size)
        return index

    def _draw_unused(self, entity_type: str, layout: str, size: int, avoided: Collection[str]) -> int | None:
        """Draw uniformly among surrogates with an unused spelling; return ``None`` if there is none.

        Once the unused surrogates are listed, each stays in the list until it is drawn or another pool uses its
        spelling. Each leaves the list once, so the total cost is bounded for any number of mentions.
        """
        pool = entity_type, layout
        if pool not in self._unused_indices:
            for _ in range(_MAX_TRIES):
                index = self._sample_below(pool, size)
                if self._mark_used(entity_type, layout, index, avoided):
                    return index
            if size > _MAX_LISTED_POOL:
                return None
            self._list_unused(pool, size, avoided)
        unused = self._unused_indices[pool]
        while unused:
            index = unused.pop(self._sample_below(pool, len(unused)))
            if self._mark_used(entity_type, layout, index, avoided):
                return index
        return None

    def _mark_used(self, entity_type: str, layout: str, index: int, avoided: Collection[str]) -> bool:
        """Mark the spelling of a surrogate as used; return whether it was unused."""
        word = fold_word(self._surrogates.spell_surrogate(entity_type, layout, index, LOWER))
        if word in self._used_spellings or word in avoided:
            return False
        self._used_spellings.add(word)
        return True

    def _list_unused(self, pool: _Pool, size: int, avoided: Collection[str]) -> None:
        entity_type, layout = pool
        words = (
            fold_word(self._surrogates.spell_surrogate(entity_type, layout, member, LOWER)) for member in range(size)
        )
        free = (member for member, word in enumerate(words) if word not in self._used_spellings and word not in avoided)
        self._unused_indices[pool] = array("I", free)

    def _sample_ahead(self, parts: Sequence[MentionPart]) -> None:
        """Draw one number for each part in one call: separate calls cost ten times as much."""
        self._prepared.clear()
        pools = [part[:2] for part in parts]
        bounds = dict[_Pool, int]()
        for pool in dict.fromkeys(pools):
            bounds[pool] = (
                len(self._unused_indices.get(pool, ())) or self._surrogates.get_size_and_consistency(*pool)[0]
            )
            self._prepared[pool] = bounds[pool], []
        for pool, number in zip(pools, _sample_all_below([bounds[pool] for pool in pools]), strict=True):
            self._prepared[pool][1].append(number)

    def _sample_below(self, pool: _Pool, limit: int) -> int:
        """Return a number uniform below ``limit`` that is used once.

        A number that is uniform below a larger bound is uniform below ``limit``, given that it is below ``limit``.
        """
        bound, numbers = self._prepared.get(pool, (0, []))
        while numbers and bound >= limit:
            if (number := numbers.pop()) < limit:
                return number
        numbers = _sample_all_below([limit] * min(_DRAWS_PER_CALL, limit))
        self._prepared[pool] = limit, numbers
        return numbers.pop()

    def export_state(self) -> dict[str, Any]:
        """Return the state that later draws depend on, as plain JSON values.

        Privacy:
            It is as private as the texts.
        """
        return {
            "draw_numbers": [[*equal, member] for equal, member in self._draw_numbers.items()],
            "tags": [[called, equal, tag] for (called, equal), tag in self._tags.items()],
            "counts": self._counts,
            "used_spellings": sorted(self._used_spellings),
        }

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``export_state`` returned."""
        self._draw_numbers = {(kind, layout, folded): member for kind, layout, folded, member in state["draw_numbers"]}
        self._tags = {(called, tuple(map(tuple, equal))): tag for called, equal, tag in state["tags"]}
        self._counts = dict(state["counts"])
        self._used_spellings = set(state["used_spellings"])
        self._unused_indices.clear()


def _escape_like_tag(element: RewrittenElement, next_character: str) -> RewrittenElement:
    """Escape kept text that resembles a tag, which must not be restored.

    The number of the tag may be in the next piece, of which ``next_character`` is the first character.
    """
    if element.mention is not None or "[" not in element.output:
        return element
    output = escape_tags(element.output + next_character)
    return element._replace(output=output[: len(output) - len(next_character)])


def _sample_all_below(bounds: Sequence[int]) -> list[int]:
    return draw_uniform_below(np.array(bounds, dtype=np.int64), entropy.random_uint64).tolist()
