"""Settings of the Python interpreter for a gateway: thread switching and garbage collection."""

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


def tune_interpreter() -> None:
    """Shorten the thread switch interval, and exclude permanent objects from garbage collection.

    The garbage collector needed a sixth of the time for scanning these objects.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
