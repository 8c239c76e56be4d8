"""``Encoder``: onnxruntime is there, is known to stay offline, and is set up as it should be."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from small_encoders import load_encoder
from textveil import Encoder
from textveil.errors import EncoderUnavailable
from textveil.vector import onnx_session as module


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a process that has not opened an encoder yet."""
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    module.offline_onnxruntime.cache_clear()
    yield
    module.offline_onnxruntime.cache_clear()


def fake(version: str) -> ModuleType:
    runtime = ModuleType("onnxruntime")
    runtime.__version__ = version  # type: ignore[attr-defined]
    return runtime


@pytest.mark.usefixtures("forgotten")
def test_without_onnxruntime(tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EncoderUnavailable) as caught:
        load_encoder(tiny_encoder)
    assert str(caught.value) == (
        "encoding needs onnxruntime: "
        "install textveil with the extra encoder (in a clone: pip install './runtime[encoder]')"
    )
    assert caught.value.code == "encoder-unavailable"


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("version", ["1.29.0", "1.31.1", "1.21.0", "1.2.8", "1.280.0", "2.0", "", "x1.28.0"])
@pytest.mark.parametrize("told_too_late", [False, True])
def test_a_version_that_may_phone_home(
    tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch, version: str, told_too_late: bool
) -> None:
    """Imported by the application before us: nobody knows what it was told by then."""
    monkeypatch.setitem(sys.modules, "onnxruntime", fake(version))
    if told_too_late:
        monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "1")
    with pytest.raises(EncoderUnavailable, match="not known to stay offline"):
        load_encoder(tiny_encoder)


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize(("setting", "accepted"), [("1", True), ("0", False), ("", False), (None, False)])
def test_a_version_that_was_told_in_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, setting: str | None, accepted: bool
) -> None:
    (tmp_path / "onnxruntime.py").write_text('__version__ = "1.31.1"\n')
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    if setting is not None:
        monkeypatch.setenv("ORT_DISABLE_TELEMETRY", setting)
    try:
        if accepted:
            assert module.offline_onnxruntime().__version__ == "1.31.1"
            assert module.offline_onnxruntime().__version__ == "1.31.1"  # and it is remembered
        else:
            with pytest.raises(EncoderUnavailable):
                module.offline_onnxruntime()
    finally:
        sys.modules.pop("onnxruntime", None)


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("version", ["1.28.0", "1.28.1", "1.28.0+cpu"])
def test_a_version_that_stays_offline(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", fake(version))
    assert module.offline_onnxruntime().__version__ == version


def test_the_session_is_as_it_should_be(encoder: Encoder) -> None:
    session = encoder._extractor.session._session
    assert session.get_providers() == ["CPUExecutionProvider"]
    options = session.get_session_options()
    for key, setting in module._SETTINGS.items():
        assert options.get_session_config_entry(key) == setting
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert options.log_severity_level == 4
    assert not options.enable_profiling
    assert options.optimized_model_filepath == ""
