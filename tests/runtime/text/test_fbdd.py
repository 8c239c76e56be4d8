"""FBDD: its options, statements, command and errors."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from textveil import Sanitizer
from textveil.errors import OptionError
from textveil.mechanisms.baselines.fbdd import MAX_FBDD_EPSILON
from textveil.text.statement import TEXTBOOK

# --- options and statements ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["1", 20, 1e-12, "1e-300", Decimal("0.1"), MAX_FBDD_EPSILON, "12.5"])
def test_any_epsilon_in_range(tiny: Sanitizer, epsilon: object) -> None:
    result = tiny.sanitize("The doctor’s note, zzz 17", mechanism="fbdd", epsilon=epsilon)  # type: ignore[arg-type]
    terms = result.terms
    promise: Any = terms.promise
    assert (terms.mechanism, terms.level) == ("fbdd", None)
    assert (terms.epsilon, promise.epsilon_kind) == (float(str(epsilon)), TEXTBOOK)
    assert (promise.rounding_slack, promise.epsilon_0, promise.replacement_probability) == (0, 0, None)
    assert result.tokens == 6


@pytest.mark.parametrize(
    "epsilon", [None, "", "canary", "nan", float("nan"), "inf", float("inf"), "-inf", True, [], b"3", "1e", "1/3"]
)
def test_what_is_no_number_is_refused(tiny: Sanitizer, epsilon: object) -> None:
    typed = epsilon is None or type(epsilon) in (str, float)
    message = "epsilon must be a number, such as 10" if typed else "epsilon must be a number, or its digits as a string"
    with pytest.raises(OptionError, match=f"^{message}$"):
        tiny.sanitize("secret", mechanism="fbdd", epsilon=epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0, "-0.0", -1, "-1e-9", 1e-400, "1e-400", 100_001, "1e400", 10**400, "9" * 5000])
def test_what_is_out_of_range_is_refused(tiny: Sanitizer, epsilon: object) -> None:
    with pytest.raises(OptionError, match=r"^fbdd needs an epsilon above 0 and at most 100000$"):
        tiny.sanitize("secret", mechanism="fbdd", epsilon=epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"replacement_probability": 0.5}, {"deny": ["canary"]}])
def test_options_of_santext_plus_are_refused(tiny: Sanitizer, options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=r"^replacement_probability and deny work only with santext\+: omit them$"):
        tiny.sanitize("secret", mechanism="fbdd", epsilon=3, **options)


def test_there_are_no_weights_to_tell(tiny: Sanitizer) -> None:
    with pytest.raises(
        OptionError, match=r"^fbdd has no table of probabilities: estimate its output distribution from samples$"
    ):
        tiny.distribution("doctor", mechanism="fbdd", epsilon=3)
    with pytest.raises(OptionError, match="epsilon must be a number"):
        tiny.distribution("doctor", mechanism="fbdd")


def test_the_statement_says_floating_point(tiny: Sanitizer) -> None:
    statement = tiny.sanitize("the doctor", mechanism="fbdd", epsilon="20").statement
    assert statement.summary() == (
        "fbdd: epsilon 20 d per token (textbook metric DP, floating point; d is the distance of two words); "
        "2 tokens: 40 d in all. The text as a whole is not protected."
    )
    assert any("floating point" in item for item in statement.terms.not_protected)
    assert any("unchanged words" in item for item in statement.terms.not_protected)
    assert "certified" not in str(statement)
    other = tiny.sanitize("the doctor", mechanism="santext").statement
    assert "floating point" not in str(other)


def test_words_of_all_kinds(tiny: Sanitizer) -> None:
    for strict in (False, True):
        result = tiny.sanitize("The DOCTOR's café: 19, жук!", mechanism="fbdd", epsilon=9, sanitize_punctuation=strict)
        assert result.text
        assert result.terms.sanitize_punctuation is strict
        assert "<unk>" not in result.text


# --- the command ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command(tiny_path: Path, tiny: Sanitizer, forked: Callable, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("the doctor in Boston\n\nzzz, 17\n", "utf-8")
    shared = ["sanitize", "--bundle", tiny_path, "--mechanism", "fbdd", "--epsilon", "12"]
    ran = forked(*shared, note)
    assert (ran.code, ran.text.count("\n")) == (0, 3)
    assert ran.text.split("\n")[1] == ""
    assert ran.message == (
        "textveil: note.txt: 3 documents. Kept: punctuation. Randomized: 6 tokens, epsilon 12 d per token "
        "(textbook metric DP, floating point; d is the distance of two words). The text as a whole is not protected.\n"
    )
    said = json.loads(forked(*shared, "--json", "--text", "the doctor").text)
    assert set(said["text"].split()) <= set(tiny.bundle.vocabulary)
    assert said["statement"]["epsilon_notion"] == "textbook metric DP"
    assert said["statement"]["level"] is None
    assert forked(*shared[:-1], str(MAX_FBDD_EPSILON), "-q", "--text", "the doctor").text == "the doctor\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "--mechanism fbdd needs --epsilon: it has no default"),
        (["-e", "canary"], "--epsilon must be a number, such as 10"),
        (["-e", "nan"], "--epsilon must be a number, such as 10"),
        (["-e", "0"], "fbdd needs an --epsilon above 0 and at most 100000"),
        (["--epsilon=-3"], "fbdd needs an --epsilon above 0 and at most 100000"),
        (["-e", "1e99"], "fbdd needs an --epsilon above 0 and at most 100000"),
        (["-e", "3", "-p", "0.5"], "--replacement-probability and --deny work only with santext+: omit them"),
    ],
)
def test_named_errors(tiny_path: Path, here: Callable, arguments: list[str], expected: str) -> None:
    ran = here("sanitize", "-b", tiny_path, "-m", "fbdd", "--text", "secret", *arguments)
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message == f"textveil: option: {expected} (see textveil sanitize --help)\n"


def test_inspect_lists_shares_of_samples(tiny_path: Path, here: Callable) -> None:
    ran = here("inspect", "-b", tiny_path, "-m", "fbdd", "-e", "100000", "doctor")
    assert (ran.code, ran.err) == (0, b"")
    assert "1,000 samples, so the shares are estimates: N_w 100.0%, S_w 1 distinct words" in ran.text
    assert "floating point" in ran.text
    found = json.loads(here("inspect", "-b", tiny_path, "-m", "fbdd", "-e", "3", "doctor", "-n", "99", "--json").text)
    assert (found["token"], found["draws"]) == ("doctor", 1000)
    shares = {row["word"]: row["share"] for row in found["sampled_replacements"]}
    assert sum(shares.values()) == pytest.approx(1)
    assert shares.get("doctor", 0) == found["unchanged"]
    assert found["likely_outputs"] == len(shares)
    unknown = here("inspect", "-b", tiny_path, "-m", "fbdd", "-e", "3", "zzz")
    assert unknown.text.startswith("<unk> (this word is not in the vocabulary)")
    assert here("inspect", "-b", tiny_path, "-m", "fbdd", "-e", "3", "two words").code == 1
