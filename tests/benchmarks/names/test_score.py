"""The score counts staying and changed words correctly on a text counted by hand."""

import pytest
from names.data import Row, Span
from names.score import count_words, summary
from names.words import addresses, is_content, is_number

TEXT = "Anna Novak, nurse, paid 20 Euros to acme labs via bob@acme.org on Monday"
ROW = Row(TEXT, (Span(0, 10, "PERSON"), Span(12, 17, "TITLE"), Span(36, 45, "ORGANIZATION")))


def place(*words: str) -> list[tuple[int, int]]:
    return [(TEXT.index(word), TEXT.index(word) + len(word)) for word in words]


def share(name: str, *hidden: str) -> tuple[int, int]:
    counts = count_words(ROW, place(*hidden))
    return counts[name, True], counts[name, False]


def test_nothing_hidden() -> None:
    assert share("stays") == (5, 5)
    assert share("stays: without titles") == (4, 4)
    assert share("stays: person") == share("stays: direct") == share("stays: type PERSON") == (2, 2)
    assert share("stays: firm") == (2, 2)
    assert share("stays: capitals") == (2, 5)  # of all words, those with a capital that stay
    assert share("entities seen") == share("entities whole") == (3, 3)
    # paid, 20, Euros, bob, acme, org, Monday; of these no number; no part of the address; in lower case
    assert share("changed") == (0, 7)
    assert share("changed: no numbers") == (0, 6)
    assert share("changed: plain") == (0, 3)
    assert share("changed: lower") == (0, 1)


def test_a_part_of_a_word_hides_it_and_function_words_do_not_count() -> None:
    assert share("stays", "nna", "to") == (4, 5)
    assert share("changed", "to", "on") == (0, 7)


def test_all_hidden_and_overlapping() -> None:
    counts = count_words(ROW, [(0, len(TEXT)), (3, 30)])
    assert {name for name, true in counts if not true and counts[name, True]} == {
        "changed",
        "changed: no numbers",
        "changed: plain",
        "changed: lower",
    }
    assert counts["changed", True] == counts["changed", False] == 7


def test_an_entity_is_seen_by_one_word_and_whole_by_all() -> None:
    assert share("entities seen", "Anna") == (3, 3)
    assert share("entities whole", "Anna") == (2, 3)
    assert share("entities seen: person", "Anna", "Novak") == (0, 1)


def test_the_longest_span_has_a_word_and_what_may_come_out_counts_nowhere() -> None:
    row = Row("Bank of Anna paid", (Span(8, 12, "PERSON"), Span(0, 12, "ORGANIZATION")), (Span(13, 17, "MISC"),))
    counts = count_words(row, [])
    assert counts["stays: firm", False] == 2
    assert ("stays: person", False) not in counts
    assert ("changed", False) not in counts


def test_a_planted_error_is_seen() -> None:
    """A tool that hides one character too early leaves the words before it changed and its last word in the open."""
    good = count_words(ROW, [(span.start, span.end) for span in ROW.spans])
    shifted = count_words(ROW, [(span.start - 6, span.end - 6) for span in ROW.spans[1:]])
    assert good["stays", True] == 0
    assert good["changed", True] == 0
    assert shifted["stays", True] > 0
    assert shifted["changed", True] > 0


def test_shares_and_intervals() -> None:
    rows = [count_words(ROW, place("Anna"))] * 30 + [count_words(ROW, [])] * 10
    found = summary(rows)
    assert found["stays: person"]["share"] == pytest.approx((30 + 20) / 80)
    assert found["stays: person"]["of"] == 80
    low, high = found["stays: person"]["interval"]
    # of rows: one in four is a row with both, so the standard error of the share is sqrt(3/16/40)/2
    assert low == pytest.approx(0.625 - 1.96 * 0.0342, abs=0.015)
    assert high == pytest.approx(0.625 + 1.96 * 0.0342, abs=0.015)
    assert summary(rows) == found
    assert found["stays: firm"]["interval"] == [1, 1]


def test_words_that_count() -> None:
    assert not any(map(is_content, ["the", "The", "a", "x", "7", "don", "ll", "wouldn"]))
    assert all(map(is_content, ["10", "nurse", "King"]))
    assert all(map(is_number, ["10", "x7", "Seven", "million"]))
    assert not is_number("severn")


@pytest.mark.parametrize(
    "address",
    ["HTTP://T.CO/XY", "www.a.b", "bob.k+1@acme.org", "@bob", "@ bob", "#tag", "acme.co.uk/x?y=1", "ACME.COM"],
)
def test_addresses_in_any_case(address: str) -> None:
    assert addresses(f"see {address} now") == [(4, 4 + len(address))]


def test_a_dot_is_no_address() -> None:
    assert addresses("It ended. Then U.S. troops came at 5.30") == []
