"""``textveil encode``, ``info`` and ``verify`` with a bundle of indices."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from small_encoders import pinned
from small_index import write_index
from textveil.errors import OptionError

SECRET = "Zorblaxia 48213977"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_index(tmp_path / "bundle")


@pytest.fixture
def run(here: Callable) -> Callable[..., tuple[int, str, str]]:
    """Runs ``textveil``; gives exit code, standard output and standard error."""

    def start(*arguments: object) -> tuple[int, str, str]:
        ran = here(*map(str, arguments))
        return ran.code, ran.out.decode(), ran.err.decode()

    return start


def test_the_whole_statement_and_json(run: Callable, bundle: Path) -> None:
    code, out, err = run("encode", "-b", bundle, "--statement", "-e", "1", "--channel", "accuracy", "--text", SECRET)
    assert code == 0
    assert out.endswith("\t1\taccuracy\n")
    assert "Not protected:" in err
    assert "Zorblax" not in err
    code, out, _ = run("encode", "-b", bundle, "--json", "--text", "goal")
    found = json.loads(out)
    assert found["statement"]["epsilon_whole_text"] == 4
    assert found["line"].startswith(str(found["index"]))


def test_info_and_verify(run: Callable, bundle: Path) -> None:
    code, out, _ = run("info", "-b", bundle)
    assert code == 0
    assert "a text becomes one of 3 indices" in out
    assert len([row for row in out.splitlines() if row.startswith(("counts", "accuracy"))]) == 3
    code, out, _ = run("info", "-b", bundle, "--json")
    assert [level["counts"] for level in json.loads(out)["levels"]] == [True, True, False]
    assert run("verify", bundle)[0] == 0
    assert run("verify", bundle, "--pairs", "3")[0] == 1


@pytest.mark.parametrize(
    "wrong",
    [("--word-dropout", "0.1"), ("--channel", SECRET), ("-e", "9"), ("--expect-id", "0" * 64)],
)
def test_options_that_do_not_fit_are_errors(run: Callable, bundle: Path, wrong: tuple[str, str]) -> None:
    code, out, err = run("encode", "-b", bundle, "--text", "goal", *wrong)
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
