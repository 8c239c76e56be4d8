"""An ONNX graph run as a device runs it: one text at a time, unpadded, one thread."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textveil_export.errors import ExportError

#: Session key under which s8 weights do not saturate on x86 processors without VNNI instructions (AVX2 alone, say).
#: Without the key such a processor adds pairs of 8-bit products in 16 bits and cuts off what is too large: vectors from
#: 8-bit s8 weights differ from those of other processors and are less accurate. With it, as on devices, they agree.
PRECISION = "session.x64quantprecision"


class Session:
    """An onnxruntime session with the settings of a device.

    Args:
        model: An ONNX file, or its bytes.
        precise: The value of ``session.x64quantprecision``; devices set it.

    Raises:
        ExportError: onnxruntime is missing or refuses the graph.
    """

    def __init__(self, model: Path | bytes, *, precise: bool = True) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise ExportError(
                "onnxruntime is missing: "
                "install textveil-export with the extra encoder (in a clone: pip install './export[encoder]')"
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry(PRECISION, "1" if precise else "0")
        source = str(model) if isinstance(model, Path) else model
        try:
            self._session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own errors have no common base but this one
            raise ExportError(f"onnxruntime refuses the graph ({type(error).__name__})") from error

    def __call__(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The representation of one text: ids of shape (tokens,), [CLS] and [SEP] included, to shape (k,)."""
        batch = np.asarray(ids, dtype=np.int64)[None]
        (vectors,) = self._session.run(["representation"], {"input_ids": batch, "attention_mask": np.ones_like(batch)})
        return np.asarray(vectors, dtype=np.float32)[0]
