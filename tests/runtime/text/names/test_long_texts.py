"""The mode ``names`` reads long texts once, in linear time, and stops when the caller cancels."""

import random
import sys
import tracemalloc
from collections.abc import Callable
from itertools import islice, product
from typing import Any

import pytest
from names_soup import GAPS, soup
from planted import planted
from textveil import Conversation, Sanitizer
from textveil.errors import WorkStopped
from textveil.text.names import read, spans, spelled_tokens, tokenizer
from textveil.text.names import reply_pairs as sent
from textveil.text.names.conversation_state import ConversationDraws
from textveil.text.names.tokens import NamesToken
from textveil.work_steps import limit_work

#: Too long for each push: `make nightly` runs these tests.
pytestmark = pytest.mark.full

UNITS = [
    "x y ", "&amp;", "&amp; ", "a", "4711, ", "12 ", "[", "[a 1] ", '"', '"a" ', "a.b.c.", "a.b.c ", "@", "@ab ",
    "https://www.example.com/a?b=c ", "\n", "a b\nAnna\n", "Anna ", "ABC DEF ", "'", "don't ", "\U0001f600 ", "a\tb",
    "van der ", "5 May 2020 ", "+1 (555) 123 4567, ", "A-b-c ",
]  # fmt: skip


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def count_calls(work: Callable[[], Any]) -> int:
    """Count the calls of Python and C functions."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_takes_twice_the_calls(sanitizer: Sanitizer, unit: str) -> None:
    repeats = 8_000 // len(unit)
    conversations = [Conversation(sanitizer) for _ in range(2)]
    for conversation in conversations:  # pools are used up, words are known
        conversation.outgoing_text(unit * (repeats + 1))
    once, twice = (
        count_calls(lambda c=c, times=times: c.outgoing_text(unit * times))
        for c, times in zip(conversations, (repeats, 2 * repeats), strict=True)
    )
    assert twice <= 2.1 * once + 1_000


class CopiedText(str):
    """A text that counts the characters copied when it is added to another."""

    __slots__ = ()
    copied = 0

    def __radd__(self, other: str) -> str:
        CopiedText.copied += len(other)
        return f"{other}{self!s}"


def test_gaps_without_a_word_are_joined_once(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adding each entity to the text before it would copy half of the text each time."""
    monkeypatch.setattr(tokenizer, "make_gap_token", lambda text: NamesToken(0, CopiedText(text), text))
    CopiedText.copied = 0
    text = "&amp;" * 2_000
    assert Conversation(sanitizer).outgoing_text(text) == text
    assert CopiedText.copied <= len(text)


