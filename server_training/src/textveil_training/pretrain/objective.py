"""Compute the loss of a pretraining, its gradients in several processes, and metrics on held-out texts."""

import time
from contextlib import nullcontext

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from textveil_training.engine.loop import derive_seed
from textveil_training.engine.processes import SingleProcess
from textveil_training.pretrain.aligned_corpus import AlignedCorpus, IntArray
from textveil_training.pretrain.masked_lm import MaskedLM
from textveil_training.pretrain.masking import IGNORED, MaskedBatch, Masker

MEASURED_AT_ONCE = 64


class PretrainingObjective:
    """Cross entropy of the original WordPieces at masked positions of the sanitized text.

    Args:
        model: The networks, on their device.
        corpus: Training texts.
        masker: Object that creates masked batches.
        accumulate: Number of parts into which each process divides its share of a batch.
        precision: ``float32`` or ``bfloat16``.
        sanitize: Whether to sanitize a text with new randomness at each use; otherwise raw text is masked.
        process: Object for communication with the other processes that train the model.

    Attributes:
        sanitizes: The argument ``sanitize``.
    """

    def __init__(
        self,
        model: MaskedLM,
        corpus: AlignedCorpus,
        masker: Masker,
        *,
        accumulate: int,
        precision: str,
        sanitize: bool,
        process: SingleProcess,
    ) -> None:
        self._model, self._corpus, self._masker, self._process = model, corpus, masker, process
        self._accumulate, self._precision, self.sanitizes = accumulate, precision, sanitize
        self._wrapped = process.wrap_model(model)
        self.start_clock()

    def compute_loss(self, batch: Tensor) -> Tensor:
        """Compute the mean loss over a batch's targets (masked WordPieces), in one pass and in this process only."""
        self._model.train()
        masked = self._mask_texts(batch.numpy())
        return self._sum_loss(masked) / _count_targets(masked)

    def compute_gradients(self, batch: Tensor) -> float:
        """Compute the gradient of a batch's loss, divided among all processes, and return the loss.

        Every process creates the whole batch, with the same masks. The process with rank 0 sends its sanitized texts to
        the others, because sanitizing is random. Each process computes the gradient for its share of the texts.

        Args:
            batch: Indices of texts, the same in all processes.
        """
        self._model.train()
        masked = self._mask_texts(batch.numpy())
        self._tokens += int(masked.mask.sum())
        wanted, process = _count_targets(masked), self._process
        if process.rank:
            torch.manual_seed(torch.initial_seed() + process.rank)  # another dropout seed for each process
        total = torch.zeros(1, dtype=torch.float64)
        for number in range(self._accumulate):
            part = masked.take_part(number * process.world_size + process.rank, self._accumulate * process.world_size)
            last = number == self._accumulate - 1
            with nullcontext() if last else process.no_sync(self._wrapped):
                loss = self._sum_loss(part) / wanted
                (loss * process.world_size).backward()  # gradients are averaged over the processes
            total += loss.item()
        return float(process.sum(total))

    def _mask_texts(self, texts: IntArray) -> MaskedBatch:
        places, counts = self._corpus.locate_items(texts)
        original = self._corpus.items[places]
        shown = self._corpus.sanitize_items(places, self._broadcast_outputs) if self.sanitizes else original
        return self._masker(shown, original, self._corpus.words[places], counts)

    def _broadcast_outputs(self, outputs: IntArray) -> IntArray:
        return self._process.broadcast(torch.from_numpy(outputs)).numpy()

    def _sum_loss(self, part: MaskedBatch) -> Tensor:
        """Return the sum of the loss over the targets (masked WordPieces) of a part of a batch."""
        part = part.to(self._process.device)
        at = part.targets != IGNORED
        with torch.autocast(part.ids.device.type, torch.bfloat16, enabled=self._precision == "bfloat16"):
            logits = self._wrapped(part.ids, part.mask, at)
        return functional.cross_entropy(logits.float(), part.targets[at], reduction="sum")

    def start_clock(self) -> None:
        """Set the count of WordPieces and the clock to 0, for ``measure_speed``."""
        self._tokens, self._since = 0, time.perf_counter()

    def measure_speed(self) -> float:
        """Return WordPieces per second since ``start_clock``, over all processes."""
        return round(self._tokens / (time.perf_counter() - self._since), 1)

    def measure_held_out(self, corpus: AlignedCorpus, *, sanitize: bool) -> dict[str, float]:
        """Measure top-1 accuracy and loss at masked positions of held-out texts.

        The masked words are the same in each measurement, and all become [MASK].

        Args:
            corpus: Held-out texts.
            sanitize: Whether to sanitize the model's input with new randomness; otherwise the input is raw text.

        Returns:
            ``top1`` (the accuracy), ``loss`` (the mean per masked position) and ``targets`` (number of masked
            positions).
        """
        self._model.eval()
        process = self._process
        generator = torch.Generator().manual_seed(derive_seed("held out"))
        order = np.argsort(corpus.lengths, kind="stable")
        found = torch.zeros(3, dtype=torch.float64)
        with torch.inference_mode():
            for begin in range(0, len(order), MEASURED_AT_ONCE):
                places, counts = corpus.locate_items(order[begin : begin + MEASURED_AT_ONCE])
                original = corpus.items[places]
                shown = corpus.sanitize_items(places, self._broadcast_outputs) if sanitize else original
                masked = self._masker(shown, original, corpus.words[places], counts, generator, only_masks=True)
                part = masked.take_part(process.rank, process.world_size).to(process.device)
                at = part.targets != IGNORED
                with torch.autocast(part.ids.device.type, torch.bfloat16, enabled=self._precision == "bfloat16"):
                    logits = self._model(part.ids, part.mask, at).float()
                targets = part.targets[at]
                right = (logits.argmax(-1) == targets).sum()
                loss = functional.cross_entropy(logits, targets, reduction="sum")
                found += torch.tensor([right.item(), loss.item(), len(targets)])
        right, loss, wanted = process.sum(found).tolist()
        return {"top1": right / max(1, wanted), "loss": loss / max(1, wanted), "targets": int(wanted)}


def _count_targets(masked: MaskedBatch) -> int:
    return max(1, int((masked.targets != IGNORED).sum()))
