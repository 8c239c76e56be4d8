"""``Restored`` acts as its text, reports surrogates that were not restored, and is not serialized by accident."""

import io
import json
import pickle
import re
from typing import Any

import pytest
from textveil import Conversation, Sanitizer
from textveil.errors import RestoredNotJson, TextveilError
from textveil.text.inflections import SurrogatePair
from textveil.text.names.reply_pairs import find_kept_short_forms
from textveil.text.reply_matcher import StreamRestorer
from textveil.text.restore import Restorer
from textveil.text.restore_policy import SkipReason
from textveil.text.restored import Restored, RestoreReport

HIDDEN = Restorer([("Gomez", "Novak"), ("4718", "9923"), ("57", "12")])


def test_a_restored_reply_acts_as_its_text() -> None:
    restored = HIDDEN.restore("Dear Gomez")
    text = "Dear Novak"
    assert (str(restored), f"{restored:>12}", restored[5:], len(restored)) == (text, "  Dear Novak", "Novak", 10)
    assert restored == text
    assert text == restored
    assert restored == HIDDEN.restore("Dear Gomez")
    assert restored != "Dear Gomez"
    assert "Novak" in restored
    assert [*restored] == [*text]
    assert (restored + "!", "Oh " + restored) == ("Dear Novak!", "Oh Dear Novak")
    assert {restored: 1}[text] == 1  # type: ignore[index]
    assert pickle.loads(pickle.dumps(restored)).report == restored.report
    assert "Novak" not in repr(restored)


@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda value: json.dumps([value]),
        lambda value: json.dumps({"reply": value}, sort_keys=True),
        json.JSONEncoder(indent=1).encode,
        lambda value: [*json.JSONEncoder().iterencode({"reply": value})],
        lambda value: json.dump(value, io.StringIO()),
    ],
)
def test_json_raises_a_named_error_that_says_what_to_use(write: Any) -> None:
    restored = HIDDEN.restore("Gomez")
    with pytest.raises(
        RestoredNotJson,
        match=re.escape("a Restored object cannot be written to JSON: use .text, or .to_dict() for text and report"),
    ) as error:
        write(restored)
    assert isinstance(error.value, TextveilError)
    assert isinstance(error.value, TypeError)
    assert "Novak" not in str(error.value)
    assert json.loads(json.dumps(restored.to_dict()))["text"] == "Novak"
    assert json.loads(json.dumps(restored, default=str)) == "Novak"


def test_the_type_has_its_own_name() -> None:
    assert (Restored.__name__, Restored.__qualname__, type(HIDDEN.restore("")).__name__) == ("Restored",) * 3


def test_a_report_has_each_reason_in_the_order_of_the_reply() -> None:
    restorer = Restorer([("Gomez", "Novak"), ("Perry", "a"), ("Perry", "b")])
    report = restorer.restore("gomez, Perry, `Gomez`, Gomez").report
    assert report.restored == ("Gomez",)
    assert [(stays.written, stays.reason.value) for stays in report.not_restored] == [
        ("gomez", "word"),
        ("Perry", "ambiguous"),
        ("Gomez", "code"),
    ]
    assert RestoreReport.join_reports([report, report]).restored == ("Gomez", "Gomez")
    assert report.count_reasons() == {"word": 1, "ambiguous": 1, "code": 1}


@pytest.mark.parametrize(
    ("reply", "unknown"),
    [
        ("4718 and 57, total 4775.", ["4775"]),
        ("Rows: 4,718; 57; total 4,775.00, by 2024-03-12 or 12:30", ["4,775.00", "2024-03-12", "12:30"]),
        ("1. Pay 4718.\n2. Wait.\n  3) Sleep 8 hours.", ["8"]),
        ("Room B57x and v1.2.3beta", []),
        ("He is 57 and she is 57", []),
        ("No numbers.", []),
        ("20 `21` [22](x)", ["20", "21", "22"]),
    ],
)
@pytest.mark.parametrize("places", [(), "all"])
def test_numbers_of_neither_side_are_reported_however_the_reply_is_cut(reply: str, unknown: Any, places: Any) -> None:
    from textveil.text.restore_policy import RestorePolicy

    policy = RestorePolicy.parse(places)
    assert HIDDEN.restore(reply, policy, sanitized="").report.unknown_numbers == tuple(unknown)
    assert HIDDEN.restore(reply, policy).report.unknown_numbers == ()  # the text may have these numbers
    for size in range(1, 5):
        stream = HIDDEN.open_stream(policy, frozenset)
        for start in range(0, len(reply), size):
            stream.feed(reply[start : start + size])
        stream.close()
        assert stream.report.unknown_numbers == tuple(unknown)


def test_numbers_of_the_sanitized_text_are_not_reported() -> None:
    assert HIDDEN.restore("30 and 1,200 and 31", sanitized="30 of 1200").report.unknown_numbers == ("31",)
    assert Restorer([("Gomez", "Novak"), ("[person 1]", "Vos")]).restore("30").report.unknown_numbers == ()


