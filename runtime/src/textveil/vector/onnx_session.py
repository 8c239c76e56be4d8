"""Sessions of onnxruntime that run offline, print nothing and compute one input at a time.

No other module runs onnxruntime. A model runs only if the caller stated the content hash or the signer of its bundle.
"""

import os
import sys
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.files import BundleBase
from textveil.bundle.onnx.model_check import INPUT_NAMES, OUTPUT_NAME
from textveil.errors import EncoderFailed, EncoderUnavailable, ModelNotExpected

#: Versions of onnxruntime that open no socket and write no file, according to a trace of their system calls.
OFFLINE_VERSIONS = tuple(f"1.{minor}." for minor in range(22, 29))
_EXTRA = "install textveil with the extra encoder (in a clone: pip install './runtime[encoder]')"
_FATAL_ONLY = 4  # onnxruntime's severity for fatal errors only: its messages may reveal token ids
_SETTINGS = {
    "session.intra_op.allow_spinning": "0",
    "session.inter_op.allow_spinning": "0",
    "session.load_model_format": "ONNX",
    "session.x64quantprecision": "1",  # int8 products do not saturate on processors without VNNI
}


def check_expected(bundle: BundleBase) -> None:
    """Check that the caller passed the expected content hash or the signer of a bundle (data folder with a model).

    Call this before a model runs.

    The content hash or the signer is required because the checks of a model do not limit the time and memory that the
    model needs.

    Raises:
        ModelNotExpected: The caller stated neither the content hash nor the signer.
    """
    if not bundle.is_expected:
        raise ModelNotExpected(
            "this bundle runs a model, so state which one you trust: if its publisher states this content hash, use "
            f"--expect-id {bundle.content_hash} (serve: --encoder-expect-id; Python: expect_id=), else --signer KEY"
        )


class OnnxSession:
    """Session of onnxruntime for a checked model. It works offline, prints nothing and computes one input at a time."""

    def __init__(self, model: bytes, threads: int) -> None:
        runtime = import_offline_onnxruntime()
        options = runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = _FATAL_ONLY
        for key, value in _SETTINGS.items():
            options.add_session_config_entry(key, value)
        self._options = runtime.RunOptions()
        self._options.log_severity_level = _FATAL_ONLY
        session = None
        with suppress(Exception):  # onnxruntime's errors have no common base, and their messages are long
            session = runtime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"], enable_fallback=0, read_config_from_model=0
            )
        if session is None:
            raise EncoderFailed("onnxruntime cannot load the model of this bundle: build the bundle again")
        self._session = session
        self._session._model_bytes = None  # the session would otherwise hold a second copy of the model

    def run_model(self, ids: list[int]) -> NDArray[np.float32]:
        """Compute the vector of one input.

        Args:
            ids: Token ids of the input.

        Returns:
            The vector, float32, shape ``(1, dimension)``.

        Raises:
            EncoderFailed: onnxruntime fails, or the result is not one float32 vector.
        """
        row = np.array([ids], dtype=np.int64)
        inputs = dict(zip(INPUT_NAMES, (row, np.ones_like(row)), strict=True))
        outputs: list[Any] = []
        with suppress(Exception):  # not chained to our error: its message may reveal token ids
            outputs = self._session.run([OUTPUT_NAME], inputs, self._options)
        if not outputs:
            raise EncoderFailed(
                "the model of this bundle fails on this input: shorten the text, or build the bundle again"
            )
        vectors = outputs[0]
        if vectors.dtype != np.float32 or vectors.ndim != 2 or len(vectors) != 1:
            raise EncoderFailed("the model of this bundle must return one vector: build the bundle again")
        return vectors


@cache
def import_offline_onnxruntime() -> Any:
    """Import onnxruntime, after checking that it does not use the network.

    Versions that are not in ``OFFLINE_VERSIONS`` may send reports to the vendor when a session starts. The environment
    variable ``ORT_DISABLE_TELEMETRY=1`` prevents this only if it is set *before* the import. Such a version is imported
    only if the variable is set and no other code has imported onnxruntime; if not, the function raises an error.

    Returns:
        The module ``onnxruntime``.

    Raises:
        EncoderUnavailable: onnxruntime is not installed, or this version may use the network.
    """
    is_telemetry_disabled = "onnxruntime" not in sys.modules and os.environ.get("ORT_DISABLE_TELEMETRY") == "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise EncoderUnavailable(f"encoding needs onnxruntime: {_EXTRA}") from error
    version = str(getattr(onnxruntime, "__version__", ""))
    if not is_telemetry_disabled and not version.startswith(OFFLINE_VERSIONS):
        raise EncoderUnavailable(
            f"this version of onnxruntime is not verified to work offline: {_EXTRA}, or set "
            "ORT_DISABLE_TELEMETRY=1 and load the encoder before anything else imports onnxruntime"
        )
    return onnxruntime
