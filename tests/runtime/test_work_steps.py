"""Work in steps gives what the standard library gives, and its steps are short."""

import json
import json.scanner
import random
from typing import Any

import pytest
from textveil import work_steps
from textveil.work_steps import SteppedJSONEncoder, decode_json, free_in_steps, join_words, sort_strings

_TEXT = 'ab \t\n"\\\u00e9\U0001f600\ud800\u2003'
_OPTIONS: tuple[dict[str, Any], ...] = ({}, {"sort_keys": True, "allow_nan": False}, {"ensure_ascii": False})


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"_STEP_VALUES": 8, "_STEP_CHARACTERS": 16, "_STEP_SPLIT_CHARACTERS": 16, "_STEP_STRINGS": 4}
    for name, size in sizes.items():
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


@pytest.mark.slow
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


def test_json_is_encoded_and_decoded_in_short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: with one step for all, one call of the standard library has the whole value."""
    value = [{"number": number, "text": "a b"} for number in range(50_000)]
    written, kept_encode, kept_make = json.dumps(value), json.JSONEncoder.encode, json.scanner.py_make_scanner  # type: ignore[attr-defined]
    steps, scanners = list[int](), list[Any]()

    def encode(encoder: json.JSONEncoder, o: Any) -> str:
        encoded = kept_encode(encoder, o)
        steps.append(len(encoded))
        return encoded

    def make_scanner(decoder: Any) -> Any:
        scanners.append(decoder)
        return kept_make(decoder)

    monkeypatch.setattr(json.JSONEncoder, "encode", encode)
    monkeypatch.setattr(work_steps, "_make_stepped_scanner", make_scanner)
    assert SteppedJSONEncoder().encode(value) == written
    assert decode_json(written) == value
    assert max(steps) < 100_000
    assert len(scanners) == 1  # the scanner in Python
    monkeypatch.setattr(work_steps, "_STEP_VALUES", 1 << 40)
    monkeypatch.setattr(work_steps, "_STEP_CHARACTERS", 1 << 40)
    assert SteppedJSONEncoder().encode(value) == written
    assert decode_json(written) == value
    assert (max(steps), len(scanners)) == (len(written), 1)


class _Entry:
    """An object that counts while it is alive."""

    alive = 0

    def __init__(self) -> None:
        _Entry.alive += 1

    def __del__(self) -> None:
        _Entry.alive -= 1


def test_containers_are_freed_entry_by_entry() -> None:
    alive: list[int] = []

    class Watched(_Entry):
        def __del__(self) -> None:
            super().__del__()
            alive.append(len(entries))  # the container is still there and shrinks

    entries = [Watched() for _ in range(100)]
    free_in_steps(entries)
    assert alive == [*range(98, -1, -1), 0]  # a name refers to the last entry


def test_nested_containers_are_emptied_and_others_stay() -> None:
    inner: list[Any] = [_Entry(), {"a": _Entry()}, {1, 2}, "text", (1, 2)]
    shared = _Entry()
    outer = {"one": inner, "two": shared, "three": [[_Entry()]]}
    free_in_steps(outer, None, {3})
    assert (outer, inner, _Entry.alive) == ({}, [], 1)
    assert isinstance(shared, _Entry)
