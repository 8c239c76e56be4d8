"""The training loop lowers rates to the last step, and refuses invalid stages and losses that are not numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from textveil_training.engine import loop
from textveil_training.engine.loop import TrainingLoop, TrainingPosition
from textveil_training.engine.stage import OptimizerUpdate, TrainingStage
from textveil_training.errors import LossError


def stage_of(
    optimizer: torch.optim.Optimizer, loss: Any, batches: Callable[[Any], list[torch.Tensor]], **changes: Any
) -> TrainingStage:
    """Return a stage of one epoch without warmup."""
    parts: dict[str, Any] = {"name": "s", "modules": {}, "num_epochs": 1, "measure": lambda: {"dev": 0.0}}
    parts |= {"warmup": 0.0, "clip_norm": 1.0, "batches": batches, "updates": [OptimizerUpdate(optimizer, loss)]}
    return TrainingStage(**parts | changes)


def loop_of(stage: TrainingStage, state: Path, **options: Any) -> TrainingLoop:
    return TrainingLoop([stage], **{"seed": 0, "state": state, "run_key": "", "on_epoch": lambda *_: None} | options)


def test_steps_that_cut_the_last_epoch_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate falls over all steps, whatever the epochs are; every process stops when one is asked to."""
    monkeypatch.setattr(loop, "SAVE_EVERY_S", 1e9)
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    rates: list[float] = []

    def loss(batch: torch.Tensor) -> torch.Tensor:
        rates.append(optimizer.param_groups[0]["lr"])
        return parameter.sum() * 0

    sizes = iter([3, 3, 1])
    cut = {"num_epochs": 3, "steps": 7, "steps_per_epoch": 3}
    stage = stage_of(optimizer, loss, lambda generator: [torch.zeros(1)] * next(sizes), **cut)
    seen: list[TrainingPosition] = []
    loop_of(stage, tmp_path / "state", on_epoch=lambda position, best: seen.append(position)).run()
    assert rates == pytest.approx([(7 - step) / 7 for step in range(7)])
    assert len(seen) == 3
    sizes = iter([3, 3, 1])
    other = loop_of(stage, tmp_path / "other", writes=False, agree=lambda flag: True)
    with pytest.raises(KeyboardInterrupt):
        other.run()
    assert other.position.batch == 1
    assert not (tmp_path / "other").exists()


#: Steps, share of them in which the rate rises, and the rate of every step over its peak.
RISES: list[tuple[int, float, list[float]]] = [
    (12, 0.25, [1 / 4, 2 / 4, 3 / 4, *(left / 9 for left in range(9, 0, -1))]),
    (8, 0.5, [1 / 5, 2 / 5, 3 / 5, 4 / 5, 1, 3 / 4, 2 / 4, 1 / 4]),
    (5, 0.3, [1 / 2.5, 2 / 2.5, 3 / 3.5, 2 / 3.5, 1 / 3.5]),
    (4, 0.1, [1 / 1.4, 3 / 3.6, 2 / 3.6, 1 / 3.6]),
    (1, 0.9, [1 / 1.9]),
]


def rates_of_a_run(folder: Path, steps: int, warmup: float, peak: float = 2.0) -> list[float]:
    """Return the learning rate of each step of a run of one epoch, divided by its peak."""
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([parameter], lr=peak)
    rates: list[float] = []

    def loss(batch: torch.Tensor) -> torch.Tensor:
        rates.append(optimizer.param_groups[0]["lr"] / peak)
        return parameter.sum()

    stage = stage_of(optimizer, loss, lambda generator: [torch.zeros(1)] * steps, warmup=warmup)
    loop_of(stage, folder / "state").run()
    assert len(rates) == steps
    return rates


@pytest.mark.parametrize(("steps", "warmup", "expected"), RISES)
def test_the_rate_rises_from_the_first_step_on(
    tmp_path: Path, steps: int, warmup: float, expected: list[float]
) -> None:
    rates = rates_of_a_run(tmp_path, steps, warmup)
    assert rates == pytest.approx(expected)
    assert min(rates) > 0


right_rate = loop._compute_rate_factor  # pyright: ignore[reportPrivateUsage]
WRONG_RATES: dict[str, Callable[[int, int, float], float]] = {
    "the first step has no rate": lambda step, total, warmup: (
        step / (warmup * total) if step < warmup * total else right_rate(step, total, warmup)
    ),
    "the first step has all of it": lambda step, total, warmup: right_rate(step, total, warmup if step else 0.0),
    "nothing rises": lambda step, total, warmup: right_rate(step, total, 0.0),
    "the last step has no rate": lambda step, total, warmup: (
        right_rate(step, total, warmup) if step < total - 1 else 0.0
    ),
}


@pytest.mark.parametrize("fault", WRONG_RATES)
def test_a_wrong_rate_is_seen(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_compute_rate_factor", WRONG_RATES[fault])
    with pytest.raises(AssertionError):
        test_the_rate_rises_from_the_first_step_on(tmp_path, *RISES[0])


def test_steps_and_epochs_that_do_not_fit_are_refused() -> None:
    parts: dict[str, Any] = {"batches": None, "updates": [], "measure": None, "warmup": 0.0, "clip_norm": 1.0}
    for wrong in (
        {"steps": 12},
        {"steps_per_epoch": 5},
        {"steps": 12, "steps_per_epoch": 4, "num_epochs": 4},
        {"steps": 10, "steps_per_epoch": 5},
    ):
        with pytest.raises(ValueError, match="epoch"):
            TrainingStage(**{"name": "s", "modules": {}, "num_epochs": 3, **parts, **wrong})


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (lambda weight: weight.sum() * float("nan"), "the loss is not a number"),
        (lambda weight: weight.sum() * float("inf"), "the loss is not a number"),
        (lambda weight: (weight - weight).abs().sqrt().sum(), "the gradient is not a number"),
    ],
)
def test_a_loss_that_is_no_number_ends_the_run_before_the_weights_are_spoilt(
    tmp_path: Path, loss: Callable[[torch.Tensor], torch.Tensor], said: str
) -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    fine, bad = torch.zeros(1), torch.ones(1)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    stage = stage_of(optimizer, lambda b: loss(weight) if b.item() else weight.sum(), lambda generator: [fine, bad])
    with pytest.raises(LossError, match=f"{said}: try a smaller learning rate") as caught:
        loop_of(stage, tmp_path / "state").run()
    assert "\n" not in str(caught.value)
    assert weight.item() == pytest.approx(0.0, abs=1e-5)  # the good step was done
