"""What processor figures were measured on: times mean little without it, and are given as ratios of one run."""

import platform
from pathlib import Path

#: Features that decide how fast int8 products are.
FEATURES = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimd", "asimddp", "i8mm")
_CPUINFO = Path("/proc/cpuinfo")


def processor() -> str:
    """Returns the architecture and those of ``FEATURES`` that the processor has, where the system tells them."""
    found: set[str] = set()
    try:
        for line in _CPUINFO.read_text("utf-8").splitlines():
            name, _, told = line.partition(":")
            if name.strip() in ("flags", "Features"):
                found |= set(told.split())
    except OSError:  # not Linux
        return platform.machine()
    return " ".join([platform.machine(), *(name for name in FEATURES if name in found)])
