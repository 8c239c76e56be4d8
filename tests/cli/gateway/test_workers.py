"""Work of the gateway runs in threads, waits in a bounded queue, and ends at its timeout or with its client."""

import asyncio
import itertools
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textveil.errors import WorkStopped
from textveil.work_steps import check_work
from textveil_cli.gateway import workers
from textveil_cli.gateway.memory_estimates import estimate_memory, refuse_heavy_body
from textveil_cli.gateway.workers import MAX_MEDIUM_CHARACTERS, MAX_SHORT_CHARACTERS, RequestAdmission, WorkerPool
from textveil_cli.serve.access import Refusal


def work_for_ever(started: threading.Event, ended: list[str]) -> None:
    started.set()
    try:
        while True:
            check_work()
    finally:
        ended.append("ended")


def run_with_workers(body: Callable[[WorkerPool], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        workers = WorkerPool(60)
        workers.start()
        try:
            return await asyncio.wait_for(body(workers), 60)  # only where a test fails
        finally:
            workers.stop()

    return asyncio.run(main())


async def until(event: threading.Event) -> None:
    while not event.is_set():
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("size", [1, MAX_SHORT_CHARACTERS + 1, MAX_MEDIUM_CHARACTERS + 1])
def test_work_runs_outside_the_event_loop(size: int) -> None:
    async def body(workers: WorkerPool) -> set[int]:
        return {await workers.run_job(threading.get_ident, size=size) for _ in range(3)}

    assert threading.get_ident() not in run_with_workers(body)


def test_an_error_of_work_reaches_its_caller() -> None:
    async def body(workers: WorkerPool) -> None:
        with pytest.raises(ZeroDivisionError):
            await workers.run_job(lambda: 1 // 0)

    run_with_workers(body)


@pytest.mark.parametrize("cancels", [1, 3])
def test_canceled_work_has_ended_when_its_caller_returns(cancels: int) -> None:
    """So the lock of a conversation is never released while a thread still samples for it."""

    async def body(workers: WorkerPool) -> None:
        started, ended = threading.Event(), list[str]()
        task = asyncio.ensure_future(workers.run_job(work_for_ever, started, ended))
        await until(started)
        for _ in range(cancels):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == ["ended"]
        assert await workers.run_job(lambda: "next") == "next"

    run_with_workers(body)


def test_canceled_work_that_waits_never_begins() -> None:
    async def body(workers: WorkerPool) -> None:
        started, ended = threading.Event(), list[str]()
        first = asyncio.ensure_future(workers.run_job(work_for_ever, started, ended))
        await until(started)
        second = asyncio.ensure_future(workers.run_job(ended.append, "second"))
        await asyncio.sleep(0)
        for task in (second, first):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await workers.run_job(lambda: None)
        assert ended == ["ended"]

    run_with_workers(body)


def test_work_stops_when_its_time_is_over() -> None:
    async def body(workers: WorkerPool) -> None:
        for seconds in (0.01, 1, 30):  # a busy machine begins late, and refuses the work
            ended = list[str]()
            with pytest.raises((WorkStopped, Refusal)) as stop:
                await workers.run_job(work_for_ever, threading.Event(), ended, seconds=seconds)
            if stop.type is WorkStopped:
                break
        assert stop.match("seconds")
        assert ended == ["ended"]

    run_with_workers(body)


def test_work_that_waited_too_long_is_refused() -> None:
    async def body(workers: WorkerPool) -> None:
        go, begun = threading.Event(), threading.Event()

        def block() -> None:
            begun.set()
            go.wait(60)

        first = asyncio.ensure_future(workers.run_job(block))
        await until(begun)
        second = asyncio.ensure_future(workers.run_job(lambda: None, seconds=0.01))
        await asyncio.sleep(0.05)
        go.set()
        await first
        with pytest.raises(Refusal) as refusal:
            await second
        assert refusal.value.status == 503

    run_with_workers(body)


def test_short_work_does_not_wait_for_long_work() -> None:
    async def body(workers: WorkerPool) -> None:
        ended, tasks = list[str](), []
        for size in (MAX_MEDIUM_CHARACTERS + 1, MAX_SHORT_CHARACTERS + 1):
            for _ in range(3):
                tasks.append(asyncio.ensure_future(workers.run_job(work_for_ever, threading.Event(), ended, size=size)))
        assert await workers.run_job(lambda: "short", size=MAX_SHORT_CHARACTERS) == "short"
        assert ended == []
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    run_with_workers(body)


class CountingClock:
    """A clock that goes on by a millisecond at each look, and counts the pauses of jobs."""

    def __init__(self) -> None:
        self.looks, self.pauses = itertools.count(), list[float]()

    def monotonic(self) -> float:
        return next(self.looks) / 1_000

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


@pytest.mark.parametrize(
    ("size", "pauses"), [(MAX_SHORT_CHARACTERS, 0), (MAX_SHORT_CHARACTERS + 1, 34), (MAX_MEDIUM_CHARACTERS + 1, 34)]
)
def test_longer_work_lets_the_event_loop_run_every_few_milliseconds(
    size: int, pauses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that reads entropy again and again releases the interpreter too shortly for another thread to get it."""
    clock = CountingClock()
    monkeypatch.setattr(workers, "time", clock)

    def work() -> None:
        for _ in range(100):
            check_work()

    run_with_workers(lambda pool: pool.run_job(work, size=size))
    assert len(clock.pauses) == pauses
    assert all(pause > 0 for pause in clock.pauses)


def test_admission_bounds_requests_and_bytes() -> None:
    admission = RequestAdmission(max_requests=2, max_bytes=100)
    admission.admit_request(1_000)  # one alone, whatever its size
    with pytest.raises(Refusal) as refusal:
        admission.admit_request(1)
    assert (refusal.value.status, refusal.value.code) == (503, "busy")
    admission.correct_size(1_000, 50)
    admission.admit_request(50)
    with pytest.raises(Refusal):
        admission.admit_request(0)
    admission.release_request(50)
    admission.admit_request(0)


@pytest.mark.parametrize("body", [b'{"a": "b"}', b"", b'{"a": "' + b"word " * 1_000 + b'"}'])
def test_a_body_within_the_memory_is_let_in(body: bytes) -> None:
    refuse_heavy_body(body, estimate_memory(body))


@pytest.mark.parametrize("unit", [b"x ", b'"",', b"[1],", b"\\t"])
def test_a_body_that_is_cut_into_many_parts_is_refused_sooner(unit: bytes) -> None:
    body = unit * 1_000
    assert estimate_memory(body) > 2 * estimate_memory(b"x" * len(body))
    with pytest.raises(Refusal) as refusal:
        refuse_heavy_body(body, estimate_memory(body) - 1)
    assert (refusal.value.status, refusal.value.code) == (413, "too-much-memory")


def test_different_words_count_more_than_equal_ones() -> None:
    names = b" ".join(b"Ab%04d" % number for number in range(1_000))
    assert estimate_memory(names) > 2 * estimate_memory(b"Ab0000 " * 1_000)
    assert estimate_memory(names) > 96 * len(names) > estimate_memory(b"Ab0000 " * 1_000)


def test_the_estimate_is_above_what_short_words_take_that_all_differ() -> None:
    """121 bytes for each byte of the text, with a reply that repeats them all (benchmarks/gateway/memory.py --echo)."""
    letters = "abcdefghijklmnopqrstuvwxyz\u00e9\u00fc\u00f6\u00e4\u00f1\u00e7\u00df\u00f8\u00e5\u00e6"
    words = " ".join(map("".join, itertools.product(letters, repeat=3))).encode()
    assert estimate_memory(words) > 150 * len(words)


def test_the_estimate_is_above_what_dates_take() -> None:
    """76 bytes for each byte of the text, with a reply that repeats them all (benchmarks/gateway/memory.py --echo)."""
    assert estimate_memory(b"5 May 2020 " * 10_000) > 90 * 110_000


def test_words_that_repeat_far_apart_count_once() -> None:
    """Otherwise 4 MiB of prose, which take 30 bytes a byte, would be refused."""
    words = b" ".join(b"word%04d" % number for number in range(8_000))
    assert estimate_memory(words * 60) < 120 * 60 * len(words)


def test_the_estimate_stops_above_the_limit() -> None:
    words = b" ".join(b"word%06d" % number for number in range(100_000))
    assert 10_000_000 < 50 * len(words) < estimate_memory(words, 50 * len(words)) < estimate_memory(words)


def test_work_behind_the_end_of_the_threads_is_refused() -> None:
    """Otherwise a request canceled at the end would wait forever, and block the end of the process."""

    async def body(workers: WorkerPool) -> None:
        workers.stop()
        with pytest.raises(Refusal, match="the gateway is stopping: retry later"):
            await asyncio.wait_for(workers.run_job(threading.get_ident), 20)

    run_with_workers(body)
