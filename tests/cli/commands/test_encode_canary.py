"""``textveil encode`` keeps the text, truncated parts and errors on the device."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from overridden import overridden
from small_encoders import SECRET, pinned


def test_what_was_cut_is_told_on_standard_error_alone(encode: Callable, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"the doctor\n" + b"the " * 50 + b"\nbroken\n" + b"of " * 50 + b"\n")
    ran = encode("--json", path)
    assert ran.message.endswith(
        "\ntextveil: private, for this device only: 2 truncated to the model's maximum length"
        "; 1 released as the bundle's fixed point, since the model failed or returned non-finite numbers\n"
    )
    statements = {json.dumps(json.loads(line)["statement"]) for line in ran.text.splitlines()}
    assert len(statements) == 1
    assert "truncated" not in ran.text
    assert "longer" not in ran.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([SECRET], 1),
        (["--text", SECRET], 0),
        (["--text", SECRET, SECRET], 1),
        (["--text", f"{SECRET} poison"], 0),
        (["--text", SECRET, "--epsilon", SECRET], 1),
        (["--text", SECRET, "--word-dropout", SECRET], 1),
        (["--text", SECRET, "--bundle", SECRET], 1),
        (["--text", SECRET, "--expect-id", SECRET], 1),
        (["--text", SECRET, "-o", f"{SECRET}/x"], 1),
        (["--text", SECRET, f"--{SECRET}"], 2),
        (["--text", SECRET, "--protect", SECRET], 2),
    ],
    ids=str,
)
def test_nothing_tells(forked: Callable, tiny_encoder: Path, tmp_path: Path, arguments: list[str], code: int) -> None:
    home = tmp_path / "home"
    home.mkdir()
    places = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_STATE_HOME")
    environment = {**os.environ, **dict.fromkeys(places, str(home)), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = forked("encode", *overridden(pinned(tiny_encoder), arguments), environment=environment)
    assert ran.code == code
    assert "orblaxia" not in ran.text + ran.message
    assert "48213977" not in ran.text + ran.message
    assert list(home.iterdir()) == []
    assert list((tmp_path / "cwd").iterdir()) == []


@pytest.mark.parametrize("error", [ValueError(SECRET), RuntimeError(SECRET), MemoryError(SECRET), OSError(5, SECRET)])
def test_internal_errors_do_not_tell(encode: Callable, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr("textveil.vector.wordpiece.WordPiece.split_basic_tokens", fail)
    ran = encode("--text", SECRET)
    assert ran.code == 1
    assert "orblaxia" not in ran.message
    assert ran.message.count("\n") == 1
