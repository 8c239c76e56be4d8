"""Descriptions of index bundles and their guarantees, for the command line."""

import json
from typing import Any

from textveil.bundle import IndexBundle, StaticParts
from textveil.mechanisms.staircase import IndexStaircase
from textveil.vector import IndexStatement

from textveil_cli.collector import condition


def information(bundle: IndexBundle, *, as_json: bool = False) -> str:
    """Describe an index bundle: properties, guarantee of each epsilon, and measurements."""
    levels = [staircase for name in bundle.channels for staircase in bundle.channels[name]]
    parts = bundle.extractor
    facts: dict[str, Any] = {
        "name": bundle.manifest.get("name"),
        "identity": bundle.identity,
        "licence": bundle.manifest.get("licence"),
        "provenance": bundle.manifest.get("provenance"),
        "labels": list(bundle.labels),
        "extractor": bundle.manifest["release"]["extractor"],
        "sentences": [list(those) for those in bundle.sentences],
        "measured": bundle.manifest.get("measured"),
        "levels": [
            {
                "default": staircase is bundle.default,
                **IndexStatement(staircase, bundle.identity).to_dict(),
                "counts": condition(staircase) != float("inf"),
            }
            for staircase in levels
        ],
    }
    if as_json:
        return json.dumps(facts, ensure_ascii=False)
    each = len(bundle.sentences[0]) if bundle.sentences else 0
    words = f"{len(parts.words):,} words" if isinstance(parts, StaticParts) else "a model"
    return "\n".join(
        [
            f"{facts['name']}: a text becomes one of {len(bundle.labels)} indices ({words})",
            f"identity   {bundle.identity}",
            f"license    {facts['licence']}",
            f"labels     {', '.join(bundle.labels)}",
            *([f"sentences  {each * len(bundle.labels)}, {each} for each index (encode --as-text)"] if each else []),
            "",
            "channel   epsilon  accuracy  balanced  worst label   gain  counts",
            *(_line(bundle, staircase) for staircase in levels),
            "",
            "epsilon is for any two texts. gain: how much likelier a right guess of the code gets, on average.",
            "Not protected:",
            *(f"  - {item}" for item in IndexStatement(bundle.default, bundle.identity).not_protected),
        ]
    )


def _line(bundle: IndexBundle, staircase: IndexStaircase) -> str:
    epsilon = f"{staircase.level.epsilon:f}"
    measured = bundle.manifest.get("measured")
    try:
        found = measured["channels"][staircase.level.name][epsilon]  # type: ignore[index]
        figures = [f"{100 * float(found[key]):.1f}%" for key in ("accuracy", "balanced_accuracy", "worst_recall")]
    except (KeyError, TypeError, ValueError):
        figures = ["", "", ""]
    counted = "yes" if condition(staircase) != float("inf") else "no"
    marker = "   default" if staircase is bundle.default else ""
    return (
        f"{staircase.level.name:<9} {epsilon:>7}  {figures[0]:>8}  {figures[1]:>8}  {figures[2]:>11}  "
        f"{staircase.guess_gain:>5.1f}  {counted}{marker}"
    )
