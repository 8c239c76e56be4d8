"""Describe bundles (folders with a model) that encode a text as a randomized class label."""

import json
from typing import Any

from textveil.bundle import LabelBundle, StaticExtractorData
from textveil.mechanisms.staircase import LabelStaircase
from textveil.vector import LabelStatement

from textveil_cli.aggregation import compute_condition_number


def describe_label_bundle(bundle: LabelBundle, *, as_json: bool = False) -> str:
    """Describe a bundle for class labels as text or JSON: contents, guarantee of each epsilon, and measurements."""
    levels = [staircase for name in bundle.randomizers for staircase in bundle.randomizers[name]]
    parts = bundle.extractor
    facts: dict[str, Any] = {
        "name": bundle.manifest.get("name"),
        "content_hash": bundle.content_hash,
        "license": bundle.manifest.get("license"),
        "provenance": bundle.manifest.get("provenance"),
        "labels": list(bundle.labels),
        "extractor": bundle.manifest["release"]["extractor"],
        "sentences": [list(those) for those in bundle.sentences],
        "measurements": bundle.manifest.get("measurements"),
        "epsilons": [
            {
                "default": staircase is bundle.default_randomizer,
                **LabelStatement(staircase, bundle.content_hash).to_dict(),
                "can_count": compute_condition_number(staircase) != float("inf"),
            }
            for staircase in levels
        ],
    }
    if as_json:
        return json.dumps(facts, ensure_ascii=False)
    sentences_per_label = len(bundle.sentences[0]) if bundle.sentences else 0
    words = f"{len(parts.words):,} words" if isinstance(parts, StaticExtractorData) else "a model"
    return "\n".join(
        [
            f"{facts['name']}: a text becomes one of {len(bundle.labels)} class labels ({words})",
            f"content hash  {bundle.content_hash}",
            f"license       {facts['license']}",
            f"labels        {', '.join(bundle.labels)}",
            *(
                [
                    f"sentences     {sentences_per_label * len(bundle.labels)}, {sentences_per_label} per class label "
                    "(encode --as-text)"
                ]
                if sentences_per_label
                else []
            ),
            "",
            "randomizer  epsilon  accuracy  balanced  worst label   gain  counts",
            *(_format_level(bundle, staircase) for staircase in levels),
            "",
            "epsilon is per text. gain: average factor by which the probability of guessing the class label grows.",
            "Not protected:",
            *(f"  - {item}" for item in LabelStatement(bundle.default_randomizer, bundle.content_hash).not_protected),
        ]
    )


def _format_level(bundle: LabelBundle, staircase: LabelStaircase) -> str:
    epsilon = f"{staircase.level.epsilon:f}"
    measured = bundle.manifest.get("measurements")
    try:
        accuracies = measured["randomizers"][staircase.level.name][epsilon]  # type: ignore[index]
        figures = [f"{100 * float(accuracies[key]):.1f}%" for key in ("accuracy", "balanced_accuracy", "worst_recall")]
    except (KeyError, TypeError, ValueError):
        figures = ["", "", ""]
    can_count = "yes" if compute_condition_number(staircase) != float("inf") else "no"
    marker = "   default" if staircase is bundle.default_randomizer else ""
    return (
        f"{staircase.level.name:<11} {epsilon:>7}  {figures[0]:>8}  {figures[1]:>8}  {figures[2]:>11}  "
        f"{staircase.guess_gain:>5.1f}  {can_count}{marker}"
    )
