"""Rewriting of the texts and JSON keys of a conversation, so that private strings are replaced by surrogates.

Linked text gets equal surrogates for equal strings of the conversation, and these surrogates are restored in replies.
Unlinked text, which a model may have written, gets a new surrogate for each hidden word, and these surrogates are never
restored.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import accumulate
from typing import Any

from textveil.conversation.exchange_state import ConversationState, ExchangeState
from textveil.conversation.field_names import KeyReader
from textveil.conversation.masks import OriginalMasks
from textveil.conversation.message_rewriter import MessageRewriter
from textveil.text.inflections import SurrogatePair
from textveil.text.kept_words import KeptWords, count_foreign_words
from textveil.text.names.conversation_state import make_assigned_mention
from textveil.text.names.detector import hide_detected_spans
from textveil.text.names.read import NamesReader, ReadText, ReadTextStream
from textveil.text.names.reply_pairs import RewrittenElement, write_with_pairs
from textveil.text.unicode_compat import CharacterSwap, find_swap


class ConversationTextRewriter:
    """Component that rewrites the texts of an exchange (one request and its reply).

    For texts whose surrogates (replacements) can be restored, the component adds each surrogate with its original to
    the state of the exchange. The component also adds the counts of unchanged and replaced words.

    Args:
        shared: State of the conversation.
        exchange: State of the exchange that sends the texts.
    """

    def __init__(self, shared: ConversationState, exchange: ExchangeState) -> None:
        self._shared, self._exchange = shared, exchange

    def make_rewriter(self, rewrite_text: Callable[[str], str], **options: Any) -> MessageRewriter:
        """Create a rewriter of messages that rewrites each text with a given function.

        Args:
            rewrite_text: Function that rewrites a text.
            options: Options of ``MessageRewriter``.
        """
        shared = self._shared
        return MessageRewriter(
            rewrite_text,
            shared.find_signed_item,
            shared.field_names.find_fields,
            shared.pass_through,
            put_id_back=shared.call_ids.put_back,
            **options,
        )

    def make_linked_rewriter(
        self, reader: NamesReader, masks: OriginalMasks | None = None, **options: Any
    ) -> MessageRewriter:
        """Create a rewriter that gives equal strings equal replacements in all messages of the conversation.

        Args:
            reader: Finder of the words to hide in texts.
            masks: Hidden strings that the result of a tool may contain; ``None`` for other messages.
            options: Options of ``MessageRewriter``.
        """
        get_reader = cache(partial(self._make_key_reader, reader))  # most messages have no key
        rewrite_key = self._shared.custom_rewrite or (lambda key: self._rewrite_linked(key, get_reader(), masks))
        if not self._shared.custom_rewrite:
            options = {"note_number": self._add_number_pairs, **options}
        return self.make_rewriter(self.make_linked_function(reader, masks), rewrite_key=rewrite_key, **options)

    def make_unlinked_rewriter(
        self, reader: NamesReader, masks: OriginalMasks | None = None, **options: Any
    ) -> MessageRewriter:
        """Create a rewriter of messages that the model may have written: each hidden word gets a new surrogate.

        *New* means that equal words get different surrogates (replacements), which are never restored.

        The arguments are the same as for ``make_linked_rewriter``.
        """
        if self._shared.custom_rewrite:
            return self.make_rewriter(self._shared.custom_rewrite, **options)
        get_reader = cache(partial(self._make_key_reader, reader))
        rewrite_key: Callable[[str], str] = lambda key: self.rewrite_unlinked(key, get_reader(), masks)  # noqa: E731
        rewrite_text = partial(self.rewrite_unlinked, reader=reader, masks=masks)
        return self.make_rewriter(rewrite_text, rewrite_key=rewrite_key, **options)

    def make_linked_function(
        self, reader: NamesReader | None = None, masks: OriginalMasks | None = None
    ) -> Callable[[str], str]:
        """Return a function that rewrites a text: equal strings get equal replacements in the whole conversation.

        If the conversation was created with the argument ``rewrite``, return that function instead.
        """
        reader = self._shared.plan.make_reader() if reader is None else reader
        return self._shared.custom_rewrite or (lambda text: self._rewrite_linked(text, reader, masks))

    def rewrite_unlinked(self, text: str, reader: NamesReader, masks: OriginalMasks | None = None) -> str:
        """Rewrite a text with a new surrogate (replacement) for each hidden word; these surrogates are never restored.

        All numbers and all words are hidden, except common words in lower case. The context of a word does not matter.

        Args:
            text: The text.
            reader: Finder of the words to hide in texts.
            masks: Hidden strings that the result of a tool may contain; ``None`` for other texts.
        """
        shared, reader = self._shared, reader.without_corrections()
        swap = self._find_swap(text)
        text = text if swap is None else swap.replace_characters(text)
        is_masked = masks is not None and bool(masks.originals)
        entries = (
            masks.read_masked(text, reader)[0].elements if masks is not None and is_masked else reader.stream_text(text)
        )
        read = shared.plan.hide_context_words(entries)
        return self._join_pieces(shared.surrogate_state.rewrite_unlinked(read), swap)

    def rewrite_entity(self, entity_type: str, text: str) -> str:
        """Return the surrogate (replacement) of a text that is one entity, such as a name, of the given type."""
        return self._write_surrogates(ReadText([make_assigned_mention(entity_type, text)], 0))

    def _add_number_pairs(self, written: str, digits: str) -> None:
        """Store the string, such as ``[number 1]``, that replaced a JSON number, to restore the number in replies."""
        pairs = SurrogatePair(f'"{written}"', digits), SurrogatePair(written, digits)
        self._exchange.message_pairs += pairs[: 2 if digits.startswith("-") else 1]

    def _rewrite_linked(self, text: str, reader: NamesReader, masks: OriginalMasks | None = None) -> str:
        shared, exchange = self._shared, self._exchange
        swap = self._find_swap(text)
        text = text if swap is None else swap.replace_characters(text)
        is_forced = isinstance(reader, KeyReader) and reader.is_forced(text)
        if masks is not None and masks.originals:
            read, pairs_of_originals = masks.read_masked(text, reader)
            exchange.message_pairs += pairs_of_originals
            return self._write_surrogates(read, swap, masks, is_linked=bool(pairs_of_originals) or not is_forced)
        if shared.plan.detector is not None or isinstance(reader, KeyReader):
            return self._write_surrogates(reader.read_texts([text])[0], swap, is_linked=not is_forced)
        stream = reader.stream_text(text)
        written, pairs = write_with_pairs(shared.surrogate_state.rewrite_stream(stream))
        self._count_words(stream, written)
        exchange.message_pairs += _restore_characters(pairs, swap)
        return written if swap is None else swap.restore_characters(written)

    def _write_surrogates(
        self,
        read: ReadText,
        swap: CharacterSwap | None = None,
        masks: OriginalMasks | None = None,
        *,
        is_linked: bool = True,
    ) -> str:
        surrogates = self._shared.surrogate_state
        pieces = surrogates.rewrite(read) if is_linked else [*surrogates.rewrite_unlinked(read.elements)]
        pieces = pieces if masks is None else masks.put_surrogates(pieces)
        self._exchange.message_pairs += _restore_characters(write_with_pairs(pieces)[1], swap)
        written = self._join_pieces(pieces, swap)
        self._count_words(read, written)
        return written

    def _join_pieces(self, pieces: Iterable[RewrittenElement], swap: CharacterSwap | None) -> str:
        detector = self._shared.plan.detector
        pieces = pieces if detector is None else [*pieces]
        written = "".join(piece.output for piece in pieces)
        written = written if swap is None else swap.restore_characters(written)
        if detector is None:
            return written
        ends = [*accumulate(len(piece.output) for piece in pieces)]
        surrogate_spans = [
            (end - len(piece.output), end) for piece, end in zip(pieces, ends, strict=True) if piece.mention
        ]
        return hide_detected_spans(written, detector, surrogate_spans)

    def _count_words(self, read: ReadText | ReadTextStream, written: str) -> None:
        kept, replaced, foreign = self._exchange.kept_words
        facts = self._shared.plan.facts
        if facts is not None:
            strings = facts.strings
            foreign += min(read.kept_count, count_foreign_words(written, strings.is_foreign, strings.common.get))
        self._exchange.kept_words = KeptWords(kept + read.kept_count, replaced + read.replaced_words, foreign)

    def note_foreign_words(self, before: KeptWords) -> None:
        """Add the word counts of a message or text to ``foreign_words`` if it may be in another language.

        Messages in the language of the word lists are not counted in ``foreign_words``. So a long system prompt in this
        language cannot hide a message in another language.

        Args:
            before: ``kept_words`` of the exchange before the message or text was rewritten.
        """
        exchange = self._exchange
        words = KeptWords(*(count - old for count, old in zip(exchange.kept_words, before, strict=True)))
        if words.may_be_foreign:
            exchange.foreign_words = KeptWords(*map(sum, zip(exchange.foreign_words, words, strict=True)))

    def _find_swap(self, text: str) -> CharacterSwap | None:
        return None if text.isascii() else find_swap(self._shared.sanitizer.bundle.characters_json, [text])

    def _make_key_reader(self, reader: NamesReader) -> NamesReader:
        return reader if "person" in self._shared.plan.style.keep else KeyReader(reader)


def _restore_characters(pairs: list[SurrogatePair], swap: CharacterSwap | None) -> list[SurrogatePair]:
    """Return pairs of surrogate (replacement) and original, with the original's characters as the user wrote them.

    Before rewriting, ``textveil.text.unicode_compat`` replaces characters that are too new for this Python version.
    """
    if swap is None:
        return pairs
    return [
        pair._replace(
            original=swap.restore_characters(pair.original),
            before=pair.before if pair.after is None else swap.restore_characters(pair.before),
            after=None if pair.after is None else swap.restore_characters(pair.after),
        )
        for pair in pairs
    ]
