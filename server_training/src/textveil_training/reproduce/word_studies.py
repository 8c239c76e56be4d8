"""Reproduce Tables 1 and 3 and Figure 4 of Yue and others (2021).

They are about models that are trained on sanitized text, and about attacks on sanitized text.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from textveil import Sanitizer
from textveil.storage import open_atomic_text

from textveil_training.attacks.settings import TextAttackSettings
from textveil_training.attacks.subject import AttackedMechanism
from textveil_training.attacks.text.run import attack_texts
from textveil_training.data import LabeledExample, list_splits, load_examples
from textveil_training.engine.run import RunOptions, list_software
from textveil_training.finetune.finetuning_data import (
    FinetuningSplit,
    FinetuningTask,
    load_finetuning_task,
    make_finetuning_split,
)
from textveil_training.finetune.settings import FinetuningSettings
from textveil_training.finetune.train import finetune
from textveil_training.pretrain.aligned_corpus import ModeTexts
from textveil_training.pretrain.pretraining_data import SourceTexts
from textveil_training.pretrain.settings import PretrainingSettings
from textveil_training.pretrain.train import pretrain
from textveil_training.reproduce.bundles import WordBundle, build_word_bundle
from textveil_training.reproduce.inputs import (
    SAMPLE_ATTRIBUTES,
    ReproductionInputs,
    describe_inputs,
    get_format_name,
    read_sample,
)
from textveil_training.reproduce.published import PublishedStudy
from textveil_training.reproduce.results import ReproducedRow, Reproduction
from textveil_training.token_randomizer import TokenRandomizer

EPSILONS = ("1", "2", "3")
"""The paper's epsilons, per unit of its vectors."""
MECHANISMS = ("santext", "santext+", "fbdd")
ATTACKED = ("1", "2", "3")
_SAMPLE_TEXTS, _SAMPLE_STEPS = 60, 20
_MODES = ("names", "words")
_ATTACKED_TEXTS = 300


def measure_utility(study: PublishedStudy, inputs: ReproductionInputs) -> Reproduction:
    """Measure the accuracy of a model that is trained and tested on sanitized text (Table 1 of Yue et al. 2021)."""
    task = load_study_task(study, inputs)
    bundle = build_word_bundle(inputs, EPSILONS)
    kept = FinishedParts(study, task, inputs)

    def measure(name: str, options: Mapping[str, Any] | None) -> dict[str, Any]:
        inputs.report(f"{name}: sanitizing", 0, 1)
        data = task if options is None else sanitize_task(task, Sanitizer.load(bundle.folder), options)
        reported = replace(inputs, report=lambda stage, *steps: inputs.report(f"{name}: {stage}", *steps))
        return _run_finetune(data, reported, 0, tuned=False)["test"]

    result = kept.compute_once(["unsanitized"], lambda: measure("unsanitized", None))
    rows = [_make_cell("unsanitized", result, "", None)]
    for mechanism in MECHANISMS:
        for epsilon in EPSILONS:
            name, options = f"{mechanism}, epsilon {epsilon}", _make_options(bundle, mechanism, epsilon)
            result = kept.compute_once([name], partial(measure, name, options))
            rows.append(_make_cell(name, result, mechanism, float(epsilon)))
    return Reproduction(
        rows=rows,
        axes=("epsilon per unit of the vectors", next(iter(rows[0].figures))),
        notes=[_describe_task(task), _describe_bundle(bundle)],
        facts=_collect_facts(task, bundle, study, inputs),
    )


