"""textveil: replaces names of a text on the device, offline, or randomizes words with a privacy bound."""

from typing import TYPE_CHECKING, Any

from textveil import errors
from textveil.errors import *

if TYPE_CHECKING:
    from textveil.conversation import Conversation, RestoredReply
    from textveil.ledger import Budget, Ledger
    from textveil.text.options import Options
    from textveil.text.restored import Restored, RestoreReport
    from textveil.text.sanitizer import Sanitizer
    from textveil.text.statement import PrivacyStatement, Result
    from textveil.vector.encoder import Encoder, VectorRelease
    from textveil.vector.label_encoder import LabelRelease, TextLabelEncoder
    from textveil.vector.label_statement import LabelStatement
    from textveil.vector.statement import VectorStatement

__all__ = [
    "Budget",
    "Conversation",
    "Encoder",
    "LabelRelease",
    "LabelStatement",
    "Ledger",
    "Options",
    "PrivacyStatement",
    "RestoreReport",
    "Restored",
    "RestoredReply",
    "Result",
    "Sanitizer",
    "TextLabelEncoder",
    "VectorRelease",
    "VectorStatement",
    "__version__",
]
__all__ += errors.__all__
__version__ = "0.3.0"


def __getattr__(name: str) -> Any:
    """Import a public name of the package at its first use.

    For example, a program that only rewrites texts does not import the modules for vectors, and a program that only
    encodes texts as noisy vectors does not import the modules for rewriting.
    """
    if name in ("Sanitizer", "Result"):
        from textveil.text import sanitizer as module
    elif name in ("Restored", "RestoreReport"):
        from textveil.text import restored as module
    elif name == "Options":
        from textveil.text import options as module
    elif name == "PrivacyStatement":
        from textveil.text import statement as module
    elif name in ("Encoder", "VectorRelease"):
        from textveil.vector import encoder as module
    elif name in ("TextLabelEncoder", "LabelRelease"):
        from textveil.vector import label_encoder as module
    elif name == "LabelStatement":
        from textveil.vector import label_statement as module
    elif name in ("Conversation", "RestoredReply"):
        from textveil import conversation as module
    elif name in ("Budget", "Ledger"):
        from textveil import ledger as module
    elif name == "VectorStatement":
        from textveil.vector import statement as module
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return __all__
