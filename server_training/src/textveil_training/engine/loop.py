"""Run training stages step by step; a run can stop at any step and resume with the same result.

The learning rate rises linearly during the warm-up, and then falls linearly to 0 (``_compute_rate_factor``).

The seed of a step is derived from the run's seed and the step's position. So the state of random generators need not be
stored: weights, moments of the optimizers and the position are sufficient to resume a run. One safetensors file, the
state file, stores them.
"""

import hashlib
import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from textveil_cli.errors import ResumeError
from torch import Tensor, nn

from textveil_training.engine.checkpoint import write_tensors
from textveil_training.engine.stage import TrainingStage
from textveil_training.errors import LossError
from textveil_training.progress import ProgressCallback, ignore_progress

SAVE_EVERY_S = 300.0


@dataclass(kw_only=True)
class TrainingPosition:
    """Progress of a run, stored in the state file as JSON.

    Attributes:
        stage: Index of the current stage.
        epoch: Index of the current epoch in the stage.
        batch: Number of finished batches of the epoch.
        loss: Sum over these batches of the loss of the stage's first optimizer.
        best: Highest metric on the dev split so far.
        history: Metrics of every finished epoch.
        wall_s: Wall-clock seconds spent.
        cpu_s: Processor seconds spent.
        resumed: Number of times the run was resumed.
    """

    stage: int = 0
    epoch: int = 0
    batch: int = 0
    loss: float = 0.0
    best: float = -1.0
    history: list[dict[str, Any]] = field(default_factory=list)
    wall_s: float = 0.0
    cpu_s: float = 0.0
    resumed: int = 0


def derive_seed(*parts: object) -> int:
    """Derive a seed for PyTorch from values whose ``str`` is the same in every run, such as numbers."""
    return int.from_bytes(hashlib.sha256("\n".join(map(str, parts)).encode()).digest()[:8], "big") >> 1


