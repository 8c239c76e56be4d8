"""Rewriter of documents: replaces names and other entities by random surrogates (replacements).

A *draw* is the random choice of a surrogate. It does not read the string that the surrogate replaces. It depends only
on the type, the layout (public form) and the case of the replaced entity, and on which entities are equal
(docs/proofs/names.md).
"""

import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, cast

import numpy as np

from textveil.mechanisms import entropy
from textveil.mechanisms.entropy import draw_uniform_below
from textveil.text.inflections import SurrogatePair
from textveil.text.names.detector import SpanDetector, hide_detected_spans
from textveil.text.names.entity_types import PUBLIC_TYPE_NAMES, EntityMention, GivenNameLinker, MentionPart
from textveil.text.names.guarantee import LONG_NUMBERS, ReplacementStyle
from textveil.text.names.read import NamesReader, ReadingRules, ReadText
from textveil.text.names.reply_pairs import (
    RewrittenElement,
    are_independent,
    join_with_tags,
    quote_json_tags,
    write_tags,
    write_with_pairs,
)
from textveil.text.names.surrogates import SurrogatePools
from textveil.text.names.tokens import IDENTIFIER_PIECE, JSON_NUMBER_CASE, KNOWN_PERSON, RANDOMIZED_POOL
from textveil.text.replaced_spans import RANDOMIZED_WORD, SpanOutline, outline_elements
from textveil.text.restore import Restorer
from textveil.text.statement import RewrittenDocument
from textveil.work_steps import check_work

if TYPE_CHECKING:
    from textveil.text.names.word_list import WordListRandomizer

#: Largest pool from which a document draws each surrogate only once, for types whose equal strings get different
#: surrogates. In larger pools, repeated surrogates are rare.
_MAX_DEALT_POOL = 1 << 20

#: For documents with more elements, the pairs are computed when the text is written.
_MAX_DEFERRED_ELEMENTS = 1 << 11

#: Documents share one call of the random generator until they have this many characters together.
_BATCH_CHARACTERS = 1 << 15
_KEPT_COUNT, _REPLACED_WORDS = attrgetter("kept_count"), attrgetter("replaced_words")
#: The output for a mention without a draw, or the number of the draw of each part; ``None`` for a randomized word.
_PlannedOutput = str | list[int] | None
_TagGroup = tuple[str | tuple[str, ...], ...]


class SurrogateDeck:
    """The surrogates (replacements) of one entity type that a document has not used yet.

    Like a shuffled deck of cards: each call of ``deal`` removes one surrogate, so no surrogate is chosen twice (partial
    Fisher-Yates shuffle).
    """

    __slots__ = ("_left", "_moved", "free")

    def __init__(self, size: int) -> None:
        #: Number of surrogates that are neither dealt nor reserved for a planned draw. ``_left`` counts reserved ones.
        self.free: int = size
        self._left = size
        self._moved: dict[int, int] = {}

    def deal(self, index: int) -> int:
        """Remove one of the remaining surrogates (replacements), and return its index among all surrogates of the type.

        Args:
            index: A random number below the number of remaining surrogates.
        """
        self._left = left = self._left - 1
        dealt = self._moved.get(index, index)
        self._moved[index] = self._moved.get(left, left)
        return dealt


