"""All attacks on the texts of a split, sanitized by one mechanism.

The run record of the attacks on text: kind ``attack-text``, written after each attack.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from textveil.errors import OutputError
from textveil.text import epsilon_text, summaries

from textveil_training.attacks.rates import rates_of
from textveil_training.attacks.settings import ATTACKS, WITH_MODEL, Settings
from textveil_training.attacks.subject import Subject
from textveil_training.attacks.text import context_free
from textveil_training.attacks.text.context_free import bayes, nearest, repeated
from textveil_training.attacks.text.released import Released, release
from textveil_training.attacks.words import attack_words, read_vectors
from textveil_training.engine.encoders import device_named
from textveil_training.engine.loop import Position
from textveil_training.engine.run import RunRecord
from textveil_training.file_hashes import sha256
from textveil_training.progress import Report
from textveil_training.token_randomizer import Doubles, Ids, TextChannel

_BY_TOKEN = ATTACKS[:-1]
#: Texts that an attacker of words has at least.
FEWEST_KNOWN = 40
_WITH_WEIGHTS = ("bayes", "repeated", "contextual", "words")


def possible(settings: Settings, subject: Subject, known: int) -> tuple[list[str], dict[str, str]]:
    """Returns the attacks that are possible on a mechanism, and by name why the others are not."""
    skipped: dict[str, str] = {}
    if settings.model is None:
        skipped |= dict.fromkeys(WITH_MODEL, "no masked language model was named")
    if known < FEWEST_KNOWN:
        skipped["words"] = f"the attacker has fewer than {FEWEST_KNOWN} raw texts (--known)"
    if not subject.bundle.levels:
        skipped["nearest"] = "the bundle carries no embedding rows"
    if subject.channel is None:
        skipped |= dict.fromkeys(_BY_TOKEN, "the staircase does not work token by token")
    elif not subject.channel.weighted:
        reason = f"{subject.plan.terms.mechanism} has no table of weights"
        skipped |= dict.fromkeys(_WITH_WEIGHTS, reason)
    chosen = [name for name in ATTACKS if name in settings.attacks]
    return [name for name in chosen if name not in skipped], {n: skipped[n] for n in chosen if n in skipped}


def describe(settings: Settings, subject: Subject) -> dict[str, Any]:
    """Returns what a record says of a run apart from its data: settings, release, hash of the model's weights."""
    channel = subject.channel
    terms = subject.plan.terms
    promised = channel.release if channel is not None else {**asdict(terms), **vars(terms.promise)}
    promised.pop("promise", None)  # its parts stand beside the others
    promised = {name: str(value) if isinstance(value, Decimal) else value for name, value in promised.items()}
    promised["bundle_name"] = subject.bundle.manifest.get("name")
    if terms.mechanism in ("krr", "random"):
        promised["pure_ldp"] = terms.epsilon
    elif terms.mechanism == "santext" and subject.bundle.certificate is not None:
        levels = summaries(subject.bundle, "santext")
        level = next(level for level in levels if epsilon_text(level.epsilon) == terms.level)
        promised["pure_ldp"] = level.epsilon_pure_ldp
    model = None if settings.model is None else Path(settings.model).name  # not where it lies
    vectors = None if settings.vectors is None else Path(settings.vectors).name
    chosen = asdict(settings) | {"model": model, "vectors": vectors}
    return {"settings": chosen, "release": promised, "start": _model_hash(settings.model)}


