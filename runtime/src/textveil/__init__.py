"""textveil: rewrites text on the device, offline, with a differential-privacy bound that is true."""

from typing import TYPE_CHECKING, Any

from textveil.errors import TextveilError
from textveil.privacy import PrivacyStatement
from textveil.sanitizer import Result, Sanitizer

if TYPE_CHECKING:
    from textveil.accounting import VectorStatement
    from textveil.encoder import Encoder, VectorRelease

__all__ = [
    "Encoder",
    "PrivacyStatement",
    "Result",
    "Sanitizer",
    "TextveilError",
    "VectorRelease",
    "VectorStatement",
    "__version__",
]
__version__ = "0.1.0"

# What is imported when it is first asked for: who rewrites text pays nothing for vectors.
_LATER = {"Encoder": "encoder", "VectorRelease": "encoder", "VectorStatement": "accounting"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"textveil.{_LATER[name]}"), name)