class DocumentDraws:
    """The draws (random choices of replacements) for the entities of one document. Equal entities can share a draw.

    Args:
        texts: The texts of the document, as a ``NamesReader`` returns them.
        style: Options for the replacement of entities, such as surrogates or tags.
        surrogates: The surrogate pools (possible replacements) of all entity types.
        key: Secret key, with which equal entities in all documents get equal surrogates; or ``None``.
    """

    def __init__(
        self, texts: Sequence[ReadText], style: ReplacementStyle, surrogates: SurrogatePools, key: bytes | None
    ) -> None:
        self._texts, self._style, self._surrogates, self._key = texts, style, surrogates, key
        #: Whether the originals outlive the call, in the mapping that restores replies.
        self.is_restorable: bool = bool(style.consistent) and key is None
        self._decks: dict[tuple[str, str], SurrogateDeck] = {}
        self._draw_numbers: dict[tuple[str, str, str], int] = {}
        #: Tags by the public type and by type and layout of each part, then by the folded string of the only part, or
        #: by those of all parts. One dictionary with the whole keys would take twice the memory.
        self._tags: dict[_TagGroup, dict[str | tuple[str, ...], str]] = {}
        self._counts: dict[str, int] = {}
        #: For each draw, how many surrogates it chooses from; ``_decks_by_draw`` has its deck, or ``None``.
        self.bounds: list[int] = []
        self._decks_by_draw: list[SurrogateDeck | None] = []
        #: Words of the randomized list, in order of the text. Each is randomized independently.
        self.randomized_words: list[str] = []
        self._draws = [
            [self._plan_mention(entry) for entry in text.elements if not isinstance(entry, str)] for text in texts
        ]

    def _plan_mention(self, mention: EntityMention) -> _PlannedOutput:
        """Plan the replacement of a detected entity: a tag, nothing, a surrogate or a randomized word.

        Returns:
            A string if the output needs no draw (random choice): a tag, or an empty string for a removed entity. The
            index of the draw for each part of the entity (``_draw_part``) if it gets a surrogate. ``None`` for a word
            that the option ``randomize`` randomizes.
        """
        pool, style = mention.parts[0][:2], self._style
        if pool == RANDOMIZED_POOL:
            self.randomized_words.append(mention.parts[0].folded)
            return None
        public_type = PUBLIC_TYPE_NAMES.get(mention.entity_type, mention.entity_type)
        if public_type in style.drop:
            return ""
        if (
            style.tags
            or public_type in style.tag
            or mention.span.entity_type == IDENTIFIER_PIECE
            or (pool[0] in self._surrogates.own_types and self._surrogates.needs_tag(*pool))
            or (mention.entity_type in style.value_tags and pool[1] not in LONG_NUMBERS)
        ):
            return self._get_tag(*_describe_tag(public_type, mention))
        draws = [*map(self._draw_part, mention.parts)]
        return self._get_tag(*_describe_tag(public_type, mention)) if None in draws else cast("list[int]", draws)

    def _get_tag(self, public_type: str, equality_key: tuple[tuple[str, ...], ...]) -> str:
        if len(equality_key) == 1:  # usual
            group, strings = (public_type, equality_key[0][:-1]), equality_key[0][-1]
        else:
            group = public_type, *[part[:-1] for part in equality_key]
            strings = tuple([part[-1] for part in equality_key])
        tags = self._tags.get(group)
        if tags is None:
            tags = self._tags[group] = {}
        tag = tags.get(strings)
        if tag is None:
            self._counts[public_type] = self._counts.get(public_type, 0) + 1
            tag = tags[strings] = f"[{public_type} {self._counts[public_type]}]"
        return tag

    def _draw_part(self, part: MentionPart) -> int | None:
        """Plan a draw (random choice of a replacement) for a part of an entity, and return the index of the draw.

        The result is ``None`` if all replacements of the type are in use, or if the document has as many distinct
        strings as the option ``consistent_cap`` permits.

        With a secret key there is no draw: a keyed hash of the text selects the replacement. The result is then
        ``-1 - index``, where ``index`` is the position of the replacement in its pool (all replacements of a type).
        """
        cached = self._surrogates.cached_sizes.get(part[:2])
        size, is_consistent = cached or self._surrogates.get_size_and_consistency(part.entity_type, part.layout)
        if not self._style.consistent or (self._key is not None and not is_consistent):
            return self._add_draw(size, None)
        if self._key is not None:
            return -1 - _compute_keyed_number(self._key, part) % size
        equality_key = part[:3]
        if not is_consistent:  # a surrogate with two originals cannot be restored
            number = self._plan_deal(equality_key[:2], size) if size <= _MAX_DEALT_POOL else None
            return self._add_draw(size, None) if number is None else number
        number = self._draw_numbers.get(equality_key)
        if number is None:
            if len(self._draw_numbers) >= self._style.cap:
                return None
            number = self._plan_deal(equality_key[:2], size)
            if number is not None:
                self._draw_numbers[equality_key] = number
        return number

    def _plan_deal(self, pool: tuple[str, str], size: int) -> int | None:
        """Plan a random choice of a replacement that the document has not used yet, and return the index of the choice.

        The result is ``None`` if all replacements of the pool are in use.

        Args:
            pool: Entity type and layout (public form), which select the pool of possible replacements.
            size: Number of replacements of the pool.
        """
        deck = self._decks.get(pool)
        if deck is None:
            deck = self._decks[pool] = SurrogateDeck(size)
        if deck.free == 0:
            return None
        number = self._add_draw(deck.free, deck)
        deck.free -= 1
        return number

    def _add_draw(self, bound: int, deck: SurrogateDeck | None) -> int:
        self.bounds.append(bound)
        self._decks_by_draw.append(deck)
        return len(self.bounds) - 1

    def write_texts(
        self, samples: Sequence[int], words: Iterator[str]
    ) -> tuple[list[str], Callable[[], Iterable[SurrogatePair]], list[SpanOutline | None]]:
        """Write the texts of the document with their surrogates (replacements).

        Args:
            samples: For each draw (random choice), a random number below the draw's entry in the attribute ``bounds``.
            words: The randomized output of each word of the attribute ``randomized_words``. Outputs for other documents
                may follow.

        Returns:
            Three values: the texts; a function that returns the pairs of surrogate and original, with which replies are
            restored; and the outline of each text (the positions of its replaced parts). An outline is ``None`` if text
            that looks like a tag was escaped, so that positions changed.
        """
        indices = [
            index if deck is None else deck.deal(index)
            for index, deck in zip(samples, self._decks_by_draw, strict=True)
        ]
        outputs = [*islice(words, len(self.randomized_words))]
        spellings, remaining = _SurrogateSpellings(self._surrogates, indices, self.is_restorable), iter(outputs)
        texts, outlines = list[str](), list[SpanOutline | None]()
        for text, draws in zip(self._texts, self._draws, strict=True):
            written, outline = spellings.write_text(text.elements, draws, remaining)
            texts.append(written)
            outlines.append(outline)
        find_pairs = partial(spellings.find_pairs, [text.elements for text in self._texts], self._draws, outputs)
        if sum(len(text.elements) for text in self._texts) > _MAX_DEFERRED_ELEMENTS:
            pairs = find_pairs()
            return texts, lambda: pairs, outlines
        return texts, find_pairs, outlines


