"""Named errors of the export commands; branches of the runtime's tree."""

from textveil.errors import TextveilError


class ExportError(TextveilError):
    """A bundle cannot be built or written."""

    code = "export"


class SourceError(ExportError):
    """An encoder, a word list or a vectors file cannot be used."""

    code = "source"


class WriteError(ExportError):
    """The bundle cannot be written; nothing was left behind."""

    code = "write"


class CertificationError(ExportError):
    """The table cannot be certified."""

    code = "certification"


class EncoderCheckpointError(SourceError):
    """A checkpoint of a trained encoder cannot be used."""

    code = "checkpoint"


class GateError(ExportError):
    """The encoder as it would ship is not as good, not as bounded or not as small as it must be."""

    code = "gate"


class ParityError(GateError):
    """Two forms of one model give different vectors."""

    code = "gate-parity"


class AccuracyError(GateError):
    """Quantization costs more accuracy than is allowed."""

    code = "gate-accuracy"


class CeilingError(GateError):
    """An accuracy is better than privacy allows: something is wrong with the noise or with the evaluation."""

    code = "gate-ceiling"


class BoundError(GateError):
    """A quantized vector lies outside the ball that its noise is made for."""

    code = "gate-bound"


class SizeError(GateError):
    """The bundle is larger than a device is asked to hold."""

    code = "gate-size"


class SamplerFault(TextveilError):
    """The installed sampler does not draw what it promises."""

    code = "sampler"