@pytest.mark.parametrize("unit", UNITS)
def test_the_check_is_asked_often_and_stops_the_work(sanitizer: Sanitizer, unit: str) -> None:
    text, asked = unit * (120_000 // len(unit)), 0
    is_one_string = len(text.split()) <= 1 and "&" not in text  # which is replaced or shown as it is

    def count() -> None:
        nonlocal asked
        asked += 1
        if asked > 5 and not is_one_string:
            raise WorkStopped("stopped")

    with limit_work(count):
        conversation = Conversation(sanitizer)
        if is_one_string:
            conversation.outgoing_text(text)
        else:
            with pytest.raises(WorkStopped):
                conversation.outgoing_text(text)
    assert asked > 2
    conversation.outgoing_text("I am Anna Novak.")  # it is as usable as before


TEXT = (
    "I am Anna Novak of Boston. It was 12 March 2024, I paid 7 dollars for 4711 boxes, twice; Mr. Kim knows. [a 1]\n"
    "Then, on March 5, 2020, J. R. Smith of Acme Corp wrote to anna@novak.org about [Boston 7] and 8 chairs. "
)


def test_parts_of_a_text_are_the_same_however_few_are_looked_at(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = sanitizer.names_plan(protect="names")
    text = TEXT * 6
    (read,) = plan.make_reader().read_texts([text])
    assert [*plan.make_reader().stream_text(text)] == [*read.elements]
    pieces = ConversationDraws(plan.style, plan.surrogates, plan.lists.common_words).rewrite(read)
    whole = [*sent.find_pairs(pieces)]
    for window in (8, 9, 16, 1_000):
        monkeypatch.setattr(sent, "_WINDOW", window)
        written, found = sent.write_with_pairs(iter(pieces))
        assert written == "".join(piece.output for piece in pieces)
        assert [*dict.fromkeys(found)] == [*dict.fromkeys(whole)]


#: Line ends beside which a word is read by what stands on the other side.
LINE_ENDS = ("\n", "\n\n", ".\n", ",\n", ".)\n", ".,\n", ":\n", "-\n", "\r\n", " \n ", "\u2028")


def windows_differ(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether any text has another template if it is read a few lines at a time."""
    chance, plan = random.Random(3), sanitizer.names_plan(protect="names")
    for number in range(400):
        text = chance.choice(LINE_ENDS).join(soup(chance, gaps=(*GAPS, *LINE_ENDS)) for _ in range(6))
        text = text.lower() if number % 4 == 0 else text
        text = text if number else "is new the\nnew zorb is\n"  # the same place in two windows
        monkeypatch.setattr(read, "_BLOCK_CHARACTERS", 1 << 20)
        whole = plan.make_reader().read_texts([text])[0]
        for block in (1, 20):
            monkeypatch.setattr(read, "_BLOCK_CHARACTERS", block)
            parts = plan.make_reader().read_texts([text])[0]
            if ([*parts.elements], parts.kept_count) != ([*whole.elements], whole.kept_count):
                return True
    return False


def test_a_text_is_read_a_few_lines_at_a_time_as_at_once(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not windows_differ(sanitizer, monkeypatch)
    windows = [
        *sanitizer.names_plan(protect="names").make_reader()._iterate_windows("It was good.\nAnna left.\n" * 2_000)
    ]
    assert len(windows) > 3


def test_a_line_that_ends_inside_a_number_in_words_is_found(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = planted(spelled_tokens.may_span_gap, ("may_be_of_one(words[index - 1]) and", "False and"))
    monkeypatch.setattr(read, "may_span_gap", fault)
    assert windows_differ(sanitizer, monkeypatch)


def freeing_changes_spans(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether any text has other elements if the tokens of a line are freed while the line is read."""
    chance, plan, free = random.Random(5), sanitizer.names_plan(protect="names"), spans.SpanFinder._free_words
    for number in range(400):
        text = soup(chance, gaps=(*GAPS, *LINE_ENDS) if number % 2 else GAPS)
        text = text.lower() if number % 4 == 0 else text
        text = text if number else "Dr. Anna and Dr. Anna and Dr. Anna"
        monkeypatch.setattr(spans.SpanFinder, "_free_words", lambda finder: None)
        whole = plan.make_reader().read_texts([text])[0]
        monkeypatch.setattr(spans.SpanFinder, "_free_words", free)
        freed = plan.make_reader().read_texts([text])[0]
        if ([*freed.elements], freed.kept_count) != ([*whole.elements], whole.kept_count):
            return True
    return False


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_words_are_freed_only_when_no_decision_reads_them(
    sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    monkeypatch.setattr(spans, "STEPS_PER_CHECK", steps)
    assert not freeing_changes_spans(sanitizer, monkeypatch)


def test_a_word_that_is_freed_too_early_is_found(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "STEPS_PER_CHECK", 1)
    fault = planted(spans.SpanFinder._free_words, ("self._after_last_span - 1)", "self._after_last_span)"))
    monkeypatch.setattr(spans.SpanFinder, "_free_words", fault)
    assert freeing_changes_spans(sanitizer, monkeypatch)


def measure_peak(sanitizer: Sanitizer, text: str) -> float:
    """Return the peak memory of rewriting a text, divided by the bytes of the text."""
    conversation = Conversation(sanitizer)
    len(sanitizer.names_plan(protect="names").lists.common_words)  # the dictionary of the list is no part of the text
    conversation.outgoing_text(text[:500])
    tracemalloc.start()
    try:
        conversation.outgoing_text(text)
        return tracemalloc.get_traced_memory()[1] / len(text.encode())
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("unit", "most"), [("x y ", 60), ("A-b-c ", 60), ("one two ", 60), ("Anna ", 96), (TEXT, 24), ("It was good. ", 24)]
)
def test_a_long_text_takes_few_bytes_for_each_of_its_own(sanitizer: Sanitizer, unit: str, most: int) -> None:
    assert measure_peak(sanitizer, unit * (100_000 // len(unit))) <= most


def test_a_line_of_different_words_takes_few_bytes_for_each_of_its_own(sanitizer: Sanitizer) -> None:
    words = map("".join, product("abcdefghijklmnopqrstuvwxyz", repeat=4))
    assert measure_peak(sanitizer, " ".join(islice(words, 20_000))) <= 88  # 100 if all its tokens are held