#: A document, its number of kept words, and its number of replaced unlisted words.
_CountedDocument = tuple[DocumentDraws, int, int]


class NamesRewriter:
    """Rewrites the documents of one call: replaces names and other entities by surrogates.

    Args:
        reading: Lexicon, classifier and rules that read the texts.
        surrogates: The surrogate pools (possible replacements) of all entity types.
        style: Options for the replacement of entities, such as surrogates or tags.
        key: Secret key, with which equal entities in all documents get equal surrogates; or ``None``.
        randomizer: Randomizer for the words of the option ``randomize``, or ``None``.
        detector: Detector that hides further parts of the output, or ``None``.

    Privacy:
        While ``rewrite`` runs, its reader holds the original texts.
    """

    def __init__(
        self,
        reading: ReadingRules,
        surrogates: SurrogatePools,
        style: ReplacementStyle,
        *,
        key: bytes | None = None,
        randomizer: "WordListRandomizer | None" = None,
        detector: SpanDetector | None = None,
    ) -> None:
        self._reading, self._surrogates, self._style = reading, surrogates, style
        self._key, self._randomizer, self._detector = key, randomizer, detector

    def rewrite(self, documents: Sequence[Sequence[str]]) -> Iterator[RewrittenDocument]:
        """Replace the names and other entities of each document, and yield the sanitized documents.

        A sanitized document also has pairs of surrogate and original, with which replies are restored, and counts of
        unchanged and replaced words.

        Privacy:
            This method computes the noisy output, with random numbers of the operating system.
        """
        reader = NamesReader(self._reading)
        batch: list[_CountedDocument] = []
        characters = 0
        for texts in documents:
            read = reader.read_texts(texts)
            replaced_words = sum(map(_REPLACED_WORDS, read))
            if self._style.consistent:
                names = GivenNameLinker()
                for number, text in enumerate(read):
                    read[number] = ReadText(names.link_text(text.elements), text.kept_count)
            document = DocumentDraws(read, self._style, self._surrogates, self._key)
            batch.append((document, sum(map(_KEPT_COUNT, read)), replaced_words))
            characters += sum(map(len, texts))
            if characters > _BATCH_CHARACTERS:
                yield from self._rewrite_batch(batch)
                batch, characters = [], 0
                check_work()
        yield from self._rewrite_batch(batch)

    def _rewrite_batch(self, batch: Sequence[_CountedDocument]) -> Iterator[RewrittenDocument]:
        bounds = np.array([total for document, *_ in batch for total in document.bounds], dtype=np.int64)
        originals = [word for document, *_ in batch for word in document.randomized_words]
        samples = draw_uniform_below(bounds, entropy.random_uint64).tolist() if len(bounds) else []
        if self._randomizer is not None:
            originals = self._randomizer.randomize_words(originals, entropy.random_uint64)
        words = iter(originals)
        start = 0
        for document, kept_count, replaced_words in batch:
            end = start + len(document.bounds)
            texts, find_pairs, outlines = document.write_texts(samples[start:end], words)
            start = end
            if self._detector is not None:
                texts = [hide_detected_spans(text, self._detector) for text in texts]
                outlines = [None] * len(texts)
            get_mapping = None
            if document.is_restorable:  # created at its first use, since most results are never restored
                get_mapping = cache(partial(Restorer, find_pairs=find_pairs, rules=self._surrogates.rules.replies))
            yield RewrittenDocument(
                texts, kept_count, get_mapping, len(document.randomized_words), replaced_words, outlines
            )


