"""Outputs of one original are restored in the case of the reply; foreign mapping files are refused."""

import copy
import itertools
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textveil import Sanitizer
from textveil.errors import InputError, OptionError
from textveil.text import code_regions, reply_matcher
from textveil.text.active_content import ActiveContentDetector
from textveil.text.inflections import SurrogatePair
from textveil.text.region_state import Region
from textveil.text.regions import RegionScanner
from textveil.text.reply_chunk import ReplyChunk
from textveil.text.restore import MAPPING_FORMAT, MAPPING_VERSION, MAX_MAPPING_BYTES, Restorer
from textveil.text.restore_policy import EVERYWHERE_POLICY, PROSE_POLICY, RestorePolicy, SkipReason

PAIRS = [
    ("clinic", "Zorblax"),
    ("nurse", "doctor"),
    ("flu", "McCoy"),
    ("john", "Mary"),
    ("12", "48,213"),
    ("x7-q", "COVID-19"),
    ("dirty", "spelt"),
    ("dirty", "qwyx"),
]


@pytest.mark.parametrize(
    ("reply", "restored"),
    [
        ("The clinic called.", "The zorblax called."),
        ("The Clinic called.", "The Zorblax called."),
        ("CLINIC", "ZORBLAX"),
        ("a nurse's Nurse", "a doctor's Doctor"),
        ("nurse’s", "doctor’s"),
        ("nurse'd've", "doctor'd've"),
        ("Flu FLU flu", "McCoy MCCOY mccoy"),
        ("John'll", "Mary'll"),
        ("12 12.", "48,213 48,213."),
        ("12.5 1.12 12,000 x12 12", "12.5 1.12 12,000 x12 48,213"),
        ("only 12.", "only 48,213."),
        ("X7-Q x7-q", "COVID-19 COVID-19"),
        ("dirty Dirty", "dirty Dirty"),
        ("clinics clinical cli nic", "zorblaxes clinical cli nic"),
        ("", ""),
        ("ｎｕｒｓｅ", "doctor"),
    ],
)
def test_what_is_restored(reply: str, restored: str) -> None:
    assert Restorer(PAIRS).restore(reply) == restored


def test_a_heading_in_capitals_does_not_decide_how_a_name_is_spelled() -> None:
    restorer = Restorer([("JEAN", "MARIA"), ("Jean", "Maria"), ("jean", "maria"), ("ACME", "IBM")])
    assert restorer.restore("Jean JEAN Acme") == "Maria MARIA IBM"


def test_ambiguous_outputs_are_counted_and_left_alone() -> None:
    restorer = Restorer(PAIRS)
    assert (len(restorer), restorer.ambiguous_count) == (6, 1)
    assert Restorer([("nurse", "doctor")] * 3).ambiguous_count == 0


def test_many_clitics_take_linear_time() -> None:
    clitics = "'s" * 100_000
    assert Restorer(PAIRS).restore("nurse" + clitics, EVERYWHERE_POLICY) == "doctor" + clitics
    assert Restorer(PAIRS).restore("nurse" + clitics) == "nurse" + clitics  # no word of a sentence
    assert Restorer(PAIRS).restore("nurse" + clitics[:1000]) == "doctor" + clitics[:1000]


def test_a_text_of_distinct_outputs_comes_back(small: Sanitizer) -> None:
    text = "The Doctor's zorblax, DOCTOR doctor! John wasn't my B2B-7 on 5/6/2007; o'Clock's (KIM@x.org) 1,234"
    distinct = 0
    for _ in range(200):
        result = small.sanitize(text, consistent=True, epsilon=6)
        assert result.mapping is not None
        if len(result.mapping) == 9:
            assert result.restore(result.text) == text
            distinct += 1
        else:
            assert result.mapping.ambiguous_count
    assert distinct


def test_a_word_alone_comes_back(small: Sanitizer) -> None:
    result = small.sanitize("doctor", consistent=True)
    assert result.mapping is not None
    assert (len(result.mapping), result.restore(result.text)) == (1, "doctor")


