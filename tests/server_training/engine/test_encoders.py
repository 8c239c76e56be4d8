"""The precision of a training is one that the machine supports."""

import pytest
import torch
from textveil_training.engine.encoders import choose_precision


def test_bfloat16_falls_back_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    device = torch.device("cpu")
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    assert choose_precision("bfloat16", device) == "float32"
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    assert choose_precision("bfloat16", device) == "bfloat16"
    assert choose_precision("float32", device) == "float32"
