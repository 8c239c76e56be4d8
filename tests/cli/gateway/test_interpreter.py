"""Freed memory of large requests goes back to the operating system."""

import sys

import pytest
from processes import child

#: Prints how many blocks are mappings of their own: 1 MiB after a block of 4 MiB was freed.
_COUNT_MAPPINGS = """
import ctypes
from textveil_cli.gateway.interpreter import return_large_blocks

class Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks".split()]
    _fields_ += [("uordblks", ctypes.c_size_t), ("fordblks", ctypes.c_size_t), ("keepcost", ctypes.c_size_t)]

read = ctypes.CDLL(None).mallinfo2
read.restype = Statistics
if {is_set}:
    assert return_large_blocks()
block = bytearray(1 << 22)
del block
before = read().hblks
blocks = [bytearray(1 << 20) for _ in range(8)]
print(read().hblks - before)
"""


def _has_statistics() -> bool:
    import ctypes

    return sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallinfo2")


@pytest.mark.skipif(not _has_statistics(), reason="needs glibc 2.33 or later")
@pytest.mark.parametrize(("is_set", "count"), [(True, "8"), (False, "0")])
def test_a_large_block_does_not_stay_in_the_heap(is_set: bool, count: str) -> None:
    """Without the setting glibc keeps blocks of the size of an earlier one in the heap."""
    assert child(_COUNT_MAPPINGS.format(is_set=is_set)).strip() == count


#: Prints how many MB fewer are resident after free pages between small blocks were returned.
_COUNT_PAGES = """
import re
from pathlib import Path
from textveil_cli.gateway.interpreter import return_free_pages

def read_kilobytes():
    return int(re.search(r"VmRSS:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])

blocks = [bytearray(50_000) for _ in range(2_000)]
for block in blocks:
    block[::4096] = bytes([1]) * len(block[::4096])
del blocks[::2], blocks[1::2], block
before = read_kilobytes()
assert return_free_pages()
print((before - read_kilobytes()) // 1024)
"""


@pytest.mark.skipif(not _has_statistics(), reason="needs glibc 2.33 or later")
def test_free_pages_return_to_the_operating_system() -> None:
    """Of 100 MB in small blocks three quarters are freed, in holes."""
    assert int(child(_COUNT_PAGES)) > 20
