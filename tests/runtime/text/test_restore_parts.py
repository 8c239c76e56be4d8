"""Texts of one reply that clients may join or display separately, and parts of a text that are checked ahead."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textveil import Sanitizer
from textveil.errors import OptionError
from textveil.text.reply_matcher import StreamRestorer
from textveil.text.restore import Restorer
from textveil.text.restore_policy import PROSE_POLICY, RestorePolicy, SkipReason

HIDDEN = Restorer([("Gomez", "Novak"), ("[person 1]", "Hale")])
PIECES = ["```", "`", "$", '{"', '"}', "[", "](", ")", "]:", "[x]:", "<b>", "<img ", "<https://e/", ">", "\n", "\n\n",
    "- ", " ", "\\", "a", "Gomez", " Gomez ", "[person 1]", ".", ":", "<script>", "https://ok.example/"]  # fmt: skip
POLICIES = [PROSE_POLICY, RestorePolicy.parse(["code", "json"]), RestorePolicy.parse((), ["ok.example"])]


def restore_parts(
    texts: list[list[str]], policy: RestorePolicy = PROSE_POLICY, restorer: Restorer = HIDDEN
) -> tuple[list[str], list[StreamRestorer]]:
    """Restore texts, each in deltas, that follow one another."""
    restored: list[str] = []
    streams: list[StreamRestorer] = []
    for deltas in texts:
        stream = restorer.open_stream(policy)
        if streams:
            stream.follow_stream(streams[-1])
        streams.append(stream)
        restored.append("".join(map(stream.feed, deltas)) + stream.close())
    return restored, streams


@settings(max_examples=400, deadline=None)
@given(
    texts=st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), min_size=2, max_size=4),
    cuts=st.lists(st.integers(1, 40), max_size=6),
    policy=st.sampled_from(POLICIES),
)
def test_a_later_text_is_restored_where_both_views_restore_it(
    texts: list[str], cuts: list[int], policy: RestorePolicy
) -> None:
    restored, streams = restore_parts([[text] for text in texts], policy)
    places = sorted({0, *cuts})
    cut = [[text[start:end] for start, end in itertools.pairwise([*places, 10**6])] for text in texts]
    again, others = restore_parts(cut, policy)
    if "<script>" not in "".join(texts):
        assert restored == again
        assert [stream.skipped for stream in streams] == [stream.skipped for stream in others]
    for text, found in zip(texts, restored, strict=True):
        alone = HIDDEN.open_stream(policy)
        whole = alone.feed(text) + alone.close()
        assert found.count("Novak") + found.count("Hale") <= whole.count("Novak") + whole.count("Hale")


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["![x](<https://e/?q=", " Gomez >)"], SkipReason.LINK),
        (["`", "![x](<https://e/?q=` Gomez >)"], SkipReason.LINK),
        (["[x", "]: <//e/?q= Gomez >"], SkipReason.MARKUP),
        (["```\n", "Gomez\n"], SkipReason.CODE),
        (["<img src='", "' Gomez "], SkipReason.MARKUP),
        (["https://e/", "", "Gomez"], SkipReason.CHUNK),
        (["a.", "Gomez"], SkipReason.CHUNK),
        (["<scr", "ipt>", "Gomez"], SkipReason.ACTIVE),
    ],
)
def test_no_place_is_spread_over_texts(texts: list[str], reason: SkipReason) -> None:
    restored, streams = restore_parts([[text] for text in texts])
    assert restored == texts
    assert [why for stream in streams for _, why in stream.skipped] == [reason]


@pytest.mark.parametrize(
    ("texts", "restored"),
    [
        (["Gomez", ".evil.example/"], ["Novak", " .evil.example/"]),
        (["Gomez", "", "@evil.example"], ["Novak", "", " @evil.example"]),
        (["Gomez.", "evil.example"], ["Novak.", " evil.example"]),
        (["Gomez,", "a", ".evil"], ["Novak,", "a", " .evil"]),
        (["Gomez", "=x Gomez"], ["Novak", " =x Novak"]),
        (["Gomez", "/", "/x"], ["Novak", " /", "/x"]),
        (["[person 1]", "](http://e/)"], ["Hale", " ](http://e/)"]),
        (["Gomez", ", who"], ["Novak", ", who"]),
        (["Gomez", " .evil.example"], ["Novak", " .evil.example"]),
        (["Gomez ", ".evil.example"], ["Novak ", ".evil.example"]),
        (["x", ".evil.example"], ["x", ".evil.example"]),
    ],
)
def test_no_later_text_makes_an_address_of_an_original(texts: list[str], restored: list[str]) -> None:
    """A blank separates the next text from the chunk of a restored original."""
    assert restore_parts([[text] for text in texts])[0] == restored
    assert restore_parts([[*text] for text in texts])[0] == restored


def test_texts_of_words_are_restored() -> None:
    restored, streams = restore_parts([["Dear "], ["Gomez", ", "], ["`x`, "], ["Gomez."]])
    assert restored == ["Dear ", "Novak, ", "`x`, ", "Novak."]
    assert not any(stream.skipped for stream in streams)


def test_what_is_looked_at_ahead_counts_for_what_comes_before() -> None:
    stream = HIDDEN.open_stream()
    for part in ("Gomez, ", "and <scri", "pt>"):
        stream.look_ahead(part)
    assert "".join(map(stream.feed, ("Gomez, ", "and <scri", "pt>"))) + stream.close() == "Gomez, and <script>"
    assert [*stream.skipped] == [("Gomez", SkipReason.ACTIVE)]


def test_a_result_opens_places_by_keywords() -> None:
    result = Sanitizer.load().sanitize("Zorblax Quellx came.", protect="names")
    name = result.text.removesuffix(" came.")
    reply = f"{name} `{name}` [a](https://ok.example/?{name})"
    assert result.restore(reply).text.count("Zorblax") == 1
    assert result.restore(reply, restore_places={"code"}).text.count("Zorblax") == 2
    assert result.restore(reply, restore_hosts=["ok.example"]).text.count("Zorblax") == 2
    assert result.restore(reply, restore_places="all").text.count("Zorblax") == 3
    with pytest.raises(OptionError, match="restore_places must be a collection of"):
        result.restore(reply, restore_places=["links"])


@pytest.mark.parametrize(
    ("texts", "restored"),
    [
        (["Gomez,Anna"], ["https://evil.example/?q,Anna"]),
        (["Anna,Gomez"], ["Anna,https://evil.example/?q"]),
        (["Gomez,Gomez Anna"], ["https://evil.example/?q,Gomez Novak"]),
        (["Anna,Gomez", ",Anna"], ["Anna,https://evil.example/?q", ",Anna"]),
        (["Anna,", "Gomez"], ["Novak,", "Gomez"]),
        (["Anna,Anna", ",Anna"], ["Novak,Novak", ",Novak"]),
        (["Gomez, Anna"], ["https://evil.example/?q, Novak"]),
    ],
)
def test_an_original_that_is_an_address_takes_in_no_other(texts: list[str], restored: list[str]) -> None:
    restorer = Restorer([("Gomez", "https://evil.example/?q"), ("Anna", "Novak")])
    found, streams = restore_parts([[text] for text in texts], restorer=restorer)
    assert found == restored
    assert {why for stream in streams for _, why in stream.skipped} <= {SkipReason.CHUNK}


@pytest.mark.parametrize("policy", POLICIES)
def test_an_emoji_is_restored_if_its_utf16_halves_arrive_in_two_parts(policy: RestorePolicy) -> None:
    restorer = Restorer([("\U0001f44b\U0001f3fe", "\U0001f44b\U0001f3fd"), ("Gomez", "Novak")])
    reply = "Gomez waves \U0001f44b\U0001f3fe to Gomez. \ude00 \ud83d"
    units = reply.encode("utf-16-le", "surrogatepass")
    for size in (2, 4, 6, 14):
        parts = [units[at : at + size].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), size)]
        stream = restorer.open_stream(policy)
        restored = "".join(map(stream.feed, parts)) + stream.close()
        assert restored == "Novak waves \U0001f44b\U0001f3fd to Novak. \ude00 \ud83d"
        assert len(stream.restored) == 3
