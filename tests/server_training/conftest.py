"""Fixtures of the server's tests: files written on the spot, and the search for leaked text."""

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from textveil_cli import console
from textveil_training import cli
from textveil_training.errors import DataError

CANARY = "quokkasecret"


@pytest.fixture(autouse=True)
def _no_progress_lines(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """Write no line of progress: on a busy machine one would stand beside what a test compares."""
    monkeypatch.setattr("textveil_training.cli.progress_lines.LINE_EVERY_S", 3600.0)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write ``rows.txt`` and return its path; a string is written as UTF-8 with its line ends unchanged."""

    def write_file(content: str | bytes, name: str = "rows.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run ``textveil-train`` in this process; return its code, its output and its messages."""

    def command(*arguments: object) -> tuple[int, str, str]:
        code = console.run(cli.app, "textveil-train", list(map(str, arguments)))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


@pytest.fixture
def refused(run: Callable[..., tuple[int, str, str]]) -> Callable[..., str]:
    """Run ``textveil-train``, which must fail with one line without text; return that line without the name."""

    def command(*arguments: object, code: int = 1) -> str:
        ended, out, err = run(*arguments)
        assert (ended, out, err.count("\n")) == (code, "", 1), err
        assert err.startswith("textveil-train: ")
        assert CANARY not in err
        return err.removeprefix("textveil-train: ")

    return command


@pytest.fixture
def canary() -> str:
    """Return a word that tests put into texts and that no error may contain."""
    return CANARY


@pytest.fixture
def refuses() -> Callable[..., DataError]:
    """Check that reading fails with one class of error at one line, and that the error contains no text."""

    def check(kind: type[DataError], examples: Iterable[object], line: int | None = None) -> DataError:
        with pytest.raises(kind) as caught:
            for _ in examples:
                pass
        error = caught.value
        assert type(error) is kind
        assert (error.location.line if error.location is not None else None) == line
        if line is not None:
            assert str(error).startswith(f"rows.txt, line {line}: ")
        told = f"{error!s} {error!r} {''.join(traceback.format_exception(error))}"
        assert CANARY not in told
        assert "\n" not in str(error)
        assert error.__cause__ is None
        assert error.__context__ is None, "a chained exception may carry the row"
        return error

    return check


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an encoder of one layer."""
    from tiny_training import write_encoder

    return write_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def pretraining(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data, bundle and encoder of a tiny pretraining, and ``raw``, a finished run on raw text."""
    import torch
    from small_pretraining import run, write_all

    torch.set_num_threads(1)
    folder = write_all(tmp_path_factory.mktemp("pretraining"))
    run(folder, "raw", raw=True)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the bundles for attacks on text."""
    from attacked_texts import write_bundles

    return write_bundles(tmp_path_factory.mktemp("bundles"))
