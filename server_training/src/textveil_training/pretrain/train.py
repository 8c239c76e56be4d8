"""Pretrain a masked language model that predicts the ORIGINAL words of SANITIZED public text.

Source: Yue et al. 2021, section 4.3.

    textveil-train pretrain --data WIKITEXT:wikitext --mechanism santext --epsilon 10 -o mlm
    textveil-train pretrain server_training/recipes/mlm-sanitized.toml --data WIKITEXT:wikitext -o mlm

In each pass every text is sanitized again, with entropy of the operating system. An interrupted run continues with the
same weights, order and masks, but with new random outputs. So its result differs from that of an uninterrupted run, but
has the same distribution. An interrupted run on raw texts continues to exactly the same result.
"""

import ctypes
import math
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from textveil_training.engine.checkpoint import WEIGHTS
from textveil_training.engine.encoders import choose_precision, locate_encoder
from textveil_training.engine.loop import derive_seed
from textveil_training.engine.processes import get_process
from textveil_training.engine.run import RunOptions, TrainingRun
from textveil_training.engine.stage import OptimizerUpdate, TrainingStage, make_adamw
from textveil_training.engine.tokens import EncoderTokenizer, group_by_length
from textveil_training.errors import CheckpointError, EncoderMismatch, SettingError
from textveil_training.file_hashes import hash_file
from textveil_training.pretrain.aligned_corpus import ModeTexts, StringPieces
from textveil_training.pretrain.masked_lm import load_masked_lm, write_masked_lm
from textveil_training.pretrain.masking import Masker
from textveil_training.pretrain.objective import PretrainingObjective
from textveil_training.pretrain.pretraining_data import SourceTexts, compute_log_frequencies, split_pretraining_texts
from textveil_training.pretrain.settings import KIND, PretrainingSettings
from textveil_training.progress import ProgressCallback, ignore_progress
from textveil_training.release_terms import format_release_terms
from textveil_training.token_randomizer import TokenRandomizer

_MMAP_THRESHOLD = -3
_BYTES = 4 << 20


def return_large_blocks() -> None:
    """Configure glibc to return free memory blocks of 4 MiB and more to the system at once.

    On CPUs PyTorch allocates memory by ``malloc``. By default glibc raises the size from which it maps blocks
    separately, up to 32 MiB. The logits of masked positions have another size in every batch (10 to 40 MB), so freed
    blocks leave gaps into which later ones do not fit: without this call a pretraining grew by 200 MB per minute. On
    systems without glibc the function does nothing.
    """
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _BYTES)


STAGE = "pretrain"
MEASUREMENTS = 20
RATES, NEW_HEAD_RATES = (5e-5, 5e-5), (3e-4, 2e-3)
"""Peaks for encoder and head. From MiniLM, 100 steps on SST-2 and AG news: 4e-4 and 2e-3 came to 13.5 % of the held-out
words and a loss of 6.13, 1e-4 and 1e-3 to 9.1 % and 6.69."""