def test_numbers_are_reported_where_tags_replaced_numbers() -> None:
    restorer = Restorer([("[number 1]", "12"), ("[number 2]", "30"), ("[person 1]", "Vos")])
    sanitized = "[number 1] and [number 2] of 8"
    reply = "The sum of [number 1] and [number 2] is 5023, not 8 or 2. See [person 77] and [an aside 4]."
    assert restorer.restore(reply, sanitized=sanitized).report.unknown_numbers == ("5023", "2", "4")
    for size in range(1, 9):
        stream = restorer.open_stream(find_known_numbers=lambda: {"8"})
        for start in range(0, len(reply), size):
            stream.feed(reply[start : start + size])
        stream.close()
        assert stream.report.unknown_numbers == ("5023", "2", "4")


def test_a_sum_over_tags_is_reported_by_a_conversation() -> None:
    conversation = Conversation()
    sent = conversation.outgoing_text("Order 88213 costs 4718 points.")
    found = conversation.incoming(f"{sent} The sum of [number 1] and [number 2] is 5023.")
    assert found.report.unknown_numbers == ("5023",)


def test_a_sum_over_surrogates_is_reported_by_results_and_conversations() -> None:
    sanitizer = Sanitizer.load()
    text = "Anna ordered 4718 chairs and 5236 tables."
    result = sanitizer.sanitize(text, protect="names", facts="none")
    for restored in (result.restore(result.text + " In total: 999999999."), _incoming(sanitizer, text)):
        assert restored.report.unknown_numbers == ("999999999",)
        assert str(restored) == text + " In total: 999999999."


def _incoming(sanitizer: Sanitizer, text: str) -> Any:
    conversation = Conversation(sanitizer, style="surrogate", facts="none")
    sent = conversation.outgoing_text(text)
    stream = conversation.stream()
    assert isinstance(stream, StreamRestorer)
    stream.feed(sent + " In total: 99999")
    stream.feed("9999.")
    stream.close()
    found = conversation.incoming(sent + " In total: 999999999.")
    assert stream.result is not None
    assert stream.result.report == found.report
    return found


PEOPLE = Restorer([("Rosa T. Voss", "Mara Quell"), ("Kim Poole", "Lee Ann Park")])


@pytest.mark.parametrize(
    ("reply", "restored"),
    [
        ("Dear R. Voss,", "Dear M. Quell,"),
        ("R Voss and K. Poole", "M Quell and L. Park"),
        ("R. T. Voss, R.T. Voss", "M. Quell, M. Quell"),
        ("Voss, R. (2020)", "Quell, M. (2020)"),
        ("Dear R.,", "Dear M.,"),
        ("R. VOSS", "M. QUELL"),
        ("Plan R. and T. Voss", "Plan R. and T. Voss"),
    ],
)
def test_an_initial_belongs_to_its_person(reply: str, restored: str) -> None:
    assert PEOPLE.restore(reply) == restored


def test_an_initial_of_two_people_is_reported() -> None:
    restorer = Restorer([("Rosa Voss", "Mara Quell"), ("Rita Voss", "Tom Quell")])
    restored = restorer.restore("Dear R. Voss")
    assert restored == "Dear R. Voss"
    assert restored.report.not_restored == (("R. Voss", "ambiguous"),)


@pytest.mark.parametrize(
    "tag",
    ["[person1]", "[Person 1]", "(person 1)", "[PERSON_1]", "{person 1}", "(Person1)", "[person-1]", "[person 1]"],
)
def test_other_brackets_of_a_tag_are_restored(tag: str) -> None:
    restorer = Restorer([("[person 1]", "Mara Quell")])
    assert restorer.restore(f"Dear {tag}, hello.") == "Dear Mara Quell, hello."
    assert "Mara" not in restorer.restore(f"a `{tag}` <b x={tag}>")


@pytest.mark.parametrize("bare", ["person 1", "Person 1"])
def test_a_bare_tag_stays_and_is_reported(bare: str) -> None:
    restored = Restorer([("[person 1]", "Mara Quell")]).restore(f"Then {bare} came, not person 12.")
    assert restored == f"Then {bare} came, not person 12."
    assert restored.report.not_restored == ((bare, "word"),)


@pytest.mark.full
def test_a_result_restores_what_a_conversation_does() -> None:
    text = "Dr. Mara K. Quell paid $1,250 for order 48213 on 12 March 2024. She is 43 and has 7 chairs."
    for _ in range(20):
        result = Sanitizer.load().sanitize(text, protect="names")
        for restorer in (result.mapping, Restorer.from_json(result.mapping.to_json().encode())):
            restored = restorer.restore(result.text)
            assert restored == text or restored.report.not_restored


