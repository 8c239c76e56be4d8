"""Worker threads for replacing and restoring words, so that long work does not block the event loop.

A job waits in one of three queues, by its size. Each queue has its own threads, so that a long text does not block a
short one. A job stops at its next check if its client has disconnected or its time limit has passed. The number of
waiting requests is limited.
"""

import asyncio
import math
import time
import traceback
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from queue import SimpleQueue
from threading import Thread
from typing import Any

from textveil.errors import WorkStopped
from textveil.work_steps import limit_work

from textveil_cli.serve.access import Refusal

#: Maximum characters of a short job, and of a medium one.
MAX_SHORT_CHARACTERS, MAX_MEDIUM_CHARACTERS = 1 << 14, 1 << 18
#: Maximum number of active or waiting requests, and maximum total size of their bodies.
_MAX_REQUESTS, _MAX_BYTES = 1 << 10, 1 << 26
#: Duration of a pause of medium and long jobs, and time between two pauses. Python passes the interpreter lock to a
#: waiting thread only if the running thread has kept it for the whole switch interval. A job that often reads entropy
#: releases the lock for some microseconds each time, and takes it back before the event loop wakes. Without pauses, the
#: event loop waited for seconds.
_PAUSE_SECONDS, _PAUSE_INTERVAL_SECONDS = 5e-5, 2e-3


def make_busy_refusal(message: str) -> Refusal:
    """Make the error response for an overloaded gateway, after which the client may retry soon."""
    return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "busy", message)


class _Job:
    """A job for a worker thread.

    A worker thread claims the job before executing it. If the request is canceled before that, it claims the job
    itself, so that no thread executes the job. Only the first claim succeeds.
    """

    __slots__ = (
        "_claims",
        "_next_pause",
        "_seconds",
        "_until",
        "_work",
        "error",
        "future",
        "has_ended",
        "is_abandoned",
        "queued_at",
        "result",
    )

    def __init__(
        self, work: Callable[[], Any], seconds: float, future: "asyncio.Future[Any]", *, is_short: bool = False
    ) -> None:
        self._next_pause = math.inf if is_short else 0.0
        self._work, self._seconds, self._until, self._claims = work, seconds, 0.0, [None]
        self.future, self.has_ended = future, False
        self.is_abandoned, self.queued_at = False, time.monotonic()
        self.result: Any = None
        self.error: BaseException | None = None

    def claim(self) -> bool:
        try:
            self._claims.pop()  # atomic: one thread succeeds
        except IndexError:
            return False
        return True

    def check_time(self) -> None:
        if self.is_abandoned:
            raise WorkStopped("the client of the request has disconnected")
        now = time.monotonic()
        if now > self._until:
            raise WorkStopped(f"not finished within {self._seconds:g} seconds: send less in one request")
        if now > self._next_pause:
            time.sleep(_PAUSE_SECONDS)
            self._next_pause = now + _PAUSE_INTERVAL_SECONDS

    def execute(self) -> None:
        started = time.monotonic()
        self._until = started + self._seconds
        try:
            if started - self.queued_at > self._seconds:
                raise make_busy_refusal("too much work is waiting: retry later")
            with limit_work(self.check_time):
                self.result = self._work()
        except BaseException as error:
            traceback.clear_frames(error.__traceback__)  # its frames hold texts; freed here, not on the event loop
            self.error = error


