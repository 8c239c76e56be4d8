"""Fine-tunes an encoder on raw or sanitized text, or fits a linear model to its vectors.

    textveil-train finetune SST-2 --format sst2 -o raw
    textveil-train finetune server_training/recipes/nlp-headline.toml --data sanitized --format sst2 -o certified-12

The first takes the settings of Yue et al. 2021, the second those of a published result. The data are one text or a
pair of texts a row, with a class or a score; dev decides which epoch is kept, test is measured once, at the end.
"""

import time
from dataclasses import asdict
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from textveil_training.engine.checkpoint import weights_sha256
from textveil_training.engine.encoders import load_transformer, precision_for
from textveil_training.engine.run import Run, RunOptions
from textveil_training.engine.stage import Stage, Update, adamw
from textveil_training.engine.tokens import Tokenizer, bucketed
from textveil_training.errors import CheckpointError
from textveil_training.finetune.features import features, fitted_head, joined, padded
from textveil_training.finetune.finetuning_data import Task
from textveil_training.finetune.measure import measured_classes, measured_scores, outputs
from textveil_training.finetune.network import ENCODER, Description, Head, Network, read_model, write_model
from textveil_training.finetune.settings import KIND, Settings
from textveil_training.progress import Report, no_report


def finetune(
    settings: Settings,
    task: Task,
    subject: dict[str, object],
    options: RunOptions,
    report: Report = no_report,
) -> dict[str, Any]:
    """Fine-tunes an encoder, or fits a linear model to its vectors.

    Args:
        settings: Settings of the training.
        task: The data.
        subject: What the record says of the data: ``data`` and ``release``.
        options: Where the run goes.
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
    run = Run(options, settings.seed, report)
    precision = precision_for(settings.precision, run.device)

    # The network: encoder, mean pooling, a linear head for classes or for one score.
    encoder, vocabulary, lowercase = load_transformer(settings.encoder, settings.dropout)
    config: Any = encoder.config
    positions = int(getattr(config, "max_position_embeddings", settings.max_tokens))
    if settings.max_tokens > positions:
        raise CheckpointError(f"the encoder reads at most {positions} tokens")
    if (settings.frozen_layers or 0) >= config.num_hidden_layers:
        raise CheckpointError(f"the encoder has {config.num_hidden_layers} layers: none would learn")
    tokenizer = Tokenizer(vocabulary, lowercase=lowercase, max_tokens=settings.max_tokens)
    head = Head(int(config.hidden_size), max(1, len(task.labels)))
    network = Network(encoder, head, settings.dropout).to(run.device)
    description = Description(
        labels=task.labels,
        pairs=task.pairs,
        joined=settings.tuned,
        max_tokens=settings.max_tokens,
        lowercase=lowercase,
        encoder=ENCODER if settings.tuned else settings.encoder,
        encoder_sha256=weights_sha256(vocabulary),
        release=cast("dict[str, Any] | None", subject.get("release")),
    )
    start = {"encoder_sha256": description.encoder_sha256}
    run.begin({"kind": KIND, "settings": settings.described(), **subject, "start": start})
    train, dev = task.splits["train"], task.splits["dev"]

    def measured(network: Network, split: str) -> dict[str, float]:
        rows = task.splits[split]
        found = outputs(network, description.joined, tokenizer, rows.texts, run.device, precision)
        if task.scores:
            return measured_scores(found[:, 0], rows.targets)
        return measured_classes(found, rows.targets, majority=int(train.targets.bincount().argmax()))

    def fit() -> None:
        """Fits a linear model to the vectors of the encoder as it is."""
        clock = time.perf_counter(), time.process_time()
        x, x_dev = (  # (rows, width), of a pair (rows, 4 width)
            features(network, tokenizer, rows.texts, run.device, precision, report, name)
            for name, rows in (("train", train), ("dev", dev))
        )
        network.head = fitted_head(x, train.targets, x_dev, dev.targets, len(task.labels)).to(run.device)
        write_model(run.output, network, description, vocabulary)
        run.spent(time.perf_counter() - clock[0], time.process_time() - clock[1])

    def tune() -> None:
        """Trains encoder and head; keeps the epoch that is the best on dev."""
        sequences = [joined(tokenizer, row) for row in train.texts]
        targets = train.targets.to(run.device)  # (rows,)
        if task.scores:  # the head answers in the scores' own units
            network.head.shift.copy_(targets.mean())
            network.head.scale.copy_(targets.std())

        def loss(batch: Tensor) -> Tensor:
            network.train()
            ids, mask, types = padded([sequences[row] for row in batch.tolist()], tokenizer.padding)  # (batch, tokens)
            ids, mask, types = ids.to(run.device), mask.to(run.device), types.to(run.device)
            found = network(network.pooled(ids, mask, types, precision))  # (batch, classes) or (batch, 1)
            if task.scores:
                return ((found[:, 0] - targets[batch]) / network.head.scale).square().mean()
            return functional.cross_entropy(found, targets[batch])

        def batches(generator: torch.Generator) -> list[Tensor]:
            return bucketed(sequences, settings.batch_size, generator)

        def measure() -> dict[str, float]:
            return {"dev": measured(network, "dev")["pearson" if task.scores else "accuracy"]}

        def keep(best: bool) -> None:
            if best:
                write_model(run.output, network, description, vocabulary)

        def learning_rate(name: str) -> float | None:
            if name in frozen:
                return None
            return settings.head_learning_rate if name.startswith("head.") else settings.learning_rate

        frozen = network.freeze(settings.frozen_layers or 0)
        optimizer = adamw(network, learning_rate, settings.weight_decay)
        stage = Stage(
            name="tuned",
            modules={"network": network},
            num_epochs=settings.num_epochs,
            batches=batches,
            updates=[Update(optimizer, loss)],
            measure=measure,
            warmup=settings.warmup,
            clip_norm=settings.clip_norm,
        )
        run.train([stage], [asdict(settings), subject, description.encoder_sha256], keep)

    if settings.tuned:
        tune()
    else:
        fit()
    best, _, _ = read_model(run.output)
    best = best.to(run.device)
    return run.finish({split: measured(best, split) for split in ("dev", "test")})
