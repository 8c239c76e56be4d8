"""Two writers of one conversation file never lose a mapping silently."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from textveil import Conversation, InputError, Sanitizer
from textveil.conversation import encrypted_file
from textveil.conversation.conversation import CONVERSATION_DEFAULTS
from textveil.errors import ConversationChanged, KeyFileError, OptionError

pytest.importorskip("cryptography", reason="needs the extra crypto")
SECRET = "I am Zqxwvina Novak."


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "data").mkdir()
    (tmp_path / "keys").mkdir()
    return tmp_path / "data" / "c", tmp_path / "keys" / "k"


def test_the_one_that_saves_second_is_told(sanitizer: Sanitizer, places: tuple[Path, Path]) -> None:
    first = Conversation(sanitizer)
    first.outgoing_text(SECRET)
    first.save(*places)
    second = Conversation.load(*places, sanitizer)
    went = second.outgoing_text("And Zorblax Quell?")
    second.save(*places)
    first.outgoing_text("And Mara Hope?")
    with pytest.raises(ConversationChanged) as error:
        first.save(*places)
    assert "Mara" not in str(error.value)
    second.outgoing_text("No.")
    second.save(*places)  # its own file, as often as it likes
    assert Conversation.load(*places, sanitizer).incoming(went).reply == "And Zorblax Quell?"


def test_another_conversation_is_not_replaced(sanitizer: Sanitizer, places: tuple[Path, Path]) -> None:
    Conversation(sanitizer).save(*places)
    content = places[0].read_bytes()
    with pytest.raises(ConversationChanged):
        Conversation(sanitizer).save(*places)
    assert places[0].read_bytes() == content


def test_a_file_that_was_deleted_is_written_again(sanitizer: Sanitizer, places: tuple[Path, Path]) -> None:
    conversation = Conversation(sanitizer)
    for _ in range(2):
        conversation.save(*places)
        places[0].unlink()


def test_a_packed_conversation_knows_its_file(sanitizer: Sanitizer, places: tuple[Path, Path]) -> None:
    conversation = Conversation(sanitizer)
    conversation.save(*places)
    again = Conversation.unpack(conversation.pack(), sanitizer)
    again.save(*places)
    again.start_exchange().save(*places)
    again.save(*places)
    with pytest.raises(ConversationChanged):
        conversation.save(*places)


def test_a_wrong_key_is_called_that_of_a_conversation(sanitizer: Sanitizer, places: tuple[Path, Path]) -> None:
    path, key = places
    Conversation(sanitizer).save(path, key)
    key.unlink()
    Conversation(sanitizer).save(path.with_name("d"), key)
    with pytest.raises(KeyFileError, match="conversation"):
        Conversation.load(path, key, sanitizer)


def test_a_conversation_is_encoded_in_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """One long call of the encoder would block all other threads."""
    content: dict[str, Any] = {
        "sent": {"a": ["text", [["x", "y", 0, True, ""]] * 5_000], "b": ("", []), "c": [[], ["z"], None]},
        "out": [f"word {number}" for number in range(3_000)],
        "empty": {}, "none": [], "options": {"keep": ["city"]}, "\u2028": None,
    }  # fmt: skip
    expected, longest, dumps = json.dumps(content), 0, json.dumps

    def watch(value: Any) -> str:
        nonlocal longest
        found = dumps(value)
        longest = max(longest, len(found))
        return found

    monkeypatch.setattr(json, "dumps", watch)
    assert encrypted_file.encode_content(content).decode() == expected
    assert longest < len(expected) / 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("is_link", [False, True])
def test_nothing_is_written_to_a_pipe_that_took_the_place_of_a_file(
    sanitizer: Sanitizer, places: tuple[Path, Path], is_link: bool
) -> None:
    conversation = Conversation(sanitizer)
    conversation.save(*places)
    places[0].unlink()
    pipe = places[0].with_name("pipe") if is_link else places[0]
    os.mkfifo(pipe)
    if is_link:
        places[0].symlink_to(pipe)
    with pytest.raises(ConversationChanged, match="not a plain file: delete the file, or save to another path"):
        conversation.save(*places)
    pipe.unlink()
    places[0].unlink(missing_ok=True)
    conversation.save(*places)
    assert encrypted_file.conversation_matches_key(*places)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_a_file_of_an_earlier_version_is_refused_by_name(
    sanitizer: Sanitizer, places: tuple[Path, Path], version: int
) -> None:
    path, key = places
    Conversation(sanitizer).save(path, key)
    path.write_bytes(path.read_bytes().replace(b"conversation 5\n", f"conversation {version}\n".encode()))
    with pytest.raises(
        InputError, match="saved by an earlier version of textveil in another format: start a new conversation"
    ):
        Conversation.load(path, key, sanitizer)


def test_a_saved_conversation_keeps_its_value_of_facts(sanitizer: Sanitizer, places: tuple[Path, Path]) -> None:
    Conversation(sanitizer, facts="plain").save(*places)
    conversation = Conversation.load(*places, sanitizer, facts="plain")
    packed = conversation.pack()
    for loaded in (conversation, Conversation.load(*places, sanitizer), Conversation.unpack(packed, sanitizer)):
        assert loaded._shared.plan.facts_level == "plain"
    message = "^the conversation was started with facts=plain: use this value, or start a new conversation$"
    with pytest.raises(OptionError, match=message):
        Conversation.load(*places, sanitizer, facts="useful")
    with pytest.raises(OptionError, match=message):
        Conversation.unpack(packed, sanitizer, facts="none")


def test_a_saved_conversation_records_the_default_of_facts(sanitizer: Sanitizer) -> None:
    conversation = Conversation(sanitizer)
    assert conversation._shared.export_state()["options"]["facts"] == CONVERSATION_DEFAULTS["facts"]
    assert Conversation.unpack(conversation.pack(), sanitizer, facts=CONVERSATION_DEFAULTS["facts"])


def test_a_saved_conversation_continues_after_its_own_reply(sanitizer: Sanitizer, places: tuple[Path, Path]) -> None:
    """A concurrent exchange has its own place, which is not saved with the conversation."""
    conversation = Conversation(sanitizer)
    sent = conversation.outgoing([{"role": "user", "content": "Anna Novak called."}])
    conversation.start_exchange().outgoing([{"role": "user", "content": "Peter Schulz called."}])
    restored = conversation.incoming({"role": "assistant", "content": sent[0]["content"]}).reply
    conversation.save(*places)
    again = Conversation.load(*places, sanitizer)
    assert again.outgoing([restored])[0]["content"] == sent[0]["content"]
    assert again.kept_words == Conversation(sanitizer).kept_words
