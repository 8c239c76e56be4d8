"""Errors of the export commands, all subclasses of ``textveil.errors.TextveilError``.

TextveilError
    ExportError              a bundle cannot be built or written
        SourceError          an input file or an encoder cannot be used
            EncoderCheckpointError
        WriteError           the bundle cannot be written to disk
        CertificationError   the epsilon of a table cannot be proven
        GateError            an encoder misses a requirement for release
            ParityError, AccuracyError, CeilingError, BoundError, SizeError
    ClusterError             no usable Ray cluster
"""

from textveil.errors import TextveilError


class ExportError(TextveilError):
    """Signal that a bundle (folder with word lists, tables or a model) cannot be built or written."""

    code = "export"


class SourceError(ExportError):
    """Signal that an encoder, a word list, a corpus or a file of vectors cannot be used."""

    code = "source"


class WriteError(ExportError):
    """Signal that a bundle (data folder) cannot be written; the target folder is unchanged."""

    code = "write"


class CertificationError(ExportError):
    """Signal that an epsilon cannot be proven for a mechanism, or that a stated epsilon is below the proven one."""

    code = "certification"


class EncoderCheckpointError(SourceError):
    """Signal that the checkpoint of a trained encoder is missing, damaged or unsupported."""

    code = "checkpoint"


class GateError(ExportError):
    """Signal that an int8 encoder does not meet a requirement: accuracy, bound on the vector, or size."""

    code = "gate"


class ParityError(GateError):
    """Signal that the ONNX graph and PyTorch compute different vectors from one model."""

    code = "gate-parity"


class AccuracyError(GateError):
    """Signal that int8 quantization loses more accuracy than is allowed."""

    code = "gate-accuracy"


class CeilingError(GateError):
    """Signal that the measured accuracy is above the largest accuracy that the privacy guarantee permits.

    In that case the noise is too small, or the evaluation is wrong.
    """

    code = "gate-ceiling"


class BoundError(GateError):
    """Signal that a quantized vector is longer than the bound for which the noise is calibrated."""

    code = "gate-bound"


class SizeError(GateError):
    """Signal that a bundle (data folder) is larger than the limit for a device."""

    code = "gate-size"


class ClusterError(TextveilError):
    """Signal that no Ray cluster is usable, or that the cluster would reveal its work to other users."""

    code = "cluster"
