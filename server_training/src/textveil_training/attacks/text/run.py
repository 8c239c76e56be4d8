"""Run all attacks on the texts of a split, sanitized by one mechanism.

The results are stored in a run record of kind ``attack-text``, which is written after each attack.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from textveil.errors import OutputError
from textveil.text import format_epsilon, summarize_levels

from textveil_training.attacks.rates import compute_rates
from textveil_training.attacks.settings import ATTACKS, WITH_MODEL, TextAttackSettings
from textveil_training.attacks.subject import AttackedMechanism
from textveil_training.attacks.text import context_free
from textveil_training.attacks.text.context_free import attack_bayes, attack_nearest, attack_repeated
from textveil_training.attacks.text.hidden_words import HiddenWordInference, attack_frequent, count_hidden_words
from textveil_training.attacks.text.released import ReleasedTexts, release_texts
from textveil_training.attacks.text.template_release import TemplateRelease, read_template, release_templates
from textveil_training.attacks.words import FEWEST_KNOWN, attack_words, read_vectors
from textveil_training.engine.encoders import get_device
from textveil_training.engine.loop import TrainingPosition
from textveil_training.engine.run import RunRecord
from textveil_training.errors import EmptyData, SettingError
from textveil_training.file_hashes import hash_file
from textveil_training.progress import ProgressCallback
from textveil_training.release_terms import describe_release_terms
from textveil_training.token_randomizer import Doubles, Ids, TokenRandomizer

_WITH_WEIGHTS = ("bayes", "repeated", "contextual", "words")
#: Attacks that are defined for each mode; ``None`` is a mechanism without a mode, which randomizes every token.
_DEFINED: dict[str | None, tuple[str, ...]] = {
    None: tuple(name for name in ATTACKS if name != "frequent"),
    "names": ("frequent", "mask"),
    "words": ("frequent", "mask", "words"),
    "all": ("frequent", "mask", "words"),
}


def choose_attacks(
    settings: TextAttackSettings, subject: AttackedMechanism, known: int
) -> tuple[list[str], dict[str, str]]:
    """Select from the requested attacks those that are possible for a mechanism.

    Args:
        settings: The attacks and their settings.
        subject: The mechanism.
        known: Number of raw texts that the attacker knows; some attacks need such texts.

    Returns:
        Names of the attacks to run, and the reason for each skipped attack by its name.

    Raises:
        SettingError: An attack that the settings name explicitly is not defined for the mechanism.
    """
    skipped: dict[str, str] = {}
    if settings.model is None:
        skipped |= dict.fromkeys(WITH_MODEL, "--model names no masked language model")
    if known < FEWEST_KNOWN:
        skipped["words"] = f"the attacker has fewer than {FEWEST_KNOWN} raw texts (--known-texts)"
    if not subject.bundle.santext_levels:
        skipped["nearest"] = "the bundle has no word vectors"
    if subject.randomizer is not None and not subject.randomizer.has_distribution:
        reason = f"{subject.terms.mechanism} has no table of weights (use nearest or mask)"
        skipped |= dict.fromkeys(_WITH_WEIGHTS, reason)
    mode = subject.terms.protect
    skipped |= {name: _explain_undefined(name, mode) for name in ATTACKS if name not in _DEFINED[mode]}
    chosen = [name for name in ATTACKS if name in settings.attacks]
    skipped = {name: skipped[name] for name in chosen if name in skipped}
    if skipped and len(chosen) < len(ATTACKS):
        name, reason = next(iter(skipped.items()))
        raise SettingError(f"the attack {name} cannot run: {reason}")
    return [name for name in chosen if name not in skipped], skipped


def _explain_undefined(name: str, mode: str | None) -> str:
    """Return a sentence: why an attack is impossible in a protection mode, and which attack to use instead."""
    if mode is None:
        return "without a mode every token is randomized, and words have no types (use bayes)"
    if mode == "names":
        return (
            "in the mode 'names' the distribution of a surrogate depends only on the type and form of the word "
            "(use mask or frequent)"
        )
    return (
        f"it attacks single tokens, but in the mode '{mode}' the treatment of a word depends on the text around it "
        "(use words, mask or frequent)"
    )


def describe_attack_run(settings: TextAttackSettings, subject: AttackedMechanism) -> dict[str, Any]:
    """Return the entries of the JSON record of a run that do not depend on the data.

    They are ``settings``; ``release``, the mechanism with its epsilon; and ``start``, the hash of the language model's
    weights.
    """
    terms = subject.terms
    promised = describe_release_terms(terms, subject.bundle)
    if terms.mechanism in ("krr", "random"):
        promised["pure_ldp"] = terms.epsilon
    elif terms.mechanism == "santext" and subject.bundle.certificate is not None:
        levels = summarize_levels(subject.bundle, "santext")
        level = next(level for level in levels if format_epsilon(level.epsilon) == terms.level)
        promised["pure_ldp"] = level.epsilon_pure_ldp
    model = None if settings.model is None else Path(settings.model).name  # the name without the path
    vectors = None if settings.vectors is None else Path(settings.vectors).name
    chosen = asdict(settings) | {"model": model, "vectors": vectors}
    return {"settings": chosen, "release": promised, "start": _hash_model(settings.model)}


def hash_texts(examples: Sequence[Sequence[str]]) -> str:
    """Return the SHA-256 of a sequence of examples, in hexadecimal."""
    found = hashlib.sha256()
    for texts in examples:
        found.update("\t".join((*texts, "\n")).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _hash_model(source: str | None) -> str | None:
    from textveil_training.engine.encoders import locate_encoder

    weights = None if source is None else Path(locate_encoder(source)) / "model.safetensors"
    if weights is None or not weights.is_file():
        return None
    return hash_file(weights)


def attack_texts(
    subject: AttackedMechanism,
    examples: Sequence[Sequence[str]],
    settings: TextAttackSettings,
    report: ProgressCallback,
    *,
    known: Sequence[str] = (),
    prior: Sequence[str] = (),
    device: str = "cpu",
    save: Callable[[dict[str, Any]], None] = lambda result: None,
) -> dict[str, Any]:
    """Sanitize every text once, and run the chosen attacks on the outputs.

    Args:
        subject: The mechanism.
        examples: Texts of each example.
        settings: The attacks and their settings.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        known: Raw texts of the attacker, for the attacks ``words`` and ``frequent``.
        prior: Public texts for the attack ``words``.
        device: Device of the masked language model.
        save: Called after each attack with the result so far.

    Returns:
        The entry ``result`` of a run record: one entry for each attack, ``unchanged`` (the rate of outputs that equal
        the original), and ``skipped``, the attacks that did not run with the reasons.

    Raises:
        EmptyData: No text has a token.
        SettingError: An attack that the settings name explicitly is not defined for the mode, or its input is missing.
        CheckpointError, EncoderMismatch, DeviceError: The model cannot be used.

    Privacy:
        Samples one output of every text, and several outputs of some tokens. Use it only for public texts, or for the
        caller's own.
    """
    wanted, skipped = choose_attacks(settings, subject, len(known))
    result: dict[str, Any] = {"skipped": skipped}
    chosen = _sample_examples(examples, settings)
    if subject.randomizer is not None:
        _run_token_attacks(subject.randomizer, chosen, settings, wanted, result, report, device, save)
    elif {"frequent", "mask"} & set(wanted):
        _run_template_attacks(subject, chosen, known, settings, wanted, result, report, device, save)
    if "words" in wanted:
        try:
            result["words"] = attack_words(
                subject.make_word_release(),
                [text for texts in chosen for text in texts],
                known,
                prior=prior,
                function_words=subject.function_words,
                vocabulary=subject.bundle.symbol_ids,
                vectors=_load_vectors(subject, settings),
                draws=settings.draws,
                report=_make_progress(report, "words"),
            )
        except EmptyData as error:
            if len(settings.attacks) < len(ATTACKS):
                raise
            skipped["words"] = str(error)  # an error here must not discard the results of the other attacks
        save(result)
    return result


def _load_vectors(subject: AttackedMechanism, settings: TextAttackSettings) -> Iterable[tuple[str, Any]] | None:
    if settings.vectors is not None:
        return read_vectors(Path(settings.vectors))
    if not subject.bundle.santext_levels:  # a bundle without SanText has no word vectors
        return None
    return zip(subject.bundle.vocabulary, subject.bundle.metric.rows.astype(np.float32), strict=False)


def _run_token_attacks(
    randomizer: TokenRandomizer,
    examples: Sequence[Sequence[str]],
    settings: TextAttackSettings,
    wanted: Sequence[str],
    result: dict[str, Any],
    report: ProgressCallback,
    device: str,
    save: Callable[[dict[str, Any]], None],
) -> None:
    """Run the attacks that work token by token, and add their results to ``result``.

    Args:
        randomizer: The mechanism.
        examples: Raw texts of each example.
        settings: Settings of the attacks.
        wanted: Names of the attacks to run.
        result: Results so far; changed in place.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        device: Device of the masked language model.
        save: Function that stores the results; called after each attack.
    """
    reader = _open_reader(randomizer, settings, device) if set(wanted) & set(WITH_MODEL) else None
    released = release_texts(randomizer, examples)
    sample = _sample_tokens(released, settings)
    stayed = compute_rates({"unchanged": released.inputs == released.outputs}, released.example, released.sensitive)
    result |= {"texts": len(released.texts), "sampled_tokens": len(sample)}
    result |= stayed | {"unknown_share": round(float((released.inputs == randomizer.unknown_id).mean()), 6)}
    save(result)
    unigrams = context_free.make_priors(released.inputs, randomizer.unknown_id + 1)
    works: dict[str, Callable[[Callable[[int, int], None]], dict[str, Any]]] = {
        "nearest": lambda step: attack_nearest(randomizer.bundle.metric, released, step),
        "bayes": lambda step: attack_bayes(randomizer, released, seed=settings.seed, report=step),
        "repeated": lambda step: attack_repeated(randomizer, released, sample, unigrams, step),
    }
    for name, work in works.items():
        if name in wanted:
            result[name] = work(_make_progress(report, name))
            save(result)
    if reader is not None:
        result |= _run_model_attacks(randomizer, released, sample, unigrams, settings, wanted, reader, device, report)
        save(result)


def _run_template_attacks(
    subject: AttackedMechanism,
    examples: Sequence[Sequence[str]],
    known: Sequence[str],
    settings: TextAttackSettings,
    wanted: Sequence[str],
    result: dict[str, Any],
    report: ProgressCallback,
    device: str,
    save: Callable[[dict[str, Any]], None],
) -> None:
    """Attack the sanitized texts of the modes 'names', 'words' and 'all', and add the results to ``result``.

    Args:
        subject: The mechanism.
        examples: Raw texts of each example.
        known: Raw texts that the attacker knows; may be empty.
        settings: Settings of the attacks.
        wanted: Names of the attacks to run.
        result: Results so far; changed in place.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        device: Device of the masked language model.
        save: Function that stores the results; called after each attack.
    """
    reader = _open_reader(None, settings, device) if "mask" in wanted else None
    released = release_templates(subject, examples)
    sample = _sample_tokens(released, settings)
    result |= {"texts": len(released.texts), "texts_left_out": released.left_out, "sampled_tokens": len(sample)}
    if "frequent" in wanted:
        counts = count_hidden_words(read_template(subject, text) for text in known) if known else None
        result["frequent"] = attack_frequent(
            released, count_hidden_words(released.texts) if counts is None else counts, of_known=counts is not None
        )
        save(result)
    if reader is not None:
        inference = HiddenWordInference(reader, released, sample)
        options: dict[str, Any] = {
            "batch_size": settings.batch_size,
            "precision": settings.precision,
            "device": get_device(device),
        }
        for clean, stage in ((False, "sanitized context"), (True, "raw context")):
            variants = inference.make_variants(clean=clean)
            for numbers, logits in reader.predict_pieces(variants, report=_make_progress(report, stage), **options):
                inference.add_guesses(numbers, logits, clean=clean)
        result["mask"] = inference.compute_result()
        save(result)


def _make_progress(report: ProgressCallback, name: str) -> Callable[[int, int], None]:
    return lambda done, total: report(name, done, total)


def _open_reader(randomizer: TokenRandomizer | None, settings: TextAttackSettings, device: str) -> Any:
    from textveil_training.attacks.text.masked_lm_reader import MaskedLMReader
    from textveil_training.engine.encoders import get_device

    get_device(device)  # check the device before slow steps
    assert settings.model is not None  # choose_attacks skips these attacks without a model
    return MaskedLMReader(randomizer, settings.model, settings.max_tokens)


def _run_model_attacks(
    randomizer: TokenRandomizer,
    released: ReleasedTexts,
    sample: Ids,
    unigrams: Mapping[str, Doubles],
    settings: TextAttackSettings,
    wanted: Sequence[str],
    reader: Any,
    device: str,
    report: ProgressCallback,
) -> dict[str, Any]:
    """Run the two attacks that use a masked language model, ``mask`` and ``contextual``.

    Both use the model's logits in the sanitized texts, which are computed once.

    Args:
        randomizer: The mechanism.
        released: Raw texts with one sanitized output each.
        sample: Indices of the attacked tokens.
        unigrams: Prior probabilities of the words by name (``zipf``, ``text``), shape ``(inputs,)`` each.
        settings: Settings of the attacks.
        wanted: Names of the attacks to run.
        reader: The masked language model, a ``MaskedLMReader``.
        device: Device of the model.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Returns:
        The result of each attack that ``wanted`` names, by the name of the attack.
    """
    from textveil_training.attacks.text.masked_lm_attacks import ContextualBayes, MaskInference
    from textveil_training.engine.encoders import get_device

    options: dict[str, Any] = {
        "batch_size": settings.batch_size,
        "precision": settings.precision,
        "device": get_device(device),
    }
    mask = MaskInference(reader, released, sample) if "mask" in wanted else None
    contextual = None
    if "contextual" in wanted:
        contextual = ContextualBayes(randomizer, reader, released, sample, unigrams)
    variants = reader.make_variants(released, sample, clean=False)
    for numbers, logits in reader.predict_pieces(
        variants, report=_make_progress(report, "sanitized context"), **options
    ):
        if mask is not None:
            mask.add_guesses(numbers, logits, clean=False)
        if contextual is not None:
            contextual.rank_tokens(numbers, logits)
    if mask is not None:
        variants = reader.make_variants(released, sample, clean=True)
        for numbers, logits in reader.predict_pieces(variants, report=_make_progress(report, "raw context"), **options):
            mask.add_guesses(numbers, logits, clean=True)
    found = {"mask": mask, "contextual": contextual}
    return {name: part.compute_result() for name, part in found.items() if part is not None}


def _sample_examples(examples: Sequence[Sequence[str]], settings: TextAttackSettings) -> list[Sequence[str]]:
    if not settings.texts or len(examples) <= settings.texts:
        return list(examples)
    chosen = np.random.default_rng([settings.seed, 1]).choice(len(examples), settings.texts, replace=False)
    numbers: list[int] = np.sort(chosen).tolist()
    return [examples[number] for number in numbers]


def _sample_tokens(released: ReleasedTexts | TemplateRelease, settings: TextAttackSettings) -> Ids:
    if len(released) <= settings.tokens:
        return np.arange(len(released))
    return np.sort(np.random.default_rng([settings.seed, 2]).choice(len(released), settings.tokens, replace=False))


KIND = "attack-text"


def run_and_record(
    subject: AttackedMechanism,
    examples: Sequence[Sequence[str]],
    settings: TextAttackSettings,
    source: tuple[str, str | None],
    report: ProgressCallback,
    *,
    known: Sequence[str] = (),
    prior: Sequence[str] = (),
    output: Path | None = None,
    device: str = "cpu",
) -> dict[str, Any]:
    """Sanitize texts, attack the outputs, and write the results so far to a JSON file after each attack.

    Args:
        subject: The mechanism.
        examples: Texts of each example.
        settings: The attacks and their settings.
        source: Name of the format, and name of the split (``None`` for data without splits).
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        known: Raw texts of the attacker, for the attacks ``words`` and ``frequent``.
        prior: Public texts for the attack ``words``.
        output: File of the record; ``None`` to write no file.
        device: Device of the masked language model, ``cpu`` or a CUDA device.

    Returns:
        The record.

    Raises:
        OutputError: The record cannot be written, or its file exists already.
        TextveilError: ``attack_texts`` failed.

    Privacy:
        Samples outputs of every text, like ``attack_texts``. The written record contains figures and no text.
    """
    if output is not None and output.exists():
        raise OutputError("the record exists already: choose another file with -o")
    choose_attacks(settings, subject, len(known))  # find errors before a record is written
    format_name, split = source
    data = {
        "format": format_name,
        "splits": {split or "all": {"examples": len(examples), "sha256": hash_texts(examples)}},
    }
    for name, texts in (("known", known), ("prior", prior)):
        if texts:
            data[name] = {"texts": len(texts), "sha256": hash_texts([texts])}
    about = describe_attack_run(settings, subject) | {"kind": KIND, "data": data}
    record = RunRecord(output, about, get_device(device))
    since = time.monotonic(), time.process_time()

    def save(result: dict[str, Any]) -> None:
        record.content["result"] = result
        record.update(TrainingPosition(wall_s=time.monotonic() - since[0], cpu_s=time.process_time() - since[1]))

    record.finish(attack_texts(subject, examples, settings, report, known=known, prior=prior, device=device, save=save))
    return record.content
