"""Export a trained encoder as an ONNX graph, check it, and run it with the settings of a device.

The graph contains BERT, mean pooling, the head (layers after pooling) and the bound on the vector's norm. Its output is
the vector before the noise. Optimum exports it from a module that wraps the model, with an export configuration defined
here (docs/decisions/0009-encoder-export.md). The batch size is 1, without padding, as on a device.
"""

import logging
import warnings
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from transformers import BertModel, BertPreTrainedModel

from textveil_export.encoder.checkpoint import Arrays
from textveil_export.errors import ExportError, GateError, ParityError

#: Session key that prevents saturation of s8 weights on x86 processors without VNNI instructions.
#: Without the key such a processor adds pairs of 8-bit products in 16 bits and clips large sums, so vectors from
#: 8-bit s8 weights are less accurate and differ from those of other processors. Devices set the key.
PRECISION = "session.x64quantprecision"


class DeviceSession:
    """An onnxruntime session with the settings of a device: one thread, one text at a time.

    Args:
        model: An ONNX file, or its bytes.
        precise: Value of the session key ``session.x64quantprecision``; devices set it.

    Raises:
        ExportError: onnxruntime is missing or refuses the graph.
    """

    def __init__(self, model: Path | bytes, *, precise: bool = True) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise ExportError(
                "the package onnxruntime is missing: "
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
        except Exception as error:  # onnxruntime's errors have no other common base
            raise ExportError(
                f"onnxruntime cannot load the graph ({type(error).__name__}): install another version of onnxruntime"
            ) from error

    def __call__(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vector of one text, shape (k,), from its ids, shape (tokens,)."""
        batch = np.asarray(ids, dtype=np.int64)[None]
        (vectors,) = self._session.run(["representation"], {"input_ids": batch, "attention_mask": np.ones_like(batch)})
        return np.asarray(vectors, dtype=np.float32)[0]


INPUTS, OUTPUT, OPSET = ("input_ids", "attention_mask"), "representation", 18
#: Largest allowed difference of a coordinate between the graph and PyTorch, both in float32.
TOLERANCE = 2e-5
#: Text lengths in WordPieces at which ``check_parity`` measures the difference.
PARITY_LENGTHS = (1, 2, 3, 5, 8, 16, 32, 64, 100, 127, 128)
_TINY = 1e-30


#: Largest number of multiplications for one text.
MAX_MULTIPLICATIONS = 1 << 35
#: Mode of a model whose vector has no bound.
NO_BOUND = "none"


class GraphModel(Protocol):
    """Interface of the models that can be exported to ONNX: ``Checkpoint`` and ``PooledModel``."""

    @property
    def mode(self) -> str:
        """Bound on the vector: on its norm (``l1`` or ``l2``), on its coordinates (``box``), or no bound (``none``)."""
        ...

    @property
    def max_tokens(self) -> int:
        """Maximum number of WordPieces (parts of words) of an input."""
        ...

    @property
    def extractor(self) -> BertModel:
        """The BERT model in evaluation mode."""
        ...

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """WordPieces by id."""
        ...

    @property
    def head(self) -> Arrays:
        """Weights of the layers after mean pooling (the head); empty if there are no such layers."""
        ...


class Representation(BertPreTrainedModel):
    """Network that maps the token ids of a text ``x`` to a bounded vector ``f(x)``: BERT, mean pooling, head, bound.

    The network follows Lyu, He, Li 2020, Algorithm 2. Let ``h`` be the output of the head. The bound ``l1`` gives
    ``h / max(1, |h|_1)``, ``l2`` gives ``h / max(1, |h|_2)``, and ``box`` gives ``(h - min h) / (max h - min h)``, or
    zeros if all coordinates of ``h`` are equal. ``none`` gives ``h``.

    To reduce the file, the network has no positions beyond ``max_tokens``, and the embedding of the only token type is
    added to the position embeddings. This does not change the function. A token with mask 0 does not influence the
    output.
    """

    def __init__(self, model: GraphModel) -> None:
        """Build the network from the layers of a model; both share these layers, and the model does not change."""
        super().__init__(model.extractor.config)
        embeddings = model.extractor.embeddings
        self.mode = model.mode
        self.words = embeddings.word_embeddings
        positions = embeddings.position_embeddings.weight[: model.max_tokens]
        self.positions = torch.nn.Parameter((positions + embeddings.token_type_embeddings.weight[0]).detach())
        self.norm = embeddings.LayerNorm
        self.encoder = model.extractor.encoder
        self.head = build_head(model)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> dict[str, torch.Tensor]:
        """Compute the bounded vector of each text in a batch.

        Args:
            input_ids: Shape (batch, tokens), int64.
            attention_mask: Shape (batch, tokens), int64; 1 for a token, 0 for padding.

        Returns:
            ``representation``, shape (batch, k), float32.
        """
        states = self.norm(self.words(input_ids) + self.positions[: input_ids.shape[1]])
        weights = attention_mask.to(states.dtype)
        mask = (1 - weights[:, None, None, :]) * torch.finfo(states.dtype).min
        states = self.encoder(states, attention_mask=mask).last_hidden_state
        return {OUTPUT: apply_bound(self.head(pool_states(states, weights)), self.mode)}


def build_head(model: GraphModel) -> torch.nn.Sequential:
    """Build the layers after mean pooling from the arrays of a model.

    Returns:
        The function ``out(tanh(hidden(x)))``, where ``hidden`` and ``out`` are linear layers; ``out(x)`` without a
        hidden layer; the identity without a head.
    """
    hidden = [_build_linear(model.head, "hidden"), torch.nn.Tanh()] if "hidden.weight" in model.head else []
    return torch.nn.Sequential(*hidden, *([_build_linear(model.head, "out")] if model.head else []))


def pool_states(states: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Compute the mean of hidden states over the tokens of each text, without padding.

    Args:
        states: Last hidden states, shape (batch, tokens, width).
        weights: 1 for a token, 0 for padding, shape (batch, tokens).

    Returns:
        Shape (batch, width).
    """
    return (states * weights[..., None]).sum(1) / weights.sum(1, keepdim=True)


def apply_bound(vector: torch.Tensor, mode: str) -> torch.Tensor:
    """Scale each vector so that its norm is bounded, as privacy noise needs it.

    See ``Representation`` for the equations.

    Args:
        vector: Shape (batch, k).
        mode: The norm: ``l1``, ``l2``, or ``box`` (each coordinate); ``none`` changes nothing.
    """
    if mode == NO_BOUND:
        return vector
    if mode == "l1":
        return vector / vector.abs().sum(1, keepdim=True).clamp(min=1)
    if mode == "l2":
        return vector / (vector * vector).sum(1, keepdim=True).sqrt().clamp(min=1)
    low, high = vector.amin(1, keepdim=True), vector.amax(1, keepdim=True)
    return (vector - low) / (high - low).clamp(min=_TINY)


def count_multiplications(model: GraphModel) -> int:
    """Return an upper bound on the number of multiplications for the longest text.

    The bound is ``tokens * (parameters + 2 * layers * tokens * width)``. Each parameter of the layers and of the head
    is used at most once per token. Attention multiplies the ``width`` numbers of each token by those of each other
    token, twice in each layer. Only the exporter enforces a limit on this number; a device runs the model that its user
    chose.
    """
    config = model.extractor.config
    parameters = sum(weights.numel() for weights in model.extractor.encoder.parameters())
    parameters += sum(weights.size for weights in model.head.values())
    return model.max_tokens * (parameters + 2 * config.num_hidden_layers * model.max_tokens * config.hidden_size)


def export_graph(model: GraphModel, path: Path) -> float:
    """Write the float32 graph of a model to an ONNX file, and compare it with PyTorch.

    Args:
        model: The trained encoder.
        path: ONNX file to write.

    Returns:
        Largest difference of a vector's coordinate between the graph and PyTorch.

    Raises:
        GateError: The longest text would need more than ``MAX_MULTIPLICATIONS``.
        ExportError: The packages of the extra ``encoder`` are missing, or the exporter refuses the model.
        ParityError: The graph and PyTorch differ by more than ``TOLERANCE``.
    """
    if count_multiplications(model) > MAX_MULTIPLICATIONS:
        raise GateError(
            f"a text of {model.max_tokens} tokens takes {count_multiplications(model):.1e} multiplications "
            f"(at most {MAX_MULTIPLICATIONS:.1e}): use a smaller encoder, or fewer tokens"
        )
    _run_exporter(Representation(model).eval(), path)
    graph = onnx.load(path)
    strip_metadata(graph)
    onnx.save(graph, path)
    return check_parity(model, path)


def check_parity(model: GraphModel, path: Path, tolerance: float = TOLERANCE) -> float:
    """Compare the vectors of a float32 graph and of PyTorch, on random token ids of many lengths.

    Args:
        model: The trained encoder.
        path: Its graph.
        tolerance: Largest allowed difference of a coordinate.

    Returns:
        Largest difference of a coordinate.

    Raises:
        ParityError: The difference exceeds the tolerance; the message contains the difference and the number of tokens.
    """
    session, reference = DeviceSession(path), TorchReference(model)
    generator = np.random.default_rng(0)
    worst = 0.0
    for tokens in sorted({*PARITY_LENGTHS, model.max_tokens} & set(range(1, model.max_tokens + 1))):
        ids = generator.integers(0, len(model.vocabulary), tokens)
        difference = float(np.abs(session(ids) - reference(ids)).max())
        if not difference <= tolerance:  # true for NaN too
            raise ParityError(
                f"the graph differs from PyTorch by {difference:.2g} at {tokens} tokens (at most {tolerance:g}): "
                "install another version of onnxruntime"
            )
        worst = max(worst, difference)
    return worst


def strip_metadata(graph: onnx.ModelProto) -> None:
    """Remove metadata that does not affect the computation: exporter, documentation, source paths."""
    graph.producer_name, graph.producer_version, graph.doc_string = "textveil-export", "", ""
    graph.graph.name, graph.graph.doc_string = OUTPUT, ""
    del graph.metadata_props[:]
    for node in graph.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]


class TorchReference:
    """Function that computes in PyTorch the same vectors as the exported ONNX graph.

    The function uses the model class of the package transformers.
    """

    def __init__(self, model: GraphModel) -> None:
        """Build the network from the layers of a model; both share these layers."""
        self._extractor, self._head, self._mode = model.extractor.eval(), build_head(model).eval(), model.mode

    def __call__(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vector of one unpadded text in float32, shape (k,), from its ids, shape (tokens,)."""
        with torch.inference_mode():
            inputs = torch.from_numpy(np.asarray(ids, dtype=np.int64))[None]
            states = self._extractor(input_ids=inputs, attention_mask=torch.ones_like(inputs)).last_hidden_state
            return apply_bound(self._head(pool_states(states, torch.ones(inputs.shape))), self._mode)[0].numpy()


def _build_linear(arrays: dict[str, Any], name: str) -> torch.nn.Linear:
    """Build a linear layer from arrays ``name.weight`` and ``name.bias``."""
    weight, bias = (torch.from_numpy(arrays[f"{name}.{part}"].copy()) for part in ("weight", "bias"))
    layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
    layer.weight.data, layer.bias.data = weight, bias
    return layer


def _run_exporter(model: Representation, path: Path) -> None:
    """Export a network to an ONNX file, with Optimum if it is installed, else with PyTorch alone."""
    try:
        from optimum.exporters.onnx.convert import export
        from optimum.exporters.onnx.model_configs import BertOnnxConfig
    except ImportError:
        _run_torch_exporter(model, path)
        return

    class RepresentationConfig(BertOnnxConfig):
        """Export configuration for Optimum: one text with any number of tokens as input, one vector as output."""

        @property
        def inputs(self) -> dict[str, dict[int, str]]:
            """Name of each input, with the names of its dimensions that can vary."""
            return {name: {1: "tokens"} for name in INPUTS}

        @property
        def outputs(self) -> dict[str, dict[int, str]]:
            """Name of the output, with the names of its dimensions that can vary."""
            return {OUTPUT: {}}

    logging.getLogger("optimum").setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            configuration = RepresentationConfig(model.config, task="feature-extraction")
            export(model, configuration, path, OPSET, input_shapes={"batch_size": 1, "sequence_length": 16})
    except (RuntimeError, ValueError, TypeError, torch.onnx.errors.OnnxExporterError) as error:
        raise ExportError(
            f"Optimum cannot export the model ({type(error).__name__}): install another version of Optimum"
        ) from error


def _run_torch_exporter(model: Representation, path: Path) -> None:
    """Export a network with PyTorch's TorchScript exporter, which Optimum calls too.

    Unlike Optimum, this exporter does not limit the version of transformers.
    """
    example = torch.zeros((1, 16), dtype=torch.int64), torch.ones((1, 16), dtype=torch.int64)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                model,
                example,
                str(path),
                input_names=list(INPUTS),
                output_names=[OUTPUT],
                dynamic_axes={name: {1: "tokens"} for name in INPUTS},
                opset_version=OPSET,
                dynamo=False,
            )
    except (RuntimeError, ValueError, TypeError, torch.onnx.errors.OnnxExporterError) as error:
        raise ExportError(
            f"PyTorch cannot export the model ({type(error).__name__}): install another version of PyTorch"
        ) from error
