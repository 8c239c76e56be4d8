"""The training loop: stages of epochs of steps, interruptible at any step, resumed to the very same result.

All randomness of a step comes from a seed made of the run's seed and the step's place, so that nothing of a random
generator has to be stored: weights, moments of the optimisers and the place are the whole state. It is kept in one
safetensors file.
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
from torch import Tensor, nn

from textveil_training.engine.tensor_files import write_tensors
from textveil_training.errors import LossError, ResumeError

SAVE_EVERY_S = 300.0

Report = Callable[[str, int, int], None]
"""Called with a stage, the steps done and the steps in all."""


def no_report(stage: str, done: int, total: int) -> None:
    """Reports nothing."""


@dataclass(frozen=True)
class Update:
    """One optimiser and the loss it lowers.

    Attributes:
        optimiser: AdamW; the rate in its groups is the peak.
        loss: From the indices of a batch to a scalar.
    """

    optimiser: torch.optim.Optimizer
    loss: Callable[[Tensor], Tensor]

    def gradients(self, batch: Tensor) -> float:
        """Leaves the gradients of a batch's loss with the parameters, whose gradients are cleared; gives the loss."""
        loss = self.loss(batch)
        loss.backward()
        return loss.item()


@dataclass(frozen=True)
class Stage:
    """Epochs that train the same parameters in the same way.

    Attributes:
        name: In the record.
        modules: What is trained, by name; what is saved while the stage runs.
        epochs: How many.
        batches: Indices of the batches of an epoch, from a generator.
        updates: Done in turn for every batch.
        measure: After every epoch: metrics by name; ``dev`` decides.
        warmup: Share of the steps in which the rate rises.
        clip_norm: Longest gradient of each update.
        steps: Steps in all, where the last epoch is cut short; None for whole epochs.
        each: Steps of every epoch but the last; goes with ``steps``.

    Raises:
        ValueError: ``steps`` without ``each`` or the other way round, or they are not those of so many epochs.
    """

    name: str
    modules: dict[str, nn.Module]
    epochs: int
    batches: Callable[[torch.Generator], Sequence[Tensor]]
    updates: Sequence[Update]
    measure: Callable[[], dict[str, float]]
    warmup: float
    clip_norm: float
    steps: int | None = None
    each: int | None = None

    def __post_init__(self) -> None:
        if (self.steps is None) != (self.each is None):
            raise ValueError("steps in all and steps of an epoch go together")
        if self.steps and self.each and math.ceil(self.steps / self.each) != self.epochs:
            raise ValueError("so many steps are another number of epochs")


