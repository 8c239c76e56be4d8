"""Work in steps gives what the standard library gives, and other threads run between the steps."""

import json
import random
import threading
import time
from typing import Any

import pytest
from textveil import work_steps
from textveil.work_steps import SteppedJSONEncoder, decode_json, join_words, sort_strings

_TEXT = 'ab \t\n"\\\u00e9\U0001f600\ud800\u2003'
_OPTIONS: tuple[dict[str, Any], ...] = ({}, {"sort_keys": True, "allow_nan": False}, {"ensure_ascii": False})


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("_STEP_VALUES", 8), ("_STEP_CHARACTERS", 16), ("_STEP_STRINGS", 4)):
        monkeypatch.setattr(work_steps, name, size)


def make_text(chance: random.Random, length: int) -> str:
    return "".join(chance.choices(_TEXT, k=chance.randrange(length)))


def make_value(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(8)
    if depth == 0 or kind < 4:
        return chance.choice([None, True, 1, -2.5, 1e300, "", make_text(chance, 60)])
    if kind < 6:
        return [make_value(chance, depth - 1) for _ in range(chance.randrange(12))]
    return {make_text(chance, 20): make_value(chance, depth - 1) for _ in range(chance.randrange(12))}


@pytest.mark.usefixtures("small_steps")
def test_json_in_steps_is_that_of_the_standard_library() -> None:
    chance = random.Random(0)
    for _ in range(1_000):
        value = make_value(chance, 4)
        for options in _OPTIONS:
            written = SteppedJSONEncoder(**options).encode(value)
            assert written == json.JSONEncoder(**options).encode(value)
            assert decode_json(written) == value


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("value", [{1: 2, None: "a" * 99}, [float("nan")] * 99, ("a" * 99, (1, 2)), [[[]]] * 99])
def test_values_that_only_python_has_are_encoded_alike(value: Any) -> None:
    assert SteppedJSONEncoder().encode(value) == json.dumps(value)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("value", [[object()] * 99, {"a": [object()], "b": "c" * 99}, [float("inf")] * 99])
def test_values_without_json_raise_the_same_error(value: Any) -> None:
    options: dict[str, Any] = {"allow_nan": False}
    with pytest.raises((TypeError, ValueError)) as expected:
        json.dumps(value, **options)
    with pytest.raises(expected.type):
        SteppedJSONEncoder(**options).encode(value)


@pytest.mark.usefixtures("small_steps")
def test_broken_json_is_refused_as_by_the_standard_library() -> None:
    chance = random.Random(1)
    for _ in range(2_000):
        characters = [*json.dumps(make_value(chance, 3))]
        characters[chance.randrange(len(characters))] = chance.choice('{}[],:"x1')
        text = "".join(characters)
        results = []
        for decode in (json.loads, decode_json):
            try:
                results.append(repr(decode(text)))
            except ValueError:
                results.append("refused")
        assert results[0] == results[1]


def test_a_byte_order_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="byte order mark"):
        decode_json("\ufeff[" + "1," * 50_000 + "1]")


@pytest.mark.usefixtures("small_steps")
def test_words_and_order_are_those_of_the_standard_library() -> None:
    chance = random.Random(2)
    for _ in range(3_000):
        text = make_text(chance, 90)
        assert join_words(text) == " ".join(text.split())
        strings = chance.choices("abcdef", k=chance.randrange(30))
        assert sort_strings(strings) == sorted(strings)


def count_turns(work: Any) -> int:
    """Return how often another thread ran during some work."""
    turns, is_done = 0, threading.Event()

    def take_turns() -> None:
        nonlocal turns
        while not is_done.is_set():
            turns += 1
            time.sleep(0)

    thread = threading.Thread(target=take_turns)
    thread.start()
    before = turns
    work()
    found = turns - before
    is_done.set()
    thread.join()
    return found


def test_another_thread_runs_while_json_is_encoded_and_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: with one step for all, the other thread runs hardly at all."""
    value = [{"number": number, "text": "a b"} for number in range(150_000)]
    written = json.dumps(value)

    def work() -> None:
        assert SteppedJSONEncoder().encode(value) == written
        assert decode_json(written) == value

    in_steps = count_turns(work)
    monkeypatch.setattr(work_steps, "_STEP_VALUES", 1 << 40)
    monkeypatch.setattr(work_steps, "_STEP_CHARACTERS", 1 << 40)
    assert count_turns(work) < in_steps
