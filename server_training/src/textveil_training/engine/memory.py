"""Keeps a long training on a processor from filling the memory with holes."""

import ctypes
import sys
from contextlib import suppress

_MMAP_THRESHOLD = -3
_BYTES = 4 << 20


def return_large_blocks() -> None:
    """Lets glibc give blocks of 4 MiB and more back to the system as soon as they are free.

    PyTorch takes memory on a processor from ``malloc``. Blocks of a size that changes with every batch (logits of the
    masked places: 10 to 40 MB) leave holes that the next ones do not fit into, since glibc raises the limit from which
    it maps blocks one by one up to 32 MiB: a pretraining grew by 200 MB a minute. Elsewhere than on glibc this does
    nothing.
    """
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _BYTES)