class TrainingLoop:
    """Run training stages, save their state, and resume them.

    Args:
        stages: Stages in their order.
        seed: Seed of the run.
        state: File that stores the state of the run.
        run_key: Hash of settings and data. The loop refuses a state file with another hash.
        on_epoch: Called after each epoch with the position, and whether the metric on the dev split is the best so far.
        report: Called after each step.
        writes: Whether this process writes the state file. If several processes train together, only rank 0 does.
        agree: Function that receives whether this process was asked to stop, and returns whether any process was.
    """

    def __init__(
        self,
        stages: Sequence[TrainingStage],
        *,
        seed: int,
        state: Path,
        run_key: str,
        on_epoch: Callable[[TrainingPosition, bool], None],
        report: ProgressCallback = ignore_progress,
        writes: bool = True,
        agree: Callable[[bool], bool] = bool,
    ) -> None:
        self._stages = stages
        self._seed = seed
        self._state = state
        self._run_key = run_key
        self._on_epoch = on_epoch
        self._report = report
        self._writes = writes
        self._agree = agree
        self.position = TrainingPosition()

    def resume(self) -> None:
        """Load the state file, so that ``run`` continues from it.

        Raises:
            ResumeError: The state file is missing or damaged, or from another recipe, data or software.
        """
        try:
            with safe_open(self._state, "pt") as file:
                header = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
            position = json.loads(header["position"])
        except FileNotFoundError as error:
            raise ResumeError(
                "the output folder has no unfinished run: omit --resume, or pass the folder of the run"
            ) from error
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise ResumeError(
                "the state of the unfinished run is damaged: delete the folder and start again"
            ) from error
        if header.get("run_key") != self._run_key:
            raise ResumeError(
                "the unfinished run was started with another recipe, other data or another --start: repeat its "
                "command, or choose a new folder"
            )
        self.position = TrainingPosition(**position)
        self.position.resumed += 1
        if self.position.stage < len(self._stages):
            self._stages[self.position.stage].restore_tensors(tensors)

    def run(self) -> None:
        """Train all stages to the end, and save the final state.

        After the last stage the caller measures the final metrics. If this measurement is interrupted, a resumed run
        continues from the final state.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed. The current step was finished and its state saved.
            LossError: A loss is not a number.
            OutputError: The state cannot be written.
        """
        position = self.position
        self._clock = time.perf_counter(), time.process_time()
        self._saved = time.monotonic()
        with _catch_interrupt() as stopped:
            while position.stage < len(self._stages):
                stage = self._stages[position.stage]
                while position.epoch < stage.num_epochs:
                    self._run_epoch(stage, stopped)
                position.stage += 1
                position.epoch = 0
        self._save_state(None)

    def _run_epoch(self, stage: TrainingStage, stopped: threading.Event) -> None:
        position = self.position
        generator = torch.Generator().manual_seed(derive_seed(self._seed, stage.name, position.epoch))
        batches = stage.batches(generator)
        total = stage.steps or stage.num_epochs * len(batches)
        steps_per_epoch = stage.steps_per_epoch or len(batches)
        while position.batch < len(batches):
            step = position.epoch * steps_per_epoch + position.batch
            torch.manual_seed(derive_seed(self._seed, stage.name, position.epoch, position.batch))
            position.loss += _run_step(stage, batches[position.batch], _compute_rate_factor(step, total, stage.warmup))
            position.batch += 1
            self._report(stage.name, step + 1, total)
            stop = self._agree(stopped.is_set())
            if stop or time.monotonic() - self._saved > SAVE_EVERY_S:
                self._save_state(stage)
            if stop:
                raise KeyboardInterrupt
        self._save_state(stage)  # so that a run that stops during the measurement repeats no step
        torch.manual_seed(derive_seed(self._seed, stage.name, position.epoch, "measure"))
        metrics = stage.measure()
        self._update_clock()
        best = metrics["dev"] > position.best
        position.best = max(position.best, metrics["dev"])
        done = {"stage": stage.name, "epoch": position.epoch + 1, "loss": position.loss / len(batches), **metrics}
        position.history.append({**done, "wall_s": round(position.wall_s, 1), "cpu_s": round(position.cpu_s, 1)})
        position.epoch, position.batch, position.loss = position.epoch + 1, 0, 0.0
        self._on_epoch(position, best)
        stop = self._agree(stopped.is_set())
        if stop or time.monotonic() - self._saved > SAVE_EVERY_S / 5:
            self._save_state(stage)
        if stop:
            raise KeyboardInterrupt

    def _update_clock(self) -> None:
        now = time.perf_counter(), time.process_time()
        self.position.wall_s += now[0] - self._clock[0]
        self.position.cpu_s += now[1] - self._clock[1]
        self._clock = now

    def _save_state(self, stage: TrainingStage | None) -> None:
        """Write the state file, from which a later run can resume.

        Args:
            stage: The current stage, whose tensors are stored. ``None`` after the last stage: the file then has only
                the epoch, the metrics and the time so far.
        """
        self._update_clock()
        self._saved = time.monotonic()
        if not self._writes:
            return
        header = {"run_key": self._run_key, "position": json.dumps(vars(self.position))}
        write_tensors(self._state, {} if stage is None else stage.collect_tensors(), header)


def _run_step(stage: TrainingStage, batch: Tensor, rate: float) -> float:
    """Run all optimizers of a stage on one batch, and return the loss of the first optimizer.

    Args:
        stage: The stage.
        batch: Indices of the examples in the batch.
        rate: Factor of the learning rate.
    """
    first = 0.0
    for number, update in enumerate(stage.updates):
        parameters = []
        for group in update.optimizer.param_groups:
            group["lr"] = group.setdefault("peak", group["lr"]) * rate
            parameters += group["params"]
        update.optimizer.zero_grad(set_to_none=True)
        loss = update.compute_gradients(batch)
        norm = float(nn.utils.clip_grad_norm_(parameters, stage.clip_norm))
        for name, value in (("loss", loss), ("gradient", norm)):
            if not math.isfinite(value):  # after one more step no weight would be a number
                raise LossError(f"the {name} is not a number: try a smaller learning rate")
        update.optimizer.step()
        if number == 0:
            first = loss
    return first


def _compute_rate_factor(step: int, total: int, warmup: float) -> float:
    """Return the learning rate's factor at a step: a linear rise during warmup, then a linear fall to 0.

    Args:
        step: Index of the step.
        total: Number of all steps.
        warmup: Share of the steps in which the rate rises.
    """
    rising = warmup * total
    if step < rising:
        return (step + 1) / (rising + 1)
    return (total - step) / max(1.0, total - rising)


@contextmanager
def _catch_interrupt() -> Iterator[threading.Event]:
    """Catch the first Ctrl-C or SIGTERM and set an event; a second signal interrupts at once.

    Yields:
        The event.
    """
    stopped = threading.Event()

    def stop(number: int, frame: object) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
