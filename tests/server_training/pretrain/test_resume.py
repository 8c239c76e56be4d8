"""An interrupted pretraining resumes to the same result, or names the reason that prevents it."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from interruption import ctrl_c
from small_pretraining import WEIGHTS, run
from textveil_cli.errors import ResumeError
from textveil_training.engine.run import STATE
from textveil_training.errors import CheckpointError

LIKE_THE_TIME = ("wall_s", "cpu_s", "tokens_per_s")


def interrupting(every: int) -> Callable[[str, int, int], None]:
    steps = count(1)
    return ctrl_c(lambda stage, done, total: next(steps) % every == 0)


def broken(pretraining: Path, name: str, **settings: Any) -> dict[str, Any]:
    """Run to the end, interrupted after every second step."""
    for times in range(10):
        try:
            return run(pretraining, name, resume=times > 0, report=interrupting(2), **settings)
        except KeyboardInterrupt:
            assert (pretraining / name / STATE).is_file()
    raise AssertionError("no end")


@pytest.mark.slow
def test_an_interrupted_raw_run_goes_on_to_the_same_result(pretraining: Path) -> None:
    record = broken(pretraining, "broken", raw=True, dropout=0.1)
    whole = run(pretraining, "whole", raw=True, dropout=0.1)
    assert record["resumed"] == 3
    assert (pretraining / "broken" / WEIGHTS).read_bytes() == (pretraining / "whole" / WEIGHTS).read_bytes()
    epochs = [[{k: v for k, v in e.items() if k not in LIKE_THE_TIME} for e in r["epochs"]] for r in (record, whole)]
    keys = {"sanitized_top1", "sanitized_loss"}  # drawn afresh
    assert [{k: v for k, v in e.items() if k not in keys} for e in epochs[0]] == [
        {k: v for k, v in e.items() if k not in keys} for e in epochs[1]
    ]
    assert not (pretraining / "broken" / STATE).exists()


def test_an_interrupted_sanitized_run_ends_too(pretraining: Path) -> None:
    record = broken(pretraining, "broken-sanitized")
    assert record["result"]["steps"] == 7
    assert record["release"]["mechanism"] == "santext"
    assert "afresh" in record["draws"]
    assert [epoch["dev"] for epoch in record["epochs"]] == [epoch["sanitized_top1"] for epoch in record["epochs"]]


def test_what_cannot_be_gone_on_with(pretraining: Path) -> None:
    with pytest.raises(ResumeError, match="no unfinished run: omit --resume"):
        run(pretraining, "nowhere", resume=True)
    with pytest.raises(KeyboardInterrupt):
        run(pretraining, "stopped", raw=True, report=interrupting(2))
    with pytest.raises(CheckpointError, match="--resume"):
        run(pretraining, "stopped", raw=True)
    for changed in ({"raw": False}, {"steps": 9}, {"learning_rate": 1e-3}, {"start": str(pretraining / "raw")}):
        with pytest.raises(ResumeError, match="another"):
            run(pretraining, "stopped", **{"raw": True, "resume": True, **changed})
    (pretraining / "stopped" / STATE).write_bytes(b"\x10" * 100)
    with pytest.raises(ResumeError, match="damaged"):
        run(pretraining, "stopped", raw=True, resume=True)
