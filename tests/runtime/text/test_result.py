"""Results of ``Sanitizer``: statements, fresh draws in threads and forks, distributions and distances of words."""

import dataclasses
import html
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from strange_texts import MECHANISMS, reading, strange_texts
from textveil import Result, Sanitizer
from textveil.errors import OptionError
from textveil.text import segmentation

# --- statements ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", MECHANISMS, ids=str)
@pytest.mark.parametrize("strict", [False, True])
def test_a_statement_tells_parameters_and_the_number_of_tokens_only(
    tiny: Sanitizer, options: dict[str, Any], strict: bool
) -> None:
    """The texts have equal numbers of tokens and different words: known, unknown, common, sensitive, repeated."""
    texts = ["the of and to in", "zzz 17 😀 x@y.z qqq", "doctor nurse boston doctor nurse", "the zzz doctor 4 the"]
    first, *others = [tiny.sanitize(text, sanitize_punctuation=strict, **options).statement for text in texts]
    for other in others:
        assert other == first
        assert other.to_dict() == first.to_dict()
        assert (str(other), other.summary()) == (str(first), first.summary())
    assert first.tokens == 5


def test_a_notebook_shows_a_statement_in_words(tiny: Sanitizer) -> None:
    statement = tiny.sanitize("the zzz doctor").statement
    assert repr(statement) == f"<PrivacyStatement: {statement.format_line()}>"
    page = statement._repr_html_()
    assert all(html.escape(item) in page for item in (statement.summary(), *statement.not_protected))


@reading
@given(strange_texts)
def test_statements_add_up(tiny: Sanitizer, text: str) -> None:
    statement = tiny.sanitize(text).statement
    terms = tiny.terms()
    assert statement.terms == terms
    assert statement.epsilon_document == statement.tokens * terms.epsilon
    constant = terms.promise.epsilon_0 + terms.promise.rounding_slack  # type: ignore[attr-defined]
    assert statement.to_dict()["epsilon_0_text"] == statement.tokens * constant


def test_a_statement_says_what_is_not_protected(tiny: Sanitizer) -> None:
    def said(**options: object) -> str:
        return " / ".join(tiny.terms(**options).not_protected)  # type: ignore[arg-type]

    default = said()
    for part in (
        "number of tokens",
        "punctuation",
        "case pattern",
        "common words",
        "unchanged words",
        "sampled anew",
    ):
        assert part in default
    strict = said(sanitize_punctuation=True)
    assert "punctuation" not in strict
    assert "case pattern" not in strict
    assert "common words" not in said(mechanism="santext")
    assert "unchanged words" not in said(mechanism="random")
    assert all("sampled anew" in said(**options) for options in MECHANISMS)
    assert tiny.bundle.content_hash in str(tiny.sanitize("the").statement)


def test_results_cannot_be_changed(tiny: Sanitizer) -> None:
    result = tiny.sanitize("the doctor")
    assert isinstance(result, Result)
    for thing, name in ((result, "text"), (result.statement, "tokens"), (result.terms, "level")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, None)


# --- fresh draws, threads, forks -----------------------------------------------------------------------------------


def test_every_call_draws_afresh(english: Sanitizer) -> None:
    text = "doctor " * 30
    assert len({english.sanitize(text, mechanism="random").text for _ in range(10)}) == 10


def test_threads_share_a_sanitizer(tiny_path: Path) -> None:
    shared = Sanitizer.load(tiny_path)
    levels = [{"epsilon": 4}, {"epsilon": 16}, {"mechanism": "random"}, {"mechanism": "krr", "epsilon": 2}]
    start = threading.Barrier(8)

    def work(number: int) -> list[Result]:
        start.wait()
        text = "doctor " * (number + 1)
        return [shared.sanitize(text, **options) for _ in range(50) for options in levels]

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(work, range(8)))
    expected = [shared.terms(**options) for options in levels] * 50
    for number, results in enumerate(done):
        assert [result.tokens for result in results] == [number + 1] * 200
        assert [result.terms for result in results] == expected
    streams = [tuple(result.text for result in results) for results in done]
    assert len(set(streams)) == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_fork_has_a_stream_of_its_own(tiny: Sanitizer) -> None:
    def in_a_fork() -> bytes:
        receiver, sender = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(sender, tiny.sanitize("doctor " * 40, mechanism="random").text.encode())
            finally:
                os._exit(0)
        os.close(sender)
        with open(receiver, "rb") as file:
            out = file.read()
        os.waitpid(child, 0)
        return out

    outs = [in_a_fork() for _ in range(3)]
    assert len(set(outs)) == 3
    assert all(out.split() for out in outs)


# --- one word, two words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "tokens"), [("", 0), (" ", 0), ("the doctor", 2), ("Jean-Luc", 3), ("don't", 2), ("!?", 2), ("x😀 y", 2)]
)
def test_a_distribution_is_of_one_token(tiny: Sanitizer, word: str, tokens: int) -> None:
    with pytest.raises(OptionError, match=f"^expected one word, got {tokens} tokens: write a single word$"):
        tiny.distribution(word)
    with pytest.raises(OptionError, match=f"^expected one word, got {tokens} tokens: write a single word$"):
        tiny.distance("the", word)
    with pytest.raises(OptionError, match=f"^expected one word, got {tokens} tokens: write a single word$"):
        tiny.distance(word, "the")


def test_distances(tiny: Sanitizer, english: Sanitizer) -> None:
    words = ["the", "doctor", "Doctor", "DOCTOR", "nurse", "boston", "zzyzzx", "17", "x@y.z"]
    for sanitizer in (tiny, english):
        known = {segmentation.fold_word(word) for word in words} & sanitizer.bundle.symbol_ids.keys()
        for first in words:
            for second in words:
                distance = sanitizer.distance(first, second)
                assert distance == sanitizer.distance(second, first)
                same = segmentation.fold_word(first) == segmentation.fold_word(second)
                unknown = {segmentation.fold_word(first), segmentation.fold_word(second)}.isdisjoint(known)
                assert (distance == 0) == (same or unknown)
                for third in words:
                    around = sanitizer.distance(first, third) + sanitizer.distance(third, second)
                    assert distance <= around + 1e-12
    assert english.distance("doctor", "nurse") < english.distance("doctor", "wardrobe")
    assert tiny.distance("color", "colour") == 0


def test_the_unit_of_distance_is_the_median(english: Sanitizer) -> None:
    symbols = english.bundle.symbol_count
    sampled = np.random.default_rng(3).integers(0, symbols, (4000, 2))
    distances = [english.bundle.metric.compute_distance(a, b) for a, b in sampled.tolist() if a != b]
    assert abs(float(np.median(distances)) - 1) < 0.02
    unknown = [english.bundle.metric.compute_distance(a, symbols) for a in sampled[:, 0].tolist()]
    assert abs(float(np.median(unknown)) - 1) < 0.02


# --- printing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"consistent": True}, {"protect": "names"}], ids=str)
def test_printing_a_result_gives_the_text_and_its_repr_is_short(options: dict[str, Any]) -> None:
    original = "Zqxwvina Novak paid for the kettle. " * 30
    result = Sanitizer.load().sanitize(original, **options)
    assert (str(result), f"{result}") == (result.text, result.text)
    shown = repr(result)
    assert len(shown) < 80
    assert "\n" not in shown
    words = {word.strip(".") for word in (*original.split(), *result.text.split())}
    assert not any(word in shown for word in words - {"characters", "staircase"} if len(word) > 4)
    assert not any(word in repr([result]) + repr((result,)) for word in ("Zqxwvina", "kettle", "Terms", "mapping"))
