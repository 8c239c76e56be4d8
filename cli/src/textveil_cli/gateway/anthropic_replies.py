"""Put original words back into replies of Anthropic's Messages API."""

import json
from collections.abc import Collection, Iterator
from typing import Any

from textveil import Conversation
from textveil.arguments import join_utf16_halves

from textveil_cli.gateway.api_replies import ApiReplyRestorer, drop_fields, get_string, make_index_key, parse_object
from textveil_cli.gateway.sse import ServerSentEvent


class AnthropicReplyRestorer(ApiReplyRestorer):
    """Object that puts original words back into one reply of Anthropic's Messages API."""

    def __init__(self, exchange: Conversation, tools: Collection[str]) -> None:
        super().__init__(exchange, tools)
        self._restored_blocks: list[Any] = []
        self._model_blocks: list[Any] = []
        self._index_by_key: dict[Any, Any] = {}

    def restore_whole(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a complete (not streamed) message, with original words in place of their surrogates (replacements)."""
        if isinstance(reply.get("content"), list):
            reply["content"] = self._restore_value(
                reply["content"], record=True, other_parts=drop_fields(reply, "content")
            )
            self.restored_messages.append([{"role": "assistant", "content": reply["content"]}])
        self._restore_stop_sequence(reply)
        return reply

    def _restore_stop_sequence(self, reply: dict[str, Any]) -> None:
        """Put original words back into the field ``stop_sequence`` of a reply, which repeats a text of the request."""
        if isinstance(reply.get("stop_sequence"), str):
            reply["stop_sequence"] = self._restore_value(reply["stop_sequence"], False)

    def restore_event(self, event: ServerSentEvent) -> Iterator[ServerSentEvent]:
        """Yield an event of a stream, with original words in place of their surrogates (replacements).

        If the text of an event ends with the possible beginning of a surrogate, such as ``Mar`` of ``Maria``, this end
        is held back until the next event arrives. The text that is held back is yielded at the latest before the end of
        its content block.
        """
        data = event.data
        event_type, index = data.get("type"), make_index_key(data.get("index", 0))
        block, delta = data.get("content_block"), data.get("delta")
        if event_type in ("content_block_start", "content_block_delta"):
            self._refuse_late_text(index)
            for other in [other for other in self._streams if other != index]:
                yield from self._end_block(other)
            self._index_by_key[index] = data.get("index", 0)
        self._track_rest(index, data)
        if event_type == "content_block_start" and isinstance(block, dict):
            self._calls[index] = {**block, "partial": ""}
            if isinstance(block.get("text"), str):
                block["text"] = self._feed_text(index, block["text"])
        elif event_type == "content_block_delta" and isinstance(delta, dict):
            for name in ("thinking", "signature"):
                if isinstance(delta.get(name), str) and index in self._calls:
                    text_so_far = get_string(self._calls[index].get(name))
                    self._calls[index][name] = join_utf16_halves(text_so_far + delta[name])
            if isinstance(delta.get("text"), str):
                self._calls.setdefault(index, {"type": "text", "partial": ""})  # otherwise no event would end it
                delta["text"] = self._feed_text(index, delta["text"])
            elif isinstance(delta.get("partial_json"), str) and index in self._calls:
                self._calls[index]["partial"] += delta["partial_json"]
                if self._restores_arguments(self._calls[index]):
                    return
        elif event_type == "message_delta" and isinstance(delta, dict):
            self._restore_stop_sequence(delta)
        elif event_type == "content_block_stop":
            yield from self._end_block(index)
        elif event_type == "message_stop":
            yield from self.end_stream()
        yield event

    def _track_rest(self, index: Any, data: dict[str, Any]) -> None:
        """Store the values of an event that are sent unchanged and that a client may display.

        A stored value may begin a link. No original word is put back inside that link, since the host of the link would
        receive the word.
        """
        rest = dict(data)
        for name in ("content_block", "delta"):
            part = data.get(name)
            if isinstance(part, dict):
                texts = [known for known in ("text", "thinking", "partial_json") if isinstance(part.get(known), str)]
                rest[name] = drop_fields(part, *texts)
                if "thinking" in texts:
                    self._get_view().pass_part(index, part["thinking"])
        self._track_unchanged(rest)

    def end_stream(self) -> Iterator[ServerSentEvent]:
        """Yield the rest of a reply at the end of a stream: text held back as the possible beginning of a surrogate."""
        for index in list(self._calls):
            yield from self._end_block(index)
        self.restored_messages = [[{"role": "assistant", "content": self._restored_blocks}]]
        self._exchange.record_reply(
            self._model_blocks, self._restored_blocks[len(self._restored_blocks) - len(self._model_blocks) :]
        )
        self._model_blocks = []

    def _end_block(self, index: Any) -> Iterator[ServerSentEvent]:
        if index not in self._calls:
            return
        block, held = self._calls.pop(index, {}), None
        partial = join_utf16_halves(block.pop("partial", ""))
        rest, text, written = self._close_text(index)
        is_text = bool(text) or block.get("type") == "text"
        self._model_blocks.append({**block, "text": written} if is_text else block)
        if is_text:
            block["text"] = text
            held = {"type": "text_delta", "text": rest} if rest else None
        elif block.get("type") == "tool_use":
            arguments = parse_object(partial)
            self._model_blocks[-1] = block if arguments is None else {**block, "input": arguments}
            block = self._restore_value([self._model_blocks[-1]])[0]
            if partial and self._restores_arguments(block):
                restored_json = partial if arguments is None else json.dumps(block["input"], ensure_ascii=False)
                held = {"type": "input_json_delta", "partial_json": restored_json}
        else:
            self._restore_value([block])  # a client may send signed values again
        self._restored_blocks.append(block)
        if held is not None:
            data = {"type": "content_block_delta", "index": self._index_by_key.get(index, index), "delta": held}
            yield ServerSentEvent("content_block_delta", data)
