"""Brackets, lists, times, ranges, ratings and titles keep their shape in the output."""

import re
from collections.abc import Iterator

import pytest
from names_soup import skeleton
from planted import planted
from textveil import Conversation, Sanitizer
from textveil.text.names import entity_types, lexicon, numbers, string_types
from textveil.text.names.plan import NamesPlanFactory

#: So many drafts of a text that a wrong shape, which comes out in one of 20 drafts or more, is seen.
DRAFTS = 450


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def drafts(sanitizer: Sanitizer, text: str) -> Iterator[str]:
    """Rewrite a text several times."""
    for result in sanitizer.sanitize_batch([text] * DRAFTS, protect="names", facts="none"):
        yield result.text


SHAPES = [
    ("order 88213 (2 chairs)", r"order \d{5} \(\d chairs\)"),
    ("chapter 12 (3)", r"chapter \d\d \(\d\)"),
    ("rooms 88213 (2) 3 and 12) 13", r"\w+ \d{5} \(\d\) \d and \d\d\) \d\d"),
    ("(12 chairs) and (13)", r"\(\d\d chairs\) and \(\d\d\)"),
    ("call (555) 123-4567, (555) 765-4321", r"call \d{3}-555-01\d\d, \d{3}-555-01\d\d"),
    ("call +49 (30) 1234567", r"call \d{3}-555-01\d\d"),
    ("call (555)123-4567", r"call \d{3}-555-01\d\d"),
    ("| 12 (3) | 4 |", r"\| \d\d \(\d\) \| \d \|"),
    ("he worked 2021-2023 there", r"he worked (?:19|20)\d\d-(?:19|20)\d\d there"),
    ("**2019–2020** and 2019/2020", r"\*\*(?:19|20)\d\d–(?:19|20)\d\d\*\* and (?:19|20)\d\d/(?:19|20)\d\d"),
    ("open 24/7", "open 24/7"),
    ("come at 7pm", r"come at (?:1?\d)[ap]m"),
    ("come at 11AM", r"come at (?:1?\d)[AP]M"),
    ("7:30 p.m.", r"\d:[0-5][05] p\.m\."),
    ("11:30 p.m.", r"(?:0[1-9]|1[0-2]):[0-5][05] p\.m\."),
    ("[08:51:06] said", r"\[(?:0[1-9]|1[0-2]):[0-5]\d:[0-5]\d\] said"),
    ("from 10:30-11:45 or 7–9pm", r"from (?:0[1-9]|1[0-2]):[0-5][05]-(?:0[1-9]|1[0-2]):[0-5][05] or 1?\d–1?\d[ap]m"),
    ("1. see it\n2. go\n3) come\n", r"1\. see it\n2\. go\n3\) come\n"),
    ("## 1. What\n\n**2.** It\n> 3. He", r"## 1\. What\n\n\*\*2\.\*\* It\n> 3\. He"),
    ("he worked 2021 - 2023 there", r"he worked (?:19|20)\d\d - (?:19|20)\d\d there"),
    ("1. see\n1.1 go\n1.2) come\n1.2.1 stay", r"1\. see\n1\.1 go\n1\.2\) come\n1\.2\.1 stay"),
    ("1. see\n2. run\n2.1. eat", r"1\. see\n2\. run\n2\.1\. eat"),
    ("Dear Ms. Novak", r"Dear Ms\. [\w' -]+"),
    ("Mr. and Mrs. Novak", r"Mr\. and Ms\. [\w' -]+"),
    ("DR. NOVAK", r"(?:DR|PROF|MX)\. [\w' -]+"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shape"), SHAPES, ids=[text for text, _ in SHAPES])
def test_the_shape_stays(sanitizer: Sanitizer, text: str, shape: str) -> None:
    for draft in drafts(sanitizer, text):
        assert re.fullmatch(shape, draft), draft


@pytest.mark.parametrize("text", ["2021 - 2023", "2008 \u2013 2019"])
def test_a_range_of_years_with_blanks_is_one_slot_whose_years_stay_in_order(sanitizer: Sanitizer, text: str) -> None:
    for draft in drafts(sanitizer, text):
        first, last = map(int, re.split(" [-\u2013] ", draft))
        assert first < last, draft
    result = sanitizer.sanitize(f"from {text} on", protect="names")
    assert result.restore(f"From {result.text[5:-3]} on.") == f"From {text} on."


@pytest.mark.parametrize(
    "text", ["2.1 go", "1. see\n1.3 go", "1. see\n2.1 go", "1. see\n\nit is 1.1 now", "1. see\n1.01 go"]
)
def test_a_nested_number_that_goes_on_with_no_list_is_replaced(sanitizer: Sanitizer, text: str) -> None:
    number = re.findall(r"\d\.\d+", text)[-1]
    assert any(number not in draft for draft in drafts(sanitizer, text))


@pytest.mark.parametrize("text", ["5/5", "4/5", "9-3", "50-50", "100/999", "12–13"])
def test_a_rating_is_at_most_its_scale(sanitizer: Sanitizer, text: str) -> None:
    for draft in drafts(sanitizer, f"the doctor said {text} to me"):
        first, second = map(int, re.findall("[0-9]+", draft))
        assert first <= second


@pytest.mark.parametrize("text", ["2021-2023", "2023-2021", "1999/2000"])
def test_a_range_of_years_begins_with_the_earlier_one(sanitizer: Sanitizer, text: str) -> None:
    for draft in drafts(sanitizer, f"from {text} on"):
        first, second = map(int, re.findall("[0-9]+", draft))
        assert first < second


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("5. see it\n7. go", ["5", "7"]),
        ("1. see it\n3. go\n2. come", ["3"]),
        ("01. see it", ["01"]),
        ("it is 1. Then 2. He", ["1", "2"]),
        ("he said so\n1", ["1"]),
        ("$1. it\n-1. it\n1.5 it", ["1", "1", "1.5"]),
        ("(1) 555-1234", ["(1) 555-1234"]),
        ("1 (555) 123-4567", ["1 (555) 123-4567"]),
        ("1.\n2. it\n100. it", ["100"]),
    ],
)
def test_other_numbers_at_the_start_of_a_line_are_hidden(sanitizer: Sanitizer, text: str, hidden: list[str]) -> None:
    read = sanitizer.names_plan(protect="names", facts="none").make_reader().read_texts([text])[0]
    assert [entry.span.text for entry in read.elements if not isinstance(entry, str)] == hidden


