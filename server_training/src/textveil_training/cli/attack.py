"""Define ``textveil-train attack``, which measures what noisy vectors and sanitized text reveal."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from textveil_cli.console import TYPER_SETTINGS, GroupedCommand, expand_option_groups

from textveil_training.cli import attack_text
from textveil_training.cli.options import FormatOption, JsonOption, ReleaseEpsilons, ThreadsOption, set_threads
from textveil_training.cli.progress_lines import report_progress
from textveil_training.terminal_tables import format_table

if TYPE_CHECKING:
    from textveil_training.attacks.vectors import AttributeAttackSettings
    from textveil_training.dpnr.classification_data import ClassificationTask

SEEN = {"vectors": "vectors", "label_response": "label, randomized", "label_channel": "label, best randomizer"}

attack = typer.Typer(add_completion=False, help="Attack noisy vectors, or sanitized text.", **TYPER_SETTINGS)


@attack.callback()
def _attack() -> None:
    """Attack noisy vectors, or sanitized text."""


attack.command("text", cls=GroupedCommand)(expand_option_groups(attack_text.text))


@attack.command("attributes", cls=GroupedCommand)
def attributes(
    data: Annotated[Path, typer.Argument(metavar="PATH", help="Texts with attributes: ag-entities, trustpilot, blog.")],
    format_name: FormatOption,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="FOLDER", help="Checkpoint whose vectors are released here."),
    ] = None,
    features: Annotated[
        Path | None, typer.Option("--features", metavar="FOLDER", help="Stored features of the checkpoint's encoder.")
    ] = None,
    released: Annotated[
        Path | None,
        typer.Option(
            "--released",
            metavar="FOLDER",
            help="train.jsonl, dev.jsonl and test.jsonl, as the command textveil encode --json writes them, in the "
            "order of the texts.",
        ),
    ] = None,
    epsilon: ReleaseEpsilons = None,
    num_epochs: Annotated[int, typer.Option("--num-epochs", min=1, help="Epochs of the attacker's training.")] = 15,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Number of releases of each scored text.")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the attacker's training.")] = 0,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Infer private attributes from noisy vectors, and compare attackers who see only a class label.

    The attacker who sees vectors is a network of 512 hidden units. For comparison, other attackers see only a label,
    which is randomized at the same epsilon: by randomized response, or by the most accurate private randomizer. The
    label before randomization is the class that a linear classifier predicts from the vectors, or with --released the
    true class.
    """
    from textveil_training.attacks.vectors import AttributeAttackSettings, get_attributes, infer_from_frequency
    from textveil_training.dpnr.classification_data import load_classification_task
    from textveil_training.dpnr.recipe import DataSection
    from textveil_training.errors import RecipeError

    if (checkpoint is None) == (released is None):
        raise RecipeError("pass either a checkpoint (--checkpoint) or a folder of released vectors (--released)")
    set_threads(threads)
    task = load_classification_task(
        DataSection(format=format_name, train="train", dev="dev", test="test", dev_percent=0, max_tokens=128), data
    )
    present = get_attributes(task)
    if not all(bits.shape[1] and bits.any(axis=0).all() and not bits.all(axis=0).any() for bits in present.values()):
        raise RecipeError(
            "for each attribute, each split needs texts that have it and texts that do not: pass data with more rows"
        )
    settings = AttributeAttackSettings(num_epochs=num_epochs, draws=draws, seed=seed)
    if released is not None:
        levels = _attack_received(released, task, settings)
    else:
        assert checkpoint is not None  # exactly one of the two options is given
        levels = _attack_checkpoint(checkpoint, features, task, epsilon, settings)
    result = {"levels": levels, "majority": infer_from_frequency(present).to_dict()}
    print(json.dumps(result) if as_json else _format_table(result))


def _attack_checkpoint(
    folder: Path,
    features: Path | None,
    task: "ClassificationTask",
    levels: list[str] | None,
    settings: "AttributeAttackSettings",
) -> dict[str, Any]:
    import tempfile

    from textveil_training.attacks.vectors import attack_checkpoint, get_attributes, infer_attributes
    from textveil_training.dpnr.features import StoredFeatures

    with tempfile.TemporaryDirectory() as cache, report_progress() as report:
        stored = StoredFeatures(folder, task, Path(cache), features, report)
        description = stored.description
        found = stored(description.word_dropout)
    if description.mode == "none":
        vectors = {name: part[0].numpy() for name, part in found.items()}
        ours = infer_attributes(vectors.__getitem__, get_attributes(task), settings)
        return {"none": {"vectors": ours.to_dict()}}
    return {
        level: attack_checkpoint(stored.model, description, found, task, level, settings)
        for level in levels or description.levels
    }


def _attack_received(folder: Path, task: "ClassificationTask", settings: "AttributeAttackSettings") -> dict[str, Any]:
    from textveil_training.attacks.vectors import (
        get_attributes,
        infer_attributes,
        infer_from_label,
        read_released_vectors,
    )
    from textveil_training.errors import InvalidJson
    from textveil_training.label_randomizers import make_counts_randomizer

    read = {
        name: read_released_vectors(folder / f"{name}.jsonl", len(part.texts))
        for name, part in task.get_splits().items()
    }
    stated = {epsilon for _, epsilon in read.values()}
    if len({vectors.shape[1] for vectors, _ in read.values()}) > 1 or len(stated) > 1:
        raise InvalidJson("the files differ in dimension or epsilon: pass releases of one bundle at one epsilon")
    vectors, present = {name: found for name, (found, _) in read.items()}, get_attributes(task)
    epsilon = stated.pop()
    labels = {name: part.labels.numpy() for name, part in task.get_splits().items()}
    ours = infer_attributes(vectors.__getitem__, present, settings)
    other = infer_from_label(labels, present, make_counts_randomizer(len(task.labels), epsilon), seed=settings.seed)
    more = ours.compare(other)
    found = {"vectors": ours.to_dict(), "label_response": other.to_dict()}
    return {f"{epsilon:g}": found | {"over_label_response": vars(more) | {"significant": more.is_significant()}}}


def _format_table(result: dict[str, Any]) -> str:
    rows = [["epsilon", "attacker sees", "1-F at .5", "1-X", "F tuned", "+-", "AUC", "+-"]]
    names = ("privacy", "demographic_privacy", "f_tuned", "f_standard_error", "auc", "auc_standard_error")
    for level, found in result["levels"].items():
        for key, seen in SEEN.items():
            if key in found:
                rows.append([level, seen, *(f"{found[key][name]:.4f}" for name in names)])
    rows.append(["-", "nothing", *(f"{result['majority'][name]:.4f}" for name in names)])
    return format_table(rows)