class WorkerPool:
    """Pool of worker threads with separate queues for short, medium and long jobs.

    Args:
        seconds: Maximum time that a job may wait, and maximum time that it may run.
        threads: Number of threads for short jobs. More than one helps if jobs wait for a disk.
    """

    def __init__(self, seconds: float, threads: int = 1) -> None:
        self._seconds, self._thread_counts = seconds, (threads, 1, 1)
        self._queues: tuple[SimpleQueue[_Job | None], ...] = (SimpleQueue(), SimpleQueue(), SimpleQueue())
        self._done: deque[_Job] = deque()
        self._threads: list[Thread] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_waking = self._is_stopped = self._has_long_job = False

    @property
    def is_processing_long(self) -> bool:
        """Return whether a long job is running or waiting."""
        return self._has_long_job or not self._queues[-1].empty()

    def start(self) -> None:
        """Start the threads; call this on the running event loop."""
        self._loop = asyncio.get_running_loop()
        for size, queue, count in zip(("short", "medium", "long"), self._queues, self._thread_counts, strict=True):
            for _ in range(count):
                name = f"textveil-{size}"
                self._threads.append(Thread(target=self._run_jobs, args=(queue,), name=name, daemon=True))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop the threads once they have executed the waiting jobs.

        The clients of these jobs have disconnected or already have an answer. A job that is added later is refused,
        since no thread would run it.
        """
        self._is_stopped = True
        for queue, count in zip(self._queues, self._thread_counts, strict=True):
            for _ in range(count):
                queue.put(None)
        for thread in self._threads:
            thread.join()

    async def run_job(
        self, work: Callable[..., Any], *arguments: Any, size: int = 0, seconds: float | None = None
    ) -> Any:
        """Run a function in a worker thread, and return its result.

        If the caller is canceled, the method waits until the thread has stopped using the job's resources, such as the
        lock of a conversation. The thread stops at its next check.

        Args:
            work: The function.
            arguments: Its arguments.
            size: Estimated number of characters that the function processes. This number determines in which queue the
                job waits.
            seconds: Maximum running time; ``None`` for the limit of the pool.

        Raises:
            Refusal: The job waited too long, or the threads have stopped.
            WorkStopped: The job ran too long.
        """
        assert self._loop is not None
        if self._is_stopped:
            raise make_busy_refusal("the gateway is stopping: retry later")
        is_short = size <= MAX_SHORT_CHARACTERS
        job = _Job(lambda: work(*arguments), seconds or self._seconds, self._loop.create_future(), is_short=is_short)
        self._queues[(size > MAX_SHORT_CHARACTERS) + (size > MAX_MEDIUM_CHARACTERS)].put(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            job.is_abandoned = True
            if not job.claim():
                await self._wait_for_end(job)
            raise

    def free_in_thread(self, free: Callable[[], object]) -> None:
        """Call a function that frees large objects, in the thread for long jobs."""
        assert self._loop is not None
        self._queues[-1].put(_Job(free, self._seconds, self._loop.create_future()))

    async def _wait_for_end(self, job: _Job) -> None:
        assert self._loop is not None
        if not job.has_ended:
            job.future = self._loop.create_future()
        while not job.has_ended:
            try:
                await asyncio.wait([job.future])
            except asyncio.CancelledError:  # the caller raises it after the job has ended
                continue

    def _run_jobs(self, queue: "SimpleQueue[_Job | None]") -> None:
        is_long = queue is self._queues[-1]
        while (job := queue.get()) is not None:
            self._has_long_job |= is_long
            if job.claim():
                job.execute()
                self._done.append(job)
                if not self._is_waking:  # one call wakes the loop for all finished jobs
                    self._is_waking = True
                    assert self._loop is not None
                    self._loop.call_soon_threadsafe(self._deliver_results)
            del job  # the job refers to a text
            if is_long:
                self._has_long_job = False

    def _deliver_results(self) -> None:
        self._is_waking = False  # before the loop below: a job that ends from here on wakes the event loop again
        while self._done:
            job = self._done.popleft()
            job.has_ended = True
            if job.future.done():
                continue
            if job.is_abandoned or job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)


class RequestAdmission:
    """Limit on the number and the total size of active requests.

    A request above the limit is refused at once, before its body is read.

    Args:
        max_requests: Maximum number of active requests.
        max_bytes: Maximum total bytes of their bodies. A request is always admitted if no other one is active.
    """

    def __init__(self, max_requests: int = _MAX_REQUESTS, max_bytes: int = _MAX_BYTES) -> None:
        self._max_requests, self._max_bytes = max_requests, max_bytes
        self._requests = self._bytes = 0

    @property
    def active_bytes(self) -> int:
        """Return the total bytes of the bodies of active requests."""
        return self._bytes

    def admit_request(self, size: int) -> None:
        """Add a request with a body of ``size`` bytes to the active requests.

        Raises:
            Refusal: Too many requests or bytes are active.
        """
        if self._requests >= self._max_requests or (self._requests and self._bytes + size > self._max_bytes):
            raise make_busy_refusal("too many requests are active: retry soon")
        self._requests += 1
        self._bytes += size

    def correct_size(self, size: int, to: int) -> None:
        """Replace the size of an active request by ``to`` bytes, if its announced size was wrong or missing."""
        self._bytes += to - size

    def release_request(self, size: int) -> None:
        """Remove a request with a body of ``size`` bytes from the active requests."""
        self._requests -= 1
        self._bytes -= size
