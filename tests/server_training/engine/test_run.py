"""The record of a run is valid JSON for any numbers."""

import json
from pathlib import Path

import pytest
import torch
from textveil_training.engine.loop import TrainingPosition
from textveil_training.engine.run import RunRecord


def test_a_record_has_null_for_what_is_no_number(tmp_path: Path) -> None:
    record = RunRecord(tmp_path / "record.json", {"kind": "finetune"}, torch.device("cpu"))
    nan, inf = float("nan"), float("inf")
    record.update(TrainingPosition(history=[{"loss": nan, "dev": 0.5}]))
    record.finish({"dev": {"pearson": nan, "limits": (-inf, 1.0)}, "steps": 3, "name": "NaN"})
    found = json.loads((tmp_path / "record.json").read_text(), parse_constant=pytest.fail)
    assert found["epochs"] == [{"loss": None, "dev": 0.5}]
    assert found["result"] == {"dev": {"pearson": None, "limits": [None, 1.0]}, "steps": 3, "name": "NaN"}
    assert record.content == found
