"""A fine-tuning from data to folder: network, training, the best epoch kept, measured once."""

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from textveil_training.engine.encoders import device_named, load_encoder, precision_for
from textveil_training.engine.loop import Loop, Position, Report, Stage, Update, no_report
from textveil_training.engine.record import RunRecord
from textveil_training.engine.run import Place, check_output, make_output
from textveil_training.engine.tokens import Tokeniser, bucketed
from textveil_training.errors import CheckpointError
from textveil_training.finetune.examples import Rows, Task
from textveil_training.finetune.features import features, fitted_head, pearson, pooled
from textveil_training.finetune.inputs import joined, padded
from textveil_training.finetune.network import (
    ENCODER,
    Description,
    Head,
    Network,
    read_model,
    weights_sha256,
    write_model,
)
from textveil_training.finetune.settings import Settings

KIND = "finetune"
STATE = "unfinished.safetensors"
RECORD = "record.json"


def finetune(
    settings: Settings,
    task: Task,
    subject: dict[str, object],
    place: Place,
    report: Report = no_report,
) -> dict[str, Any]:
    """Fine-tunes an encoder, or fits a linear model to its vectors.

    Args:
        settings: What to do.
        task: The data.
        subject: What the record says of the data: ``data`` and ``law``.
        place: Where.
        report: Called with progress.

    Returns:
        The run record, which is also in the output folder. ``result`` has dev and test: accuracy with its standard
        error and the share of the commonest training class, or Pearson's and Spearman's correlation and the mean
        squared error.

    Raises:
        CheckpointError: The encoder cannot be used, or the output folder holds a model or an unfinished run.
        DeviceError: The device is not there.
        ResumeError: There is nothing to go on with, or it belongs to another run.
        OutputError: The folder cannot be written.
        KeyboardInterrupt: After Ctrl-C; the run can be resumed.
    """
    return _Run(settings, task, subject, place, report).run()


def predictions(
    folder: Path,
    texts: Sequence[Sequence[str]],
    *,
    device: str = "cpu",
    precision: str = "float32",
    report: Report = no_report,
) -> tuple[Tensor, Description]:
    """What a fine-tuned model makes of texts.

    Args:
        folder: Of the model.
        texts: One or two texts a row, as it was trained.
        device: ``cpu`` or a CUDA device.
        precision: ``float32`` or ``bfloat16``.
        report: Called with progress.

    Returns:
        Logits of shape ``(rows, classes)``, or scores of shape ``(rows, 1)``; and what the model is.

    Raises:
        CheckpointError: As ``read_model``, or the model reads another number of texts.
        DeviceError: The device is not there.
    """
    place = device_named(device)
    network, description, vocabulary = read_model(folder)
    if any(len(row) != 1 + description.pairs for row in texts):
        raise CheckpointError("the model reads another number of texts a row")
    network = network.to(place)
    tokeniser = Tokeniser(vocabulary, lowercase=description.lowercase, max_tokens=description.max_tokens)
    read = pooled if description.joined else features
    vectors = read(network, tokeniser, texts, place, precision, report)
    with torch.inference_mode():
        return network(vectors.to(place)).cpu(), description


