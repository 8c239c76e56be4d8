"""The restorer recognizes the listed forms of surrogates, and a stream gives the same text for any division."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textveil import Conversation, InputError, Sanitizer
from textveil.text.inflections import SurrogatePair
from textveil.text.reply_matcher import StreamRestorer
from textveil.text.restore import Restorer
from textveil.text.restore_policy import EVERYWHERE_POLICY, RestorePolicy

PAIRS = [
    ("Don", "Anna"), ("Gomez", "Novak"), ("Don Gomez", "Anna Novak"), ("San Diego", "Salt Lake City"), ("Perry", "Fox"),
    ("4718", "9300"), ("5,529", "1,200"), ("73.15", "49.99"), ("don.gomez@example.net", "anna@novak.org"),
    ("1984-05-07", "2024-03-12"), ("7 May 1999", "3 April 2023"), ("1952-10-13", "3/12/2024"), ("August 27", "June 1"),
    ("[city 1]", "Boston"), ("slingshot", "zorb"), ("NEBRASKA", "UT"), ("Price", "Quux"), ("Price", "Zorb"),
    ("7", "2", 0, True, "pages"), ("7 chairs", "2", 1), ("8", "3", 0, True, "$"), ("Dr", "Ms", 0, True),
    ("Dr. Gomez", "Ms", 2), ("@don123", "@anna"), ("833-555-0174", "+49 30 1"), ("/srv/files/item-1234", "~/novak"),
    ("José", "Ana"), ("Los Angeles", "New York"), ("/srv/files/item-5678", 'C:\\a "b"'), ("XKEY83", "in(x"),
]  # fmt: skip

FORMS = [
    ("Dear Don Gomez,", "Dear Anna Novak,"),
    ("Don's, the Gomezes, GOMEZ'S", "Anna's, the Novaks, NOVAK'S"),
    ("DON GOMEZ / SAN DIEGO", "ANNA NOVAK / SALT LAKE CITY"),
    ("Don\nGomez in San\n> Diego, San  Diego", "Anna\nNovak in Salt Lake City, Salt Lake City"),
    ("**Don** _Don Gomez_ `Gomez` ~~Don~~", "**Anna** _Anna Novak_ `Novak` ~~Anna~~"),
    ('{"name": "Don Gomez", "n": 4718}', '{"name": "Anna Novak", "n": 9300}'),
    ("$4,718 4718 $4,718.00 4718.", "$9,300 9300 $9,300.00 9300."),
    ("5529 5,529 14718 4718.5 4,718,000 1.4718", "1200 1,200 14718 4718.5 4,718,000 1.4718"),
    ("$73.15.", "$49.99."),
    ("1984-05-07 7 May 1984 May 7, 1984 5/7/1984", "2024-03-12 12 March 2024 March 12, 2024 3/12/2024"),
    ("1999-05-07, May 7, 1999, 05/07/1999", "2023-04-03, April 3, 2023, 04/03/2023"),
    ("October 13, 1952; 27 August", "3/12/2024; 1 June"),
    ("12 Elm, San Diego, CA", "12 Elm, Salt Lake City, CA"),
    ("Donna Gomezian abandon Don2 4718x x4718 O'Don", "Donna Gomezian abandon Don2 4718x x4718 O'Don"),
    ("San Diegos Don_name don_id", "Salt Lake Citys Don_name don_id"),
    ("I don my coat; a perry", "I don my coat; a perry"),
    ("slingshot Slingshots SLINGSHOT", "zorb Zorbs ZORB"),
    ("x[city 1]y [city 2]", "xBostony [city 2]"),
    ("Nebraska NEBRASKA", "UT UT"),
    ("Price", "Price"),
    ("7 days, 7 chairs, $7, pages 7, 7", "7 days, 2 chairs, $7, pages 2, 7"),
    ("7 is, $8 or 8 or €8", "7 is, $3 or 8 or €8"),
    ("Dr. Gomez saw a Dr", "Ms. Novak saw a Dr"),
    ("mailto:don.gomez@example.net. @don123 @don1234", "mailto:anna@novak.org. @anna @don1234"),
    ("(/srv/files/item-1234)", "(~/novak)"),
    ("__XKEY83, XKEY83_id, a_4718", "__in(x, in(x_id, a_4718"),
    ("(833) 555-0174, 8335550174, +1 833.555.0174", "+49 30 1, +49 30 1, +1 +49 30 1"),
    ("Jose\u0301 José Jose", "Ana Ana Jose"),
    ('{"a": "Hi,\\nDon\\nGomez\\t4718", "b": "C:\\\\nDon"}', '{"a": "Hi,\\nAnna\\nNovak\\t9300", "b": "C:\\\\nDon"}'),
    ('{"a": "see /srv/files/item-5678"}', '{"a": "see C:\\\\a \\"b\\""}'),
    ("/srv/files/item-5678 {}", 'C:\\a "b" {}'),
    ('```json\n["/srv/files/item-5678"]\n```\n/srv/files/item-5678', '```json\n["C:\\\\a \\"b\\""]\n```\nC:\\a "b"'),
]  # fmt: skip


#: Replies of these that are restored in part by default, with what becomes of them.
OUTSIDE_PROSE = {
    "**Don** _Don Gomez_ `Gomez` ~~Don~~": "**Anna** _Anna Novak_ `Gomez` ~~Anna~~",
    "mailto:don.gomez@example.net. @don123 @don1234": "mailto:don.gomez@example.net. @anna @don1234",
    '```json\n["/srv/files/item-5678"]\n```\n/srv/files/item-5678': (
        '```json\n["/srv/files/item-5678"]\n```\nC:\\a "b"'
    ),
}


@pytest.mark.parametrize(("reply", "restored"), FORMS)
def test_what_is_recognized(reply: str, restored: str) -> None:
    assert Restorer(PAIRS).restore(reply, EVERYWHERE_POLICY) == restored


@pytest.mark.parametrize(("reply", "restored"), FORMS)
def test_what_is_recognized_in_running_text_alone(reply: str, restored: str) -> None:
    default = reply if reply.startswith("{") else OUTSIDE_PROSE.get(reply, restored)
    assert Restorer(PAIRS).restore(reply) == default
    if reply.startswith("{"):
        assert Restorer(PAIRS).restore(reply, RestorePolicy.parse(["json"])) == restored


def test_what_stays_is_reported() -> None:
    stream = StreamRestorer(Restorer(PAIRS).index)
    stream.feed("Don: a perry, Price, 7 days, 7 chairs")
    stream.close()
    assert (stream.restored, stream.not_restored_words, stream.ambiguous) == (["Don", "7"], ("perry", "7"), ("Price",))


def streamed(restorer: Restorer, deltas: list[str]) -> tuple[str, int]:
    """Return the output of a stream, and the largest number of characters that it held back."""
    stream, went, came, held = StreamRestorer(restorer.index), "", 0, 0
    for delta in deltas:
        went += stream.feed(delta)
        came += len(delta)
        held = max(held, len(stream._held))
    return went + stream.close(), held


def longest_of(restorer: Restorer) -> int:
    """Return the largest length of a form in a reply: up to six blanks may separate two words."""
    return max(len(form) + 5 * form.count(" ") for form in restorer.index.forms)


WORDS = (
    [form for form, _ in FORMS]
    + [pair[0] for pair in PAIRS]
    + list(" \n_'.,7>5-é\u0301[`{\"\\n")
    + ["ſ", "İ", "ß", "Do"]
)


@settings(max_examples=300, deadline=None)
@given(parts=st.lists(st.sampled_from(WORDS), max_size=8), cuts=st.lists(st.integers(0, 200), max_size=40))
def test_a_stream_says_what_the_whole_says(parts: list[str], cuts: list[int]) -> None:
    restorer, reply = Restorer(PAIRS), "".join(parts)
    places = sorted({0, len(reply), *(cut for cut in cuts if cut < len(reply))})
    found, held = streamed(restorer, [reply[a:b] for a, b in itertools.pairwise(places)])
    assert found == restorer.restore(reply)
    assert held <= longest_of(restorer) + 1


@pytest.mark.slow
def test_every_split_of_each_form() -> None:
    for pair in PAIRS:
        restorer = Restorer([pair])
        longest = max(len(form) for form in restorer.index.forms)
        for reply in (f"To {pair[0]}s, {pair[0].upper()}.", f"{pair[0]}-x{pair[0]}", f"x {pair[0]}.5"):
            whole = restorer.restore(reply)
            for first in range(len(reply) + 1):
                for second in range(first, len(reply) + 1):
                    assert streamed(restorer, [reply[:first], reply[first:second], reply[second:]])[0] == whole
            assert streamed(restorer, list(reply))[1] <= longest + 1 + 5 * pair[0].count(" ")


def sent(sanitizer: Sanitizer, text: str, **options: Any) -> tuple[Conversation, str]:
    conversation = Conversation(sanitizer, **options)
    return conversation, conversation.outgoing_text(text)


TEXT = (
    "I am Anna Novak of Salt Lake City. Order 4711 of 12 March 2024 cost $49.99 on 2024-05-07 or 3 May. "
    "Dr. Fox has 2 chairs."
)


def test_a_quoted_message_comes_back(sanitizer: Sanitizer) -> None:
    for _ in range(20):
        conversation, out = sent(sanitizer, TEXT)
        found = conversation.incoming(out)
        assert found.reply == TEXT
        assert (found.not_restored_words, found.ambiguous) == ((), ())
        stream = conversation.stream()
        assert "".join(map(stream.feed, out)) + stream.close() == TEXT
        assert stream.result == found
        assert stream.close() == ""
        with pytest.raises(InputError, match=r"^a part of a reply"):
            stream.feed("x")


def test_the_surrogate_of_another_conversation_stays(sanitizer: Sanitizer) -> None:
    _, out = sent(sanitizer, "Anna Novak")
    assert Conversation(sanitizer).incoming(out).reply == out


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def test_arguments_are_restored_for_named_tools_alone(sanitizer: Sanitizer) -> None:
    conversation, out = sent(
        sanitizer, "Anna Novak ordered 4711 and 2 more.", restore_tools=["find"], style="surrogate", facts="none"
    )
    person, numbers = out.split(" ordered ")  # a drawn name may itself end in "and"
    number, few = map(int, numbers.removesuffix(" more.").split(" and "))
    arguments = {"who": person, "text": f"to {person}", "n": number, "few": few, "yes": True, "f": 0.5}
    reply = {"role": "assistant", "content": None, "tool_calls": [call("find", arguments), call("mail", arguments)]}
    reply["reasoning"] = f"So {person} asks."
    found = conversation.incoming(reply)
    assert found.reply["reasoning"] == "So Anna Novak asks."
    first, second = (json.loads(entry["function"]["arguments"]) for entry in found.reply["tool_calls"])
    assert first == {"who": "Anna Novak", "text": "to Anna Novak", "n": 4711, "few": 2, "yes": True, "f": 0.5}
    assert second == arguments
    assert found.tools == ("mail",)
    assert conversation.outgoing([found.reply]) == [reply]  # what the model wrote goes back as it wrote it

    block = [{"type": "text", "text": person}, {"type": "tool_use", "id": "1", "name": "find", "input": {"n": number}}]
    found = conversation.incoming({"role": "assistant", "content": block, "id": "m", "model": person, "usage": {}})
    assert found.reply["content"][0]["text"] == "Anna Novak"
    assert found.reply["content"][1]["input"] == {"n": 4711}
    assert found.reply["model"] == person
    item = {"type": "function_call", "call_id": "1", "name": "mail", "arguments": json.dumps({"to": person})}
    conversation.outgoing([{"role": "user", "content": "And by mail?"}])
    assert conversation.incoming([item]).reply == [item]
    assert conversation.outgoing([item]) == [item]


@pytest.mark.parametrize("reply", [None, 5, b"x", {}, {"content": "x"}, [5], {"choices": []}], ids=repr)
def test_what_is_not_a_reply(sanitizer: Sanitizer, reply: Any) -> None:
    with pytest.raises(
        InputError, match=r"a reply must be a string, a dictionary with a role, or a list of parts \(dictionaries\)"
    ):
        Conversation(sanitizer).incoming(reply)


def test_nothing_of_a_reply_is_shown(sanitizer: Sanitizer) -> None:
    conversation, out = sent(sanitizer, "Anna Novak")
    assert "Novak" not in repr(conversation.incoming(out)) + repr(conversation)


def test_forms_of_one_spelling() -> None:
    """An exact output has precedence over a form of another one, and a form of two originals is ambiguous."""
    restorer = Restorer([("Perry", "Fox"), ("Perrys", "Hale"), ("1984-05-07", "a"), ("7 May 1984", "b")])
    assert restorer.restore("Perry Perrys 1984-05-07 7 May 1984 May 7, 1984") == "Fox Hale a b May 7, 1984"
    assert (
        Restorer(
            [SurrogatePair("7 to", "1", 1), SurrogatePair("7 to", "2", 1), SurrogatePair("7", "1", 0, True)]
        ).restore("7 to")
        == "7 to"
    )


@pytest.mark.parametrize(
    ("texts", "stays"),
    [
        (["![x](<https://e.example/?q=", " {} >)"], True),
        (["`", "![x](<https://e.example/?q=` {} >)"], True),
        (["https://e.example/?q=", "{}"], True),
        (["[x", "]: <//e.example/?q= {} >"], True),
        (["<script>", " {}"], True),
        (["Hello, ", "{} and ", "`x` {}."], False),
    ],
)
def test_no_place_is_spread_over_two_parts(texts: list[str], stays: bool) -> None:
    """Some clients join the texts of a reply, others display them one by one."""
    conversation = Conversation()
    name = conversation.outgoing_text("I am Anna Novak.")[5:-1]
    parts = [{"type": "text", "text": text.replace("{}", name)} for text in texts]
    for reply in (
        parts,
        {"role": "assistant", "content": parts},
        [{"role": "assistant", "content": [p]} for p in parts],
    ):
        found = conversation.incoming(reply)
        assert ("Anna Novak" in str(found.reply)) is not stays
        assert (len(found.skipped) == 1) is stays


@pytest.mark.parametrize("letter", ["K", "Q"])
def test_a_quoted_letter_stays_in_the_arguments_of_a_call(letter: str) -> None:
    conversation = Conversation(Sanitizer.load(), restore_tools=["find"], style="surrogate", facts="none")
    out = conversation.outgoing_text(f"We chose plan {letter} for the new house, and it was fine.")
    arguments = json.dumps({"q": f"{out} or plan k or plan q"})
    call = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": arguments}}
    found = conversation.incoming({"role": "assistant", "content": out, "tool_calls": [call]}).reply
    assert f"plan {letter} for" in found["content"]
    restored = json.loads(found["tool_calls"][0]["function"]["arguments"])["q"]
    assert restored == f"{out} or plan k or plan q"


@pytest.mark.parametrize("turn", [1, -1])
def test_no_entry_of_arguments_is_lost_where_two_keys_have_one_original(turn: int) -> None:
    conversation = Conversation(Sanitizer.load(), restore_tools=["find"])
    surrogate = conversation.outgoing_text("Zorblax Quellx came.").removesuffix(" came.")
    keys = [surrogate, surrogate.upper(), "Zorblax Quellx", "page"][::turn]
    arguments = {key: place for place, key in enumerate(keys)}
    found = conversation.incoming([{"type": "tool_use", "id": "1", "name": "find", "input": arguments}]).reply
    assert sorted(found[0]["input"].values()) == [0, 1, 2, 3]
    assert found[0]["input"]["Zorblax Quellx"] == arguments["Zorblax Quellx"]


def test_a_number_too_long_for_python_stays_in_the_arguments_of_a_call() -> None:
    conversation = Conversation(Sanitizer.load(), restore_tools=["find"])
    conversation.outgoing_text("I ordered 4711.")
    part = {"type": "tool_use", "id": "1", "name": "find", "input": {"n": 10**5000}}
    with pytest.raises(InputError, match="a value is not supported by JSON"):
        conversation.incoming([part])
