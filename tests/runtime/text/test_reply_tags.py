"""Reports list the tags of a reply that are not in the mapping, however the reply is split."""

from typing import Any

import pytest
from textveil import Conversation
from textveil.text.reply_tags import TagFinder
from textveil.text.restore import Restorer
from textveil.text.restore_policy import RestorePolicy

TAGGED = Restorer([("[person 1]", "Novak"), ("[number 2]", "12")])


@pytest.mark.parametrize("places", [(), "all"])
@pytest.mark.parametrize(
    ("reply", "unknown"),
    [
        ("Ask [person 1] and [person 99].", ["[person 99]"]),
        ("[person 99] [Person 98] [person 99]", ["[person 99]", "[Person 98]"]),
        (
            "[city 1][e-mail 12]([person 1] [order 3] `[street 4]`",
            ["[city 1]", "[e-mail 12]", "[order 3]", "[street 4]"],
        ),
        ("[person [person 1] 9]", []),
        ("[person 99", []),
        ("[9] [x] [ ] [person] [an aside] [a b 4] [person 9999999999] [x](y) list[0]", []),
        ("[person [person 7]", ["[person 7]"]),
        ("![person 3](https://ex.org/[city 2])", ["[person 3]", "[city 2]"]),
    ],
)
def test_tags_that_name_nothing_are_reported_however_the_reply_is_cut(reply: str, unknown: Any, places: Any) -> None:
    policy = RestorePolicy.parse(places)
    assert TAGGED.restore(reply, policy).report.unknown_tags == tuple(unknown)
    for size in range(1, 6):
        stream = TAGGED.open_stream(policy)
        for start in range(0, len(reply), size):
            stream.feed(reply[start : start + size])
        stream.close()
        assert stream.report.unknown_tags == stream.unknown_tags == tuple(unknown)


def test_a_text_without_tags_reports_none() -> None:
    assert Restorer([("Gomez", "Novak")]).restore("See [figure 3], Gomez.").report.unknown_tags == ()


def test_a_tag_of_several_originals_is_not_unknown() -> None:
    found = Restorer([("[person 1]", "Novak"), ("[person 1]", "Hale")]).restore("[person 1] or [person 2]")
    assert (found.report.unknown_tags, len(found.report.not_restored)) == (("[person 2]",), 1)


def test_a_conversation_reports_each_text_of_a_reply() -> None:
    conversation = Conversation()
    sent = conversation.outgoing_text("Anna Novak called.")
    parts = [{"type": "text", "text": text} for text in (sent, "[person 9]", "[person 9] [city 1]")]
    found = conversation.incoming({"role": "assistant", "content": parts})
    assert found.unknown_tags == found.report.unknown_tags == ("[person 9]", "[person 9]", "[city 1]")
    assert found.reply["content"][0]["text"] == "Anna Novak called."


def test_a_long_reply_keeps_no_more_than_an_open_tag() -> None:
    finder = TagFinder()
    for _ in range(1000):
        finder.feed("[" + "x" * 60 + "[" * 100)
    assert len(finder._open) <= 51
