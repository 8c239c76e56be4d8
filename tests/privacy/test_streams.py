"""No stream of random words is shared: by processes, threads, batches or texts.

That tokens of one text each take words of their own is exact, in ``test_entropy_order.py``; this draws.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from textveil import Sanitizer
from textveil.mechanisms import entropy

pytestmark = pytest.mark.statistical

#: Each is drawn on its own: that two outputs are the same has probability below 1e-100.
TEXT = " ".join(["doctor"] * 1_000)


def outputs_of_children(sanitizer: Sanitizer) -> list[str]:
    """What two forked processes make of the text; the sanitizer was loaded, and used, before the fork."""
    written = []
    for _ in range(2):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(read_end)
                with os.fdopen(write_end, "wb") as pipe:
                    pipe.write(sanitizer.sanitize(TEXT).text.encode())
                status = 0
            finally:
                os._exit(status)
        os.close(write_end)
        with os.fdopen(read_end, "rb") as pipe:
            written.append(pipe.read().decode())
        _, status = os.waitpid(child, 0)
        assert status == 0
    return written


def all_differ(texts: list[str]) -> bool:
    return len(set(texts)) == len(texts)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_processes_share_no_stream(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    here = sanitizer.sanitize(TEXT).text
    children = outputs_of_children(sanitizer)
    assert {len(output.split()) for output in children} == {1_000}
    assert all_differ([here, *children, sanitizer.sanitize(TEXT).text])

    # A generator with state in the process gives both children the same words, and is found.
    chance = np.random.default_rng(55)
    monkeypatch.setattr(entropy, "random_uint64", lambda count: chance.integers(0, 2**64, count, dtype=np.uint64))
    assert not all_differ(outputs_of_children(sanitizer))


def test_threads_share_no_stream(sanitizer: Sanitizer) -> None:
    start = threading.Barrier(8)

    def at_once(_: int) -> str:
        start.wait()
        return sanitizer.sanitize(TEXT).text

    with ThreadPoolExecutor(8) as threads:
        assert all_differ(list(threads.map(at_once, range(8))))


def test_batches_share_no_stream(sanitizer: Sanitizer) -> None:
    """Two batches in one process, two texts in one batch, and two sanitizers of one bundle."""
    results = [*sanitizer.sanitize_batch([TEXT, TEXT]), *sanitizer.sanitize_batch([TEXT, TEXT])]
    results.append(Sanitizer(sanitizer.bundle).sanitize(TEXT))
    assert all_differ([result.text for result in results])
