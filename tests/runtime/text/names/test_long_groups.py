"""A text of many megabytes may be one number of digits and blanks; no step on it takes long."""

import re

import pytest
from textveil import Sanitizer
from textveil.text.names import entity_types, spans
from textveil.text.names.numbers import classify_number
from textveil.text.names.plan import NamesPlanFactory


@pytest.fixture(scope="module")
def plans() -> NamesPlanFactory:
    return NamesPlanFactory(Sanitizer.load().bundle)


@pytest.mark.parametrize("mark", [" ", "\u00a0", "(", "+1 ("])
@pytest.mark.parametrize("group", ["7", "21", "4821"])
@pytest.mark.parametrize(
    "count", [pytest.param(n, marks=() if n in (2, 3, 4, 9, 29) else pytest.mark.full) for n in range(2, 30)]
)
def test_many_groups_have_the_kind_of_their_digits(plans: NamesPlanFactory, count: int, group: str, mark: str) -> None:
    """This also holds if the first group is in brackets, or a bracket opens after a short number."""
    text = mark.join([group] * count)
    if "(" in mark:
        text = f"{mark}{group}) {' '.join([group] * (count - 1))}"
    entries = plans.make_plan({}).make_reader().read_texts([f"Call {text} now"])[0].elements
    found = [(entry.entity_type, entry.span.text) for entry in entries if not isinstance(entry, str)]
    numbers = re.sub("[^0-9]+", "-", text)
    assert found == [(classify_number(numbers)[0], text)]


def test_a_long_group_is_not_searched_in_one_step(plans: NamesPlanFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0

    def look(text: str) -> tuple[str, str]:
        nonlocal longest
        longest = max(longest, len(text))
        return classify_number(text)

    monkeypatch.setattr(entity_types, "classify_number", look)
    text = "4821 " * 50_000
    (read,) = plans.make_plan({}).make_reader().read_texts([text])
    assert [entry.entity_type for entry in read.elements if not isinstance(entry, str)] == ["card"]
    assert longest < 1_000


@pytest.mark.parametrize(
    "count", [spans._JOIN_BLOCK - 1, spans._JOIN_BLOCK, spans._JOIN_BLOCK + 1, 2 * spans._JOIN_BLOCK + 3]
)
def test_the_text_of_a_long_group_is_whole(plans: NamesPlanFactory, count: int) -> None:
    text = " ".join(f"{1000 + number % 9000}" for number in range(count // 2 + 1))
    (read,) = plans.make_plan({}).make_reader().read_texts([text])
    assert [entry.span.text for entry in read.elements if not isinstance(entry, str)] == [text]