def test_without_a_mapping_nothing_is_restored(small: Sanitizer) -> None:
    plain, consistent = small.sanitize("doctor"), small.sanitize("doctor", consistent=True)
    for result in (plain, pickle.loads(pickle.dumps(consistent)), copy.copy(consistent)):
        with pytest.raises(
            OptionError,
            match=r"this result has no mapping: only results with consistent=True have one, and only in",
        ):
            result.restore("nurse")
    with pytest.raises(InputError, match=r"^the reply must be a string$"):
        consistent.restore(b"nurse")  # type: ignore[arg-type]


def test_a_mapping_does_not_show_what_it_holds() -> None:
    restorer = Restorer(PAIRS)
    assert repr(restorer) == str(restorer) == "<Restorer of 6 words>"
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(
            TypeError,
            match=r"a mapping cannot be pickled: save it with to_json, in a file that only its owner can read",
        ):
            leave(restorer)


def test_a_mapping_survives_its_file() -> None:
    restorer = Restorer([*PAIRS, ("a", "l'aîné"), ("b", "\udcff"), ("c", "\u2028")])
    content = restorer.to_json()
    assert content.isascii()
    again = Restorer.from_json(content.encode())
    assert again.to_json() == content
    assert again.restore("A b") == "L'aîné \udcff"


Pair = SurrogatePair
SAVED = [
    Pair("Gomez", "Novak"), Pair("gomez", "NOVAK"), Pair("clinic", "Zorblax"), Pair("clinics", "ward"),
    Pair("Clinics", "room"), Pair("Straße", "acme"), Pair("STRASSE", "ACME"), Pair("1,200", "5"), Pair("1200", "6"),
    Pair("7", "3", weak=True, before="room"), Pair("7 beds", "3", lead=1), Pair("A.", "b.", weak=True), Pair("a", "C"),
    Pair("[person 1]", "Hale"), Pair("dirty", "spelt"), Pair("DIRTY", "qwyx"),
    Pair("7", "4", 0, True, "\na pump of ", "v and a lamp.\n"),
    Pair("7", "5", 0, True, "\na pump of ", "v and a lamp.\n"),
]  # fmt: skip
WRITTEN = [
    "Gomez", "GOMEZ", "clinic", "Clinics", "clinicses", "Strasse", "Straße", "1,200", "1200.00", "room 7", "7 beds",
    "a", "A.", "[person 1]", "(person 1)", "dirty", "Dirties", "A pump of 7V and a lamp.",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    pairs=st.lists(st.sampled_from(SAVED), max_size=8),
    words=st.lists(st.sampled_from(WRITTEN), max_size=6),
    policy=st.sampled_from([PROSE_POLICY, EVERYWHERE_POLICY]),
)
def test_a_saved_mapping_restores_as_the_one_in_memory(
    pairs: list[SurrogatePair], words: list[str], policy: RestorePolicy
) -> None:
    """In text and report, whole and in single characters; also outputs with several originals."""
    restorer, reply = Restorer(pairs), " ".join(words)
    again = Restorer.from_json(restorer.to_json().encode())
    assert (len(again), again.ambiguous_count, again.to_json()) == (
        len(restorer),
        restorer.ambiguous_count,
        restorer.to_json(),
    )
    whole = restorer.restore(reply, policy)
    assert (whole.text, whole.report) == ((loaded := again.restore(reply, policy)).text, loaded.report)
    stream = again.open_stream(policy)
    assert "".join(map(stream.feed, reply)) + stream.close() == whole.text
    assert (stream.report.restored, stream.report.not_restored) == (whole.report.restored, whole.report.not_restored)


def test_a_saved_mapping_knows_outputs_with_several_originals() -> None:
    restorer = Restorer(PAIRS)
    again = Restorer.from_json(restorer.to_json().encode())
    assert again.restore("dirty").report.not_restored == restorer.restore("dirty").report.not_restored != ()


WRONG: list[Any] = [
    b"", b"null", b"[]", b"{", b"\xff", b"\xef\xbb\xbf{}", b"[" * 100_000, b"{}", b'{"a": NaN}',
    b'{"format": "textveil-mapping", "originals": {}}',
    {"format": "other"}, {"format_version": 2}, {"format_version": True}, {"format_version": "1"},
    {"originals": None}, {"originals": []}, {"originals": {"a": 5}}, {"originals": {"a": None}}, {"originals": "Zorb"},
    {"ambiguous": {}}, {"ambiguous": [5]}, {"ambiguous": None},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:40])
