"""Write a label bundle: a folder with a text classifier and its randomization, for devices.

Writing is atomic, and a bundle that the code of devices cannot open is not written.
"""

import json
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save as save_tensors
from textveil import __version__
from textveil.bundle import LabelBundle, OnnxExtractorData, StaticExtractorData, layout
from textveil.vector import TextLabelEncoder
from textveil_cli.aggregation import LabelServer

from textveil_export.bundle_files import add_bundle_file, format_json, stage_bundle_folder
from textveil_export.label.card import format_label_card
from textveil_export.label.contents import LabelBundleContents, make_certificate


def write_label_bundle(contents: LabelBundleContents, folder: Path, *, force: bool = False) -> TextLabelEncoder:
    """Write a label bundle (data folder) to a hidden folder, check it, and rename it to the target.

    Args:
        contents: The bundle in memory.
        folder: Target folder. Its parent must exist.
        force: Whether to replace an existing bundle.

    Returns:
        The encoder of labels, loaded from the target.

    Raises:
        WriteError: The target exists, or the disk is full or not writable. The target is unchanged.
        BundleError: The device's reader refuses the bundle. The target is unchanged.

    Example:
        >>> from textveil_export.label import read_label_contents
        >>> contents = read_label_contents(Path("labels"))
        >>> write_label_bundle(contents, Path("my-labels")).bundle.labels
        ('business', 'sport', 'health')
    """
    with stage_bundle_folder(folder, force=force) as partial:
        entries = {name: add_bundle_file(partial, name, data) for name, data in _make_files(contents).items()}
        manifest = _make_manifest(contents)
        sizes = {name: int(str(entry["bytes"])) for name, entry in entries.items()}
        entries[layout.CARD] = add_bundle_file(
            partial, layout.CARD, format_label_card(manifest, sizes, contents).encode()
        )
        content_hash = str(
            add_bundle_file(partial, layout.MANIFEST, format_json({**manifest, "files": entries}).encode())["sha256"]
        )
        TextLabelEncoder.load(partial, expect_id=content_hash)
        LabelServer.load(partial)
    return TextLabelEncoder.load(folder, expect_id=content_hash)


def _make_files(contents: LabelBundleContents) -> dict[str, bytes]:
    """Return the content of each file of a label bundle by file name, without manifest and model card."""
    randomizers = {
        f"{name}.{staircase.level.epsilon:f}.{part}": tensor
        for name, levels in contents.randomizers.items()
        for staircase in levels
        for part, tensor in (("base", staircase.base), ("budget", staircase.budget_matrix))
    }
    codes = {"weight": contents.weight.astype(np.float32), "bias": contents.bias.astype(np.float32)}
    files = {
        **_make_extractor_files(contents.extractor),
        layout.LABEL_CLASSIFIER: save_tensors(codes),
        layout.RANDOMIZERS: save_tensors({name: np.ascontiguousarray(tensor) for name, tensor in randomizers.items()}),
    }
    if contents.probabilities:
        shares = {name: np.ascontiguousarray(table, np.float32) for name, table in contents.probabilities.items()}
        files[layout.LABEL_PROBABILITIES] = save_tensors(shares)
    if contents.held_out is not None:
        files[layout.HELD_OUT] = f"{json.dumps(contents.held_out.to_dict(), ensure_ascii=False)}\n".encode()
    if contents.sentences:
        files[layout.SENTENCES] = _join_lines(chain.from_iterable(contents.sentences))
    return files


def _make_extractor_files(parts: StaticExtractorData | OnnxExtractorData) -> dict[str, bytes]:
    """Return the content of each file of the extractor, by file name."""
    if isinstance(parts, OnnxExtractorData):
        return {layout.MODEL: parts.model, layout.PIECES: _join_lines(parts.vocabulary)}
    rows = {"words": parts.word_rows, "pairs": parts.pair_rows, "scales": parts.scales}
    return {layout.WORDS: _join_lines(parts.words), layout.ROWS: save_tensors(rows)}


def _join_lines(words: Iterable[str]) -> bytes:
    """Return words as the content of a text file, one per line."""
    return "".join(f"{word}\n" for word in words).encode()


def _describe_extractor(parts: StaticExtractorData | OnnxExtractorData) -> dict[str, Any]:
    """Return the entry of ``manifest.json`` about the extractor, which computes the vector of a text.

    It contains the type of the extractor, the dimension of the vector, and the maximum length of a text.
    """
    if isinstance(parts, OnnxExtractorData):
        constants = {"max_tokens": parts.max_tokens, "lowercase": parts.lowercase}
        return {"extractor_type": layout.ONNX, "dimension": parts.dimension, **constants}
    return {
        "extractor_type": layout.STATIC,
        "dimension": parts.word_rows.shape[1],
        "pairs": len(parts.pair_rows),
        "max_characters": parts.max_characters,
    }


def _make_manifest(contents: LabelBundleContents) -> dict[str, Any]:
    """Return the content of ``manifest.json`` of a label bundle, without its entry ``files``."""
    randomizer, epsilon = contents.default
    return {
        "format": layout.FORMAT,
        "format_version": layout.FORMAT_VERSION,
        "bundle_type": LabelBundle.KIND,
        "name": contents.name,
        "license": contents.license,
        "provenance": contents.provenance,
        "created_by": f"textveil-export {__version__}",
        "labels": list(contents.labels),
        "release": {
            "label_type": contents.kind,
            "label_count": len(contents.labels),
            "extractor": _describe_extractor(contents.extractor),
            "randomizers": {
                name: [f"{staircase.level.epsilon:f}" for staircase in levels]
                for name, levels in contents.randomizers.items()
            },
            "default": {"randomizer": randomizer, "epsilon": epsilon},
        },
        "certificate": make_certificate(contents.randomizers),
        "measurements": contents.measured,
    }
