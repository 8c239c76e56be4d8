"""SanText's part of a bundle: the laws and weights of its levels, and the labels that a certificate carries."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from damaged import JSON, read_json, refused, sign, sign_manifest
from defined_weights import defined_weights
from safetensors.numpy import load, save
from textveil import Sanitizer
from textveil.bundle import TextBundle, open_bundle
from textveil.bundle.layout import TABLE_MECHANISMS

HIGH = "weights.high.santext"


def change_law(folder: Path, change: Callable[[JSON], object]) -> None:
    law = read_json(folder / "law.json")
    change(law)
    (folder / "law.json").write_text(json.dumps(law), "utf-8")
    sign(folder)


def change_weights(folder: Path, name: str, weights: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> None:
    path = folder / "table.safetensors"
    path.write_bytes(save({**load(path.read_bytes()), name: np.ascontiguousarray(weights)}))
    sign(folder)


def weights_of(folder: Path, name: str) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return load((folder / "table.safetensors").read_bytes())[name]


def laws(law: JSON, level: int = 1) -> JSON:
    return law["santext"]["levels"][level]["laws"]


CHANGES: dict[str, Callable[[JSON], object]] = {
    "a mechanism without a law": lambda law: laws(law).pop("santext"),
    "a law of nothing": lambda law: laws(law).update(santext=None),
    "a law of an unknown mechanism": lambda law: laws(law).update(later=laws(law)["santext"]),
    "a law without weights": lambda law: laws(law)["santext"].pop("weights"),
    "a law without a base": lambda law: laws(law)["santext"].pop("base"),
    "a law with a key more": lambda law: laws(law)["santext"].update(later=1),
    "a law by tail": lambda law: laws(law).update(santext={"exact": laws(law)["santext"]}),
    "weights of another exponent": lambda law: laws(law)["santext"].update(weights="weights.low.santext"),
    "weights that are none": lambda law: laws(law)["santext"].update(weights="roles"),
    "a default with a tail": lambda law: law["defaults"]["santext"].update(tail="exact"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_law_that_is_none(copy: Path, change: Callable[[JSON], object]) -> None:
    change_law(copy, change)
    refused(copy)


def test_santext_needs_the_rows(copy: Path) -> None:
    manifest, law = read_json(copy / "manifest.json"), read_json(copy / "law.json")
    del manifest["files"]["embeddings.safetensors"], law["files"]["embeddings.safetensors"]
    (copy / "law.json").write_text(json.dumps(law))
    sign_manifest(copy, manifest)
    assert refused(copy) == "manifest.json: does not list 'embeddings.safetensors'"


def test_the_smallest_weight(copy: Path) -> None:
    """2^12 is enough and one less is not."""
    weights = weights_of(copy, HIGH)
    exponent = float(open_bundle(copy, TextBundle).levels[1].parameters["santext"].exponent)
    shape = np.exp(-exponent * np.arange(len(weights)) / open_bundle(copy, TextBundle).table.grid)
    for smallest in (1 << 12, (1 << 12) - 1):
        scaled = np.rint(shape * (smallest / shape[-1])).astype(np.int64)
        assert scaled[-1] == smallest
        change_weights(copy, HIGH, scaled)
        if smallest == 1 << 12:
            assert Sanitizer(open_bundle(copy, TextBundle)).sanitize("the doctor", epsilon=16).tokens == 2
        else:
            assert "weights" in refused(copy)


def test_a_score_past_the_end_has_the_last_weight(copy: Path) -> None:
    """Weights must reach as far as the stored scores; beyond them the last weight counts."""
    reach = int(open_bundle(copy, TextBundle).table.scores.max())
    weights = weights_of(copy, HIGH)
    assert reach + 1 < len(weights)
    change_weights(copy, HIGH, weights[: reach + 1])
    bundle = open_bundle(copy, TextBundle)
    law = bundle.levels[1].parameters["santext"]
    assert law.weights[-1] == weights[reach] > weights[-1]
    rows = defined_weights(bundle, "santext", law)
    assert any(row.count(int(weights[reach])) > 2 for row in rows)
    for word, row in zip([*bundle.vocabulary, "zzyzzx"], rows, strict=True):
        told = Sanitizer(bundle).distribution(word, mechanism="santext", epsilon=16)
        assert list(told.weights) == [weight for weight in row if weight]
    change_weights(copy, HIGH, weights[:reach])
    assert "do not cover" in refused(copy)


def certify_low(folder: Path, proven: object) -> None:
    """Adds a certificate of the level ``low`` and labels it with 3."""
    manifest = read_json(folder / "manifest.json")
    content = {
        "format": "textveil-certificate",
        "format_version": 2,
        "identity": manifest["files"]["law.json"]["sha256"],
        "levels": {"low": dict.fromkeys(TABLE_MECHANISMS, proven)},
    }
    data = json.dumps(content).encode()
    (folder / "certificate.json").write_bytes(data)
    manifest["files"]["certificate.json"] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    for mechanism in TABLE_MECHANISMS:
        manifest["levels"]["low"][mechanism]["epsilon_certified"] = 3
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_label(copy: Path) -> None:
    certify_low(copy, {"epsilon_certified": 2.9})
    bundle = open_bundle(copy, TextBundle)
    assert [bundle.certified_epsilon(level, "santext+") for level in bundle.levels] == [3.0, None]


@pytest.mark.parametrize(
    "proven",
    [{"epsilon_certified": value} for value in (3.01, "2.9", None)] + [{"exact": {"epsilon_certified": 2.9}}, {}, None],
    ids=str,
)
def test_a_label_that_was_not_proven(copy: Path, proven: object) -> None:
    certify_low(copy, proven)
    refused(copy)
