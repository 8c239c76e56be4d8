"""SanText's part of a bundle: the weights of its levels, and the labels from a certificate."""

import json
from pathlib import Path

import numpy as np
import pytest
from damaged import certify, read_json, refused, sign, sign_manifest
from defined_weights import defined_weights
from safetensors.numpy import load, save
from textveil import Sanitizer
from textveil.bundle import TextBundle, open_bundle

HIGH = "weights.high.santext"


def change_weights(folder: Path, name: str, weights: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> None:
    path = folder / "table.safetensors"
    path.write_bytes(save({**load(path.read_bytes()), name: np.ascontiguousarray(weights)}))
    sign(folder)


def weights_of(folder: Path, name: str) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return load((folder / "table.safetensors").read_bytes())[name]


def test_santext_needs_the_rows(copy: Path) -> None:
    manifest, law = read_json(copy / "manifest.json"), read_json(copy / "mechanism.json")
    del manifest["files"]["embeddings.safetensors"], law["files"]["embeddings.safetensors"]
    (copy / "mechanism.json").write_text(json.dumps(law))
    sign_manifest(copy, manifest)
    assert refused(copy) == "manifest.json: does not list 'embeddings.safetensors'"


def test_the_smallest_weight(copy: Path) -> None:
    """2^12 is enough and one less is not."""
    weights = weights_of(copy, HIGH)
    exponent = float(open_bundle(copy, TextBundle).santext_levels[1].parameters["santext"].exponent)
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
    law = bundle.santext_levels[1].parameters["santext"]
    assert law.weights[-1] == weights[reach] > weights[-1]
    rows = defined_weights(bundle, "santext", law)
    assert any(row.count(int(weights[reach])) > 2 for row in rows)
    for word, row in zip([*bundle.vocabulary, "zzyzzx"], rows, strict=True):
        told = Sanitizer(bundle).distribution(word, mechanism="santext", epsilon=16)
        assert list(told.weights) == [weight for weight in row if weight]
    change_weights(copy, HIGH, weights[:reach])
    assert "do not cover" in refused(copy)


def test_a_label(copy: Path) -> None:
    certify(copy, {"low": {"epsilon_certified": 2.9}}, {"low": 3})
    bundle = open_bundle(copy, TextBundle)
    assert [bundle.get_certified_epsilon(level, "santext+") for level in bundle.santext_levels] == [3.0, None]


@pytest.mark.parametrize(
    "proven",
    [{"epsilon_certified": value} for value in (3.01, "2.9", None)] + [{"exact": {"epsilon_certified": 2.9}}, {}, None],
    ids=str,
)
def test_a_label_that_was_not_proven(copy: Path, proven: object) -> None:
    certify(copy, {"low": proven}, {"low": 3})
    refused(copy)