class _SurrogateSpellings:
    """Writes the surrogates (replacements) of a document in the case and form of their originals.

    Args:
        surrogates: The surrogate pools (possible replacements) of all entity types.
        indices: For each draw (random choice) of the document, the index of the chosen surrogate.
        keeps_originals: Whether outlines (positions of replaced parts) contain the originals.
    """

    __slots__ = ("_indices", "_keeps_originals", "_surrogates")

    def __init__(self, surrogates: SurrogatePools, indices: Sequence[int], keeps_originals: bool) -> None:
        self._surrogates, self._indices, self._keeps_originals = surrogates, indices, keeps_originals

    def write_text(
        self, elements: Sequence[str | EntityMention], draws: Sequence[_PlannedOutput], words: Iterator[str]
    ) -> tuple[str, SpanOutline | None]:
        """Return a text with its surrogates (replacements), and the outline (positions) of its replaced parts.

        The outline is ``None`` if text that looks like a tag was escaped, so that positions changed.

        Args:
            elements: Unchanged parts and entities of the text, in order.
            draws: Planned replacement of each entity (see ``DocumentDraws._plan_mention``).
            words: Outputs of the words that the option ``randomize`` randomizes.

        Privacy:
            The outline has an entry for each entity, even if its replacement happens to equal the original.
        """
        tags = [draw for draw in draws if isinstance(draw, str)]
        if tags and len(tags) == len(draws) and are_independent(elements):
            return write_tags(elements, tags, keeps_originals=self._keeps_originals)
        if tags:
            return self._write_with_tags(elements, draws, words)
        rest, parts, entries = iter(draws), list[str](), list[tuple[int, str, str]]()
        outputs = self._spell_mentions(elements, draws)
        for element in elements:
            if isinstance(element, str):
                parts.append(element)
                continue
            draw, name = next(rest), element.entity_type
            name = RANDOMIZED_WORD if draw is None else PUBLIC_TYPE_NAMES.get(name, name)
            entries.append((len(parts), name, element.span.text if self._keeps_originals else ""))
            parts.append(next(words) if draw is None else next(outputs))
        return "".join(parts), SpanOutline(entries, [*map(len, parts)])

    def _write_with_tags(
        self, elements: Sequence[str | EntityMention], draws: Sequence[_PlannedOutput], words: Iterator[str]
    ) -> tuple[str, SpanOutline | None]:
        """Return the result of ``write_text`` for a text with tags such as ``[city 1]``, or with removed entities."""
        written = [*quote_json_tags(self.iterate_elements(elements, draws, words))]
        outline = outline_elements(written, PUBLIC_TYPE_NAMES, keeps_originals=self._keeps_originals)
        has_tags = any(isinstance(draw, str) and draw.startswith("[") for draw in draws)
        text = join_with_tags(written) if has_tags else "".join(element.output for element in written)
        return text, outline if sum(outline.lengths) == len(text) else None

    def _spell_mentions(
        self, elements: Iterable[str | EntityMention], draws: Iterable[_PlannedOutput]
    ) -> Iterator[str]:
        """Return the surrogate (replacement) of each entity, except for words of the option ``randomize``.

        For speed, the method looks up all surrogates of the text in one call.
        """
        mentions = [element for element in elements if not isinstance(element, str)]
        drawn = [(mention, cast("list[int]", draw)) for mention, draw in zip(mentions, draws, strict=True) if draw]
        parts, indices, cases = list[MentionPart](), list[int](), list[int]()
        for mention, numbers in drawn:
            parts += mention.parts
            for number in numbers:
                indices.append(self._indices[number] if number >= 0 else -1 - number)
                cases.append(mention.case)
        spelled = iter(self._surrogates.spell_surrogates(parts, indices, cases))
        for mention, numbers in drawn:
            if len(numbers) == 1 and mention.span.entity_type != KNOWN_PERSON:
                yield next(spelled)
            else:
                yield join_surrogates(mention, tuple(islice(spelled, len(numbers)))).output

    def find_pairs(
        self,
        texts: Iterable[Sequence[str | EntityMention]],
        draws: Iterable[Sequence[_PlannedOutput]],
        words: Iterable[str],
    ) -> Iterable[SurrogatePair]:
        """Return the pairs of surrogate (replacement) and original, with which replies to some texts are restored.

        Args:
            texts: The unchanged parts and entities of each text.
            draws: Planned replacements of the entities of each text.
            words: Outputs of the words that the option ``randomize`` randomizes, for all texts.
        """
        pairs: dict[SurrogatePair, None] = {}
        words = iter(words)
        for elements, text_draws in zip(texts, draws, strict=True):
            _, found = write_with_pairs(quote_json_tags(self.iterate_elements(elements, text_draws, words)))
            pairs |= dict.fromkeys(found)
        return pairs

    def iterate_elements(
        self, elements: Sequence[str | EntityMention], draws: Sequence[_PlannedOutput], words: Iterator[str]
    ) -> Iterator[RewrittenElement]:
        """Yield the parts of a text, each with its output text. For the arguments see ``write_text``.

        The part for a word of the option ``randomize`` lacks its original, because such a word is never restored.
        """
        rest = iter(draws)
        for element in elements:
            if isinstance(element, str):
                yield RewrittenElement(element, element)
                continue
            draw, original = next(rest), element.span.text
            if draw is None:
                yield RewrittenElement(output := next(words), original, parts=(output,))
            elif isinstance(draw, str):
                yield RewrittenElement(draw, original, element)
            else:
                yield self._spell_parts(element, draw)

    def _spell_parts(self, mention: EntityMention, draws: Sequence[int]) -> RewrittenElement:
        indices = [self._indices[draw] if draw >= 0 else -1 - draw for draw in draws]
        return spell_mention(self._surrogates, mention, indices)


