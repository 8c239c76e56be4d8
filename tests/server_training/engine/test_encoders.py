"""The precision of a training is one that the machine computes in."""

import platform

import pytest
import torch
from textveil_training.engine.encoders import choose_precision


@pytest.mark.parametrize(
    ("avx512", "amx", "chosen"), [(False, False, "float32"), (True, False, "bfloat16"), (False, True, "bfloat16")]
)
def test_bfloat16_falls_back_where_the_processor_emulates_it(
    monkeypatch: pytest.MonkeyPatch, avx512: bool, amx: bool, chosen: str
) -> None:
    """The library oneDNN has bfloat16 on every processor with AVX-512, but emulates it on most of them."""
    device = torch.device("cpu")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    assert choose_precision("bfloat16", device) == chosen
    assert choose_precision("float32", device) == "float32"


@pytest.mark.parametrize(("supported", "chosen"), [(False, "float32"), (True, "bfloat16")])
def test_other_processors_have_what_onednn_has(monkeypatch: pytest.MonkeyPatch, supported: bool, chosen: str) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: supported)
    assert choose_precision("bfloat16", torch.device("cpu")) == chosen