def measure_pretraining(study: PublishedStudy, inputs: ReproductionInputs) -> Reproduction:
    """Measure whether pretraining on sanitized public text improves accuracy (Table 3 of Yue et al. 2021).

    The text is sanitized by the mechanism SanText, and in two protection modes.
    """
    task = load_study_task(study, inputs)
    bundle = build_word_bundle(inputs, EPSILONS[-1:])
    steps = min(inputs.steps, _SAMPLE_STEPS) if inputs.uses_sample else inputs.steps
    inputs = replace(inputs, steps=steps)
    texts = [text for row in task.splits["train"].texts for text in row]
    kept, column = FinishedParts(study, task, inputs), "Pearson's r" if task.has_scores else "accuracy"
    rows = []
    for name, (sanitizer, options) in list_releases(bundle).items():
        sanitized = sanitize_task(task, sanitizer, options)
        randomizer = (
            TokenRandomizer(bundle.folder, **options) if "protect" not in options else ModeTexts(sanitizer, options)
        )
        pairs = []
        for seed in range(inputs.seeds):
            inputs.report(f"{name}, seeds", seed, inputs.seeds)
            measure = partial(_measure_pair, name, texts, randomizer, sanitized, inputs, seed)
            pairs.append(kept.compute_once([name, seed], measure))
        without, pretrained = np.array(pairs).T
        gains = pretrained - without
        for position, (start, found) in enumerate((("no pretraining", without), ("pretrained", pretrained))):
            error = float(np.std(found, ddof=1)) if len(found) > 1 else None
            row, figures = f"{name}: {start}", {column: float(np.mean(found))}
            rows.append(ReproducedRow(name=row, figures=figures, error=error, series=name, position=position))
        error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else None
        rows.append(ReproducedRow(name=f"{name}: gain", figures={"gain": float(gains.mean())}, error=error))
    return Reproduction(
        rows=rows,
        axes=("0: no pretraining, 1: pretrained", column),
        notes=[
            _describe_task(task),
            _describe_bundle(bundle),
            f"Each pretraining has {steps} steps of 64 texts of the training split, sanitized; the targets are "
            f"the original words. Number of seeds: {inputs.seeds}, each with a pretraining and two fine-tunings. "
            "Behind ± of a gain is the standard error over seeds, else the standard deviation.",
        ],
        facts=_collect_facts(task, bundle, study, inputs) | {"steps": inputs.steps, "seeds": inputs.seeds},
    )


def list_releases(bundle: WordBundle) -> dict[str, tuple[Sanitizer, Any]]:
    """Return the ways to sanitize text for pretraining, by name: a sanitizer, and the options of its calls."""
    santext = Sanitizer.load(bundle.folder), _make_options(bundle, "santext", "3")
    return {"santext, epsilon 3": santext} | {mode: (Sanitizer.load(), {"protect": mode}) for mode in _MODES}


def _measure_pair(
    name: str, texts: Sequence[str], randomizer: Any, sanitized: FinetuningTask, inputs: ReproductionInputs, seed: int
) -> tuple[float, float]:
    """Fine-tune a model for one seed, without and with pretraining, and return the two test scores in this order."""
    without = _finetune(sanitized, inputs, seed, tuned=True)
    model = _pretrain(name, texts, randomizer, inputs, seed)
    return without, _finetune(sanitized, replace(inputs, model=str(model)), seed, tuned=True)


class FinishedParts:
    """Cache of finished results in the folder of ``--work``, so that a restarted run does not compute them again.

    Args:
        study: The table or figure of a paper that is computed again.
        task: Data of the study before sanitization.
        inputs: Inputs of the study.
    """

    def __init__(self, study: PublishedStudy, task: FinetuningTask, inputs: ReproductionInputs) -> None:
        described = describe_inputs(study, inputs)
        del described["seeds"]  # without the number of seeds, so that a run with more seeds uses the finished ones
        data = [rows.sha256 for rows in task.splits.values()]
        self._folder, self._subject = inputs.work, [study.name, described, inputs.model, data, list_software()]

    def compute_once(self, part: Sequence[str | int], compute: Callable[[], Any]) -> Any:
        """Return the result of one part of a study: read from the cache, or computed and stored if missing.

        The name of the file contains a hash of the part, of the data and of all inputs.

        Args:
            part: Values that identify the part.
            compute: Function that computes the result.
        """
        key = json.dumps([*self._subject, *part], sort_keys=True).encode()
        path = self._folder / f"part-{hashlib.sha256(key).hexdigest()[:16]}.json"
        if not path.is_file():
            found = compute()
            with open_atomic_text(path) as write:
                write(json.dumps(found) + "\n")
        return json.loads(path.read_text("utf-8"))


