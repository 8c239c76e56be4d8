"""textveil: rewrites text on the device, offline, with a differential-privacy bound that is true."""

from textveil.errors import TextveilError
from textveil.privacy import PrivacyStatement
from textveil.sanitizer import Result, Sanitizer

__all__ = ["PrivacyStatement", "Result", "Sanitizer", "TextveilError", "__version__"]
__version__ = "0.1.0"
