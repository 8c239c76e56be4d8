"""onnxruntime is offline and configured safely, and a failing model reveals nothing of the text."""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
import pytest
from canaries import SECRET, hidden, told
from onnx import helper
from small_encoders import MISSING_ROW, POSITIONS, VOCABULARY, ids, load_encoder, model_of, write_encoder
from textveil import Encoder, TextveilError
from textveil.errors import EncoderFailed, EncoderUnavailable
from textveil.vector import onnx_session as module


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a process that has not opened an encoder yet."""
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    module.import_offline_onnxruntime.cache_clear()
    yield
    module.import_offline_onnxruntime.cache_clear()


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
    with pytest.raises(EncoderUnavailable, match="this version of onnxruntime is not verified to work offline"):
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
            assert module.import_offline_onnxruntime().__version__ == "1.31.1"
            assert module.import_offline_onnxruntime().__version__ == "1.31.1"  # and it is remembered
        else:
            with pytest.raises(EncoderUnavailable):
                module.import_offline_onnxruntime()
    finally:
        sys.modules.pop("onnxruntime", None)


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("version", ["1.22.0", "1.25.1", "1.28.0", "1.28.1", "1.28.0+cpu"])
def test_a_version_that_stays_offline(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", fake(version))
    assert module.import_offline_onnxruntime().__version__ == version


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


# --- models that pass the check and do not run ---------------------------------------------------------------------


def failing(tmp_path: Path, model: onnx.ModelProto | None = None, **options: object) -> str:
    with pytest.raises(EncoderFailed) as caught:
        load_encoder(write_encoder(tmp_path / "encoder", model=model, **options))  # type: ignore[arg-type]
    return str(caught.value)


def test_more_pieces_than_embeddings(tmp_path: Path) -> None:
    model = model_of(pieces=VOCABULARY[:-1])
    assert (
        failing(tmp_path, model)
        == "the model of this bundle fails on this input: shorten the text, or build the bundle again"
    )


def test_more_tokens_than_positions(tmp_path: Path) -> None:
    assert (
        failing(tmp_path, max_tokens=POSITIONS + 1)
        == "the model of this bundle fails on this input: shorten the text, or build the bundle again"
    )


def test_a_graph_that_does_not_fit_together(tmp_path: Path) -> None:
    model = model_of()
    model.graph.node[-1].input[0] = "input_ids"  # no numbers of one type
    assert failing(tmp_path, model) == "onnxruntime cannot load the model of this bundle: build the bundle again"


def test_a_vector_of_another_length(tmp_path: Path) -> None:
    """The output's axes are open, so only running it tells."""
    model = model_of(dimension=5)
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    assert (
        failing(tmp_path, model)
        == "the length of the model's vectors differs from the length in manifest.json: build the bundle again"
    )


def test_a_vector_of_another_rank(tmp_path: Path) -> None:
    model = model_of()
    model.graph.output[0].type.tensor_type.ClearField("shape")
    model.graph.node[-1].output[0] = "flat"
    model.graph.node.append(helper.make_node("Reshape", ["flat", "last"], ["representation"]))
    assert failing(tmp_path, model) == "the model of this bundle must return one vector: build the bundle again"


# --- nothing leaks -------------------------------------------------------------------------------------------------


def test_a_text_on_which_the_model_fails_is_released_like_any_other(encoder: Encoder) -> None:
    """No release would be an output that only some texts have, outside every epsilon: they get the fixed point."""
    releases = [encoder.encode("the poison said", epsilon=1) for _ in range(200)]
    assert all(release.notes.is_zero_vector for release in releases)
    assert not any(encoder.encode("the nurse said", epsilon=1).notes.is_zero_vector for _ in range(20))
    assert {release.vector.shape for release in releases} == {(encoder.bundle.default_level.dimension,)}
    assert len({tuple(release.integers.tolist()) for release in releases}) > 150  # it has the noise, too


def test_a_vector_of_another_length_is_the_fixed_point(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder._extractor.session, "run_model", lambda ids: np.ones((1, 99), dtype=np.float32))
    assert encoder.encode("the nurse").notes.is_zero_vector


def test_onnxruntime_is_not_quoted(
    encoder: Encoder, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Its message names a row that depends on the text; it is neither raised, chained, logged nor printed."""
    caplog.set_level(logging.NOTSET)
    release = encoder.encode("the poison doctor")
    assert str(MISSING_ROW) not in repr(release)
    with pytest.raises(EncoderFailed) as caught:
        encoder._extractor.session.run_model(ids("poison"))
    assert str(MISSING_ROW) not in told(caught.value)
    assert "".join(capfd.readouterr()) == ""
    assert caplog.text == ""
    runtime = module.import_offline_onnxruntime()
    session = runtime.InferenceSession(model_of().SerializeToString(), providers=["CPUExecutionProvider"])
    row = np.array([ids("poison")])
    with pytest.raises(Exception, match=str(MISSING_ROW)):  # that is what there is to hide
        session.run(None, {"input_ids": row, "attention_mask": np.ones_like(row)})
    assert str(MISSING_ROW) in "".join(capfd.readouterr())


def test_nothing_that_is_said_holds_the_text(
    encoder: Encoder, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.NOTSET)
    release = encoder.encode(f"the {SECRET} said")
    said = [repr(release), str(release), repr(release.notes), repr(encoder), json.dumps(release.statement.to_dict())]
    said += [str(release.statement), release.statement.summary(), repr(encoder.encode(f"{SECRET} poison"))]
    calls: list[Callable[[], object]] = [
        lambda: encoder.encode(SECRET, epsilon=SECRET),
        lambda: encoder.encode(SECRET, word_dropout=SECRET),
        lambda: encoder.encode(SECRET.encode()),  # type: ignore[arg-type]
        lambda: encoder.encode_batch([SECRET, [SECRET]]),  # type: ignore[list-item]
        lambda: Encoder.load(SECRET),
        lambda: Encoder.load(encoder.bundle.path, expect_id=SECRET),
    ]
    for call in calls:
        with pytest.raises(TextveilError) as caught:
            call()
        said.append(told(caught.value))
    assert all(map(hidden, said))
    assert "".join(capfd.readouterr()) == ""
    assert caplog.text == ""