def measure_attacks(study: PublishedStudy, inputs: ReproductionInputs) -> Reproduction:
    """Measure how many words an attacker recovers from context or repeated outputs (Figure 4 of Yue et al. 2021)."""
    bundle = build_word_bundle(inputs, ATTACKED)
    texts = _read_attacked(study, inputs)
    if inputs.uses_sample and inputs.model == "minilm":  # train a head, which MiniLM lacks
        sample = [text for row in read_sample() for text in row.texts]
        inputs = replace(inputs, model=str(_pretrain("attacker", sample, None, replace(inputs, steps=_SAMPLE_STEPS))))
    has_model = inputs.model != "minilm"
    chosen = ("repeated", "mask") if has_model else ("repeated",)
    settings = TextAttackSettings(
        model=inputs.model if has_model else None, attacks=chosen, tokens=400 if inputs.uses_sample else 2_000
    )
    rows = []
    for mechanism in ("santext", "santext+"):
        for epsilon in ATTACKED:
            subject = AttackedMechanism(bundle.folder, **_make_options(bundle, mechanism, epsilon))
            found = attack_texts(subject, texts, settings, inputs.report)
            figures: dict[str, float] = {}
            if has_model:
                figures["defense rate of the mask attack"] = 100 * float(found["mask"]["defense"])
            for number, rates in found["repeated"].items():
                figures[f"recovered from {number}"] = 100 * float(rates["rate"])
            name = f"{mechanism}, epsilon {epsilon}"
            rows.append(ReproducedRow(name=name, figures=figures, series=mechanism, position=float(epsilon)))
    notes = [] if has_model else ["The mask attack was skipped: pass a masked language model with --model."]
    return Reproduction(
        rows=rows,
        axes=("epsilon per unit of the vectors", next(iter(rows[0].figures)) + ", per cent of tokens"),
        notes=[
            _describe_bundle(bundle),
            f"{len(texts)} texts; at most {settings.tokens} tokens.",
            "All figures are per cent of tokens. The defense rate is the share that the mask attack does not name; "
            "recovered from n is the share that an attacker names from n releases of a text.",
            *notes,
        ],
        facts={"texts": len(texts), "median_distance": bundle.median, "words": bundle.words},
    )


def load_study_task(study: PublishedStudy, inputs: ReproductionInputs) -> FinetuningTask:
    """Load the labeled texts of a study (a table of a paper); without ``--data`` load the built-in sample of messages.

    Raises:
        DataError: The data cannot be read, or have too few rows.
    """
    if inputs.data is not None:
        return load_finetuning_task(get_format_name(study, inputs), inputs.data, train_examples=inputs.examples)
    rows = read_sample()
    labels = tuple(sorted({row.label for row in rows}))
    parts: dict[str, Sequence[LabeledExample]] = {"train": rows[:304], "dev": rows[304:404], "test": rows[404:]}
    return FinetuningTask(
        labels=labels,
        pairs=False,
        splits={name: make_finetuning_split(part, labels, len(SAMPLE_ATTRIBUTES)) for name, part in parts.items()},
    )


def sanitize_task(task: FinetuningTask, sanitizer: Sanitizer, options: Mapping[str, Any]) -> FinetuningTask:
    """Sanitize all texts of a task, with the same options in every split.

    Privacy:
        Samples one output of every text. Use it only for public texts, or for the caller's own.
    """
    splits: dict[str, FinetuningSplit] = {}
    for name, rows in task.splits.items():
        flat = [text for row in rows.texts for text in row]
        found = iter(result.text for result in sanitizer.sanitize_batch(flat, **options))  # type: ignore[arg-type]
        splits[name] = replace(rows, texts=tuple(tuple(next(found) for _ in row) for row in rows.texts))
    return replace(task, splits=splits)


