"""Settings of the process of a gateway: switching of threads, garbage collection and freed memory."""

import contextlib
import gc
import sys

#: Thresholds of Python's garbage collector. The first counts new objects: those of some five requests. The second
#: collects the survivors of three such collections together. The third is out of reach: a collection of all objects
#: would look at those of large requests, for tenths of a second. The gateway starts it when no such request is active.
_GC_THRESHOLDS = 10_000, 2, 1 << 30
#: Switch interval of threads: the event loop waits at most this long for a rewriting thread after each sleep. Python's
#: default is ten times that.
_SWITCH_SECONDS = 0.0005
#: Number of the option of ``mallopt`` in glibc, and its value: a block of at least this size is a mapping of its own.
#: This is glibc's own first value, but glibc raises it to the size of the largest block that was freed. Then packed
#: conversations of 1 MB lie between the buffers of other requests, and the holes that they leave are never returned.
_M_MMAP_THRESHOLD, _MIN_MAPPED_BYTES = -3, 1 << 17


def tune_interpreter() -> None:
    """Shorten the switch interval, exclude long-lived objects from garbage collection, and return large blocks.

    Scanning these objects took a sixth of the time.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    return_large_blocks()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


def return_large_blocks() -> bool:
    """Let the C library return each freed block of 128 KiB or more to the operating system at once.

    Returns:
        Whether the C library has this setting: glibc has it, others return such blocks anyway or cannot.
    """
    if sys.platform != "linux":
        return False
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        return bool(ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _MIN_MAPPED_BYTES))
    return False
