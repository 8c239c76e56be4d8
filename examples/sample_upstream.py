"""Answer like a language model, without one: each reply repeats the last message of the request.

    python examples/sample_upstream.py [PORT]

The server needs no key, no network and no package. Use it to try the gateway, and your app behind the gateway. It
answers OpenAI's chat completions (also as a stream), OpenAI's responses and Anthropic's messages. It prints each
request that it gets.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class EchoModel(BaseHTTPRequestHandler):
    """Handler that prints each request, and repeats its last message in the reply."""

    def do_GET(self) -> None:
        """Send a list of one model."""
        model = {"id": "echo", "object": "model", "created": 1, "owned_by": "sample"}
        self._send(json.dumps({"object": "list", "data": [model]}))

    def do_POST(self) -> None:
        """Reply in the format of the API that the path names."""
        if not self.path.endswith(("/chat/completions", "/responses", "/messages")):
            self._send('{"error": {"message": "the sample has no such path"}}', status=404)
            return
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        print(json.dumps(request, ensure_ascii=False), flush=True)
        text = "You wrote: " + get_last_text(request.get("messages") or request["input"])
        if request.get("stream"):
            self._send("".join(map("data: {}\n\n".format, stream_chat(text))), "text/event-stream")
        else:
            self._send(json.dumps(make_reply(self.path, text) | {"model": request["model"]}))

    def _send(self, body: str, content_type: str = "application/json", status: int = 200) -> None:
        content = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Do not print the default log line of a request."""


def get_last_text(messages: Any) -> str:
    """Return the text of the last message of a request."""
    content = messages if isinstance(messages, str) else messages[-1].get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def make_reply(path: str, text: str) -> dict[str, Any]:
    """Return a whole reply of the model."""
    if path.endswith("/messages"):
        content, usage = [{"type": "text", "text": text}], {"input_tokens": 1, "output_tokens": 1}
        reply = {"id": "msg_1", "type": "message", "role": "assistant", "content": content, "usage": usage}
        return reply | {"stop_reason": "end_turn"}
    if path.endswith("/responses"):
        content = [{"type": "output_text", "text": text, "annotations": []}]
        message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
        return {"id": "resp_1", "object": "response", "created_at": 1, "output": [message]}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "chat_1", "object": "chat.completion", "created": 1, "choices": [choice]}


def stream_chat(text: str) -> list[str]:
    """Return the events of a streamed chat completion: one for each character, and an end."""
    choices = [{"index": 0, "delta": {"content": character}, "finish_reason": None} for character in text]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    chunk = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "echo"}
    return [*(json.dumps(chunk | {"choices": [choice]}) for choice in choices), "[DONE]"]


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8899
    server = ThreadingHTTPServer(("127.0.0.1", port), EchoModel)
    print(f"sample upstream at http://localhost:{server.server_port}; Ctrl-C ends", file=sys.stderr, flush=True)
    server.serve_forever()