def test_what_is_no_mapping_is_refused(wrong: Any) -> None:
    sound = {"format": MAPPING_FORMAT, "format_version": MAPPING_VERSION, "originals": {}}
    content = wrong if isinstance(wrong, bytes) else json.dumps({**sound, **wrong}).encode()
    Restorer.from_json(json.dumps(sound).encode())
    with pytest.raises(InputError, match=r"^the file is not a mapping that textveil wrote$"):
        Restorer.from_json(content)


def test_a_huge_mapping_is_refused() -> None:
    sound = Restorer([]).to_json().encode()
    with pytest.raises(InputError, match=r"the file is not a mapping that textveil wrote"):
        Restorer.from_json(sound + b" " * MAX_MAPPING_BYTES)


def test_a_name_comes_back_with_its_hyphen() -> None:
    """Names of three words with two surrogates, a surname alone, and a name whose parts contain the whole."""
    sanitizer, words = Sanitizer.load(), ["", ""]
    while len(words) > len({*words}):  # by chance, two persons get one surname, and a reply could mean either
        result = sanitizer.sanitize("Anne-Marie Keller met Jean-Luc Picard and Bob Novak.", protect="names")
        first, second, third, _ = (result.text.rstrip(".").replace(" met ", " and ") + " and ").split(" and ")
        words = re.findall(r"\w+", f"{first} {second} {third} Keller Picard Novak")
    assert result.restore(f"{second}, {first}; {third}.") == "Jean-Luc Picard, Anne-Marie Keller; Bob Novak."
    assert result.restore(third.split()[1]) == "Novak"


#: Replies with ``SURROGATE`` where a surrogate stands; whether its original may be put there; else the reason.
REPLIES = [json.loads(line) for line in Path(__file__).with_name("restoring_attacks.jsonl").read_text().splitlines()]
HIDDEN = Restorer([("Gomez", "Novak"), ("[person 1]", "Hale")])


def put_in(reply: dict[str, Any], surrogate: str = "Gomez") -> str:
    return reply["reply"].replace("SURROGATE", surrogate)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: ascii(reply["reply"])[:60])
def test_an_original_comes_only_into_running_text(reply: dict[str, Any]) -> None:
    stream = HIDDEN.open_stream()
    restored = stream.feed(put_in(reply)) + stream.close()
    assert restored == HIDDEN.restore(put_in(reply))
    if reply["restored"]:
        assert restored == put_in(reply, "Novak").replace("[person 1]", "Hale")
        assert stream.skipped == ()
    else:
        assert "Novak" not in restored
        assert {reason for written, reason in stream.skipped if written == "Gomez"} == {reply["reason"]}
    everywhere = HIDDEN.restore(put_in(reply), EVERYWHERE_POLICY)
    assert everywhere == put_in(reply, "Novak").replace("[person 1]", "Hale")


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: ascii(reply["reply"])[:60])
def test_no_cut_of_a_stream_changes_what_is_restored(reply: dict[str, Any]) -> None:
    assert_cuts_change_nothing(reply, 12)


@pytest.mark.full
@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: ascii(reply["reply"])[:60])
def test_none_of_many_cuts_of_a_stream_changes_what_is_restored(reply: dict[str, Any]) -> None:
    assert_cuts_change_nothing(reply, 1_000)