class _Run:
    def __init__(
        self, settings: Settings, task: Task, subject: dict[str, object], place: Place, report: Report
    ) -> None:
        self._settings, self._task, self._subject = settings, task, subject
        self._place, self._report = place, report
        self._device = device_named(place.device)
        self._precision = precision_for(settings.precision, self._device)
        torch.manual_seed(settings.seed)
        encoder, self._vocabulary, lowercase = load_encoder(settings.encoder, settings.dropout)
        longest = int(getattr(encoder.config, "max_position_embeddings", settings.max_tokens))  # type: ignore[union-attr]
        if settings.max_tokens > longest:
            raise CheckpointError(f"the encoder reads at most {longest} tokens")
        self._tokeniser = Tokeniser(self._vocabulary, lowercase=lowercase, max_tokens=settings.max_tokens)
        self._description = Description(
            labels=task.labels,
            pairs=task.pairs,
            joined=settings.tuned,
            max_tokens=settings.max_tokens,
            lowercase=lowercase,
            encoder=ENCODER if settings.tuned else settings.encoder,
            encoder_sha256=weights_sha256(self._vocabulary),
            law=cast("dict[str, Any] | None", subject.get("law")),
        )
        width = int(encoder.config.hidden_size)  # type: ignore[union-attr]
        self._network = Network(encoder, Head(width, max(1, len(task.labels))), settings.dropout).to(self._device)

    def run(self) -> dict[str, Any]:
        output = self._place.output
        check_output(output, STATE, resume=self._place.resume)
        make_output(output)
        state = output / STATE
        subject = {
            "kind": KIND,
            "settings": self._settings.described(),
            **self._subject,
            "start": {"encoder_sha256": self._description.encoder_sha256},
        }
        record = RunRecord(output / RECORD, subject, self._device)
        if self._settings.tuned:
            self._tune(record, state)
        else:
            self._fit(record)
        network, _, _ = read_model(output)
        self._network = network.to(self._device)
        record.finish({name: self._measured(self._task.splits[name]) for name in ("dev", "test")})
        state.unlink(missing_ok=True)
        return record.content

    def _fit(self, record: RunRecord) -> None:
        clock = time.perf_counter(), time.process_time()
        found = {name: self._features(self._task.splits[name], name) for name in ("train", "dev")}
        train, dev = (self._task.splits[name].targets for name in ("train", "dev"))
        head = fitted_head(found["train"], train, found["dev"], dev, len(self._task.labels))
        self._network.head = head.to(self._device)
        write_model(self._place.output, self._network, self._description, self._vocabulary)
        spent = time.perf_counter() - clock[0], time.process_time() - clock[1]
        record.update(Position(wall_s=spent[0], cpu_s=spent[1]))

    def _features(self, rows: Rows, stage: str) -> Tensor:
        network, precision = self._network, self._precision
        return features(network, self._tokeniser, rows.texts, self._device, precision, self._report, stage)

    def _tune(self, record: RunRecord, state: Path) -> None:
        settings, train = self._settings, self._task.splits["train"]
        sequences = [joined(self._tokeniser, row) for row in train.texts]
        targets = train.targets.to(self._device)
        if self._task.scores:
            self._network.head.shift.copy_(targets.mean())
            self._network.head.scale.copy_(targets.std())

        def loss(batch: Tensor) -> Tensor:
            self._network.train()
            ids, mask, types = padded([sequences[row] for row in batch.tolist()], self._tokeniser.padding)
            ids, mask, types = ids.to(self._device), mask.to(self._device), types.to(self._device)
            vectors = self._network.pooled(ids, mask, types, self._precision)
            outputs = self._network(vectors)
            if self._task.scores:
                return ((outputs[:, 0] - targets[batch]) / self._network.head.scale).square().mean()
            return functional.cross_entropy(outputs, targets[batch])

        def measure() -> dict[str, float]:
            found = self._measured(self._task.splits["dev"])
            return {"dev": found["pearson" if self._task.scores else "accuracy"]}

        def on_epoch(position: Position, best: bool) -> None:
            if best:
                write_model(self._place.output, self._network, self._description, self._vocabulary)
            record.update(position)

        stage = Stage(
            name="tuned",
            modules={"network": self._network},
            epochs=settings.epochs,
            batches=lambda generator: bucketed(sequences, settings.batch, generator),
            updates=[Update(self._optimiser(), loss)],
            measure=measure,
            warmup=settings.warmup,
            clip_norm=settings.clip_norm,
        )
        loop = Loop(
            [stage],
            seed=settings.seed,
            state=state,
            run_key=self._run_key(),
            on_epoch=on_epoch,
            report=self._report,
        )
        if self._place.resume:
            loop.resume()
        loop.run()
        record.update(loop.position)

    def _optimiser(self) -> torch.optim.Optimizer:
        settings = self._settings
        groups = []
        for name, parameter in self._network.named_parameters():
            rate = settings.head_learning_rate if name.startswith("head.") else settings.learning_rate
            decay = settings.weight_decay if parameter.ndim > 1 else 0.0
            groups.append({"params": [parameter], "lr": rate, "weight_decay": decay})
        return torch.optim.AdamW(_merged(groups), fused=True)

    def _run_key(self) -> str:
        parts = [asdict(self._settings), self._subject, self._description.encoder_sha256, torch.__version__]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _measured(self, rows: Rows) -> dict[str, float]:
        network, tokeniser = self._network, self._tokeniser
        read = pooled if self._description.joined else features
        vectors = read(network, tokeniser, rows.texts, self._device, self._precision)
        with torch.inference_mode():
            outputs = network(vectors.to(self._device)).cpu()
        if self._task.scores:
            return measured_scores(outputs[:, 0], rows.targets)
        majority = int(self._task.splits["train"].targets.bincount().argmax())
        return measured_classes(outputs, rows.targets, majority)


def measured_classes(logits: Tensor, targets: Tensor, majority: int) -> dict[str, float]:
    """Accuracy, its standard error ``sqrt(a (1 - a) / n)``, and the share of the commonest training class."""
    right = (logits.argmax(-1) == targets).double()
    accuracy = right.mean().item()
    return {
        "examples": len(targets),
        "accuracy": accuracy,
        "standard_error": (accuracy * (1 - accuracy) / len(targets)) ** 0.5,
        "majority": (targets == majority).double().mean().item(),
    }


def measured_scores(found: Tensor, wanted: Tensor) -> dict[str, float]:
    """Pearson's and Spearman's correlation, and the mean squared error.

    The standard error of Pearson's r is ``(1 - r^2) / sqrt(n - 3)``, Fisher's for pairs from a normal distribution:
    approximate here.
    """
    from scipy.stats import rankdata

    ours, theirs = found.double().numpy(), wanted.double().numpy()
    r = pearson(ours, theirs)
    return {
        "examples": len(theirs),
        "pearson": r,
        "pearson_standard_error": (1 - r * r) / max(1, len(theirs) - 3) ** 0.5,
        "spearman": pearson(rankdata(ours), rankdata(theirs)),
        "mse": float(np.square(ours - theirs).mean()),
    }


def _merged(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Groups with equal rate and decay in one, which the fused step is faster with."""
    merged: dict[tuple[float, float], dict[str, Any]] = {}
    for group in groups:
        key = group["lr"], group["weight_decay"]
        merged.setdefault(key, group | {"params": []})["params"] += group["params"]
    return list(merged.values())
