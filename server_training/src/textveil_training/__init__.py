"""textveil_training: the server side of textveil; reads the data and trains on what devices release."""

from textveil_training.data import load, split
from textveil_training.errors import DataError

__all__ = ["DataError", "load", "split"]