def test_each_text_begins_its_own_list(sanitizer: Sanitizer) -> None:
    reader = sanitizer.names_plan(protect="names", facts="none").make_reader()
    first, second = reader.read_texts(["1. see it\n2. go", "3. see it"])
    assert len(first.elements) == 1
    assert len(second.elements) == 3


def test_a_list_goes_on_behind_many_lines(sanitizer: Sanitizer) -> None:
    """A long text is read some lines at a time."""
    text = "".join(f"{number}. see it\n{'he came to the house and went again ' * 60}\n" for number in range(1, 21))
    (read,) = sanitizer.names_plan(protect="names", facts="none").make_reader().read_texts([text])
    assert "".join(entry for entry in read.elements if isinstance(entry, str)) == text


def test_an_expression_that_is_denied_is_hidden(sanitizer: Sanitizer) -> None:
    read = sanitizer.names_plan(protect="names", deny=["24/7"]).make_reader().read_texts(["open 24/7"])[0]
    assert [entry.span.text for entry in read.elements if not isinstance(entry, str)] == ["24/7"]


ECHOED = [
    "he worked 2021-2023 and 1999–2003 there",
    "order 88213 (2 chairs) at 7pm, 08:51:06 or 10:30-11:45",
    "1. call (555) 123-4567\n2. call +49 (30) 1234567\n3. rated 44/45",
    "| 2019/2020 | 12 (30) |\n| 7:30 p.m. | 24/7 |",
    "Dear Ms. Novak, Mr. Baker and Mrs. Adams are in",
]


@pytest.mark.parametrize("style", ["surrogate", "tag"])
@pytest.mark.parametrize("text", ECHOED)
def test_an_echo_is_restored(sanitizer: Sanitizer, text: str, style: str) -> None:
    """In a conversation every surrogate is unique; in a single text it may repeat."""
    for _ in range(5):
        conversation = Conversation(sanitizer, style=style)
        assert conversation.incoming(conversation.outgoing_text(text)).reply == text
        result = sanitizer.sanitize(text, protect="names", style=style)
        written = re.findall(r"\w[\w:/–-]*", result.text)
        if len(written) == len({*written}):
            assert str(result.restore(result.text)) == text


def test_a_season_stays_a_season_and_is_restored(sanitizer: Sanitizer) -> None:
    for mark in ("-", "/", "–"):
        result = sanitizer.sanitize(f"he worked in 1999{mark}00 there", protect="names")
        found = re.search(f"([0-9]{{4}}){mark}([0-9]{{2}}) ", result.text)
        assert found is not None
        first, second = found.groups()
        assert (int(first) + 1) % 100 == int(second)
        reply = f"In {first}/{second}, {first}-{second}."
        assert str(result.restore(reply)) == f"In 1999{mark}00, 1999{mark}00."


def test_years_of_a_range_are_restored_one_by_one(sanitizer: Sanitizer) -> None:
    for mark in ("-", "–"):
        result = sanitizer.sanitize(f"he worked 2021{mark}2023 there", protect="names")
        first, second = re.findall("[0-9]+", result.text)
        reply = f"From {first} to {second}: {first}-{second}, {first}–{second}."
        assert str(result.restore(reply)) == "From 2021 to 2023: 2021-2023, 2021–2023."


#: Texts around a season, and seasons of one layout: which years they are must not show.
AROUND_SEASONS = ["in {} he won", "{}. go", "({}) 5", "a {}, b", "x={}", "Season {} May 5", "`{}`"]
SEASONS = ["1500/01", "1999/00", "2000/01", "2009/10", "2021/22", "2099/00"]


def _seasons_differ(sanitizer: Sanitizer) -> bool:
    reader = NamesPlanFactory(sanitizer.bundle).make_plan({}).make_reader()
    documents = [[skeleton(reader.read_texts([text.format(one)])) for one in SEASONS] for text in AROUND_SEASONS]
    return any(one != found[0] for found in documents for one in found)


def test_a_season_does_not_show_its_years(sanitizer: Sanitizer) -> None:
    assert not _seasons_differ(sanitizer)


@pytest.mark.parametrize("shown", ['(string < "2000")', '(season[3] == "00")'])
def test_a_season_that_shows_its_years_is_found(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch, shown: str
) -> None:
    fault = planted(
        numbers.classify_number, ('return "season", season[2]', f'return "season", season[2] * (1 + {shown})')
    )
    for module in (entity_types, lexicon, string_types):
        monkeypatch.setattr(module, "classify_number", fault)
    assert _seasons_differ(sanitizer)
