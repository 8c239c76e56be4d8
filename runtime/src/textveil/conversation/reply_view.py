"""Tracking of the texts of a reply that a client may display together.

Markup that begins in one text can make an original (a private string, put back in place of its surrogate) in the next
text a part of a link. Therefore this module also tracks texts that are sent on unchanged, such as a thought, a part of
an unknown type or an unknown field. A client may display or omit such a text. Originals are put into later texts only
if programs that display Markdown treat these texts in the same way in both cases.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from textveil.text.form_index import FormIndex
from textveil.text.reply_matcher import StreamRestorer
from textveil.text.restore_policy import RestorePolicy, SkipReason

#: Pattern of texts in which no markup can begin or end, whatever the texts before and after.
_MARKUP_FREE_TEXT = re.compile(r"(?:[^\W_]|[ ,_-])*")
#: Fields that clients do not display in the text of a reply: identifiers, settings, sources and separate content.
_UNDISPLAYED_FIELDS = frozenset(
    """
    id type role model object name status index call_id tool_call_id tool_use_id item_id response_id event_id user
    previous_response_id system_fingerprint service_tier finish_reason native_finish_reason stop_reason stop_sequence
    provider signature encrypted_content data obfuscation logprobs top_logprobs annotations annotation citations
    citation url usage tool_calls tool_choice tools function_call function input arguments partial_json instructions
    metadata format schema prompt prompt_cache_key safety_identifier prompt_filter_results content_filter_results
    search_results action code queries results b64_json partial_image_b64 created created_at
    """.split()
)
_EMPTY_INDEX = FormIndex({})


def find_displayed_texts(value: Any, *, is_part: bool = False) -> Iterator[str]:
    """Yield the texts of a JSON value that a client may display and that may contain markup.

    >>> from textveil.conversation import find_displayed_texts
    >>> list(find_displayed_texts({"id": "m[1]", "summary": "See [the note](", "words": ["plain text"]}))
    ['See [the note](']

    Args:
        value: The value.
        is_part: Whether the texts may continue in other values. If so, texts without markup are returned too.
    """
    waiting = [value]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, str):
            if is_part or _MARKUP_FREE_TEXT.fullmatch(entry) is None:
                yield entry
        elif isinstance(entry, Mapping):
            waiting += [entry[name] for name in reversed(entry) if name not in _UNDISPLAYED_FIELDS]
        elif isinstance(entry, list):
            waiting += reversed(entry)


class ReplyView:
    """Scans the texts of a reply in order, to find links and tags that begin in one text and end in the next.

    >>> from textveil import Conversation
    >>> conversation = Conversation()
    >>> sent = conversation.outgoing_text("Anna Novak")
    >>> view, stream = conversation.make_reply_view(), conversation.stream()
    >>> view.pass_text("[See](https://example.com/")  # an earlier text, which is not restored, opens a link
    >>> view.begin_text(stream)
    >>> stream.feed(sent) + stream.close() == sent
    True

    Args:
        policy: Parts of texts, such as code or links, in which originals are restored. If the policy permits all parts,
            nothing is checked.

    Attributes:
        is_closed: Whether no original is restored in the rest of the reply.
    """

    def __init__(self, policy: RestorePolicy) -> None:
        self._is_off = policy.permits_everything
        self.is_closed: bool = False
        self._last_stream: StreamRestorer | None = None
        self._open_stream: StreamRestorer | None = None
        self._passed_stream: StreamRestorer | None = None
        self._passed_source: object = None
        self._is_separated = self._is_spoiled = False

    @property
    def has_effect(self) -> bool:
        """Whether the texts so far prevent restoring in the next text, for example because of an open link."""
        return self.is_closed or (self._last_stream is not None and self._last_stream.has_active_content)

    def begin_text(self, stream: StreamRestorer) -> None:
        """Prepare a stream for the next text of the reply. Call this before the first part of the text.

        Args:
            stream: Object that replaces surrogates (replacements) by originals in the text.
        """
        self.end_passed_text()
        if self._is_off:
            return
        if self._open_stream is not None:
            self.stop_restoring()
        if self._last_stream is not None:
            stream.follow_stream(self._last_stream, is_apart=self._is_separated)
        if self._is_spoiled:
            stream.spoil_chunk()
        if self.is_closed:
            stream.stop_restoring(SkipReason.BESIDE)
        self._open_stream, self._is_separated, self._is_spoiled = stream, False, False

    def end_text(self, stream: StreamRestorer) -> None:
        """Store how a restored text ended, such as inside a link. Call this after ``stream.close()``."""
        if not self._is_off:
            self._last_stream = stream
            self._open_stream = None if self._open_stream is stream else self._open_stream

    def pass_text(self, text: str) -> None:
        """Read the markup of a text that the client receives unchanged.

        This is necessary because an unfinished link, for example, affects the next text.
        """
        self.end_passed_text()
        self.pass_part(None, text)
        self.end_passed_text()

    def pass_part(self, source: object, text: str) -> None:
        """Read the markup of one part of a text that the client receives unchanged.

        Args:
            source: Any object that identifies the text. It must be equal for all parts of the text.
            text: The part.
        """
        if self._passed_source != source:
            self.end_passed_text()
        if self._is_off or self.is_closed or not text:
            return
        if self._open_stream is not None:
            if _MARKUP_FREE_TEXT.fullmatch(text) is None:  # the client may display it at an unknown position
                self.stop_restoring()
            return
        if self._passed_stream is None:
            self._stop_unless_neutral()
            self._passed_source, self._passed_stream = source, StreamRestorer(_EMPTY_INDEX)
            if self._last_stream is not None:
                self._is_spoiled = self._is_spoiled or not self._last_stream.has_separable_end
                self._passed_stream.follow_stream(self._last_stream, is_apart=self._is_separated)
        self._passed_stream.feed(text)

    def end_passed_text(self) -> None:
        """End the text whose parts were passed to ``pass_part``. Call this after its last part."""
        if self._passed_stream is not None:
            self._passed_stream.close()
            self._last_stream, self._passed_stream = self._passed_stream, None
            self._stop_unless_neutral()
            self._is_separated = self._last_stream.has_separable_end

    def mark_separated(self) -> None:
        """Declare that clients display a blank or a line end between the previous text and the next text.

        Without this declaration, the texts count as joined: a word or a mark may continue from one to the other.
        """
        self.end_passed_text()
        self._is_separated = True

    def mark_replacement(self) -> None:
        """Declare that a client may display the next text in place of an earlier text.

        If an earlier text ended with unfinished markup, such as an open link, no original is restored in the rest of
        the reply.
        """
        self.end_passed_text()
        self._stop_unless_neutral()

    def stop_restoring(self) -> None:
        """Restore no originals in the rest of the reply: later streams leave their texts unchanged.

        Call this method if programs may display the next texts in different ways.
        """
        self.is_closed = not self._is_off
        if self._open_stream is not None and self.is_closed:
            self._open_stream.stop_restoring(SkipReason.BESIDE)

    def _stop_unless_neutral(self) -> None:
        if self._last_stream is not None and not self._last_stream.is_neutral:
            self.stop_restoring()
