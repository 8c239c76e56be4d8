"""The ONNX extractor of a label bundle uses the first recipe that is accurate and small enough, at any speed."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from small_checkpoints import texts
from textveil.vector import make_extractor
from textveil_export.encoder import PooledModel, export_onnx_parts, pooled_model
from textveil_export.encoder.build import EncoderBuildSettings
from textveil_export.encoder.checkpoint import Checkpoint
from textveil_export.encoder.evaluation import encode_texts
from textveil_export.encoder.int8_recipes import MIN_SAMPLE, RECIPES
from textveil_export.encoder.onnx_graph import TorchReference
from textveil_export.errors import AccuracyError, SizeError

SAMPLE = [(int(label == "money"), text) for label, text in texts(60, seed=4)]
LABELS = np.array([label for label, _ in SAMPLE])
TRIED = RECIPES[:2]


@pytest.fixture(scope="module")
def model(checkpoint: Checkpoint) -> PooledModel:
    return PooledModel(
        extractor=checkpoint.extractor,
        vocabulary=checkpoint.vocabulary,
        lowercase=checkpoint.lowercase,
        max_tokens=64,
        weights_hash="0" * 64,
    )


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "graphs").mkdir()
    return tmp_path / "graphs"


def deciding(*lost: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a classifier that is right in float32, and wrong a given number of times with each recipe."""
    answers = iter((0, *lost))

    def decide(_: np.ndarray) -> np.ndarray:
        wrong = next(answers)
        return np.where(np.arange(len(LABELS)) < wrong, 1 - LABELS, LABELS)

    return decide


@pytest.mark.slow
def test_the_first_recipe_without_loss_is_selected_without_measuring_time(
    model: PooledModel, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def clock() -> float:
        raise AssertionError("a time was measured")

    monkeypatch.setattr(time, "perf_counter", clock)
    parts, told = export_onnx_parts(model, SAMPLE, deciding(0), scratch, recipes=TRIED)
    assert (told["recipe"], told["refused"], told["sample_texts"]) == (TRIED[0].name, [], 60)
    assert (parts.dimension, parts.max_tokens, parts.lowercase) == (32, 64, True)
    assert tuple(parts.vocabulary) == model.vocabulary
    extractor, reference = make_extractor(parts), TorchReference(model)
    for text, ids in zip(SAMPLE[:5], encode_texts(SAMPLE[:5], model.vocabulary, model).ids, strict=True):
        found, wanted = extractor.extract_vector(text[1]).vector, reference(ids)
        assert np.linalg.norm(found - wanted) < 0.1 * np.linalg.norm(wanted)


@pytest.mark.slow
def test_a_recipe_that_loses_accuracy_is_skipped(model: PooledModel, scratch: Path) -> None:
    _, told = export_onnx_parts(model, SAMPLE, deciding(1, 0), scratch, recipes=TRIED)
    assert told["recipe"] == TRIED[1].name
    assert told["refused"] == [f"{TRIED[0].name}: 1.67 points lost"]


@pytest.mark.slow
def test_of_texts_without_classes_the_share_of_changed_decisions_counts(model: PooledModel, scratch: Path) -> None:
    unknown = [(0, text) for _, text in SAMPLE]
    _, told = export_onnx_parts(model, unknown, deciding(4, 3), scratch, recipes=TRIED, max_changed=0.05)
    assert told["refused"] == [f"{TRIED[0].name}: 6.67 % of the decisions changed"]
    assert (told["recipe"], told["agreement"], told["sample_texts"]) == (TRIED[1].name, 0.95, 60)
    assert not any(name.startswith("accuracy") for name in told)


@pytest.mark.slow
def test_if_all_lose_or_none_fits_there_is_no_extractor(
    model: PooledModel, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AccuracyError, match=r"1\.67 points lost; 2 tried"):
        export_onnx_parts(model, SAMPLE, deciding(1, 1), scratch, recipes=TRIED)
    with pytest.raises(AccuracyError, match=r"5\.00 % of the decisions changed; 2 tried"):
        export_onnx_parts(model, SAMPLE, deciding(3, 4), scratch, recipes=TRIED, max_changed=0.04)
    monkeypatch.setattr(pooled_model, "MAX_BYTES", 100_000)
    with pytest.raises(SizeError, match=r"no int8 graph fits into 0\.1 MB"):
        export_onnx_parts(model, SAMPLE, deciding(), scratch, recipes=TRIED)


def test_recipes_are_chosen_on_a_thousand_texts_where_there_are_so_many() -> None:
    assert EncoderBuildSettings(name="a", data=Path("b")).sample == MIN_SAMPLE == 1000