def _make_options(bundle: WordBundle, mechanism: str, epsilon: str) -> dict[str, Any]:
    level = bundle.convert_epsilon(epsilon) if mechanism == "fbdd" else bundle.levels[epsilon]
    return {"mechanism": mechanism, "epsilon": level}


def _make_cell(name: str, result: Mapping[str, Any], series: str, position: float | None) -> ReproducedRow:
    if "pearson" in result:
        return ReproducedRow(name=name, figures={"Pearson's r": result["pearson"]}, series=series, position=position)
    return ReproducedRow(
        name=name,
        figures={"accuracy": 100 * result["accuracy"]},
        error=100 * result["standard_error"],
        series=series,
        position=position,
    )


def _finetune(task: FinetuningTask, inputs: ReproductionInputs, seed: int, *, tuned: bool) -> float:
    result = _run_finetune(task, inputs, seed, tuned=tuned)["test"]
    return float(result["pearson"] if task.has_scores else 100 * result["accuracy"])


def _run_finetune(task: FinetuningTask, inputs: ReproductionInputs, seed: int, *, tuned: bool) -> dict[str, Any]:
    """Fine-tune an encoder, or fit a linear model to its vectors, in a temporary folder.

    The result is the run record.
    """
    folder = inputs.work / "finetuned"
    shutil.rmtree(folder, ignore_errors=True)
    settings = FinetuningSettings(
        encoder=inputs.model,
        tuned=tuned,
        max_tokens=inputs.max_tokens,
        num_epochs=1,
        learning_rate=1e-4,
        batch_size=32,
        seed=seed,
    )
    about: dict[str, object] = {"data": {}, "release": None}
    record = finetune(settings, task, about, RunOptions(folder), inputs.report)
    shutil.rmtree(folder, ignore_errors=True)
    return record["result"]


def _pretrain(name: str, texts: Sequence[str], randomizer: Any, inputs: ReproductionInputs, seed: int = 0) -> Path:
    folder = inputs.work / f"pretrained-{name.split(',')[0]}"
    shutil.rmtree(folder, ignore_errors=True)
    settings = PretrainingSettings(
        start=inputs.model, steps=inputs.steps, max_tokens=min(64, inputs.max_tokens), batch_size=64, seed=seed
    )
    torch.manual_seed(seed)
    sources = SourceTexts(tuple(texts), (), None)
    pretrain(settings, sources, randomizer, RunOptions(folder), raw=randomizer is None, report=inputs.report)
    return folder


def _read_attacked(study: PublishedStudy, inputs: ReproductionInputs) -> list[tuple[str, ...]]:
    if inputs.data is None:
        return [row.texts for row in read_sample()[:_SAMPLE_TEXTS]]
    name = get_format_name(study, inputs)
    split = "dev" if "dev" in list_splits(name, inputs.data) else None
    texts = [row.texts for row in load_examples(name, inputs.data, split)]
    return texts[: inputs.examples or _ATTACKED_TEXTS]


def _describe_task(task: FinetuningTask) -> str:
    sizes = " / ".join(f"{len(rows.texts):,}" for rows in task.splits.values())
    return f"Rows ({' / '.join(task.splits)}): {sizes}. Train and test are sanitized alike."


def _describe_bundle(bundle: WordBundle) -> str:
    return (
        f"{bundle.words:,} words; the median distance of two is {bundle.median:.3f}, so that the paper's epsilon 3 is "
        f"{3 * bundle.median:.2f} per median distance."
    )


def _collect_facts(
    task: FinetuningTask, bundle: WordBundle, study: PublishedStudy, inputs: ReproductionInputs
) -> dict[str, Any]:
    name = "sample" if inputs.data is None else get_format_name(study, inputs)
    return {"data": task.describe(name), "median_distance": bundle.median, "words": bundle.words}
