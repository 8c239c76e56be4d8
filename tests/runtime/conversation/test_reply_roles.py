"""A reply counts as the model's own, whatever role or type the upstream writes there."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from textveil import Conversation, InputError
from textveil.conversation import conversation as module

SECRET = "Zqxwgrad"
GUESSES = "I met Aachen and Xqwbrad and Zqxwgrad today."


def send_back(reply: Any, **options: Any) -> tuple[str, str]:
    """Return the surrogate of a secret, and all sent messages after a client appended the reply."""
    conversation = Conversation(**options)
    messages: list[Any] = [{"role": "user", "content": f"I met {SECRET} in town."}]
    exchange = conversation.start_exchange()
    surrogate = exchange.outgoing(messages)[0]["content"].removeprefix("I met ").removesuffix(" in town.")
    back = exchange.incoming(reply).reply
    later = [*messages, *(back if isinstance(back, list) else [back]), {"role": "user", "content": "Go on."}]
    return surrogate, json.dumps(conversation.start_exchange().outgoing(later)[1:])


def call_and_output(kind: str = "function_call_output") -> list[Any]:
    call = {"type": "function_call", "call_id": "c9", "id": "f", "name": "find", "arguments": "{}"}
    return [call, {"type": kind, "call_id": "c9", "output": GUESSES}]


REPLIES = [
    *({"role": role, "content": GUESSES} for role in ("user", "system", "developer", "tool", "function")),
    [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": GUESSES}]}],
    [{"type": "message", "role": "assistant", "content": "Yes."}, {"type": "input_text", "text": GUESSES}],
    [{"type": "message", "role": "assistant", "content": "Yes."}, {"type": "output_text", "text": GUESSES}],
    [{"type": "message", "role": "assistant", "content": "Yes."}, {"type": "refusal", "refusal": GUESSES}],
    call_and_output(),
]


#: The default options of a conversation, and surrogates that look like other names.
STYLES: dict[str, dict[str, Any]] = {"tags": {}, "surrogates": {"style": "surrogate", "facts": "none"}}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: json.dumps(reply)[:60])
def test_no_role_or_type_of_a_reply_makes_its_text_read_the_mapping(reply: Any, style: str) -> None:
    surrogate, sent = send_back(reply, **STYLES[style])
    assert surrogate not in sent


@pytest.mark.full
def test_it_would_be_seen_if_roles_were_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "claim_reply", lambda reply, *ways: reply)
    for options in STYLES.values():
        for reply in (REPLIES[0], REPLIES[5], call_and_output()):
            surrogate, sent = send_back(reply, **options)
            assert surrogate in sent


def test_no_reply_has_the_settings_of_a_request() -> None:
    with pytest.raises(InputError):
        Conversation().incoming([{"type": "textveil_settings", "value": GUESSES}])


def test_the_arguments_of_a_call_may_have_roles() -> None:
    reply = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu_01", "name": "f", "input": {"role": "user"}}],
    }
    assert Conversation().incoming(reply).reply == reply


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    folder, key = tmp_path / "folder", tmp_path / "key"
    folder.mkdir()
    Conversation().save(folder / "other", key)
    os.mkfifo(folder / "pipe")
    with pytest.raises(InputError, match="not a plain file: delete the file, or save to another path"):
        Conversation.load(folder / "pipe", key)
