"""Loading of an encoder for noisy vectors or for class labels, depending on the type of the bundle (data folder)."""

from pathlib import Path
from typing import Unpack

from textveil.bundle.files import ExpectedBundle
from textveil.bundle.label_bundle import LabelBundle
from textveil.bundle.open import open_bundle
from textveil.bundle.vector_bundle import VectorBundle
from textveil.vector.encoder import Encoder
from textveil.vector.label_encoder import TextLabelEncoder


def load_encoder(folder: Path, **pins: Unpack[ExpectedBundle]) -> Encoder | TextLabelEncoder:
    """Open a bundle (data folder) for noisy vectors or for class labels, and return its encoder.

    Raises:
        BundleError: The bundle is missing or damaged, or does not have the expected content hash or signer.
        ModelNotExpected: The bundle has a model, but the caller passes neither ``expect_id`` nor ``signer``.
        EncoderUnavailable, EncoderFailed: The bundle has a model that cannot run on this device.

    Example:
        >>> from textveil.bundle import find_artifact
        >>> type(load_encoder(find_artifact("ag-static"))).__name__
        'TextLabelEncoder'
    """
    bundle = open_bundle(folder, VectorBundle, LabelBundle, **pins)
    if isinstance(bundle, VectorBundle):
        return Encoder(bundle)
    return TextLabelEncoder(bundle)
