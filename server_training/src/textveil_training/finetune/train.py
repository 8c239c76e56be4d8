"""Fine-tune an encoder on raw or sanitized text, or fit a linear model to its vectors.

    textveil-train finetune SST-2 --format sst2 -o raw
    textveil-train finetune server_training/recipes/nlp-headline.toml --data sanitized --format sst2 -o certified-12

The first command uses the settings of Yue et al. 2021, the second those of a published result. A row of the data has
one text or a pair of texts, and a class or a score. The dev split selects the best epoch. The test split is measured
once, at the end.
"""

import time
from dataclasses import asdict
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from textveil_training.engine.checkpoint import hash_weights
from textveil_training.engine.encoders import choose_precision, load_transformer
from textveil_training.engine.run import RunOptions, TrainingRun
from textveil_training.engine.stage import OptimizerUpdate, TrainingStage, make_adamw
from textveil_training.engine.tokens import EncoderTokenizer, make_length_batches
from textveil_training.errors import CheckpointError
from textveil_training.finetune.features import compute_features, fit_head, join_texts, pad_sequences
from textveil_training.finetune.finetuning_data import FinetuningTask
from textveil_training.finetune.measure import compute_outputs, measure_classes, measure_scores
from textveil_training.finetune.network import (
    ENCODER,
    FinetunedDescription,
    FinetunedNetwork,
    LinearHead,
    read_model,
    write_model,
)
from textveil_training.finetune.settings import KIND, FinetuningSettings
from textveil_training.progress import ProgressCallback, ignore_progress


def finetune(
    settings: FinetuningSettings,
    task: FinetuningTask,
    subject: dict[str, object],
    options: RunOptions,
    report: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Fine-tune an encoder, or fit a linear model to its vectors.

    Args:
        settings: Settings of the training.
        task: The data.
        subject: Entries ``data`` and ``release`` of the run record: description of the data, and the mode and epsilon
            of sanitized texts.
        options: Output folder and device of the run.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Returns:
        The run record, which is also in the output folder. Its entry ``result`` contains the metrics on dev and test:
        accuracy with its standard error and the share of the most frequent training class, or Pearson's and Spearman's
        correlation and the mean squared error.

    Raises:
        CheckpointError: The encoder cannot be used, or the output folder has a model or an unfinished run.
        DeviceError: The device does not exist.
        ResumeError: The folder has no unfinished run to resume, or one with other settings.
        OutputError: The folder cannot be written.
        KeyboardInterrupt: Ctrl-C was pressed; the run can be resumed.
    """
    run = TrainingRun(options, settings.seed, report)
    precision = choose_precision(settings.precision, run.device)

    # The network: encoder, mean pooling, a linear head for classes or for one score.
    encoder, vocabulary, lowercase = load_transformer(settings.encoder, settings.dropout)
    config: Any = encoder.config
    positions = int(getattr(config, "max_position_embeddings", settings.max_tokens))
    if settings.max_tokens > positions:
        raise CheckpointError(f"the encoder reads at most {positions} tokens: lower --max-tokens")
    if (settings.frozen_layers or 0) >= config.num_hidden_layers:
        raise CheckpointError(
            f"the encoder has {config.num_hidden_layers} layers, so none would be trained: use a smaller "
            "--frozen-layers"
        )
    tokenizer = EncoderTokenizer(vocabulary, lowercase=lowercase, max_tokens=settings.max_tokens)
    head = LinearHead(int(config.hidden_size), max(1, len(task.labels)))
    network = FinetunedNetwork(encoder, head, settings.dropout).to(run.device)
    description = FinetunedDescription(
        labels=task.labels,
        pairs=task.pairs,
        joined=settings.tuned,
        max_tokens=settings.max_tokens,
        lowercase=lowercase,
        encoder=ENCODER if settings.tuned else settings.encoder,
        encoder_sha256=hash_weights(vocabulary),
        release=cast("dict[str, Any] | None", subject.get("release")),
    )
    start = {"encoder_sha256": description.encoder_sha256}
    run.begin({"kind": KIND, "settings": settings.describe(), **subject, "start": start})
    train, dev = task.splits["train"], task.splits["dev"]

    def measure_split(network: FinetunedNetwork, split: str) -> dict[str, float]:
        rows = task.splits[split]
        found = compute_outputs(
            network, description.joined, tokenizer, rows.texts, run.device, precision, report, f"measure {split}"
        )
        if task.has_scores:
            return measure_scores(found[:, 0], rows.targets)
        return measure_classes(found, rows.targets, majority=int(train.targets.bincount().argmax()))

    def fit() -> None:
        """Fit a linear model to the vectors of the untuned encoder."""
        clock = time.perf_counter(), time.process_time()
        x, x_dev = (  # (rows, width), of a pair (rows, 4 width)
            compute_features(network, tokenizer, rows.texts, run.device, precision, report, name)
            for name, rows in (("train", train), ("dev", dev))
        )
        network.head = fit_head(x, train.targets, x_dev, dev.targets, len(task.labels)).to(run.device)
        write_model(run.output, network, description, vocabulary)
        run.record_time(time.perf_counter() - clock[0], time.process_time() - clock[1])

    def tune() -> None:
        """Train the encoder and its linear head together, and use the weights of the best epoch on dev."""
        sequences = [join_texts(tokenizer, row) for row in train.texts]
        targets = train.targets.to(run.device)  # (rows,)
        if task.has_scores:  # the head's output has the unit of the scores
            network.head.shift.copy_(targets.mean())
            network.head.scale.copy_(targets.std())

        def loss(batch: Tensor) -> Tensor:
            network.train()
            ids, mask, types = pad_sequences(
                [sequences[row] for row in batch.tolist()], tokenizer.padding
            )  # (batch, tokens)
            ids, mask, types = ids.to(run.device), mask.to(run.device), types.to(run.device)
            found = network(network.pool(ids, mask, types, precision))  # (batch, classes) or (batch, 1)
            if task.has_scores:
                return ((found[:, 0] - targets[batch]) / network.head.scale).square().mean()
            return functional.cross_entropy(found, targets[batch])

        def batches(generator: torch.Generator) -> list[Tensor]:
            return make_length_batches(sequences, settings.batch_size, generator)

        def measure() -> dict[str, float]:
            return {"dev": measure_split(network, "dev")["pearson" if task.has_scores else "accuracy"]}

        def keep(best: bool) -> None:
            if best:
                write_model(run.output, network, description, vocabulary)

        def learning_rate(name: str) -> float | None:
            if name in frozen:
                return None
            return settings.head_learning_rate if name.startswith("head.") else settings.learning_rate

        frozen = network.freeze(settings.frozen_layers or 0)
        optimizer = make_adamw(network, learning_rate, settings.weight_decay)
        stage = TrainingStage(
            name="tuned",
            modules={"network": network},
            num_epochs=settings.num_epochs,
            batches=batches,
            updates=[OptimizerUpdate(optimizer, loss)],
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
    return run.finish({split: measure_split(best, split) for split in ("dev", "test")})
