"""``textveil encode``, ``info`` and ``verify`` with a bundle of indices."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from small_encoders import pinned
from textveil.errors import OptionError

SECRET = "Zorblaxia 48213977"


def test_the_whole_statement_and_json(run: Callable, index_bundle: Path) -> None:
    code, out, err = run(
        "encode", "-b", index_bundle, "--statement", "-e", "1", "--channel", "accuracy", "--text", SECRET
    )
    assert code == 0
    assert out.endswith("\t1\taccuracy\n")
    assert "Not protected:" in err
    assert "Zorblax" not in err
    code, out, _ = run("encode", "-b", index_bundle, "--json", "--text", "goal")
    found = json.loads(out)
    assert found["statement"]["epsilon_whole_text"] == 4
    assert found["line"].startswith(str(found["index"]))


def test_info_and_verify(run: Callable, index_bundle: Path) -> None:
    code, out, _ = run("info", "-b", index_bundle)
    assert code == 0
    assert "a text becomes one of 3 indices" in out
    assert len([row for row in out.splitlines() if row.startswith(("counts", "accuracy"))]) == 3
    code, out, _ = run("info", "-b", index_bundle, "--json")
    assert [level["counts"] for level in json.loads(out)["levels"]] == [True, True, False]
    assert run("verify", index_bundle)[0] == 0
    assert run("verify", index_bundle, "--pairs", "3")[0] == 1


@pytest.mark.parametrize(
    "wrong",
    [("--word-dropout", "0.1"), ("--channel", SECRET), ("-e", "9"), ("--expect-id", "0" * 64)],
)
def test_options_that_do_not_fit_are_errors(run: Callable, index_bundle: Path, wrong: tuple[str, str]) -> None:
    code, out, err = run("encode", "-b", index_bundle, "--text", "goal", *wrong)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "Zorblax" not in err


def test_counts_and_channels_are_for_indices(run: Callable, tiny_encoder: Path) -> None:
    for arguments in (
        ("encode", *pinned(tiny_encoder), "--channel", "counts", "--text", "x"),
        ("classify", "-b", tiny_encoder, "--counts"),
    ):
        code, _, err = run(*arguments)
        assert code == 1
        assert OptionError.code in err
