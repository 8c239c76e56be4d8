"""State of a conversation in the mode ``names``: its texts arrive one after the other, as parts of one document.

The random choices of replacements depend only on earlier random choices and on the templates of the texts. A template
has the unchanged words of a text, and the types of its replaced entities (docs/proofs/names.md).
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from textveil.mechanisms import entropy
from textveil.mechanisms.entropy import draw_uniform_below
from textveil.text.names.entity_types import EntityMention, MentionPart, convert_to_given_name
from textveil.text.names.guarantee import ReplacementStyle
from textveil.text.names.read import ReadText
from textveil.text.names.reply_pairs import RewrittenElement, quote_json_tags
from textveil.text.names.rewrite import DocumentDraws, spell_mention
from textveil.text.names.surrogates import SurrogatePools
from textveil.text.names.tokens import EntitySpan
from textveil.text.restore import escape_tags
from textveil.text.segmentation import LOWER, find_case_pattern, fold_word
from textveil.work_steps import check_work, free_in_steps, sort_strings

#: Types whose surrogates are never common words, although equal strings of these types do not get equal surrogates. The
#: pools of other such types have common words anyway.
_AVOIDING_COMMON = frozenset(("month",))
#: After this many consecutive draws of used surrogates, the unused ones of the pool are listed. The second number is
#: the size of the largest pool that is listed: no text within the limits of a request uses up a larger pool.
_MAX_TRIES, _MAX_LISTED_POOL = 32, 1 << 17
#: Number of elements of a text whose random numbers are drawn in one call, and of draws in a further call for one pool.
_BLOCK_ELEMENTS, _DRAWS_PER_CALL = 1 << 9, 64
_Pool = tuple[str, str]


def make_assigned_mention(entity_type: str, text: str) -> EntityMention:
    """Return a non-blank text as one entity (``EntityMention``) of the given type, without classifying the text.

    Args:
        entity_type: One of ``ASSIGNABLE_TYPES``.
        text: The text. Only its case pattern and, for a person, the number of its words matter.
    """
    words = text.split() if entity_type == "person" else [text]
    part_types = ["given"] * (len(words) - 1) + ["family"] if entity_type == "person" else [entity_type]
    parts = tuple(MentionPart(kind, "", fold_word(word), word) for kind, word in zip(part_types, words, strict=True))
    case = find_case_pattern(text)
    return EntityMention(
        entity_type if len(parts) > 1 else part_types[0], case, parts, EntitySpan(entity_type, case, "", (), text), text
    )


class ConversationDraws(DocumentDraws):
    """Chooses random surrogates (replacements of names and other entities) for all texts of a conversation.

    A pool is the list of possible surrogates of one entity type. No surrogate is used twice while its pool has unused
    ones. For most types, equal strings get equal surrogates. The surrogates of these types, and those for months, are
    never common words.

    Args:
        style: Options for the replacement of entities, such as surrogates or tags.
        surrogates: The surrogate pools of all entity types.
        common: The public list of common words, which the mode leaves unchanged.
    """

    def __init__(self, style: ReplacementStyle, surrogates: SurrogatePools, common: Collection[str]) -> None:
        super().__init__((), style, surrogates, None)
        self._common, self._used_spellings = common, set[str]()
        #: For each pool that was listed: its unused surrogates. The list is a function of all earlier outputs.
        self._unused_indices: dict[_Pool, array[int]] = {}
        #: For each pool: a bound, and random numbers below it that are not used yet. Dropped at the end of each text.
        self._prepared: dict[_Pool, tuple[int, list[int]]] = {}
        self._is_linked = True

    def rewrite(self, read: ReadText) -> list[RewrittenElement]:
        """Replace the entities in the next text of the conversation, and return the parts of the new text.

        The result has the unchanged parts of the text, and a surrogate (replacement) for each detected entity.

        Args:
            read: Unchanged parts and entities of the text.

        Raises:
            WorkStopped: The caller canceled the work. Random choices up to this point remain in effect.

        Privacy:
            This method computes the noisy output, with random numbers of the operating system.
        """
        return [*self.rewrite_stream(read.elements)]

    def rewrite_stream(self, elements: Iterable[str | EntityMention]) -> Iterator[RewrittenElement]:
        """Yield the parts of the result of ``rewrite`` one by one, while ``elements`` yields the parts of the text.

        Args:
            elements: Unchanged parts and entities of the text, in order.

        Raises:
            WorkStopped: The caller canceled the work. Random choices up to this point remain in effect.

        Privacy:
            This method computes the noisy output, with random numbers of the operating system.
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
            if not self._style.tags:  # tags need no random numbers
                self._sample_ahead([part for entry in block if not isinstance(entry, str) for part in entry.parts])
            for entry in block:
                yield RewrittenElement(entry, entry) if isinstance(entry, str) else self._rewrite_mention(entry)

    def rewrite_unlinked(self, elements: Iterable[str | EntityMention]) -> Iterator[RewrittenElement]:
        """Yield the parts of a text, with a new surrogate (replacement) for each detected entity.

        Even equal names in the text get separate random surrogates.

        Args:
            elements: Unchanged parts and entities of the text, in order.

        Privacy:
            The method compares no string with an earlier text and stores no string. So the output does not reveal which
            strings are equal.
        """
        self._is_linked = False
        try:
            yield from self.rewrite_stream(elements)
        finally:
            self._is_linked = True

    def forget_strings(self) -> None:
        """Forget which surrogate (replacement) belongs to which name, so that later texts get new ones.

        The surrogates so far remain marked as used, so they do not occur again.
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
        return spell_mention(self._surrogates, mention, drawn_parts)

    def _draw_part(self, part: MentionPart) -> int | None:
        """Choose the surrogate (replacement) for a part of an entity, such as a first name, and return its index.

        The result is ``None`` if all surrogates of the type are in use, or if the conversation has as many distinct
        strings as the option ``consistent_cap`` permits. Then a tag such as ``[city 1]`` replaces the entity. Types
        whose equal strings get different surrogates never need a tag: their surrogates can be used again.
        """
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
        """Return the index of a random surrogate (replacement) for an entity, without marking the surrogate as used."""
        pool = part.entity_type, part.layout
        size, _ = self._surrogates.get_size_and_consistency(*pool)
        index = self._sample_below(pool, size)
        for _ in range(_MAX_TRIES):  # avoid surrogates in use: a reply with one of them would be restored
            word = fold_word(self._surrogates.spell_surrogate(part.entity_type, part.layout, index, LOWER))
            if word not in self._used_spellings and word not in self._common:
                break
            index = self._sample_below(pool, size)
        return index

    def _draw_unused(self, entity_type: str, layout: str, size: int, avoided: Collection[str]) -> int | None:
        """Choose uniformly among the unused surrogates (replacements) of a pool; return ``None`` if there is none.

        A pool has the possible surrogates of one entity type and layout (public form, such as the number of digits). At
        first the method samples from the whole pool until a surrogate is unused. After too many failures it lists the
        unused surrogates of the pool, and from then on samples from this list; for a pool that is too large for a list,
        it returns ``None``. Each surrogate leaves the list only once, so the total cost is bounded for any number of
        mentions.

        Args:
            entity_type: Entity type of the pool.
            layout: Layout of the pool.
            size: Number of surrogates of the pool.
            avoided: Words that must not be drawn.
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
        """Mark a surrogate (replacement) as used if it is not used yet and need not be avoided.

        Args:
            entity_type: Entity type of the surrogate.
            layout: Layout (public form, such as the number of digits) of the surrogate.
            index: Index of the surrogate in its pool.
            avoided: Words that must not be chosen.

        Returns:
            Whether the surrogate can be used.
        """
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
        """Sample one random number for each part of an entity, in one call: separate calls take ten times as long."""
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
        """Return a random number, uniform below ``limit``. The method returns each sampled number only once.

        ``_sample_ahead`` may have sampled numbers uniformly below a larger bound. Each of them that is below ``limit``
        is also uniform below ``limit``, so the first such number is the result. If none is left, the method samples new
        ones.

        Args:
            pool: Entity type and layout (public form) of the replacements among which the number chooses.
            limit: Upper bound (exclusive) of the result.
        """
        bound, numbers = self._prepared.get(pool, (0, []))
        while numbers and bound >= limit:
            if (number := numbers.pop()) < limit:
                return number
        numbers = _sample_all_below([limit] * min(_DRAWS_PER_CALL, limit))
        self._prepared[pool] = limit, numbers
        return numbers.pop()

    def export_state(self) -> dict[str, Any]:
        """Return all choices of replacements so far as a dictionary for JSON, to continue the conversation later.

        ``restore_state`` reads this dictionary.

        Privacy:
            The state is as private as the texts.
        """
        return {
            "draw_numbers": [[*equal, member] for equal, member in self._draw_numbers.items()],
            "tags": [*self._iterate_tags()],
            "counts": self._counts,
            "used_spellings": sort_strings(self._used_spellings),
        }

    def free_memory(self) -> None:
        """Delete the stored names and replacements in small steps, so that other threads can run in between.

        No thread may use the object afterward.
        """
        free_in_steps(self._draw_numbers, self._tags, self._used_spellings)

    def _iterate_tags(self) -> Iterator[list[Any]]:
        """Yield each tag, such as ``[city 1]``, as a list: entity type, normalized original text, and the tag."""
        for (public_type, *parts), tags in self._tags.items():
            for strings, tag in tags.items():
                folded = (strings,) if isinstance(strings, str) else strings
                yield [public_type, [[*part, string] for part, string in zip(parts, folded, strict=True)], tag]

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Continue an earlier conversation: load a state that ``export_state`` returned."""
        self._draw_numbers = {(kind, layout, folded): member for kind, layout, folded, member in state["draw_numbers"]}
        self._tags = {}
        for public_type, equality_key, tag in state["tags"]:
            group = public_type, *[tuple(part[:-1]) for part in equality_key]
            strings = [part[-1] for part in equality_key]
            self._tags.setdefault(group, {})[tuple(strings) if len(strings) > 1 else strings[0]] = tag
        self._counts = dict(state["counts"])
        self._used_spellings = set(state["used_spellings"])
        self._unused_indices.clear()


def _escape_like_tag(element: RewrittenElement, next_character: str) -> RewrittenElement:
    """Escape user text that looks like a tag such as ``[city 1]``, so that restoring leaves that text unchanged.

    Args:
        element: A part of the output.
        next_character: First character of the next part, because a tag may continue there: this part may end with
            ``[city ``, and the next part begin with ``1]``.
    """
    if element.mention is not None or "[" not in element.output:
        return element
    output = escape_tags(element.output + next_character)
    return element._replace(output=output[: len(output) - len(next_character)])


def _sample_all_below(bounds: Sequence[int]) -> list[int]:
    return draw_uniform_below(np.array(bounds, dtype=np.int64), entropy.random_uint64).tolist()