def digest(examples: Sequence[Sequence[str]]) -> str:
    """Returns the SHA-256 of some texts."""
    found = hashlib.sha256()
    for texts in examples:
        found.update("\t".join((*texts, "\n")).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _model_hash(source: str | None) -> str | None:
    from textveil_training.engine.encoders import encoder_folder

    weights = None if source is None else Path(encoder_folder(source)) / "model.safetensors"
    if weights is None or not weights.is_file():
        return None
    return sha256(weights)


def attack(
    subject: Subject,
    examples: Sequence[Sequence[str]],
    settings: Settings,
    report: Report,
    *,
    known: Sequence[str] = (),
    prior: Sequence[str] = (),
    device: str = "cpu",
    save: Callable[[dict[str, Any]], None] = lambda result: None,
) -> dict[str, Any]:
    """Releases every text once and attacks the outputs.

    Args:
        subject: The mechanism.
        examples: Texts of each example.
        settings: The attacks and their settings.
        report: Called with a stage, the steps done and the steps in all.
        known: Raw texts that the attacker of words has.
        prior: Public texts that it has too.
        device: Device of the masked language model.
        save: Called with the result so far after each attack.

    Returns:
        The ``result`` of a record: one part for each attack, ``unchanged``, and ``skipped`` with reasons.

    Raises:
        EmptyData: No text has a token.
        CheckpointError, EncoderMismatch, SettingError, DeviceError: The model cannot be used.

    Privacy:
        A release of every text, and several releases of some tokens: only for public text, or the caller's own.
    """
    wanted, skipped = possible(settings, subject, len(known))
    result: dict[str, Any] = {"skipped": skipped}
    chosen = _chosen_examples(examples, settings)
    if subject.channel is not None:
        _by_token(subject.channel, chosen, settings, wanted, result, report, device, save)
    if "words" in wanted:
        result["words"] = attack_words(
            subject.release(),
            [text for texts in chosen for text in texts],
            known,
            prior=prior,
            function_words=subject.function_words,
            vocabulary=subject.bundle.ids,
            vectors=_vectors(subject, settings),
            draws=settings.draws,
            report=_stage(report, "words"),
        )
        save(result)
    return result


def _vectors(subject: Subject, settings: Settings) -> Iterable[tuple[str, Any]] | None:
    if settings.vectors is not None:
        return read_vectors(Path(settings.vectors))
    if not subject.bundle.levels:  # no SanText, and so no rows
        return None
    return zip(subject.bundle.vocabulary, subject.bundle.metric.rows.astype(np.float32), strict=False)


def _by_token(
    channel: TextChannel,
    examples: Sequence[Sequence[str]],
    settings: Settings,
    wanted: Sequence[str],
    result: dict[str, Any],
    report: Report,
    device: str,
    save: Callable[[dict[str, Any]], None],
) -> None:
    """Adds to a result what the attacks find that work token by token."""
    reader = _reader(channel, settings, device) if set(wanted) & set(WITH_MODEL) else None
    released = release(channel, examples)
    sample = _chosen_tokens(released, settings)
    stayed = rates_of({"unchanged": released.inputs == released.outputs}, released.example, released.sensitive)
    result |= {"texts": len(released.texts), "sampled_tokens": len(sample)}
    result |= stayed | {"unknown_share": round(float((released.inputs == channel.unknown).mean()), 6)}
    save(result)
    unigrams = context_free.both(released.inputs, channel.unknown + 1)
    works: dict[str, Callable[[Callable[[int, int], None]], dict[str, Any]]] = {
        "nearest": lambda step: nearest(channel.bundle.metric, released, step),
        "bayes": lambda step: bayes(channel, released, seed=settings.seed, report=step),
        "repeated": lambda step: repeated(channel, released, sample, unigrams, step),
    }
    for name, work in works.items():
        if name in wanted:
            result[name] = work(_stage(report, name))
            save(result)
    if reader is not None:
        result |= _with_model(channel, released, sample, unigrams, settings, wanted, reader, device, report)
        save(result)


def _stage(report: Report, name: str) -> Callable[[int, int], None]:
    return lambda done, total: report(name, done, total)


def _reader(channel: TextChannel, settings: Settings, device: str) -> Any:
    from textveil_training.attacks.text.masked_lm_reader import Reader
    from textveil_training.engine.encoders import device_named

    device_named(device)  # before anything takes time
    assert settings.model is not None  # or these attacks would have been skipped
    return Reader(channel, settings.model, settings.max_tokens)


def _with_model(
    channel: TextChannel,
    released: Released,
    sample: Ids,
    unigrams: Mapping[str, Doubles],
    settings: Settings,
    wanted: Sequence[str],
    reader: Any,
    device: str,
    report: Report,
) -> dict[str, Any]:
    """Runs mask-token inference and the contextual attack, which share the model's logits in the sanitized texts."""
    from textveil_training.attacks.text.masked_lm_attacks import ContextualBayes, MaskInference
    from textveil_training.engine.encoders import device_named

    options: dict[str, Any] = {
        "batch_size": settings.batch_size,
        "precision": settings.precision,
        "device": device_named(device),
    }
    mask = MaskInference(reader, released, sample) if "mask" in wanted else None
    contextual = None
    if "contextual" in wanted:
        contextual = ContextualBayes(channel, reader, released, sample, unigrams)
    variants = reader.variants(released, sample, clean=False)
    for numbers, logits in reader.logits(variants, report=_stage(report, "sanitized context"), **options):
        if mask is not None:
            mask.take(numbers, logits, clean=False)
        if contextual is not None:
            contextual.take(numbers, logits)
    if mask is not None:
        variants = reader.variants(released, sample, clean=True)
        for numbers, logits in reader.logits(variants, report=_stage(report, "raw context"), **options):
            mask.take(numbers, logits, clean=True)
    found = {"mask": mask, "contextual": contextual}
    return {name: part.result() for name, part in found.items() if part is not None}


def _chosen_examples(examples: Sequence[Sequence[str]], settings: Settings) -> list[Sequence[str]]:
    if not settings.texts or len(examples) <= settings.texts:
        return list(examples)
    chosen = np.random.default_rng([settings.seed, 1]).choice(len(examples), settings.texts, replace=False)
    numbers: list[int] = np.sort(chosen).tolist()
    return [examples[number] for number in numbers]


def _chosen_tokens(released: Released, settings: Settings) -> Ids:
    if len(released) <= settings.tokens:
        return np.arange(len(released))
    return np.sort(np.random.default_rng([settings.seed, 2]).choice(len(released), settings.tokens, replace=False))


KIND = "attack-text"


def run_and_record(
    subject: Subject,
    examples: Sequence[Sequence[str]],
    settings: Settings,
    source: tuple[str, str | None],
    report: Report,
    *,
    known: Sequence[str] = (),
    prior: Sequence[str] = (),
    output: Path | None = None,
    device: str = "cpu",
) -> dict[str, Any]:
    """Attacks some texts and keeps a record, which is written after each attack.

    Args:
        subject: The mechanism.
        examples: Texts of each example.
        settings: The attacks and their settings.
        source: Name of the format, and of the split or None.
        report: Called with a stage, the steps done and the steps in all.
        known: Raw texts that the attacker of words has.
        prior: Public texts that it has too.
        output: File of the record, or None to write none.
        device: Device of the masked language model, ``cpu`` or a CUDA device.

    Returns:
        The record.

    Raises:
        OutputError: The record cannot be written, or there is a file already.
        TextveilError: As ``attack``.

    Privacy:
        As ``attack``. No text is in a record.
    """
    if output is not None and output.exists():
        raise OutputError("there is a file of that name already")
    format_name, split = source
    data = {"format": format_name, "splits": {split or "all": {"examples": len(examples), "sha256": digest(examples)}}}
    for name, texts in (("known", known), ("prior", prior)):
        if texts:
            data[name] = {"texts": len(texts), "sha256": digest([texts])}
    about = describe(settings, subject) | {"kind": KIND, "data": data}
    record = RunRecord(output, about, device_named(device))
    since = time.monotonic(), time.process_time()

    def save(result: dict[str, Any]) -> None:
        record.content["result"] = result
        record.update(Position(wall_s=time.monotonic() - since[0], cpu_s=time.process_time() - since[1]))

    record.finish(attack(subject, examples, settings, report, known=known, prior=prior, device=device, save=save))
    return record.content