def pretrain(
    settings: PretrainingSettings,
    texts: SourceTexts,
    randomizer: TokenRandomizer | ModeTexts | None,
    options: RunOptions,
    *,
    raw: bool = False,
    report: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Train a masked language model that predicts original words from sanitized text.

    Args:
        settings: Settings of the training.
        texts: Public raw texts, or texts of a sanitized corpus. The texts of a sanitized corpus are masked without
            sanitizing them again, and the model predicts their words, since the originals are not available.
        randomizer: Mechanism that sanitizes raw texts at every use, or mode that sanitizes them once; ``None`` for a
            sanitized corpus.
        options: Output folder and device of the run.
        raw: Whether to mask raw text without sanitizing it; ``randomizer`` is then used for measurements only.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Returns:
        The run record, which is also in the output folder.

    Raises:
        DeviceError: The device does not exist.
        CheckpointError: The start model is not a BERT encoder or masked language model, or the output folder is not
            empty.
        EncoderMismatch: The encoder is cased, but sanitized words are in lower case.
        ResumeError: The folder has no unfinished run to resume, or one with other settings.
        EmptyData: There is no training text, or no held-out text.
        OutputError: The folder cannot be written.
        KeyboardInterrupt: Ctrl-C was pressed; the run can be resumed.

    Privacy:
        Raw texts must be public: the model memorizes some of them. A model that is trained on sanitized texts reveals
        nothing more than these texts (post-processing).
    """
    if settings.accumulate > settings.batch_size:
        raise SettingError("accumulate must be at most batch_size")
    if texts.release is not None and (randomizer is not None or raw):
        raise SettingError(
            f"the texts are sanitized already ({format_release_terms(texts.release)}): omit --raw, --bundle and the "
            "options of the mechanism, or pass raw public texts"
        )
    if randomizer is None and not raw and texts.release is None:
        raise SettingError("raw texts need a mechanism that sanitizes them, or --raw to train on them unchanged")
    process = get_process(options.device)
    run = TrainingRun(options, settings.seed, report, process=process)
    return_large_blocks()
    precision = choose_precision(settings.precision, run.device)

    # The network: an encoder with the head of a masked language model, which shares the embeddings.
    loaded = load_masked_lm(settings.start, settings.dropout)
    model = loaded.model
    if settings.max_tokens > model.config.max_position_embeddings:
        raise SettingError("--max-tokens exceeds the number of positions of the encoder: use a smaller value")
    tokenizer = EncoderTokenizer(loaded.vocabulary, lowercase=loaded.lowercase, max_tokens=settings.max_tokens)
    if max(tokenizer.ids.values()) >= model.config.vocab_size:
        raise CheckpointError(
            "the vocabulary has more WordPieces than the embedding matrix has rows: copy the encoder again"
        )
    if randomizer is not None and not loaded.lowercase:
        raise EncoderMismatch(
            "the encoder distinguishes case, but sanitized words are in lower case: pass an uncased one with --start"
        )

    # The data: texts as words and punctuation; the hash of a text decides whether it is held out.
    strings = StringPieces(tokenizer)
    data = split_pretraining_texts(texts, settings.held_out_percent, settings.seed, strings, randomizer)
    train, held_out = data.train, data.held_out
    if loaded.new_head:  # the bias of a new head starts with the log frequencies of the WordPieces
        with torch.no_grad():
            model.bias.copy_(compute_log_frequencies(train, strings, len(model.bias)))
    model.to(run.device)
    masker = Masker(tokenizer, strings, settings.mask_probability, len(tokenizer.ids), settings.unchanged_share)
    objective = PretrainingObjective(
        model,
        train,
        masker,
        accumulate=settings.accumulate,
        precision=precision,
        sanitize=randomizer is not None and not raw,
        process=process,
    )

    # The steps go through the texts pass after pass; an epoch is the steps between two measurements.
    steps_per_pass = math.ceil(len(train) / settings.batch_size)
    steps = settings.steps or settings.num_epochs * steps_per_pass
    steps_per_epoch = min(steps, settings.measure_every or math.ceil(steps / MEASUREMENTS))

    def batches(_: torch.Generator) -> list[Tensor]:
        """Return the batches until the next measurement; they may span several passes over the texts."""
        found: list[Tensor] = []
        begin = run.position.epoch * steps_per_epoch
        step, end = begin, min(begin + steps_per_epoch, steps)
        while step < end:
            index, offset = divmod(step, steps_per_pass)
            generator = torch.Generator().manual_seed(derive_seed(settings.seed, "pass", index))
            whole = group_by_length(torch.from_numpy(train.lengths), settings.batch_size, generator)
            found += whole[offset : offset + end - step]
            step = begin + len(found)
        return found

    def measure() -> dict[str, float]:
        found: dict[str, float] = {"tokens_per_s": objective.measure_speed()}
        clean = objective.measure_held_out(held_out, sanitize=False)
        found |= {f"{as_read}_top1": clean["top1"], f"{as_read}_loss": clean["loss"], "targets": clean["targets"]}
        if randomizer is not None:
            after = objective.measure_held_out(held_out, sanitize=True)
            found |= {"sanitized_top1": after["top1"], "sanitized_loss": after["loss"]}
        return {"dev": found["sanitized_top1" if objective.sanitizes else f"{as_read}_top1"], **found}

    as_read = "clean" if texts.release is None else "released"

    default = NEW_HEAD_RATES if loaded.new_head else RATES
    rates = settings.learning_rate or default[0], settings.head_learning_rate or default[1]
    optimizer = make_adamw(model, lambda name: rates[0 if name.startswith("encoder.") else 1], settings.weight_decay)
    stage = TrainingStage(
        name=STAGE,
        modules={"model": model},
        num_epochs=math.ceil(steps / steps_per_epoch),
        batches=batches,
        updates=[OptimizerUpdate(optimizer, objective.compute_loss, objective.compute_gradients)],
        measure=measure,
        warmup=settings.warmup,
        clip_norm=settings.clip_norm,
        steps=steps,
        steps_per_epoch=steps_per_epoch,
    )
    subject = {
        "kind": KIND,
        "settings": asdict(settings)
        | {
            "start": Path(settings.start).name,  # the name without the path
            "learning_rate": rates[0],
            "head_learning_rate": rates[1],
            "raw": raw,
            "steps": steps,
            "precision": precision,
            "processes": process.world_size,
        },
        "data": data.description,
        "release": texts.release if raw or randomizer is None else randomizer.release_terms,
        "measured_release": None if randomizer is None else randomizer.release_terms,
        "draws": None if raw or randomizer is None else _describe_draws(randomizer),
        "start": {
            "source": Path(settings.start).name,
            "weights_sha256": _hash_start(settings.start),
            "new_head": loaded.new_head,
        },
    }
    key = [subject[name] for name in ("settings", "data", "release", "measured_release", "start")]
    run.begin(subject)
    objective.start_clock()
    run.train([stage], key, on_epoch=lambda best: objective.start_clock())
    if process.rank == 0:
        write_masked_lm(run.output, model, loaded.vocabulary, lowercase=loaded.lowercase)
    last = run.position.history[-1]
    names = ("loss", "clean_top1", "clean_loss", "released_top1", "released_loss", "sanitized_top1", "sanitized_loss")
    return run.finish({"steps": steps, **{name: last[name] for name in names if name in last}})


def _describe_draws(randomizer: TokenRandomizer | ModeTexts) -> str:
    again = "also after an interruption"
    return f"once, {again}" if isinstance(randomizer, ModeTexts) else f"afresh at every visit; {again}"


def _hash_start(start: str) -> str | None:
    weights = Path(locate_encoder(start)) / WEIGHTS
    return hash_file(weights) if weights.is_file() else None
