"""A pretraining from texts to a folder: networks, texts held out, the loop, the record that is written as it goes."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from textveil_training.engine.encoders import encoder_folder, precision_for
from textveil_training.engine.loop import Loop, Position, Report, Stage, no_report, seeded
from textveil_training.engine.memory import return_large_blocks
from textveil_training.engine.processes import Alone, processes
from textveil_training.engine.record import RunRecord
from textveil_training.engine.run import Place, check_output, make_output
from textveil_training.engine.tensor_files import sha256
from textveil_training.engine.tokens import Tokeniser, bucketed_lengths
from textveil_training.errors import CheckpointError, EncoderMismatch, SettingError
from textveil_training.pretrain.aligned import Strings, check_pieces
from textveil_training.pretrain.division import divided, log_frequencies
from textveil_training.pretrain.masking import Masker
from textveil_training.pretrain.network import WEIGHTS, load_masked_lm, write_masked_lm
from textveil_training.pretrain.objective import InParts, Objective
from textveil_training.pretrain.settings import Settings
from textveil_training.pretrain.sources import Texts
from textveil_training.text_channel import TextChannel

KIND = "pretrain"
STAGE = "pretrain"
STATE = "unfinished.safetensors"
RECORD = "record.json"
MEASUREMENTS = 20
RATES, NEW_HEAD_RATES = (5e-5, 5e-5), (3e-4, 2e-3)
"""Peaks for encoder and head. From MiniLM, 100 steps on SST-2 and AG news: 4e-4 and 2e-3 came to 13.5 % of the held-out
words and a loss of 6.13, 1e-4 and 1e-3 to 9.1 % and 6.69."""


def pretrain(
    settings: Settings,
    texts: Texts,
    channel: TextChannel | None,
    place: Place,
    *,
    raw: bool = False,
    report: Report = no_report,
) -> dict[str, Any]:
    """Trains a masked language model to predict ORIGINAL words from SANITISED public text.

    Every text is sanitised afresh at every visit, with the operating system's entropy. A run that was interrupted
    goes on with the same weights, order and masks but with fresh draws: the result is another one than without the
    interruption, of the same law. Raw runs go on to the very same result.

    Args:
        settings: How.
        texts: On what.
        channel: The law; None only for raw text.
        place: Where.
        raw: Mask raw text instead; a channel then only serves to measure.
        report: Called with progress.

    Returns:
        The run record, which is also in the output folder.

    Raises:
        DeviceError: The device is not there.
        CheckpointError: The start is no masked language model or encoder of BERT's kind, or the output folder is not
            empty.
        EncoderMismatch: Bundle and encoder do not read text alike.
        ResumeError: There is nothing to go on with, or it belongs to another run.
        EmptyData: There is no text to train on, or none to hold out.
        OutputError: The folder cannot be written.
        KeyboardInterrupt: After Ctrl-C; the run can be resumed.

    Privacy:
        None: the texts are public, and so is the model.
    """
    return _Run(settings, texts, channel, place, raw, report).run()


class _Run:
    def __init__(
        self, settings: Settings, texts: Texts, channel: TextChannel | None, place: Place, raw: bool, report: Report
    ) -> None:
        if channel is None and not raw:
            raise SettingError("a law is needed to sanitise with, or --raw")
        self._settings, self._channel, self._place, self._raw, self._report = settings, channel, place, raw, report
        self._processes: Alone = processes(place.device)
        check_output(self._place.output, STATE, resume=self._place.resume)
        return_large_blocks()
        torch.manual_seed(settings.seed)
        loaded = load_masked_lm(settings.start, settings.dropout)
        self._vocabulary, self._lowercase, self._new_head = loaded.vocabulary, loaded.lowercase, loaded.new_head
        tokeniser = Tokeniser(loaded.vocabulary, lowercase=loaded.lowercase, max_tokens=settings.max_tokens)
        if settings.max_tokens > loaded.model.config.max_position_embeddings:
            raise SettingError("max_tokens is more than the encoder has positions")
        if max(tokeniser.ids.values()) >= loaded.model.config.vocab_size:
            raise CheckpointError("the vocabulary has more pieces than the weights there have rows")
        if channel is not None:
            if not loaded.lowercase:
                raise EncoderMismatch("sanitised words are lower case here, and that encoder is cased")
            check_pieces(channel, tokeniser.ids)
        strings = Strings(tokeniser)
        data = divided(texts, settings.held_out_percent, settings.seed, strings, channel)
        self._train, self._held_out, self._data = data.train, data.held_out, data.described
        self._model = loaded.model
        if loaded.new_head:
            with torch.no_grad():
                self._model.bias.copy_(log_frequencies(self._train, strings, len(self._model.bias)))
        self._model.to(self._processes.device)
        self._precision = precision_for(settings.precision, self._processes.device)
        masker = Masker(tokeniser, strings, settings.mask_probability, len(tokeniser.ids), settings.unchanged_share)
        self._objective = Objective(
            self._model,
            self._train,
            masker,
            accumulate=settings.accumulate,
            precision=self._precision,
            sanitize=not raw,
            processes=self._processes,
        )

    def run(self) -> dict[str, Any]:
        output, settings, main = self._place.output, self._settings, self._processes.number == 0
        self._processes.wait()  # all have looked into the folder before anything is written
        make_output(output)
        record = RunRecord(output / RECORD, self._subject(), self._processes.device)

        def on_epoch(position: Position, best: bool) -> None:
            self._objective.start_clock()
            if main:
                record.update(position)

        loop = Loop(
            [self._stage(lambda: loop.position.epoch)],
            seed=settings.seed,
            state=output / STATE,
            run_key=self._run_key(),
            on_epoch=on_epoch,
            report=self._report if main else no_report,
            writes=main,
            agree=self._processes.any,
        )
        if self._place.resume:
            loop.resume()
        if main:
            record.update(loop.position)
        self._objective.start_clock()
        loop.run()
        if main:
            record.update(loop.position)
            write_masked_lm(output, self._model, self._vocabulary, lowercase=self._lowercase)
            last = loop.position.history[-1]
            names = ("loss", "clean_top1", "clean_loss", "sanitized_top1", "sanitized_loss")
            record.finish({"steps": self._steps, **{name: last[name] for name in names if name in last}})
            loop.forget()
        self._processes.wait()
        return record.content

    @property
    def _pass(self) -> int:
        """Steps of a pass over the texts."""
        return math.ceil(len(self._train) / self._settings.batch)

    @property
    def _steps(self) -> int:
        return self._settings.steps or self._settings.epochs * self._pass

    @property
    def _each(self) -> int:
        """Steps between two measurements."""
        return min(self._steps, self._settings.measure_every or math.ceil(self._steps / MEASUREMENTS))

    def _stage(self, round_number: Any) -> Stage:
        settings = self._settings

        def batches(_: torch.Generator) -> Sequence[Tensor]:
            return self._round(round_number())

        return Stage(
            name=STAGE,
            modules={"model": self._model},
            epochs=math.ceil(self._steps / self._each),
            batches=batches,
            updates=[InParts(self._optimiser(), self._objective.loss, self._objective.gradients)],
            measure=self._measure,
            warmup=settings.warmup,
            clip_norm=settings.clip_norm,
            steps=self._steps,
            each=self._each,
        )

    def _round(self, number: int) -> list[Tensor]:
        """The batches between two measurements: a stretch of one pass, or of several, over the texts."""
        found: list[Tensor] = []
        step, end = number * self._each, min((number + 1) * self._each, self._steps)
        while step < end:
            index, offset = divmod(step, self._pass)
            generator = torch.Generator().manual_seed(seeded(self._settings.seed, "pass", index))
            lengths = torch.from_numpy(self._train.lengths)
            whole = bucketed_lengths(lengths, self._settings.batch, generator)
            found += whole[offset : offset + end - step]
            step = number * self._each + len(found)
        return found

    def _measure(self) -> dict[str, float]:
        speed = self._objective.tokens_per_s()
        found: dict[str, float] = {"tokens_per_s": speed}
        clean = self._objective.measured(self._held_out, sanitize=False)
        found |= {"clean_top1": clean["top1"], "clean_loss": clean["loss"], "targets": clean["targets"]}
        if self._channel is not None:
            after = self._objective.measured(self._held_out, sanitize=True)
            found |= {"sanitized_top1": after["top1"], "sanitized_loss": after["loss"]}
        return {"dev": found["clean_top1" if self._raw else "sanitized_top1"], **found}

    def _optimiser(self) -> torch.optim.Optimizer:
        settings, rates = self._settings, self._rates()
        groups: dict[tuple[float, float], list[Tensor]] = {}
        for name, parameter in self._model.named_parameters():
            rate = rates[0 if name.startswith("encoder.") else 1]
            decay = settings.weight_decay if parameter.ndim > 1 else 0.0
            groups.setdefault((rate, decay), []).append(parameter)
        found = [{"params": params, "lr": rate, "weight_decay": decay} for (rate, decay), params in groups.items()]
        return torch.optim.AdamW(found, fused=True)

    def _rates(self) -> tuple[float, float]:
        """Peaks for encoder and head."""
        encoder, head = NEW_HEAD_RATES if self._new_head else RATES
        return self._settings.learning_rate or encoder, self._settings.head_learning_rate or head

    def _subject(self) -> dict[str, object]:
        start = Path(self._settings.start).name  # not where it lies
        return {
            "kind": KIND,
            "settings": asdict(self._settings)
            | {
                "start": start,
                "learning_rate": self._rates()[0],
                "head_learning_rate": self._rates()[1],
                "raw": self._raw,
                "steps": self._steps,
                "precision": self._precision,
                "processes": self._processes.count,
            },
            "data": self._data,
            "law": None if self._raw else self._law(),
            "measured_law": self._law(),
            "draws": None if self._raw else "afresh at every visit; also after an interruption",
            "start": {
                "source": start,
                "weights_sha256": self._start_hash(),
                "new_head": self._new_head,
            },
        }

    def _law(self) -> dict[str, Any] | None:
        if self._channel is None:
            return None
        return asdict(self._channel.plan.terms) | {"bundle_name": self._channel.bundle.manifest.get("name")}

    def _start_hash(self) -> str | None:
        weights = Path(encoder_folder(self._settings.start)) / WEIGHTS
        return sha256(weights) if weights.is_file() else None

    def _run_key(self) -> str:
        subject = self._subject()
        parts = [subject[name] for name in ("settings", "data", "law", "measured_law", "start")]
        return hashlib.sha256(json.dumps([*parts, torch.__version__], sort_keys=True).encode()).hexdigest()
