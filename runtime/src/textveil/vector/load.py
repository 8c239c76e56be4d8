"""Loads what encodes texts from a bundle, whichever of the two kinds it is."""

from pathlib import Path
from typing import Unpack

from textveil.bundle.index import IndexBundle
from textveil.bundle.open import open_bundle
from textveil.bundle.opened import Pins
from textveil.bundle.vectors import VectorBundle
from textveil.vector.encoder import Encoder
from textveil.vector.index_encoder import IndexEncoder


def load_encoder(folder: Path, **pins: Unpack[Pins]) -> Encoder | IndexEncoder:
    """Opens a bundle of vectors or of an index, and loads what encodes texts with it.

    Raises:
        BundleError: There is no such bundle, or it is damaged, or not the one expected.
        ModelNotPinned: It has a model, and neither its identity nor its maker was named.
        EncoderUnavailable, EncoderFailed: It has a model that cannot be run here.
    """
    bundle = open_bundle(folder, VectorBundle, IndexBundle, **pins)
    if isinstance(bundle, VectorBundle):
        return Encoder(bundle)
    return IndexEncoder(bundle)
