"""Settings of the Python interpreter for a gateway: thread switching and garbage collection."""

import gc
import sys

#: Thresholds of Python's garbage collector. The first counts new objects: those of some five requests. The second
#: collects the survivors of three such collections together. The third is out of reach: a collection of all objects
#: would look at those of large requests, for tenths of a second. The gateway starts it when no such request is active.
_GC_THRESHOLDS = 10_000, 2, 1 << 30
#: Switch interval of threads: the event loop waits at most this long for a rewriting thread after each sleep. Python's
#: default is ten times that.
_SWITCH_SECONDS = 0.0005


def tune_interpreter() -> None:
    """Shorten the thread switch interval, and exclude permanent objects from garbage collection.

    The garbage collector needed a sixth of the time for scanning these objects.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