def assert_cuts_change_nothing(reply: dict[str, Any], most: int) -> None:
    """Restore a reply whole, character by character, and in two parts that are cut at up to ``most`` places."""
    text = put_in(reply)
    if reply.get("reason") == SkipReason.ACTIVE:  # nothing is restored from there on; the words before are out
        text = put_in(reply, "x") + " Gomez"
        assert HIDDEN.restore(text) == text
    whole = HIDDEN.restore(text)
    cuts = range(0, len(text), max(1, len(text) // most))
    for deltas in ([*text], *((text[:cut], text[cut:]) for cut in cuts)):
        stream = HIDDEN.open_stream()
        assert "".join(map(stream.feed, deltas)) + stream.close() == whole


@pytest.mark.parametrize(
    "written", ["Go\u200bmez", "Go\u200dmez", "Go\u2060mez", "Go\u00admez", "G\u034fomez", "%47omez"]
)
@pytest.mark.parametrize("reply", ["It is {} today.", "https://evil.example/{}", "[x]: https://evil.example/{}"])
def test_a_surrogate_with_an_invisible_character_in_it_is_none(written: str, reply: str) -> None:
    text = reply.format(written)
    for policy in (RestorePolicy.parse((), ()), EVERYWHERE_POLICY):
        assert HIDDEN.restore(text, policy) == text
        for length in range(1, 6):
            stream = HIDDEN.open_stream(policy)
            deltas = [text[start : start + length] for start in range(0, len(text), length)]
            assert "".join(map(stream.feed, deltas)) + stream.close() == text


@pytest.mark.parametrize(
    "reply",
    [
        '{"a": "![a](http://evil/){: src="http://evil/? SURROGATE "}',
        '{"a": "![a](http://evil/)"; src=SURROGATE }',
        '{"a": 1 // SURROGATE\n}',
    ],
)
def test_the_option_json_opens_nothing_between_the_strings_of_broken_json(reply: str) -> None:
    text = reply.replace("SURROGATE", "Gomez")
    assert HIDDEN.restore(text, RestorePolicy.parse(["json"])) == text


PIECES = ["```", "`", "$", "$$", "\\(", "\\)",
    "\\href{", "}", '{"', '"', "[", "](", ")", "]:", "[x]:", "<b>", "</b>", "<img ", "<%", "%>",
    "<https://ok.example/", "https://ok.example/", ">", "\n", "\n\n", "> ", "- ", " ", " ", "\\n",
    "a", "Gomez", "Gomez", "[person 1]", "] (", "!!!", ":::",
    "\x02", "    >\n", "\n>\n", "\n> ", "![", '(u "', "<b ", "style='",
    ".", ":", "(", "'", "5", "*", "@", "\u200b", "/", "Gomez ", "**Gomez**", "\u00a0", "5,", "x" * 1030,
    "&lt;", "&gt;", "&lt;b&gt;", "%3C", "\\u003c", "=3", "c", "[img]", "[/img]", "[url=", "//", ".. ", "__ ", ":x: ",
    "image:", "image::", "#+", "#+begin_x\n", "#+end_x\n", "BEGIN:VCARD\n", "END:VCARD\n", "@startuml\n", "\n ", "!",
    "\uff1c"]  # fmt: skip
POLICIES = [
    PROSE_POLICY, EVERYWHERE_POLICY, RestorePolicy.parse(["code"]), RestorePolicy.parse(["json", "math"]),
    RestorePolicy.parse(["code", "json", "math"], ["ok.example"]), RestorePolicy.parse((), ["ok.example"]),
]  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(
    parts=st.lists(st.sampled_from(PIECES), max_size=18),
    cuts=st.lists(st.integers(0, 120), max_size=20),
    policy=st.sampled_from(POLICIES),
)
def test_no_cut_of_any_reply_changes_what_is_restored(parts: list[str], cuts: list[int], policy: RestorePolicy) -> None:
    text = "".join(parts)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    found = []
    for deltas in ([text], [*text], [text[start:end] for start, end in itertools.pairwise(places)]):
        stream = HIDDEN.open_stream(policy)
        restored = "".join(map(stream.feed, deltas)) + stream.close()
        found.append((restored, stream.restored, stream.skipped, stream.not_restored_words, stream.ambiguous))
    assert found[0] == found[1] == found[2]
    assert found[0][0].replace("Novak", "Gomez").replace("Hale", "[person 1]") == text


def test_a_stream_holds_back_no_more_than_a_chunk() -> None:
    stream, given_out = HIDDEN.open_stream(), 0
    reply = "Gomez " + "x" * 5000 + " Gomez" + ",a" * 3000 + " Gomez:/" + "b" * 900
    for read, character in enumerate(reply, 1):
        given_out += len(stream.feed(character))
        assert read - given_out <= 1024 + len("[person 1]") + 6
    assert len(stream._chunk.text) == 0


def test_what_stays_has_its_reason() -> None:
    reply = 'Gomez `Gomez` $x Gomez$ [a](Gomez) k=Gomez ["Gomez"] gomez <img src=Gomez> \n\nGomez '
    stream = HIDDEN.open_stream()
    stream.feed(reply)
    stream.close()
    assert stream.restored == ["Gomez"]
    assert stream.not_restored_words == ("gomez",)
    reasons = ["code", "math", "link", "chunk", "json", "markup", "markup"]
    assert [*stream.skipped] == [("Gomez", SkipReason(reason)) for reason in reasons]
    stream = HIDDEN.open_stream()
    stream.feed(f"{reply} javascript:x")
    stream.close()
    assert [*stream.skipped] == [("Gomez", SkipReason.ACTIVE)] * 8


def _no_chunk_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReplyChunk, "add_text", lambda self, text: None)


def _no_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RegionScanner, "read_character", lambda self, character: Region.PROSE)


