"""A pretraining in two processes does what one does."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from small_pretraining import WEIGHTS, run


def two_processes(*arguments: str) -> list[str]:
    """Run Python twice as ``torchrun`` would, and return the output of each process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, **common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    ended = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0, 0], ended
    return [printed for printed, _ in ended]


@pytest.mark.full
def test_the_command_in_two_processes(pretraining: Path) -> None:
    """Only the first one has a result to print; neither fails."""
    pytest.importorskip("accelerate")
    given = ["--data", f"{pretraining / 'texts.txt'}:text", "--start", str(pretraining / "encoder"), "--raw"]
    more = ["--batch-size", "8", "--max-tokens", "32", "--precision", "float32", "-o", str(pretraining / "by-command")]
    printed = two_processes("-m", "textveil_training", "pretrain", "--steps", "2", *given, *more)
    assert sorted("2 steps" in output for output in printed) == [False, True]
    assert json.loads((pretraining / "by-command" / "record.json").read_text())["finished"]


@pytest.mark.full
def test_two_processes_do_what_one_does(pretraining: Path, tmp_path: Path) -> None:
    """The same losses, and the same weights within rounding; the batches are shared and cut into parts."""
    pytest.importorskip("accelerate")
    alone = run(pretraining, "alone", raw=True, steps=5, accumulate=1)
    fixtures = Path(__file__).parents[2] / "fixtures"
    code = (
        f"import sys; sys.path.insert(0, {str(fixtures)!r}); import torch; torch.set_num_threads(1); "
        "from pathlib import Path; from small_pretraining import run; "
        f"run(Path({str(pretraining)!r}), 'together', raw=True, steps=5, accumulate=2); "
        f"run(Path({str(pretraining)!r}), 'together-sanitized', steps=5)"
    )
    two_processes("-c", code)
    together = json.loads((pretraining / "together" / "record.json").read_text())
    assert together["settings"]["processes"] == 2
    for one, two in zip(alone["epochs"], together["epochs"], strict=True):
        assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
        assert two["clean_loss"] == pytest.approx(one["clean_loss"], rel=1e-4)
        assert two["targets"] == one["targets"]
    weights = [load_file(pretraining / name / WEIGHTS) for name in ("alone", "together")]
    assert all(torch.allclose(tensor, weights[1][name], atol=1e-4) for name, tensor in weights[0].items())
    assert json.loads((pretraining / "together-sanitized" / "record.json").read_text())["finished"]
