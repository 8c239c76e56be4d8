"""Loads the encoder of a bundle, whichever of the two kinds it is."""

from pathlib import Path

from textveil.bundle.index import IndexBundle
from textveil.bundle.open import open_bundle
from textveil.bundle.pins import Pins
from textveil.bundle.vectors import VectorBundle
from textveil.vector.encoder import Encoder
from textveil.vector.index_encoder import IndexEncoder


def load_encoder(folder: Path, pins: Pins) -> Encoder | IndexEncoder:
    """Opens a bundle of vectors or of an index, and loads what encodes texts with it.

    Raises:
        BundleError: There is no such bundle, or it is damaged, or not the one expected.
        EncoderUnavailable, EncoderFailed: It has a model that cannot be run here.
    """
    match open_bundle(folder, VectorBundle, IndexBundle, **pins):
        case VectorBundle() as bundle:
            return Encoder(bundle)
        case bundle:
            return IndexEncoder(bundle)
