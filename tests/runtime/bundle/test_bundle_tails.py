"""Tails of a bundle: what a mechanism with an exact tail needs, and that all levels have the same tails."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from damaged import JSON, read_json, refused, sign, sign_manifest
from defined_weights import defined_weights
from safetensors.numpy import load, save
from textveil import Sanitizer
from textveil.bundle import open_bundle
from textveil.bundle.layout import TABLE_MECHANISMS
from textveil.bundle.text import TextBundle

HIGH = "weights.high.santext.exact"


@pytest.fixture
def copy(both_path: Path, tmp_path: Path) -> Path:
    """A copy of a bundle with both tails, to damage."""
    return Path(shutil.copytree(both_path, tmp_path / "copy"))


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


def test_a_bundle_with_both_tails(copy: Path) -> None:
    bundle = open_bundle(copy, TextBundle)
    assert bundle.tails == (CAPPED, EXACT)
    assert bundle.default_tail == EXACT
    for level in bundle.levels:
        assert set(level.parameters) == {(m, tail) for m in TABLE_MECHANISMS for tail in (CAPPED, EXACT)}
        assert all(law.tail == tail for (_, tail), law in level.parameters.items())
        assert bundle.certified_epsilon(level, "santext", EXACT) is None


# --- law.json ------------------------------------------------------------------------------------------------------


def laws(law: JSON, level: int = 1, mechanism: str = "santext") -> JSON:
    return law["santext"]["levels"][level]["laws"][mechanism]


def without_tail(law: JSON, tail: str, levels: tuple[int, ...], mechanisms: tuple[str, ...] = TABLE_MECHANISMS) -> None:
    for level in levels:
        for mechanism in mechanisms:
            laws(law, level, mechanism).pop(tail)


def renamed(law: JSON, tail: str) -> None:
    for level in (0, 1):
        for mechanism in TABLE_MECHANISMS:
            laws(law, level, mechanism)[tail] = laws(law, level, mechanism).pop(EXACT)
    law["defaults"]["santext"]["tail"] = CAPPED


CHANGES: dict[str, Callable[[JSON], object]] = {
    "levels with different tails": lambda law: without_tail(law, EXACT, (0,)),
    "levels with different tails, the default one everywhere": lambda law: without_tail(law, CAPPED, (1,)),
    "mechanisms with different tails": lambda law: without_tail(law, CAPPED, (0, 1), ("santext",)),
    "a mechanism without tails": lambda law: laws(law).clear(),
    "no tails": lambda law: [laws(law, level, m).clear() for level in (0, 1) for m in TABLE_MECHANISMS],
    "a default that no level has": lambda law: without_tail(law, EXACT, (0, 1)),
    "no default": lambda law: law["defaults"]["santext"].pop("tail"),
    "an unknown tail": lambda law: renamed(law, "heavy"),
    "a tail without a name": lambda law: renamed(law, ""),
    "a law without weights": lambda law: laws(law)[EXACT].pop("weights"),
    "a law without a base": lambda law: laws(law)[EXACT].pop("base"),
    "a law with a key more": lambda law: laws(law)[EXACT].update(later=1),
    "a law of nothing": lambda law: laws(law).update(exact=None),
    "weights of another exponent": lambda law: laws(law)[EXACT].update(weights="weights.low.santext.exact"),
    "weights of a capped tail": lambda law: laws(law)[EXACT].update(weights="roles"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_law_that_is_none(copy: Path, change: Callable[[JSON], object]) -> None:
    change_law(copy, change)
    refused(copy)


def test_one_tail_is_enough(copy: Path) -> None:
    """The changes above one step further, so that nothing is wrong any more."""
    change_law(copy, lambda law: without_tail(law, CAPPED, (0, 1)))
    assert open_bundle(copy, TextBundle).tails == (EXACT,)
    change_law(copy, lambda law: [laws(law, level, m).clear() for level in (0, 1) for m in TABLE_MECHANISMS])
    refused(copy)


def test_an_exact_tail_needs_the_rows(copy: Path) -> None:
    manifest = read_json(copy / "manifest.json")
    del manifest["files"]["embeddings.safetensors"]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    law = read_json(copy / "law.json")
    del law["files"]["embeddings.safetensors"]
    (copy / "law.json").write_text(json.dumps(law))
    sign_manifest(copy, manifest)
    assert refused(copy) == "law.json: an exact tail needs the embedding rows"
    for level in (0, 1):
        without_tail(law, EXACT, (level,))
    law["defaults"]["santext"]["tail"] = CAPPED
    (copy / "law.json").write_text(json.dumps(law))
    sign_manifest(copy, manifest)
    assert open_bundle(copy, TextBundle).metric is None


# --- weights -------------------------------------------------------------------------------------------------------


def test_the_smallest_weight_of_an_exact_tail(copy: Path) -> None:
    """2^12 is enough and one less is not; the same weights would do for a capped tail."""
    weights = weights_of(copy, HIGH)
    exponent = float(open_bundle(copy, TextBundle).levels[1].parameters["santext"].exponent)
    shape = np.exp(-exponent * np.arange(len(weights)) / open_bundle(copy, TextBundle).table.grid)
    for smallest in (1 << 12, (1 << 12) - 1):
        scaled = np.rint(shape * (smallest / shape[-1])).astype(np.int64)
        assert scaled[-1] == smallest
        change_weights(copy, HIGH, scaled)
        if smallest == 1 << 12:
            assert Sanitizer(open_bundle(copy, TextBundle)).sanitize("the doctor", level="high").tokens == 2
        else:
            assert "weights" in refused(copy)
    change_weights(copy, HIGH, weights)
    change_weights(copy, "weights.high.santext.capped", scaled)
    assert open_bundle(copy, TextBundle).levels[1].parameters["santext"].weights[-1] == (1 << 12) - 1


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
        told = Sanitizer(bundle).distribution(word, mechanism="santext", level="high")
        assert list(told.weights) == [weight for weight in row if weight]
    change_weights(copy, HIGH, weights[:reach])
    assert "do not cover" in refused(copy)


# --- labels --------------------------------------------------------------------------------------------------------


def certify_low(folder: Path, proven: object) -> None:
    """Adds a certificate of the level ``low`` and labels its exact tail with 3."""
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
        manifest["levels"]["low"][mechanism][EXACT]["epsilon_certified"] = 3
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_label_of_one_tail(copy: Path) -> None:
    certify_low(copy, {EXACT: {"epsilon_certified": 2.9}})
    bundle = open_bundle(copy, TextBundle)
    labels = [bundle.certified_epsilon(bundle.levels[0], "santext+", tail) for tail in (EXACT, CAPPED)]
    assert labels == [3.0, None]


@pytest.mark.parametrize(
    "proven",
    [
        {CAPPED: {"epsilon_certified": 2.9}},
        {EXACT: {"epsilon_certified": 3.01}},
        {EXACT: {"epsilon_certified": "2.9"}},
        {EXACT: {"epsilon_certified": None}},
        {EXACT: {}},
        {EXACT: {"epsilon_certified": 2.9}, CAPPED: {}},
        {"epsilon_certified": 2.9},
        {},
        None,
        [2.9],
    ],
    ids=str,
)
def test_a_label_that_was_not_proven(copy: Path, proven: object) -> None:
    certify_low(copy, proven)
    refused(copy)