@dataclass
class Position:
    """Where a run is. All of it goes into the state file, as JSON.

    Attributes:
        stage: Number of the stage.
        epoch: Number of the epoch in it.
        batch: Batches of the epoch that are done.
        loss: Sum of the first update's loss over them.
        best: Highest dev metric so far.
        history: Metrics of every epoch that is done.
        wall_s: Seconds spent.
        cpu_s: Processor seconds spent.
        resumed: How often the run was taken up again.
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


def seeded(*parts: object) -> int:
    """A seed for PyTorch from anything that has a stable ``str``."""
    return int.from_bytes(hashlib.sha256("\n".join(map(str, parts)).encode()).digest()[:8], "big") >> 1


class Loop:
    """Runs stages.

    Args:
        stages: In order.
        seed: Of the run.
        state: The file that the state is kept in.
        run_key: What the state belongs to (a hash of recipe and data).
        on_epoch: Called after each epoch with the position and whether dev was the best so far.
        report: Called after each step.
        writes: Whether this process keeps the state; of several that train together one does.
        agree: From whether this process was asked to stop to whether any of them was.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        seed: int,
        state: Path,
        run_key: str,
        on_epoch: Callable[[Position, bool], None],
        report: Report = no_report,
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
        self.position = Position()

    def resume(self) -> None:
        """Takes up the state file.

        Raises:
            ResumeError: There is none, it is damaged, or it belongs to another recipe, data or software.
        """
        try:
            with safe_open(self._state, "pt") as file:
                header = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
            position = json.loads(header["position"])
        except FileNotFoundError as error:
            raise ResumeError("there is no unfinished run in this folder") from error
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise ResumeError("the state of the unfinished run is damaged") from error
        if header.get("run_key") != self._run_key:
            raise ResumeError("the unfinished run was started with another recipe, other data or another start")
        self.position = Position(**position)
        self.position.resumed += 1
        if self.position.stage < len(self._stages):
            _restore(self._stages[self.position.stage], tensors)

    def run(self) -> None:
        """Trains to the end, and leaves a state that says so until ``forget``.

        Raises:
            KeyboardInterrupt: Ctrl-C; the state is saved after the step that was running.
            LossError: A loss is not a number.
            OutputError: The state cannot be written.
        """
        place = self.position
        self._clock = time.perf_counter(), time.process_time()
        self._saved = time.monotonic()
        with _interruptible() as stopped:
            while place.stage < len(self._stages):
                stage = self._stages[place.stage]
                while place.epoch < stage.epochs:
                    self._epoch(stage, stopped)
                place.stage += 1
                place.epoch = 0
        self._save(None)

    def forget(self) -> None:
        """Removes the state: what the run gave has been written elsewhere."""
        if self._writes:
            self._state.unlink(missing_ok=True)

    def _epoch(self, stage: Stage, stopped: threading.Event) -> None:
        place = self.position
        generator = torch.Generator().manual_seed(seeded(self._seed, stage.name, place.epoch))
        batches = stage.batches(generator)
        total = stage.steps or stage.epochs * len(batches)
        each = stage.each or len(batches)
        while place.batch < len(batches):
            step = place.epoch * each + place.batch
            torch.manual_seed(seeded(self._seed, stage.name, place.epoch, place.batch))
            place.loss += _step(stage, batches[place.batch], _rate(step, total, stage.warmup))
            place.batch += 1
            self._report(stage.name, step + 1, total)
            stop = self._agree(stopped.is_set())
            if stop or time.monotonic() - self._saved > SAVE_EVERY_S:
                self._save(stage)
            if stop:
                raise KeyboardInterrupt
        torch.manual_seed(seeded(self._seed, stage.name, place.epoch, "measure"))
        metrics = stage.measure()
        self._tick()
        best = metrics["dev"] > place.best
        place.best = max(place.best, metrics["dev"])
        done = {"stage": stage.name, "epoch": place.epoch + 1, "loss": place.loss / len(batches), **metrics}
        place.history.append({**done, "wall_s": round(place.wall_s, 1), "cpu_s": round(place.cpu_s, 1)})
        place.epoch, place.batch, place.loss = place.epoch + 1, 0, 0.0
        self._on_epoch(place, best)
        if time.monotonic() - self._saved > SAVE_EVERY_S / 5:
            self._save(stage)

    def _tick(self) -> None:
        now = time.perf_counter(), time.process_time()
        self.position.wall_s += now[0] - self._clock[0]
        self.position.cpu_s += now[1] - self._clock[1]
        self._clock = now

    def _save(self, stage: Stage | None) -> None:
        """Writes the state; after the last stage the place alone."""
        self._tick()
        self._saved = time.monotonic()
        if not self._writes:
            return
        header = {"run_key": self._run_key, "position": json.dumps(vars(self.position))}
        write_tensors(self._state, {} if stage is None else _tensors(stage), header)


def _step(stage: Stage, batch: Tensor, rate: float) -> float:
    """Does the updates in turn; gives the first one's loss."""
    first = 0.0
    for number, update in enumerate(stage.updates):
        parameters = []
        for group in update.optimiser.param_groups:
            group["lr"] = group.setdefault("peak", group["lr"]) * rate
            parameters += group["params"]
        update.optimiser.zero_grad(set_to_none=True)
        loss = update.gradients(batch)
        norm = float(nn.utils.clip_grad_norm_(parameters, stage.clip_norm))
        for name, value in (("loss", loss), ("gradient", norm)):
            if not math.isfinite(value):  # one more step and no weight is a number
                raise LossError(f"the {name} is not a number: a smaller learning rate may help")
        update.optimiser.step()
        if number == 0:
            first = loss
    return first


def _rate(step: int, total: int, warmup: float) -> float:
    """Linear rise over ``warmup`` of the steps, then linear fall to 0."""
    rising = warmup * total
    if step < rising:
        return (step + 1) / (rising + 1)
    return (total - step) / max(1.0, total - rising)


def _tensors(stage: Stage) -> dict[str, Tensor]:
    tensors = {
        f"weights.{module}.{name}": tensor
        for module, owner in stage.modules.items()
        for name, tensor in owner.state_dict().items()
    }
    for number, update in enumerate(stage.updates):
        for index, moments in update.optimiser.state_dict()["state"].items():
            tensors |= {f"moments.{number}.{index}.{name}": tensor for name, tensor in moments.items()}
    return tensors


def _restore(stage: Stage, tensors: dict[str, Tensor]) -> None:
    try:
        for module, owner in stage.modules.items():
            prefix = f"weights.{module}."
            owner.load_state_dict({n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)})
        for number, update in enumerate(stage.updates):
            state: dict[int, dict[str, Tensor]] = {}
            prefix = f"moments.{number}."
            for name, tensor in tensors.items():
                if name.startswith(prefix):
                    index, moment = name.removeprefix(prefix).split(".")
                    state.setdefault(int(index), {})[moment] = tensor
            groups = update.optimiser.state_dict()["param_groups"]
            update.optimiser.load_state_dict({"state": state, "param_groups": groups})
    except (RuntimeError, ValueError, KeyError) as error:
        raise ResumeError("the state of the unfinished run has another architecture") from error


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Turns the first Ctrl-C into an event; a second one interrupts at once."""
    stopped = threading.Event()

    def stop(number: int, frame: object) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)
