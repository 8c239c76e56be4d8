"""Control characters of a user or a model are restored, and all of them are treated alike.

Some readers of Markdown use U+0002 and U+0003 as internal marks. No part of textveil gives them a meaning.
"""

import pytest
from textveil import Conversation, Sanitizer
from textveil.text.restore import Restorer
from textveil.text.restore_policy import EVERYWHERE_POLICY, PROSE_POLICY, RestorePolicy

TEXT = "I met\f Zqxwvina Novak \fin \f\fSzeged\f, and \f2\f of 48,213\f. The \fwzxhzdk:0\f nurse\f paid 5\f."
#: U+0001 has no special meaning for any reader.
OTHERS = ["\x02", "\x03", "\0", "\x04", "\x08", "\x7f", "\x80"]
REPLIES = [
    "Gomez\f", "\fGomez", "Go\fmez", "\f Gomez \f", "\fGomez\f \f", "[\f](Gomez)", "<\fi Gomez>", "\fwzxhzdk:0\f Gomez",
    "Gomez\f.example", "[x]:\f Gomez", "`\f` Gomez", "$\fGomez$", '{"a": "\fGomez"}', "[\fperson 1]", "[person\f1]",
]  # fmt: skip
POLICIES = [PROSE_POLICY, EVERYWHERE_POLICY, RestorePolicy.parse(["code", "json", "math"], ["ok.example"])]


@pytest.mark.parametrize("mode", ["names", "words", "all"])
@pytest.mark.parametrize("control", ["\x01", *OTHERS])
def test_a_text_with_control_characters_comes_back(mode: str, control: str) -> None:
    text, sanitizer = TEXT.replace("\f", control), Sanitizer.load()
    for _ in range(5):  # two words may get one surrogate in the modes other than names
        result = sanitizer.sanitize(text, protect=mode, consistent=True)
        assert result.mapping is not None
        if mode == "names":
            assert result.restore(result.text, restore_places="all").text == text
            assert (
                Restorer.from_json(result.mapping.to_json().encode()).restore(result.text, EVERYWHERE_POLICY).text
                == text
            )
    assert control not in result.text or mode == "names"


@pytest.mark.parametrize("control", ["\x01", *OTHERS])
def test_a_conversation_with_control_characters_comes_back(control: str) -> None:
    text, conversation = TEXT.replace("\f", control), Conversation(restore_places="all")
    (sent,) = conversation.outgoing([{"role": "user", "content": text}])
    assert str(conversation.incoming(sent["content"])) == text
    stream = conversation.stream()
    assert "".join(map(stream.feed, sent["content"])) + stream.close() == text


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("reply", REPLIES)
def test_all_control_characters_are_treated_alike(reply: str, policy: RestorePolicy) -> None:
    restorer = Restorer([("Gomez", "Novak"), ("[person 1]", "Hale")])

    def restore(control: str) -> tuple[str, list[str]]:
        text = reply.replace("\f", control)
        whole, stream = restorer.restore(text, policy), restorer.open_stream(policy)
        assert "".join(map(stream.feed, text)) + stream.close() == whole.text
        return whole.text.replace(control, "\f"), [entry.reason.value for entry in whole.report.not_restored]

    expected = restore("\x01")
    assert expected[0].replace("Novak", "Gomez").replace("Hale", "[person 1]") == reply
    assert all(restore(control) == expected for control in OTHERS)
