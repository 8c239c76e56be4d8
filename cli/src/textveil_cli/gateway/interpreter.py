"""Process settings of a gateway: thread switching, garbage collection, and return of freed memory."""

import contextlib
import gc
import sys

#: Thresholds of Python's garbage collector. The first is a number of new objects, which about five requests create.
#: The second collects the survivors of three such collections together. The third is so large that Python never starts
#: a full collection, which takes tenths of a second while large requests are active. The gateway starts it at other
#: times.
_GC_THRESHOLDS = 10_000, 2, 1 << 30
#: Switch interval of threads: the maximum time that the event loop waits for a rewriting thread after each sleep.
#: Python's default is ten times as long.
_SWITCH_SECONDS = 0.0005
#: Number of the option of ``mallopt`` in glibc, and its value: a block of at least this size is a mapping of its own.
#: This is glibc's own first value, but glibc raises it to the size of the largest block that was freed. Then packed
#: conversations of 1 MB lie between the buffers of other requests, and the holes that they leave are never returned.
_M_MMAP_THRESHOLD, _MIN_MAPPED_BYTES = -3, 1 << 17


def tune_interpreter() -> None:
    """Configure thread switching, garbage collection and memory allocation for a gateway.

    The thread switch interval becomes shorter. All objects that exist at the time of the call are excluded from garbage
    collection, so that no collection scans them. Freed memory blocks are returned to the operating system.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    return_large_blocks()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


def return_large_blocks() -> bool:
    """Make the C library immediately return each freed block of 128 KiB or more to the operating system.

    Returns:
        Whether the C library supports this setting. glibc does; other libraries always return such blocks, or never do.
    """
    return _call_c_library("mallopt", _M_MMAP_THRESHOLD, _MIN_MAPPED_BYTES)


def return_free_pages() -> bool:
    """Return free memory pages between allocated blocks to the operating system, as far as the C library can.

    Call it only at the end of large requests, since it takes some milliseconds.

    Returns:
        Whether pages were returned.
    """
    return _call_c_library("malloc_trim", 0)


def _call_c_library(name: str, *arguments: int) -> bool:
    if sys.platform != "linux":
        return False
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        return bool(getattr(ctypes.CDLL(None), name)(*arguments))
    return False
