"""Digits that blanks join to one number: a text of many megabytes may be one, and no step of it takes long."""

import re

import pytest
from textveil import Sanitizer
from textveil.text.names import kinds, places
from textveil.text.names.plan import NamesPlans
from textveil.text.names.strings import number_kind


@pytest.fixture(scope="module")
def plans() -> NamesPlans:
    return NamesPlans(Sanitizer.load().bundle)


@pytest.mark.parametrize("mark", [" ", "\u00a0", "(", "+1 ("])
@pytest.mark.parametrize("group", ["7", "21", "4821"])
@pytest.mark.parametrize("count", range(2, 30))
def test_many_groups_have_the_kind_of_their_digits(plans: NamesPlans, count: int, group: str, mark: str) -> None:
    """Also where the first group stands in brackets, or a bracket opens behind a short number."""
    text = mark.join([group] * count)
    if "(" in mark:
        text = f"{mark}{group}) {' '.join([group] * (count - 1))}"
    entries = plans.plan({}).reader().read([f"Call {text} now"])[0].entries
    found = [(entry.kind, entry.slot.text) for entry in entries if not isinstance(entry, str)]
    numbers = re.sub("[^0-9]+", "-", text)
    assert found == [(number_kind(numbers)[0], text)]


def test_a_long_group_is_not_searched_in_one_step(plans: NamesPlans, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0

    def look(text: str) -> tuple[str, str]:
        nonlocal longest
        longest = max(longest, len(text))
        return number_kind(text)

    monkeypatch.setattr(kinds, "number_kind", look)
    text = "4821 " * 50_000
    (read,) = plans.plan({}).reader().read([text])
    assert [entry.kind for entry in read.entries if not isinstance(entry, str)] == ["card"]
    assert longest < 1_000


@pytest.mark.parametrize("count", [places._JOINED - 1, places._JOINED, places._JOINED + 1, 2 * places._JOINED + 3])
def test_the_text_of_a_long_group_is_whole(plans: NamesPlans, count: int) -> None:
    text = " ".join(f"{1000 + number % 9000}" for number in range(count // 2 + 1))
    (read,) = plans.plan({}).reader().read([text])
    assert [entry.slot.text for entry in read.entries if not isinstance(entry, str)] == [text]
