"""From an index bundle on disk back to what it is made from, to write it again with something added."""

from pathlib import Path
from typing import Unpack

from safetensors.numpy import load as load_tensors
from textveil.bundle import IndexBundle, Pins, layout, open_bundle, read_checked

from textveil_export.index.contents import IndexContents


def reopened(folder: Path, **pins: Unpack[Pins]) -> IndexContents:
    """Reads a bundle. ``write_index`` makes the same extractor, codes, channels and probabilities of it, byte for byte.

    Args:
        folder: The bundle.
        pins: What it must be, as ``open_bundle`` takes them.

    Raises:
        BundleError: There is no index bundle, or it is damaged.
    """
    bundle = open_bundle(folder, IndexBundle, **pins)
    manifest, level = bundle.manifest, bundle.default.level
    shares = manifest["files"].get(layout.LABELS)
    return IndexContents(
        name=str(manifest.get("name")),
        labels=bundle.labels,
        extractor=bundle.extractor,
        weight=bundle.weight,
        bias=bundle.bias,
        channels=bundle.channels,
        default=(level.name, f"{level.epsilon:f}"),
        kind=bundle.codes_are,
        probabilities={} if shares is None else load_tensors(read_checked(folder / layout.LABELS, shares["sha256"])),
        held_out=bundle.held_out,
        sentences=bundle.sentences,
        license=str(manifest.get("licence")),
        provenance=manifest.get("provenance", {}),
        measured=manifest.get("measured", {}),
    )