def _no_active_content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ActiveContentDetector, "feed", lambda self, text: False)


def _all_code_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_regions, "_note_hazard", lambda state, frame, character: None)


def _every_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_matcher, "PROSE_POLICY", EVERYWHERE_POLICY)
    monkeypatch.setattr(
        Restorer, "open_stream", lambda self, policy=EVERYWHERE_POLICY: reply_matcher.StreamRestorer(self.index, policy)
    )


@pytest.mark.parametrize("fault", [_no_chunk_rule, _no_regions, _no_active_content, _all_code_is_certain, _every_place])
def test_the_attacks_see_planted_faults(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    attacks = [put_in(reply) for reply in REPLIES if not reply["restored"]]
    leaks = 0
    for attack in attacks:
        stream = HIDDEN.open_stream()
        leaks += "Novak" in stream.feed(attack) + stream.close()
    assert leaks >= 10


def test_a_word_that_ends_like_a_handler_is_none_however_a_stream_is_cut() -> None:
    detector = ActiveContentDetector()
    for character in "x" * 3 + "monday=k" + " a" * 200 + " monday=k, company-company":
        assert not detector.feed(character)
    assert detector.feed(" onclick=")


@pytest.mark.parametrize("reply", ["[person 1](https://evil.example/ Gomez", "[person 1](a.b Gomez"])
def test_a_planted_fault_that_ignores_the_outcome_of_a_tag(reply: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag whose chunk stays opens a link at the bracket directly after it."""
    assert "Novak" not in HIDDEN.restore(reply)
    settle = RegionScanner.settle_tag
    monkeypatch.setattr(RegionScanner, "settle_tag", lambda scanner, *, is_replaced: settle(scanner, is_replaced=True))
    assert "Novak" in HIDDEN.restore(reply)
    assert "[person 1](" in HIDDEN.restore(reply)


def test_a_bracket_after_a_tag_in_the_next_part_follows_the_outcome_of_the_tag() -> None:
    for first, second, restored in (
        ("Ask [person 1]", "(Gomez) now", "(Novak) now"),
        ("Ask a.b[person 1]", "(Gomez) now", "(Gomez) now"),
        ("Ask [person 1]", "(https://evil.example/ Gomez", "(https://evil.example/ Gomez"),
    ):
        before, after = HIDDEN.open_stream(), HIDDEN.open_stream()
        before.feed(first)
        before.close()
        after.follow_stream(before)
        assert (after.feed(second) + after.close()).lstrip() == restored


def test_a_thread_that_enters_while_another_one_sorts_the_pairs_finds_them_all() -> None:
    class SharedRestorer(Restorer):
        """A restorer that another thread uses whenever an attribute was set."""

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            if self.is_shared and value in ((), tuple):
                lengths.append(len(self))

        is_shared = False

    lengths: list[int] = []
    restorer = SharedRestorer([("Don", "Anna")], find_pairs=lambda: [("Gomez", "Novak")])
    SharedRestorer.is_shared = True
    assert len(restorer) == 2
    assert lengths == [2, 2]
