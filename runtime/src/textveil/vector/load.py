"""Loading of either kind of encoder."""

from pathlib import Path
from typing import Unpack

from textveil.bundle.index import IndexBundle
from textveil.bundle.open import open_bundle
from textveil.bundle.opened import Pins
from textveil.bundle.vectors import VectorBundle
from textveil.vector.encoder import Encoder
from textveil.vector.index_encoder import IndexEncoder


def load_encoder(folder: Path, **pins: Unpack[Pins]) -> Encoder | IndexEncoder:
    """Open a bundle of vectors or of an index, and return its encoder.

    Raises:
        BundleError: The bundle is missing or damaged, or does not meet a pin.
        ModelNotPinned: The bundle has a model, and the caller pinned neither its content hash nor its signer.
        EncoderUnavailable, EncoderFailed: The bundle has a model that cannot run here.
    """
    bundle = open_bundle(folder, VectorBundle, IndexBundle, **pins)
    if isinstance(bundle, VectorBundle):
        return Encoder(bundle)
    return IndexEncoder(bundle)