def spell_mention(surrogates: SurrogatePools, mention: EntityMention, indices: Sequence[int]) -> RewrittenElement:
    """Return the part of the output for a detected entity, with its surrogate (replacement).

    Args:
        surrogates: The surrogate pools (possible replacements) of all entity types.
        mention: The entity.
        indices: Index of the surrogate of each part of the entity.
    """
    cases = [mention.case] * len(mention.parts)
    return join_surrogates(mention, surrogates.spell_surrogates(mention.parts, indices, cases))


def join_surrogates(mention: EntityMention, surrogates: tuple[str, ...]) -> RewrittenElement:
    """Join the surrogates (replacements) of an entity's parts to one part of the output, and return it.

    A dot follows each initial, unless the initial is the last part. The parts of a listed person (option ``known``)
    have the order of the listed spelling.

    Args:
        mention: The entity.
        surrogates: The surrogate of each part of the entity.
    """
    if mention.span.entity_type == KNOWN_PERSON:
        from textveil.text.names.known_persons import join_known_surrogates  # lazy: most texts list no persons

        return join_known_surrogates(mention, surrogates)
    if len(surrogates) == 1:  # the most frequent case
        return RewrittenElement(surrogates[0], mention.span.text, mention, surrogates)
    dots = ["." if part.entity_type == "initial" else "" for part in mention.parts[:-1]]
    return RewrittenElement(
        " ".join(map("".join, zip(surrogates, [*dots, ""], strict=True))), mention.span.text, mention, surrogates
    )


def _describe_tag(public_type: str, mention: EntityMention) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return the type in an entity's tag, and a key: equal types and keys get the same tag, such as ``[city 1]``."""
    if mention.span.entity_type == KNOWN_PERSON:
        from textveil.text.names.known_persons import describe_known_tag  # lazy: most texts list no persons

        return describe_known_tag(mention)
    key = mention.equality_key  # a JSON number never shares a tag with the same digits in text
    return public_type, (("json",), *key) if mention.case == JSON_NUMBER_CASE else key


def _compute_keyed_number(key: bytes, part: MentionPart) -> int:
    """Return a keyed hash of a part of an entity, which selects its surrogate (replacement).

    The hash is the first 128 bits of HMAC-SHA256 of the part's type, layout (public form) and normalized text. The
    caller reduces the hash modulo the number of possible surrogates, which has a bias below 2^-60.
    """
    message = "\0".join((part.entity_type, part.layout, part.folded)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.digest(key, message, "sha256")[:16], "big")