def test_a_letter_of_mathematics_is_never_silently_another_letter() -> None:
    """The letter and the plain one have one tag; only the context distinguishes them in a reply."""
    restorer = Restorer([("[letter 1]", "\U0001d465"), ("[letter 1]", "x")])
    restored = restorer.restore("Take [letter 1] as it is.")
    assert (restored, restored.report.count_reasons()) == ("Take [letter 1] as it is.", {SkipReason.AMBIGUOUS: 1})
    assert Restorer([("[person 1]", "O\u2019Neil"), ("[person 1]", "O'NEIL")]).restore("[person 1]") == "O\u2019Neil"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("GLOBAL HERITAGE met us", []),
        ("We met Global Heritage and global Fund", ["global"]),
        ("GLOBAL FUND met Old Heritage", ["GLOBAL", "Heritage"]),
        ("Globally, heritages", []),
    ],
)
def test_a_word_of_the_text_that_is_a_short_form_of_an_organization_has_two_originals(
    text: str, kept: list[str]
) -> None:
    wholes = {"global": {"global heritage"}, "heritage": {"global heritage"}}
    pairs = [*find_kept_short_forms(text, wholes)]
    assert pairs == [SurrogatePair(word, word) for word in kept]
    restored = Restorer([("Global Heritage", "Zorbex Quantel"), ("Global", "Zorbex"), *pairs]).restore(text)
    if kept[:1] == ["GLOBAL"]:
        assert ("GLOBAL", SkipReason.AMBIGUOUS) in restored.report.not_restored
        assert "GLOBAL FUND" in restored


@pytest.mark.parametrize(
    "text",
    [
        "LoginPage loginPage = new LoginPage(page); loginPage.open();",
        "If 'a' is plus, 'b' is minus, 'c' is times and 'd' is over, which letter is it?",
    ],
)
def test_no_echo_differs_in_silence(text: str) -> None:
    sanitizer = Sanitizer.load()
    for _ in range(20):
        for facts in ("none", "plain", "useful"):
            conversation = Conversation(sanitizer, style="surrogate", facts=facts, restore_places="all")
            found = conversation.incoming(conversation.outgoing_text(text))
            assert found.reply == text or found.report.not_restored
    conversation = Conversation(sanitizer, restore_places="all")
    assert conversation.incoming(conversation.outgoing_text(text)).reply == text


def test_a_mapping_from_a_file_reports_ambiguous_surrogates() -> None:
    """Two originals of 27 differ only in their context."""
    pairs = [
        SurrogatePair("27", "12"),
        SurrogatePair("27", "43"),
        SurrogatePair("27", "12", 0, True, "for order 45944 on ", " may 1978. she i"),
        SurrogatePair("27", "43", 0, False, "on 27 may 1978. she is ", " and has 2 chair"),
    ]
    for restorer in (Restorer(pairs), Restorer.from_json(Restorer(pairs).to_json().encode())):
        assert (
            restorer.restore("On 27 May 1978. She is 27 and has 2 chairs")
            == "On 12 May 1978. She is 43 and has 2 chairs"
        )
        restored = restorer.restore("Add 27 to it.")
        assert (restored, restored.report.count_reasons()) == ("Add 27 to it.", {SkipReason.AMBIGUOUS: 1})


def test_pairs_are_found_at_the_first_use_only() -> None:
    calls = list[int]()

    def find_pairs() -> list[tuple[str, str]]:
        calls.append(1)
        return [("Rita", "Anna")]

    restorer = Restorer([("Leeds", "York")], find_pairs=find_pairs)
    assert not calls
    assert [restorer.restore("Rita of Leeds").text for _ in range(2)] == ["Anna of York"] * 2
    assert calls == [1]


def test_a_notebook_shows_the_report_and_originals_on_request_only() -> None:
    reply = "Gomez, Gomez and `4718` [x](https://a.example/57) <b>"
    restored = HIDDEN.restore(reply)
    (found,) = [Conversation(style="surrogate")]
    sent = found.outgoing_text("Anna Zqxwvina called.")
    message = found.incoming({"role": "assistant", "content": sent})
    for shown in (restored._repr_html_(), message._repr_html_()):
        assert not any(word in shown for word in ("Novak", "9923", "Zqxwvina"))
        assert "to_html(show_originals=True)" in shown
    page = restored._repr_html_()
    assert "2 surrogates restored, 2 not restored" in page
    assert "<td>Gomez</td><td>2</td><td>restored</td>" in page
    assert "<td>4718</td><td>1</td><td>stays, as a surrogate in code</td>" in page
    with_text = restored.to_html(show_originals=True)
    assert with_text.startswith("<!-- contains your original text: do not send -->")
    assert "Novak, Novak and" in str(with_text)
    assert "<b>" not in str(with_text).replace("<b></b>", "")
    assert "Zqxwvina" in str(message.to_html(show_originals=True))
    assert "Novak" not in repr(with_text)


def test_every_reason_has_a_phrase() -> None:
    assert all(" " in reason.phrase for reason in SkipReason)
